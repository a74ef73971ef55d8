#include "base/byte_count.h"

#include <gtest/gtest.h>

namespace layard::base {
namespace {

void check(std::string_view text, std::uint64_t expected) {
  const auto found = parse_byte_count(text);
  ASSERT_TRUE(found.ok()) << text << ": " << found.error().message;
  EXPECT_EQ(*found, expected) << text;
}

void check_refused(std::string_view text, const std::string& why = "is not a size") {
  const auto found = parse_byte_count(text);
  ASSERT_FALSE(found.ok()) << text << " = " << *found;
  EXPECT_EQ(found.error().code, ErrorCode::kInvalidRequest);
  EXPECT_TRUE(found.error().message.starts_with("'" + std::string(text.substr(0, 40)) + "' " + why))
      << found.error().message;
  EXPECT_LT(found.error().message.size(), 250U);
}

TEST(ByteCount, NumbersAndUnits) {
  check("0", 0);
  check("123", 123);
  check("123B", 123);
  check("7K", 7'000);
  check("7k", 7'000);
  check("20MB", 20'000'000);
  check("20 MB", 20'000'000);
  check(" 20mb\t", 20'000'000);
  check("20G", 20'000'000'000);
  check("3T", 3'000'000'000'000);
  check("2P", 2'000'000'000'000'000);
  check("18EB", 18'000'000'000'000'000'000U);
  check("1KiB", 1024);
  check("1Ki", 1024);
  check("2gib", std::uint64_t{2} << 30);
  check("15EiB", std::uint64_t{15} << 60);
  check("0T", 0);
  check("18446744073709551615", UINT64_MAX);
}

TEST(ByteCount, Refusals) {
  for (const std::string_view bad :
       {"", " ", "G", "MB", "-1", "-5K", "+1", "1.5G", "1,5G", "1X", "1KX", "1KBB", "1BK", "1iB",
        "20 G B", "1_000", "0x10", "99999999999999999999X", "lots"}) {
    check_refused(bad);
  }
}

TEST(ByteCount, RangeIsNamed) {
  for (const std::string_view large :
       {"18446744073709551616", "99999999999999999999", "19E", "16EiB", "99999999999T", "99 EB"}) {
    check_refused(large, "is out of range: a size is from 0 to 18446744073709551615 bytes");
  }
  check_refused(std::string(100'000, '9'), "is out of range");
}

}  // namespace
}  // namespace layard::base
