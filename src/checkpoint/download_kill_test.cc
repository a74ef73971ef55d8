// A downloader that is killed: a second process of this program, ended by SIGKILL at a chosen
// request. Whatever the moment, nothing partial is visible and the next run completes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "checkpoint/hub.h"
#include "hub/hub_world.h"

namespace layard::checkpoint {
namespace {

using testing::HubWorld;

constexpr const char* kChildHub = "LAYARD_TEST_CHILD_HUB";
constexpr const char* kChildFolder = "LAYARD_TEST_CHILD_FOLDER";

// The child's part: one download from the parent's hub into the parent's folders.
void download_as_child(const std::string& hub, const std::filesystem::path& folder) {
  HubWorld world;
  world.access.options.endpoint = hub;
  world.access.options.hub_cache = folder / "hub";
  world.access.options.layard_cache = folder / "layard";
  const auto snapshot = world.download();
  EXPECT_TRUE(snapshot.ok()) << snapshot.error().message;
}

// Starts this program again with only the test below, in the child's role.
pid_t start_child(const HubWorld& world) {
  ::setenv(kChildHub, world.hub.url().c_str(), 1);
  ::setenv(kChildFolder, world.folder.path().c_str(), 1);
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=DownloadKilled.AtEveryFile";
  std::string output = "--gtest_output=";
  char* arguments[] = {program.data(), filter.data(), output.data(), nullptr};
  pid_t child = 0;
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  ::posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const int result = ::posix_spawn(&child, program.c_str(), &quiet, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&quiet);
  ::unsetenv(kChildHub);
  ::unsetenv(kChildFolder);
  return result == 0 ? child : -1;
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

// Kills the child when it has got `bytes` of `file`.
void check_kill(const std::string& file, std::size_t bytes) {
  SCOPED_TRACE(file + " after " + std::to_string(bytes));
  HubWorld world;
  std::atomic<pid_t> child{0};
  world.hub.script(world.url_path(file),
                   {[&](const auto& request, const auto& content, testing::HubPeer& peer) {
                     testing::cut_after(bytes)(request, content, peer);
                     while (child == 0) std::this_thread::yield();
                     if (bytes > 0) ::usleep(20'000);  // lets the bytes reach the disk
                     ::kill(child, SIGKILL);
                     peer.hold();
                   }});
  child = start_child(world);
  ASSERT_GT(child, 0);
  const int status = wait_for(child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_FALSE(std::filesystem::exists(world.paths.snapshot));
  EXPECT_TRUE(world.nothing_partial());
  // The lock died with its holder; what was complete is not fetched again.
  const auto snapshot = world.download();
  ASSERT_TRUE(snapshot.ok()) << snapshot.error().message;
  EXPECT_TRUE(world.complete());
  for (const RemoteFile& other : world.spec.files) {
    const std::size_t hits = world.hits(other.path);
    EXPECT_TRUE(hits == 1 || other.path == file) << other.path << " " << hits;
  }
}

TEST(DownloadKilled, AtEveryFile) {
  if (const char* hub = std::getenv(kChildHub)) {
    download_as_child(hub, std::getenv(kChildFolder));
    return;
  }
  const HubWorld counted;
  for (const RemoteFile& file : counted.spec.files) {
    check_kill(file.path, 0);
    check_kill(file.path, counted.content(file.path).size() / 2);
  }
}

}  // namespace
}  // namespace layard::checkpoint
