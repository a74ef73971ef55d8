// Any bytes as a questions document: refused with a typed error, or every question can be printed,
// read back unchanged, laid out and answered.
#include <cstddef>
#include <cstdint>

#include "decision_fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace layard;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool lenient : {false, true}) {
    const CodecOptions options{lenient, JsonLayout::kCompact};
    const auto questions = parse_questions(text, options);
    if (!questions.ok()) {
      fuzz::require(questions.error().code == ErrorCode::kInvalidRequest);
      continue;
    }
    const auto again = parse_questions(print_questions(*questions, options), options);
    // Warnings name members that nothing reads, and those are not printed.
    fuzz::require(again.ok() && again->questions == questions->questions &&
                  again->warnings.empty());
    fuzz::answer_all(*questions, State{"some text", false}, OverflowPolicy::kCut, lenient);
  }
  return 0;
}
