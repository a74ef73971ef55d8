#include "labelled.h"

#include "input.h"

namespace layard::cli {

void add_labelled_options(CLI::App& command, LabelledOptions& options) {
  add_model_option(command, options.model);
  command
      .add_option("--data", options.data,
                  "JSON Lines of {\"state\", \"questions\", \"expected\"}, FILE or -")
      ->type_name(kFileType)
      ->required();
  command.add_option("--split", options.split, "Only lines whose \"split\" is this one")
      ->type_name("NAME");
  add_device_option(command, options.device);
  add_dtype_option(command, options.dtype, "Number format, as in predict");
  command.add_flag("--no-tie-recheck", options.no_tie_recheck,
                   "Keep a reduced dtype's answer where float32 would decide a near tie");
}

Result<std::vector<EvaluationCase>> read_labelled(const LabelledOptions& options) {
  LAYARD_ASSIGN(const std::string text, read_file(options.data, kEvaluationBytesMax));
  auto cases = parse_evaluation_cases(text, options.split);
  if (!cases.ok()) {
    return Error{cases.error().code, "'" + options.data + "': " + cases.error().message};
  }
  return cases;
}

Result<ModelOptions> labelled_model(const Globals& globals, const LabelledOptions& options) {
  LAYARD_ASSIGN(ModelOptions model,
                model_options(globals, options.model, options.device, options.dtype));
  model.tie_recheck = !options.no_tie_recheck;
  return model;
}

}  // namespace layard::cli
