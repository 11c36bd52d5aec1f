"""Attention as the paper has it, one short function each. Knows nothing of files or sheets.

Shapes: n words; d dimensions of an embedding; d_k of queries and keys; d_v of values.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2; equation (1) is
Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from attn_xl.errors import InputError, wrong_type
from attn_xl.graph.functions import (
    copy,
    gather,
    mask,
    masked,
    row_sum,
    sinusoid,
    softmax,
    sqrt,
    when,
    width,
)
from attn_xl.graph.matrix import Matrix, check_matrices

from . import notes


class Weights:
    """Where a model gets what was learned."""

    def matrix(self, name: str, rows: Sequence[str], width: int) -> Matrix:
        """The weights `name`, one row for each of `rows`; `width` is how many columns to make up where
        weights are made up."""
        raise NotImplementedError

    def row(self, name: str, columns: Sequence[str]) -> Matrix | None:
        """A single row, such as a bias, or None if there is none."""
        raise NotImplementedError

    def __contains__(self, name: str) -> bool:
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class Switches:
    """The choices of scaled attention as cells that the formulas obey.

    Attributes:
        scale: a switch: divide the scores by √d_k.
        temperature: a scalar that the scores are divided by, too.
    """

    scale: Matrix
    temperature: Matrix


@dataclass(frozen=True, eq=False, repr=False)
class Attending:
    """How the scores become weights.

    Attributes:
        scale: divide the scores by √d_k.
        temperature: a scalar that the scores are divided by, too.
        normalize: "softmax", or "sum": divide each row by its plain sum.
        masks: makes, for the words of the rows and of the columns and the place in the model, what is
            added to the scores.
        dropout: makes, for some weights and a name, a mask of 0 and 1, and the scalar p.
        switches: in place of `scale` and `temperature`, cells that decide.
    """

    scale: bool = True
    temperature: Matrix | None = None
    normalize: Literal["softmax", "sum"] = "softmax"
    masks: Callable[[Sequence[str], Sequence[str], str], Sequence[Matrix]] | None = None
    dropout: Callable[[Matrix, str], tuple[Matrix, Matrix]] | None = None
    switches: Switches | None = None


def self_attention(
    x: Matrix,
    w_q: Matrix | None = None,
    w_k: Matrix | None = None,
    w_v: Matrix | None = None,
    *,
    biases: Sequence[Matrix | None] = (None, None, None),
    memory: Matrix | None = None,
    scale: bool = True,
    attending: Attending | None = None,
) -> Matrix:
    """Every word of a sentence attends to every word of it, or of another one (cross-attention).

    A projection that is not given leaves the embeddings as they are, so without weights
    Q = K = V = Input.

    Args:
        x: embeddings, (n, d), one word a row.
        w_q, w_k: (d, d_k) each.
        w_v: (d, d_v).
        biases: a row to add to Q, K and V each, (1, d_k), (1, d_k), (1, d_v).
        memory: the embeddings, (m, d'), that keys and values come from; x if None.
        scale: divide the scores by √d_k.
        attending: all choices of how scores become weights, instead of `scale` alone.

    Returns:
        The output, (n, d_v); `Graph(output)` has every step by name.

    Raises:
        ValueError: if the shapes do not fit.
        InputError: if a number grows beyond what a spreadsheet holds.

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
    q = projected(x, w_q, b_q).named("Q", notes.QUERIES)  # (n, d_k)
    k = projected(memory, w_k, b_k).named("K", notes.KEYS)  # (m, d_k)
    v = projected(memory, w_v, b_v).named("V", notes.VALUES)  # (m, d_v)
    return scaled_dot_product_attention(q, k, v, scale=scale, attending=attending)


def projected(x: Matrix, weights: Matrix | None, bias: Matrix | None = None) -> Matrix:
    product = copy(x) if weights is None else x @ weights
    return product if bias is None else product + bias


def scaled_dot_product_attention(
    q: Matrix,
    k: Matrix,
    v: Matrix,
    *,
    scale: bool = True,
    attending: Attending | None = None,
    masks: Sequence[Matrix] | None = None,
    at: str = "",
    head: str = "",
) -> Matrix:
    """softmax(Q Kᵀ / √d_k + Mask) V, each step named.

    Args:
        q: queries, (n, d_k).
        k: keys, (m, d_k).
        v: values, (m, d_v).
        scale: divide the scores by √d_k.
        attending: all choices of how scores become weights, instead of `scale` alone.
        masks: (n, m) each, added to the scores; those that `attending` makes if None.
        at, head: put before and after the steps' names, to tell layers and heads apart.

    Returns:
        The output, (n, d_v).

    Raises:
        ValueError: if the shapes do not fit.
        InputError: if a number grows beyond what a spreadsheet holds, or a score beyond what a mask
            hides.

    Example:
        >>> import attn_xl
        >>> q = attn_xl.given([[1, 0]], ["cat"], ["a", "b"], "Q")
        >>> k = attn_xl.given([[1, 0], [0, 2]], ["the", "mat"], ["a", "b"], "K")
        >>> attn_xl.scaled_dot_product_attention(q, k, k, scale=False)
        Output = Softmax × K, 1 x 2
                 a      b
        cat  0.731  0.538

    Source: Vaswani et al. (2017), equation (1); dropout of the weights as in 5.4.
    """
    check_matrices(q=q, k=k, v=v)
    how = attending or Attending(scale=scale)
    if masks is None:
        masks = how.masks(q.rows, k.rows, at) if how.masks else ()
    scores = (q @ k.T).named(f"{at}Scores{head}", notes.SCORES)  # (n, m)
    if how.switches:
        d_k = width(k).named(f"{at}d_k{head}", "the width of the queries and keys", helper=True)
        divisor = when(how.switches.scale, sqrt(d_k), 1) * how.switches.temperature
        divisor = divisor.named(f"{at}Divisor{head}", "what the scores are divided by", helper=True)
        scores = (scores / divisor).named(f"{at}Scaled{head}", notes.SCALED)
    elif how.scale or how.temperature is not None:
        scaled = scores
        if how.scale:
            d_k = width(k).named(f"{at}d_k{head}", "the width of the queries and keys", helper=True)
            scaled = scaled / sqrt(d_k)
        if how.temperature is not None:
            scaled = scaled / how.temperature
        note = notes.SCALED if how.temperature is None else notes.TEMPERED
        scores = scaled.named(f"{at}Scaled{head}", note)
    if masks:
        scores = masked(scores, masks).named(f"{at}Masked{head}", notes.MASKED)
    if how.normalize == "sum":
        total = row_sum(scores).named("Sum", "what the scores add up to", helper=True)
        for word, number in zip(scores.rows, total.values[:, 0]):
            if not number:
                raise InputError(
                    f"the scores of {word!r} add up to 0, by which they cannot be divided. Change its "
                    "numbers, or normalize by softmax."
                )
        weights, name, note = scores / total, "Weights", notes.PLAIN_SUM
    else:
        weights, name, note = softmax(scores), "Softmax", notes.SOFTMAX
    weights = weights.named(f"{at}{name}{head}", note, role="attention")  # (n, m)
    if how.dropout:
        kept, p = how.dropout(weights, f"{at}DropoutMask{head}")
        weights = (weights * kept / (1 - p)).named(f"{at}Dropped{head}", notes.DROPPED)
    return (weights @ v).named(f"{at}Output{head}", notes.OUTPUT)  # (n, d_v)


def positioned(x: Matrix) -> Matrix:
    """Embeddings with their positions added: the model sees the order of the words.

    Args:
        x: (n, d).

    Returns:
        (n, d).

    Source: Vaswani et al. (2017), 3.5.
    """
    positions = sinusoid(x).named(f"{_scope(x)}Positions", notes.POSITIONS)
    return (x + positions).named(f"{_scope(x)}Embedded", notes.EMBEDDED)


def _scope(x: Matrix) -> str:
    return f"{x.name}." if x.name != "Input" else ""


def attention_mask(
    rows: Sequence[str],
    words: Sequence[str],
    name: str,
    *,
    causal: bool | Matrix,
    padding: Sequence[str],
) -> Matrix:
    """What to add to scores (n, m), so that no word of `rows` looks at later ones of `words` (`causal`)
    or at those that fill up a sentence (`padding`)."""
    hides = mask(rows, words, causal=causal, padding=padding)
    return hides.named(name, notes.MASK)


def compare(sentences: Mapping[str, tuple[Matrix, Matrix]]) -> list[Matrix]:
    """What attention made of the words that several sentences share.

    Args:
        sentences: for each sentence its input, (n, d), and its output, (n, d_v).

    Returns:
        For each word that occurs in more than one of the sentences: its input vectors, its output
        vectors, one row for each occurrence, and how each differs from the first.

    Raises:
        ValueError: if the sentences do not have the same dimensions.

    Example:
        >>> import attn_xl
        >>> tables = attn_xl.read_tables("samples/mouse.xlsx")
        >>> ends = {name: (g["Input"], g["Output"]) for name, g in attn_xl.attend(tables).items()}
        >>> attn_xl.compare(ends)[3]
        Compare.mouse.Output.Difference = what differs from 'in cat', 1 x 3
                                animal   tech  grammar
        in keyboard − in cat  -0.483  0.507    0.001
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
        for which, step in enumerate(("Input", "Output")):
            vectors = gather(
                [(sentences[sentence][which], row) for sentence, row in occurrences], labels
            ).named(f"Compare.{word}.{step}", f"{word}: {step.lower()}", sheet="Compare")
            later = gather(
                [(vectors, row) for row in others],
                [f"{labels[row]} − {labels[0]}" for row in others],
            )
            difference = later - gather([(vectors, 0) for _ in others], later.rows)
            difference = difference.described(f"what differs from {labels[0]!r}").named(
                f"Compare.{word}.{step}.Difference",
                f"{word}: {step.lower()}, difference",
                sheet="Compare",
            )
            compared += [vectors, difference]
    return compared
