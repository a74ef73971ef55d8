#include "runtime/tie_recheck.h"

#include <gtest/gtest.h>

#include <cmath>

#include "decision/near_tie.h"
#include "support/tiny_model.h"

namespace layard::runtime {
namespace {

TEST(TieRecheck, ListsNearTiesOfEveryPass) {
  const auto questions = *parse_questions(R"(["first?","second?"])", {});
  const encoder::RowOutput clear{{3.0F, 0.0F}, {}};
  const encoder::RowOutput tied{{0.01F, 0.0F}, {}};
  const auto rows = [&](const std::vector<encoder::RowOutput>& outputs) {
    return near_tie_rows(questions, outputs, {});
  };
  using Rows = std::vector<std::size_t>;
  EXPECT_EQ(rows({clear, clear}), Rows{});
  EXPECT_EQ(rows({clear, tied}), Rows{1});
  EXPECT_EQ(rows({tied, clear, clear, tied, tied, tied}), (Rows{0, 3, 4, 5}));
}

TEST(TieRecheck, EachRowIsReadWithItsOwnQuestion) {
  // 0.5 and 0.5 are a tie of a choice, and of a three level score the middle of nothing.
  const auto questions =
      *parse_questions(R"({"s":{"type":"score","instructions":"x","criteria":["a","b","c"]},)"
                       R"("c":{"type":"choice","instructions":"x","criteria":["a","b","c"]}})",
                       {});
  const encoder::RowOutput ends{{5.0F, -5.0F, 5.0F}, {}};
  EXPECT_EQ(near_tie_rows(questions, std::vector{ends, ends}, {}), std::vector<std::size_t>{1});
}

TEST(TieRecheck, BrokenRowsAreLeftToWhoReportsThem) {
  const auto questions = *parse_questions(R"(["first?"])", {});
  const encoder::RowOutput broken{{NAN, 0.0F}, {}};
  const encoder::RowOutput short_one{{0.0F}, {}};
  EXPECT_TRUE(near_tie_rows(questions, std::vector{broken, short_one}, {}).empty());
}

constexpr const char* kQuestions =
    R"({"team":{"type":"choice","instructions":"which",
                "criteria":{"a":"first","b":null,"c":"third"}},
        "level":{"type":"score","instructions":"how much","criteria":["low","middle","high"]},
        "yes":{"type":"noul","instructions":"is it so"}})";

class TieRecheckModel : public testing::TinyModel {
 protected:
  std::unique_ptr<Model> open_as(const std::string& dtype, bool tie_recheck) {
    ModelOptions given = options();
    given.dtype = dtype;
    given.tie_recheck = tie_recheck;
    auto model = Model::open(given);
    EXPECT_TRUE(model.ok()) << model.error().message;
    return *std::move(model);
  }
  static std::vector<Request> requests() {
    std::vector<Request> out;
    for (int i = 0; i < 40; ++i) {
      const State state{"text " + std::to_string(i * 7919), false};
      out.push_back({state, *parse_questions(kQuestions, {}), std::nullopt, std::nullopt});
    }
    return out;
  }
  static std::vector<Result<Prediction>> run(Model& model, const std::vector<Request>& all) {
    PredictOptions raw;
    raw.raw = true;
    auto results = model.predict_many(all, raw);
    for (const auto& result : results) EXPECT_TRUE(result.ok());
    return results;
  }
};

// The promise itself: near ties get float32's bits, all other rows keep their own.
TEST_F(TieRecheckModel, NearTiesGetTheBitsOfFloat32) {
  const auto all = requests();
  const auto exact = run(*open_as("float32", true), all);
  const auto reduced = run(*open_as("bfloat16", false), all);
  log_.clear();
  const auto model = open_as("bfloat16", true);
  const auto checked = run(*model, all);
  EXPECT_EQ(log_, "first near tie: the float32 weights are loaded beside bfloat16\n");
  const auto calibration = *decision::Calibration::from_config_json(testing::tiny_agent_config({}));
  std::size_t ties = 0;
  std::size_t changed = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::int64_t mine = 0;
    for (std::size_t r = 0; r < 3; ++r) {
      const auto& before = reduced[i]->rows[r];
      const bool near =
          *decision::near_tie(all[i].questions.questions[r], before.logits, calibration);
      const auto& wanted = near ? exact[i]->rows[r] : before;
      EXPECT_EQ(checked[i]->rows[r].logits, wanted.logits) << i << " " << r;
      EXPECT_EQ(checked[i]->rows[r].act, wanted.act) << i << " " << r;
      mine += near ? 1 : 0;
      changed += near && before.logits != wanted.logits ? 1 : 0;
    }
    EXPECT_EQ(checked[i]->runtime.rechecked, mine) << i;
    EXPECT_EQ(checked[i]->runtime.dtype, "bfloat16");
    EXPECT_TRUE(checked[i]->runtime.artifact_revision.ends_with(":bfloat16"));
    EXPECT_FALSE(exact[i]->runtime.rechecked.has_value());
    EXPECT_FALSE(reduced[i]->runtime.rechecked.has_value());
    ties += static_cast<std::size_t>(mine);
  }
  // A test that finds no tie, or only ties, would show nothing.
  EXPECT_GT(changed, 0U);
  EXPECT_LT(ties, 3 * all.size());
  // Alone, and again: the same bits.
  for (std::size_t i = 0; i < all.size(); i += 17) {
    PredictOptions raw;
    raw.raw = true;
    const auto one = model->predict(all[i].state, all[i].questions, raw);
    ASSERT_TRUE(one.ok());
    EXPECT_EQ(one->answers, checked[i]->answers) << i;
    EXPECT_EQ(one->runtime.rechecked, checked[i]->runtime.rechecked) << i;
    for (std::size_t r = 0; r < 3; ++r) {
      EXPECT_EQ(one->rows[r].logits, checked[i]->rows[r].logits) << i << " " << r;
    }
  }
}

TEST_F(TieRecheckModel, CountedWhereRowsCouldBeChecked) {
  const std::vector<Request> one(1, requests()[0]);
  const auto rechecked = [&](const std::string& dtype, bool tie_recheck) {
    return run(*open_as(dtype, tie_recheck), one)[0]->runtime.rechecked.has_value();
  };
  EXPECT_FALSE(rechecked("float32", true));
  for (const char* dtype : {"float16", "bfloat16", "int8"}) {
    EXPECT_TRUE(rechecked(dtype, true)) << dtype;
    EXPECT_FALSE(rechecked(dtype, false)) << dtype;
  }
  // Weights stored in float16 lose nothing by it.
  testing::TinyOptions half;
  half.dtype = tensor::DType::kFloat16;
  testing::write_tiny_checkpoint(folder_.path(), half);
  EXPECT_FALSE(rechecked("float16", true));
  EXPECT_TRUE(rechecked("bfloat16", true));
  const auto exact = run(*open_as("float32", true), one);
  const auto stored = run(*open_as("float16", true), one);
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(stored[0]->rows[r].logits, exact[0]->rows[r].logits) << r;
  }
}

TEST_F(TieRecheckModel, OrdersAreCheckedOneByOne) {
  const auto all = requests();
  const auto predict = [&](const std::string& dtype, bool tie_recheck) {
    PredictOptions orders;
    orders.raw = true;
    orders.orders = 3;
    return open_as(dtype, tie_recheck)->predict_many(all, orders);
  };
  const auto exact = predict("float32", true);
  const auto reduced = predict("bfloat16", false);
  const auto checked = predict("bfloat16", true);
  const auto calibration = *decision::Calibration::from_config_json(testing::tiny_agent_config({}));
  std::int64_t turned_ties = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(checked[i]->rows.size(), 5U);  // three of the choice, one of each other
    std::int64_t ties = 0;
    for (std::size_t r = 0; r < 5; ++r) {
      Question question = all[i].questions.questions[r < 3 ? 0 : r - 2];
      question.option_order = reduced[i]->rows[r].option_order;
      const bool near = *decision::near_tie(question, reduced[i]->rows[r].logits, calibration);
      EXPECT_EQ(checked[i]->rows[r].logits, (near ? exact : reduced)[i]->rows[r].logits) << r;
      ties += near ? 1 : 0;
      turned_ties += near && (r == 1 || r == 2) ? 1 : 0;
    }
    EXPECT_EQ(checked[i]->runtime.rechecked, ties) << i;
  }
  EXPECT_GT(turned_ties, 0);
}

TEST_F(TieRecheckModel, WindowsAreCheckedOneByOne) {
  std::string text;
  for (int i = 0; i < 90; ++i) text += "w" + std::to_string(i * 31) + " ";
  PredictOptions windows;
  windows.raw = true;
  windows.overflow = OverflowPolicy::kWindows;
  const auto questions = *parse_questions(kQuestions, {});
  const auto predict = [&](const std::string& dtype, bool tie_recheck) {
    auto result = open_as(dtype, tie_recheck)->predict({text, false}, questions, windows);
    EXPECT_TRUE(result.ok());
    return *std::move(result);
  };
  const Prediction exact = predict("float32", true);
  const Prediction reduced = predict("bfloat16", false);
  const Prediction checked = predict("bfloat16", true);
  ASSERT_GT(checked.rows.size(), 6U);
  const auto calibration = *decision::Calibration::from_config_json(testing::tiny_agent_config({}));
  std::int64_t ties = 0;
  for (std::size_t r = 0; r < checked.rows.size(); ++r) {
    const bool near =
        *decision::near_tie(questions.questions[r % 3], reduced.rows[r].logits, calibration);
    EXPECT_EQ(checked.rows[r].logits, (near ? exact : reduced).rows[r].logits) << r;
    ties += near ? 1 : 0;
  }
  EXPECT_EQ(checked.runtime.rechecked, ties);
}

}  // namespace
}  // namespace layard::runtime
