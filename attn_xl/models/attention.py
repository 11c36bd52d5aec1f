"""Attention as in the paper, one short function per step.

Shapes: n words; d dimensions of an embedding; d_k of queries and keys; d_v of values.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2; equation (1) is
Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from attn_xl.errors import InputError, wrong_type
from attn_xl.graph.functions import (
    Sinusoid,
    additive,
    columns,
    concat,
    copy,
    gather,
    mask,
    masked,
    row_sum,
    sqrt,
    when,
    width,
)
from attn_xl.graph.given import check_matrices
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE, Part, Scope, Step
from attn_xl.records import record
from attn_xl.settings import COMPARE

from . import recipes, steps
from .parts import COMPARISON
from .softmax import softmax

if TYPE_CHECKING:
    from .relative import Alibi, Rotary

Dropout = Callable[[Matrix, Step, Part], "tuple[Matrix, Matrix]"]
"""Returns, for a matrix and as a step of a part, a mask of zeros and ones of its shape, and p."""


class Weights:
    """Source of the learned weights of a model.

    Attributes:
        heads_as_sheets: whether the columns that belong to a head form a matrix of their own.
    """

    heads_as_sheets: bool = False

    def matrix(
        self, step: Step, part: Part, rows: Sequence[str], width: int, columns: Sequence[str] = ()
    ) -> Matrix:
        """Weights, one row for each of `rows`. `width` is the number of columns of generated weights;
        `columns` are the labels of weights without labels."""
        raise NotImplementedError

    def row(self, step: Step, part: Part, columns: Sequence[str]) -> Matrix | None:
        """A single row, such as a bias, or None if it is not given."""
        raise NotImplementedError

    def entered(self, step: Step, part: Part) -> Matrix | None:
        """The values that stand for a step that is not written, or None if they are not given."""
        return None

    def __contains__(self, name: str) -> bool:
        raise NotImplementedError

    def gives(self, step: Step, part: Part) -> bool:
        """Whether weights are given or generated."""
        return part.name(step.symbol) in self

    def named(self, name: str) -> bool:
        """Whether there are weights of exactly this name, not only some that serve several parts."""
        return name in self


class Cache:
    """The keys and values of the words so far, (m, d_k) and (m, d_v), of each head of each layer.

    Attributes:
        kept: by the place of the keys in the model: those of the first words, then of each new word.
    """

    def __init__(self) -> None:
        self.kept: dict[Part, list[tuple[Matrix, Matrix]]] = {}

    def extended(self, k: Matrix, v: Matrix) -> list[tuple[Matrix, Matrix]]:
        """The keys and values so far, and these, which are kept from now on: once by heads that share
        them."""
        place = replace(k.part, scopes=tuple(s for s in k.part.scopes if s.symbol != steps.NEW.symbol))
        kept = self.kept.setdefault(place, [])
        if not kept or kept[-1][0] is not k:
            kept.append((k, v))
        return kept


@record(frozen=True, eq=False, repr=False)
class Attending:
    """How the scores become weights.

    Attributes:
        scale: whether to divide the scores by √d_k; a switch cell if a reader can change it.
        additive: the row v (1, d_k) of additive scores, v · tanh(q + k), in place of dot products.
        temperature: a scalar that also divides the scores.
        normalize: "softmax", or "sum": divide each row by its plain sum.
        maximum: whether the softmax subtracts the row's maximum.
        masks: matrices to add to the scores, (n, m) or (1, m) each; or a function that returns them for
            the words of the rows, the words of the columns and the part of the model.
        dropout: sets some of the weights to 0.
        rotary: positions that turn queries and keys.
        alibi: penalties on the distance of words.
        kept: the cell that keeps or removes what a head gives, for the part of a head.
        cache: keeps the keys and values of earlier words, while a model writes.
        first: the place of the first word that looks, from 0.
    """

    scale: bool | Matrix = True
    additive: Matrix | None = None
    temperature: Matrix | None = None
    normalize: Literal["softmax", "sum"] = "softmax"
    maximum: bool = True
    masks: Sequence[Matrix] | Callable[[Sequence[str], Sequence[str], Part], Sequence[Matrix]] = ()
    dropout: Dropout | None = None
    rotary: Rotary | None = None
    alibi: Alibi | None = None
    kept: Callable[[Part], Matrix] | None = None
    cache: Cache | None = None
    first: int = 0

    def prepared(self, x: Matrix, part: Part) -> Matrix:
        """Queries or keys (n, d_k), turned by their positions if these are rotary."""
        if self.rotary is not None:
            step = steps.ROTATED_QUERIES if x.is_step(steps.QUERIES) else steps.ROTATED_KEYS
            x = self.rotary.rotated(x, step, part, self.first)
        return x

    def context(self, k: Matrix, v: Matrix) -> tuple[list[Matrix], list[Matrix]]:
        """The keys and values to attend to: those of earlier words, if a cache has them, and these."""
        pairs = self.cache.extended(k, v) if self.cache else [(k, v)]
        return [k for k, _ in pairs], [v for _, v in pairs]

    def scores(self, q: Matrix, keys: Sequence[Matrix], part: Part) -> Matrix:
        """Q Kᵀ, (n, m), with the keys in one or several matrices; or additive scores.

        Source: Bahdanau, Cho, Bengio, "Neural Machine Translation by Jointly Learning to Align and
        Translate" (2015), A.1.2.
        """
        if self.additive is not None:
            return additive(q, keys[0], self.additive).as_step(steps.SCORES_ADDITIVE, part)
        if len(keys) == 1:
            return (q @ keys[0].T).as_step(steps.SCORES, part)
        scores = concat(*(q @ k.T for k in keys)).described(f"{q.name} × kept Kᵀ")
        return scores.as_step(steps.SCORES, part)

    def between(self, rows: Sequence[str], columns: Sequence[str], part: Part) -> Attending:
        """A copy with the masks for these words, which all heads share."""
        return replace(self, masks=self.masks(rows, columns, part)) if callable(self.masks) else self

    def scaled(self, scores: Matrix, k: Matrix, part: Part) -> Matrix:
        """The scores (n, m) divided by √d_k and the temperature, where these are set."""
        d_k = width(k).as_step(steps.KEY_WIDTH, part)
        if isinstance(self.scale, Matrix):
            divisor = when(self.scale, sqrt(d_k), 1)
            if self.temperature is not None:
                divisor = divisor * self.temperature
            return (scores / divisor.as_step(steps.DIVISOR, part)).as_step(steps.DIVIDED, part)
        if self.temperature is None:
            return (scores / sqrt(d_k)).as_step(steps.SCALED, part) if self.scale else scores
        if self.scale:
            tempered = steps.TEMPERED.by(recipes.SCALE_AND_TEMPER)
            return (scores / sqrt(d_k) / self.temperature).as_step(tempered, part)
        return (scores / self.temperature).as_step(steps.TEMPERED, part)

    def biased(self, scores: Matrix, part: Part) -> Matrix:
        """The scores (n, m), lowered by the distance of the words if positions are ALiBi's."""
        return scores if self.alibi is None else self.alibi.biased(scores, part, self.first)

    def masked(self, scores: Matrix, part: Part) -> Matrix:
        """The scores (n, m) plus the masks."""
        masks = self.between(scores.rows, scores.columns, part).masks
        assert not callable(masks)
        return masked(scores, masks).as_step(steps.MASKED, part) if masks else scores

    def normalized(self, scores: Matrix, part: Part = WHOLE) -> Matrix:
        """The weights (n, m) of the scores; each row sums to 1.

        Raises:
            InputError: if the plain sum of a row is 0.
        """
        if self.normalize == "softmax":
            return softmax(scores, maximum=self.maximum).as_step(steps.SOFTMAX, part)
        total = row_sum(scores).as_step(steps.PLAIN_SUM)
        for word, number in zip(scores.rows, total.values[:, 0]):
            if not number:
                raise InputError(
                    f"the scores of {word!r} add up to 0, so they cannot be divided by it. Change its "
                    "numbers, or use --normalize softmax."
                )
        return (scores / total).as_step(steps.SHARES, part)

    def dropped(self, weights: Matrix, part: Part) -> Matrix:
        """The weights (n, m) with some set to 0, as in training."""
        return dropped(weights, self.dropout, steps.DROPOUT_MASK, steps.DROPPED, part)

    def switched(self, output: Matrix, step: Step, part: Part) -> Matrix:
        """The output (n, d_v) as a step, times the cell that keeps or removes it, if there is one."""
        if self.kept is None:
            return output.as_step(step, part)
        return (output * self.kept(part)).as_step(steps.SWITCHED_OUTPUT, part)


def scaled_dot_product_attention(
    q: Matrix,
    k: Matrix,
    v: Matrix,
    *,
    attending: Attending | None = None,
    part: Part = WHOLE,
) -> Matrix:
    """softmax(Q Kᵀ / √d_k + Mask) V, with a name for each step.

    Args:
        q: queries, (n, d_k).
        k: keys, (m, d_k).
        v: values, (m, d_v).
        attending: how the scores become weights; scaling and softmax if None.
        part: the layer and head that the steps belong to.

    Returns:
        The output, (n, d_v).

    Raises:
        ValueError: if the shapes do not fit.
        InputError: if a number exceeds what a spreadsheet holds, or a score what a mask can hide.

    Example:
        >>> import attn_xl
        >>> q = attn_xl.given([[1, 0]], ["cat"], ["a", "b"], "Q")
        >>> k = attn_xl.given([[1, 0], [0, 2]], ["the", "mat"], ["a", "b"], "K")
        >>> plain = attn_xl.Attending(scale=False)
        >>> attn_xl.scaled_dot_product_attention(q, k, k, attending=plain)
        Output = Softmax × K, 1 x 2
                 a      b
        cat  0.731  0.538

    Source: Vaswani et al. (2017), equation (1); dropout of the weights as in 5.4.
    """
    check_matrices(q=q, k=k, v=v)
    how = attending or Attending()
    keys, values = how.context(k, v)
    scores = how.scores(q, keys, part)  # (n, m)
    how = how.between(q.rows, scores.columns, part)
    scaled = how.scaled(scores, k, part)  # (n, m)
    biased = how.biased(scaled, part)
    masked = how.masked(biased, part)
    weights = how.normalized(masked, part)  # (n, m)
    weights = how.dropped(weights, part)
    output = steps.OUTPUT if len(values) == 1 else steps.OUTPUT_KEPT
    return how.switched(_mixed(weights, values), output, part)  # (n, d_v)


def _mixed(weights: Matrix, values: Sequence[Matrix]) -> Matrix:
    """A V, (n, d_v): the weights A (n, m) times the values, which are in one or several matrices."""
    if len(values) == 1:
        return weights @ values[0]
    total: Matrix | None = None
    start = 0
    for v in values:
        own = columns(weights, start, start + len(v.rows))
        mixed = own @ v if len(v.rows) > 1 else own * v
        total = mixed if total is None else total + mixed
        start += len(v.rows)
    assert total is not None
    return total.described(f"{weights.name} × kept V")


def self_attention(
    x: Matrix,
    w_q: Matrix | None = None,
    w_k: Matrix | None = None,
    w_v: Matrix | None = None,
    *,
    biases: Sequence[Matrix | None] = (None, None, None),
    memory: Matrix | None = None,
    attending: Attending | None = None,
) -> Matrix:
    """Let every word of a sentence attend to all its words, or to those of another (cross-attention).

    Without its weights, a projection leaves the embeddings unchanged, so without any weights
    Q = K = V = Input.

    Args:
        x: embeddings, (n, d), one word per row.
        w_q, w_k: (d, d_k) each.
        w_v: (d, d_v).
        biases: rows to add to Q, K and V, (1, d_k), (1, d_k), (1, d_v).
        memory: the embeddings, (m, d'), for the keys and values; x if None.
        attending: how the scores become weights; scaling and softmax if None.

    Returns:
        The output, (n, d_v); `Graph(output)` maps every step by name.

    Raises:
        ValueError: if the shapes do not fit.
        InputError: if a number exceeds what a spreadsheet holds.

    Example:
        >>> import attn_xl
        >>> x = attn_xl.given([[1, 0], [0, 2]], ["cat", "sat"], ["a", "b"], "Input")
        >>> attn_xl.self_attention(x)
        Output = Softmax × V, 2 x 2
                 a      b
        cat  0.670  0.660
        sat  0.056  1.888

    Source: Vaswani et al. (2017), 3.2.1; the projections as in 3.2.2 with one head.
    """
    check_matrices(x=x, w_q=w_q, w_k=w_k, w_v=w_v, memory=memory)
    memory = x if memory is None else memory
    b_q, b_k, b_v = biases
    q = projected(x, w_q, b_q, steps.QUERIES)  # (n, d_k)
    k = projected(memory, w_k, b_k, steps.KEYS)  # (m, d_k)
    v = projected(memory, w_v, b_v, steps.VALUES)  # (m, d_v)
    how = attending or Attending()
    q, k = how.prepared(q, WHOLE), how.prepared(k, WHOLE)
    return scaled_dot_product_attention(q, k, v, attending=how)


def given_attention(
    weights: Matrix,
    memory: Matrix,
    w_v: Matrix | None = None,
    bias: Matrix | None = None,
    *,
    attending: Attending | None = None,
    part: Part = WHOLE,
) -> Matrix:
    """A V: attention with given weights in place of softmax(Q Kᵀ / √d_k).

    Args:
        weights: the attention weights A, (n, m), any numbers.
        memory: the embeddings that the words look at, (m, d).
        w_v: (d, d_v); V is a copy of the embeddings without it.
        bias: a row to add to V, (1, d_v).
        attending: dropout of the weights.
        part: the head that the steps belong to.

    Returns:
        The output, (n, d_v).

    Raises:
        ValueError: if the shapes do not fit.

    Source: Vaswani et al. (2017), equation (1), with its softmax given.
    """
    check_matrices(weights=weights, memory=memory, w_v=w_v)
    v = projected(memory, w_v, bias, steps.VALUES, part)  # (m, d_v)
    kept = (attending or Attending()).dropped(weights, part)  # (n, m)
    return (kept @ v).as_step(steps.OUTPUT, part)


def projected(
    x: Matrix, weights: Matrix | None, bias: Matrix | None, step: Step, part: Part = WHOLE
) -> Matrix:
    """x W + b as a step of a model, (n, d) to (n, k); a copy of x without weights."""
    product = copy(x) if weights is None else x @ weights
    if weights is None:
        step = steps.COPIED[step] if bias is None else steps.COPIED[step].by(recipes.ADD)
    elif bias is not None:
        step = step.by(recipes.PROJECT_AND_ADD)
    return (product if bias is None else product + bias).as_step(step, part)


def softmax_alone(scores: Matrix, how: Attending) -> Matrix:
    """The weights (n, m) of given scores (n, m), divided by the temperature if there is one.

    Raises:
        InputError: if the plain sum of a row is 0.
    """
    if how.temperature is not None:
        scores = (scores / how.temperature).as_step(steps.TEMPERED)
    return how.normalized(scores)


def dropped(x: Matrix, dropout: Dropout | None, mask: Step, step: Step, part: Part) -> Matrix:
    """(n, d): x · mask / (1 - p), each a step of a part of the model; x itself without dropout.

    Source: Vaswani et al. (2017), 5.4.
    """
    if dropout is None:
        return x
    kept, p = dropout(x, mask, part)
    return (x * kept / (1 - p)).as_step(step, part)


def positioned(
    x: Matrix,
    dropout: Dropout | None = None,
    learned: Matrix | None = None,
    *,
    segment: Matrix | None = None,
    part: Part | None = None,
    first: int = 0,
) -> Matrix:
    """Add positions to embeddings, so that the model sees the order of the words.

    Args:
        x: (n, d).
        dropout: sets some numbers of the result to 0.
        learned: a vector for each of at least first + n positions, (p, d), instead of sinusoidal ones.
        segment: a row (1, d) to add as well.
        part: the part of the model that the steps belong to; by default the whole, or that of another
            sentence.
        first: the position of the first word.

    Returns:
        (n, d).

    Source: Vaswani et al. (2017), 3.5; dropout as in 5.4. Learned positions: Gehring et al.,
    "Convolutional Sequence to Sequence Learning" (2017), 3.1. Segments: Devlin et al., "BERT" (2019),
    3.
    """
    if part is None:
        part = WHOLE if x.is_step(steps.INPUT) else WHOLE.within(Scope(x.name, x.name))
    if learned is None:
        positions = Sinusoid(first)(x).as_step(steps.POSITIONS, part)
    else:
        taken = gather([(learned, first + place) for place in range(len(x.rows))], x.rows)
        words = f"row {first + 1} of {learned.name}"
        if not first:
            words = f"the first {len(x.rows)} rows of {learned.name}"
        positions = taken.described(words)
        positions = positions.as_step(steps.POSITIONS_TAKEN, part)
    if segment is None:
        embedded = (x + positions).as_step(steps.EMBEDDED, part)
    else:
        embedded = (x + positions + segment).as_step(steps.EMBEDDED_IN_SEGMENT, part)
    return dropped(embedded, dropout, steps.EMBEDDED_MASK, steps.EMBEDDED_DROPPED, part)


def attention_mask(
    rows: Sequence[str],
    words: Sequence[str],
    step: Step,
    part: Part,
    *,
    causal: bool | Matrix,
    padding: Sequence[str],
    window: Matrix | None = None,
    first: int = 0,
) -> Matrix:
    """The mask to add to scores (n, m), so that no word of `rows` looks at later ones of `words`
    (`causal`), at words that fill up a sentence (`padding`), or at words outside a window of this
    width. `first` is the place of the first of `rows`.

    Source: windows: Beltagy et al., "Longformer" (2020), 3.1, Jiang et al., "Mistral 7B" (2023), 2.
    """
    hides = mask(rows, words, causal=causal, padding=padding, window=window, first=first)
    recipe = recipes.HIDE_FAR if window else recipes.MASKS[causal is not False, bool(padding)]
    return hides.as_step(step.by(recipe), part)


def compare(sentences: Mapping[str, tuple[Matrix, Matrix]]) -> list[Matrix]:
    """Compare what attention made of the words that several sentences share.

    Args:
        sentences: the input, (n, d), and the output, (n, d_v), of each sentence, by its name.

    Returns:
        For each word that occurs in more than one sentence: its input vectors and its output vectors,
        one row per occurrence, and their differences from the first.

    Raises:
        ValueError: if the sentences have different dimensions.

    Example:
        >>> import attn_xl
        >>> tables = attn_xl.read_tables("samples/mouse.xlsx")
        >>> ends = {name: (g["Input"], g["Output"]) for name, g in attn_xl.attend(tables).items()}
        >>> attn_xl.compare(ends)[3]
        Compare.mouse.Output.Difference = difference from “in pets”, 1 x 3
                           animal   tech  grammar
        in desk - in pets  -0.483  0.507    0.001
    """
    if not isinstance(sentences, Mapping):
        raise wrong_type(
            "sentences", sentences, "the input and the output of each sentence, by its name"
        )
    places: dict[str, list[tuple[str, int]]] = {}
    for sentence, (x, _) in sentences.items():
        for row, word in enumerate(x.rows):
            places.setdefault(word, []).append((sentence, row))

    compared: list[Matrix] = []
    for word, occurrences in places.items():
        names = [sentence for sentence, _ in occurrences]
        if len(set(names)) < 2:
            continue
        labels = [
            f"in {sentence}" if names.count(sentence) == 1 else f"in {sentence}, word {row + 1}"
            for sentence, row in occurrences
        ]
        others = range(1, len(labels))
        for which, step in enumerate(steps.COMPARED_ENDS):
            part, end = COMPARISON.within(Scope(word, word)), steps.ENDS[step.symbol]
            note = f"{word}: {end}"
            vectors = gather(
                [(sentences[sentence][which], row) for sentence, row in occurrences], labels
            ).as_step(step, part, note=note, sheet=COMPARE)
            later = gather(
                [(vectors, row) for row in others],
                [" - ".join([labels[row], labels[0]]) for row in others],
            )
            difference = later - gather([(vectors, 0) for _ in others], later.rows)
            difference = difference.described(f"difference from “{labels[0]}”")
            difference = difference.as_step(
                steps.COMPARED_DIFFERENCE,
                part.within(Scope(step.symbol, end)),
                note=", ".join([note, "difference"]),
                sheet=COMPARE,
            )
            compared += [vectors, difference]
    return compared
