"""Yes/no and choice questions whose answer can be computed from a text or from its source.

They add breadth: a model that sees only intents takes every question for an intent question.
"""

import random
import re

_MONEY = re.compile(r"[$£€]\s?\d|\b(dollars?|euros?|pounds|cents?|bucks)\b", re.I)
_TIME = re.compile(r"\b(monday|tuesday|wednesday|thursday|friday|saturday|sunday|today|tomorrow|"
                   r"tonight|yesterday|\d{1,2}(:\d\d)?\s?(am|pm)|o'clock|noon|midnight)\b", re.I)
_ASKS = re.compile(r"^(what|who|when|where|why|how|which|is|are|can|could|do|does|did|will|"
                   r"would)\b", re.I)
_POLITE = re.compile(r"\b(please|pls|thanks|thank you|kindly)\b", re.I)


def _asks(text: str) -> bool:
    return text.rstrip().endswith("?") or bool(_ASKS.match(text))


CHECKS = (
    (("Is this a question?", "The text asks something.", "Is the writer asking a question?"),
     _asks),
    (("Does the text name an amount of money?", "Is money mentioned?",
      "A price or sum of money appears in the text."), lambda t: bool(_MONEY.search(t))),
    (("Does the text mention a day or a time?", "Is a time or date given?",
      "A day of the week or a time of day is named."), lambda t: bool(_TIME.search(t))),
    (("Does the text contain a number?", "Are there digits in the text?"),
     lambda t: any(c.isdigit() for c in t)),
    (("Is the writer polite?", "Does the text say please or thanks?"),
     lambda t: bool(_POLITE.search(t))),
)

KINDS = {
    "banking77": ("bank customer", "a customer writing to a bank"),
    "clinc150": ("assistant request", "something said to a voice assistant"),
    "hwu64": ("assistant request", "something said to a voice assistant"),
    "nl2bash": ("shell task", "files, processes or text to handle on a command line"),
    "gsm8k": ("maths problem", "a story with numbers that ends in a question"),
    "sms_spam": ("text message", "an SMS between people or an advertisement"),
    "goemotions": ("forum comment", "a remark under somebody's post"),
    "ops_generator": ("support ticket", "a customer reporting to a helpdesk"),
    "cosmos_qa": ("diary passage", "a few sentences from a personal story"),
}
KIND_INSTRUCTIONS = ("What kind of text is this?", "Where does this text come from?",
                     "Choose the type of the message.", "Source of the text")


def question(rng: random.Random, text: str, source: str) -> tuple:
    """(question, target) about surface or origin of the text."""
    if source in KINDS and rng.random() < 0.45:
        true = KINDS[source]
        others = sorted({kind for kind in KINDS.values() if kind != true})
        pairs = rng.sample(others, rng.randint(1, 4)) + [true]
        rng.shuffle(pairs)
        labels_only = rng.random() < 0.4
        criteria = [label for label, _ in pairs] if labels_only else dict(pairs)
        return ({"type": "choice", "instructions": rng.choice(KIND_INSTRUCTIONS),
                 "criteria": criteria}, pairs.index(true))
    wordings, check = rng.choice(CHECKS)
    asked = {"type": "noul", "instructions": rng.choice(wordings)}
    if rng.random() < 0.3:
        asked["criteria"] = {"false": "no", "true": "yes"}
    return asked, int(check(text))
