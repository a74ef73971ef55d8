// Process variables to options. Variables are set here and nowhere else in the tests.
#include <gtest/gtest.h>

#include <cstdlib>

#include "layard/model.h"

namespace layard {
namespace {

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(EnvironmentOptions, Defaults) {
  const Variable home("HOME", "/nowhere/home");
  const auto environment = Environment::from_process();
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(environment->cache_dir, "/nowhere/home/.cache/layard");
  EXPECT_EQ(environment->token_cache_entries, 4096);
  EXPECT_EQ(environment->threads, 0);
  EXPECT_FALSE(environment->hub_offline);
  EXPECT_GE(environment->data_dirs.size(), 2U);
}

TEST(EnvironmentOptions, VariablesAreRead) {
  const Variable cache("LAYARD_CACHE", "/c");
  const Variable isa("LAYARD_FORCE_ISA", "scalar");
  const Variable threads("LAYARD_THREADS", "3");
  const Variable tokens("LAYARD_TOKEN_CACHE", "0");
  const Variable data("LAYARD_DATA_DIR", "/data");
  const Variable offline("HF_HUB_OFFLINE", "yes");
  const auto environment = Environment::from_process();
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(environment->cache_dir, "/c");
  EXPECT_EQ(environment->force_isa, "scalar");
  EXPECT_EQ(environment->threads, 3);
  EXPECT_EQ(environment->token_cache_entries, 0);
  EXPECT_EQ(environment->data_dirs.front(), "/data");
  EXPECT_TRUE(environment->hub_offline);
}

TEST(EnvironmentOptions, BytesWithUnits) {
  const auto read = [](const char* text) {
    const Variable most("LAYARD_CACHE_MAX", text);
    return Environment::from_process();
  };
  EXPECT_EQ(read("0")->cache_bytes_max, 0U);
  EXPECT_EQ(read("123")->cache_bytes_max, 123U);
  EXPECT_EQ(read("7K")->cache_bytes_max, 7'000U);
  EXPECT_EQ(read("20G")->cache_bytes_max, 20'000'000'000U);
  EXPECT_EQ(read("20MB")->cache_bytes_max, 20'000'000U);
  EXPECT_EQ(read("3 TiB")->cache_bytes_max, std::uint64_t{3} << 40);
  for (const char* bad : {"G", "-1", "1.5G", "1X", "99999999999999999999", "99999999999T"}) {
    const auto environment = read(bad);
    ASSERT_FALSE(environment.ok()) << bad;
    EXPECT_NE(environment.error().message.find("LAYARD_CACHE_MAX"), std::string::npos);
    EXPECT_EQ(environment.error().code, parse_byte_count(bad).error().code);
  }
}

TEST(EnvironmentOptions, BadNumbersNameTheVariable) {
  for (const char* bad : {"-1", "x", "3x", "99999999999", "1.5"}) {
    const Variable threads("LAYARD_THREADS", bad);
    const auto environment = Environment::from_process();
    ASSERT_FALSE(environment.ok()) << bad;
    EXPECT_EQ(environment.error().code, ErrorCode::kInvalidRequest);
    EXPECT_NE(environment.error().message.find("LAYARD_THREADS"), std::string::npos);
  }
}

}  // namespace
}  // namespace layard
