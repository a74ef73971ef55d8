/// Runs recorded cases through the whole path, text to JSON, and compares rows, logits, answers and
/// errors with upstream's.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/json.h"
#include "golden_cases.h"
#include "kernels/kernels.h"
#include "layard/model.h"
#include "support/shared_dir.h"
#include "support/temp_dir.h"
#include "tolerance.h"

namespace layard::golden {
inline std::unique_ptr<Model> open_model(const std::filesystem::path& folder,
                                         const std::string& isa, int threads) {
  ModelOptions options;
  options.model = folder.string();
  options.environment.force_isa = isa;
  options.environment.threads = threads;
  auto model = Model::open(options);
  EXPECT_TRUE(model.ok()) << model.error().message;
  return model.ok() ? *std::move(model) : nullptr;
}

inline std::vector<std::string> isas() {
  std::vector<std::string> names;
  using enum kernels::Isa;
  const char* forced = std::getenv("LAYARD_FORCE_ISA");  // tools/record-hardware wants just one
  for (const kernels::Isa isa : {kScalar, kAvx2, kAvx512, kAmx, kNeon}) {
    if (kernels::find_kernels(isa) == nullptr) continue;
    if (forced != nullptr && forced != kernels::isa_name(isa)) continue;
    names.emplace_back(kernels::isa_name(isa));
  }
  return names;
}

inline std::string text(const base::JsonValue& value) {
  return write_json(value, base::JsonStyle::kPython);
}

// A number printed to 4 decimals may differ by one in the last where a logit sits on the edge.
inline bool same_but_for_last_digit(const base::JsonValue& a, const base::JsonValue& b) {
  if (a.is_number() && b.is_number()) return std::fabs(a.as_double() - b.as_double()) < 1.5e-4;
  if (a.kind() != b.kind() || a.size() != b.size() || a.text() != b.text()) return false;
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    if (!same_but_for_last_digit(a.items()[i], b.items()[i])) return false;
  }
  for (std::size_t i = 0; i < a.members().size(); ++i) {
    if (a.members()[i].key != b.members()[i].key ||
        !same_but_for_last_digit(a.members()[i].value, b.members()[i].value)) {
      return false;
    }
  }
  return !a.is_bool() || a.as_bool() == b.as_bool();
}

class Checker {
 public:
  Checker(Model& model, std::string name) : model_(model), name_(std::move(name)) {}

  void check(const GoldenCase& golden) {
    const std::string where = name_ + "/" + golden.name;
    ++cases_;
    const auto state = parse_state(text(golden.state));
    ASSERT_TRUE(state.ok()) << where;
    const auto questions = parse_questions(text(golden.questions), {});
    if (!golden.error_type.empty()) {
      check_error(golden, where, *state, questions);
      return;
    }
    ASSERT_TRUE(questions.ok()) << where << ": " << questions.error().message;
    PredictOptions raw;
    raw.raw = true;
    const auto found = model_.predict(*state, *questions, raw);
    ASSERT_TRUE(found.ok()) << where << ": " << found.error().message;
    if (!golden.rows.empty()) check_rows(golden, *found, where);
    check_response(golden, *found, where);
  }

  std::size_t cases() const { return cases_; }
  std::size_t edges() const { return edges_; }

 private:
  void check_error(const GoldenCase& golden, const std::string& where, const State& state,
                   const Result<QuestionSet>& questions) {
    Error error;
    if (!questions.ok()) {
      error = questions.error();
    } else {
      const auto found = model_.predict(state, *questions, {});
      ASSERT_FALSE(found.ok()) << where;
      error = found.error();
    }
    EXPECT_EQ(error.code, ErrorCode::kInvalidRequest) << where;
    // A list of questions is our extension, so its refusal has our words.
    if (golden.error_type == "ValueError") {
      EXPECT_EQ(error.message, golden.error_message) << where;
    }
  }

  void check_rows(const GoldenCase& golden, const Prediction& found, const std::string& where) {
    ASSERT_EQ(found.rows.size(), golden.rows.size()) << where;
    for (std::size_t i = 0; i < golden.rows.size(); ++i) {
      const GoldenRow& wanted = golden.rows[i];
      const RawRow& row = found.rows[i];
      const std::string at = where + "/" + wanted.question;
      EXPECT_EQ(row.question, wanted.question);
      EXPECT_EQ(row.input_ids, wanted.input_ids) << at;
      EXPECT_EQ(row.markers, wanted.markers) << at;
      expect_near(row.logits, wanted.logits, at);
      expect_near(row.act, wanted.act, at + " act");
    }
  }

  void check_response(const GoldenCase& golden, const Prediction& found, const std::string& where) {
    const auto printed = base::parse_json(print_answers(found.answers, {}), {});
    ASSERT_TRUE(printed.ok());
    for (const char* key : {"model", "answers", "usage"}) {
      const base::JsonValue* wanted = golden.response.find(key);
      const base::JsonValue* got = printed->find(key);
      ASSERT_NE(got, nullptr) << where << " " << key;
      if (text(*got) == text(*wanted)) continue;
      ++edges_;
      EXPECT_TRUE(same_but_for_last_digit(*got, *wanted))
          << where << " " << key << "\n  found  " << text(*got) << "\n  wanted " << text(*wanted);
    }
  }

  Model& model_;
  std::string name_;
  std::size_t cases_ = 0;
  std::size_t edges_ = 0;
};

// The parallel file has the english weights under another option layout.
inline std::filesystem::path parallel_folder(const std::filesystem::path& shared) {
  static const testing::TempDir folder;  // one for the process, removed at its end
  const auto english = shared / "goldens/checkpoints/english";
  for (const char* name : {"encoder", "tokenizer", "model.safetensors"}) {
    std::filesystem::remove(folder / name);
    std::filesystem::create_symlink(std::filesystem::absolute(english / name), folder / name);
  }
  auto config = base::parse_json(read_text(english / "rl_agent_config.json"), {});
  config->set("option_layout", base::JsonValue::string("parallel"));
  testing::write_file(folder / "rl_agent_config.json", text(*config));
  return folder.path();
}

inline std::filesystem::path folder_of(const std::filesystem::path& shared,
                                       const std::string& name) {
  return name == "parallel" ? parallel_folder(shared) : shared / "goldens/checkpoints" / name;
}

// Some 2,000 printed numbers a file with logits that agree to 1e-6: a handful lie on an edge.
inline constexpr std::size_t kEdgesMax = 12;

inline constexpr const char* kNames[] = {"english", "multilingual", "typed", "bert", "parallel"};

}  // namespace layard::golden
