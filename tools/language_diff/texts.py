"""Random states for diff.py: near every threshold of the detector's rules, and far from them."""

import random
import unicodedata

BLANKS = [" ", " ", " ", "  ", "\n", "\t", ", ", ". ", "! ", "-", "_", "'", "\u00a0"]
JOINTS = [".", "@", "..", ".@", "-.", "_.", ". "]
SPECIAL = list("\u0130\u0131\u212a\u212b\u1e9e\u00df\u01c5\u1f88\u2163\u00bd\u00b2\u0660\u0966"
               "\u0301\u0345\u0483\u093f\u0e34\u0640\uff21\uff41\uff71\u02b0\u0250\u00aa\u00ba"
               "\u3007\u4e00\u2460\u24b6\u200d\ufffd\U0001d400\U00010400\U0001f44d")


class Texts:
    """A source of states; the same seed gives the same states."""

    def __init__(self, seed, tables):
        self.random = random.Random(seed)
        self.lists = {language: words.split() for language, words in tables["words"].items()}
        self.every = [word for words in self.lists.values() for word in words]
        self.foreign = [chr(code) for code in tables["foreign_letters"]]
        self.blocks = {}
        for first, last, script in tables["blocks"]:
            self.blocks.setdefault(script, []).extend(
                chr(code) for code in range(first, last + 1) if known(chr(code)))
        self.any = [chr(code) for code in range(0x20, 0x110000)
                    if known(chr(code)) and unicodedata.category(chr(code)) != "Co"]

    def state(self):
        """A text, or texts nested in lists and objects."""
        if self.random.random() < 0.75:
            return self.text()
        return self.nested(self.random.choice([1, 2, 3, 6, 7, 8]))

    def nested(self, depth):
        roll = self.random.random()
        if depth <= 0 or roll < 0.15:
            return self.leaf()
        inner = [self.leaf() for _ in range(self.random.choice([0, 0, 1, 2]))]
        inner.insert(self.random.randrange(len(inner) + 1), self.nested(depth - 1))
        if roll < 0.6:
            return inner
        return {f"{self.text()[:10]}{i}": value for i, value in enumerate(inner)}

    def leaf(self):
        roll = self.random.random()
        if roll < 0.2:
            return self.random.choice([0, 1.5, True, False, None, "", -7, [], {}])
        if roll < 0.4:  # near the limit together with its neighbours
            return "a" * self.random.choice([1, 2, 1997, 1998, 1999, 2000, 3998, 3999, 4000, 4001])
        return self.text()

    def text(self):
        return self.random.choice([
            self.words, self.words, self.words, self.words, self.mixed, self.mixed, self.threshold,
            self.rate, self.rate, self.identifiers, self.noise, self.long, self.few])()

    def word(self):
        roll = self.random.random()
        if roll < 0.75:
            word = self.random.choice(self.random.choice(list(self.lists.values())))
        elif roll < 0.85:
            word = self.random.choice(self.every)
        else:
            word = "".join(self.random.choices("abcdefghijklmnopqrstuvwxyzéß", k=5))
        return self.random.choice([word, word, word, word.title(), word.upper()])

    def words(self):
        languages = self.random.sample(list(self.lists), self.random.choice([1, 2, 3]))
        if self.random.random() < 0.6 and "en" not in languages:
            languages.append("en")
        count = self.random.choice([1, 2, 3, 4, 4, 5, 6, 8, 12, 30])
        parts = []
        for _ in range(count):
            parts.append(self.random.choice(self.lists[self.random.choice(languages)])
                         if self.random.random() < 0.8 else self.word())
            parts.append(self.random.choice(BLANKS) if self.random.random() < 0.2 else " ")
        if self.random.random() < 0.15:
            parts.insert(self.random.randrange(len(parts) + 1), self.random.choice(SPECIAL))
        return "".join(parts)

    def few(self):
        return "".join(self.random.choice(self.random.choice([self.any, SPECIAL])) for _ in range(
            self.random.choice([0, 1, 1, 2, 3, 5])))

    def foreign_word(self, script):
        letters = self.blocks[script]
        return "".join(self.random.choices(letters, k=self.random.choice([1, 2, 2, 3, 6])))

    def mixed(self):
        """Latin words with words of other scripts between them."""
        scripts = self.random.sample(list(self.blocks), self.random.choice([1, 1, 2, 3]))
        parts = [self.word() if self.random.random() < 0.6
                 else self.foreign_word(self.random.choice(scripts))
                 for _ in range(self.random.choice([2, 4, 8, 20]))]
        return self.random.choice([" ", "", ", "]).join(parts)

    def threshold(self):
        """As many letters of another script as around 10% or 20% of all, or around ten."""
        total = self.random.choice([5, 10, 20, 50, 95, 96, 99, 100, 101, 105, 200, 999])
        others = max(0, round(total * self.random.choice([0.1, 0.1, 0.2, 0.2, 0.5]))
                     + self.random.choice([-1, 0, 0, 1]))
        others = self.random.choice([others, others, 9, 10, 11])
        script = self.random.choice(list(self.blocks))
        letters = [c for c in self.blocks[script] if c.isalpha()]
        run = "".join(self.random.choices(letters, k=others))
        if self.random.random() < 0.3:
            run = " ".join(run)
        latin = "".join(self.random.choices("abcde", k=max(0, total - others)))
        return self.random.choice([run + " " + latin, latin + run, latin + "1" + run])

    def rate(self):
        """As many foreign letters as around 2% of the characters."""
        length = self.random.choice([10, 49, 50, 51, 99, 100, 101, 150, 1000, 2001, 4000])
        foreign = max(0, round(length * 0.02) + self.random.choice([-1, 0, 0, 1]))
        text = ""
        while len(text) < length - foreign:
            text += self.word() + " "
        text = text[:length - foreign] + " " * (length - foreign - len(text))
        letters = "".join(self.random.choices(self.foreign, k=foreign))
        letters = letters.upper() if self.random.random() < 0.3 else letters
        return self.random.choice([letters + text, text + letters])

    def identifiers(self):
        parts = []
        for _ in range(self.random.choice([1, 3, 6, 10])):
            parts.append(self.word())
            parts.append(self.random.choice(JOINTS) if self.random.random() < 0.5
                         else self.random.choice(BLANKS))
            if self.random.random() < 0.2:
                parts.append(self.random.choice(["1", "v2", "-", "_", "@", "."]))
        return "".join(parts)

    def noise(self):
        return "".join(self.random.choices(self.any, k=self.random.choice([3, 10, 60]))
                       + self.random.choices(SPECIAL, k=self.random.choice([0, 1, 5])))

    def long(self):
        """A text whose end lies beyond what is looked at."""
        start = self.words() + " "
        end = self.mixed()
        filler = self.random.choice(["x", "x ", "12 ", "é ", "the "])
        length = self.random.choice([3980, 3995, 3999, 4000, 4001])
        return (start + filler * length)[:length] + end


def known(character):
    """Whether this interpreter's Unicode has it; lone surrogates are not text."""
    return unicodedata.category(character) not in ("Cn", "Cs")
