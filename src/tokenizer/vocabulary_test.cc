#include "tokenizer/vocabulary.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace layard::tokenizer {
namespace {

TEST(Vocabulary, FindsManyTextsBothWays) {
  constexpr std::int32_t kTokens = 20000;
  Vocabulary vocabulary;
  std::vector<std::string> texts;
  for (std::int32_t id = 0; id < kTokens; ++id) {
    texts.push_back("token" + std::string(static_cast<std::size_t>(id) % 19, 'x') +
                    std::to_string(id));
    vocabulary.set_id(vocabulary.insert(texts.back()), id);
  }
  ASSERT_TRUE(vocabulary.finish().ok());
  texts.push_back("absent");
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  std::vector<std::int32_t> found(views.size());
  vocabulary.find_all(views, found);
  for (std::int32_t id = 0; id < kTokens; ++id) {
    const auto at = static_cast<std::size_t>(id);
    EXPECT_EQ(vocabulary.find(texts[at]), id);
    EXPECT_EQ(found[at], id);
    EXPECT_EQ(vocabulary.text_of(id), texts[at]);
  }
  EXPECT_EQ(found.back(), Vocabulary::kNoId);
  EXPECT_EQ(vocabulary.find(""), Vocabulary::kNoId);
  EXPECT_FALSE(vocabulary.has_id(kTokens));
  EXPECT_FALSE(vocabulary.has_id(-1));
}

TEST(Vocabulary, AnEmptyOneFindsNothing) {
  Vocabulary vocabulary;
  ASSERT_TRUE(vocabulary.finish().ok());
  EXPECT_EQ(vocabulary.find("a"), Vocabulary::kNoId);
  std::vector<std::int32_t> ids(1, 5);
  const std::vector<std::string_view> texts = {"a"};
  vocabulary.find_all(texts, ids);
  EXPECT_EQ(ids[0], Vocabulary::kNoId);
}

TEST(Vocabulary, KeepsTextsWithNulApart) {
  Vocabulary vocabulary;
  vocabulary.set_id(vocabulary.insert(std::string_view("a\0b", 3)), 0);
  vocabulary.set_id(vocabulary.insert("a"), 1);
  EXPECT_EQ(vocabulary.find(std::string_view("a\0b", 3)), 0);
  EXPECT_EQ(vocabulary.find("a"), 1);
  EXPECT_EQ(vocabulary.find(std::string_view("a\0", 2)), Vocabulary::kNoId);
}

void check_refused(const std::vector<std::int32_t>& ids, std::string_view part) {
  Vocabulary vocabulary;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    vocabulary.set_id(vocabulary.insert(std::to_string(i)), ids[i]);
  }
  const Status status = vocabulary.finish();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUnsupportedModel);
  EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
}

TEST(Vocabulary, RefusesSharedAndHugeIds) {
  check_refused({4, 4}, "two tokens have the id 4");
  check_refused({0, 2147483647}, "id 2147483647");
}

}  // namespace
}  // namespace layard::tokenizer
