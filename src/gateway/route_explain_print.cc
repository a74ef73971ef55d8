#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "base/number_text.h"
#include "base/utf8.h"
#include "gateway/policy_evidence.h"
#include "gateway/route_explain.h"

namespace layard::gateway {
namespace {

using base::fixed;
using base::JsonValue;

std::string number_text(double value) {
  return write_json(JsonValue::real(value), base::JsonStyle::kCompact);
}

const char* unit_word(const RoutePolicy& policy) {
  const bool bytes = policy.size_gate.has_value() && policy.size_gate->unit == GateUnit::kBytes;
  return bytes ? "bytes" : "characters";
}

bool reaches(const RouteExplanation& all) {
  return all.found.confidence >= all.policy.min_confidence;
}

// Blocks of a name and lines; the name stands in front of the first.
class Steps {
 public:
  void add(std::string name, const std::string& line) {
    constexpr std::size_t kNameChars = 12;
    name.resize(kNameChars, ' ');
    std::string one = name + line;
    std::ranges::replace(one, '\n', ' ');
    out_ += one + "\n";
  }
  /// Rows of a few cells, in columns.
  void add_table(const std::string& name, const std::vector<std::array<std::string, 2>>& rows) {
    std::size_t width = 0;
    for (const auto& row : rows) width = std::max(width, base::count_code_points(row[0]));
    for (const auto& row : rows) {
      const std::string pad(width - base::count_code_points(row[0]) + 2, ' ');
      add(&row == &rows.front() ? name : "", row[0] + pad + row[1]);
    }
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string policy_line(const RouteExplanation& all) {
  const RoutePolicy& policy = all.policy;
  return all.policy_source + ", " +
         (policy.version == 0 ? "without version (1bit)"
                              : "version " + std::to_string(policy.version)) +
         ", default device " + policy.default_device;
}

std::string size_line(const RouteExplanation& all) {
  const std::string size = std::to_string(all.size) + " " + unit_word(all.policy);
  if (!all.policy.size_gate.has_value()) {
    return size + "; the policy has no size gate: the model is asked";
  }
  const SizeGate& gate = *all.policy.size_gate;
  const std::string limit = std::to_string(gate.min) + " " + unit_word(all.policy);
  return all.found.by_size ? size + ", at least the limit of " + limit + ": " + gate.class_name +
                                 ", and the model is not asked"
                           : size + ", fewer than the limit of " + limit + ": the model is asked";
}

void add_question(const RouteExplanation& all, Steps& steps) {
  if (all.found.by_size) return;
  steps.add("asked", all.model + " (" + std::to_string(all.found.state_tokens) +
                         " tokens of the text" +
                         (all.found.state_tokens_dropped == 0
                              ? ""
                              : ", of which " + std::to_string(all.found.state_tokens_dropped) +
                                    " were not read") +
                         ")");
  steps.add("question", all.policy.instructions);
  std::vector<std::array<std::string, 2>> rows;
  for (const ClassOption& option : all.policy.options) {
    rows.push_back({option.name, option.description});
  }
  steps.add_table("options", rows);
}

const char* threshold_outcome(RowUse row) {
  switch (row) {
    case RowUse::kUsed:
      return ", reached: the row decides";
    case RowUse::kBelowThreshold:
      return ", not reached: no row counts";
    case RowUse::kNoRow:
      return ", reached: and there is no row";
    case RowUse::kDeviceAbsent:
      break;
  }
  return ", reached: and the row's device is no candidate";
}

void add_answer(const RouteExplanation& all, Steps& steps) {
  std::vector<std::array<std::string, 2>> rows;
  for (const LabelProbability& one : all.found.probabilities) {
    rows.push_back(
        {one.key, fixed(one.probability, 4) + (one.key == all.found.name ? "  <- the class" : "")});
  }
  steps.add_table("answer", rows);
  const bool entropy = all.policy.gate_on == GateOn::kConfidence;
  const std::string measure =
      entropy ? "confidence, 1 - H(p)/log(k)" : "answer_confidence, the largest probability";
  const std::string other = entropy
                                ? "; answer_confidence is " + fixed(all.found.answer_confidence, 4)
                                : "; confidence is " + fixed(all.found.entropy_confidence, 4);
  steps.add("confidence", fixed(all.found.confidence, 4) + " (" + measure + ")" +
                              (all.found.by_size ? "" : other));
  steps.add("threshold",
            number_text(all.policy.min_confidence) + threshold_outcome(all.choice.row));
}

std::string evidence_line(const RouteExplanation& all, const PolicyRow& row) {
  const PolicyEvidence* evidence = all.policy.find_evidence(row.evidence);
  if (evidence == nullptr) {
    return row.device == all.policy.default_device ? "none, and the default device needs none"
                                                   : "none";
  }
  const auto age = evidence_age_days(evidence->date, all.now_s);
  return evidence->name + ": " + number_text(evidence->gain_ms) + " ms gained over " +
         evidence->baseline + ", 95 % from " + number_text(evidence->low_ms) + " to " +
         number_text(evidence->high_ms) + ", " + std::to_string(evidence->n) + " requests, " +
         evidence->date + (age ? " (" + std::to_string(*age) + " days ago)" : "") +
         (evidence->file.empty() ? "" : ", " + evidence->file);
}

void add_row(const RouteExplanation& all, Steps& steps) {
  const PolicyRow* row = all.policy.row(all.found.name);
  if (row == nullptr) {
    steps.add("row", "none for " + all.found.name);
    return;
  }
  steps.add("row", row->class_name + " -> " + row->device +
                       (row->alternates.empty() ? "" : ", else " + listed(row->alternates)));
  if (!row->why.empty()) steps.add("why", row->why);
  steps.add("evidence", evidence_line(all, *row));
}

JsonValue text_or_null(const std::string& text) {
  return text.empty() ? JsonValue::null() : JsonValue::string(text);
}

JsonValue size_gate_value(const RouteExplanation& all) {
  if (!all.policy.size_gate.has_value()) return JsonValue::null();
  JsonValue out = JsonValue::object();
  out.set("size", JsonValue::integer(static_cast<std::int64_t>(all.size)));
  out.set("unit",
          JsonValue::string(all.policy.size_gate->unit == GateUnit::kBytes ? "bytes" : "chars"));
  out.set("min", JsonValue::integer(all.policy.size_gate->min));
  out.set("class", JsonValue::string(all.policy.size_gate->class_name));
  out.set("reached", JsonValue::boolean(all.found.by_size));
  return out;
}

JsonValue question_value(const RouteExplanation& all) {
  if (all.found.by_size) return JsonValue::null();
  JsonValue options = JsonValue::object();
  for (const ClassOption& option : all.policy.options) {
    options.set(option.name, JsonValue::string(option.description));
  }
  JsonValue out = JsonValue::object();
  out.set("model", JsonValue::string(all.model));
  out.set("instructions", JsonValue::string(all.policy.instructions));
  out.set("options", std::move(options));
  out.set("state_tokens", JsonValue::integer(all.found.state_tokens));
  out.set("state_tokens_dropped", JsonValue::integer(all.found.state_tokens_dropped));
  out.set("answer_changes_nothing", JsonValue::boolean(all.answer_is_idle));
  return out;
}

JsonValue answer_value(const RouteExplanation& all) {
  JsonValue probabilities = JsonValue::object();
  for (const LabelProbability& one : all.found.probabilities) {
    probabilities.set(one.key, JsonValue::real(one.probability));
  }
  JsonValue out = JsonValue::object();
  out.set("class", JsonValue::string(all.found.name));
  out.set("by", JsonValue::string(all.found.by_size ? "size" : "model"));
  out.set("probabilities", std::move(probabilities));
  out.set("confidence", JsonValue::real(all.found.entropy_confidence));
  out.set("answer_confidence", JsonValue::real(all.found.answer_confidence));
  out.set("gate_on",
          JsonValue::string(all.policy.gate_on == GateOn::kConfidence ? "confidence"
                                                                      : "answer_confidence"));
  out.set("threshold", JsonValue::real(all.policy.min_confidence));
  out.set("reached", JsonValue::boolean(reaches(all)));
  return out;
}

JsonValue evidence_value(const RouteExplanation& all, const PolicyRow& row) {
  const PolicyEvidence* evidence = all.policy.find_evidence(row.evidence);
  if (evidence == nullptr) return JsonValue::null();
  JsonValue out = JsonValue::object();
  out.set("name", JsonValue::string(evidence->name));
  out.set("n", JsonValue::integer(evidence->n));
  out.set("baseline", JsonValue::string(evidence->baseline));
  out.set("gain_ms", JsonValue::real(evidence->gain_ms));
  JsonValue& interval = out.set("ci95_ms", JsonValue::array());
  interval.push_back(JsonValue::real(evidence->low_ms));
  interval.push_back(JsonValue::real(evidence->high_ms));
  out.set("file", text_or_null(evidence->file));
  out.set("date", JsonValue::string(evidence->date));
  const auto age = evidence_age_days(evidence->date, all.now_s);
  out.set("age_days", age ? JsonValue::integer(*age) : JsonValue::null());
  return out;
}

JsonValue row_value(const RouteExplanation& all) {
  const PolicyRow* row = all.policy.row(all.found.name);
  if (row == nullptr) return JsonValue::null();
  JsonValue alternates = JsonValue::array();
  for (const std::string& name : row->alternates) alternates.push_back(JsonValue::string(name));
  JsonValue out = JsonValue::object();
  out.set("class", JsonValue::string(row->class_name));
  out.set("device", JsonValue::string(row->device));
  out.set("alternates", std::move(alternates));
  out.set("why", text_or_null(row->why));
  out.set("evidence", evidence_value(all, *row));
  return out;
}

JsonValue devices_value(const RouteExplanation& all) {
  JsonValue out = JsonValue::array();
  for (const ExplainedDevice& device : all.devices) {
    JsonValue one = JsonValue::object();
    one.set("device", JsonValue::string(device.name));
    one.set("candidate", JsonValue::boolean(device.candidate));
    one.set("picked", JsonValue::boolean(device.picked));
    one.set("why", JsonValue::string(device.why));
    out.push_back(std::move(one));
  }
  return out;
}

JsonValue policy_value(const RouteExplanation& all) {
  JsonValue out = JsonValue::object();
  out.set("source", JsonValue::string(all.policy_source));
  out.set("sha256", text_or_null(all.policy_sha256));
  out.set("version",
          all.policy.version == 0 ? JsonValue::null() : JsonValue::integer(all.policy.version));
  out.set("default", JsonValue::string(all.policy.default_device));
  return out;
}

}  // namespace

std::string print_explanation(const RouteExplanation& all) {
  Steps steps;
  steps.add("policy", policy_line(all));
  steps.add("size", size_line(all));
  add_question(all, steps);
  add_answer(all, steps);
  add_row(all, steps);
  std::vector<std::array<std::string, 2>> rows;
  for (const ExplainedDevice& device : all.devices) {
    rows.push_back({device.name, (device.picked ? "picked: " : "not picked: ") + device.why});
  }
  steps.add_table("devices", rows);
  if (all.answer_is_idle) {
    steps.add("note",
              "whatever the answer, the device is the same; a gateway with decide.when "
              "\"useful\" does not ask");
  }
  steps.add("route", route_line(all.found, all.choice.device));
  return steps.take();
}

std::string explanation_json(const RouteExplanation& all) {
  JsonValue out = JsonValue::object();
  out.set("route", JsonValue::string(route_line(all.found, all.choice.device)));
  out.set("policy", policy_value(all));
  out.set("size_gate", size_gate_value(all));
  out.set("question", question_value(all));
  out.set("answer", answer_value(all));
  out.set("row", row_value(all));
  out.set("devices", devices_value(all));
  out.set("device", text_or_null(all.choice.device));
  return write_json(out, base::JsonStyle::kIndent1);
}

}  // namespace layard::gateway
