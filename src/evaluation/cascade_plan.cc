// The file of a cascade's thresholds, and the block that says who answered, as JSON.
#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/sha256.h"
#include "evaluation/cascade_rules.h"
#include "layard/cascade.h"

namespace layard {
namespace {

using base::JsonValue;

constexpr std::int64_t kVersion = 1;

Error fault(const std::string& where, const std::string& what) {
  return {ErrorCode::kInvalidRequest, "cascade file: " + where + " " + what};
}

// As decision::temperature_bucket names them.
bool is_bucket(std::string_view name) {
  if (name == evaluation::kDefaultBucket || name == "noul:2") return true;
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view type = name.substr(0, colon);
  constexpr std::array<std::string_view, 4> kSizes = {"2", "3-5", "6-10", "11+"};
  return (type == "choice" || type == "score") &&
         std::ranges::find(kSizes, name.substr(colon + 1)) != kSizes.end();
}

Result<std::vector<CascadeThreshold>> read_thresholds(const JsonValue& value,
                                                      const std::string& where) {
  if (!value.is_object()) return fault(where, "must be an object of bucket to number");
  std::vector<CascadeThreshold> out;
  for (const auto& [bucket, number] : value.members()) {
    const std::string place = where + "." + base::quote_json(bucket);
    if (!is_bucket(bucket)) {
      return fault(place, "is no bucket; they are like choice:3-5, noul:2, and default");
    }
    const double confidence = number.as_double();
    const bool in_range = number.is_number() && confidence >= 0 && confidence <= 1;
    if (!in_range && !number.is_null()) {
      return fault(place, "must be a number from 0 to 1, or null");
    }
    out.push_back({bucket, number.is_null() ? std::nullopt : std::optional<double>(confidence)});
  }
  return out;
}

Result<CascadeStage> read_stage(const JsonValue& value, const std::string& where) {
  const JsonValue* model = value.find("model");
  if (model == nullptr || !model->is_string() || model->text().empty()) {
    return fault(where + ".model", "must be a model's name");
  }
  const JsonValue* hash = value.find("weights_sha256");
  if (hash == nullptr || !hash->is_string() || !base::is_sha256_hex(hash->text())) {
    return fault(where + ".weights_sha256", "must be 64 lower-case hex digits");
  }
  CascadeStage stage{model->text(), hash->text(), {}};
  if (const JsonValue* thresholds = value.find("thresholds")) {
    LAYARD_ASSIGN(stage.thresholds, read_thresholds(*thresholds, where + ".thresholds"));
  }
  return stage;
}

Result<CascadeFitData> read_fit_data(const JsonValue& value) {
  CascadeFitData out;
  const auto text = [&](const char* name, std::string& into) {
    const JsonValue* found = value.find(name);
    if (found != nullptr && found->is_string()) into = found->text();
    return found == nullptr || found->is_string();
  };
  const auto count = [&](const char* name, auto& into) {
    const JsonValue* found = value.find(name);
    const auto number = found != nullptr ? found->as_int64() : 0;
    if (!number.has_value() || *number < 0) return false;
    into = static_cast<std::remove_reference_t<decltype(into)>>(*number);
    return true;
  };
  if (!text("data", out.data) || !text("dtype", out.dtype)) {
    return fault("fitted_on", "has a data or dtype that is no text");
  }
  if (!count("questions", out.questions) || !count("seed", out.seed)) {
    return fault("fitted_on", "has a questions or seed that is no whole number from 0 on");
  }
  return out;
}

JsonValue optional_number(const std::optional<double>& value) {
  return value.has_value() ? JsonValue::real(*value) : JsonValue::null();
}

JsonValue stage_json(const CascadeStage& stage) {
  JsonValue out = JsonValue::object();
  out.set("model", JsonValue::string(stage.model));
  out.set("weights_sha256", JsonValue::string(stage.weights_sha256));
  JsonValue thresholds = JsonValue::object();
  for (const CascadeThreshold& one : stage.thresholds) {
    thresholds.set(one.bucket, optional_number(one.confidence));
  }
  out.set("thresholds", std::move(thresholds));
  return out;
}

JsonValue decision_json(const CascadeDecision& decision) {
  JsonValue out = JsonValue::object();
  out.set("stage", JsonValue::integer(static_cast<std::int64_t>(decision.stage)));
  out.set("model", JsonValue::string(decision.model));
  out.set("confidence", JsonValue::real(decision.confidence));
  out.set("threshold", optional_number(decision.threshold));
  out.set("threshold_of", decision.threshold_of.empty() ? JsonValue::null()
                                                        : JsonValue::string(decision.threshold_of));
  out.set("reason", JsonValue::string(decision.reason));
  if (decision.passed_on.empty()) return out;
  JsonValue passed_on = JsonValue::array();
  for (const CascadeDecision::PassedOn& earlier : decision.passed_on) {
    JsonValue one = JsonValue::object();
    one.set("model", JsonValue::string(earlier.model));
    one.set("confidence", JsonValue::real(earlier.confidence));
    one.set("threshold", optional_number(earlier.threshold));
    passed_on.push_back(std::move(one));
  }
  out.set("passed_on", std::move(passed_on));
  return out;
}

}  // namespace

Result<CascadePlan> parse_cascade_plan(std::string_view json) {
  base::JsonLimits limits;
  limits.bytes_max = kCascadeFileBytesMax;
  limits.depth_max = 32;
  auto root = base::parse_json(json, limits);
  if (!root.ok()) return fault("it", "is not JSON: " + root.error().message);
  const JsonValue* version = root->find("version");
  if (version == nullptr || version->as_int64() != kVersion) {
    return fault("version", "must be 1; write the file anew with layard evaluate --write-cascade");
  }
  const JsonValue* chain = root->find("chain");
  if (chain == nullptr || !chain->is_array() || chain->size() < 2 ||
      chain->size() > kCascadeStagesMax) {
    return fault("chain",
                 "must be a list of 2 to " + std::to_string(kCascadeStagesMax) + " checkpoints");
  }
  CascadePlan plan;
  for (std::size_t i = 0; i < chain->size(); ++i) {
    LAYARD_ASSIGN(CascadeStage stage,
                  read_stage(chain->items()[i], "chain[" + std::to_string(i) + "]"));
    plan.chain.push_back(std::move(stage));
  }
  const JsonValue* risk = root->find("risk");
  plan.risk = risk != nullptr ? risk->as_double() : 0;
  if (!(plan.risk > 0 && plan.risk < 1)) return fault("risk", "must be between 0 and 1");
  if (const JsonValue* data = root->find("fitted_on")) {
    LAYARD_ASSIGN(plan.fitted_on, read_fit_data(*data));
  }
  return plan;
}

std::string print_cascade_plan(const CascadePlan& plan) {
  JsonValue root = JsonValue::object();
  root.set("version", JsonValue::integer(kVersion));
  JsonValue chain = JsonValue::array();
  for (const CascadeStage& stage : plan.chain) chain.push_back(stage_json(stage));
  root.set("chain", std::move(chain));
  root.set("risk", JsonValue::real(plan.risk));
  JsonValue data = JsonValue::object();
  data.set("data", JsonValue::string(plan.fitted_on.data));
  data.set("dtype", JsonValue::string(plan.fitted_on.dtype));
  data.set("questions", JsonValue::integer(static_cast<std::int64_t>(plan.fitted_on.questions)));
  data.set("seed", JsonValue::integer(static_cast<std::int64_t>(plan.fitted_on.seed)));
  root.set("fitted_on", std::move(data));
  return write_json(root, base::JsonStyle::kIndent1);
}

std::string print_cascade_decisions(std::span<const CascadeDecision> decisions) {
  JsonValue root = JsonValue::object();
  for (const CascadeDecision& decision : decisions) {
    root.set(decision.question, decision_json(decision));
  }
  return write_json(root, base::JsonStyle::kPython);
}

}  // namespace layard
