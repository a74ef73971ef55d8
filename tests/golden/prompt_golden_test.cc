// Goal: the prompts that laya 0.3.20 built for the published checkpoints are rebuilt id for id,
// from texts alone. The english test checkpoint has the published vocabulary.
#include <gtest/gtest.h>

#include <sstream>

#include "decision/codec.h"
#include "decision/prompt.h"
#include "golden_cases.h"
#include "support/shared_dir.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/tokenizer.h"

namespace layard::golden {
namespace {

class Encoder final : public decision::TextEncoder {
 public:
  explicit Encoder(const tokenizer::Tokenizer& tokens) : tokens_(tokens) {}
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids;
    tokens_.encode(text, ids);
    return ids;
  }

 private:
  const tokenizer::Tokenizer& tokens_;
};

std::vector<std::int32_t> integers(const base::JsonValue& array) {
  std::vector<std::int32_t> out;
  for (const auto& item : array.items()) out.push_back(static_cast<std::int32_t>(*item.as_int64()));
  return out;
}

// A tokenizer and what prompts need to know of it.
class Prompts {
 public:
  explicit Prompts(const std::filesystem::path& folder) {
    const auto tokens = tokenizer::Tokenizer::from_json(read_text(folder / "tokenizer.json"));
    EXPECT_TRUE(tokens.ok()) << folder;
    tokens_ = *tokens;
    const auto special = tokenizer::SpecialTokens::from_config(
        read_text(folder / "tokenizer_config.json"), *tokens_);
    EXPECT_TRUE(special.ok()) << folder;
    spec_.cls_id = special->cls_id;
    spec_.sep_id = special->sep_id;
    spec_.mask_id = special->mask_id;
    spec_.mask_text = special->mask_text;
  }

  void set_lengths(int max_len, int head_max_len) {
    spec_.max_len = max_len;
    spec_.head_max_len = head_max_len;
  }

  // Rebuilds the rows of `golden` and compares them with its items; returns how many there were.
  std::size_t check(const base::JsonValue& golden, const std::string& where) const {
    const auto state = decision::read_state(*golden.find("state"));
    const auto questions = decision::read_questions(*golden.find("questions"), {});
    EXPECT_TRUE(state.ok() && questions.ok()) << where;
    const auto rows =
        decision::build_rows(*questions, *state, spec_, Encoder(*tokens_), OverflowPolicy::kCut);
    if (golden.find("error") != nullptr) {
      EXPECT_FALSE(rows.ok()) << where;
      if (!rows.ok()) {
        EXPECT_EQ(rows.error().code, ErrorCode::kInvalidRequest) << where;
      }
      return 0;
    }
    EXPECT_TRUE(rows.ok()) << where;
    const auto items = golden.find("items")->items();
    EXPECT_EQ(rows->size(), items.size()) << where;
    for (std::size_t i = 0; i < items.size() && i < rows->size(); ++i) {
      EXPECT_EQ((*rows)[i].ids, integers(*items[i].find("ids"))) << where << " row " << i;
      EXPECT_EQ((*rows)[i].markers, integers(*items[i].find("markers"))) << where << " row " << i;
    }
    return items.size();
  }

 private:
  std::shared_ptr<const tokenizer::Tokenizer> tokens_;
  decision::PromptSpec spec_;
};

void check_apple(const std::string& name, int max_len, int head_max_len, std::size_t wanted) {
  LAYARD_REQUIRE_SHARED(shared);
  Prompts prompts(shared / "goldens/checkpoints/english/tokenizer");
  prompts.set_lengths(max_len, head_max_len);
  const auto root = base::parse_json(read_text(shared / "goldens/apple" / (name + ".json")), {});
  ASSERT_TRUE(root.ok());
  std::size_t rows = 0;
  for (const auto& golden : root->find("cases")->items()) {
    rows += prompts.check(golden, name + "/" + golden.find("name")->text());
  }
  EXPECT_EQ(rows, wanted);
}

TEST(AppleGoldenIds, Laya) { check_apple("laya", 512, 192, 176); }
TEST(AppleGoldenIds, TypedDecisions) { check_apple("laya-typed-decisions", 1024, 256, 200); }

// Inputs that broke other products: mask text everywhere, option order, JSON text, many options.
TEST(FieldBugs, Prompts) {
  LAYARD_REQUIRE_SHARED(shared);
  std::istringstream lines(read_text(shared / "bug-inputs/prompt-cases.jsonl"));
  std::size_t cases = 0;
  for (std::string line; std::getline(lines, line); ++cases) {
    const auto golden = base::parse_json(line, {});
    ASSERT_TRUE(golden.ok());
    Prompts prompts(shared / "bug-inputs" / golden->find("tokenizer")->text());
    const auto& lengths = *golden->find("cfg");
    prompts.set_lengths(static_cast<int>(*lengths.find("max_len")->as_int64()),
                        static_cast<int>(*lengths.find("head_max_len")->as_int64()));
    prompts.check(*golden, golden->find("case")->text());
  }
  EXPECT_EQ(cases, 16U);
}

}  // namespace
}  // namespace layard::golden
