#include "gateway/request_class.h"

#include "support/tiny_model.h"

namespace layard::gateway {
namespace {

class RequestClassTest : public testing::TinyModel {
 protected:
  RequestClassifier classifier(const RoutePolicy& policy) {
    auto found = RequestClassifier::open(policy, *model_);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return *found;
  }
  void SetUp() override {
    testing::TinyModel::SetUp();
    model_ = open();
  }

  std::unique_ptr<Model> model_;
};

std::string repeated(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST_F(RequestClassTest, CharactersDecideNotBytes) {
  const RequestClassifier seed = classifier(RoutePolicy::built_in());
  EXPECT_TRUE(seed.by_size(repeated("a", 1024)).has_value());
  EXPECT_FALSE(seed.by_size(repeated("a", 1023)).has_value());
  EXPECT_FALSE(seed.by_size(repeated("文", 1023)).has_value());
  EXPECT_TRUE(seed.by_size(repeated("文", 1024)).has_value());
  EXPECT_TRUE(seed.by_size(repeated("हि", 512)).has_value());
  RoutePolicy bytes = RoutePolicy::built_in();
  bytes.size_gate->unit = GateUnit::kBytes;
  EXPECT_TRUE(classifier(bytes).by_size(repeated("文", 342)).has_value());
  RoutePolicy none = RoutePolicy::built_in();
  none.size_gate.reset();
  EXPECT_FALSE(classifier(none).by_size(repeated("a", 5000)).has_value());
}

TEST_F(RequestClassTest, SizeNeedsNoModel) {
  const auto found = classifier(RoutePolicy::built_in()).classify(repeated("a", 2000));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->name, "long_doc");
  EXPECT_DOUBLE_EQ(found->confidence, 1);
  EXPECT_TRUE(found->by_size);
  EXPECT_EQ(route_line(*found, "rocm"), "long_doc 1.00 rocm");
}

// The answer is that of the question asked by hand: options in order, the text as the state.
TEST_F(RequestClassTest, AsksThePolicysQuestion) {
  const auto found = classifier(RoutePolicy::built_in()).classify("{\"a\": 1}");
  ASSERT_TRUE(found.ok()) << found.error().message;
  const auto questions = parse_questions(
      R"({"class": {"type": "choice", "instructions": "What kind of answer does this request need?",
      "criteria": {"code": "source code, a script, a fix to a program, or an explanation of code",
                   "prose": "several paragraphs of explanation, writing, advice or a story",
                   "short": "one word, one number or one sentence"}}})",
      {});
  ASSERT_TRUE(questions.ok());
  const auto asked = model_->predict({"{\"a\": 1}"}, *questions, {});
  const auto& answer = std::get<ChoiceAnswer>(asked->answers.answers[0].value);
  EXPECT_EQ(found->name, answer.choice.key);
  EXPECT_EQ(found->probabilities, answer.probabilities);
  EXPECT_DOUBLE_EQ(found->confidence, answer.confidence);
  RoutePolicy other = RoutePolicy::built_in();
  other.gate_on = GateOn::kAnswerConfidence;
  EXPECT_DOUBLE_EQ(classifier(other).classify("{\"a\": 1}")->confidence, answer.answer_confidence);
}

TEST_F(RequestClassTest, ManyAreAsOneByOne) {
  const RequestClassifier seed = classifier(RoutePolicy::built_in());
  const std::vector<std::string> texts = {"a", repeated("b", 3000), "c d e", "\xff", ""};
  const auto together = seed.classify_many(texts, false);
  ASSERT_EQ(together.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto alone = seed.classify(texts[i]);
    ASSERT_EQ(together[i].ok(), alone.ok()) << i;
    if (!alone.ok()) {
      EXPECT_EQ(alone.error().code, ErrorCode::kInvalidRequest);
      continue;
    }
    EXPECT_EQ(together[i]->name, alone->name);
    EXPECT_EQ(together[i]->probabilities, alone->probabilities);
  }
}

// The model knows nothing of this machine: it is never asked about devices.
TEST(RouteQuestion, NamesNoDevice) {
  const auto policy = RoutePolicy::parse(
      R"({"version": 1, "default": "vulkan", "classes": {"code": {"device": "vulkan",
          "alternates": ["zinc"], "why": "vulkan is faster than hrx"}},
          "devices": {"vulkan": {"url": "http://127.0.0.1:1", "model": "chat-27b"},
                      "zinc": {"url": "http://127.0.0.1:2"}}})",
      "policy.json");
  ASSERT_TRUE(policy.ok()) << policy.error().message;
  const auto question = RouteQuestion::make(*policy);
  ASSERT_TRUE(question.ok());
  const Question& asked = question->questions(false).questions.at(0);
  std::string text = asked.instructions;
  for (const std::string& option : asked.options) text += "|" + option;
  EXPECT_NE(text.find("code"), std::string::npos);
  for (const char* word : {"vulkan", "zinc", "hrx", "chat-27b", "127.0.0.1", "device"}) {
    EXPECT_EQ(text.find(word), std::string::npos) << word << " in " << text;
  }
}

// Reversed options are other rows, and their answers are still named by their labels.
TEST_F(RequestClassTest, ReversedOptionsKeepTheirNames) {
  const RequestClassifier seed = classifier(RoutePolicy::built_in());
  const std::vector<std::string> texts = {"a text"};
  const auto plain = seed.classify_many(texts, false);
  const auto reversed = seed.classify_many(texts, true);
  ASSERT_TRUE(reversed[0].ok()) << reversed[0].error().message;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(reversed[0]->probabilities[i].key, plain[0]->probabilities[i].key);
  }
  EXPECT_NE(reversed[0]->probabilities, plain[0]->probabilities);
}

TEST_F(RequestClassTest, SeveralOrdersGiveTheirMean) {
  RoutePolicy both = RoutePolicy::built_in();
  both.orders = 2;
  const RequestClassifier averaged = classifier(both);
  const RequestClassifier seed = classifier(RoutePolicy::built_in());
  const std::vector<std::string> texts = {"a text"};
  const auto plain = seed.classify_many(texts, false);
  const auto reversed = seed.classify_many(texts, true);
  const auto found = averaged.classify(texts[0]);
  ASSERT_TRUE(found.ok()) << found.error().message;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(
        found->probabilities[i].probability,
        (plain[0]->probabilities[i].probability + reversed[0]->probabilities[i].probability) / 2,
        1e-4);
  }
  // Offered in reverse, the two orders are the same two.
  EXPECT_EQ(averaged.classify_many(texts, true)[0]->probabilities, found->probabilities);
}

}  // namespace
}  // namespace layard::gateway
