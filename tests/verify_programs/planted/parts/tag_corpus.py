"""Reads sentences in the CoNLL manner: a word and its tag on each line."""

TRAIN = """\
Ada PER
flew O
to O
London LOC

Acme ORG
hired O
Grace PER
in O
March DATE

the O
Volga RIVER
froze O
on O
Monday DATE

Turing PER
left O
Cambridge LOC
for O
Bletchley LOC
"""

DEV = """\
Danube RIVER
flows O
past O
Vienna LOC

Nokia ORG
paid O
9 MONEY
"""


def sentences(text):
    found, words = [], []
    for line in text.splitlines() + [""]:
        if line.strip():
            words.append(tuple(line.split()))
        elif words:
            found.append(words)
            words = []
    return found


def tags_of(corpus):
    return {tag for sentence in corpus for _, tag in sentence}


def words_of(corpus):
    return sorted({word.lower() for sentence in corpus for word, _ in sentence})
