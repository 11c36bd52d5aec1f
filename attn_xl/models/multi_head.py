"""Multi-head attention: several attentions side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attn_xl.errors import InputError
from attn_xl.graph.functions import columns, concat
from attn_xl.graph.given import given_step
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE, Part, Step

from . import recipes, steps
from .attention import Attending, Weights, projected, scaled_dot_product_attention
from .parts import ALL, Live, enter


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
    live: Live = ALL,
    mixes: bool = True,
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
        live: the heads that become formulas, where what the others add enters as values; and the words
            that look.
        mixes: whether there is a W_O; without it, the outputs stay side by side.

    Returns:
        (n, d), or a row for each word that looks; (n, heads · d_v) without W_O.

    Raises:
        InputError: if a weight is missing or has the wrong shape.

    Source: Vaswani et al. (2017), 3.2.2; heads that share keys and values: Shazeer, "Fast Transformer
    Decoding" (2019), Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models" (2023).
    """
    d, every = len(x.columns), range(1, heads + 1)

    def outputs(chosen: Sequence[int], cut: bool) -> list[Matrix]:
        return _outputs(x, memory, weights, heads, chosen, kv_heads, attending, part, cut, live)

    if not mixes:
        made = outputs(every, False)
        return concat(*made).as_step(steps.JOINED_OUTPUT, part) if heads > 1 else made[0]
    if live.heads is None:
        return mixed(outputs(every, False), weights, d, part, result)
    others = weights.entered(steps.OTHER_HEADS, part)
    if others is not None:  # the weights are those of the live heads
        return mixed(outputs(live.heads, False), weights, d, part, result, others=others)
    rest = [h for h in every if h not in live.heads]
    added = _through_w_o(outputs(rest, True), weights, d, part, (rest, heads))
    others = enter(added, steps.OTHER_HEADS, part)
    return mixed(
        outputs(live.heads, True), weights, d, part, result, others=others, cut=(live.heads, heads)
    )


def _outputs(
    x: Matrix,
    memory: Matrix,
    weights: Weights,
    heads: int,
    chosen: Sequence[int],
    kv_heads: int | None,
    attending: Attending | None,
    part: Part,
    cut: bool,
    live: Live,
) -> list[Matrix]:
    """(n, d_v) for each of the chosen heads; arguments as for `multi_head_attention`.

    Args:
        cut: take the columns of the chosen heads from weights for all heads; otherwise the weights are
            for the chosen heads.
    """
    generated = max(1, len(x.columns) // heads)
    groups = kv_heads or heads
    group_of = {h: (h - 1) * groups // heads + 1 for h in chosen}
    used = sorted({*group_of.values()})
    q_w = PerHead(steps.W_Q, part, weights, heads, x.columns, generated, chosen, cut)
    k_w, v_w = (
        PerHead(step, part, weights, groups, memory.columns, generated, used, cut)
        for step in (steps.W_K, steps.W_V)
    )
    how = (attending or Attending()).between(x.rows, memory.rows, part)
    if live.rows is not None and not callable(how.masks):
        masks = [live.of_words(mask) if len(mask.rows) > 1 else mask for mask in how.masks]
        how = replace(how, masks=masks)

    def keys_and_values(g: int, there: Part) -> tuple[Matrix, Matrix]:
        k = projected(memory, k_w.of(g), k_w.bias(g), steps.KEYS, there)  # (m, d_k)
        v = projected(memory, v_w.of(g), v_w.bias(g), steps.VALUES, there)  # (m, d_v)
        return how.prepared(k, there), v

    shared = {}
    if groups < heads:
        several = groups > 1
        shared = {g: keys_and_values(g, part.numbered(g * several)) for g in used}
    outputs = []
    for h in chosen:
        head = part.of_head(h)
        q = projected(x, q_w.of(h), q_w.bias(h), steps.QUERIES, head)  # (n, d_k)
        q = live.of_words(how.prepared(q, head))
        k, v = shared[group_of[h]] if shared else keys_and_values(h, head)
        if len(q.columns) != len(k.columns):
            fits, left = divmod(groups * len(k.columns), len(q.columns))
            kv = f" W_K would fit --kv-heads {fits}." if fits and not left and not heads % fits else ""
            raise InputError(
                f"{part.name('W_Q')} gives head {h} queries of {len(q.columns)} dimensions, but "
                f"{part.name('W_K')} keys of {len(k.columns)}. Queries and keys are multiplied: give "
                f"them the same number of dimensions.{kv}"
            )
        outputs.append(scaled_dot_product_attention(q, k, v, attending=how, part=head))
    return outputs


def mixed(
    outputs: Sequence[Matrix],
    weights: Weights,
    d: int,
    part: Part,
    result: Step,
    *,
    others: Matrix | None = None,
    cut: tuple[Sequence[int], int] | None = None,
) -> Matrix:
    """The outputs of all heads side by side, mixed by W_O: (n, d_v) each to (n, d).

    Args:
        others: what further heads add, (n, d).
        cut: the numbers of these heads, and the number of heads that the weights are for; None if they
            are for these heads only.
    """
    product = _through_w_o(outputs, weights, d, part, cut)
    b_o = weights.row(steps.BIASES[steps.W_O], part, product.columns)
    if b_o is not None:
        product, result = product + b_o, result.by(recipes.PROJECT_AND_ADD)
    if others is not None:
        product, result = product + others, result.by(recipes.PROJECT_AND_ADD_OTHERS)
    return product.as_step(result, part)


def _through_w_o(
    outputs: Sequence[Matrix],
    weights: Weights,
    d: int,
    part: Part,
    cut: tuple[Sequence[int], int] | None,
) -> Matrix:
    """(n, d): the outputs side by side times W_O; arguments as for `mixed`."""
    together = concat(*outputs).as_step(steps.CONCAT, part)
    if cut is None:
        return together @ weights.matrix(steps.W_O, part, together.columns, d)
    heads, size = cut[1], len(outputs[0].columns)
    w_o = weights.matrix(steps.W_O, part, [f"a{j + 1}" for j in range(heads * size)], d)
    kept = w_o.values[_in_blocks(cut[0], size)]
    return together @ given_step(kept, together.columns, w_o.columns, steps.W_O, part, note=w_o.note)


def _in_blocks(blocks: Sequence[int], size: int) -> list[int]:
    """The numbers of the columns in blocks of `size` columns, counted from 1."""
    return [(block - 1) * size + j for block in blocks for j in range(size)]


class PerHead:
    """The projection of each head: its own weights, or its block of the columns of one matrix."""

    def __init__(
        self,
        step: Step,
        part: Part,
        weights: Weights,
        heads: int,
        rows: Sequence[str],
        generated: int,
        chosen: Sequence[int] = (),
        cut: bool = False,
    ) -> None:
        chosen = chosen or range(1, heads + 1)
        self._step, self._part, self._weights, self._cut = step, part, weights, cut
        self._rows, self._generated, self._chosen = rows, generated, [*chosen]
        self._heads = len(chosen)
        self._whole: Matrix | None = None
        self._kept_biases: Matrix | None = None
        if part.of_head(chosen[0]).name(step.symbol) not in weights:
            heads = heads if cut else len(chosen)
            self._whole = weights.matrix(step, part, rows, heads * generated)
            if len(self._whole.columns) % heads:
                name = part.name(step.symbol)
                raise InputError(
                    f"{name} has {len(self._whole.columns)} columns, which do not split into {heads} "
                    f"heads of equal width. Give it {heads} · d_k columns, or each head its own: "
                    f"{name}_1, {name}_2, ..."
                )
            self._labels = self._whole.columns
            self._kept = _in_blocks(chosen, len(self._labels) // heads)
            if cut:
                self._whole = self._only(self._whole, step)

    def _only(self, whole: Matrix, step: Step) -> Matrix:
        """Weights with the columns of the chosen heads only."""
        labels = [whole.columns[j] for j in self._kept]
        values = whole.values[:, self._kept]
        return given_step(values, whole.rows, labels, step, self._part, note=whole.note)

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
        if self._part.of_head(head).name(step.symbol) in self._weights:
            return self._weights.row(step, self._part.of_head(head), self.of(head).columns)
        labels = self._labels if self._whole is not None else self.of(head).columns
        whole = self._weights.row(step, self._part, labels)
        if whole is not None and self._whole is not None and self._cut:
            self._kept_biases = whole = self._kept_biases or self._only(whole, step)
        if whole is None or self._heads == 1 or self._whole is None:
            return whole
        return self._block(whole, step, head)

    def _block(self, whole: Matrix, step: Step, head: int) -> Matrix:
        size, place = len(whole.columns) // self._heads, self._chosen.index(head)
        block = columns(whole, place * size, (place + 1) * size)
        if not self._weights.heads_as_sheets:
            return block  # formulas read them in place
        name = self._part.name(step.symbol)
        return block.as_step(steps.columns_of_head(step, name, head), self._part.of_head(head))
