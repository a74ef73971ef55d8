"""Random texts that try to break tokenizers. The same seed gives the same texts."""

import random

SPACES = [" ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", "\r", "\x0b", "\x0c", "\xa0", "\u2003",
    "\u3000", "\u2028", "\u2029", "\x85", "\u200b", "\u1680", "\ufeff", "\x1c", "\x1f"]
WORDS = ["the", "The", "refund", "order", "customer", "isn't", "we'll", "I've", "they're", "I'm",
    "he'd", "it's", "don't", "caf\xe9", "cafe\u0301", "na\xefve", "stra\xdfe", "\u0130stanbul",
    "I\u0307", "\u01c5", "\ufb01ne", "\u212bngstr\xf6m", "na\xefve",
    "\u0395\u03bb\u03bb\u03ac\u03b4\u03b1", "\u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3",
    "\u041c\u043e\u0441\u043a\u0432\u0430", "\u0401\u0416",
    "\u0936\u093f\u0915\u094d\u0937\u093e", "\u0995\u09cd\u09b7",
    "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22", "\u05e2\u05d1\u05e8\u05d9\u05ea",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629", "\u202eabc\u202c", "\u65e5\u672c\u8a9e",
    "\u6f22\u5b57\u304b\u306a", "\u30ab\u30bf\u30ab\u30ca", "\ud55c\uad6d\uc5b4", "\uac01",
    "\u1100\u1161\u11a8", "\uac00\u11a8", "\uac00\u11a7", "\uff46\uff55\uff4c\uff4c",
    "\u2460\u2461", "\u2163", "\xbd", "\u0663\u0664\u0665", "\u0967\u0968", "x\u0307\u0323",
    "q\u0323\u0307", "\u0344", "\u0f73\u0f71", "\u1e9b\u0323", "\U0001d400", "\U00020000",
    "\U0002b825", "\U0002b930", "\u9fff", "\u3400", "a_b", "__init__", "http://x.y/z?q=1&r=2",
    "user@example.com", "3.14", "1,000", "2024-01-02", "C++", "don''t", "'s", "'S", "'ll'",
    "''re"]
EMOJI = ["\U0001f600", "\U0001f469\u200d\U0001f4bb", "\u2764\ufe0f", "\U0001f1e9\U0001f1ea",
    "\U0001f44d\U0001f3fd", "\U0001f3f3\ufe0f\u200d\U0001f308"]
MARKS = ["\u0301", "\u0323", "\u0307", "\u0334", "\u0345", "\u0327", "\u05b0", "\u064b", "\u0e38",
    "\u093c", "\u0f71", "\u0f72", "\u3099", "\u302a", "\u302e", "\u20dd", "\u07fd", "\u0898",
    "\u1abf", "\u1df6", "\U00010f46", "\U0001d165", "\U00016ff0", "\u0c3c", "\u0d3b"]
ODD = ["\x00", "\x01", "\x7f", "\x80", "\x9f", "\xad", "\u200d", "\u200e", "\u2060", "\ufffd",
    "\ufffe", "\uffff", "\ue000", "\uf8ff", "\U000f0000", "\U0010ffff", "\U0010fffd", "\u0378",
    "\u2fe0", "\U000e0001", "\U000e0100", "\u061c", "\ufff9", "\U00011935\U00011930",
    "\U00011938", "\u32ff", "\ua7f2", "\U0001fbf0", "\u1c89", "\U00010d50", "\U00016ea0",
    "\U00011de0", "\u2581", "\u2581\u2581", "\u0120", "\u010a", "\xc2", "<0x0A>", "<0x41>", "##",
    "##ing", "</w>"]
PUNCTUATION = ["!", '"', "#", "$", "%", "&", "'", "(", ")", "*", "+", ",", "-", ".", "/", ":",
    ";", "<", "=", ">", "?", "@", "[", "\\", "]", "^", "_", "`", "{", "|", "}", "~", "\u2026",
    "\u2014", "\u201c", "\u201d", "\u2019", "\xab", "\xbb", "\u3001", "\u3002", "\uff01", "\xb7",
    "\xbf", "\u0964", "\u20ac", "\xa9", "\xb1", "\u2028"]
BLOCKS = [(0x20, 0x7F), (0xA0, 0x250), (0x250, 0x370), (0x370, 0x530), (0x530, 0x700),
    (0x700, 0xE00), (0xE00, 0x1100), (0x1100, 0x1200), (0x1200, 0x2000), (0x2000, 0x2C00),
    (0x2C00, 0x3100), (0x3100, 0x4E00), (0x4E00, 0xA000), (0xA000, 0xAC00), (0xAC00, 0xD7FC),
    (0xE000, 0xF900), (0xF900, 0x10000), (0x10000, 0x11000), (0x11000, 0x13000),
    (0x13000, 0x1D000), (0x1D000, 0x1F000), (0x1F000, 0x20000), (0x20000, 0x32000),
    (0xE0000, 0xE0200)]


class Texts:
    """A stream of texts. `tokens`: added tokens to put in; `vocabulary`: pieces of real text."""

    def __init__(self, seed, tokens, vocabulary):
        self.random = random.Random(seed)
        self.tokens = tokens or ["[MASK]"]
        self.vocabulary = vocabulary

    def character(self):
        low, high = self.random.choice(BLOCKS)
        return chr(self.random.randrange(low, high))

    def token(self):
        """An added token, at times broken or glued to something."""
        token = self.random.choice(self.tokens)
        roll = self.random.random()
        if roll < 0.1 and len(token) > 1:
            return token[:-1]
        if roll < 0.2:
            return token.swapcase()
        if roll < 0.35:
            return self.random.choice(SPACES) + token
        if roll < 0.5:
            return token + self.random.choice(SPACES)
        if roll < 0.6:
            return self.random.choice(WORDS) + token + self.random.choice(WORDS)
        if roll < 0.65:
            return token + self.random.choice(MARKS)
        return token

    def run(self):
        """One thing many times."""
        unit = self.random.choice([self.character(), " ", "\n", "a", "\t", "=", "-", "é",
                                   self.random.choice(MARKS), self.random.choice(WORDS),
                                   self.random.choice(self.tokens)])
        return unit * self.random.choice([2, 3, 5, 8, 17, 33, 40, 101, 130])

    def part(self):
        pick = self.random.random
        choice = self.random.choice
        roll = pick()
        if roll < 0.22:
            return choice(WORDS)
        if roll < 0.40:
            return choice(SPACES) if pick() < 0.4 else " "
        if roll < 0.50:
            return self.token()
        if roll < 0.60 and self.vocabulary:
            return choice(self.vocabulary)
        if roll < 0.68:
            return choice(PUNCTUATION)
        if roll < 0.74:
            return choice(MARKS)
        if roll < 0.78:
            return choice(EMOJI)
        if roll < 0.83:
            return choice(ODD)
        if roll < 0.86:
            return str(self.random.randrange(10 ** self.random.randrange(1, 12)))
        if roll < 0.88:
            return self.run()
        return "".join(self.character() for _ in range(self.random.randrange(1, 8)))

    def text(self):
        roll = self.random.random()
        count = self.random.randrange(0, 5) if roll < 0.4 else self.random.randrange(1, 24)
        text = "".join(self.part() for _ in range(count))
        if roll > 0.8:
            text = text.upper() if roll > 0.9 else text.title()
        return "".join(c for c in text if not 0xD800 <= ord(c) <= 0xDFFF)
