"""Multi-head attention: several attentions side by side."""

from __future__ import annotations

from collections.abc import Sequence

from attn_xl.errors import InputError
from attn_xl.graph.functions import columns, concat
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE, Part, Step

from . import steps
from .attention import Attending, Weights, projected, scaled_dot_product_attention


def multi_head_attention(
    x: Matrix,
    memory: Matrix,
    weights: Weights,
    heads: int,
    *,
    kv_heads: int | None = None,
    attending: Attending | None = None,
    part: Part = WHOLE,
    result: Step = steps.ATTENTION,
) -> Matrix:
    """Several attentions side by side, each with its own projections; W_O mixes their outputs.

    Args:
        x: embeddings for the queries, (n, d).
        memory: embeddings for the keys and values, (m, d').
        weights: `W_Q` (d, heads · d_k), `W_K` and `W_V`, each split into one block of
            columns per head, or `W_Q_1`, `W_Q_2`, ... for each head; `W_O` (heads · d_v, d); optional
            biases `b_Q`, ...
        heads: number of heads.
        kv_heads: number of heads of keys and values, a divisor of `heads`; each serves a group of
            heads, one after the other. `heads` if None.
        attending: how scores become weights.
        part: the layer that the steps belong to.
        result: the step of the result.

    Returns:
        (n, d).

    Raises:
        InputError: if a weight is missing or has the wrong shape.

    Source: Vaswani et al. (2017), 3.2.2; heads that share keys and values: Shazeer, "Fast Transformer
    Decoding" (2019), Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models" (2023).
    """
    d = len(x.columns)
    generated = max(1, d // heads)
    groups = kv_heads or heads
    q_w = PerHead(steps.W_Q, part, weights, heads, x.columns, generated)
    k_w, v_w = (
        PerHead(step, part, weights, groups, memory.columns, generated)
        for step in (steps.W_K, steps.W_V)
    )
    how = (attending or Attending()).between(x.rows, memory.rows, part)

    def keys_and_values(g: int, there: Part) -> tuple[Matrix, Matrix]:
        k = projected(memory, k_w.of(g), k_w.bias(g), steps.KEYS, there)  # (m, d_k)
        v = projected(memory, v_w.of(g), v_w.bias(g), steps.VALUES, there)  # (m, d_v)
        return how.prepared(k, there), v

    shared = []
    if groups < heads:
        several = groups > 1
        shared = [keys_and_values(g, part.numbered(g * several)) for g in range(1, groups + 1)]
    outputs = []
    for h in range(1, heads + 1):
        head = part.of_head(h)
        q = projected(x, q_w.of(h), q_w.bias(h), steps.QUERIES, head)  # (n, d_k)
        q = how.prepared(q, head)
        k, v = shared[(h - 1) * groups // heads] if shared else keys_and_values(h, head)
        if len(q.columns) != len(k.columns):
            fits, left = divmod(groups * len(k.columns), len(q.columns))
            kv = f" W_K would fit --kv-heads {fits}." if fits and not left and not heads % fits else ""
            raise InputError(
                f"{part.name('W_Q')} gives head {h} queries of {len(q.columns)} dimensions, but "
                f"{part.name('W_K')} keys of {len(k.columns)}. Queries and keys are multiplied: give "
                f"them the same number of dimensions.{kv}"
            )
        outputs.append(scaled_dot_product_attention(q, k, v, attending=how, part=head))
    return mixed(outputs, weights, d, part, result)


def mixed(outputs: Sequence[Matrix], weights: Weights, d: int, part: Part, result: Step) -> Matrix:
    """The outputs of all heads side by side, mixed by W_O: (n, d_v) each to (n, d)."""
    together = concat(outputs).as_step(steps.CONCAT, part)
    w_o = weights.matrix(steps.W_O, part, together.columns, d)
    b_o = weights.row(steps.BIASES[steps.W_O], part, w_o.columns)
    return projected(together, w_o, b_o, result, part)  # (n, d)


class PerHead:
    """The projection of each head: its own weights, or its block of the columns of one matrix."""

    def __init__(
        self, step: Step, part: Part, weights: Weights, heads: int, rows: Sequence[str], generated: int
    ) -> None:
        self._step, self._part, self._weights, self._heads = step, part, weights, heads
        self._rows, self._generated = rows, generated
        self._whole: Matrix | None = None
        if part.of_head(1).name(step.symbol) not in weights:
            self._whole = weights.matrix(step, part, rows, heads * generated)
            if len(self._whole.columns) % heads:
                name = part.name(step.symbol)
                raise InputError(
                    f"{name} has {len(self._whole.columns)} columns, which do not split into {heads} "
                    f"heads of equal width. Give it {heads} · d_k columns, or each head its own: "
                    f"{name}_1, {name}_2, ..."
                )

    def of(self, head: int) -> Matrix:
        if self._whole is None:
            return self._weights.matrix(
                self._step, self._part.of_head(head), self._rows, self._generated
            )
        if self._heads == 1:
            return self._whole
        return self._block(self._whole, self._step, head)

    def bias(self, head: int) -> Matrix | None:
        step = steps.BIASES[self._step]
        if self._part.of_head(1).name(step.symbol) in self._weights:
            return self._weights.row(step, self._part.of_head(head), self.of(head).columns)
        labels = self._whole.columns if self._whole is not None else self.of(head).columns
        whole = self._weights.row(step, self._part, labels)
        if whole is None or self._heads == 1 or self._whole is None:
            return whole
        return self._block(whole, step, head)

    def _block(self, whole: Matrix, step: Step, head: int) -> Matrix:
        size = len(whole.columns) // self._heads
        block = columns(whole, (head - 1) * size, head * size)
        if not self._weights.heads_as_sheets:
            return block  # formulas read them in place
        name = self._part.name(step.symbol)
        return block.as_step(steps.columns_of_head(step, name, head), self._part.of_head(head))
