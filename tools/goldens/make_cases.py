"""Requests of our own that reach every rule of prompts and answers."""

import itertools
import random

from everyday_cases import everyday

MAIL = ("Hello, order 4471 was charged twice on my card last night. I have written three times and "
        "nobody answers. Please send the second amount back before Friday or I close the account.")
TICKET = {"subject": "Login broken", "body": "Since the update nobody in our office can sign in.",
          "seats": 42, "paid": True, "tags": ["sso", "größe"], "note": None, "ratio": 0.25}
CHAT = [{"role": "user", "content": "Do you ship to Norway?"},
        {"role": "assistant", "content": "Yes, within five days."},
        {"role": "user", "content": "Great, then change my address to Storgata 1, Oslo."}]
TEAM = {"type": "choice", "instructions": "Which team should read this?",
        "criteria": {"billing": "charges, refunds, invoices", "access": "login and accounts",
                     "shipping": "parcels and addresses", "other": None}}
URGENCY = {"type": "score", "instructions": "How soon must somebody act?",
           "criteria": ["no hurry", "this week", "today", "now"]}
REFUND = {"type": "noul", "instructions": "Does the writer want money back?"}


def choice(instructions, criteria) -> dict:
    return {"type": "choice", "instructions": instructions, "criteria": criteria}


def plain():
    yield "three-kinds", MAIL, {"team": TEAM, "urgency": URGENCY, "refund": REFUND}
    yield "object-state", TICKET, {"team": TEAM, "refund": REFUND}
    yield "conversation", CHAT, {"team": TEAM, "urgency": URGENCY}
    yield "empty-state", "", {"refund": REFUND}
    yield "labels", MAIL, {"q": {**REFUND, "labels": {"false": "keep", "true": "return"}}}
    yield "described-sides", MAIL, {"q": {**REFUND, "criteria": {
        "TRUE": "asks for a payment to be reversed", "False": "does not ask for that"}}}
    yield "one-option", MAIL, {"q": choice("Pick.", ["only"])}
    yield "list-of-labels", MAIL, {"q": choice("Mood?", ["calm", "annoyed", "furious"])}
    yield "odd-labels", MAIL, {"q": choice("Pick a value.", [1, 2.5, False, "three"])}
    yield "structured", MAIL, {"q": choice({"ask": "größer?", "n": [1, 2]},
                                           {"a": {"min": 1}, "b": ["x", "y"], "c": 0, "d": ""})}
    yield "structured-levels", MAIL, {"q": {"type": "score", "instructions": "Rate.",
                                            "criteria": [{"d": "low"}, "high", 2, False]}}
    yield "mask-text", "a [MASK] b [SEP] c [CLS]", {
        "q": choice("Is [MASK] here?", {"yes[MASK]": "[MASK]", "no": None})}
    yield "unicode", "Grüße 😀 e\u0301 王小明 \u200b مرحبا\n\ttab", {"refund": REFUND}
    numbers = {"big": 123456789012345678901234567890, "e": 1e22, "s": 1e-7, "z": -0.0}
    yield "json-numbers", numbers, {"refund": REFUND}


def long_ones():
    words = MAIL.split()
    text = " ".join(words[i % len(words)] for i in range(900))
    yield "long-text", text, {"team": TEAM, "refund": REFUND}
    turns = [{"role": "user", "content": f"message {i}: {words[i % len(words)]}"}
             for i in range(120)]
    yield "long-conversation", turns, {"urgency": URGENCY}
    many = {f"label {i:02d} of the list": f"case number {i}" for i in range(40)}
    yield "forty-options", MAIL, {"q": choice("Pick.", many)}
    yield "long-option", MAIL, {"q": choice("Pick.", {"a": " ".join(words * 3), "b": "short"})}
    yield "long-instructions", MAIL, {"q": {"type": "noul", "instructions": " ".join(words * 8)}}


def permutations():
    names = list(TEAM["criteria"])
    for order in itertools.permutations(range(4)):
        criteria = {names[i]: TEAM["criteria"][names[i]] for i in order}
        yield "order-" + "".join(map(str, order)), MAIL, {"q": {**TEAM, "criteria": criteria}}


def mixed():
    chooser = random.Random(5)
    words = (MAIL + " " + TICKET["body"]).replace(",", "").split()
    for at in range(20):
        text = " ".join(chooser.choices(words, k=chooser.randint(1, 120)))
        count = chooser.randint(2, 12)
        some = lambda k: " ".join(chooser.choices(words, k=k))
        criteria = {f"{chooser.choice(words)} {i}": chooser.choice([None, some(4)])
                    for i in range(count)}
        levels = [some(3) for _ in range(chooser.randint(1, 6))]
        questions = {"c": {**choice(some(6) + "?", criteria),
                           "option_order": chooser.sample(range(count), count)},
                     "s": {"type": "score", "instructions": "How much?", "criteria": levels},
                     "n": REFUND}
        yield f"mixed-{at}", text, questions


def cases() -> list:
    """Every case as {name, state, questions}."""
    groups = itertools.chain(plain(), long_ones(), permutations(), mixed(), everyday())
    return [{"name": name, "state": state, "questions": questions}
            for name, state, questions in groups]
