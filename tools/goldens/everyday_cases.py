"""Requests as people send them: short and long texts of many kinds, in several languages.

The texts are ours. `everyday()` yields (name, state, questions) like the groups of make_cases.py.
"""

# Name, text. Names become case names.
TEXTS = [
    ("parcel-late", "My parcel was promised for Tuesday, now it is Saturday and the tracking page "
     "still says it left the warehouse. I need the shoes for a wedding tomorrow."),
    ("thanks", "Just wanted to say the technician yesterday was great. Friendly, quick, and the "
     "boiler has been quiet ever since. No need to answer."),
    ("cancel-plan", "Please cancel my subscription at the end of the month. The app is fine, I "
     "simply moved to a flat where the internet is included."),
    ("double-booking", "Hotel reservation 88-204: we were given a room that another family already "
     "had. After forty minutes at the desk we paid for a different hotel ourselves. I expect both "
     "the refund and an explanation."),
    ("password-loop", "The reset link sends me back to the page that asks for the reset link. I "
     "have tried two browsers and my phone. Username is the one on file."),
    ("outage-log", "03:12:07 WARN pool exhausted, 512 waiting\n03:12:09 ERROR timeout talking to "
     "orders-db after 30000 ms\n03:12:09 ERROR retry 3 of 3 failed\n03:12:10 INFO health check "
     "answered 503\n03:12:41 INFO failover started"),
    ("nightly-ok", "backup finished: 214 files, 9.1 GB, 0 errors, 0 skipped, 18 minutes. Next run "
     "tomorrow at 02:00."),
    ("review-mixed", "The screen is the best I have ever used and the battery lasts two days, but "
     "the hinge creaks, and the charger got so hot that I no longer leave it alone. Three stars "
     "until they answer my mail about it."),
    ("review-short", "Broke after a week."),
    ("code-request", "Write a function that takes a list of intervals and merges those that "
     "overlap. Include tests for empty input and for touching ends."),
    ("letter-request", "Could you help me word a short letter to my landlord? The lift has been "
     "out of order for three weeks and my mother cannot manage the stairs."),
    ("capital", "What is the capital of Mongolia?"),
    ("recipe", "Two cups of flour, one egg, a pinch of salt, water until it holds together. Rest "
     "it for half an hour, roll it thin, cut it into ribbons and boil them for two minutes."),
    ("clause", "Either party may end this agreement with ninety days of written notice. Fees paid "
     "in advance are returned in proportion, except where notice is given because of a breach that "
     "was not remedied within thirty days of being told about it."),
    ("appointment", "Patient asks to move the appointment of 14 May to any afternoon after the "
     "20th. She can also do a call. The referral letter arrived on Monday."),
    ("fever", "My son is four, he has had 39.8 since last night, will not drink and has a rash on "
     "his belly that does not fade when I press a glass on it."),
    ("prize", "CONGRATULATIONS!!! Your number won 2 000 000 in our draw. Reply with your bank "
     "details and a copy of your passport within 24 hours to claim your prize"),
    ("invoice-reminder", "Reminder: invoice 2231 over 480.00 was due on the first. If you have "
     "paid in the meantime please ignore this message."),
    ("meeting", "Anna can do Thursday at 10, Jonas only after 14:00, and I would rather not "
     "travel on Friday. Shall we say Thursday 14:30 in the small room?"),
    ("sensor", "unit 7, bearing temperature 96 C and rising 2 C per minute, vibration 11.4 mm/s, "
     "limit 7.1, operator present"),
    ("match", "The home side led twice and lost in stoppage time. Their coach blamed the travel, "
     "the referee, and the grass, in that order."),
    ("minutes", "Decided: budget approved with two votes against. Open: who signs for the crane. "
     "Postponed: the new logo. Everybody agreed that the coffee machine comes first."),
]

# The same, not in English.
OTHER_LANGUAGES = [
    ("german", "Guten Tag, seit dem letzten Update stürzt die App beim Öffnen der Rechnungen ab. "
     "Ich brauche die Belege bis Freitag für das Finanzamt. Können Sie mir bitte helfen?"),
    ("french", "Bonjour, j'ai été débité deux fois pour la même commande. Je vous ai déjà écrit "
     "lundi, sans réponse. Merci de me rembourser rapidement."),
    ("spanish", "El pedido llegó roto y el mensajero no quiso esperar. ¿Me pueden mandar otro "
     "antes del viernes? Adjunto tres fotos."),
    ("portuguese", "Adorei o atendimento na loja do centro, a vendedora explicou tudo com calma. "
     "Voltarei com certeza!"),
    ("polish", "Proszę o zmianę adresu dostawy na ul. Długa 5, 31-147 Kraków. Paczka jeszcze nie "
     "została wysłana."),
    ("turkish", "Uygulamaya giriş yapamıyorum, şifremi sıfırladım ama e-posta gelmiyor."),
    ("russian", "Здравствуйте! Интернет не работает с утра, роутер перезагружал три раза. Когда "
     "почините?"),
    ("greek", "Θα ήθελα να ακυρώσω την κράτησή μου για τις 3 Ιουνίου."),
    ("arabic", "لم يصلني الطلب رقم 5521 حتى الآن، أرجو الرد اليوم."),
    ("hindi", "मेरे खाते से दो बार पैसे कट गए हैं, कृपया एक राशि वापस करें।"),
    ("japanese", "注文した本がまだ届きません。発送状況を教えてください。"),
    ("korean", "어제 받은 상품이 파손되어 있습니다. 교환 부탁드립니다."),
]

TOPICS = {
    "billing": "charges, refunds, invoices", "access": "login, passwords, accounts",
    "delivery": "parcels, couriers, addresses", "outage": "systems that are down or slow",
    "praise": "thanks and compliments", "complaint": "something went wrong and the writer says so",
    "cancellation": "ending a contract or a booking", "schedule": "dates and appointments",
    "health": "illness, patients, medicine", "cooking": "food and recipes",
    "law": "contracts, clauses, rights", "sport": "games and players",
    "programming": "code to write or to mend", "writing": "letters and texts to word",
    "facts": "a question with one short answer", "machines": "sensors, limits, maintenance",
    "fraud": "somebody tries to cheat the reader", "product": "a review of a thing",
    "meeting": "decisions and minutes", "travel": "hotels, trips, tickets"}
ACTIONS = {"type": "choice", "instructions": "What should happen with this message?",
           "criteria": {"answer now": "a person has to reply at once",
                        "queue": "a person should look at it today or tomorrow",
                        "file": "keep it, nothing to do", "drop": "junk"}}
TONE = {"type": "choice", "instructions": "What is the tone?",
        "criteria": ["angry", "worried", "neutral", "pleased", "joking"]}
LANGUAGE = {"type": "choice", "instructions": "Which language is it written in?",
            "criteria": ["English", "German", "French", "Spanish", "Portuguese", "Polish",
                         "Turkish", "Russian", "Greek", "Arabic", "Hindi", "Japanese", "Korean"]}
PRESSING = {"type": "score", "instructions": "How pressing is it?",
            "criteria": ["not at all", "a little", "clearly", "an emergency"]}
EFFORT = {"type": "score", "instructions": "How much work is it to deal with this?",
          "criteria": ["none", "minutes", "an hour", "a day", "longer"]}
NEEDS_PERSON = {"type": "noul", "instructions": "Does a person have to act on this?"}
ASKS = {"type": "noul", "instructions": "Does the writer ask for something?",
        "criteria": {"true": "there is a request or a question",
                     "false": "it only tells or reports something"}}


def topics(count: int) -> dict:
    """A choice among the first `count` topics."""
    return {"type": "choice", "instructions": "What is it about?",
            "criteria": dict(list(TOPICS.items())[:count])}


def by_text():
    """Every English text with one question of each type; which ones goes round."""
    for at, (name, text) in enumerate(TEXTS):
        yield f"text-{name}", text, {"pick": (ACTIONS, TONE)[at % 2],
                                     "level": (PRESSING, EFFORT)[at // 2 % 2],
                                     "yes": (NEEDS_PERSON, ASKS)[at % 2]}


def by_language():
    for at, (name, text) in enumerate(OTHER_LANGUAGES):
        yield f"language-{name}", text, {"pick": (LANGUAGE, ACTIONS)[at % 2],
                                         "yes": (ASKS, NEEDS_PERSON)[at % 2]}


def by_size():
    """2 to 20 options, 2 to 10 levels, and texts of 8 to 420 words."""
    for count in range(2, 21):
        _, text = TEXTS[count % len(TEXTS)]
        yield f"options-{count}", text, {"pick": topics(count)}
    for count in range(2, 11):
        _, text = TEXTS[(2 * count + 1) % len(TEXTS)]
        levels = [f"{i} of {count - 1}" for i in range(count)]
        yield f"levels-{count}", text, {"level": {
            "type": "score", "instructions": "How satisfied is the writer?", "criteria": levels}}
    words = " ".join(text for _, text in TEXTS).split()
    for count in (8, 16, 32, 64, 96, 128, 192, 256, 320, 420):
        yield f"words-{count}", " ".join(words[count:2 * count]), {"yes": NEEDS_PERSON}


def by_form():
    """States that are no plain text."""
    yield "form-ticket", {"id": 912, "from": "lena@example.org", "priority": "high",
                          "text": TEXTS[3][1], "attachments": ["bill.pdf"], "reopened": True}, {
        "pick": topics(8), "level": PRESSING, "yes": ASKS}
    yield "form-reading", [{"unit": i, "celsius": 60 + 4 * i, "alarm": i > 7}
                           for i in range(1, 11)], {"level": PRESSING, "yes": NEEDS_PERSON}
    yield "form-chat", [{"role": "user", "content": TEXTS[4][1]},
                        {"role": "assistant", "content": "Which browser do you use?"},
                        {"role": "user", "content": "Firefox, then Safari. Same loop."}], {
        "pick": ACTIONS, "yes": NEEDS_PERSON}


def everyday():
    for group in (by_text, by_language, by_size, by_form):
        yield from group()
