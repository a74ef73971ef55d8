"""Requests written for this project: labelled chat requests for the request-kind question.

Label rule: 0 code if the wanted answer is code or about code; 2 short if a good answer is one
sentence or less; else 1 prose. The frames aim at what the given files lack: single answers over
long pasted text, lists, proofs and worked sums, code words in requests that want no code, requests
of 300 to 1,000 characters, wrappers, typos.
"""

import random

import request_words as words

CODE, PROSE, SHORT = 0, 1, 2


def roughen(rng: random.Random, text: str, chance: float) -> str:
    """With the given chance: a typo or two, lower case, missing or doubled punctuation."""
    if rng.random() >= chance or len(text) < 8:
        return text
    draw = rng.random()
    if draw < 0.25:
        return text.lower()
    if draw < 0.33:
        return text.upper()
    if draw < 0.5:
        return text.rstrip(".?!") + rng.choice(("", "??", "...", " !", " thx"))
    letters = list(text)
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(1, len(letters) - 1)
        if not (letters[at].isalpha() and letters[at - 1].isalpha()):
            continue
        action = rng.randrange(3)
        if action == 0:
            letters[at - 1], letters[at] = letters[at], letters[at - 1]
        elif action == 1:
            letters[at] = ""
        else:
            letters[at] *= 2
        letters = list("".join(letters))
    return "".join(letters)


def fill(rng: random.Random, frame: str) -> str:
    """Replaces every {name} by a draw from the word list of that name; {n} by a number."""
    while "{" in frame:
        start = frame.index("{")
        end = frame.index("}", start)
        name = frame[start + 1:end]
        value = str(rng.randint(2, 60)) if name == "n" else rng.choice(words.LISTS[name])
        frame = frame[:start] + value + frame[end + 1:]
    return frame


def passage(rng: random.Random, pasted: list) -> str:
    """Pasted material of 40 to about 900 characters: texts of the other training sources."""
    wanted = rng.choice((40, 80, 150, 250, 400, 650))
    joiner = rng.choice((" ", " ", "\n", "\n- ", "\n\n"))
    parts = [rng.choice(pasted)]
    while sum(map(len, parts)) < wanted and len(parts) < 14:
        parts.append(rng.choice(pasted))
    text = joiner.join(parts)[:900]
    return "- " + text if joiner == "\n- " else text


def attach(rng: random.Random, ask: str, material: str) -> str:
    """The ask before or after the material, in the ways people paste."""
    draw = rng.random()
    if draw < 0.4:
        return f"{ask}{rng.choice((chr(10), chr(10) * 2, ' ', ': '))}{material}"
    if draw < 0.6:
        return f"{material}{rng.choice((chr(10), chr(10) * 2))}{ask}"
    if draw < 0.75:
        return f"{ask}\n\"\"\"\n{material}\n\"\"\""
    if draw < 0.87:
        label = rng.choice(("Text", "Input", "Message", "Email", "Notes", "Review", "Transcript"))
        return f"{ask}\n\n{label}: {material}"
    return f"{ask}\n---\n{material}\n---"


def wrap(rng: random.Random, text: str) -> str:
    """Sometimes a greeting, a reason, a system prompt or a closing that changes nothing."""
    draw = rng.random()
    if draw < 0.14:
        return f"{rng.choice(words.OPENERS)} {text}"
    if draw < 0.22:
        return f"{text} {rng.choice(words.CLOSERS)}"
    if draw < 0.30:
        return f"{rng.choice(words.SYSTEM)}\n{text}"
    if draw < 0.33:
        return f"{rng.choice(words.SYSTEM)} {fill(rng, rng.choice(words.CONTEXT))} {text}"
    if draw < 0.39:
        return f"{fill(rng, rng.choice(words.CONTEXT))} {text}"
    return text


def over_material(rng: random.Random, pasted: list) -> tuple:
    """A request about pasted text. The ask alone decides the label, whatever the paste is."""
    kind = rng.choices((CODE, PROSE, SHORT), (0.18, 0.30, 0.52))[0]
    material = passage(rng, pasted)
    if kind == SHORT and rng.random() < 0.15:
        material = rng.choice(words.SNIPPETS + words.LOGS)
        return attach(rng, fill(rng, rng.choice(words.SHORT_OVER_LOG)), material), SHORT
    asks = {CODE: words.CODE_OVER, PROSE: words.PROSE_OVER, SHORT: words.SHORT_OVER}[kind]
    return attach(rng, fill(rng, rng.choice(asks)), material), kind


def over_code(rng: random.Random) -> tuple:
    """A request about a pasted program or an error message."""
    ask = fill(rng, rng.choice(words.CODE_OVER_CODE))
    material = rng.choice(words.SNIPPETS + words.LOGS)
    return attach(rng, ask, material), CODE


def free(rng: random.Random) -> tuple:
    """A request without pasted material."""
    kind = rng.choices((CODE, PROSE, SHORT), (0.27, 0.40, 0.33))[0]
    frames = {CODE: words.CODE, PROSE: words.PROSE, SHORT: words.SHORT}[kind]
    return fill(rng, rng.choice(frames)), kind


def request(rng: random.Random, pasted: list) -> tuple:
    """One (text, label)."""
    draw = rng.random()
    if draw < 0.34:
        text, kind = over_material(rng, pasted)
    elif draw < 0.42:
        text, kind = over_code(rng)
    else:
        text, kind = free(rng)
    return roughen(rng, wrap(rng, text), 0.18), kind
