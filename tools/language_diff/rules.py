"""A second reading of the detector's rules, in Python's own terms, to compare with the C++ one.

Rules: laya 0.3.20 lang.py and router.py as docs/languages.md states them. Characters are those of
the running interpreter's Unicode; compare only texts of characters that it knows.
"""

import re
import unicodedata

CHARACTERS_MAX = 4000
DEPTH_MAX = 6
WORD = re.compile(r"[^\W\d_]+")
# Looking back keeps it linear on long words; a match never starts inside one.
IDENTIFIER = re.compile(r"(?<![\w-])[\w-]*(?:[.@][\w-]+)+")


def leaves(state, depth=0):
    """Texts of a JSON value in order; keys, numbers and literals are passed over."""
    if depth > DEPTH_MAX:
        return
    if isinstance(state, str):
        yield state
    elif isinstance(state, dict):
        for value in state.values():
            yield from leaves(value, depth + 1)
    elif isinstance(state, list):
        for value in state:
            yield from leaves(value, depth + 1)


def state_text(state):
    """The part of a state that is looked at."""
    parts, budget = [], CHARACTERS_MAX
    for leaf in leaves(state):
        if budget <= 0:
            break
        parts.append(leaf[:budget])
        if len(leaf) > budget:
            break
        budget -= len(leaf) + 1
    return " ".join(parts)


class Rules:
    """The detector over the tables that `language_dump --tables` prints."""

    def __init__(self, tables):
        self.lists = {language: set(words.split()) for language, words in tables["words"].items()}
        self.block_of = {}
        for first, last, script in tables["blocks"]:
            self.block_of.update(dict.fromkeys(range(first, last + 1), script))
        self.foreign = {chr(code) for code in tables["foreign_letters"]}
        every = [word for words in self.lists.values() for word in words]
        self.shared = {word for word in every if every.count(word) > 1}

    def script_of(self, letter):
        code = ord(letter)
        if (code < 0x2B0 or 0x1E00 <= code <= 0x1EFF or 0xFF21 <= code <= 0xFF3A
                or 0xFF41 <= code <= 0xFF5A):
            return "latin"
        return self.block_of.get(code, "other")

    def non_latin_words(self, text):
        """Runs of two or more characters of one listed script that do not begin with a capital."""
        kept = [c for c in text if not unicodedata.combining(c)]
        runs, before = [], None
        for character in kept:
            script = self.block_of.get(ord(character))
            if script is not None and script == before:
                runs[-1] += character
            elif script is not None:
                runs.append(character)
            before = script
        return [run for run in runs if len(run) >= 2 and not run[0].isupper()]

    def latin_language(self, words, foreign):
        if len(words) < 4:
            return None
        score = {language: sum(word in listed for word in words)
                 for language, listed in self.lists.items()}
        english = score.pop("en")
        candidates = [language for language in score
                      if any(w in self.lists[language] and w not in self.shared for w in words)]
        best = max(candidates, key=score.get, default=None)
        if best is not None and score[best] >= max(2, english + 2):
            return best
        if best is not None and foreign and score[best] >= max(2, english):
            return best
        return "en" if english > 0 and not foreign else None

    def detection(self, state):
        text = state_text(state)
        count = {}
        for character in text:
            if character.isalpha():
                script = self.script_of(character)
                count[script] = count.get(script, 0) + 1
        total = sum(count.values())
        result = {"script": "unknown", "script_profile": {}, "language": None, "is_english": True,
                  "language_undecided": True, "diacritic_rate": 0.0, "non_latin_fraction": 0.0}
        if not total:
            return result
        order = [script for script in count if script != "latin"]
        profile = {script: count[script] / total for script in ["latin", *order]
                   if script in count}
        largest = max([*order, "latin"], key=lambda script: count.get(script, 0))
        outside = round(1 - profile.get("latin", 0.0), 4)
        letters = round(outside * total)
        if (largest == "latin" and (outside >= 0.2 or (outside >= 0.1 and letters >= 10))
                and self.non_latin_words(text)):
            largest = max(order, key=count.get)
        result.update(script=largest, script_profile=profile, non_latin_fraction=outside)
        if largest != "latin":
            result["is_english"] = False
            return result
        lowered = text.lower()  # U+0130 becomes two characters here, not in the words
        rate = sum(character in self.foreign for character in lowered) / len(lowered)
        foreign = rate >= 0.02
        words = WORD.findall(IDENTIFIER.sub(" ", text).replace("\u0130", "i").lower())
        language = self.latin_language(words, foreign)
        result.update(language=language, language_undecided=language is None,
                      is_english=language == "en" or (language is None and not foreign),
                      diacritic_rate=round(rate, 4))
        return result

    def route(self, state):
        found = self.detection(state)
        default = "using default (english)"
        if found["script"] == "unknown":
            choice = ("default", "no_text_default", f"no letters detected in state; {default}")
        elif found["script"] != "latin":
            choice = ("multilingual", "language_non_latin_script",
                      "non-Latin script (%s, %.0f%% of letters); the English checkpoint cannot "
                      "read it" % (found["script"], 100 * found["non_latin_fraction"]))
        elif not found["is_english"] and found["language"]:
            choice = ("multilingual", "language_not_english",
                      f"Latin script but language looks like '{found['language']}', not English")
        elif not found["is_english"]:
            choice = ("multilingual", "language_not_english",
                      "Latin script, language not identified but %.0f%% non-English letters; not "
                      "safe for the English checkpoint" % (100 * found["diacritic_rate"]))
        elif found["language_undecided"]:
            choice = ("default", "language_undecided_default",
                      "Latin script, language not identified and no non-English letters; "
                      + default)
        else:
            choice = ("english", "language_english", "English Latin text")
        return dict(zip(("target", "model_routing", "reason"), choice), detection=found)
