"""Wordings for redrawn questions. Data only; data.py says how it is used."""

import random

REDRAWN = ("intent", "domain", "emotion", "tool", "team")

OTHER = (("other", "none of the listed"), ("none", "nothing in this list fits"),
         ("something else", "does not belong to any of these"))
# Without a description "none" would be read as a count.
OTHER_BARE = ("other", "something else", "none of these", "none of the listed")

INTENT_INSTRUCTIONS = {
    "intent": ("Which of these does the writer want?", "Choose the best matching purpose.",
               "What is the user trying to do?", "Select the category of this message.",
               "Which label fits?", "What is the request?", "Sort this message."),
    "domain": ("Which area is this?", "What is the subject?", "Choose a topic for the text.",
               "Which department owns this?"),
    "emotion": ("Which emotion fits the text?", "What is the tone of the comment?",
                "What does the author feel?", "Name the feeling."),
    "tool": ("Which program does this?", "Which command helps here?", "Choose a utility."),
    "team": ("Which team should take this?", "Who should answer?", "Pick the right queue.",
             "Where does this ticket go?", "Which department is this for?"),
}

ABOUT = ("Does the message concern the following? {}", "Is this about: {}?",
         "The text is about: {}", "Is the user asking for this: {}", "The user's goal: {}",
         "Does this fit the label \"{}\"?",
         "True if the request is about {}", "Would you file this under {}?")
ABOUT_CRITERIA = (("it is about something else", "the message is about this"),
                  ("no", "yes"), ("does not match", "matches"))

REQUEST_SERVED_INSTRUCTIONS = "What kind of answer does this request need?"
REQUEST_SERVED = (("code", "source code, a script, a fix to a program, or an explanation of code"),
                  ("prose", "several paragraphs of explanation, writing, advice or a story"),
                  ("short", "one word, one number or one sentence"))
# Each set: code, prose, short.
REQUEST_SETS = (
    REQUEST_SERVED,
    (("code", "source code or help with code"),
     ("prose", "an explanation or text of several paragraphs"),
     ("short", "a single word, number or sentence")),
    (("code", "program text, a command, or talk about code"), ("prose", "a longer written text"),
     ("short", "a few words")),
    (("programming", None), ("long writing", None), ("quick reply", None)),
    (("code", "needs code"), ("prose", "needs paragraphs"), ("short", "needs one line")),
    (("code", "contains code"), ("prose", "runs to several paragraphs"),
     ("short", "ends after one sentence")),
    (("coder", "programming, scripts, queries and configuration"),
     ("writer", "essays, stories, advice and explanations"),
     ("quick", "facts, greetings, sums and one-line replies")),
    (("code", "writing, fixing or explaining program code"),
     ("prose", "an explanation, essay, story, plan or advice that needs a longer written answer"),
     ("short", "a greeting, a quick fact, a calculation or a one-line answer")),
    (("code", "programming"), ("prose", "long-form writing or explanation"),
     ("short", "a quick reply: greeting, fact, calculation, translation of a phrase")),
    (("software", "the reply is code or is about code"), ("essay", "the reply is long text"),
     ("one-liner", "the reply is a word, a value or a sentence")),
    (("developer model", "code, queries, shell commands, debugging"),
     ("writing model", "long answers: lists, plans, letters, explanations"),
     ("small model", "a label, a name, a number, one sentence")),
)
REQUEST_INSTRUCTIONS = (
    REQUEST_SERVED_INSTRUCTIONS, "How should we answer this?", "What will the answer look like?",
    "Pick the kind of request.", "Sort this chat request.", "Estimate the reply.",
    "Which worker should answer?", "What kind of request is this?", "Classify this chat request.",
    "Which model should take this prompt?", "What form will a good answer have?")
IS_CODE = ("Does this request need code?", "Is it a coding task?",
           "The user wants help with programming.", "The reply will contain source code.")
IS_CODE_CRITERIA = (("no code involved", "the answer holds or discusses code"), ("no", "yes"))
IS_SHORT = ("Can this be answered in one sentence?",
            "A single word or line is enough as an answer.",
            "Is a very short reply enough?")
IS_SHORT_CRITERIA = (("needs more", "one sentence is enough"), ("no", "yes"))
LENGTH = ("Expected length of the reply", "How long should the answer be?",
          "Length of a good answer")
LENGTH_LEVELS = (("a word or a sentence", "several paragraphs"), ("short", "long"))


def statement(rng: random.Random, instructions: str, choices) -> dict:
    question = {"type": "noul", "instructions": instructions}
    if rng.random() < 0.5:
        false, true = rng.choice(choices)
        question["criteria"] = {"false": false, "true": true}
    return question


_BAD = ("anger annoyance disappointment disapproval disgust embarrassment fear grief nervousness "
        "remorse sadness")
_GOOD = "admiration amusement approval excitement gratitude joy love optimism pride relief caring"
MOOD_OF_EMOTION = {**{e: 0 for e in _BAD.split()}, "neutral": 1,
                   **{e: 2 for e in _GOOD.split()}}
MOOD_SCORE = ("Rate the sentiment.", "How pleased is the writer?",
              "Mood of the writer, low to high",
              "How positive is this?", "Tone from bad to good", "Sentiment")
MOOD_LEVELS = (("negative", "neutral", "positive"), ("bad mood", "neither", "good mood"),
               ("the writer is unhappy", "no clear feeling", "the writer is pleased"),
               ("unfavourable", "mixed or neutral", "favourable"))
SENTIMENT_SETS = ((("negative", "bad or unhappy"), ("neutral", "no clear feeling"),
                   ("positive", "good or pleased")),
                  (("sad or angry", "the writer dislikes something"), ("flat", "plain statement"),
                   ("happy", "the writer likes something")))
SENTIMENT = ("What is the sentiment?", "Classify the sentiment of the text.", "Which mood is this?",
             "How does this sound?")
MOOD_STATEMENTS = (("Is the writer unhappy?", 0), ("Does this sound positive?", 2),
                   ("Does this sound negative?", 0), ("Is the writer in a good mood?", 2),
                   ("Is this a complaint?", 0), ("The writer is pleased.", 2),
                   ("Is this praise?", 2), ("The text is neutral in tone.", 1))

URGENT = (("Is this urgent?", True), ("Does this need attention right away?", True),
          ("The matter is urgent.", True), ("Can this wait?", False),
          ("Must someone act today or sooner?", True), ("Is there time pressure?", True),
          ("There is no hurry.", False))
