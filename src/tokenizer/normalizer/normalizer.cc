#include "tokenizer/normalizer/normalizer.h"

#include "base/utf8.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/json_fields.h"
#include "tokenizer/unicode/char_classes.h"

namespace layard::tokenizer {
namespace {

void append_step(NormalForm form, std::string_view text, std::string& out) {
  append_normal_form(form, text, out);
}

void append_step(const Lowercase& /*step*/, std::string_view text, std::string& out) {
  const CharClasses& classes = CharClasses::get();
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char c = next_char(text, i);
    classes.append_lower(out, c.code_point);
    i += c.bytes;
  }
}

void append_step(const StripAccents& /*step*/, std::string_view text, std::string& out) {
  const CharClasses& classes = CharClasses::get();
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char c = next_char(text, i);
    if ((classes(c.code_point) & kCombining) == 0) out.append(text.substr(i, c.bytes));
    i += c.bytes;
  }
}

void append_step(const Strip& step, std::string_view text, std::string& out) {
  const CharClasses& classes = CharClasses::get();
  if (step.left) text.remove_prefix(classes.leading_space_end(text));
  if (step.right) text = text.substr(0, classes.trailing_space_begin(text));
  out.append(text);
}

void append_step(const Replace& step, std::string_view text, std::string& out) {
  append_replaced(text, step.pattern, step.content, out);
}

void append_step(const Prepend& step, std::string_view text, std::string& out) {
  if (!text.empty()) out.append(step.text).append(text);
}

void append_step(const ByteLevelSpelling& /*step*/, std::string_view text, std::string& out) {
  append_byte_spelling(text, out);
}

void append_step(const BertNormalizer& step, std::string_view text, std::string& out) {
  step.append(text, out);
}

// Steps without fields, by their names in the file.
bool simple_step(std::string_view type, NormalizerStep& step) {
  if (type == "NFC")
    step = NormalForm::kNfc;
  else if (type == "NFD")
    step = NormalForm::kNfd;
  else if (type == "NFKC")
    step = NormalForm::kNfkc;
  else if (type == "NFKD")
    step = NormalForm::kNfkd;
  else if (type == "Lowercase")
    step = Lowercase();
  else if (type == "StripAccents")
    step = StripAccents();
  else if (type == "ByteLevel")
    step = ByteLevelSpelling();
  else
    return false;
  return true;
}

}  // namespace

void append_replaced(std::string_view text, std::string_view pattern, std::string_view content,
                     std::string& out) {
  std::size_t copied = 0;
  for (std::size_t at = text.find(pattern); at != std::string_view::npos;
       at = text.find(pattern, copied)) {
    out.append(text.substr(copied, at - copied)).append(content);
    copied = at + pattern.size();
  }
  out.append(text.substr(copied));
}

Result<Normalizer> Normalizer::from_json(const base::JsonValue& value) {
  Normalizer normalizer;
  if (!value.is_null()) LAYARD_TRY(normalizer.add(value, "normalizer"));
  LAYARD_TRY(normalizer.check_growth());
  return normalizer;
}

Status Normalizer::add(const base::JsonValue& value, const std::string& where) {
  LAYARD_ASSIGN(const JsonFields fields, JsonFields::of(value, where));
  LAYARD_ASSIGN(const std::string type, fields.string("type"));
  NormalizerStep step;
  if (type == "Sequence") {
    LAYARD_ASSIGN(const base::JsonValue* list, fields.array("normalizers"));
    for (std::size_t i = 0; i < list->size(); ++i) {
      LAYARD_TRY(add(list->items()[i], where + ".normalizers[" + std::to_string(i) + "]"));
    }
    return {};
  }
  if (type == "BertNormalizer" || type == "Bert") {
    LAYARD_ASSIGN(step, BertNormalizer::from_json(fields));
  } else if (type == "Strip") {
    Strip strip;
    LAYARD_ASSIGN(strip.left, fields.boolean("strip_left"));
    LAYARD_ASSIGN(strip.right, fields.boolean("strip_right"));
    step = strip;
  } else if (type == "Replace") {
    Replace replace;
    LAYARD_ASSIGN(replace.pattern, fields.literal_pattern("normalizer Replace"));
    LAYARD_ASSIGN(replace.content, fields.string("content"));
    step = std::move(replace);
  } else if (type == "Prepend") {
    LAYARD_ASSIGN(std::string text, fields.string("prepend"));
    step = Prepend{std::move(text)};
  } else if (!simple_step(type, step)) {
    return not_implemented("normalizer " + type + " (" + where + ")");
  }
  steps_.push_back(std::move(step));
  return {};
}

Status Normalizer::check_growth() const {
  constexpr double kNormalFormGrowth = 12;  // U+FDFA: 3 bytes to 33; a second form adds nothing
  GrowthBudget budget;
  bool has_form = false;
  for (const NormalizerStep& step : steps_) {
    double factor = 1;
    if (std::holds_alternative<NormalForm>(step) || std::holds_alternative<BertNormalizer>(step)) {
      factor = has_form ? 1 : kNormalFormGrowth;
      has_form = true;
    } else if (const auto* replace = std::get_if<Replace>(&step)) {
      factor = static_cast<double>(replace->content.size()) /
               static_cast<double>(replace->pattern.size());
    } else if (const auto* prepend = std::get_if<Prepend>(&step)) {
      factor = static_cast<double>(prepend->text.size());
    } else if (std::holds_alternative<ByteLevelSpelling>(step)) {
      factor = 2;
    }
    LAYARD_TRY(budget.spend(factor, "normalizer"));
  }
  return {};
}

void Normalizer::append(std::string_view text, std::string& out) const {
  std::string before;
  std::string after;
  std::string_view current = text;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    std::string& target = i + 1 == steps_.size() ? out : after;
    std::visit([&](const auto& step) { append_step(step, current, target); }, steps_[i]);
    if (i + 1 == steps_.size()) return;
    before.swap(after);
    after.clear();
    current = before;
  }
  out.append(text);
}

}  // namespace layard::tokenizer
