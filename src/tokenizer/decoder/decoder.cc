#include "tokenizer/decoder/decoder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/utf8.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/json_fields.h"
#include "tokenizer/normalizer/normalizer.h"
#include "tokenizer/unicode/char_classes.h"

namespace layard::tokenizer {
namespace {

constexpr std::string_view kReplacementChar = "\xEF\xBF\xBD";
using Tokens = std::vector<std::string>;

std::string replaced(std::string_view text, std::string_view pattern, std::string_view content) {
  std::string out;
  append_replaced(text, pattern, content, out);
  return out;
}

void apply_step(const ByteLevelDecoder& /*step*/, Tokens& tokens) {
  std::string bytes;
  for (const std::string& token : tokens) {
    if (!append_spelled_bytes(token, bytes)) bytes += token;
  }
  tokens.assign(1, std::string());
  append_lossy(bytes, tokens.front());
}

std::string tidy_english(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [pattern, content] : kRules) text = replaced(text, pattern, content);
  return text;
}

void apply_step(const WordPieceDecoder& step, Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string& token = tokens[i];
    if (i > 0) {
      if (token.starts_with(step.prefix)) {
        token.erase(0, step.prefix.size());
      } else {
        token.insert(0, 1, ' ');
      }
    }
    if (step.cleanup) token = tidy_english(std::move(token));
  }
}

void apply_step(const MetaspaceDecoder& step, Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = replaced(tokens[i], step.replacement, i == 0 && step.drops_first ? "" : " ");
  }
}

void apply_step(const ReplaceDecoder& step, Tokens& tokens) {
  for (std::string& token : tokens) token = replaced(token, step.pattern, step.content);
}

// The byte that `<0x0A>` names, or -1. As u8::from_str_radix, which takes a plus sign too.
int fallback_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return -1;
  int value = 0;
  for (std::size_t i = token[3] == '+' ? 4 : 3; i < 5; ++i) {
    const char c = token[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

void apply_step(const ByteFallbackDecoder& /*step*/, Tokens& tokens) {
  Tokens out;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (base::is_valid_utf8(bytes)) {
      out.push_back(bytes);
    } else {
      out.insert(out.end(), bytes.size(), std::string(kReplacementChar));
    }
    bytes.clear();
  };
  for (std::string& token : tokens) {
    const int byte = fallback_byte(token);
    if (byte >= 0) {
      bytes.push_back(static_cast<char>(byte));
      continue;
    }
    flush();
    out.push_back(std::move(token));
  }
  flush();
  tokens.swap(out);
}

void apply_step(const FuseDecoder& /*step*/, Tokens& tokens) {
  std::string all;
  for (const std::string& token : tokens) all += token;
  tokens.assign(1, std::move(all));
}

void apply_step(const StripDecoder& step, Tokens& tokens) {
  for (std::string& token : tokens) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < step.start; ++i) {
      if (!std::string_view(token).substr(begin).starts_with(step.character)) break;
      begin += step.character.size();
    }
    std::size_t end = token.size();
    for (std::size_t i = 0; i < step.stop && end > begin; ++i) {
      if (!std::string_view(token).substr(0, end).ends_with(step.character)) break;
      end -= step.character.size();
    }
    token = token.substr(begin, std::max(begin, end) - begin);
  }
}

void apply_step(const BpeDecoder& step, Tokens& tokens) {
  if (step.suffix.empty()) return;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = replaced(tokens[i], step.suffix, i + 1 == tokens.size() ? "" : " ");
  }
}

Result<DecoderStep> read_metaspace(const JsonFields& fields) {
  MetaspaceDecoder step;
  LAYARD_ASSIGN(step.replacement, fields.character("replacement"));
  LAYARD_ASSIGN(const bool prefix_space, fields.boolean_or("add_prefix_space", true));
  LAYARD_ASSIGN(const auto scheme, fields.optional_string("prepend_scheme"));
  const std::string name = scheme.value_or("always");
  if (name != "always" && name != "first" && name != "never") {
    return bad_file(fields.path("prepend_scheme"), "unknown scheme \"" + name + "\"");
  }
  step.drops_first = name != "never";
  if (!prefix_space && step.drops_first) {
    return bad_file(fields.path("add_prefix_space"),
                    "false contradicts the prepend_scheme \"" + name + "\"");
  }
  return DecoderStep(std::move(step));
}

Result<DecoderStep> read_strip(const JsonFields& fields) {
  constexpr std::int64_t kCutsMax = std::numeric_limits<std::int32_t>::max();
  StripDecoder step;
  LAYARD_ASSIGN(step.character, fields.character("content"));
  LAYARD_ASSIGN(const std::int64_t start, fields.whole_number("start", kCutsMax));
  LAYARD_ASSIGN(const std::int64_t stop, fields.whole_number("stop", kCutsMax));
  step.start = static_cast<std::size_t>(start);
  step.stop = static_cast<std::size_t>(stop);
  return DecoderStep(std::move(step));
}

Result<DecoderStep> read_step(const std::string& type, const JsonFields& fields) {
  if (type == "ByteLevel") return DecoderStep(ByteLevelDecoder());
  if (type == "ByteFallback") return DecoderStep(ByteFallbackDecoder());
  if (type == "Fuse") return DecoderStep(FuseDecoder());
  if (type == "Metaspace") return read_metaspace(fields);
  if (type == "Strip") return read_strip(fields);
  if (type == "WordPiece") {
    WordPieceDecoder step;
    LAYARD_ASSIGN(step.prefix, fields.short_string("prefix"));
    LAYARD_ASSIGN(step.cleanup, fields.boolean("cleanup"));
    return DecoderStep(std::move(step));
  }
  if (type == "Replace") {
    ReplaceDecoder step;
    LAYARD_ASSIGN(step.pattern, fields.literal_pattern("decoder Replace"));
    LAYARD_ASSIGN(step.content, fields.string("content"));
    return DecoderStep(std::move(step));
  }
  if (type == "BPEDecoder") {
    LAYARD_ASSIGN(std::string suffix, fields.short_string("suffix"));
    return DecoderStep(BpeDecoder{std::move(suffix)});
  }
  return not_implemented("decoder " + type + " (" + fields.where() + ")");
}

// Bytes of the ill-formed part at the start of `bytes`: as many as could begin a character.
std::size_t ill_formed_bytes(std::string_view bytes) {
  const auto at = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = at(0);
  const std::size_t wanted = lead >= 0xF0 && lead < 0xF5   ? 4
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                                                           : 1;
  // The second byte has a narrower range behind some leads: no overlong forms, no surrogates.
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  std::size_t count = 1;
  while (count < wanted && count < bytes.size()) {
    const unsigned next = at(count);
    const bool fits = count == 1 ? next >= low && next <= high : (next & 0xC0U) == 0x80U;
    if (!fits) break;
    ++count;
  }
  return count;
}

}  // namespace

void append_lossy(std::string_view bytes, std::string& out) {
  for (std::size_t i = 0; i < bytes.size();) {
    const base::Utf8Step step = base::decode_utf8(bytes, i);
    const bool ill_formed = step.bytes == 1 && static_cast<unsigned char>(bytes[i]) >= 0x80;
    if (ill_formed) {
      out += kReplacementChar;
      i += ill_formed_bytes(bytes.substr(i));
    } else {
      out.append(bytes.substr(i, step.bytes));
      i += step.bytes;
    }
  }
}

Result<Decoder> Decoder::from_json(const base::JsonValue& value) {
  Decoder decoder;
  if (value.is_null()) return decoder;
  decoder.present_ = true;
  LAYARD_ASSIGN(const auto components, read_components(value, "decoder", "decoders"));
  for (const Component& component : components) {
    auto step = read_step(component.type, component.fields);
    if (!step.ok()) return std::move(step).error();
    decoder.steps_.push_back(*std::move(step));
  }
  GrowthBudget budget;
  for (const DecoderStep& step : decoder.steps_) {
    const auto* replace = std::get_if<ReplaceDecoder>(&step);
    if (replace == nullptr) continue;
    const auto content = static_cast<double>(replace->content.size());
    LAYARD_TRY(budget.spend(content / static_cast<double>(replace->pattern.size()), "decoder"));
  }
  return decoder;
}

std::string Decoder::decode(std::vector<std::string> tokens) const {
  for (const DecoderStep& step : steps_) {
    std::visit([&tokens](const auto& known) { apply_step(known, tokens); }, step);
  }
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!present_ && i > 0) text += ' ';
    text += tokens[i];
  }
  return text;
}

}  // namespace layard::tokenizer
