#include "language/language.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "base/python_random.h"
#include "base/sha256.h"
#include "language/characters_tables.h"
#include "language/latin_profile.h"
#include "language/scripts.h"
#include "language/state_text.h"
#include "language/words.h"

namespace layard::language {
namespace {

using base::JsonValue;

Detection detected(const State& state) {
  auto detection = detect(state);
  EXPECT_TRUE(detection.ok()) << detection.error().message;
  return detection.ok() ? *std::move(detection) : Detection{};
}

Choice chosen(const State& state) { return choose(detected(state), "english"); }

State json_state(std::string text) { return {std::move(text), false, true}; }

std::string_view target_name(Target target) {
  return target == Target::kEnglish        ? "english"
         : target == Target::kMultilingual ? "multilingual"
                                           : "default";
}

TEST(LanguageRoute, EveryReason) {
  const auto check = [](const State& state, std::string_view target, std::string_view routing,
                        std::string_view reason) {
    const Choice choice = chosen(state);
    EXPECT_EQ(target_name(choice.target), target) << state.text;
    EXPECT_EQ(to_string(choice.routing), routing) << state.text;
    EXPECT_EQ(choice.reason, reason) << state.text;
  };
  check({"The parcel was left at the wrong door."}, "english", "language_english",
        "English Latin text");
  check({"Das Paket ist nicht angekommen."}, "multilingual", "language_not_english",
        "Latin script but language looks like 'de', not English");
  check({"Příliš žluťoučký"}, "multilingual", "language_not_english",
        "Latin script, language not identified but 44% non-English letters; not safe for the "
        "English checkpoint");
  check({"Хочу вернуть деньги"}, "multilingual", "language_non_latin_script",
        "non-Latin script (cyrillic, 100% of letters); the English checkpoint cannot read it");
  check({"ok"}, "default", "language_undecided_default",
        "Latin script, language not identified and no non-English letters; using default "
        "(english)");
  check({"12345"}, "default", "no_text_default",
        "no letters detected in state; using default (english)");
  check({""}, "default", "no_text_default",
        "no letters detected in state; using default (english)");
}

TEST(LanguageRoute, NamesOfReasonsDiffer) {
  std::set<std::string_view> names;
  for (const Routing routing : kRoutings) names.insert(to_string(routing));
  EXPECT_EQ(names.size(), std::size(kRoutings));
}

TEST(LanguageRoute, PercentagesRoundHalvesToEven) {
  EXPECT_NE(chosen({"éxxxxxxx"}).reason.find(" 12% "), std::string::npos);          // 12.5
  EXPECT_NE(chosen({"ééxxxxxxéxxxxxxx"}).reason.find(" 19% "), std::string::npos);  // 18.75
  EXPECT_NE(chosen({"éééxxxxx"}).reason.find(" 38% "), std::string::npos);          // 37.5
  EXPECT_NE(chosen({"注文b"}).reason.find(", 67% of letters"), std::string::npos);
}

TEST(LanguageRoute, ReasonsAreDocumented) {
  std::ifstream page(LAYARD_SOURCE_DIR "/docs/languages.md");
  std::vector<std::string> listed;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string name = line.substr(3, line.find('`', 3) - 3);
    if (name.starts_with("language_") || name.starts_with("no_text")) listed.push_back(name);
  }
  std::vector<std::string> known;
  for (const Routing routing : kRoutings) known.emplace_back(to_string(routing));
  EXPECT_EQ(listed, known);
}

TEST(LanguageRoute, TheDefaultIsNamed) {
  EXPECT_EQ(choose(detected({"ok"}), "typed-decisions").reason,
            "Latin script, language not identified and no non-English letters; using default "
            "(typed-decisions)");
  EXPECT_EQ(choose(detected({"?"}), "mine").reason,
            "no letters detected in state; using default (mine)");
}

TEST(LanguageRoute, ScriptsWithoutABlockAreNotEnglish) {
  for (const char* text : {"ｱﾘｶﾞﾄｳ", "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "ދިވެހި", "ᠮᠣᠩᠭᠣᠯ", "ꦗꦮ", "𐐔𐐯𐑅𐐨𐑉𐐯𐐻", "𝐑𝐞𝐟𝐮𝐧𝐝"}) {
    EXPECT_EQ(detected({text}).script, "other") << text;
    EXPECT_EQ(chosen({text}).routing, Routing::kNonLatinScript) << text;
  }
}

TEST(LanguageRoute, WhatIsNoLetter) {
  for (const char* text : {"👍👍", " \n\t", "-_.,:;!?", "٣٤٥", "½ Ⅳ", "\xCC\x81\xCC\x82"}) {
    EXPECT_EQ(detected({text}).script, "unknown") << text;
    EXPECT_EQ(chosen({text}).routing, Routing::kNoTextDefault) << text;
  }
}

TEST(LanguageRoute, MixedScripts) {
  const auto check = [](const std::string& text, std::string_view script, double fraction) {
    const Detection detection = detected({text});
    EXPECT_EQ(detection.script, script) << text;
    EXPECT_EQ(detection.non_latin_fraction, fraction) << text;
    EXPECT_EQ(detection.is_english, script == "latin") << text;
  };
  const auto b = [](std::size_t count) { return std::string(count, 'b'); };
  const auto han = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += "注";
    return text;
  };
  check(han(2) + b(8), "han", 0.2);  // a fifth of the letters
  check(han(2) + b(9), "latin", 0.1818);
  check(han(10) + b(90), "han", 0.1);  // a tenth, and ten letters
  check(han(10) + b(91), "latin", 0.099);
  check(han(9) + b(81), "latin", 0.1);
  // The number of letters follows from the rounded share: 0.1045 of 95 is 9.93.
  check(han(10) + b(85), "han", 0.1053);
  check(han(5) + b(5), "han", 0.5);  // Latin loses a tie
  check("b注", "han", 0.5);          // also without a word
  check(b(5) + han(5), "han", 0.5);
  check("注 文 注 文 " + b(6), "latin", 0.4);  // no word, only characters
  check("Дми Дми " + b(8), "latin", 0.4286);   // names
  check("Дми дми " + b(8), "cyrillic", 0.4286);
  check("注文 αβ " + b(4), "han", 0.5);  // equally many: the first
  check("αβ 注文 " + b(4), "greek", 0.5);
  check("ᏣᎳᎩ αβ " + b(15), "other", 0.25);  // the word is Greek, most letters are not
}

TEST(LanguageRoute, DetectionJson) {
  EXPECT_EQ(
      write_json(detection_json(detected({"α is the first of them"})), base::JsonStyle::kPython),
      R"({"script": "latin", "script_profile": {"latin": 0.9411764705882353, )"
      R"("greek": 0.058823529411764705}, "language": "en", "is_english": true, )"
      R"("language_undecided": false, "diacritic_rate": 0.0, "non_latin_fraction": 0.0588, )"
      R"("detector": "laya-0.3.20/unicode-16.0"})");
  EXPECT_EQ(write_json(detection_json(detected({"ação"})), base::JsonStyle::kPython),
            R"({"script": "latin", "script_profile": {"latin": 1.0}, "language": null, )"
            R"("is_english": false, "language_undecided": true, "diacritic_rate": 0.5, )"
            R"("non_latin_fraction": 0.0, "detector": "laya-0.3.20/unicode-16.0"})");
  EXPECT_EQ(write_json(detection_json(detected({"1"})), base::JsonStyle::kPython),
            R"({"script": "unknown", "script_profile": {}, "language": null, )"
            R"("is_english": true, "language_undecided": true, "diacritic_rate": 0.0, )"
            R"("non_latin_fraction": 0.0, "detector": "laya-0.3.20/unicode-16.0"})");
}

TEST(LanguageRoute, JsonStates) {
  const auto check = [](const char* json, std::string_view routing) {
    EXPECT_EQ(to_string(chosen(json_state(json)).routing), routing) << json;
  };
  check(R"({"the": 1, "is": 2, "of": 3, "and": 4})", "no_text_default");  // keys are not read
  check(R"({"the": "nicht", "is": "oder", "of": "und x"})", "language_not_english");
  check(R"([{"role": "user", "content": "Wo ist mein Paket?"}])", "language_not_english");
  check("true", "no_text_default");
  check("[12, 3.5, null]", "no_text_default");
  // A text that only looks like JSON is text.
  EXPECT_EQ(to_string(chosen({"{\"the\": 1, \"is\": 2, \"of\": 3, \"and\": 4}"}).routing),
            "language_english");
  const auto broken = detect(json_state("[1"));
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, ErrorCode::kInvalidRequest);
}

TEST(LanguageRoute, OnlyTheBeginningCounts) {
  const std::string head(4000, 'x');
  EXPECT_EQ(chosen({head + " Хочу вернуть деньги"}).routing, Routing::kUndecidedDefault);
  EXPECT_EQ(chosen({std::string(3999, ' ') + "Х"}).routing, Routing::kNonLatinScript);
  EXPECT_EQ(chosen({std::string(4000, ' ') + "Х"}).routing, Routing::kNoTextDefault);
  EXPECT_EQ(detect(std::u32string(4000, U' ') + U"\u0425").script, "unknown");
  const std::string huge(std::size_t{32} << 20, 'y');
  EXPECT_EQ(chosen({huge}).routing, Routing::kUndecidedDefault);
}

TEST(LanguageRoute, AnyBytesGiveAnAnswer) {
  base::PythonRandom random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    const auto size = std::size_t{random.below(60)};
    for (std::size_t k = 0; k < size; ++k) text += static_cast<char>(random.below(256));
    const Detection detection = detected({text});
    double sum = 0;
    for (const auto& [script, share] : detection.script_profile) sum += share;
    EXPECT_NEAR(sum, detection.script_profile.empty() ? 0.0 : 1.0, 1e-9);
    const Choice choice = choose(detection, "english");
    EXPECT_FALSE(choice.reason.empty());
    EXPECT_EQ(choose(detected({text}), "english").reason, choice.reason);
  }
}

// Who changes a table or a threshold changes decisions: kDetector then needs another name, and this
// hash is renewed with it.
TEST(LanguageRoute, DetectorVersionNamesTablesAndThresholds) {
  std::string all;
  const auto add = [&](auto number) { all += std::to_string(number) + ","; };
  for (const WordList& list : word_lists()) {
    all += std::string(list.language) + ":" + std::string(list.words) + ";";
  }
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (is_foreign_letter(c)) add(static_cast<unsigned>(c));
    const auto script = block_script(c);
    if (script.has_value() && block_script(c - 1) != script) {
      add(static_cast<unsigned>(c));
      all += script_name(*script);
    }
    if (!script.has_value() && c > 0 && block_script(c - 1).has_value()) {
      add(static_cast<unsigned>(c));
    }
  }
  for (const auto& range : class_ranges()) {
    add(static_cast<unsigned>(range.first));
    add(static_cast<unsigned>(range.last));
    add(static_cast<unsigned>(range.kind));
  }
  for (const auto ranges : {capital_ranges(), lower_ranges()}) {
    for (const auto& range : ranges) {
      add(static_cast<unsigned>(range.first));
      add(static_cast<unsigned>(range.last));
      add(static_cast<unsigned>(range.step));
      add(range.delta);
    }
  }
  add(kCodePointsMax);
  add(kDepthMax);
  add(kWordsMin);
  add(kForeignLetterRate);
  EXPECT_EQ(kDetector, "laya-0.3.20/unicode-16.0");
  EXPECT_EQ(base::sha256_hex(all),
            "ca61e8378056e13e5d2b24978df73f26f88642216a51c3916d6f7bd6be28f27c");
}

}  // namespace
}  // namespace layard::language
