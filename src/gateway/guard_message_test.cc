#include "gateway/guard_message.h"

#include <gtest/gtest.h>

namespace layard::gateway {
namespace {

TEST(GuardMessage, Forms) {
  const std::pair<GuardMessage, std::string> rows[] = {
      {{GuardWord::kStop, 0}, "stop"},
      {{GuardWord::kKill, 0}, "kill"},
      {{GuardWord::kStarted, 12345}, "started 12345"},
      {{GuardWord::kExited, 0}, "exited 0"},
      {{GuardWord::kSignaled, 9}, "signaled 9"},
      {{GuardWord::kFailed, 2}, "failed 2"},
      {{GuardWord::kNoFolder, 2147483647}, "no-folder 2147483647"},
  };
  for (const auto& [message, text] : rows) {
    EXPECT_EQ(write_guard_message(message), text);
    EXPECT_EQ(read_guard_message(text), message) << text;
    EXPECT_LE(text.size(), kGuardMessageBytesMax);
  }
}

TEST(GuardMessage, Refused) {
  const std::string long_text = "exited " + std::string(40, '0');
  for (const std::string& text :
       {std::string(), std::string("stop 1"), std::string("stop "), std::string("started"),
        std::string("started "), std::string("started -1"), std::string("started 1x"),
        std::string("started 99999999999"), std::string("exited  1"), std::string("halt"),
        std::string("stop\n"), long_text}) {
    EXPECT_EQ(read_guard_message(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace layard::gateway
