// Any bytes as a request, a response and a command line's context: typed errors only, and what is
// accepted can be routed by language, laid out, answered and printed.
#include <cstddef>
#include <cstdint>

#include "decision_fuzz_support.h"
#include "language/language.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace layard;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto request = parse_request(text, {});
  if (request.ok()) {
    fuzz::require(language::detect(request->state).ok());
    for (const auto policy : {OverflowPolicy::kCut, OverflowPolicy::kError}) {
      fuzz::answer_all(request->questions, request->state, policy, policy == OverflowPolicy::kCut);
    }
  } else {
    fuzz::require(request.error().code == ErrorCode::kInvalidRequest);
  }
  const auto response = parse_answers(text);
  if (response.ok()) {
    const auto printed = print_answers(*response, {});
    fuzz::require(base::parse_json(printed, base::JsonLimits{}).ok());
  }
  const auto context = context_from_text(text);
  if (context.ok()) {
    fuzz::require(!context->keep_end || text.starts_with('['));
    fuzz::require(language::detect(*context).ok());
  }
  return 0;
}
