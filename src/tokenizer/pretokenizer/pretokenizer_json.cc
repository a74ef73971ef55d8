#include <optional>
#include <utility>

#include "tokenizer/json_fields.h"
#include "tokenizer/pretokenizer/pretokenizer.h"
#include "tokenizer/pretokenizer/word_split.h"

namespace layard::tokenizer {
namespace {

Result<SplitBehavior> read_behavior(const JsonFields& fields) {
  LAYARD_ASSIGN(const std::string name, fields.string("behavior"));
  const std::optional<SplitBehavior> behavior = split_behavior_named(name);
  if (!behavior) return bad_file(fields.path("behavior"), "unknown behavior \"" + name + "\"");
  return *behavior;
}

Result<PreTokenizerStep> read_byte_level(const JsonFields& fields) {
  ByteLevel step;
  LAYARD_ASSIGN(step.add_prefix_space, fields.boolean("add_prefix_space"));
  LAYARD_TRY(fields.boolean("trim_offsets"));  // about offsets only, but required
  LAYARD_ASSIGN(step.use_regex, fields.boolean_or("use_regex", true));
  return PreTokenizerStep(step);
}

Result<PreTokenizerStep> read_metaspace(const JsonFields& fields) {
  Metaspace step;
  LAYARD_ASSIGN(step.replacement, fields.character("replacement"));
  LAYARD_ASSIGN(step.split, fields.boolean_or("split", true));
  LAYARD_ASSIGN(const bool prefix_space, fields.boolean_or("add_prefix_space", true));
  LAYARD_ASSIGN(const auto scheme, fields.optional_string("prepend_scheme"));
  const std::string name = scheme.value_or("always");
  if (name == "first") {
    step.prepend = Metaspace::Prepend::kFirst;
  } else if (name == "never") {
    step.prepend = Metaspace::Prepend::kNever;
  } else if (name != "always") {
    return bad_file(fields.path("prepend_scheme"), "unknown scheme \"" + name + "\"");
  }
  if (!prefix_space && step.prepend != Metaspace::Prepend::kNever) {
    return bad_file(fields.path("add_prefix_space"),
                    "false contradicts the prepend_scheme \"" + name + "\"");
  }
  return PreTokenizerStep(std::move(step));
}

Result<PreTokenizerStep> read_split(const JsonFields& fields) {
  Split step;
  LAYARD_ASSIGN(step.behavior, read_behavior(fields));
  LAYARD_ASSIGN(step.invert, fields.boolean("invert"));
  const base::JsonValue* pattern = fields.find("pattern");
  const base::JsonValue* regex = pattern == nullptr ? nullptr : pattern->find("Regex");
  step.gpt2 = regex != nullptr && regex->is_string() && regex->text() == kGpt2Pattern;
  if (!step.gpt2) {
    LAYARD_ASSIGN(step.pattern, fields.literal_pattern("pre_tokenizer Split"));
  }
  return PreTokenizerStep(std::move(step));
}

Result<PreTokenizerStep> read_step(const std::string& type, const JsonFields& fields) {
  if (type == "ByteLevel") return read_byte_level(fields);
  if (type == "Metaspace") return read_metaspace(fields);
  if (type == "Split") return read_split(fields);
  if (type == "BertPreTokenizer") return PreTokenizerStep(BertSplit());
  if (type == "Whitespace") return PreTokenizerStep(WordRuns());
  if (type == "WhitespaceSplit") return PreTokenizerStep(SpaceSplit());
  if (type == "Punctuation") {
    if (fields.find("behavior") == nullptr) return PreTokenizerStep(Punctuation());
    LAYARD_ASSIGN(const SplitBehavior behavior, read_behavior(fields));
    return PreTokenizerStep(Punctuation{behavior});
  }
  if (type == "Digits") {
    LAYARD_ASSIGN(const bool individual, fields.boolean("individual_digits"));
    return PreTokenizerStep(Digits{individual});
  }
  if (type == "CharDelimiterSplit") {
    LAYARD_ASSIGN(std::string character, fields.character("delimiter"));
    return PreTokenizerStep(Delimiter{std::move(character)});
  }
  return not_implemented("pre_tokenizer " + type + " (" + fields.where() + ")");
}

bool changes_text(const PreTokenizerStep& step) {
  return std::holds_alternative<ByteLevel>(step) || std::holds_alternative<Metaspace>(step);
}

bool is_first_only(const PreTokenizerStep& step) {
  const auto* metaspace = std::get_if<Metaspace>(&step);
  return metaspace != nullptr && metaspace->prepend == Metaspace::Prepend::kFirst;
}

}  // namespace

Result<PreTokenizer> PreTokenizer::from_json(const base::JsonValue& value) {
  PreTokenizer result;
  if (value.is_null()) return result;
  LAYARD_ASSIGN(const auto components, read_components(value, "pre_tokenizer", "pretokenizers"));
  for (const Component& component : components) {
    auto step = read_step(component.type, component.fields);
    if (!step.ok()) return std::move(step).error();
    result.steps_.push_back(*std::move(step));
  }
  LAYARD_TRY(result.check_order());
  return result;
}

// "first" asks where a piece began in the original text: that is known here as long as no step
// before has changed the text.
Status PreTokenizer::check_order() const {
  bool changed = false;
  GrowthBudget budget;
  for (const PreTokenizerStep& step : steps_) {
    if (changes_text(step)) LAYARD_TRY(budget.spend(4, "pre_tokenizer"));
    if (changed && is_first_only(step)) {
      return not_implemented(
          "pre_tokenizer Metaspace with prepend_scheme first behind a step that changes the text");
    }
    changed = changed || changes_text(step);
  }
  return {};
}

bool PreTokenizer::leave_bytes_raw() {
  auto* last = steps_.empty() ? nullptr : std::get_if<ByteLevel>(&steps_.back());
  if (last == nullptr) return false;
  last->spell = false;
  return true;
}

bool PreTokenizer::needs_original_text() const noexcept {
  for (const PreTokenizerStep& step : steps_) {
    if (is_first_only(step)) return true;
  }
  return false;
}

}  // namespace layard::tokenizer
