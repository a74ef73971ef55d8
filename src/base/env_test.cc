#include "base/env.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace layard::base {
namespace {

TEST(Env, FixedValues) {
  const FixedEnv env({{"A", "1"}, {"EMPTY", ""}, {"HOME", "/h"}});
  EXPECT_EQ(env.get("A"), "1");
  EXPECT_EQ(env.get("EMPTY"), "");
  EXPECT_EQ(env.get("B"), std::nullopt);
  EXPECT_EQ(env.get_non_empty("EMPTY"), std::nullopt);
  EXPECT_EQ(env.home(), "/h");
  EXPECT_EQ(env.expand_home("~"), "/h");
  EXPECT_EQ(env.expand_home("~/x/y"), "/h/x/y");
  EXPECT_EQ(env.expand_home("~other/x"), "~other/x");
  EXPECT_EQ(env.expand_home("/abs"), "/abs");
  EXPECT_EQ(FixedEnv({}).home(), "");
}

TEST(Env, ProcessValues) {
  const ProcessEnv env;
  ASSERT_EQ(::setenv("LAYARD_ENV_TEST", "value", 1), 0);
  EXPECT_EQ(env.get("LAYARD_ENV_TEST"), "value");
  ASSERT_EQ(::unsetenv("LAYARD_ENV_TEST"), 0);
  EXPECT_EQ(env.get("LAYARD_ENV_TEST"), std::nullopt);
  EXPECT_FALSE(env.home().empty());
}

TEST(Env, TrueValues) {
  for (const char* value : {"1", "ON", "on", "Yes", "TRUE", "true"})
    EXPECT_TRUE(is_true_value(value));
  for (const char* value : {"", "0", "2", "y", "t", "enabled", " 1", "off"}) {
    EXPECT_FALSE(is_true_value(value)) << value;
  }
}

}  // namespace
}  // namespace layard::base
