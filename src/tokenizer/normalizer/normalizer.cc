#include "tokenizer/normalizer/normalizer.h"

#include <optional>
#include <utility>

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
std::optional<NormalizerStep> simple_step(std::string_view type) {
  if (type == "NFC") return NormalForm::kNfc;
  if (type == "NFD") return NormalForm::kNfd;
  if (type == "NFKC") return NormalForm::kNfkc;
  if (type == "NFKD") return NormalForm::kNfkd;
  if (type == "Lowercase") return Lowercase();
  if (type == "StripAccents") return StripAccents();
  if (type == "ByteLevel") return ByteLevelSpelling();
  return std::nullopt;
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
  if (value.is_null()) return normalizer;
  LAYARD_ASSIGN(const auto components, read_components(value, "normalizer", "normalizers"));
  for (const Component& component : components) {
    LAYARD_TRY(normalizer.add(component.type, component.fields));
  }
  LAYARD_TRY(normalizer.check_growth());
  return normalizer;
}

Status Normalizer::add(const std::string& type, const JsonFields& fields) {
  if (auto simple = simple_step(type)) {
    steps_.push_back(*std::move(simple));
  } else if (type == "BertNormalizer" || type == "Bert") {
    LAYARD_ASSIGN(const BertNormalizer bert, BertNormalizer::from_json(fields));
    steps_.emplace_back(bert);
  } else if (type == "Strip") {
    Strip strip;
    LAYARD_ASSIGN(strip.left, fields.boolean("strip_left"));
    LAYARD_ASSIGN(strip.right, fields.boolean("strip_right"));
    steps_.emplace_back(strip);
  } else if (type == "Replace") {
    Replace replace;
    LAYARD_ASSIGN(replace.pattern, fields.literal_pattern("normalizer Replace"));
    LAYARD_ASSIGN(replace.content, fields.string("content"));
    steps_.emplace_back(std::move(replace));
  } else if (type == "Prepend") {
    LAYARD_ASSIGN(std::string text, fields.string("prepend"));
    steps_.emplace_back(Prepend{std::move(text)});
  } else {
    return not_implemented("normalizer " + type + " (" + fields.where() + ")");
  }
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
