#include "decision/schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "decision/python_text.h"

namespace layard::decision {
namespace {

using base::JsonKind;
using base::JsonValue;

// A null or empty description means: the label stands alone.
bool is_described(const JsonValue& criterion) {
  return !criterion.is_null() && !(criterion.is_string() && criterion.text().empty());
}

// The decimal digits of a double that is an integer, exactly; -0 is 0 as in Python.
std::string integral_digits(double value) {
  if (value == 0) return "0";
  std::array<char, 400> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, 0);
  return {buffer.data(), end.ptr};
}

// Equal texts exactly where Python compares the labels equal: 1, 1.0 and True are one dict key.
std::string dict_key(const JsonValue& label) {
  switch (label.kind()) {
    case JsonKind::kString:
      return "s" + label.text();
    case JsonKind::kBool:
      return label.as_bool() ? "n1" : "n0";
    case JsonKind::kInteger:
      return "n" + label.text();
    case JsonKind::kReal: {
      const double value = label.as_double();
      if (std::isfinite(value) && value == std::trunc(value)) return "n" + integral_digits(value);
      return "n" + python_repr(label);
    }
    default:
      return {};
  }
}

Label string_label(std::string_view text) {
  return {std::string(text), std::string(text), base::quote_json(text)};
}

// REQUIRES: a scalar that is neither null nor a non-finite number.
Label scalar_label(const JsonValue& value) {
  if (value.is_string()) return string_label(value.text());
  const std::string json = base::write_json(value, base::JsonStyle::kCompact);
  return {python_str(value), json, json};
}

class QuestionReader {
 public:
  QuestionReader(std::string_view id, const JsonValue& definition, bool missing_instructions)
      : id_(id), definition_(definition), missing_instructions_(missing_instructions) {}

  Result<Question> read() {
    if (python_strip(id_).empty()) {
      return Error{ErrorCode::kInvalidRequest,
                   "question id must be a non-empty string, got " + python_repr(id_)};
    }
    if (!definition_.is_object()) {
      return fail("definition must be a dict, got " + std::string(python_type_name(definition_)));
    }
    question_.id = id_;
    LAYARD_TRY(read_type());
    LAYARD_TRY(read_instructions());
    criteria_ = definition_.find("criteria");
    switch (question_.type) {
      case QuestionType::kChoice:
        LAYARD_TRY(read_choice());
        break;
      case QuestionType::kScore:
        LAYARD_TRY(read_score());
        break;
      case QuestionType::kNoul:
        LAYARD_TRY(check_noul());
        break;
    }
    LAYARD_TRY(read_option_order());
    LAYARD_TRY(read_labels());
    if (question_.type == QuestionType::kNoul) render_noul();
    return std::move(question_);
  }

 private:
  Error fail(const std::string& what) const {
    return {ErrorCode::kInvalidRequest, "question " + python_repr(id_) + ": " + what};
  }

  Error fail_too_many(const std::string& what, std::size_t count) const {
    return fail(std::to_string(count) + " " + what + " are over the limit of " +
                std::to_string(kEntriesMax) + "; use fewer");
  }

  Status read_type() {
    const JsonValue* type = definition_.find("type");
    const auto known = type != nullptr && type->is_string()
                           ? question_type_from_string(type->text())
                           : std::nullopt;
    if (!known) {
      return fail("unknown type " + (type == nullptr ? "None" : python_repr(*type)) +
                  "; use one of ['choice', 'noul', 'score']");
    }
    question_.type = *known;
    return {};
  }

  // Whether the leniency may put the question's name in place of its instructions.
  bool may_use_name() const {
    if (!missing_instructions_) return false;
    if (question_.type != QuestionType::kNoul) return true;
    const JsonValue* criteria = definition_.find("criteria");
    if (criteria == nullptr) return false;
    const auto sides = criteria->members();
    return std::any_of(sides.begin(), sides.end(),
                       [](const base::JsonMember& side) { return !side.value.is_null(); });
  }

  Status read_instructions() {
    const JsonValue* found = definition_.find("instructions");
    if ((found == nullptr || found->is_null()) && may_use_name()) {
      question_.instructions = id_;
      return {};
    }
    if (found == nullptr) return fail("no 'instructions'; add the text the model should answer");
    if (found->is_null()) {
      return fail("'instructions' must not be None; add the text the model should answer");
    }
    const bool blank = found->is_string() && python_strip(found->text()).empty();
    const bool empty = (found->is_array() || found->is_object()) && found->size() == 0;
    if (blank || empty) {
      return fail("'instructions' must not be empty; add the text the model should answer");
    }
    question_.instructions = json_text(*found);
    return {};
  }

  Status read_choice() {
    if (criteria_ == nullptr || !(criteria_->is_object() || criteria_->is_array())) {
      return fail(
          "a choice question takes 'criteria' as a dict of label -> description, or a list of "
          "labels");
    }
    if (criteria_->size() == 0) return fail("a choice question needs at least one criterion");
    if (criteria_->is_array()) return read_label_list();
    question_.labels.reserve(criteria_->size());
    question_.options.reserve(criteria_->size());
    for (const auto& [label, description] : criteria_->members()) {
      question_.labels.push_back(string_label(label));
      question_.options.push_back(is_described(description) ? label + ": " + json_text(description)
                                                            : label);
    }
    return {};
  }

  Status read_label_list() {
    const auto items = criteria_->items();
    if (items.size() > kEntriesMax) return fail_too_many("labels", items.size());
    for (std::size_t i = 0; i < items.size(); ++i) LAYARD_TRY(check_label(i, items[i]));
    std::unordered_map<std::string, std::size_t> first_of;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto [at, added] = first_of.emplace(dict_key(items[i]), i);
      if (!added) {
        return fail("choice label " + std::to_string(i) + " (" + python_repr(items[i]) +
                    ") repeats label " + std::to_string(at->second) +
                    "; the labels are the answer keys, so every option needs its own (1, 1.0 and "
                    "True are one key)");
      }
    }
    std::unordered_map<std::string, std::size_t> key_of;
    for (std::size_t i = 0; i < items.size(); ++i) {
      question_.labels.push_back(scalar_label(items[i]));
      question_.options.push_back(question_.labels.back().text);
      // Different labels, one JSON key: 1 and "1". A reader of the answer would lose one of them.
      const auto [at, added] = key_of.emplace(question_.labels.back().key, i);
      if (!added) {
        return fail("choice labels " + std::to_string(at->second) + " and " + std::to_string(i) +
                    " would both be answered under the JSON key " +
                    base::quote_json(question_.labels.back().key) + "; reword one of them");
      }
    }
    return {};
  }

  Status check_label(std::size_t index, const JsonValue& label) const {
    const std::string name = "choice label " + std::to_string(index);
    if (label.is_array() || label.is_object()) {
      return fail(name + " is a " + std::string(python_type_name(label)) +
                  "; a label is rendered as option text and used as the answer key, so it must be "
                  "a scalar (a string, number or bool), got " +
                  python_repr(label));
    }
    if (label.is_null()) {
      return fail(name +
                  " is null; a label is rendered as option text and used as the answer key, so it "
                  "must be a string, number or bool -- a null label renders as the text \"None\" "
                  "while its answer key is \"null\"");
    }
    if (label.kind() == JsonKind::kReal && !std::isfinite(label.as_double())) {
      return fail(name + " is a number out of range (" + label.text().substr(0, 40) +
                  "); an answer could not repeat it as JSON, so write it as a string");
    }
    return {};
  }

  Status read_score() {
    if (criteria_ == nullptr || !criteria_->is_array()) {
      return fail(
          "a score question takes 'criteria' as a list of level descriptions, index 0 first");
    }
    if (criteria_->size() == 0) return fail("a score question needs at least one level");
    const auto items = criteria_->items();
    if (items.size() > kEntriesMax) return fail_too_many("levels", items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].is_null()) {
        return fail("score level " + std::to_string(i) +
                    " is null; give every level a description, index 0 first");
      }
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      question_.levels.push_back(json_text(items[i]));
      question_.options.push_back("level " + std::to_string(i) + ": " + question_.levels.back());
    }
    return {};
  }

  Status check_noul() {
    if (criteria_ == nullptr || criteria_->is_null()) return {};
    if (!criteria_->is_object()) {
      return fail(
          "a noul question takes 'criteria' as a dict with optional 'true'/'false' descriptions, "
          "or omits it");
    }
    std::set<std::string> keys;
    for (const auto& member : criteria_->members()) keys.insert(python_lower(member.key));
    const bool known = std::all_of(keys.begin(), keys.end(), [](const std::string& key) {
      return key == "true" || key == "false";
    });
    if (known) return {};
    JsonValue sorted = JsonValue::array();
    for (const std::string& key : keys) sorted.push_back(JsonValue::string(key));
    return fail(
        "a noul question takes 'criteria' keyed only 'true'/'false' (either or both, and omitted "
        "is fine), got " +
        python_repr(sorted) +
        ". Those keys are the option texts the model reads; any other key was silently dropped "
        "and replaced with the defaults. If you want the answer worded differently, keep "
        "'criteria' keyed 'true'/'false' and set 'labels' instead.");
  }

  std::size_t option_count() const {
    return question_.type == QuestionType::kNoul ? 2 : question_.options.size();
  }

  Status read_option_order() {
    const JsonValue* order = definition_.find("option_order");
    if (order == nullptr) return {};
    const std::size_t count = option_count();
    std::vector<bool> seen(count, false);
    bool permutation = order->is_array() && order->size() == count;
    if (permutation) {
      for (const JsonValue& slot : order->items()) {
        const auto index = slot.is_integer() ? slot.as_int64() : std::nullopt;
        const bool fresh = index && *index >= 0 && static_cast<std::size_t>(*index) < count &&
                           !seen[static_cast<std::size_t>(*index)];
        if (!fresh) {
          permutation = false;
          break;
        }
        seen[static_cast<std::size_t>(*index)] = true;
        question_.option_order.push_back(static_cast<std::uint32_t>(*index));
      }
    }
    if (permutation) return {};
    return fail("'option_order' must be a permutation of range(" + std::to_string(count) +
                ") -- one slot per option, each option once -- got " + python_repr(*order));
  }

  Status read_labels() {
    const JsonValue* labels = definition_.find("labels");
    const bool noul = question_.type == QuestionType::kNoul;
    if (labels != nullptr && !noul) return fail("'labels' is only supported for noul questions");
    if (!noul) return {};
    std::string_view negative = "false";
    std::string_view positive = "true";
    if (labels != nullptr && !labels->is_null()) {
      const JsonValue* no = labels->find("false");
      const JsonValue* yes = labels->find("true");
      const bool strings = labels->size() == 2 && no != nullptr && yes != nullptr &&
                           no->is_string() && yes->is_string();
      negative = strings ? python_strip(no->text()) : "";
      positive = strings ? python_strip(yes->text()) : "";
      if (negative.empty() || positive.empty() || negative == positive) {
        return fail(
            "noul labels must map exactly 'false' and 'true' to distinct non-empty strings");
      }
    }
    question_.labels = {string_label(negative), string_label(positive)};
    return {};
  }

  void render_noul() {
    std::string texts[2] = {"no, the statement does not hold", "yes, the statement holds"};
    if (criteria_ != nullptr) {
      // Keys that differ in case only: the later one wins, also when it is null.
      const JsonValue* sides[2] = {nullptr, nullptr};
      for (const auto& [key, value] : criteria_->members()) {
        sides[python_lower(key) == "true" ? 1 : 0] = &value;
      }
      for (std::size_t i = 0; i < 2; ++i) {
        if (sides[i] != nullptr && is_described(*sides[i])) texts[i] = json_text(*sides[i]);
      }
    }
    for (std::size_t i = 0; i < 2; ++i) {
      question_.options.push_back(question_.labels[i].text + ": " + texts[i]);
    }
  }

  std::string_view id_;
  const JsonValue& definition_;
  bool missing_instructions_;
  const JsonValue* criteria_ = nullptr;
  Question question_;
};

}  // namespace

Result<Question> read_question(std::string_view id, const JsonValue& definition,
                               bool missing_instructions) {
  return QuestionReader(id, definition, missing_instructions).read();
}

Result<Question> read_plain_question(std::string_view text) {
  JsonValue definition = JsonValue::object();
  definition.set("type", JsonValue::string("noul"));
  definition.set("instructions", JsonValue::string(std::string(text)));
  return read_question(text, definition, false);
}

}  // namespace layard::decision
