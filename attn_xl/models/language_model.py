"""A language model writes on: each new word is computed alone, over the kept keys and values of the
words before it.

Shapes: n words so far; v of the vocabulary; d of an embedding.
Source: kept keys and values as in Shazeer, "Fast Transformer Decoding" (2019), 2.4; a word drawn by its
probability: inverse transform sampling, Devroye, "Non-Uniform Random Variate Generation" (1986), III.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attn_xl.errors import CallError
from attn_xl.graph.functions import (
    NEXT_DRAW,
    at_most,
    best,
    concat,
    counted,
    gather,
    largest,
    repeated,
    running_sum,
    switch,
    when,
    width,
)
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE, Part, Step
from attn_xl.settings import CELLS, Model

from . import recipes, steps
from .attention import Attending, Cache, Weights
from .classify import transformed
from .parts import without_new
from .run import Results, Run, both
from .softmax import softmax
from .transformer import NEXT_WORDS, Predicting, architecture_of, decoder, encoder
from .vocabulary import Vocabulary

CACHE_COLUMNS = ("kept", "computed", "without cache", "saved")
MODULUS = 2**31 - 1
"""Draws are whole numbers below it; see `next_draw`."""


SAMPLE_NOTE = "on: new words are drawn by their probability; off: the most probable one is taken."
MASKED_WORDS = Predicting(steps.FILLED_LOGITS, steps.FILLED_PROBABILITIES, steps.FILLED)
"""The words that belong in each place."""


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
        before = NEXT_DRAW(self.seed + 1) if state is None else state
        state = NEXT_DRAW(before).as_step(steps.STATE, there)
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

    def gives(self, step: Step, part: Part) -> bool:
        return self._weights.gives(step, without_new(part))

    def __contains__(self, name: str) -> bool:
        scope, _, rest = name.partition(".")
        return (rest if scope.rstrip("0123456789") == steps.NEW.symbol else name) in self._weights


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
    table = replace(concat(*parts), columns=CACHE_COLUMNS)
    return table.described("numbers of K and V").as_step(steps.CACHE)


# The model


def build(run: Run, name: str, x: Matrix) -> Results:
    """The probabilities of the next words, or of the masked ones, and the words that are written."""
    output = final(run, x)
    logits, probabilities, *more = next_words(run, output)
    return probabilities, *more, *generated(run, x, logits), output


def build_translation(run: Run, name: str, x: Matrix) -> Results:
    """The words (n, d) of a translation so far; with a vocabulary, the word that comes next in each
    place."""
    return with_next_words(run, final(run, x))


def with_next_words(run: Run, output: Matrix) -> Results:
    """The vectors of words (n, d); with a vocabulary, the words that come next, and the vectors."""
    given = any(step.symbol in run.weights for step in (steps.VOCABULARY, steps.W_U))
    if not given and run.settings.vocabulary == "all":
        return both(output)
    return *next_words(run, output)[1:], output


def next_words(run: Run, x: Matrix, part: Part = WHOLE) -> tuple[Matrix, ...]:
    """Probabilities over the vocabulary after each word, and the most probable words."""
    return run.once(_vocabulary).next_words(x, part, lambda: _finals(run, x))


def _finals(run: Run, x: Matrix) -> list[np.ndarray]:
    """The final vectors of all sentences, of those words whose prediction matters; `x` are those of
    the present sentence."""
    here, found = run.weights.sentence, [_awaited(run, x)]
    for name, other in run.inputs.items():
        if name != here:
            run.weights.sentence = name
            found.append(_awaited(run, final(run, run.positioned(other))))
    run.weights.sentence = here
    return found


def _awaited(run: Run, x: Matrix) -> np.ndarray:
    """The rows of the last word of a language model, or of the masks; of all words of a
    translation, and of a sentence without masks."""
    if run.settings.model.kind is Model.decoder_only:
        return x.values[-1:]
    rows = [row for row, word in enumerate(x.rows) if word in steps.MASK_WORDS]
    return x.values[rows] if rows else x.values


def final(run: Run, x: Matrix) -> Matrix:
    """The vectors (n, d) that a language model compares with the vocabulary."""
    a = run.once(architecture_of)
    if run.settings.model.kind is Model.masked:
        return transformed(encoder(x, a), a, run.settings.transform)
    return decoder(x, run.once(_encoded), a)


def _encoded(run: Run) -> Matrix | None:
    """What the encoder of a translation makes of the other sentence."""
    translated = run.attended if run.settings.model is Model.encoder_decoder else None
    return None if translated is None else encoder(translated, run.once(architecture_of))


def generated(run: Run, x: Matrix, logits: Matrix) -> list[Matrix]:
    """The words that the model writes after a sentence (n, d), one at a time, and what the kept
    keys and values save; nothing without --generate.

    Raises:
        InputError: if the vocabulary has no embeddings, or there are too few learned positions.
    """
    s, cache = run.settings, run.cache
    if s.generate is None or cache is None:
        return []
    if not run.live.whole:
        raise CallError(
            "--generate works with all layers and heads only: what is entered as values has no "
            "rows for new words. Drop --generate, or the choice of layers and heads."
        )
    if s.vocabulary != "all":
        raise CallError(
            f"--generate works with all words only, not with --vocabulary {s.vocabulary}: any of "
            "them may come next. Give --vocabulary all."
        )
    vocabulary = run.once(_vocabulary).embeddings(x)
    choosing, a = run.once(_choosing), run.once(architecture_of)
    state: Matrix | None = None
    results: list[Matrix] = []
    words = list(x.rows)
    for number in range(1, s.generate + 1):
        new, state = new_word(logits, choosing, state, vocabulary, number)
        results.append(word_of(new))
        words.append(new.rows[0])
        so_far = tuple(words)
        own = replace(a.causal or Attending(), cache=cache, first=len(words) - 1)
        own = replace(own, masks=run.scoring.masks_of_new(so_far))
        here = replace(a, weights=SameWeights(a.weights), causal=own)
        y = run.positioned(new, new.part, len(words) - 1)
        made = decoder(y, None, here, new.part)
        logits, probabilities, _ = next_words(run, made, new.part)
        results.append(probabilities)
    return [*results, count_kept(cache, len(x.rows), s.generate)]


def _choosing(run: Run) -> Choosing:
    """How the next word is chosen."""
    s, cell = run.settings, run.scoring.option_of
    sample: bool | Matrix = s.sample
    if s.controls:
        sample = switch(s.sample, CELLS["sample"], SAMPLE_NOTE, sheet=run.scoring.sheet)
    return Choosing(
        sample,
        cell(
            "word_temperature",
            s.word_temperature,
            "the logits are divided by it before a draw.",
        ),
        cell("seed", float(s.seed), "a whole number: where the draws start from."),
    )


def _vocabulary(run: Run) -> Vocabulary:
    masked = run.settings.model.kind is Model.masked
    predicting = MASKED_WORDS if masked else NEXT_WORDS
    return Vocabulary(run.tables, run.weights, run.settings.vocabulary, predicting)
