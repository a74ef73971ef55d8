// Goal: the prompts that laya 0.3.20 built for the published checkpoints are rebuilt id for id,
// from texts alone. The english test checkpoint has the published vocabulary.
#include <gtest/gtest.h>

#include "checkpoint/checkpoint_folder.h"
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

void check(const std::string& name, int max_len, int head_max_len, std::size_t rows_wanted) {
  LAYARD_REQUIRE_SHARED(shared);
  const auto folder =
      checkpoint::CheckpointFolder::open(shared / "goldens/checkpoints" / "english");
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  const auto tokens = tokenizer::Tokenizer::from_json(read_text(folder->files.tokenizer));
  ASSERT_TRUE(tokens.ok()) << tokens.error().message;
  const auto special = tokenizer::SpecialTokens::from_config(folder->tokenizer_config, **tokens);
  ASSERT_TRUE(special.ok());
  decision::PromptSpec spec;
  spec.max_len = max_len;
  spec.head_max_len = head_max_len;
  spec.cls_id = special->cls_id;
  spec.sep_id = special->sep_id;
  spec.mask_id = special->mask_id;
  spec.mask_text = special->mask_text;
  const auto root = base::parse_json(read_text(shared / "goldens/apple" / (name + ".json")), {});
  ASSERT_TRUE(root.ok());
  std::size_t rows_seen = 0;
  for (const auto& golden : root->find("cases")->items()) {
    const std::string where = name + "/" + golden.find("name")->text();
    const auto state = decision::read_state(*golden.find("state"));
    const auto questions = decision::read_questions(*golden.find("questions"), {});
    ASSERT_TRUE(state.ok() && questions.ok()) << where;
    const auto rows =
        decision::build_rows(*questions, *state, spec, Encoder(**tokens), OverflowPolicy::kCut);
    ASSERT_TRUE(rows.ok()) << where;
    const auto items = golden.find("items")->items();
    ASSERT_EQ(rows->size(), items.size()) << where;
    for (std::size_t i = 0; i < items.size(); ++i, ++rows_seen) {
      EXPECT_EQ((*rows)[i].ids, integers(*items[i].find("ids"))) << where << " row " << i;
      EXPECT_EQ((*rows)[i].markers, integers(*items[i].find("markers"))) << where << " row " << i;
    }
  }
  EXPECT_EQ(rows_seen, rows_wanted);
}

TEST(AppleGoldenIds, Laya) { check("laya", 512, 192, 176); }
TEST(AppleGoldenIds, TypedDecisions) { check("laya-typed-decisions", 1024, 256, 200); }

}  // namespace
}  // namespace layard::golden
