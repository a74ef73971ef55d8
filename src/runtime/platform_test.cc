#include "runtime/platform.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/temp_dir.h"

namespace layard::runtime {
namespace {

TEST(Platform, FieldsByTheirWholeName) {
  const testing::TempDir folder;
  const auto path = folder / "info";
  testing::write_file(path,
                      "model name\t: A: B\nmodel\t\t: 167\nPRETTY=\"An OS\"\nempty :\nlast: x");
  const auto field = [&](const char* key, char separator) {
    return file_field(path.c_str(), key, separator);
  };
  EXPECT_EQ(field("model name", ':'), "A: B");
  EXPECT_EQ(field("model", ':'), "167");
  EXPECT_EQ(field("PRETTY", '='), "An OS");
  EXPECT_EQ(field("empty", ':'), "");
  EXPECT_EQ(field("last", ':'), "x");
  EXPECT_EQ(field("mod", ':'), "unknown");
  EXPECT_EQ(file_field((folder / "none").c_str(), "a", ':'), "unknown");
}

TEST(Platform, ProcessorIsNamed) {
  const std::string name = processor_name();
  EXPECT_EQ(name, processor_name());
  EXPECT_NE(name, "unknown");
  EXPECT_NE(name.find_first_of("0123456789"), std::string::npos) << name;
}

TEST(Platform, DateHasItsForm) {
  const std::string date = utc_date();
  ASSERT_EQ(date.size(), 10U) << date;
  std::string form = date;
  std::ranges::replace_if(
      form, [](char c) { return c >= '0' && c <= '9'; }, '9');
  EXPECT_EQ(form, "9999-99-99") << date;
  EXPECT_GE(date, "2026-01-01");
}

}  // namespace
}  // namespace layard::runtime
