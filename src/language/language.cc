#include "language/language.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/python_number.h"
#include "language/latin_profile.h"
#include "language/scripts.h"
#include "language/state_text.h"
#include "language/words.h"

namespace layard::language {
namespace {

// From these on, text of another script counts although most letters are Latin: a share, or a
// smaller share of at least so many letters.
constexpr double kNonLatinFraction = 0.2;
constexpr double kNonLatinFractionMin = 0.1;
constexpr double kNonLatinLettersMin = 10;

std::vector<std::pair<std::string_view, double>> shares(const ScriptCounts& counts) {
  std::vector<std::pair<std::string_view, double>> out;
  const auto share = [&](std::size_t letters) {
    return static_cast<double>(letters) / static_cast<double>(counts.letters);
  };
  if (counts.latin > 0) out.emplace_back(script_name(Script::kLatin), share(counts.latin));
  for (const auto& entry : counts.others) {
    out.emplace_back(script_name(entry.script), share(entry.letters));
  }
  return out;
}

// Whether the part in other scripts is large enough to matter.
bool carries(const ScriptCounts& counts) {
  const double fraction = counts.non_latin_fraction();
  // Python's round: halves to even, as the default mode does here.
  const double letters = std::nearbyint(fraction * static_cast<double>(counts.letters));
  return fraction >= kNonLatinFraction ||
         (fraction >= kNonLatinFractionMin && letters >= kNonLatinLettersMin);
}

// The script to answer in, when it is not Latin.
std::optional<Script> other_script(const ScriptCounts& counts, std::u32string_view text) {
  const auto largest = counts.largest_other();
  if (!largest.has_value()) return std::nullopt;
  const bool most = largest->letters >= counts.latin;  // Latin loses a tie
  if (most || (carries(counts) && has_non_latin_word(text))) return largest->script;
  return std::nullopt;
}

// `12` of 0.12: C's %.0f, halves to even.
std::string percent(double fraction) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), 100 * fraction,
                                 std::chars_format::fixed, 0);
  return std::string(digits.data(), end.ptr);
}

std::string not_english_reason(const Detection& detection) {
  if (detection.language.has_value()) {
    return "Latin script but language looks like '" + std::string(*detection.language) +
           "', not English";
  }
  return "Latin script, language not identified but " + percent(detection.diacritic_rate) +
         "% non-English letters; not safe for the English checkpoint";
}

}  // namespace

Detection detect(std::u32string_view text) {
  text = text.substr(0, kCodePointsMax);
  Detection detection;
  const ScriptCounts counts = count_scripts(text);
  if (counts.letters == 0) return detection;
  detection.script_profile = shares(counts);
  detection.non_latin_fraction = counts.non_latin_fraction();
  if (const auto script = other_script(counts, text); script.has_value()) {
    detection.script = script_name(*script);
    detection.is_english = false;
    return detection;
  }
  const LatinProfile profile = latin_profile(text);
  detection.script = script_name(Script::kLatin);
  if (profile.language.has_value()) detection.language = word_lists()[*profile.language].language;
  detection.is_english = profile.is_english();
  detection.language_undecided = !profile.language.has_value();
  detection.diacritic_rate = base::python_round4(profile.foreign_letter_rate);
  return detection;
}

Result<Detection> detect(const State& state) {
  if (!state.json) return detect(plain_text(state.text));
  LAYARD_ASSIGN(const std::u32string text, json_text(state.text));
  return detect(text);
}

base::JsonValue detection_json(const Detection& detection) {
  using base::JsonValue;
  const auto text = [](std::string_view value) { return JsonValue::string(std::string(value)); };
  JsonValue profile = JsonValue::object();
  for (const auto& [script, share] : detection.script_profile) {
    profile.set(script, JsonValue::real(share));
  }
  JsonValue out = JsonValue::object();
  out.set("script", text(detection.script));
  out.set("script_profile", std::move(profile));
  out.set("language",
          detection.language.has_value() ? text(*detection.language) : JsonValue::null());
  out.set("is_english", JsonValue::boolean(detection.is_english));
  out.set("language_undecided", JsonValue::boolean(detection.language_undecided));
  out.set("diacritic_rate", JsonValue::real(detection.diacritic_rate));
  out.set("non_latin_fraction", JsonValue::real(detection.non_latin_fraction));
  out.set("detector", text(detection.detector));
  return out;
}

std::string_view to_string(Routing routing) {
  switch (routing) {
    case Routing::kEnglish:
      return "language_english";
    case Routing::kNonLatinScript:
      return "language_non_latin_script";
    case Routing::kNotEnglish:
      return "language_not_english";
    case Routing::kUndecidedDefault:
      return "language_undecided_default";
    case Routing::kNoTextDefault:
      break;
  }
  return "no_text_default";
}

Choice choose(const Detection& detection, std::string_view default_name) {
  const std::string use_default = "using default (" + std::string(default_name) + ")";
  if (detection.script_profile.empty()) {
    return {Target::kDefault, Routing::kNoTextDefault,
            "no letters detected in state; " + use_default};
  }
  if (detection.script != script_name(Script::kLatin)) {
    return {Target::kMultilingual, Routing::kNonLatinScript,
            "non-Latin script (" + std::string(detection.script) + ", " +
                percent(detection.non_latin_fraction) +
                "% of letters); the English checkpoint cannot read it"};
  }
  if (!detection.is_english) {
    return {Target::kMultilingual, Routing::kNotEnglish, not_english_reason(detection)};
  }
  if (detection.language_undecided) {
    return {Target::kDefault, Routing::kUndecidedDefault,
            "Latin script, language not identified and no non-English letters; " + use_default};
  }
  return {Target::kEnglish, Routing::kEnglish, "English Latin text"};
}

}  // namespace layard::language
