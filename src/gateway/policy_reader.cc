#include "gateway/policy_reader.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "gateway/policy_fields.h"
#include "gateway/policy_sections.h"
#include "layard/question.h"

namespace layard::gateway {
namespace {

using base::JsonValue;

constexpr std::int64_t kGateMax = 1'000'000'000;

/// Reads one file.
class Reader {
 public:
  Reader(const PolicyNode& root, PolicyFindings& findings) : root_(root), fields_(findings) {}

  RoutePolicy read() {
    policy_ = RoutePolicy::built_in();
    policy_.min_confidence = 0;
    policy_.rows.clear();
    if (!root_.value->is_object()) {
      fields_.error(root_, "a policy must be an object", "begin with a member \"classes\"");
      return policy_;
    }
    if (!read_version()) return policy_;
    read_top();
    read_question();
    read_gate();
    read_classes();
    if (strict_) read_policy_sections(root_, fields_, policy_);
    return std::move(policy_);
  }

 private:
  // False where nothing else can be judged.
  bool read_version() {
    const PolicyNode version = root_.member("version");
    if (!version.present()) return true;
    std::int64_t number = 0;
    if (version.value->is_number() && version.value->as_double() == kPolicyVersion) {
      number = kPolicyVersion;
    }
    policy_.version = static_cast<int>(number);
    strict_ = number == kPolicyVersion;
    if (!strict_) {
      fields_.error(version, "\"version\" must be 1, the one this program reads",
                    "write 1, or leave it out for a file of the 1bit router");
    }
    return strict_;
  }

  void read_top() {
    std::string ignored;
    if (strict_) {
      fields_.unknown(root_,
                      {"$schema", "version", "about", "min_confidence", "gate_on", "default",
                       "size_gate", "question", "classes", "decide", "sticky", "devices",
                       "evidence", "model_names", "alternates_on_error"},
                      true);
      fields_.text(root_, "about", kPolicyTextCharsMax, ignored);
      fields_.text(root_, "$schema", kPolicyTextCharsMax, ignored);
      fields_.name(root_, "default", policy_.default_device);
      if (!root_.member("default").present()) {
        fields_.missing(root_, "default", "name the device of requests without a row");
      }
    } else {
      // A file of that router may hold anything; what only the other form has is told of.
      fields_.unknown(root_,
                      {"about", "min_confidence", "gate_on", "default", "size_gate", "question",
                       "classes", "version", "decide", "sticky", "devices", "evidence",
                       "model_names", "alternates_on_error"},
                      false);
      for (const char* name :
           {"decide", "sticky", "devices", "evidence", "model_names", "alternates_on_error"}) {
        const PolicyNode node = root_.member(name);
        if (!node.present()) continue;
        fields_.findings().warning_at_name(
            node, "\"" + std::string(name) + "\" is read only in a file with \"version\": 1",
            "add the version, or remove the member");
      }
      fields_.text(root_, "default", kAnyChars, policy_.default_device);
    }
    fields_.number(root_, "min_confidence", 0, 1, policy_.min_confidence);
    const auto on = fields_.word(root_, "gate_on", {"confidence", "answer_confidence"});
    if (on.has_value()) policy_.gate_on = static_cast<GateOn>(*on);
  }

  std::size_t chars_max() const { return strict_ ? kPolicyTextCharsMax : kAnyChars; }

  void read_question() {
    const PolicyNode question = root_.member("question");
    RoutePolicy open = RoutePolicy::built_in();
    open.remove_gate();
    policy_.options = open.options;
    if (!question.present()) return;
    if (!question.value->is_object()) {
      fields_.error(question, "\"question\" must be an object",
                    "write {\"instructions\": \"...\", \"options\": {...}}");
      return;
    }
    fields_.unknown(question, {"instructions", "options", "checkpoint", "orders"}, strict_);
    fields_.text(question, "instructions", chars_max(), policy_.instructions);
    fields_.text(question, "checkpoint", chars_max(), policy_.checkpoint);
    std::int64_t orders = policy_.orders;
    fields_.whole(question, "orders", 1, kOrdersMax, orders);
    policy_.orders = static_cast<int>(orders);
    read_options(question.member("options"));
  }

  void read_options(const PolicyNode& options) {
    if (!options.present()) return;
    if (!options.value->is_object() || options.value->size() < 2 ||
        options.value->size() > kPolicyEntriesMax) {
      fields_.error(options, "\"options\" must be an object of 2 to 256 classes",
                    "write {\"CLASS\": \"what the model reads about it\", ...}");
      return;
    }
    policy_.options.clear();
    for (std::size_t i = 0; i < options.value->size(); ++i) {
      const PolicyNode option = options.child(i);
      check_class_name(option);
      const bool good = !option.name.empty() && option.value->is_string() &&
                        base::count_code_points(option.value->text()) <= chars_max();
      if (good) {
        policy_.options.push_back({option.name, option.value->text()});
      } else {
        fields_.error(option,
                      "option " + shown_text(option.name) + " needs a text that describes it", "");
      }
    }
  }

  void check_class_name(const PolicyNode& node) {
    if (!strict_ || is_policy_name(node.name)) return;
    fields_.findings().error_at_name(
        PolicyFaultKind::kStructure, node, shown_text(node.name) + " cannot be a class's name",
        "a name has 1 to 64 letters, digits and ._:/-, a letter or digit first");
  }

  void read_gate() {
    const PolicyNode gate = root_.member("size_gate");
    const bool none = gate.present() &&
                      (gate.value->is_null() || (gate.value->is_bool() && !gate.value->as_bool()));
    policy_.size_gate.reset();
    if (none) return;
    policy_.size_gate.emplace();
    // A file of the 1bit router means all opening messages.
    if (policy_.version > 0) policy_.size_gate->scope = GateScope::kFirstUser;
    if (gate.present()) read_gate_members(gate);
    policy_.take_gate_class();
  }

  void read_gate_members(const PolicyNode& gate) {
    if (!gate.value->is_object()) {
      fields_.error(gate, "\"size_gate\" must be an object, null or false",
                    "write {\"min\": 1024}, or false for none");
      return;
    }
    SizeGate& out = *policy_.size_gate;
    out.scope = GateScope::kFirstUser;
    fields_.unknown(gate, {"min", "unit", "scope", "class"}, strict_);
    fields_.whole(gate, "min", 1, kGateMax, out.min);
    const PolicyNode unit = gate.member("unit");
    if (unit.present() && unit.value->is_string() && unit.value->text() == "tokens") {
      fields_.error(unit, "\"unit\" must be \"chars\" or \"bytes\"",
                    "tokens are not counted in this version");
    } else if (const auto word = fields_.word(gate, "unit", {"chars", "bytes"})) {
      out.unit = static_cast<GateUnit>(*word);
    }
    if (const auto scope = fields_.word(gate, "scope", {"first_user", "head", "all"})) {
      out.scope = static_cast<GateScope>(*scope);
    }
    if (strict_) {
      fields_.name(gate, "class", out.class_name);
    } else {
      fields_.text(gate, "class", kAnyChars, out.class_name);
    }
  }

  void read_classes() {
    const PolicyNode classes = root_.member("classes");
    if (!classes.present() || !classes.value->is_object()) {
      if (classes.present()) {
        fields_.error(classes, "needs a \"classes\" object",
                      "write {\"CLASS\": {\"device\": ...}}");
      } else {
        fields_.findings().add({PolicySeverity::kError, PolicyFaultKind::kStructure, "",
                                root_.places == nullptr ? PolicyPlace{} : root_.places->value,
                                "needs a \"classes\" object", "",
                                "write \"classes\": {\"CLASS\": {\"device\": ...}}"});
      }
      return;
    }
    if (strict_ && classes.value->size() > kPolicyEntriesMax) {
      fields_.error(classes, "\"classes\" must have at most 256 rows", "");
      return;
    }
    for (std::size_t i = 0; i < classes.value->size(); ++i) read_row(classes.child(i));
  }

  void read_row(const PolicyNode& row) {
    PolicyRow out;
    out.class_name = row.name;
    check_class_name(row);
    const PolicyNode device = row.member("device");
    // Two texts of the 1bit router's, word for word.
    const std::string needs = "class " + base::quote_json(row.name) + " needs a \"device\"";
    if (!device.present()) {
      fields_.error(row, needs, "write {\"device\": \"NAME\"}");
    } else if (!device.value->is_string() || device.value->text().empty()) {
      fields_.error(device, needs, "write the device's name in quotes");
    } else if (strict_) {
      fields_.name(row, "device", out.device);
    } else {
      out.device = device.value->text();
    }
    if (row.value->is_object()) read_row_members(row, out);
    policy_.rows.push_back(std::move(out));
  }

  void read_row_members(const PolicyNode& row, PolicyRow& out) {
    const auto is_any = [](std::string_view) { return true; };
    fields_.texts(row, "alternates", kPolicyEntriesMax, strict_ ? is_policy_name : +is_any,
                  "devices' names", out.alternates);
    if (strict_) {
      fields_.unknown(row, {"device", "alternates", "why", "evidence"}, true);
      fields_.text(row, "why", kPolicyTextCharsMax, out.why);
      fields_.name(row, "evidence", out.evidence);
      return;
    }
    fields_.unknown(row, {"device", "alternates", "why", "evidence"}, false);
    const PolicyNode why = row.member("why");
    if (why.present() && why.value->is_string()) out.why = why.value->text();
  }

  PolicyNode root_;
  PolicyFields fields_;
  RoutePolicy policy_;
  bool strict_ = false;
};

}  // namespace

RoutePolicy read_policy(const PolicyText& text, PolicyFindings& findings) {
  return Reader(text.node(), findings).read();
}

}  // namespace layard::gateway
