/// Which of two checkpoints can read a text - the one for English or the one for many languages -
/// and why.
///
/// Invariants: pure, a text in and a reason out: no files, no models, no clock; at most
/// kCodePointsMax characters are looked at, in linear time; the same text always gives the same
/// answer, and kDetector changes with any table or rule (a test holds their hash).
/// Source: laya 0.3.20 lang.py `analyse` and router.py `route`, in the form laya-apple 1.7.0 gives
/// their reasons. Departs: as characters.h and state_text.h say. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "layard/error.h"
#include "layard/question.h"

namespace layard::language {

/// Names rules and tables: whose they are, and of which Unicode.
inline constexpr std::string_view kDetector = "laya-0.3.20/unicode-16.0";

/// What a text looks like. What detect() returns holds views of constants.
struct Detection {
  std::string_view detector = kDetector;
  /// `unknown` without letters; else a name of scripts.h.
  std::string_view script = "unknown";
  /// Shares of all letters: Latin first, then in order of appearance.
  std::vector<std::pair<std::string_view, double>> script_profile;
  std::optional<std::string_view> language;  // ISO 639-1; only of text in Latin script
  bool is_english = true;
  bool language_undecided = true;
  double diacritic_rate = 0;      // 4 decimals
  double non_latin_fraction = 0;  // 4 decimals
};

/// Looks at the beginning of `text`.
Detection detect(std::u32string_view text);

/// Looks at a state: its text, or the texts in it when it is JSON.
/// Errors: kInvalidRequest when a state that says it is JSON is not.
Result<Detection> detect(const State& state);

/// The detection as the routing record shows it; the last member names the detector.
base::JsonValue detection_json(const Detection& detection);

/// Every reason for a choice by language.
enum class Routing : std::uint8_t {
  kEnglish,
  kNonLatinScript,
  kNotEnglish,
  kUndecidedDefault,
  kNoTextDefault,
};
inline constexpr Routing kRoutings[] = {Routing::kEnglish, Routing::kNonLatinScript,
                                        Routing::kNotEnglish, Routing::kUndecidedDefault,
                                        Routing::kNoTextDefault};

/// `language_english`, ...
std::string_view to_string(Routing routing);

/// Which checkpoint a choice means.
enum class Target : std::uint8_t { kEnglish, kMultilingual, kDefault };

struct Choice {
  Target target = Target::kDefault;
  Routing routing = Routing::kNoTextDefault;
  std::string reason;  // a sentence for people; holds no text of the state
};

/// `default_name`: what the reason calls the checkpoint of Target::kDefault.
Choice choose(const Detection& detection, std::string_view default_name);

}  // namespace layard::language
