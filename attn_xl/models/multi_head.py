"""Multi-head attention: several attentions side by side. Knows nothing of files or sheets."""

from __future__ import annotations

from collections.abc import Sequence

from attn_xl.errors import InputError
from attn_xl.graph.functions import columns, concat
from attn_xl.graph.matrix import Matrix

from . import notes
from .attention import Attending, Weights, projected, scaled_dot_product_attention


def multi_head_attention(
    x: Matrix,
    memory: Matrix,
    weights: Weights,
    heads: int,
    *,
    attending: Attending | None = None,
    at: str = "",
    name: str = "Attention",
) -> Matrix:
    """Several attentions side by side, each with projections of its own; their outputs mixed by W_O.

    Args:
        x: (n, d), where the queries come from.
        memory: (m, d'), where the keys and values come from.
        weights: `W_Q` (d, heads · d_k), `W_K` and `W_V` split into blocks of columns, or `W_Q_1`,
            `W_Q_2`, ... for each head; `W_O` (heads · d_v, d); biases `b_Q`, ... where there are.
        heads: how many.
        attending: how scores become weights.
        at: put before the steps' names.
        name: of the result.

    Returns:
        (n, d).

    Raises:
        InputError: if a weight is missing or does not fit.

    Source: Vaswani et al. (2017), 3.2.2.
    """
    d = len(x.columns)
    made_up = max(1, d // heads)
    q_w, k_w, v_w = (
        _PerHead(f"{at}W_{letter}", weights, heads, source.columns, made_up)
        for letter, source in (("Q", x), ("K", memory), ("V", memory))
    )
    how = attending or Attending()
    masks = how.masks(x.rows, memory.rows, at) if how.masks else ()  # the same for all heads
    outputs = []
    for h in range(1, heads + 1):
        q = projected(x, q_w.of(h), q_w.bias(h)).named(f"{at}Q_{h}", notes.QUERIES)  # (n, d_k)
        k = projected(memory, k_w.of(h), k_w.bias(h)).named(f"{at}K_{h}", notes.KEYS)  # (m, d_k)
        v = projected(memory, v_w.of(h), v_w.bias(h)).named(f"{at}V_{h}", notes.VALUES)  # (m, d_v)
        if len(q.columns) != len(k.columns):
            raise InputError(
                f"{at}W_Q gives head {h} queries of {len(q.columns)} dimensions, but {at}W_K keys of "
                f"{len(k.columns)}. They are multiplied with each other: make them as wide."
            )
        outputs.append(
            scaled_dot_product_attention(q, k, v, attending=how, masks=masks, at=at, head=f"_{h}")
        )
    together = concat(outputs).named(f"{at}Concat", notes.CONCAT)
    w_o = weights.matrix(f"{at}W_O", together.columns, d)
    b_o = weights.row(f"{at}b_O", w_o.columns)
    return projected(together, w_o, b_o).named(f"{at}{name}", notes.ATTENTION)  # (n, d)


class _PerHead:
    """The projection of each head: its own weights, or its block of the columns of one matrix."""

    def __init__(
        self, name: str, weights: Weights, heads: int, rows: Sequence[str], made_up: int
    ) -> None:
        self._name, self._weights, self._heads = name, weights, heads
        self._rows, self._made_up = rows, made_up
        self._whole: Matrix | None = None
        if f"{name}_1" not in weights:
            self._whole = weights.matrix(name, rows, heads * made_up)
            if len(self._whole.columns) % heads:
                raise InputError(
                    f"{name} has {len(self._whole.columns)} columns, which do not split into {heads} "
                    f"heads of the same width. Give it {heads} · d_k columns, or each head its own: "
                    f"{name}_1, {name}_2, ..."
                )

    def of(self, head: int) -> Matrix:
        if self._whole is None:
            return self._weights.matrix(f"{self._name}_{head}", self._rows, self._made_up)
        if self._heads == 1:
            return self._whole
        return self._block(self._whole, self._name, head)

    def bias(self, head: int) -> Matrix | None:
        name = "b".join(self._name.rsplit("W", 1))
        if f"{name}_1" in self._weights:
            return self._weights.row(f"{name}_{head}", self.of(head).columns)
        labels = self._whole.columns if self._whole is not None else self.of(head).columns
        whole = self._weights.row(name, labels)
        if whole is None or self._heads == 1 or self._whole is None:
            return whole
        return self._block(whole, name, head)

    def _block(self, whole: Matrix, name: str, head: int) -> Matrix:
        size = len(whole.columns) // self._heads
        return columns(whole, (head - 1) * size, head * size).named(
            f"{name}_{head}", notes.HEAD.format(name=name, head=head)
        )
