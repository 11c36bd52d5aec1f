"""The words that a language model chooses the next word from: all of them, or some, with the others
counted as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from attn_xl.errors import InputError
from attn_xl.graph.given import given_step
from attn_xl.graph.matrix import Matrix, foresees, inside
from attn_xl.graph.step import WHOLE, Part
from attn_xl.tables.survey import Table, Tables
from attn_xl.text import count

from . import steps
from .transformer import NEXT_WORDS, Predicting, next_words
from .weights import SheetWeights

AT_ONCE = 8192
"""Words whose logits are computed at once; their embeddings take memory."""
Numbers = NDArray[np.float64]


class Vocabulary:
    """The last weights of a language model: `W_U`, or the embeddings on the sheet `Vocabulary`.

    Args:
        shown: `all`; `used`, for the words of the sentences; or `top:50`, for the most probable ones
            after each sentence.
        predicting: the steps of the results.
    """

    def __init__(
        self,
        tables: Tables,
        weights: SheetWeights,
        shown: str,
        predicting: Predicting = NEXT_WORDS,
    ) -> None:
        self._predicting = predicting
        self._tables, self._weights, self._shown = tables, weights, shown
        self._embeddings: Matrix | None = None
        self._columns: Matrix | None = None
        self._bias: Matrix | None = None
        self._chosen: list[int] = []

    def next_words(
        self, x: Matrix, part: Part = WHOLE, finals: Callable[[], Sequence[Numbers]] = list
    ) -> tuple[Matrix, ...]:
        """The probabilities of the words after each word of x (n, d), and the most probable ones.

        Args:
            finals: returns the final vectors (k, d) of all sentences whose most probable words are
                shown.

        Raises:
            InputError: if there is no vocabulary, or it does not fit.
        """
        table, b_u = self._table(x), steps.BIASES[steps.W_U]
        others = self._weights.entered(steps.OTHER_WORDS, part)
        turned = steps.W_U.symbol in self._weights
        words = self._words(table, turned)
        bias = self._weights.row(b_u, WHOLE, words)
        if others is None and self._shown != "all":
            self._chosen = self._chosen or self._choice(table, turned, words, finals())
            if len(self._chosen) < len(words):
                others = self._others(x, table, turned, bias, part)
                words = tuple(words[i] for i in self._chosen)
                if bias is not None:
                    bias = self._bias = self._bias or self._shown_of(bias, words)
        if not turned:
            if self._embeddings is None:
                values = self._values(table, turned)
                with inside():  # no sentence: all share it
                    self._embeddings = given_step(values, words, table.columns, steps.VOCABULARY)
            return self._predicted(x, self._embeddings, None, bias, others, part)
        if not self._chosen:
            w_u = self._weights.matrix(steps.W_U, WHOLE, x.columns, len(words), words)
            return self._predicted(x, None, w_u, bias, others, part)
        if self._columns is None:
            values = self._values(table, turned).T
            self._columns = given_step(values, x.columns, words, steps.W_U)
        return self._predicted(x, None, self._columns, bias, others, part)

    def _shown_of(self, bias: Matrix, words: Sequence[str]) -> Matrix:
        """The bias (1, v) of the shown words."""
        with inside():  # no sentence: all share it
            step = steps.BIASES[steps.W_U]
            return given_step(bias.values[:, self._chosen], bias.rows, words, step)

    def _predicted(
        self,
        x: Matrix,
        vocabulary: Matrix | None,
        w_u: Matrix | None,
        b_u: Matrix | None,
        others: Matrix | None,
        part: Part,
    ) -> tuple[Matrix, ...]:
        return next_words(x, vocabulary, w_u, b_u, others, part, self._predicting)

    def embeddings(self, x: Matrix) -> Matrix:
        """The embedding of every word, (v, d), for a model that writes on after x (n, d).

        Raises:
            InputError: if they are not given, or have another width.
        """
        table = self._tables.weights.get(steps.VOCABULARY.symbol)
        if table is None:
            raise InputError(
                f"{self._tables.path}: the sheet Vocabulary is missing: --generate needs the embedding "
                "of each word that the model may write, one word per row."
            )
        if table.shape[1] != len(x.columns):
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: Vocabulary has "
                f"{count(table.shape[1], 'column')}, "
                f"but --generate needs {count(len(x.columns), 'dimension')}, as the sentences have."
            )
        if self._embeddings is None:
            values = np.asarray(table.values, np.float64)
            self._embeddings = given_step(values, table.rows, table.columns, steps.VOCABULARY)
        return self._embeddings

    def _table(self, x: Matrix) -> Table:
        """The table of the last weights."""
        weights, d = self._tables.weights, len(x.columns)
        words = weights.get(steps.VOCABULARY.symbol)
        if words is not None:
            self._weights.used.add(words.name)
        if steps.W_U.symbol in self._weights:
            w_u = weights.get(steps.W_U.symbol)
            assert w_u is not None
            if words is not None and len(words.rows) != len(w_u.columns):
                raise InputError(
                    f"{words.file}, sheet {words.sheet!r}: Vocabulary has "
                    f"{count(len(words.rows), 'word')}, but W_U {count(len(w_u.columns), 'column')}. "
                    "Give W_U a column for each word."
                )
            return w_u
        if words is None:
            raise InputError(
                f"{self._tables.path}: the sheet Vocabulary is missing: one word per row, with "
                f"its embedding in {count(d, 'dimension')}, as in the sentences. Or give W_U, with one "
                "word per column."
            )
        if words.shape[1] != d:
            raise InputError(
                f"{words.file}, sheet {words.sheet!r}: Vocabulary is {words.shape[0]} x "
                f"{words.shape[1]}, but the sentences have {count(d, 'dimension')}."
            )
        return words

    def _words(self, table: Table, turned: bool) -> tuple[str, ...]:
        if not turned:
            return table.rows
        words = self._tables.weights.get(steps.VOCABULARY.symbol)
        return words.rows if words is not None and not table.labelled[1] else table.columns

    def _values(self, table: Table, turned: bool) -> Numbers:
        """The vectors of the shown words, (v, d)."""
        shape = len(self._chosen) or table.shape[turned], table.shape[not turned]
        if foresees():
            return np.broadcast_to(1.0, shape)
        values = table.values.T if turned else table.values
        return np.asarray(values[self._chosen] if self._chosen else values, np.float64)

    def _logits(self, x: Numbers, table: Table, turned: bool, bias: Matrix | None) -> Numbers:
        """The logits of all words, (n, v)."""
        values = table.values.T if turned else table.values
        made = [
            x @ np.asarray(values[start : start + AT_ONCE], np.float64).T
            for start in range(0, len(values), AT_ONCE)
        ]
        logits = np.hstack(made)
        return logits if bias is None else logits + bias.values

    def _choice(
        self, table: Table, turned: bool, words: Sequence[str], finals: Sequence[Numbers]
    ) -> list[int]:
        """The numbers of the words to show."""
        if self._shown == "used":
            there = dict.fromkeys(word for one in self._tables.sentences.values() for word in one.rows)
            places = {word: number for number, word in reversed([*enumerate(words)])}
            return [places[word] for word in there if word in places] or [0]
        most = min(int(self._shown.partition(":")[2]), len(words))
        if foresees():
            return [*range(most)]
        bias = self._weights.row(steps.BIASES[steps.W_U], WHOLE, words)
        last = np.vstack(finals)
        best = np.argsort(-self._logits(last, table, turned, bias), axis=1, kind="stable")[:, :most]
        return list(dict.fromkeys(int(number) for row in best for number in row))

    def _others(self, x: Matrix, table: Table, turned: bool, bias: Matrix | None, part: Part) -> Matrix:
        """The logarithm of the sum of the exponentials of all other words' logits, (n, 1)."""
        if foresees():
            values = np.broadcast_to(1.0, (len(x.rows), 1))
        else:
            logits = self._logits(x.values, table, turned, bias)
            logits[:, self._chosen] = -np.inf
            largest = logits.max(axis=1, keepdims=True)
            values = largest + np.log(np.exp(logits - largest).sum(axis=1, keepdims=True))
        return given_step(values, x.rows, [steps.ALL_OTHERS], steps.OTHER_WORDS, part)
