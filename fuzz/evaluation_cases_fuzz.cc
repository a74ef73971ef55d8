// Any text as lines of labelled questions: refused with a message that names a line, or a target of
// the right form for each question.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "layard/evaluation.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_targets(const layard::EvaluationCase& one) {
  require(!one.questions.questions.empty());
  require(one.targets.size() == one.questions.questions.size());
  for (std::size_t i = 0; i < one.targets.size(); ++i) {
    require(one.targets[i].size() == one.questions.questions[i].options.size());
    double sum = 0;
    for (const double p : one.targets[i]) {
      require(p >= 0 && p <= 1);
      sum += p;
    }
    require(std::fabs(sum - 1) < 1e-6);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* split : {"", "dev"}) {
    const auto cases = layard::parse_evaluation_cases(text, split);
    if (!cases.ok()) {
      require(cases.error().code == layard::ErrorCode::kInvalidRequest);
      require(cases.error().message.find("line") != std::string::npos);
      continue;
    }
    for (const layard::EvaluationCase& one : *cases) check_targets(one);
  }
  return 0;
}
