#include "layard/error.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>

namespace layard {
namespace {

std::string document() {
  std::ifstream file(std::string(LAYARD_SOURCE_DIR) + "/docs/errors.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Errors, TableComplete) {
  const std::string text = document();
  ASSERT_FALSE(text.empty());
  std::size_t next = 0;
  for (const ErrorInfo& info : error_table()) {
    EXPECT_EQ(static_cast<std::size_t>(info.code), next++);
    EXPECT_EQ(&error_info(info.code), &error_table()[static_cast<std::size_t>(info.code)]);
    std::ostringstream row;
    row << "| " << info.type_name << " | " << info.http_status << " | " << info.exit_code << " | "
        << info.c_status << " | " << info.remedy << " |";
    EXPECT_NE(text.find(row.str()), std::string::npos) << row.str();
  }
  EXPECT_EQ(next, static_cast<std::size_t>(ErrorCode::kInternal) + 1);
  std::size_t rows = 0;
  for (std::size_t at = text.find("Error | "); at != std::string::npos;
       at = text.find("Error | ", at + 1))
    ++rows;
  EXPECT_EQ(rows, error_table().size()) << "docs/errors.md has a row the code does not know";
}

Result<int> half(int value) {
  if (value % 2 != 0) return Error{ErrorCode::kInvalidRequest, "odd"};
  return value / 2;
}

Result<int> quarter(int value) {
  LAYARD_ASSIGN(const int once, half(value));
  LAYARD_TRY(half(once));
  return half(once);
}

TEST(Errors, ResultsCarryValuesAndErrors) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_EQ(quarter(8).value(), 2);
  try {
    (void)quarter(1).value();
    FAIL() << "no exception";
  } catch (const Exception& exception) {
    EXPECT_STREQ(exception.what(), "InvalidRequestError: odd");
    EXPECT_EQ(exception.error().code, ErrorCode::kInvalidRequest);
  }
  Result<std::unique_ptr<int>> owner(std::make_unique<int>(4));
  const std::unique_ptr<int> taken = *std::move(owner);
  EXPECT_EQ(*taken, 4);
  const Status failed = Error{ErrorCode::kIo, "gone"};
  EXPECT_FALSE(failed.ok());
  EXPECT_THROW(failed.value(), Exception);
}

}  // namespace
}  // namespace layard
