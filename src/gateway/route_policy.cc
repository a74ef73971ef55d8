#include "gateway/route_policy.h"

#include <algorithm>

#include "base/json.h"

namespace layard::gateway {
namespace {

using base::JsonMember;
using base::JsonValue;

// Byte for byte what the seed's router asks: the wording is part of what was measured.
constexpr const char* kInstructions = "What kind of answer does this request need?";
constexpr struct {
  const char* name;
  const char* description;
} kOptions[] = {
    {"code", "source code, a script, a fix to a program, or an explanation of code"},
    {"prose", "several paragraphs of explanation, writing, advice or a story"},
    {"short", "one word, one number or one sentence"},
    {"long_doc", "reading a long pasted document, log, transcript, table or file"},
};
constexpr const char* kDefaultDevice = "vulkan";
constexpr double kDefaultMinConfidence = 0.16;

std::vector<ClassOption> built_in_options() {
  std::vector<ClassOption> options;
  for (const auto& option : kOptions) options.push_back({option.name, option.description});
  return options;
}

// Which class the gate has is no option of the question.
void take_gate_class(RoutePolicy& policy) {
  SizeGate& gate = *policy.size_gate;
  const auto found = std::ranges::find(policy.options, gate.class_name, &ClassOption::name);
  if (found == policy.options.end()) return;
  gate.description = found->description;
  policy.options.erase(found);
}

/// Reads one policy; its errors name the place.
class Reader {
 public:
  Reader(const JsonValue& root, const std::string& source) : root_(root), source_(source) {}

  Result<RoutePolicy> read() {
    if (!root_.is_object()) return error("must be an object");
    const JsonValue* classes = root_.find("classes");
    if (classes == nullptr || !classes->is_object()) return error("needs a \"classes\" object");
    LAYARD_TRY(read_numbers());
    LAYARD_TRY(read_question());
    LAYARD_TRY(read_gate());
    for (const JsonMember& member : classes->members()) {
      LAYARD_TRY(read_row(member.key, member.value));
    }
    LAYARD_TRY(read_default());
    return std::move(policy_);
  }

 private:
  Error error(const std::string& text) const {
    return {ErrorCode::kInvalidRequest, "route policy: " + text + " in " + source_};
  }

  static std::string quoted(std::string_view text) { return base::quote_json(text); }

  Status read_numbers() {
    if (const JsonValue* value = root_.find("min_confidence")) {
      const double number = value->as_double();
      if (!value->is_number() || !(number >= 0 && number <= 1)) {
        return error("\"min_confidence\" must be a number from 0 to 1, got " +
                     write_json(*value, base::JsonStyle::kCompact));
      }
      policy_.min_confidence = number;
    }
    const JsonValue* on = root_.find("gate_on");
    if (on == nullptr) return {};
    if (on->text() == "answer_confidence" && on->is_string()) {
      policy_.gate_on = GateOn::kAnswerConfidence;
    } else if (on->text() != "confidence" || !on->is_string()) {
      return error("\"gate_on\" must be \"confidence\" or \"answer_confidence\"");
    }
    return {};
  }

  Status read_question() {
    policy_.instructions = kInstructions;
    policy_.options = built_in_options();
    const JsonValue* question = root_.find("question");
    if (question == nullptr) return {};
    if (!question->is_object()) return error("\"question\" must be an object");
    if (const JsonValue* text = question->find("instructions")) {
      if (!text->is_string() || text->text().empty()) {
        return error("\"question.instructions\" must be a text");
      }
      policy_.instructions = text->text();
    }
    if (const JsonValue* name = question->find("checkpoint")) {
      if (!name->is_string() || name->text().empty()) {
        return error("\"question.checkpoint\" must be a model's name");
      }
      policy_.checkpoint = name->text();
    }
    if (const JsonValue* options = question->find("options")) return read_options(*options);
    return {};
  }

  Status read_options(const JsonValue& options) {
    if (!options.is_object() || options.size() < 2 || options.size() > kPolicyEntriesMax) {
      return error("\"question.options\" must be an object of 2 to 256 classes");
    }
    policy_.options.clear();
    for (const JsonMember& member : options.members()) {
      if (member.key.empty() || !member.value.is_string()) {
        return error("option " + quoted(member.key) + " needs a text that describes it");
      }
      policy_.options.push_back({member.key, member.value.text()});
    }
    return {};
  }

  Status read_gate() {
    const JsonValue* gate = root_.find("size_gate");
    const bool none = gate != nullptr && (gate->is_null() || (gate->is_bool() && !gate->as_bool()));
    if (!none) {
      policy_.size_gate.emplace();
      if (gate != nullptr) LAYARD_TRY(read_gate_members(*gate));
      take_gate_class(policy_);
    }
    if (policy_.options.empty()) return error("the question has no class left to offer");
    return {};
  }

  Status read_gate_members(const JsonValue& gate) {
    if (!gate.is_object()) return error("\"size_gate\" must be an object, null or false");
    SizeGate& out = *policy_.size_gate;
    out.scope = GateScope::kFirstUser;
    if (const JsonValue* min = gate.find("min")) {
      const auto value = min->as_int64();
      if (!value.has_value() || *value < 1) {
        return error("\"size_gate.min\" must be a whole number from 1 on");
      }
      out.min = *value;
    }
    if (const JsonValue* unit = gate.find("unit")) {
      if (unit->is_string() && unit->text() == "bytes") {
        out.unit = GateUnit::kBytes;
      } else if (!unit->is_string() || unit->text() != "chars") {
        return error(
            "\"size_gate.unit\" must be \"chars\" or \"bytes\" (\"tokens\" is not part of "
            "this version)");
      }
    }
    if (const JsonValue* scope = gate.find("scope")) {
      const std::string& word = scope->text();
      if (!scope->is_string() || (word != "first_user" && word != "head" && word != "all")) {
        return error("\"size_gate.scope\" must be \"first_user\", \"head\" or \"all\"");
      }
      out.scope = word == "head"  ? GateScope::kHead
                  : word == "all" ? GateScope::kAll
                                  : GateScope::kFirstUser;
    }
    if (const JsonValue* name = gate.find("class")) {
      if (!name->is_string() || name->text().empty()) {
        return error("\"size_gate.class\" must be a class's name");
      }
      out.class_name = name->text();
    }
    return {};
  }

  Status read_row(const std::string& name, const JsonValue& value) {
    const auto classes = policy_.classes();
    if (std::ranges::find(classes, name) == classes.end()) {
      return error("unknown class " + quoted(name) + " (the classes are " + listed(classes) + ")");
    }
    const JsonValue* device = value.find("device");
    if (device == nullptr || !device->is_string() || device->text().empty()) {
      return error("class " + quoted(name) + " needs a \"device\"");
    }
    PolicyRow row{name, device->text(), {}, {}};
    if (const JsonValue* why = value.find("why"); why != nullptr && why->is_string()) {
      row.why = why->text();
    }
    if (const JsonValue* alternates = value.find("alternates")) {
      const bool texts = std::ranges::all_of(
          alternates->items(), [](const JsonValue& item) { return item.is_string(); });
      if (!alternates->is_array() || !texts || alternates->size() > kPolicyEntriesMax) {
        return error("\"alternates\" of class " + quoted(name) + " must be a list of devices");
      }
      for (const JsonValue& item : alternates->items()) row.alternates.push_back(item.text());
    }
    policy_.rows.push_back(std::move(row));
    return {};
  }

  Status read_default() {
    const JsonValue* value = root_.find("default");
    if (value == nullptr) {
      policy_.default_device = kDefaultDevice;
      return {};
    }
    if (!value->is_string() || value->text().empty()) {
      return error("\"default\" must be a device's name");
    }
    policy_.default_device = value->text();
    return {};
  }

  const JsonValue& root_;
  const std::string& source_;
  RoutePolicy policy_;
};

RoutePolicy seed_policy() {
  RoutePolicy policy;
  policy.min_confidence = kDefaultMinConfidence;
  policy.default_device = kDefaultDevice;
  policy.size_gate.emplace();
  policy.instructions = kInstructions;
  policy.options = built_in_options();
  take_gate_class(policy);
  for (const auto& option : kOptions) policy.rows.push_back({option.name, kDefaultDevice, {}, {}});
  return policy;
}

}  // namespace

const RoutePolicy& RoutePolicy::built_in() {
  static const RoutePolicy kPolicy = seed_policy();
  return kPolicy;
}

Result<RoutePolicy> RoutePolicy::parse(std::string_view json, const std::string& source) {
  base::JsonLimits limits;
  limits.bytes_max = kPolicyBytesMax;
  limits.depth_max = 32;
  const auto root = base::parse_json(json, limits);
  if (!root.ok()) {
    return Error{root.error().code, "route policy: " + root.error().message + " in " + source};
  }
  return Reader(*root, source).read();
}

void RoutePolicy::remove_gate() {
  if (!size_gate.has_value()) return;
  options.push_back({size_gate->class_name, size_gate->description});
  size_gate.reset();
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

const PolicyRow* RoutePolicy::row(std::string_view class_name) const {
  const auto found = std::ranges::find(rows, class_name, &PolicyRow::class_name);
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> RoutePolicy::classes() const {
  std::vector<std::string> names;
  for (const ClassOption& option : options) names.push_back(option.name);
  if (size_gate.has_value()) names.push_back(size_gate->class_name);
  return names;
}

std::vector<std::string> RoutePolicy::devices() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const PolicyRow& one : rows) {
    add(one.device);
    for (const std::string& alternate : one.alternates) add(alternate);
  }
  add(default_device);
  return names;
}

std::string pick_device(const RoutePolicy& policy, std::string_view class_name, double confidence,
                        std::span<const std::string> candidates) {
  const auto is_candidate = [&](const std::string& device) {
    return std::ranges::find(candidates, device) != candidates.end();
  };
  if (confidence >= policy.min_confidence) {
    const PolicyRow* row = policy.row(class_name);
    if (row != nullptr && is_candidate(row->device)) return row->device;
  }
  if (is_candidate(policy.default_device)) return policy.default_device;
  return candidates.empty() ? std::string() : candidates.front();
}

}  // namespace layard::gateway
