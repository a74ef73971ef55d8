#include "gateway/child_devices.h"

#include <gtest/gtest.h>

#include <mutex>
#include <optional>

#include "gateway/guard.h"
#include "support/child_world.h"
#include "support/policy_setup.h"

namespace layard::gateway {
namespace {

using testing::wait_until;

constexpr const char* kSleep = "exec sleep 1000";
constexpr std::int64_t kStopMs = 60'000;

// A device of the policy: a shell command, or, where it is empty, somebody else's server.
struct Device {
  std::string name;
  std::string command;
  std::string more = {};  // other members
  int port = 9001;
};
using Devices = std::vector<Device>;

GatewaySetupPtr setup_of(const Devices& devices) {
  std::string text = "version: 1\ndefault: cpu0\nclasses: {code: {device: cpu0}}\ndevices:\n";
  for (const Device& device : devices) {
    text +=
        "  " + device.name + ":\n    url: http://127.0.0.1:" + std::to_string(device.port) + "\n";
    if (!device.command.empty()) {
      text += "    command: [/bin/sh, -c, \"" + device.command + "\"]\n";
    }
    text += device.more;
  }
  auto setup = testing::read_setup({text});
  EXPECT_TRUE(setup.ok()) << setup.error().message;
  return *std::move(setup);
}

class World {
 public:
  explicit World(const Devices& devices,
                 base::FixedEnv variables = base::FixedEnv(testing::Variables{
                     {"PATH", "/usr/bin:/bin"}}))
      : env(std::move(variables)), core(options, setup_of(devices), nullptr, nullptr, log) {}
  ~World() { children.stop_all(kStopMs); }

  // As a reload does.
  Status reload(const Devices& devices) {
    core.replace_setup(setup_of(devices));
    return children.apply(*core.setup());
  }
  Status start() { return children.apply(*core.setup()); }

  std::optional<ChildStatus> status(const std::string& name) const {
    const auto all = children.statuses();
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  }
  bool reaches(const std::string& name, ChildState state) const {
    return wait_until([&] {
      const auto now = status(name);
      return now.has_value() && now->state == state;
    });
  }
  // Its process, once it runs.
  pid_t pid_of(const std::string& name) const {
    EXPECT_TRUE(wait_until([&] {
      const auto now = status(name);
      return now.has_value() && now->pid > 0;
    })) << name;
    return status(name)->pid;
  }
  // Waits for its process and says that it answered.
  pid_t answer(std::size_t place) {
    const GatewaySetupPtr setup = core.setup();
    const std::string& name = setup->policy.servers[place].name;
    const pid_t pid = pid_of(name);
    children.answered(*setup, place);
    EXPECT_TRUE(reaches(name, ChildState::kRunning));
    EXPECT_TRUE(wait_until([&] { return state(place) == DeviceState::kHealthy; }));
    return pid;
  }
  DeviceState state(std::size_t place) const {
    return core.setup()->fleet->view(core.clock.now_ns()).at(place).state;
  }
  std::string told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  mutable std::mutex mutex_;
  std::string told_;

 public:
  const GatewayOptions options;
  const base::EventLog log{base::LogFormat::kText, base::LogLevel::kInfo,
                           [this](std::string_view level, std::string_view line) {
                             const std::lock_guard lock(mutex_);
                             told_ += std::string(level) + "|" + std::string(line) + "\n";
                           }};
  const base::FixedEnv env;
  GatewayCore core;
  ChildDevices children{core, env};
};

using Places = std::vector<std::size_t>;

TEST(ChildDevices, StartedAnsweredAndStopped) {
  World world(Devices{{"cpu0", kSleep}, {"remote", "", "", 9002}, {"cpu1", kSleep, "", 9003}});
  EXPECT_TRUE(world.children.statuses().empty());
  EXPECT_TRUE(world.children.unanswered(*world.core.setup()).empty());
  ASSERT_TRUE(world.start().ok());
  EXPECT_EQ(world.children.statuses().size(), 2U) << "not of somebody else's server";
  EXPECT_EQ(world.state(0), DeviceState::kStarting);
  EXPECT_EQ(world.state(1), DeviceState::kHealthy);
  world.pid_of("cpu0");
  const pid_t other = world.pid_of("cpu1");
  EXPECT_EQ(world.children.unanswered(*world.core.setup()), (Places{0, 2}));
  const pid_t pid = world.answer(0);
  EXPECT_EQ(world.children.unanswered(*world.core.setup()), (Places{2}));
  EXPECT_EQ(world.state(2), DeviceState::kStarting);
  world.children.stop_all(kStopMs);
  EXPECT_TRUE(testing::is_gone(pid));
  EXPECT_TRUE(testing::is_gone(other));
  EXPECT_EQ(world.state(0), DeviceState::kStarting) << "takes no requests any more";
  EXPECT_NE(
      world.told().find("info|child device=\"cpu0\" state=\"running\" pid=" + std::to_string(pid)),
      std::string::npos)
      << world.told();
  EXPECT_NE(world.told().find("info|device device=\"cpu0\" from=\"starting\" to=\"healthy\" "
                              "by=\"started\""),
            std::string::npos)
      << world.told();
}

TEST(ChildDevices, AnAnswerOfWhatIsNoChildSaysNothing) {
  World world(Devices{{"cpu0", kSleep}, {"remote", "", "", 9002}});
  world.children.answered(*world.core.setup(), 0);  // before it was started
  world.children.answered(*world.core.setup(), 1);
  EXPECT_TRUE(world.children.statuses().empty());
  EXPECT_EQ(world.state(0), DeviceState::kStarting);
}

TEST(ChildDevices, WhatDoesNotChangeKeepsRunning) {
  World world(Devices{{"cpu0", kSleep}, {"cpu1", kSleep, "", 9002}});
  ASSERT_TRUE(world.start().ok());
  const pid_t first = world.answer(0);
  const pid_t second = world.answer(1);
  // The same again, with what is no matter of the process changed, and at another place.
  ASSERT_TRUE(world
                  .reload({{"cpu1", kSleep, "    model: other\n    requests_max: 3\n", 9002},
                           {"cpu0", kSleep}})
                  .ok());
  EXPECT_EQ(world.pid_of("cpu0"), first);
  EXPECT_EQ(world.pid_of("cpu1"), second);
  EXPECT_EQ(world.status("cpu0")->state, ChildState::kRunning);
  EXPECT_EQ(world.status("cpu0")->starts, 1U);
  // The new fleet knows that they answered.
  EXPECT_EQ(world.state(0), DeviceState::kHealthy);
  EXPECT_EQ(world.state(1), DeviceState::kHealthy);
  EXPECT_TRUE(world.children.unanswered(*world.core.setup()).empty());
}

TEST(ChildDevices, WhatChangesIsStartedAnew) {
  const Device before{"cpu0", kSleep};
  const std::vector<std::pair<const char*, Device>> rows = {
      {"its command", {"cpu0", "exec sleep 1001"}},
      {"its port", {"cpu0", kSleep, "", 9002}},
      {"its folder", {"cpu0", kSleep, "    cwd: /tmp\n"}},
      {"its variables", {"cpu0", kSleep, "    env: [SHOWN]\n"}}};
  for (const auto& [what, after] : rows) {
    World world(Devices{before},
                base::FixedEnv(testing::Variables{{"PATH", "/usr/bin:/bin"}, {"SHOWN", "1"}}));
    ASSERT_TRUE(world.start().ok());
    const pid_t old = world.answer(0);
    ASSERT_TRUE(world.reload({after}).ok()) << what;
    EXPECT_TRUE(testing::is_gone(old)) << what;
    EXPECT_NE(world.pid_of("cpu0"), old) << what;
    EXPECT_EQ(world.status("cpu0")->state, ChildState::kStarting) << what;
    EXPECT_EQ(world.state(0), DeviceState::kStarting) << what << ": it has not answered yet";
    world.answer(0);
    // And back: the comparison is with what runs now.
    ASSERT_TRUE(world.reload({before}).ok()) << what;
    EXPECT_EQ(world.status("cpu0")->state, ChildState::kStarting) << what;
  }
}

TEST(ChildDevices, WhatIsNoMoreIsStopped) {
  World world(Devices{{"cpu0", kSleep}, {"cpu1", kSleep, "", 9002}});
  ASSERT_TRUE(world.start().ok());
  world.answer(0);
  const pid_t pid = world.answer(1);
  ASSERT_TRUE(world.reload({{"cpu0", kSleep}}).ok());
  EXPECT_TRUE(world.reaches("cpu1", ChildState::kStopped));
  EXPECT_TRUE(testing::is_gone(pid));
  EXPECT_EQ(world.status("cpu0")->state, ChildState::kRunning);
  EXPECT_EQ(world.state(0), DeviceState::kHealthy);
  // It may come again.
  ASSERT_TRUE(world.reload({{"cpu0", kSleep}, {"cpu1", kSleep, "", 9002}}).ok());
  EXPECT_NE(world.answer(1), pid);
}

// The end of the process that a device was says nothing of the server that it is now.
TEST(ChildDevices, ADeviceThatIsSomebodyElsesServerNow) {
  World world(Devices{{"cpu0", "trap 'sleep 0.3; exit 0' TERM; while :; do sleep 0.05; done"}});
  ASSERT_TRUE(world.start().ok());
  world.answer(0);
  ASSERT_TRUE(world.reload({{"cpu0", ""}}).ok());
  EXPECT_TRUE(world.reaches("cpu0", ChildState::kStopped));
  EXPECT_EQ(world.state(0), DeviceState::kHealthy);
  EXPECT_TRUE(world.children.unanswered(*world.core.setup()).empty());
}

// A child that takes its time to end is waited for, as it has the port.
TEST(ChildDevices, ASlowEndIsWaitedFor) {
  World world(Devices{{"cpu0", "trap 'sleep 0.5; exit 0' TERM; while :; do sleep 0.05; done"}});
  ASSERT_TRUE(world.start().ok());
  const pid_t old = world.answer(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the trap is set
  ASSERT_TRUE(world.reload({{"cpu0", kSleep}}).ok());
  EXPECT_TRUE(testing::is_gone(old));
  EXPECT_NE(world.answer(0), old);
}

TEST(ChildDevices, OneThatCannotBeStartedDoesNotKeepTheOthers) {
  World world(Devices{{"cpu0", kSleep}, {"cpu1", kSleep, "", 9002}, {"cpu2", kSleep, "", 9003}});
  ASSERT_TRUE(world.start().ok());
  const pid_t kept = world.answer(0);
  const pid_t changed = world.answer(1);
  const Devices wrong = {{"cpu0", kSleep},
                         {"cpu1", "exec sleep 1001", "", 9002},
                         {"cpu2", kSleep, "    env: [LAYARD_API_KEY]\n", 9003}};
  const Status status = world.reload(wrong);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidRequest);
  EXPECT_TRUE(status.error().message.starts_with("devices.cpu2: env has LAYARD_API_KEY"))
      << status.error().message;
  EXPECT_EQ(world.pid_of("cpu0"), kept);
  EXPECT_EQ(world.state(0), DeviceState::kHealthy);
  const pid_t now = world.pid_of("cpu1");
  EXPECT_NE(now, changed);
  EXPECT_TRUE(world.reaches("cpu2", ChildState::kStopped));
  // Applied again, what runs as it should keeps running.
  EXPECT_FALSE(world.reload(wrong).ok());
  EXPECT_EQ(world.pid_of("cpu1"), now);
  ASSERT_TRUE(world.reload({{"cpu0", kSleep}, {"cpu2", kSleep, "", 9003}}).ok());
  world.answer(1);
}

TEST(ChildDevices, AnEndIsAWarning) {
  World world(Devices{{"cpu0", "exit 3"}});
  ASSERT_TRUE(world.start().ok());
  const std::string line =
      "warning|child device=\"cpu0\" state=\"backing-off\" pid=-1 "
      "why=\"it ended with exit status 3\"";
  EXPECT_TRUE(wait_until([&] { return world.told().find(line) != std::string::npos; }))
      << world.told();
  EXPECT_EQ(world.state(0), DeviceState::kStarting);
}

// Its own variables, and the port of its address in its arguments.
TEST(ChildDevices, WhatAChildIsGiven) {
  const std::string file = ::testing::TempDir() + "child_devices_" + std::to_string(::getpid());
  const std::string command = "echo {port} $SHOWN ${HIDDEN:-none} $PWD > " + file + ".new; mv " +
                              file + ".new " + file + "; exec sleep 1000";
  World world(Devices{{"cpu0", command, "    env: [SHOWN]\n    cwd: /usr\n", 9876}},
              base::FixedEnv(testing::Variables{
                  {"PATH", "/usr/bin:/bin"}, {"SHOWN", "shown"}, {"HIDDEN", "hidden"}}));
  ASSERT_TRUE(world.start().ok());
  std::string text;
  EXPECT_TRUE(wait_until([&] {
    std::ifstream in(file);
    return static_cast<bool>(std::getline(in, text));
  }));
  EXPECT_EQ(text, "9876 shown none /usr");
  ::unlink(file.c_str());
}

// What the supervisor starts is this program as the children's guard.
int play_guard(int argc, char** argv) {
  const std::vector<std::string> words(argv + 2, argv + argc);
  const auto options = read_guard_arguments(words);
  return options.ok() && run_guard(*options).ok() ? 0 : 2;
}

}  // namespace

int run(int argc, char** argv) {
  if (argc > 1 && argv[1] == kGuardCommand) return play_guard(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace layard::gateway

int main(int argc, char** argv) { return layard::gateway::run(argc, argv); }
