// Any text as a calibration file: refused with a message of its form, or temperatures and
// confidences within their bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "decision/calibration_file.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using layard::QuestionType;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = layard::decision::parse_calibration_file(text);
  if (!file.ok()) {
    require(file.error().code == layard::ErrorCode::kInvalidRequest);
    require(file.error().message.starts_with("calibration JSON "));
    return 0;
  }
  require(file->weights_sha256.empty() || file->weights_sha256.size() == 64);
  require(file->temperature.size() == 3 && file->temperature_by_options.is_object());
  for (const auto type : {QuestionType::kChoice, QuestionType::kScore, QuestionType::kNoul}) {
    for (const std::size_t options : {1U, 2U, 5U, 10U, 11U}) {
      const double temperature = file->calibration.temperature(type, options);
      require(temperature >= 0.5 && temperature <= 5);
      for (const double largest : {0.0, 0.5, 1.0}) {
        const double confidence = file->calibration.answer_confidence(type, options, largest);
        require(confidence >= 0 && confidence <= 1);
      }
    }
  }
  return 0;
}
