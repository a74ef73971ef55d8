#include "runtime/calibration_override.h"

#include <utility>

#include "base/filesystem.h"
#include "layard/router.h"
#include "layard/words.h"
#include "runtime/function_log.h"
#include "runtime/resolve.h"

namespace layard::runtime {
namespace {

using base::JsonValue;
using decision::CalibrationFile;

Result<CalibrationFile> read_file(const std::string& path) {
  LAYARD_ASSIGN(const std::string text,
                base::real_filesystem().read_text(path, decision::kCalibrationBytesMax));
  auto file = decision::parse_calibration_file(text);
  if (!file.ok()) return Error{file.error().code, "'" + path + "': " + file.error().message};
  return file;
}

JsonValue text_or_null(const std::string& text) {
  return text.empty() ? JsonValue::null() : JsonValue::string(text);
}

}  // namespace

Result<CalibrationFile> read_calibration(const std::string& path, const ModelIdentity& identity,
                                         base::LogSink& log) {
  LAYARD_ASSIGN(CalibrationFile file, read_file(path));
  if (file.weights_sha256.empty()) {
    const std::string named = file.model.empty() ? "" : " (it names '" + file.model + "')";
    log.write(base::LogLevel::kWarning, "calibration '" + path +
                                            "' does not say which weights it was fitted on" +
                                            named + "; used unchecked for '" + identity.name + "'");
    return file;
  }
  if (file.weights_sha256 != identity.weights_sha256) {
    return Error{ErrorCode::kArtifactRevision,
                 "'" + path +
                     "': the calibration was fitted on weights sha256:" + file.weights_sha256 +
                     ", and '" + identity.name + "' has sha256:" + identity.weights_sha256 +
                     "; fit one for these: layard fit-temperatures " + shell_quoted(identity.name) +
                     " --data FILE"};
  }
  return file;
}

Status check_one_calibration(const std::string& calibration_file, std::string_view model) {
  if (calibration_file.empty() || !is_auto_model(model)) return {};
  return Error{ErrorCode::kInvalidRequest,
               "calibration file '" + calibration_file +
                   "' belongs to one checkpoint's weights, and the model auto is two; name one"};
}

Result<JsonValue> calibration_info(const ModelOptions& options) {
  LAYARD_TRY(check_one_calibration(options.calibration_file, options.model));
  LAYARD_ASSIGN(const CalibrationFile file, read_file(options.calibration_file));
  ModelOptions local = options;
  local.local_files_only = true;
  const auto identity = resolve_model(local);
  const bool known = identity.ok() && !file.weights_sha256.empty();
  JsonValue out = JsonValue::object();
  out.set("file", JsonValue::string(options.calibration_file));
  out.set("fitted_on", text_or_null(file.model));
  out.set("weights_sha256", text_or_null(file.weights_sha256));
  out.set("matches", known ? JsonValue::boolean(file.weights_sha256 == identity->weights_sha256)
                           : JsonValue::null());
  out.set("temperature", file.temperature);
  out.set("temperature_by_options", file.temperature_by_options);
  return out;
}

}  // namespace layard::runtime
