// Any bytes as the body of one of the server's endpoints (the first byte says which, and how the
// server is set): a request that can be asked within the limits, or one 4xx with a text that is
// JSON when it is quoted. What is asked for can be answered, and the answer is JSON.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "decision_fuzz_support.h"
#include "server/asked.h"

namespace {

using namespace layard;
using server::AskDefaults;
using server::Asked;
using server::Endpoint;
using server::Fault;

constexpr std::size_t kTextBytesMax = 4096;  // of a refusal

const server::KnownModels& known_models() {
  static const server::KnownModels models{
      [](std::string_view name) { return name == "laya" || name == "starter"; },
      [] {
        return std::vector<std::string>{"laya", "starter"};
      }};
  return models;
}

void check_fault(const Fault& fault) {
  fuzz::require(fault.status >= 400 && fault.status < 500);
  fuzz::require(!fault.detail.empty() && fault.detail.size() <= kTextBytesMax);
  const http::Response response = server::fault_response(fault, 0);
  fuzz::require(base::parse_json(response.body, base::JsonLimits{}).ok());
}

void check_limits(const Asked& asked, const AskDefaults& defaults) {
  fuzz::require(!asked.requests.empty() && asked.requests.size() <= defaults.limits.states_max);
  for (const ServiceRequest& one : asked.requests) {
    const auto& questions = one.request.questions.questions;
    fuzz::require(questions.size() <= defaults.limits.questions_max);
    // A code point is four bytes at most.
    fuzz::require(one.request.state.text.size() <= 4 * defaults.limits.state_chars_max);
  }
}

// An even answer to every question, as a forward pass would give it.
ServiceAnswer answer_to(const ServiceRequest& asked) {
  const auto& request = asked.request;
  ServiceAnswer answer;
  const auto spec = fuzz::small_spec(false);
  const auto rows = decision::build_rows(request.questions, request.state, spec,
                                         fuzz::ByteEncoder(), OverflowPolicy::kCut);
  if (!rows.ok()) return answer;
  std::vector<std::vector<float>> logits;
  for (const auto& row : *rows) logits.emplace_back(row.markers.size(), 0.25F);
  std::vector<decision::RowScores> scores;
  for (const auto& row : logits) scores.push_back({row, 0.5F});
  auto answers =
      decision::decode_answers(request.questions, *rows, scores, decision::Calibration());
  fuzz::require(answers.ok());
  answer.prediction.answers = *std::move(answers);
  answer.prediction.runtime.model = "starter";
  return answer;
}

bool is_answered(const ServiceRequest& asked, const ServiceAnswer& answer) {
  return answer.prediction.answers.answers.size() == asked.request.questions.questions.size();
}

void check_answer(Asked& asked) {
  std::vector<ServiceAnswer> answers;
  for (const ServiceRequest& one : asked.requests) {
    answers.push_back(answer_to(one));
    // Questions too long for the small prompt here, which a server answers with a 422.
    if (!is_answered(one, answers.back())) return;
  }
  const std::string body = asked.render(std::move(answers));
  fuzz::require(base::parse_json(body, base::JsonLimits{}).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr Endpoint kEndpoints[] = {Endpoint::kSystemOne, Endpoint::kBatch, Endpoint::kDecisions};
  const Endpoint endpoint = kEndpoints[data[0] % 3];
  AskDefaults defaults;
  defaults.jev_strict = (data[0] & 0x40U) != 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto outcome = server::read_asked(endpoint, body, defaults, known_models(), "id-1");
  if (const auto* fault = std::get_if<Fault>(&outcome)) {
    check_fault(*fault);
    return 0;
  }
  auto& asked = std::get<Asked>(outcome);
  check_limits(asked, defaults);
  check_answer(asked);
  return 0;
}
