#include "language/scripts.h"

#include <algorithm>
#include <array>

#include "base/python_number.h"
#include "language/characters.h"

namespace layard::language {
namespace {

struct Block {
  char32_t first;
  char32_t last;
  Script script;
};

// Ascending and disjoint.
constexpr Block kBlocks[] = {
    {0x370, 0x3FF, Script::kGreek},        {0x400, 0x52F, Script::kCyrillic},
    {0x530, 0x58F, Script::kArmenian},     {0x590, 0x5FF, Script::kHebrew},
    {0x600, 0x6FF, Script::kArabic},       {0x750, 0x77F, Script::kArabic},
    {0x8A0, 0x8FF, Script::kArabic},       {0x900, 0x97F, Script::kDevanagari},
    {0x980, 0x9FF, Script::kBengali},      {0xA00, 0xA7F, Script::kGurmukhi},
    {0xA80, 0xAFF, Script::kGujarati},     {0xB00, 0xB7F, Script::kOriya},
    {0xB80, 0xBFF, Script::kTamil},        {0xC00, 0xC7F, Script::kTelugu},
    {0xC80, 0xCFF, Script::kKannada},      {0xD00, 0xD7F, Script::kMalayalam},
    {0xD80, 0xDFF, Script::kSinhala},      {0xE00, 0xE7F, Script::kThai},
    {0xE80, 0xEFF, Script::kLao},          {0xF00, 0xFFF, Script::kTibetan},
    {0x1000, 0x109F, Script::kMyanmar},    {0x10A0, 0x10FF, Script::kGeorgian},
    {0x1100, 0x11FF, Script::kHangul},     {0x1200, 0x137F, Script::kEthiopic},
    {0x1780, 0x17FF, Script::kKhmer},      {0x1F00, 0x1FFF, Script::kGreek},
    {0x2DE0, 0x2DFF, Script::kCyrillic},   {0x3040, 0x309F, Script::kKana},
    {0x30A0, 0x30FF, Script::kKana},       {0x3130, 0x318F, Script::kHangul},
    {0x31F0, 0x31FF, Script::kKana},       {0x3400, 0x4DBF, Script::kHan},
    {0x4E00, 0x9FFF, Script::kHan},        {0xA640, 0xA69F, Script::kCyrillic},
    {0xA8E0, 0xA8FF, Script::kDevanagari}, {0xAC00, 0xD7AF, Script::kHangul},
    {0xF900, 0xFAFF, Script::kHan},        {0xFB50, 0xFDFF, Script::kArabic},
    {0xFE70, 0xFEFF, Script::kArabic},
};

constexpr std::string_view kNames[kScripts] = {
    "latin",     "greek",    "cyrillic", "armenian", "hebrew",  "arabic",  "devanagari",
    "bengali",   "gurmukhi", "gujarati", "oriya",    "tamil",   "telugu",  "kannada",
    "malayalam", "sinhala",  "thai",     "lao",      "tibetan", "myanmar", "georgian",
    "ethiopic",  "khmer",    "hangul",   "kana",     "han",     "other",
};

bool is_latin(char32_t code_point) {
  return code_point < 0x2B0 || (code_point >= 0x1E00 && code_point <= 0x1EFF) ||
         (code_point >= 0xFF21 && code_point <= 0xFF3A) ||  // full-width capitals
         (code_point >= 0xFF41 && code_point <= 0xFF5A);    // full-width small letters
}

}  // namespace

std::string_view script_name(Script script) { return kNames[static_cast<std::size_t>(script)]; }

std::optional<Script> block_script(char32_t code_point) {
  const auto after = std::ranges::upper_bound(kBlocks, code_point, {}, &Block::first);
  if (after == std::begin(kBlocks)) return std::nullopt;
  const Block& block = *(after - 1);
  if (code_point > block.last) return std::nullopt;
  return block.script;
}

Script letter_script(char32_t letter) {
  if (is_latin(letter)) return Script::kLatin;
  return block_script(letter).value_or(Script::kOther);
}

double ScriptCounts::non_latin_fraction() const {
  if (letters == 0) return 0.0;
  return base::python_round4(1.0 - static_cast<double>(latin) / static_cast<double>(letters));
}

std::optional<ScriptCounts::Entry> ScriptCounts::largest_other() const {
  const auto largest = std::ranges::max_element(others, {}, &Entry::letters);
  if (largest == others.end()) return std::nullopt;
  return *largest;
}

ScriptCounts count_scripts(std::u32string_view text) {
  ScriptCounts counts;
  std::array<std::size_t, kScripts> place{};  // 1 + index in others; 0: not seen
  for (const char32_t c : text) {
    if (!is_letter(c)) continue;
    ++counts.letters;
    const Script script = letter_script(c);
    if (script == Script::kLatin) {
      ++counts.latin;
      continue;
    }
    std::size_t& seen = place[static_cast<std::size_t>(script)];
    if (seen == 0) {
      counts.others.push_back({script, 0});
      seen = counts.others.size();
    }
    ++counts.others[seen - 1].letters;
  }
  return counts;
}

bool has_non_latin_word(std::u32string_view text) {
  std::optional<Script> run;
  std::size_t length = 0;
  bool capital = false;
  for (const char32_t c : text) {
    if (character_class(c) == CharacterClass::kMark) continue;
    const std::optional<Script> script = block_script(c);
    if (script.has_value() && script == run) {
      if (++length == 2 && !capital) return true;
      continue;
    }
    run = script;
    length = 1;
    capital = is_capital(c);
  }
  return false;
}

}  // namespace layard::language
