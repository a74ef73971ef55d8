#include "labelled.h"

#include "input.h"

namespace layard::cli {
namespace {

// Standard input, whole.
Result<std::string> read_stdin() {
  LAYARD_ASSIGN(Source source, Source::open("-"));
  std::string out;
  std::vector<char> part(std::size_t{1} << 16);
  while (true) {
    LAYARD_ASSIGN(const std::size_t count, source.read(part.data(), part.size()));
    if (count == 0) return out;
    out.append(part.data(), count);
    if (out.size() > kEvaluationBytesMax) {
      return Error{ErrorCode::kInvalidRequest, "standard input has more than 256 MiB; split it"};
    }
  }
}

}  // namespace

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
  LAYARD_ASSIGN(const std::string text,
                options.data == "-" ? read_stdin() : read_file(options.data, kEvaluationBytesMax));
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
