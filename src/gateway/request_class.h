/// What kind of request a text is: by its size, or by asking a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/route_policy.h"
#include "layard/answer.h"
#include "layard/model.h"
#include "layard/question.h"

namespace layard::gateway {

struct RequestClass {
  std::string name;
  /// The one that GateOn names; 1 where the size decided.
  double confidence = 0;
  std::vector<LabelProbability> probabilities;  ///< in the order of the options
  bool by_size = false;
  /// Both confidences of the answer: 1 - H(p)/log(k), and the largest probability.
  double entropy_confidence = 1;
  double answer_confidence = 1;
  /// Of the text, where the model was asked: what it has, and what of that was not read.
  std::int64_t state_tokens = 0;
  std::int64_t state_tokens_dropped = 0;
};

/// The size of `text` in the gate's unit. REQUIRES: valid UTF-8.
std::size_t gate_size(const SizeGate& gate, std::string_view text);

/// The policy's question and how answers to it read, whoever is asked.
/// Thread-safety: constant after construction.
class RouteQuestion {
 public:
  RouteQuestion() = default;  // asks nothing
  /// Errors: kInvalidRequest (a question that no model can be asked).
  static Result<RouteQuestion> make(const RoutePolicy& policy);

  /// The class of a text of so many characters and bytes that is large enough for it; nothing
  /// where the model must be asked.
  std::optional<RequestClass> by_size(std::size_t chars, std::size_t bytes) const;

  /// With the options in their order, or from the last to the first.
  const QuestionSet& questions(bool reversed) const { return reversed ? reversed_ : question_; }
  /// In as many orders of its options as the policy says.
  PredictOptions predict_options() const;
  /// REQUIRES: of this question.
  RequestClass read(const Prediction& prediction) const;

 private:
  std::optional<SizeGate> size_gate_;
  GateOn gate_on_ = GateOn::kConfidence;
  int orders_ = 1;
  QuestionSet question_;
  QuestionSet reversed_;
};

/// Asks `model` the policy's question.
/// Thread-safety: that of the model.
class RequestClassifier {
 public:
  /// Errors: kInvalidRequest (a question that the model cannot be asked).
  /// REQUIRES: `model` outlives the classifier.
  static Result<RequestClassifier> open(const RoutePolicy& policy, Model& model);

  /// The class of a text that is large enough for it; nothing where the model must be asked.
  std::optional<RequestClass> by_size(std::string_view text) const;

  /// Errors: kInvalidRequest (not UTF-8), those of Model::predict.
  Result<RequestClass> classify(std::string_view text) const;

  /// The same for many in shared forward passes, with the options offered from the last to the
  /// first where `reversed`.
  std::vector<Result<RequestClass>> classify_many(std::span<const std::string> texts,
                                                  bool reversed) const;

 private:
  RequestClassifier(RouteQuestion question, Model& model)
      : question_(std::move(question)), model_(&model) {}

  RouteQuestion question_;
  Model* model_;
};

/// `code 0.44 vulkan`: class, confidence, device. The form of the 1bit router's header and output.
std::string route_line(const RequestClass& found, std::string_view device);

}  // namespace layard::gateway
