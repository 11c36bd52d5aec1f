"""Makes samples/vectors.txt, small word vectors in the format of GloVe: python samples/make_vectors.py

The numbers are made up, not learned: each word has its share of eight meanings, and a little noise.
Only which words are alike resembles real vectors.
"""

from __future__ import annotations

import random
from pathlib import Path

MEANINGS = ("animal", "machine", "place", "politics", "idea", "royal", "female", "grammar")
GRAMMAR = ("the", "a", "and", "or", "of", "in", "on", "is", "are", "was", "to", "with")
WORDS: dict[str, dict[str, float]] = {
    "grammar": dict.fromkeys(GRAMMAR, 1.0),
    "animal": {"cat": 1.0, "dog": 1.0, "mouse": 0.7, "horse": 0.9, "bird": 0.9, "milk": 0.4},
    "machine": {"computer": 1.0, "keyboard": 1.0, "screen": 0.9, "software": 0.9, "engine": 0.8},
    "place": {"florida": 1.0, "california": 1.0, "texas": 1.0, "ohio": 0.9, "river": 0.5, "house": 0.4},
    "politics": {"politics": 1.0, "election": 1.0, "president": 0.8, "senate": 0.9, "vote": 0.8},
    "idea": {"truth": 1.0, "freedom": 0.9, "justice": 0.8, "love": 0.8, "knowledge": 0.9},
    "royal": {"king": 1.0, "queen": 1.0, "prince": 0.9, "princess": 0.9, "castle": 0.6},
    "female": {"woman": 1.0, "girl": 0.9, "mother": 0.9, "actress": 0.7},
}
ALSO = {
    "mouse": {"machine": 0.6},
    "engine": {"animal": 0.1},
    "river": {"animal": 0.2},
    "castle": {"place": 0.5},
    "house": {"politics": 0.3},
    "texas": {"politics": 0.2},
    "president": {"royal": 0.3},
    "justice": {"politics": 0.4},
    "freedom": {"politics": 0.3},
    "queen": {"female": 0.9},
    "princess": {"female": 0.9},
}


def lines() -> list[str]:
    """A word and its numbers each, the little words first, as in files that are sorted by frequency."""
    draw = random.Random(1)
    made = []
    for meaning, words in WORDS.items():
        for word, share in words.items():
            shares = {meaning: share} | ALSO.get(word, {})
            numbers = (shares.get(one, 0.0) + draw.gauss(0, 0.06) for one in MEANINGS)
            made.append(f"{word} {' '.join(f'{number:.4f}' for number in numbers)}\n")
    return made


if __name__ == "__main__":
    path = Path(__file__).with_name("vectors.txt")
    path.write_text("".join(lines()), encoding="utf-8", newline="\n")
