// The download against a hub that breaks in every way one can; each way has one stated outcome.
#include <gtest/gtest.h>

#include <thread>

#include "checkpoint/checkpoint_folder.h"
#include "checkpoint/hub.h"
#include "hub/hub_world.h"
#include "support/failing_filesystem.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::cut_after;
using testing::HubReply;
using testing::HubWorld;
using testing::redirect_to;
using testing::reply_with;

const std::string kWeights = "model.safetensors";
const std::string kConfig = "rl_agent_config.json";

// A download that must succeed although the first replies for `file` are `replies`.
void check_recovers(const std::string& file, std::vector<HubReply> replies) {
  HubWorld world;
  const std::size_t count = replies.size();
  world.hub.script(world.url_path(file), std::move(replies));
  const auto snapshot = world.download();
  ASSERT_TRUE(snapshot.ok()) << snapshot.error().message;
  EXPECT_TRUE(world.complete());
  EXPECT_GT(world.hits(file), count);
  EXPECT_TRUE(world.unfinished().empty());
}

// A download that must fail with `code` and a text that holds `needle`, leaving no snapshot and, of
// `file`, nothing.
void check_fails(const std::string& file, const HubReply& reply, ErrorCode code,
                 const std::string& needle) {
  SCOPED_TRACE(needle);
  HubWorld world;
  world.hub.script(world.url_path(file), std::vector<HubReply>(20, reply));
  const auto snapshot = world.download();
  ASSERT_FALSE(snapshot.ok());
  EXPECT_EQ(snapshot.error().code, code) << snapshot.error().message;
  EXPECT_NE(snapshot.error().message.find(needle), std::string::npos) << snapshot.error().message;
  EXPECT_NE(snapshot.error().message.find("test-org/tiny@0123456789ab"), std::string::npos);
  EXPECT_FALSE(fs::exists(world.paths.snapshot));
  EXPECT_TRUE(world.unfinished().empty()) << world.unfinished().front();
}

TEST(Download, FreshSnapshotHasTheCacheLayout) {
  HubWorld world;
  std::uint64_t last_done = 0;
  std::uint64_t last_total = 0;
  world.access.progress = [&](const DownloadProgress& progress) {
    EXPECT_EQ(progress.model, "tiny");
    if (progress.file != kWeights) return;
    EXPECT_GT(progress.bytes_done, last_done);
    last_done = progress.bytes_done;
    last_total = progress.bytes_total;
  };
  const auto snapshot = world.download();
  ASSERT_TRUE(snapshot.ok()) << snapshot.error().message;
  EXPECT_EQ(*snapshot,
            world.folder / "hub" / "models--test-org--tiny" / "snapshots" / world.spec.revision);
  EXPECT_TRUE(world.complete());
  EXPECT_EQ(last_done, world.weights().size());
  EXPECT_EQ(last_total, world.weights().size());
  for (const RemoteFile& file : world.spec.files) {
    const fs::path link = *snapshot / file.path;
    ASSERT_TRUE(fs::is_symlink(link));
    EXPECT_TRUE(fs::read_symlink(link).is_relative());
    const std::string hash = base::sha256_hex(world.content(file.path));
    EXPECT_EQ(fs::canonical(link), fs::canonical(world.paths.blobs / hash));
    EXPECT_EQ(world.hits(file.path), 1U);
  }
  EXPECT_FALSE(fs::exists(world.paths.staging.parent_path()));
  EXPECT_TRUE(CheckpointFolder::open(*snapshot).ok());
}

TEST(Download, SecondTimeTouchesNoNetwork) {
  HubWorld world;
  ASSERT_TRUE(world.download().ok());
  const std::size_t before = world.hub.request_count();
  ASSERT_TRUE(world.download().ok());
  world.access.options.local_files_only = true;
  ASSERT_TRUE(world.download().ok());
  EXPECT_EQ(world.hub.request_count(), before);
}

TEST(Download, RecoversFromPassingTrouble) {
  check_recovers(kWeights, {reply_with(503, "Retry-After: 1\r\n", "busy")});
  check_recovers(kConfig, {reply_with(503, "", ""), reply_with(500, "", "oops"),
                           reply_with(429, "Retry-After: 9999999\r\n", "")});
  check_recovers(kWeights, {cut_after(0), cut_after(1000), cut_after(20'000)});
  check_recovers(kConfig, {[](const auto&, const auto&, auto&) {}});  // closed without a word
}

// Each takes libcurl some four seconds to notice; they wait side by side.
TEST(Download, RecoversFromStalls) {
  const std::jthread other([] { check_recovers(kWeights, {testing::stall_at_once()}); });
  check_recovers(kWeights, {testing::stall_after(5000)});
}

TEST(Download, RetryAfterIsWaitedForAndBounded) {
  HubWorld world;
  world.hub.script(world.url_path(kConfig), {reply_with(503, "Retry-After: 7\r\n", ""),
                                             reply_with(503, "Retry-After: 100000\r\n", "")});
  ASSERT_TRUE(world.download().ok());
  EXPECT_EQ(world.clock.now_ns() / 1'000'000, 7'000 + 60'000);
}

TEST(Download, GivesUpOnLastingTrouble) {
  using enum ErrorCode;
  check_fails(kConfig, reply_with(404, "", "no"), kBackendUnavailable, "answered 404");
  check_fails(kConfig, reply_with(401, "", "no"), kBackendUnavailable, "set HF_TOKEN");
  check_fails(kConfig, reply_with(403, "", "no"), kBackendUnavailable, "set HF_TOKEN");
  check_fails(kWeights, reply_with(500, "", "no"), kBackendUnavailable, "answered 500");
  check_fails(kConfig, reply_with(418, "", "no"), kBackendUnavailable, "answered 418");
  check_fails(kConfig, reply_with(204, "", ""), kBackendUnavailable, "answered 204");
  HubWorld world;
  world.hub.script(world.url_path(kConfig), std::vector<HubReply>(20, reply_with(503, "", "")));
  ASSERT_FALSE(world.download().ok());
  EXPECT_EQ(world.hub.request_count(), 4U);  // attempts_max
}

TEST(Download, WrongContentIsRefused) {
  using enum ErrorCode;
  HubWorld world;
  std::string other = world.weights();
  other.back() = static_cast<char>(other.back() ^ 1);
  check_fails(kWeights, reply_with(200, "", other), kArtifactRevision, "the pin says");
  check_fails(kWeights, reply_with(200, "", other + "x"), kArtifactRevision, "the pinned file has");
  check_fails(kWeights, reply_with(200, "", "short"), kArtifactRevision, "offers 5 bytes");
  check_fails(kConfig, reply_with(200, "Content-Type: text/html; charset=utf-8\r\n", "<html>"),
              kBackendUnavailable, "a web page");
  check_fails(kConfig, reply_with(200, "", "<html>sign in</html>"), kArtifactIntegrity,
              "not the JSON");
  check_fails(kConfig, reply_with(200, "", ""), kArtifactIntegrity, "not the JSON");
  check_fails("tokenizer/tokenizer.json", reply_with(200, "", "{\"model\":{\"vocab\":"),
              kArtifactIntegrity, "not the JSON");
  for (const auto& file : world.spec.files) {
    if (file.path == kWeights) continue;
    check_fails(file.path, reply_with(200, "", "{}"), kArtifactIntegrity, "not the JSON");
  }
  check_fails(kConfig, reply_with(200, "Content-Encoding: gzip\r\n", "\x1f\x8b"),
              kBackendUnavailable, "encoded as gzip");
}

TEST(Download, PythonsNanInTheAgentConfigIsKept) {
  HubWorld world;
  const std::string config = R"({"encoder": "x", "head_layers": 1, "temperature": [NaN, 1, 1]})";
  world.hub.serve(world.url_path(kConfig), config);
  const auto snapshot = world.download();
  ASSERT_TRUE(snapshot.ok()) << snapshot.error().message;
  EXPECT_EQ(testing::read_file(*snapshot / kConfig), config);
}

TEST(Download, OversizedFileStopsAtItsLimit) {
  // Announced: refused before a byte is stored.
  const std::string large(kAgentConfigBytesMax + 1, ' ');
  check_fails(kConfig, reply_with(200, "", large), ErrorCode::kArtifactIntegrity,
              "at most 1048576");
  // Unannounced, without end: stopped when the limit is passed.
  const HubReply endless = [](const auto&, const auto&, testing::HubPeer& peer) {
    peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    const std::string piece(65536, ' ');
    for (int i = 0; i < 64; ++i) peer.send(piece);
  };
  check_fails(kConfig, endless, ErrorCode::kArtifactIntegrity, "more than the 1048576 bytes");
}

TEST(Download, BodyWithoutLengthThatEndsEarly) {
  HubWorld world;
  const std::string part = world.weights().substr(0, 5000);
  const HubReply early = [part](const auto&, const testing::HubFile& file, testing::HubPeer& peer) {
    peer.send("HTTP/1.1 200 OK\r\nETag: " + file.etag + "\r\nConnection: close\r\n\r\n" + part);
  };
  check_recovers(kWeights, {early});
  world.hub.script(world.url_path(kWeights), {early});
  ASSERT_TRUE(world.download().ok());
  EXPECT_EQ(world.hub.requests().back().header("range"), "bytes=5000-");
}

TEST(Download, ResumesWithTheSameEtag) {
  HubWorld world;
  world.hub.script(world.url_path(kWeights), {cut_after(10'000), cut_after(5'000)});
  ASSERT_TRUE(world.download().ok());
  EXPECT_TRUE(world.complete());
  const auto requests = world.hub.requests();
  const auto& last = requests.back();
  EXPECT_EQ(last.header("range"), "bytes=15000-");
  EXPECT_FALSE(last.header("if-range").empty());
  EXPECT_EQ(requests[requests.size() - 2].header("range"), "bytes=10000-");
}

TEST(Download, ResumesInALaterRun) {
  HubWorld world;
  std::stop_source stop;
  world.access.stop = stop.get_token();
  world.access.progress = [&](const DownloadProgress& progress) {
    if (progress.file == kWeights && progress.bytes_done > 1000) stop.request_stop();
  };
  world.hub.script(world.url_path(kWeights), {testing::stall_after(20'000)});
  const auto stopped = world.download();
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  EXPECT_FALSE(fs::exists(world.paths.snapshot));
  EXPECT_EQ(world.unfinished().size(), 2U);

  world.access.stop = {};
  world.access.progress = nullptr;
  ASSERT_TRUE(world.download().ok());
  EXPECT_TRUE(world.complete());
  EXPECT_EQ(world.hub.requests().back().header("range"), "bytes=20000-");
  EXPECT_EQ(world.hits(kConfig), 1U);  // what was complete is not fetched again
}

TEST(Download, ChangedEtagStartsOver) {
  // The file changes between two tries: the hub answers 200 to If-Range, and the whole is taken.
  HubWorld world;
  world.hub.script(
      world.url_path(kWeights), {[&](const auto& request, const auto&, testing::HubPeer& peer) {
        const testing::HubFile old{std::string(world.weights().size(), 'o'), "\"old\""};
        cut_after(9'000)(request, old, peer);
      }});
  ASSERT_TRUE(world.download().ok());
  EXPECT_TRUE(world.complete());
  EXPECT_EQ(world.hub.requests().back().header("if-range"), "\"old\"");
}

// Servers that answer a request for the rest with something else.
TEST(Download, WrongPartsStartOver) {
  const auto part = [](std::string range, std::string etag) -> HubReply {
    return [=](const auto&, const testing::HubFile& file, testing::HubPeer& peer) {
      peer.send("HTTP/1.1 206 Partial Content\r\nContent-Range: " + range + "\r\nETag: " +
                (etag.empty() ? file.etag : etag) + "\r\nContent-Length: 3\r\n\r\nabc");
    };
  };
  check_recovers(kWeights, {cut_after(9'000), part("bytes 5-7/100", "")});
  check_recovers(kWeights, {cut_after(9'000), part("items 9000-9002/99999", "")});
  check_recovers(kWeights, {cut_after(9'000), part("bytes 9000-9002/99999", "\"other\"")});
  check_recovers(kWeights, {part("bytes 0-2/99999", "")});  // not asked for at all
  check_recovers(kWeights, {cut_after(9'000), reply_with(416, "", "")});
}

TEST(Download, WithoutStrongEtagNothingIsContinued) {
  for (const char* etag : {"", "W/\"weak\"", "unquoted"}) {
    HubWorld world;
    world.hub.serve(world.url_path(kWeights), testing::HubFile{world.weights(), etag});
    world.hub.script(world.url_path(kWeights), {cut_after(10'000)});
    ASSERT_TRUE(world.download().ok()) << etag;
    EXPECT_TRUE(world.complete());
    EXPECT_EQ(world.hub.requests().back().header("range"), "");
  }
}

TEST(Download, OfflineIsRefusedAtOnce) {
  HubWorld world;
  world.access.options.hub_offline = true;
  const auto snapshot = world.download();
  ASSERT_FALSE(snapshot.ok());
  EXPECT_EQ(snapshot.error().code, ErrorCode::kBackendUnavailable);
  // This is what `layard download` does: it does not send anyone there again.
  EXPECT_EQ(snapshot.error().message.find("layard download"), std::string::npos);
  EXPECT_NE(snapshot.error().message.find("HF_HUB_OFFLINE"), std::string::npos);
  EXPECT_EQ(world.hub.request_count(), 0U);
  EXPECT_FALSE(fs::exists(world.access.options.hub_cache));
}

TEST(Download, AnEndpointThatCannotBeUsedNamesItsVariable) {
  for (const char* endpoint : {"nonsense", "http://example.com", "ftp://127.0.0.1",
                               "https://user:secret@example.com", "https://a b"}) {
    HubWorld world;
    world.access.options.endpoint = endpoint;
    const auto snapshot = world.download();
    ASSERT_FALSE(snapshot.ok()) << endpoint;
    EXPECT_EQ(snapshot.error().code, ErrorCode::kInvalidRequest) << snapshot.error().message;
    EXPECT_NE(snapshot.error().message.find("HF_ENDPOINT"), std::string::npos);
    EXPECT_EQ(snapshot.error().message.find("secret"), std::string::npos);
    EXPECT_FALSE(fs::exists(world.paths.repo)) << "nothing was begun";
  }
}

TEST(Download, TooLittleRoomIsSaidBeforehand) {
  HubWorld world;
  world.access.options.free_bytes_reserve = std::uint64_t{1} << 60;
  const auto snapshot = world.download();
  ASSERT_FALSE(snapshot.ok());
  EXPECT_EQ(snapshot.error().code, ErrorCode::kIo);
  EXPECT_NE(snapshot.error().message.find("not enough room"), std::string::npos);
  EXPECT_EQ(world.hub.request_count(), 0U);
}

TEST(Download, NoCacheFolder) {
  HubWorld world;
  world.access.options.hub_cache.clear();
  const auto snapshot = world.download();
  ASSERT_FALSE(snapshot.ok());
  EXPECT_EQ(snapshot.error().code, ErrorCode::kIo);
  EXPECT_NE(snapshot.error().message.find("HF_HUB_CACHE"), std::string::npos);
}

// Whatever single operation on the disk fails (a full disk among them): a typed error, nothing
// partial to be seen, and the next run completes.
TEST(Download, EveryDiskFailureLeavesALegalState) {
  HubWorld world;
  testing::FailingFilesystem failing(base::real_filesystem());
  int operation = 1;
  int refused = 0;
  for (; operation < 1000; ++operation) {
    fs::remove_all(world.access.options.hub_cache);
    fs::remove_all(world.access.options.layard_cache);
    world.access.files = &failing;
    failing.fail_at(operation);
    const auto first = world.download();
    const bool reached = failing.failed();
    failing.fail_at(0);
    if (first.ok()) {
      ASSERT_TRUE(world.complete()) << operation;
    } else {
      ++refused;
      ASSERT_EQ(first.error().code, ErrorCode::kIo) << operation << first.error().message;
      ASSERT_TRUE(world.nothing_partial()) << operation;
      const auto second = world.download();
      ASSERT_TRUE(second.ok()) << operation << second.error().message;
      ASSERT_TRUE(world.complete()) << operation;
    }
    if (!reached) break;
  }
  EXPECT_GT(operation, 100);
  EXPECT_GT(refused, 50);
}

TEST(Download, StoppedBetweenFilesGoesOnThere) {
  const HubWorld counted;
  for (std::size_t last = 0; last < counted.spec.files.size(); ++last) {
    HubWorld world;
    const RemoteFile& file = world.spec.files[last];
    std::stop_source stop;
    world.access.stop = stop.get_token();
    world.access.progress = [&](const DownloadProgress& progress) {
      if (progress.file == file.path && progress.bytes_done == world.content(file.path).size()) {
        stop.request_stop();
      }
    };
    (void)world.download();  // the last file may complete before the stop is seen
    EXPECT_TRUE(world.nothing_partial());
    world.access.stop = {};
    world.access.progress = nullptr;
    ASSERT_TRUE(world.download().ok()) << file.path;
    EXPECT_TRUE(world.complete());
    for (std::size_t i = 0; i < last; ++i) EXPECT_EQ(world.hits(world.spec.files[i].path), 1U);
  }
}

TEST(Download, TwoAtATimeFetchOnce) {
  HubWorld world;
  world.access.clock = &base::real_clock();
  std::vector<std::jthread> threads;
  std::atomic<int> succeeded{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { succeeded += world.download().ok() ? 1 : 0; });
  }
  threads.clear();
  EXPECT_EQ(succeeded, 4);
  EXPECT_TRUE(world.complete());
  for (const RemoteFile& file : world.spec.files) EXPECT_EQ(world.hits(file.path), 1U);
}

TEST(Download, WaitingForAnotherEnds) {
  HubWorld world;
  ASSERT_TRUE(base::real_filesystem().make_folders(world.paths.blobs).ok());
  auto held = base::real_filesystem().try_lock(world.paths.blobs / "layard-0123456789ab.lock");
  ASSERT_TRUE(held.ok() && *held != nullptr);
  const auto snapshot = world.download();  // the fake clock passes the hour at once
  ASSERT_FALSE(snapshot.ok());
  EXPECT_EQ(snapshot.error().code, ErrorCode::kBackendUnavailable);
  EXPECT_NE(snapshot.error().message.find("does not finish"), std::string::npos);
  std::stop_source stop;
  stop.request_stop();
  world.access.stop = stop.get_token();
  EXPECT_EQ(world.download().error().code, ErrorCode::kCancelled);
}

TEST(Download, CompletesWhatAnotherProgramBegan) {
  HubWorld world;
  testing::write_file(world.paths.blobs / "other-name", world.content(kConfig));
  fs::create_directories(world.paths.snapshot);
  fs::create_symlink("../../blobs/other-name", world.paths.snapshot / kConfig);
  ASSERT_TRUE(world.download().ok());
  EXPECT_TRUE(world.complete());
  EXPECT_EQ(world.hits(kConfig), 0U);
  EXPECT_FALSE(fs::exists(world.paths.staging.parent_path()));
}

TEST(Download, ReplacesDamagedWeights) {
  HubWorld world;
  ASSERT_TRUE(world.download().ok());
  const fs::path blob = fs::canonical(world.paths.snapshot / kWeights);
  std::string damaged = world.weights();
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 4);
  fs::remove(blob);
  testing::write_file(blob, damaged);
  const auto cached = find_cached(world.spec, world.access);
  ASSERT_FALSE(cached.ok());
  EXPECT_EQ(cached.error().code, ErrorCode::kArtifactRevision);
  const auto snapshot = world.download();
  ASSERT_TRUE(snapshot.ok()) << snapshot.error().message;
  EXPECT_TRUE(world.complete());
  EXPECT_EQ(world.hits(kConfig), 1U);
  EXPECT_EQ(world.hits(kWeights), 2U);
}

TEST(Download, TakesWeightsThatAnotherRevisionBrought) {
  HubWorld world;
  testing::write_file(world.paths.blobs / world.spec.weights().sha256, world.weights());
  ASSERT_TRUE(world.download().ok());
  EXPECT_TRUE(world.complete());
  EXPECT_EQ(world.hits(kWeights), 0U);
}

// A server whose small files look right and are not, and which has no weights.
TEST(Download, AnotherServerTakesNothingUnpinnedOver) {
  HubWorld world;
  testing::FakeHub bad;
  const std::string wrong = R"({"encoder": "x", "head_layers": 7})";
  for (const RemoteFile& file : world.spec.files) {
    bad.serve(world.url_path(file.path), world.content(file.path));
  }
  bad.serve(world.url_path(kConfig), wrong);
  bad.script(world.url_path(kWeights), {cut_after(5'000), reply_with(404, "", "no")});
  world.access.options.endpoint = bad.url();
  ASSERT_FALSE(world.download().ok());
  // The same server again has only the weights to send.
  bad.script(world.url_path(kWeights), {reply_with(404, "", "no")});
  const std::size_t before = bad.request_count();
  ASSERT_FALSE(world.download().ok());
  EXPECT_EQ(bad.request_count(), before + 1);

  world.access.options.endpoint = world.hub.url();
  const auto snapshot = world.download();
  ASSERT_TRUE(snapshot.ok()) << snapshot.error().message;
  EXPECT_TRUE(world.complete());
  // Their hash vouches for the weights: what arrived is built upon if the server agrees.
  EXPECT_EQ(world.hub.requests().back().header("range"), "bytes=5000-");
}

TEST(Download, RefetchReplacesWhatNoHashPins) {
  HubWorld world;
  const std::string wrong = R"({"encoder": "x", "head_layers": 7})";
  world.hub.serve(world.url_path(kConfig), wrong);
  ASSERT_TRUE(world.download().ok());
  world.hub.serve(world.url_path(kConfig), world.content(kConfig));
  ASSERT_TRUE(world.download().ok());
  EXPECT_EQ(testing::read_file(world.paths.snapshot / kConfig), wrong);
  world.access.refetch_unpinned = true;
  ASSERT_TRUE(world.download().ok());
  EXPECT_TRUE(world.complete());
  EXPECT_EQ(world.hits(kConfig), 2U);
  EXPECT_EQ(world.hits(kWeights), 1U);
  EXPECT_FALSE(fs::exists(world.paths.staging.parent_path()));
  EXPECT_FALSE(fs::exists(world.paths.blobs / "layard-0123456789ab.origin"));
}

}  // namespace
}  // namespace layard::checkpoint
