#include "decision/calibration_file.h"

#include <algorithm>

#include "decision/python_text.h"

namespace layard::decision {
namespace {

using base::JsonValue;

Error bad_file(const std::string& text) {
  return {ErrorCode::kInvalidRequest, "calibration JSON " + text};
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Ours, behind upstream's members.
Status read_own_member(const JsonValue& root, CalibrationFile& file) {
  const JsonValue* own = root.find("layard");
  if (own == nullptr || own->is_null()) return {};
  if (!own->is_object()) {
    return bad_file("layard must be an object, got " + std::string(json_type_name(*own)));
  }
  const JsonValue* hash = own->find("weights_sha256");
  if (hash == nullptr || hash->is_null()) return {};
  if (!is_sha256(hash->text())) {
    return bad_file("layard.weights_sha256 must be 64 lower-case hex digits, got " +
                    python_repr(*hash));
  }
  file.weights_sha256 = hash->text();
  return {};
}

}  // namespace

Result<CalibrationFile> parse_calibration_file(std::string_view json) {
  const auto root = base::parse_json(json, {.bytes_max = kCalibrationBytesMax});
  if (!root.ok()) return bad_file("cannot be read: " + root.error().message);
  if (!root->is_object()) {
    return bad_file("must be an object, got " + std::string(json_type_name(*root)));
  }
  const JsonValue* version = root->find("version");
  if (version == nullptr || version->as_int64() != 2) {
    return bad_file("version must be 2, got " +
                    (version == nullptr ? std::string("none") : python_repr(*version)));
  }
  const JsonValue* temperature = root->find("temperature");
  if (temperature == nullptr) return bad_file("must have temperature, a list of 3 floats");
  CalibrationFile file;
  LAYARD_ASSIGN(file.calibration, Calibration::from_calibration_json(*root));
  file.temperature = *temperature;
  const JsonValue* by_options = root->find("temperature_by_options");
  file.temperature_by_options =
      by_options != nullptr && by_options->is_object() ? *by_options : JsonValue::object();
  const JsonValue* model = root->find("model_id_or_path");
  if (model != nullptr && model->is_string()) file.model = model->text();
  LAYARD_TRY(read_own_member(*root, file));
  return file;
}

}  // namespace layard::decision
