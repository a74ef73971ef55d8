// Upstream's recorded requests: errors, rows, answers and usage, and the runtime's own goldens of
// the published checkpoints. Everything between the tokenizer and the forward pass is covered.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/python_number.h"
#include "decision/answers.h"
#include "decision/codec.h"
#include "support/shared_dir.h"

namespace layard::decision {
namespace {

using base::JsonValue;
using Ids = std::vector<std::int32_t>;

constexpr const char* kSets[] = {"english", "multilingual", "typed", "bert", "parallel"};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

JsonValue parsed(const std::string& text) {
  base::JsonLimits limits;
  auto value = base::parse_json(text, limits);
  EXPECT_TRUE(value.ok()) << (value.ok() ? "" : value.error().message);
  return value.ok() ? *std::move(value) : JsonValue();
}

std::vector<JsonValue> read_lines(const std::filesystem::path& path) {
  std::vector<JsonValue> cases;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) cases.push_back(parsed(line));
  return cases;
}

Ids integers(const JsonValue& list) {
  Ids out;
  for (const JsonValue& item : list.items()) {
    out.push_back(static_cast<std::int32_t>(item.as_int64().value_or(-1)));
  }
  return out;
}

std::vector<float> floats(const JsonValue& list) {
  std::vector<float> out;
  for (const JsonValue& item : list.items()) out.push_back(static_cast<float>(item.as_double()));
  return out;
}

const JsonValue& at(const JsonValue& value, std::string_view key) {
  static const JsonValue kNull;
  const JsonValue* found = value.find(key);
  return found == nullptr ? kNull : *found;
}

// The config that goes with a golden file; `parallel` shares english's weights and lengths.
JsonValue config_of(const std::filesystem::path& shared, const std::string& set) {
  const std::string checkpoint = set == "parallel" ? "english" : set;
  return parsed(read_file(shared / "goldens/checkpoints" / checkpoint / "rl_agent_config.json"));
}

// Gives recorded ids in the order build_rows asks: the state, then each question's instructions
// and options. What was cut away is filled up again, so the same cuts must be made.
class ReplayEncoder final : public TextEncoder {
 public:
  std::vector<std::int32_t> encode(std::string_view) const override {
    if (queue.empty()) return {};
    Ids next = queue.front();
    queue.pop_front();
    return next;
  }
  mutable std::deque<Ids> queue;
};

struct RowParts {
  Ids head;
  std::vector<Ids> spans;
  Ids state;
};

// Cuts a recorded row at its markers. REQUIRES: the state's [SEP] is the first id after the last
// span that equals the [SEP] before the first marker.
RowParts split_row(const Ids& ids, const Ids& markers) {
  RowParts parts;
  const auto first = static_cast<std::size_t>(markers.front());
  const std::int32_t sep = ids[first - 1];
  parts.head.assign(ids.begin() + 1, ids.begin() + static_cast<std::ptrdiff_t>(first) - 1);
  std::size_t end = static_cast<std::size_t>(markers.back()) + 1;
  while (ids[end] != sep) ++end;
  for (std::size_t i = 0; i < markers.size(); ++i) {
    const auto from = static_cast<std::size_t>(markers[i]) + 1;
    const auto to = i + 1 < markers.size() ? static_cast<std::size_t>(markers[i + 1]) : end;
    parts.spans.emplace_back(ids.begin() + static_cast<std::ptrdiff_t>(from),
                             ids.begin() + static_cast<std::ptrdiff_t>(to));
  }
  parts.state.assign(ids.begin() + static_cast<std::ptrdiff_t>(end) + 1, ids.end() - 1);
  return parts;
}

constexpr std::int32_t kFiller = 777777;

// Undoes the cuts of a question whose options usage reports as collapsed.
void lengthen(RowParts& parts, const JsonValue& collapsed, int head_max_len) {
  const auto cap = at(collapsed, "tokens_per_option").as_int64();
  if (!cap) return;
  std::int64_t left = head_max_len;
  for (Ids& span : parts.spans) {
    left -= static_cast<std::int64_t>(span.size()) + 1;
    if (static_cast<std::int64_t>(span.size()) + 1 == *cap) span.resize(48, kFiller);
  }
  if (static_cast<std::int64_t>(parts.head.size()) == std::max<std::int64_t>(8, left)) {
    parts.head.resize(parts.head.size() + 200, kFiller);
  }
}

struct Replay {
  ReplayEncoder encoder;
  PromptSpec spec;
};

Replay replay_of(const JsonValue& golden, const JsonValue& config, bool parallel) {
  Replay replay;
  replay.spec.max_len = static_cast<int>(*at(config, "max_len").as_int64());
  replay.spec.head_max_len = static_cast<int>(*at(config, "head_max_len").as_int64());
  replay.spec.parallel_options = parallel;
  const JsonValue& usage = at(at(golden, "response"), "usage");
  const auto whole = static_cast<std::size_t>(*at(usage, "state_tokens").as_int64());
  Ids state;
  for (const JsonValue& row : at(golden, "rows").items()) {
    const Ids ids = integers(at(row, "input_ids"));
    RowParts parts = split_row(ids, integers(at(row, "markers")));
    if (parts.state.size() > state.size()) state = parts.state;
    lengthen(parts, at(at(usage, "options"), at(row, "question").text()), replay.spec.head_max_len);
    replay.encoder.queue.push_back(parts.head);
    for (const Ids& span : parts.spans) replay.encoder.queue.push_back(span);
    replay.spec.cls_id = ids.front();
    replay.spec.sep_id = ids.back();
    replay.spec.mask_id = ids[static_cast<std::size_t>(integers(at(row, "markers")).front())];
  }
  const bool keep_end = at(golden, "state").is_array();
  state.insert(keep_end ? state.begin() : state.end(), whole - state.size(), kFiller);
  replay.encoder.queue.push_front(state);
  return replay;
}

void check_parallel(const PromptRow& row) {
  ASSERT_EQ(row.positions.size(), row.ids.size());
  ASSERT_EQ(row.options.size(), row.ids.size());
  for (std::size_t slot = 0; slot < row.markers.size(); ++slot) {
    const auto marker = static_cast<std::size_t>(row.markers[slot]);
    EXPECT_EQ(row.positions[marker], row.markers.front());
    EXPECT_EQ(row.options[marker], static_cast<std::int32_t>(slot + 1));
  }
}

void check_answered(const JsonValue& golden, const JsonValue& config, bool parallel) {
  const std::string name = at(golden, "name").text();
  SCOPED_TRACE(name);
  const auto questions = read_questions(at(golden, "questions"), {});
  ASSERT_TRUE(questions.ok()) << questions.error().message;
  const auto state = read_state(at(golden, "state"));
  ASSERT_TRUE(state.ok());
  const Replay replay = replay_of(golden, config, parallel);
  const auto rows =
      build_rows(*questions, *state, replay.spec, replay.encoder, OverflowPolicy::kCut);
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_TRUE(replay.encoder.queue.empty());
  const auto recorded = at(golden, "rows").items();
  ASSERT_EQ(rows->size(), recorded.size());
  std::vector<std::vector<float>> logits;
  std::vector<RowScores> scores;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    EXPECT_EQ((*rows)[i].ids, integers(at(recorded[i], "input_ids")));
    EXPECT_EQ((*rows)[i].markers, integers(at(recorded[i], "markers")));
    EXPECT_EQ(static_cast<int>((*rows)[i].type), at(recorded[i], "type").as_int64());
    EXPECT_EQ(questions->questions[i].id, at(recorded[i], "question").text());
    if (parallel) check_parallel((*rows)[i]);
    logits.push_back(floats(at(recorded[i], "logits")));
  }
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    scores.push_back({logits[i], floats(at(recorded[i], "act")).front()});
  }
  const auto calibration = Calibration::from_config(config);
  ASSERT_TRUE(calibration.ok());
  const auto answers = decode_answers(*questions, *rows, scores, *calibration);
  ASSERT_TRUE(answers.ok()) << answers.error().message;
  EXPECT_EQ(print_answers(*answers, {false, JsonLayout::kSpaced}),
            base::write_json(at(golden, "response"), base::JsonStyle::kPython));
}

// Upstream's message, or ours beginning with it where we accept more (a list of questions).
void check_refused(const JsonValue& golden) {
  SCOPED_TRACE(at(golden, "name").text());
  const std::string& expected = at(at(golden, "error"), "upstream_message").text();
  const auto questions = read_questions(at(golden, "questions"), {});
  ASSERT_FALSE(questions.ok());
  EXPECT_EQ(questions.error().code, ErrorCode::kInvalidRequest);
  if (at(golden, "questions").is_array()) {
    EXPECT_TRUE(questions.error().message.starts_with(expected + "; ")) << expected;
  } else {
    EXPECT_EQ(questions.error().message, expected);
  }
}

// Five ids for the instructions, six for any option: what the recorded overflow has, or more.
class FixedEncoder final : public TextEncoder {
 public:
  std::vector<std::int32_t> encode(std::string_view text) const override {
    return Ids(text.starts_with(' ') ? 6 : 5, 9);
  }
};

void check_overflow(const JsonValue& golden, const JsonValue& config) {
  const auto questions = read_questions(at(golden, "questions"), {});
  ASSERT_TRUE(questions.ok());
  PromptSpec spec;
  spec.max_len = static_cast<int>(*at(config, "max_len").as_int64());
  spec.head_max_len = static_cast<int>(*at(config, "head_max_len").as_int64());
  const auto rows =
      build_rows(*questions, State{"some text", false}, spec, FixedEncoder(), OverflowPolicy::kCut);
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().message, at(at(golden, "error"), "upstream_message").text());
}

TEST(DecisionGoldens, EveryRecordedCase) {
  LAYARD_REQUIRE_SHARED(shared);
  std::size_t answered = 0;
  std::size_t refused = 0;
  std::size_t accepted = 0;
  for (const std::string set : kSets) {
    const JsonValue config = config_of(shared, set);
    SCOPED_TRACE(set);
    for (const JsonValue& golden : read_lines(shared / "goldens" / (set + ".jsonl"))) {
      if (golden.find("error") != nullptr) {
        const bool overflow = at(golden, "name").text() == "bad-too-many-options";
        overflow ? check_overflow(golden, config) : check_refused(golden);
        ++refused;
      } else if (golden.find("rows") != nullptr) {
        check_answered(golden, config, set == "parallel");
        ++answered;
      } else {
        // Odd input that upstream answers; no logits were recorded.
        EXPECT_TRUE(read_questions(at(golden, "questions"), {}).ok());
        ++accepted;
      }
    }
  }
  EXPECT_EQ(answered, 4U * 136 + 40);
  EXPECT_EQ(refused, 4U * 19);
  EXPECT_EQ(accepted, 4U * 2);
}

// Odd input: the label of an accepted list keeps its JSON type in `choice`.
TEST(DecisionGoldens, AcceptedOddInput) {
  LAYARD_REQUIRE_SHARED(shared);
  for (const JsonValue& golden : read_lines(shared / "goldens/english.jsonl")) {
    if (golden.find("upstream_accepts") == nullptr) continue;
    const auto questions = read_questions(at(golden, "questions"), {});
    ASSERT_TRUE(questions.ok());
    for (const auto& [id, recorded] : at(at(golden, "response"), "answers").members()) {
      const Question& question = questions->questions.front();
      EXPECT_EQ(question.id, id);
      const auto answers = read_answers(at(golden, "response"));
      ASSERT_TRUE(answers.ok()) << answers.error().message;
      if (const auto* choice = std::get_if<ChoiceAnswer>(&answers->answers.front().value)) {
        EXPECT_NE(std::find(question.labels.begin(), question.labels.end(), choice->choice),
                  question.labels.end());
      }
    }
  }
}

// parse_answers reads every recorded response and prints it back unchanged.
TEST(DecisionGoldens, ResponsesRoundTrip) {
  LAYARD_REQUIRE_SHARED(shared);
  std::size_t count = 0;
  for (const std::string set : {"english", "multilingual", "typed", "bert", "parallel",
                                "more-english", "more-multilingual"}) {
    for (const JsonValue& golden : read_lines(shared / "goldens" / (set + ".jsonl"))) {
      const JsonValue* response = golden.find("response");
      if (response == nullptr || response->find("model") == nullptr) continue;
      const auto answers = read_answers(*response);
      ASSERT_TRUE(answers.ok()) << answers.error().message;
      const std::string text = print_answers(*answers, {false, JsonLayout::kSpaced});
      EXPECT_EQ(text, base::write_json(*response, base::JsonStyle::kPython));
      ++count;
    }
  }
  EXPECT_GT(count, 600U);
}

TEST(Answers, AnswerConfidenceIsMaxP) {
  LAYARD_REQUIRE_SHARED(shared);
  std::size_t rows = 0;
  for (const std::string set : kSets) {
    const auto calibration = Calibration::from_config(config_of(shared, set));
    ASSERT_TRUE(calibration.ok());
    for (const JsonValue& golden : read_lines(shared / "goldens" / (set + ".jsonl"))) {
      const auto questions = read_questions(at(golden, "questions"), {});
      const auto recorded = at(golden, "rows").items();
      for (std::size_t i = 0; i < recorded.size(); ++i, ++rows) {
        const Question& question = questions->questions[i];
        const auto p =
            option_probabilities(question, floats(at(recorded[i], "logits")), *calibration);
        ASSERT_TRUE(p.ok());
        const double largest = *std::max_element(p->begin(), p->end());
        const JsonValue& answer = at(at(at(golden, "response"), "answers"), question.id);
        EXPECT_EQ(base::python_round4(largest), at(answer, "answer_confidence").as_double());
      }
    }
  }
  EXPECT_GT(rows, 600U);
}

// Temperatures with which every answer of the published checkpoints' goldens is reproduced.
constexpr const char* kAppleLaya =
    R"({"temperature":[1,1.252,1],"temperature_by_options":{"choice:11+":0.5,"choice:2":1.90636,)"
    R"("choice:3-5":1.76015,"noul:2":1.9834,"score:2":1.2516,"score:3-5":1.25143}})";
constexpr const char* kAppleTyped =
    R"({"temperature":[1,1.037,1],"temperature_by_options":{"choice:11+":0.5,"choice:2":1.90636,)"
    R"("choice:3-5":1.76015,"noul:2":1.983405,"score:2":1.037,"score:3-5":1.25143}})";

void check_apple(const std::filesystem::path& file, const char* temperatures,
                 std::size_t expected_rows) {
  const auto calibration = Calibration::from_config_json(temperatures);
  ASSERT_TRUE(calibration.ok());
  const JsonValue document = parsed(read_file(file));
  std::size_t count = 0;
  for (const JsonValue& golden : at(document, "cases").items()) {
    SCOPED_TRACE(at(golden, "name").text());
    const auto questions = read_questions(at(golden, "questions"), {});
    ASSERT_TRUE(questions.ok()) << questions.error().message;
    AnswerSet set;
    const auto logits = at(golden, "logits").items();
    for (std::size_t i = 0; i < logits.size(); ++i, ++count) {
      const std::vector<float> row = floats(logits[i]);
      const auto act = act_softmax(floats(at(golden, "action_logits").items()[i]));
      const auto answer =
          decode_answer(questions->questions.at(i), {row, act.front()}, *calibration);
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      set.answers.push_back(*answer);
    }
    EXPECT_EQ(base::write_json(at(answers_to_json(set), "answers"), base::JsonStyle::kPython),
              base::write_json(at(golden, "answers"), base::JsonStyle::kPython));
  }
  EXPECT_EQ(count, expected_rows);
}

TEST(AppleGoldens, Laya) {
  LAYARD_REQUIRE_SHARED(shared);
  check_apple(shared / "goldens/apple/laya.json", kAppleLaya, 176);
}

TEST(AppleGoldens, Multilingual) {
  LAYARD_REQUIRE_SHARED(shared);
  check_apple(shared / "goldens/apple/laya-multilingual.json", "{}", 200);
}

TEST(AppleGoldens, TypedDecisions) {
  LAYARD_REQUIRE_SHARED(shared);
  check_apple(shared / "goldens/apple/laya-typed-decisions.json", kAppleTyped, 200);
}

}  // namespace
}  // namespace layard::decision
