#include "runtime/route.h"

#include <array>

#include "base/json.h"
#include "checkpoint/registry.h"
#include "checkpoint/resolve.h"
#include "language/language.h"
#include "language/workflows.h"
#include "runtime/resolve.h"

namespace layard {
namespace {

constexpr std::array<std::string_view, 2> kAutoCheckpoints = {"laya", "laya-multilingual"};

// Upstream's short names of the checkpoints; they stand first among the registry's aliases.
std::string label_of(const std::string& name) {
  const checkpoint::ModelSpec* spec = checkpoint::find_spec(name);
  return spec != nullptr ? spec->aliases.front() : name;
}

LanguageDetection public_detection(const language::Detection& found) {
  LanguageDetection detection;
  detection.detector = found.detector;
  detection.script = found.script;
  for (const auto& [script, share] : found.script_profile) {
    detection.script_profile.emplace_back(script, share);
  }
  if (found.language.has_value()) detection.language = std::string(*found.language);
  detection.is_english = found.is_english;
  detection.language_undecided = found.language_undecided;
  detection.diacritic_rate = found.diacritic_rate;
  detection.non_latin_fraction = found.non_latin_fraction;
  return detection;
}

// As the language room has it; views into `found`.
language::Detection room_detection(const LanguageDetection& found) {
  language::Detection detection;
  detection.detector = found.detector;
  detection.script = found.script;
  for (const auto& [script, share] : found.script_profile) {
    detection.script_profile.emplace_back(script, share);
  }
  detection.language = found.language;
  detection.is_english = found.is_english;
  detection.language_undecided = found.language_undecided;
  detection.diacritic_rate = found.diacritic_rate;
  detection.non_latin_fraction = found.non_latin_fraction;
  return detection;
}

}  // namespace

namespace runtime {

Result<RouteTarget> find_target(const Environment& environment, std::string_view model) {
  LAYARD_ASSIGN(const checkpoint::ModelSource source,
                checkpoint::resolve_model(model, resolve_options(environment)));
  RouteTarget target;
  target.name = source.name;
  target.label = label_of(source.name);
  if (source.spec != nullptr) {
    target.repo = source.spec->repo;
    target.revision = source.spec->revision;
  }
  return target;
}

Result<RouteTargets> find_targets(const Environment& environment, std::string_view default_model) {
  if (is_auto_model(default_model)) {
    return Error{
        ErrorCode::kInvalidRequest,
        "the default model answers where language does not decide, so it cannot be 'auto'; "
        "name a checkpoint"};
  }
  RouteTargets found;
  for (const std::string_view name : kAutoCheckpoints) {
    LAYARD_ASSIGN(RouteTarget target, find_target(environment, name));
    found.targets.push_back(std::move(target));
  }
  LAYARD_ASSIGN(RouteTarget fallback, find_target(environment, default_model));
  while (found.fallback < found.targets.size() &&
         found.targets[found.fallback].name != fallback.name) {
    ++found.fallback;
  }
  if (found.fallback == found.targets.size()) found.targets.push_back(std::move(fallback));
  return found;
}

Result<RouteChoice> choose_route(const RouteTargets& targets, const State& state,
                                 const QuestionSet& questions) {
  LAYARD_ASSIGN(const language::Detection detection, language::detect(state));
  const language::Choice choice =
      language::choose(detection, targets.targets[targets.fallback].label);
  RouteChoice out;
  out.target = choice.target == language::Target::kEnglish        ? targets.english
               : choice.target == language::Target::kMultilingual ? targets.multilingual
                                                                  : targets.fallback;
  const RouteTarget& target = targets.targets[out.target];
  out.route.checkpoint = target.name;
  out.route.model_routing = to_string(choice.routing);
  out.route.model = target.label;
  out.route.repo = target.repo;
  out.route.revision = target.revision;
  out.route.reason = choice.reason;
  out.route.detection = public_detection(detection);
  if (const auto workflow = language::workflow_of(questions); workflow.has_value()) {
    out.route.workflow = std::string(*workflow);
  }
  return out;
}

base::JsonValue router_json(const RouteTargets& targets) {
  using base::JsonValue;
  JsonValue out = JsonValue::object();
  out.set("model", JsonValue::string("auto"));
  out.set("router", JsonValue::string("language"));
  out.set("detector", JsonValue::string(std::string(language::kDetector)));
  out.set("default_model", JsonValue::string(targets.targets[targets.fallback].name));
  return out;
}

}  // namespace runtime

bool is_auto_model(std::string_view name) { return checkpoint::normalized_name(name) == "auto"; }

std::span<const std::string_view> auto_checkpoints() { return kAutoCheckpoints; }

std::string print_route(const Route& route) {
  using base::JsonValue;
  const auto optional_text = [](const std::optional<std::string>& text) {
    return text.has_value() ? JsonValue::string(*text) : JsonValue::null();
  };
  JsonValue out = JsonValue::object();
  out.set("model", JsonValue::string(route.model));
  out.set("repo", optional_text(route.repo));
  out.set("reason", JsonValue::string(route.reason));
  out.set("detection", route.detection.has_value()
                           ? detection_json(room_detection(*route.detection))
                           : JsonValue::null());
  out.set("workflow", optional_text(route.workflow));
  return write_json(out, base::JsonStyle::kCompact);
}

}  // namespace layard
