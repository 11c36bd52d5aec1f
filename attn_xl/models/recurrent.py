"""Recurrent networks: each word's state is computed from the word and the state of the word before.

Shapes: n words, d dimensions of an embedding, h of the hidden state.
"""

from __future__ import annotations

from collections.abc import Callable

from attn_xl.errors import InputError
from attn_xl.graph.functions import activation, concat, sigmoid, tanh
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.recurrence import recurrence
from attn_xl.graph.step import WHOLE, Part, Step
from attn_xl.models import recipes, steps
from attn_xl.settings import Model

from .attention import Weights
from .language_model import with_next_words
from .run import Results, Run


class Gates:
    """The weights of all gates of a layer, in one direction.

    Args:
        letters: the gates, by PyTorch's letters.
        width: the width of the hidden state, if no weights give it.

    Raises:
        InputError: if weights are missing, or gates have different widths.
    """

    def __init__(self, x: Matrix, letters: str, weights: Weights, part: Part, width: int) -> None:
        self.x, self.part, self._source = x, part, weights
        spelled = {letter: self._spelled(letter) for letter in letters}
        known = [x for x in letters if part.name(f"W_{spelled[x]}") in weights]
        w: dict[str, Matrix] = {}
        for letter in [*known, *(letter for letter in letters if letter not in known)]:
            step = steps.from_words(spelled[letter], letter)
            columns = [f"h{j + 1}" for j in range(width)]
            w[letter] = weights.matrix(step, part, x.columns, width, columns)
            if len(w) == 1:
                width = len(w[letter].columns)
            self._check_width(w[letter], width, next(iter(w.values())))
        self.columns = [f"h{j + 1}" for j in range(width)]
        self._w, self._u, self._b = w, dict[str, Matrix](), dict[str, tuple[Matrix | None, ...]]()
        for letter in letters:
            name = spelled[letter]
            step = steps.from_above(name, letter)
            self._u[letter] = weights.matrix(step, part, self.columns, width, self.columns)
            self._check_width(self._u[letter], width, w[letter])
            biases = (steps.bias(name), steps.bias(f"U{name}"))
            self._b[letter] = tuple(weights.row(one, part, self.columns) for one in biases)

    def _spelled(self, letter: str) -> str:
        """The letter that the names of given weights have for a gate."""
        for other in steps.SPELLINGS.get(letter, ()):
            if self.part.name(f"W_{other}") in self._source:
                return other
        return letter

    def _check_width(self, one: Matrix, width: int, other: Matrix) -> None:
        if len(one.columns) != width:
            raise InputError(
                f"{one.name} is {len(one.rows)} x {len(one.columns)}, but needs {width} columns, as "
                f"many as "
                f"{other.name}: one for each number of the hidden state."
            )

    def initial(self, step: Step) -> Matrix:
        """The row before the first: given, or zeros."""
        row = self._source.row(step, self.part, self.columns)
        assert row is not None
        return row

    def from_word(self, letter: str) -> Matrix:
        """x W + b."""
        return _plus(self.x @ self._w[letter], self._b[letter][0])

    def from_above(self, letter: str, h: Matrix) -> Matrix:
        """h U + b_U: PyTorch has a second bias."""
        return _plus(h @ self._u[letter], self._b[letter][1])

    def of(self, letter: str, h: Matrix) -> Matrix:
        """x W + h U + b."""
        total = self.x @ self._w[letter] + h @ self._u[letter]
        return _plus(_plus(total, self._b[letter][0]), self._b[letter][1])


def _plus(x: Matrix, bias: Matrix | None) -> Matrix:
    return x if bias is None else x + bias


def rnn(gates: Gates, reverse: bool, nonlinearity: str = "tanh") -> Matrix:
    """h_t = tanh(x_t W + h_(t-1) U + b), or ReLU in place of tanh: (n, d) to (n, h).

    Source: Elman, "Finding Structure in Time" (1990); as `torch.nn.RNN`.
    """
    step = steps.HIDDEN_STATE if nonlinearity == "tanh" else steps.HIDDEN_STATE.by(recipes.RECTIFIED)

    def body(h: Matrix) -> list[Matrix]:
        total = gates.of("h", h)
        made = tanh(total) if nonlinearity == "tanh" else activation(total, "relu")
        return [made.as_step(step, gates.part)]

    states = [(gates.part.name(step.symbol), gates.initial(steps.H_0))]
    return recurrence(gates.x.rows, states, body, reverse=reverse)[0]


def lstm(gates: Gates, reverse: bool) -> Matrix:
    """i, f, o = σ(x_t W + h_(t-1) U + b), g = tanh(...), c_t = f · c_(t-1) + i · g,
    h_t = o · tanh(c_t): (n, d) to (n, h).

    Source: Hochreiter, Schmidhuber, "Long Short-Term Memory" (1997); with the forget gate of Gers,
    Schmidhuber, Cummins, "Learning to Forget" (2000); as `torch.nn.LSTM`.
    """
    part = gates.part

    def body(h: Matrix, c: Matrix) -> list[Matrix]:
        f = sigmoid(gates.of("f", h)).as_step(steps.FORGET, part)
        i = sigmoid(gates.of("i", h)).as_step(steps.INPUT_GATE, part)
        g = tanh(gates.of("g", h)).as_step(steps.CANDIDATE, part)
        cell = (f * c + i * g).as_step(steps.CELL, part)
        o = sigmoid(gates.of("o", h)).as_step(steps.OUTPUT_GATE, part)
        return [(o * tanh(cell)).as_step(steps.SHOWN, part), cell]

    states = [
        (part.name(steps.HIDDEN_STATE.symbol), gates.initial(steps.H_0)),
        (part.name(steps.CELL.symbol), gates.initial(steps.C_0)),
    ]
    return recurrence(gates.x.rows, states, body, reverse=reverse)[0]


def gru(gates: Gates, reverse: bool, reset: str = "after", update: str = "old") -> Matrix:
    """r, z = σ(x_t W + h_(t-1) U + b), n = tanh(x_t W + b + r · (h_(t-1) U + b)),
    h_t = (1 - z) · n + z · h_(t-1): (n, d) to (n, h).

    Args:
        reset: "before" for n = tanh(x_t W + b + (r · h_(t-1)) U), as in the paper.
        update: "new" for h_t = z · n + (1 - z) · h_(t-1), as in many textbooks.

    Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder" (2014); by default
    as `torch.nn.GRU`. The other update: Chung et al., "Empirical Evaluation of Gated Recurrent Neural
    Networks on Sequence Modeling" (2014), 3.2.
    """
    part, before, of_new = gates.part, reset == "before", update == "new"

    def body(h: Matrix) -> list[Matrix]:
        r, z = sigmoid(gates.of("r", h)), sigmoid(gates.of("z", h))
        r = r.as_step(steps.RESET_BEFORE if before else steps.RESET, part)
        z = z.as_step(steps.UPDATE_NEW if of_new else steps.UPDATE, part)
        if before:
            above = gates.from_above("n", (r * h).as_step(steps.RESET_STATE, part))
        else:
            above = r * gates.from_above("n", h)
        step = steps.NEW_STATE_AFTER_RESET if before else steps.NEW_STATE
        new = tanh(gates.from_word("n") + above).as_step(step, part)
        if of_new:
            return [(z * new + (1 - z) * h).as_step(steps.BLENDED_NEW, part)]
        return [((1 - z) * new + z * h).as_step(steps.BLENDED, part)]

    states = [(part.name(steps.HIDDEN_STATE.symbol), gates.initial(steps.H_0))]
    return recurrence(gates.x.rows, states, body, reverse=reverse)[0]


LETTERS = {rnn: "h", lstm: "ifgo", gru: "rzn"}


def recurrent(
    x: Matrix,
    network: Callable[..., Matrix],
    weights: Weights,
    *,
    layers: int = 1,
    bidirectional: bool = False,
    width: int | None = None,
    **options: str,
) -> Matrix:
    """Layers of a recurrent network, (n, d) to (n, h); read in both directions, (n, 2h).

    Args:
        x: embeddings, (n, d).
        network: `rnn`, `lstm` or `gru`.
        weights: `W_f` (d, h), `U_f` (h, h), optional `b_f` (1, h) and so on for each gate; `h_0` and
            `c_0`, (1, h), or zeros. In several layers `Layer1.W_f`, in both directions `Forward.W_f`.
        width: h, if no weights give it; d if None.
        options: further options of the network.

    Raises:
        InputError: if weights are missing or do not fit.
    """
    letters = LETTERS[network]
    for layer in range(1, layers + 1):
        part = WHOLE.within(steps.LAYER._replace(layer=layer)) if layers > 1 else WHOLE
        size = width or len(x.columns)
        if not bidirectional:
            x = network(Gates(x, letters, weights, part, size), False, **options)
            continue
        if layer == 1:
            width = size
        directions = [(steps.FORWARD, False), (steps.BACKWARD, True)]
        both = [
            network(Gates(x, letters, weights, part.within(scope), size), reverse, **options)
            for scope, reverse in directions
        ]
        x = concat(*both).as_step(steps.BOTH, part)
    return x


def build_rnn(run: Run, name: str, x: Matrix) -> Results:
    return with_next_words(run, _of_sentence(run, rnn, x, nonlinearity=run.settings.nonlinearity.value))


def build_lstm(run: Run, name: str, x: Matrix) -> Results:
    return with_next_words(run, _of_sentence(run, lstm, x))


def build_gru(run: Run, name: str, x: Matrix) -> Results:
    gates = {"reset": run.settings.reset.value, "update": run.settings.update.value}
    return with_next_words(run, _of_sentence(run, gru, x, **gates))


def _of_sentence(run: Run, network: Callable[..., Matrix], x: Matrix, **options: str) -> Matrix:
    """A recurrent network over one sentence."""
    s, width = run.settings, run.settings.hidden
    last = steps.W_C if s.model.kind is Model.classify else steps.W_U
    reads = run.tables.weights.get(last.symbol)
    if reads is not None:
        width = width or reads.shape[0] // (1 + s.bidirectional)
    return recurrent(
        x, network, run.weights, layers=s.layers, bidirectional=s.bidirectional, width=width,
        **options,
    )  # fmt: skip
