"""A language model writes on: each new word is computed alone, over the kept keys and values of the
words before it.

Shapes: n words so far; v of the vocabulary; d of an embedding.
Source: kept keys and values as in Shazeer, "Fast Transformer Decoding" (2019), 2.4; a word drawn by its
probability: inverse transform sampling, Devroye, "Non-Uniform Random Variate Generation" (1986), III.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attn_xl.graph.functions import (
    at_most,
    best,
    concat,
    counted,
    gather,
    largest,
    next_draw,
    repeated,
    running_sum,
    when,
    width,
)
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE, Part, Step

from . import recipes, steps
from .attention import Cache, Weights
from .softmax import softmax

CACHE_COLUMNS = ("kept", "computed", "without cache", "saved")
MODULUS = 2**31 - 1
"""Draws are whole numbers below it; see `next_draw`."""


@dataclass(frozen=True, eq=False, repr=False)
class Choosing:
    """How the next word is chosen.

    Attributes:
        sample: whether it is drawn by its probability, instead of being the most probable one; a switch
            cell if a reader can change it.
        temperature: the scalar that divides the logits before a word is drawn.
        seed: the scalar that the draws start from.
    """

    sample: bool | Matrix
    temperature: Matrix
    seed: Matrix

    def choose(self, logits: Matrix, state: Matrix | None, part: Part) -> tuple[Matrix, Matrix | None]:
        """A row (1, v) with 1 at the chosen word, 0 elsewhere, and the scalar that its draw was made
        of, which follows `state`; None where nothing is drawn."""
        if self.sample is False:
            return largest(logits).as_step(steps.DRAWN.by(recipes.FIRST_LARGEST), part), None
        there = part.within(steps.DRAWING)
        tempered = (logits / self.temperature).as_step(steps.TEMPERED_LOGITS, there)
        chances = softmax(tempered).as_step(steps.CHANCES_OF_WORDS, there)
        wheel = running_sum(chances).as_step(steps.WHEEL, there)
        before = next_draw(self.seed + 1) if state is None else state
        state = next_draw(before).as_step(steps.STATE, there)
        draw = (state / MODULUS).as_step(steps.DRAW, there)
        beyond = (1 - at_most(wheel, draw)).as_step(steps.BEYOND, there)
        if not isinstance(self.sample, Matrix):
            return largest(beyond).as_step(steps.DRAWN.by(recipes.FIRST_LARGEST), part), state
        drawn = largest(beyond).as_step(steps.DRAWN_ONE, there)
        likeliest = largest(logits).as_step(steps.LIKELIEST, part)
        return when(self.sample, drawn, likeliest).as_step(steps.DRAWN, part), state


class SameWeights(Weights):
    """The weights of a model, the same for each new word."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def matrix(
        self, step: Step, part: Part, rows: Sequence[str], width: int, columns: Sequence[str] = ()
    ) -> Matrix:
        return self._weights.matrix(step, without_new(part), rows, width, columns)

    def row(self, step: Step, part: Part, columns: Sequence[str]) -> Matrix | None:
        return self._weights.row(step, without_new(part), columns)

    def __contains__(self, name: str) -> bool:
        scope, _, rest = name.partition(".")
        return (rest if scope.rstrip("0123456789") == steps.NEW.symbol else name) in self._weights


def without_new(part: Part) -> Part:
    """The same place in the model that reads the first words."""
    return replace(part, scopes=tuple(s for s in part.scopes if s.symbol != steps.NEW.symbol))


def new_word(
    logits: Matrix, choosing: Choosing, state: Matrix | None, vocabulary: Matrix, number: int
) -> tuple[Matrix, Matrix | None]:
    """The embedding (1, d) of the word that follows, by the logits after the last word (n, v), and the
    state of the draws. `number` counts the new words from 1."""
    part, label = WHOLE.within(steps.NEW._replace(layer=number)), f"new {number}"
    last = gather([(logits, len(logits.rows) - 1)], [label]).as_step(steps.LAST_LOGITS, part)
    row, state = choosing.choose(last, state, part)
    return (row @ vocabulary).as_step(steps.NEW_INPUT, part), state


def word_of(embedding: Matrix) -> Matrix:
    """The word (1, 1) whose embedding this is."""
    chosen = embedding.parents[0]
    assert isinstance(chosen, Matrix)
    return best(chosen).as_step(steps.NEW_WORD, embedding.part)


def count_kept(cache: Cache, words: int, new: int) -> Matrix:
    """(new, 4): for each new word the numbers of keys and values that are kept, computed with the
    cache, computed without it, and saved.

    Args:
        words: the number of first words.
        new: the number of new words.
    """
    kept = [matrix for pairs in cache.kept.values() for matrix in pairs[0]]
    per_word = width(kept[0])
    for matrix in kept[1:]:
        per_word = per_word + width(matrix)
    per_word = per_word.as_step(steps.CACHED_PER_WORD)
    rows = [f"new {number}" for number in range(1, new + 1)]
    so_far = counted(words + 1, rows).as_step(steps.WORDS_SO_FAR)
    parts = [so_far * per_word, repeated(per_word, rows), so_far * per_word, (so_far - 1) * per_word]
    table = replace(concat(parts), columns=CACHE_COLUMNS)
    return table.described("numbers of K and V").as_step(steps.CACHE)
