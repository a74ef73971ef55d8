// Recorded choices: laya-apple's 46 vectors, the scripts of public bug reports, and its tables.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/json.h"
#include "language/language.h"
#include "language/scripts.h"
#include "language/words.h"
#include "support/shared_dir.h"

namespace layard::language {
namespace {

using base::JsonValue;

JsonValue parsed(const std::string& text) {
  auto value = base::parse_json(text, {});
  EXPECT_TRUE(value.ok()) << (value.ok() ? "" : value.error().message);
  return value.ok() ? *std::move(value) : JsonValue();
}

JsonValue read_json(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return parsed(text.str());
}

// As the codec reads it; decision is not a room of this one.
State state_of(const JsonValue& value) {
  if (value.is_string()) return {value.text(), false, false};
  return {write_json(value, base::JsonStyle::kPython), value.is_array(), true};
}

std::string_view checkpoint_name(Target target) {
  return target == Target::kMultilingual ? "laya-multilingual" : "laya";
}

TEST(LanguageRoute, Vectors) {
  LAYARD_REQUIRE_SHARED(shared);
  const JsonValue vectors = read_json(shared / "goldens/apple/vectors.json");
  const JsonValue* rows = vectors.find("language_routing");
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->size(), 46U);
  for (const JsonValue& row : rows->items()) {
    const std::string state = write_json(*row.find("state"), base::JsonStyle::kPython);
    const auto detection = detect(state_of(*row.find("state")));
    ASSERT_TRUE(detection.ok()) << state;
    const Choice choice = choose(*detection, "english");
    EXPECT_EQ(checkpoint_name(choice.target), row.find("checkpoint")->text()) << state;
    EXPECT_EQ(to_string(choice.routing), row.find("model_routing")->text()) << state;
    EXPECT_EQ(choice.reason, row.find("reason")->text()) << state;
    JsonValue json = detection_json(*detection);
    json.erase("detector");
    EXPECT_EQ(write_json(json, base::JsonStyle::kPython),
              write_json(*row.find("detection"), base::JsonStyle::kPython))
        << state;
  }
}

TEST(LanguageRoute, ScriptsOfPublicReports) {
  LAYARD_REQUIRE_SHARED(shared);
  std::ifstream in(shared / "bug-inputs/lang-scripts.jsonl");
  std::size_t rows = 0;
  for (std::string line; std::getline(in, line); ++rows) {
    const JsonValue row = parsed(line);
    const auto detection = detect(state_of(*row.find("state")));
    ASSERT_TRUE(detection.ok()) << line;
    const Choice choice = choose(*detection, "english");
    EXPECT_EQ(checkpoint_name(choice.target), row.find("checkpoint")->text()) << line;
    EXPECT_EQ(to_string(choice.routing), row.find("model_routing")->text()) << line;
    EXPECT_EQ(detection->script, row.find("script")->text()) << line;
    EXPECT_EQ(detection->language.value_or(""), row.find("language")->text()) << line;
  }
  EXPECT_EQ(rows, 18U);
}

std::size_t hex(const JsonValue& value) {
  std::size_t number = 0;
  std::istringstream(value.text().substr(2)) >> std::hex >> number;
  return number;
}

TEST(LanguageRoute, TablesEqualUpstreams) {
  LAYARD_REQUIRE_SHARED(shared);
  const JsonValue tables = read_json(shared / "goldens/apple/lang_tables.json");
  const JsonValue& lists = *tables.find("stopwords_in_tie_break_order");
  ASSERT_EQ(lists.size(), kLanguages);
  for (std::size_t i = 0; i < kLanguages; ++i) {
    EXPECT_EQ(word_lists()[i].language, lists.members()[i].key);
    std::string words;
    for (const JsonValue& word : lists.members()[i].value.items()) {
      words += (words.empty() ? "" : " ") + word.text();
    }
    EXPECT_EQ(word_lists()[i].words, words);
  }
  for (const JsonValue& word : tables.find("shared_words")->items()) {
    EXPECT_GT(std::popcount(languages_of(word.text())), 1) << word.text();
  }
  std::size_t listed = 0;
  for (const JsonValue& entry : tables.find("script_ranges")->items()) {
    for (const JsonValue& range : entry.items()[1].items()) {
      for (std::size_t c = hex(range.items()[0]); c <= hex(range.items()[1]); ++c, ++listed) {
        const auto script = block_script(static_cast<char32_t>(c));
        ASSERT_TRUE(script.has_value()) << c;
        EXPECT_EQ(script_name(*script), entry.items()[0].text()) << c;
      }
    }
  }
  std::size_t ours = 0;
  std::string letters;
  for (char32_t c = 0; c < 0x110000; ++c) ours += block_script(c).has_value() ? 1 : 0;
  EXPECT_EQ(ours, listed);
}

}  // namespace
}  // namespace layard::language
