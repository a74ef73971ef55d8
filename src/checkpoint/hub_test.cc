#include "checkpoint/hub.h"

#include <gtest/gtest.h>

#include "hub/hub_world.h"

namespace layard::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::HubWorld;
using testing::write_file;

ModelSource source_of(const HubWorld& world) {
  ModelSource source;
  source.kind = SourceKind::kRegistry;
  source.name = world.spec.name;
  source.spec = std::make_shared<const ModelSpec>(world.spec);
  return source;
}

TEST(Hub, PathsOfTheCacheLayout) {
  const HubPaths paths = HubPaths::of("/hub", *find_spec("typed"));
  EXPECT_EQ(paths.repo, "/hub/models--convaiinnovations--laya-typed-decisions");
  EXPECT_EQ(paths.blobs, paths.repo / "blobs");
  EXPECT_EQ(paths.snapshot, paths.repo / "snapshots/f9ab0b228f0fc0f14d873dbc99038f135c2da1b2");
  EXPECT_EQ(short_pin(*find_spec("typed")), "convaiinnovations/laya-typed-decisions@f9ab0b228f0f");
}

// The three ways to ask for offline give one answer, at once, without a request.
TEST(Hub, OfflineAndNotCached) {
  HubWorld world;
  std::vector<std::string> texts;
  for (const bool by_caller : {true, false}) {
    world.access.options.local_files_only = by_caller;
    world.access.options.hub_offline = !by_caller;
    const auto folder = obtain_checkpoint(source_of(world), world.access);
    ASSERT_FALSE(folder.ok());
    EXPECT_EQ(folder.error().code, ErrorCode::kBackendUnavailable);
    EXPECT_NE(folder.error().message.find("layard download tiny"), std::string::npos);
    texts.push_back(folder.error().message);
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(world.hub.request_count(), 0U);
  EXPECT_FALSE(fs::exists(world.folder / "hub"));
}

TEST(Hub, DownloadsOnceThenWorksOffline) {
  HubWorld world;
  const auto first = obtain_checkpoint(source_of(world), world.access);
  ASSERT_TRUE(first.ok()) << first.error().message;
  const std::size_t requests = world.hub.request_count();
  EXPECT_GT(requests, 0U);
  world.access.options.hub_offline = true;
  const auto second = obtain_checkpoint(source_of(world), world.access);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(world.hub.request_count(), requests);
}

// A snapshot of another program: plain files are as good as links.
TEST(Hub, FindsWhatIsInTheCache) {
  HubWorld world;
  world.access.options.hub_offline = true;
  for (const RemoteFile& file : world.spec.files) {
    const auto before = find_cached(world.spec, world.access);
    ASSERT_TRUE(before.ok());
    EXPECT_FALSE(before->has_value());
    write_file(world.paths.snapshot / file.path, world.content(file.path));
  }
  const auto found = find_cached(world.spec, world.access);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(**found, world.paths.snapshot);
  EXPECT_EQ(*obtain_checkpoint(source_of(world), world.access), world.paths.snapshot);
}

TEST(Hub, NothingIsUsedBeforeItsHash) {
  HubWorld world;
  ASSERT_TRUE(world.download().ok());
  std::string other = world.weights();
  other[100] = static_cast<char>(other[100] ^ 1);
  fs::remove(world.paths.snapshot / "model.safetensors");
  write_file(world.paths.snapshot / "model.safetensors", other);
  const auto found = obtain_checkpoint(source_of(world), world.access);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kArtifactRevision);
  EXPECT_NE(found.error().message.find("model.safetensors"), std::string::npos);
  EXPECT_NE(found.error().message.find("`layard download tiny`"), std::string::npos);
}

TEST(Hub, FilesOverTheirLimitDoNotCount) {
  HubWorld world;
  ASSERT_TRUE(world.download().ok());
  fs::remove(world.paths.snapshot / "rl_agent_config.json");
  write_file(world.paths.snapshot / "rl_agent_config.json", std::string((1 << 20) + 1, ' '));
  EXPECT_FALSE(find_cached(world.spec, world.access)->has_value());
  fs::remove(world.paths.snapshot / "rl_agent_config.json");
  fs::create_directory(world.paths.snapshot / "rl_agent_config.json");
  EXPECT_FALSE(find_cached(world.spec, world.access)->has_value());
}

TEST(Hub, GivenFoldersAreCheckedWhereAHashIsStated) {
  HubWorld world;
  const fs::path folder = world.folder / "mine";
  testing::write_tiny_checkpoint(folder, {});
  ModelSource source;
  source.name = "mine";
  source.folder = folder;
  EXPECT_EQ(*obtain_checkpoint(source, world.access), folder);
  source.sha256 = base::sha256_hex(testing::read_file(folder / "model.safetensors"));
  EXPECT_EQ(*obtain_checkpoint(source, world.access), folder);
  source.sha256 = std::string(64, '0');
  EXPECT_EQ(obtain_checkpoint(source, world.access).error().code, ErrorCode::kArtifactRevision);
  EXPECT_EQ(world.hub.request_count(), 0U);
}

TEST(Hub, BadSpecsGetNowhere) {
  HubWorld world;
  world.spec.repo = "../../etc";
  EXPECT_EQ(find_cached(world.spec, world.access).error().code, ErrorCode::kUnsupportedModel);
  EXPECT_EQ(world.download().error().code, ErrorCode::kUnsupportedModel);
  EXPECT_EQ(obtain_checkpoint(ModelSource{}, world.access).error().code,
            ErrorCode::kUnsupportedModel);
  EXPECT_EQ(world.hub.request_count(), 0U);
}

}  // namespace
}  // namespace layard::checkpoint
