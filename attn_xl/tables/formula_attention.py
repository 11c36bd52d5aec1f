"""Finds attention in the formulas of a workbook, whatever its tables are called: who is multiplied by
whom tells which cells are the words, W_Q, W_K, W_V, W_O, the biases and the heads."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product as every
from typing import Any

import numpy as np

from attn_xl.spreadsheets.addresses import Axis, Span
from attn_xl.spreadsheets.formulas import FormulaBook

from .formula_blocks import Factor, FactorPiece, MatrixProduct, ParsedBlock, ParsedBlocks, other

MOST_STEPS = 200
"""Blocks between two products: the steps of a softmax, masks, copies."""
MOST_BLOCKS = 20_000
"""Blocks of a workbook in which attention is looked for."""
LEAST, MASKED = 1e-12, -1e3
"""Attention weights, and masks of the scores, from which the scale of the scores can be told."""
JOINING = {"TRANSPOSE", "HSTACK", "VSTACK", "CHOOSE", "INDEX", "OFFSET", "ROUND", "("}
"""Functions through which the outputs of heads reach W_O as they are."""


@dataclass(frozen=True)
class Role:
    """What cells are for.

    Attributes:
        span: the cells.
        turned: whether they are to be transposed: words in columns, or weights applied from the left.
        why: the formulas that say so.
    """

    span: Span
    turned: bool
    why: str


@dataclass(eq=False)
class Projection:
    """Queries, keys or values: words times weights plus a bias; without weights, the words."""

    words: Role
    weights: Role | None = None
    bias: Role | None = None


@dataclass(eq=False)
class FormulaHead:
    """One attention.

    Attributes:
        output, scores: the product that is its output, and the one that its weights come from.
        weights: the cells with the attention weights, and their axis of the words looked at; None if
            they are computed within a formula.
        mask: a table that is added to the scores.
        q, k, v: its projections.
    """

    output: MatrixProduct
    scores: MatrixProduct
    weights: tuple[Span, Axis] | None
    mask: Role | None
    q: Projection
    k: Projection
    v: Projection


@dataclass(eq=False)
class Attention:
    """The heads that attend from the same words to the same words.

    Attributes:
        words, memory: the words that look, and those looked at if they are others.
        weights: weights and biases by name.
        heads: the heads in order.
        output: the cells with the result.
        settings: the settings with which attn-xl computes the same.
        agrees: whether attn-xl computes the stored attention weights; None if it is unknown.
    """

    words: Role
    memory: Role | None
    heads: list[FormulaHead]
    weights: dict[str, Role] = field(default_factory=dict)
    output: Span | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    agrees: bool | None = None


@dataclass(frozen=True)
class _Behind:
    """A product that cells are computed from, number by number.

    Attributes:
        product: the product; axis: the axis of its result that the given axis of the cells is.
        span: the part of its result that the cells are.
        functions: the functions on the way.
        added: what is added on the way.
    """

    product: MatrixProduct
    axis: Axis
    span: Span
    functions: frozenset[str]
    added: tuple[Span, ...]


Mixing = tuple[MatrixProduct, tuple[Span, Axis], Span, list[MatrixProduct]]


class Tracing:
    """Follows the references of a workbook's formulas."""

    def __init__(self, book: FormulaBook) -> None:
        self.blocks = ParsedBlocks(book)
        self.products: list[MatrixProduct] = []
        if sum(map(len, self.blocks.on.values())) > MOST_BLOCKS:
            return
        self.products = [
            product
            for blocks in self.blocks.on.values()
            for block in blocks
            for product, _ in block.products
        ]

    def factors(self) -> list[Span]:
        """The cells that a product multiplies, each once."""
        cells = [
            operand.cells[0]
            for product in self.products
            for operand in (product.rows, product.columns)
            if operand.cells is not None
        ]
        return list(dict.fromkeys(cells))

    @cached_property
    def mixing(self) -> dict[frozenset[MatrixProduct], list[Mixing]]:
        """The products that multiply results of other products as they are, by these; of each, the
        weights, the cells with the results, and the products in the order in which they stand there."""
        found: dict[frozenset[MatrixProduct], list[Mixing]] = {}
        for product in self.products:
            rows, columns = product.rows, product.columns
            for joined, weights in ((rows, columns), (columns, rows)):
                if joined.cells is not None and weights.cells is not None:
                    order = _joined(self, *joined.cells)
                    mixing = product, weights.cells, joined.cells[0], order
                    found.setdefault(frozenset(order), []).append(mixing)
        return found

    def behind(self, operand: Factor) -> list[_Behind]:
        """The nearest products that a factor is computed from; `axis` belongs to the axis along which
        the factor is summed."""
        return [one for piece in operand.pieces for one in self.behind_cells(piece)]

    def behind_cells(self, piece: FactorPiece) -> list[_Behind]:
        """`behind` of a part of a factor."""
        found: dict[tuple[MatrixProduct, Axis, Span], _Behind] = {}
        functions, added = frozenset[str](), tuple[Span, ...]()
        left, seen = [(piece, functions, added)], {piece}
        for (here, axis), functions, added in left:
            if isinstance(here, MatrixProduct):
                passed, span = functions | here.block.functions, here.block.span
                found.setdefault((here, axis, span), _Behind(here, axis, span, passed, added))
                continue
            for block in self.blocks.at(here) if len(seen) < MOST_STEPS else ():
                part, passed = _common(here, block.span), functions | block.functions
                plus = (*added, *block.added)
                for product, flip in block.products:
                    along = other(axis) if flip else axis
                    one = _Behind(product, along, part, passed, plus)
                    found.setdefault((product, along, part), one)
                for source, flip in () if block.products else block.carriers:
                    inside = _mapped(part, block.span, source, flip)
                    further: FactorPiece = (inside, other(axis) if flip else axis)
                    if further not in seen:
                        seen.add(further)
                        left.append((further, passed, plus))
        return list(found.values())

    def origin(self, span: Span, axis: Axis) -> tuple[Span, Axis]:
        """Where cells are copied from; the cells themselves if they are no copy."""
        for _ in range(MOST_STEPS):
            blocks = self.blocks.at(span)
            if not blocks or any(not b.is_copy or len(b.carriers) != 1 for b in blocks):
                break
            parts = [(_common(span, block.span), block) for block in blocks]
            if sum(p.shape[0] * p.shape[1] for p, _ in parts) < span.shape[0] * span.shape[1]:
                break
            source = _tiled(
                [
                    (_mapped(part, block.span, b, flip), other(axis) if flip else axis)
                    for part, block in parts
                    for b, flip in block.carriers
                ]
            )
            if source is None or source == (span, axis):
                break
            span, axis = source
        return span, axis

    def sources(self, span: Span, axis: Axis) -> Iterator[tuple[Span, Axis]]:
        """The cells, and those that they are computed from number by number, nearest first."""
        left, seen = [(span, axis)], set[Span]()
        while left:
            span, axis = left.pop(0)
            if span in seen:
                continue
            seen.add(span)
            yield span, axis
            for block in self.blocks.at(span):
                if block.span.holds(span) and not block.products:
                    left += [
                        (_mapped(span, block.span, source, flip), other(axis) if flip else axis)
                        for source, flip in block.carriers
                    ]

    def reads(self, span: Span, sources: Sequence[ParsedBlock]) -> bool:
        """Whether cells are computed from one of the given blocks, by whatever formulas."""
        left, seen = [span], set[ParsedBlock]()
        while left:
            for block in self.blocks.at(left.pop()):
                if block in sources:
                    return True
                if block not in seen:
                    seen.add(block)
                    left += {reference.span: None for reference in block.references}
        return False

    def readers(self, span: Span) -> list[ParsedBlock]:
        """The blocks that refer to some of the cells."""
        return [
            block
            for blocks in self.blocks.on.values()
            for block in blocks
            if any(reference.span.overlaps(span) for reference in block.references)
        ]

    def computes(self, span: Span) -> bool:
        """Whether all of the cells are formulas that compute something from other cells: a result."""
        covered = 0
        for block in self.blocks.at(span):
            if not block.references or block.is_copy:
                return False
            height, width = _common(span, block.span).shape
            covered += height * width
        return covered == span.shape[0] * span.shape[1]


def _common(a: Span, b: Span) -> Span:
    return Span(
        a.sheet, max(a.top, b.top), max(a.left, b.left), min(a.bottom, b.bottom), min(a.right, b.right)
    )  # fmt: skip


def _mapped(part: Span, whole: Span, source: Span, flip: bool) -> Span:
    """The cells of `source` that a part of a block is computed from."""
    down, right = part.top - whole.top, part.left - whole.left
    height, width = part.shape
    if flip:
        down, right, height, width = right, down, width, height
    top, left = source.top + down, source.left + right
    return Span(source.sheet, top, left, top + height - 1, left + width - 1)


# Attention


def find_attention(book: FormulaBook) -> tuple[list[Attention], Tracing]:
    """Every attention that the formulas of a workbook compute, in the order of its sheets."""
    tracing = Tracing(book)
    heads: list[FormulaHead] = []
    for product in tracing.products:
        found = _head(tracing, product)
        if found is not None:
            heads.append(found)
    inner = {head.scores for head in heads}
    heads = [head for head in heads if head.output not in inner]
    groups: dict[tuple[object, ...], dict[tuple[object, ...], FormulaHead]] = {}
    for head in heads:
        ends = [
            tracing.origin(one.words.span, "rows" if one.words.turned else "columns")
            for one in (head.q, head.k)
        ]
        if ends[0] != ends[1] and ends[1][0].holds(ends[0][0]) and ends[0][1] == ends[1][1]:
            head.q.words, ends[0] = head.k.words, ends[1]  # one of the words, among all of them
        weights = tuple(one.weights and one.weights.span for one in (head.q, head.k, head.v))
        groups.setdefault((ends[0], ends[1]), {}).setdefault(weights, head)
    projecting = {
        one.weights.span
        for head in heads
        for one in (head.q, head.k, head.v)
        if one.weights is not None
    }
    made = [_attention(tracing, [*group.values()], projecting) for group in groups.values()]
    return made, tracing


def given_attention(tracing: Tracing, named: Callable[[Span], bool]) -> list[Attention]:
    """The attentions whose weights are typed: products of a square table with words, or with values
    that are computed from words.

    Args:
        named: whether a label beside cells says that they are attention weights.
    """
    found = []
    for product in tracing.products:
        for given, values in ((product.rows, product.columns), (product.columns, product.rows)):
            if given.cells is None or values.cells is None or len({*given.cells[0].shape}) > 1:
                continue
            (span, axis), where = given.cells, product.block.span
            if tracing.blocks.at(span) or span.shape == (1, 1) or not named(span):
                continue
            v = _projection(tracing, values, by_words=True)
            if v is None:
                continue
            why = f"{where} multiplies its words by {span}"
            words = _original(tracing, v.words if v.weights else replace(v.words, why=why))
            one = Attention(words, None, [], output=where, settings={"attention": "A"})
            if v.weights is not None:
                one.weights["W_V"] = v.weights
            if v.bias is not None:
                one.weights["b_V"] = v.bias
            one.weights["A"] = Role(span, axis == "rows", f"{where} multiplies it by {values.cells[0]}")
            found.append(one)
    return found


def _head(tracing: Tracing, product: MatrixProduct) -> FormulaHead | None:
    """The attention whose output a product is; None if it is another product."""
    for weights, values in ((product.rows, product.columns), (product.columns, product.rows)):
        for scores in tracing.behind(weights):
            if not any("EXP" in name or "SOFTMAX" in name for name in scores.functions):
                continue
            # The product adds up over the words that are looked at: they are the keys.
            k, q = scores.product.along(scores.axis), scores.product.along(other(scores.axis))
            if values.cells is None and not isinstance(values.pieces[0][0], MatrixProduct):
                continue
            keys, queries = _projection(tracing, k), _projection(tracing, q)
            looked_at = _projection(tracing, values, by_words=True)
            if keys is None or queries is None or looked_at is None:
                continue
            if _same(tracing, keys.words, looked_at.words):
                mask = _mask(scores)
                return FormulaHead(
                    product, scores.product, weights.cells, mask, queries, keys, looked_at
                )
    return None


def _mask(scores: _Behind) -> Role | None:
    """The table that is added to the scores on the way to the attention weights."""
    for span in (*scores.product.block.added, *scores.added):
        if span.shape == scores.product.block.span.shape and max(span.shape) > 1:
            return Role(span, scores.axis == "rows", f"it is added to {scores.product.block.span}")
    return None


def _same(tracing: Tracing, a: Role, b: Role) -> bool:
    ends = [tracing.origin(one.span, "rows" if one.turned else "columns") for one in (a, b)]
    return ends[0] == ends[1]


def _projection(tracing: Tracing, factor: Factor, by_words: bool = False) -> Projection | None:
    """Queries, keys or values as words times weights.

    Args:
        by_words: whether the product with the factor adds up over words (values) rather than over
            dimensions (queries, keys).
    """
    found = tracing.behind(factor)
    if found:
        one = found[0]
        dimensions = other(one.axis) if by_words else one.axis
        factors = [_factors(each, by_words) for each in found]
        x = _tiled([x for x, _ in factors])
        w = _tiled([w for _, w in factors])
        if x is None or w is None:
            return None
        where = one.product.block.span
        weights = Role(w[0], w[1] == "columns", f"{where} multiplies it by {x[0]}")
        words = Role(x[0], x[1] == "rows", f"{where} multiplies its words by {w[0]}")
        return Projection(words, weights, _bias(one, dimensions))
    if factor.cells is None:
        return None
    span, axis = factor.cells
    turned = (axis == "columns") if by_words else (axis == "rows")
    return Projection(Role(span, turned, "its words are compared with each other"))


def _factors(one: _Behind, by_words: bool) -> tuple[FactorPiece | None, FactorPiece | None]:
    """The words and the weights whose product cells are; of the weights, the part that they need."""
    along = one.axis if by_words else other(one.axis)
    x, w = one.product.along(along).cells, one.product.along(other(along)).cells
    if x is None or w is None:
        return None, None
    span, axis = w
    start, count = _place(one.span, one.product.block.span, other(along))
    if one.span != one.product.block.span and count != span.shape[axis == "rows"]:
        span = span.part(other(axis), start, count)
    return x, (span, axis)


def _tiled(pieces: Sequence[FactorPiece | None]) -> tuple[Span, Axis] | None:
    """The rectangle that pieces make up together; None if they leave a gap."""
    spans = {p[0]: p[1] for p in pieces if p is not None and isinstance(p[0], Span)}
    if not spans or None in pieces or len(set(spans.values())) > 1:
        return None
    if len({span.sheet for span in spans}) > 1:
        return None
    tops, lefts, bottoms, rights = zip(*(span[1:] for span in spans))
    whole = Span(next(iter(spans)).sheet, min(tops), min(lefts), max(bottoms), max(rights))
    cells = sum(span.shape[0] * span.shape[1] for span in spans)
    if cells == whole.shape[0] * whole.shape[1] or whole in spans:
        return whole, next(iter(spans.values()))
    return None


def _place(part: Span, whole: Span, axis: Axis) -> tuple[int, int]:
    """Where a part begins in the rows or columns of the whole, and how many it has."""
    if axis == "rows":
        return part.top - whole.top, part.shape[0]
    return part.left - whole.left, part.shape[1]


def _bias(one: _Behind, axis: Axis) -> Role | None:
    """The line that is added to each word: as long as the words have dimensions in the result, or the
    part of a line that is added to the whole result, of which they are a part."""
    whole = one.product.block.span
    start, count = _place(one.span, whole, axis)
    for span in dict.fromkeys((*one.added, *one.product.block.added)):
        lying: Axis = "rows" if span.shape[1] == 1 and max(span.shape) > 1 else "columns"
        if min(span.shape) == 1 and max(span.shape) == whole.shape[axis == "columns"]:
            span = span.part(lying, start, count)
        if min(span.shape) == 1 and max(span.shape) == count:
            return Role(span, lying == "rows", f"it is added to {whole}")
    return None


def _attention(
    tracing: Tracing, heads: Sequence[FormulaHead], projecting: Container[Span]
) -> Attention:
    """One attention of all heads that attend from the same words to the same words; `projecting` are
    the weights of queries, keys and values of the whole workbook."""
    first = heads[0]
    same = _same(tracing, first.q.words, first.k.words)
    mixed = _mixed(tracing, heads, projecting)
    if mixed is not None:
        heads = mixed[1]
    words, memory = (_original(tracing, one.words) for one in (first.q, first.k))
    made = Attention(words, None if same else memory, list(heads))
    made.output = mixed[2] if mixed else first.output.block.span if len(heads) == 1 else None
    for number, head in enumerate(heads, 1):
        tail = f"_{number}" if len(heads) > 1 else ""
        for letter, one in (("Q", head.q), ("K", head.k), ("V", head.v)):
            if one.weights is not None:
                made.weights[f"W_{letter}{tail}"] = one.weights
            if one.bias is not None:
                made.weights[f"b_{letter}{tail}"] = one.bias
    if mixed is not None:
        made.weights["W_O"] = mixed[0]
        if mixed[3] is not None:
            made.weights["b_O"] = mixed[3]
    return made


def _original(tracing: Tracing, role: Role) -> Role:
    """The words that a table is a copy of, or itself."""
    span, axis = tracing.origin(role.span, "rows" if role.turned else "columns")
    return Role(span, axis == "rows", role.why) if span.sheet in tracing.blocks.on else role


def _mixed(
    tracing: Tracing, heads: Sequence[FormulaHead], projecting: Container[Span]
) -> tuple[Role, list[FormulaHead], Span, Role | None] | None:
    """W_O and its bias, the heads in the order in which it takes them, and the result; None if no
    product takes the outputs of all heads. The output of one head has the width of the words again:
    another product may lead to classes or to a feed-forward layer."""
    outputs = {head.output: head for head in heads}
    width = _width(heads[0].q.words)
    for product, weights, span, order in tracing.mixing.get(frozenset(outputs), ()):
        where, turned = weights
        role = Role(where, turned == "columns", "")
        if where in projecting or (len(heads) == 1 and _width(role) != width):
            continue
        why = f"{product.block.span} multiplies it by the heads' outputs, {span}"
        role = Role(where, turned == "columns", why)
        along: Axis = "columns" if product.columns.cells == weights else "rows"
        bias = _bias(_Behind(product, "rows", product.block.span, frozenset(), ()), along)
        return role, [outputs[one] for one in order], product.block.span, bias
    return None


def _width(role: Role) -> int:
    return role.span.shape[0 if role.turned else 1]


def _joined(tracing: Tracing, span: Span, axis: Axis) -> list[MatrixProduct]:
    """The products whose results stand side by side in a factor as they are, in order."""
    found: dict[MatrixProduct, int] = {}
    for block in tracing.blocks.at(span):
        part = _common(span, block.span)
        at = part.left if axis == "columns" else part.top
        for one in tracing.behind_cells((part, axis)):
            if one.added or one.functions - one.product.block.functions - JOINING:
                return []
            found.setdefault(one.product, at)
    return sorted(found, key=lambda product: found[product])


# Agreement

Values = Callable[[Span], "np.ndarray | None"]
"""The numbers in cells; None if one is missing."""


def settle(attention: Attention, values: Values) -> None:
    """Find the settings with which attn-xl computes the attention weights that the workbook stores:
    by what scores are divided, whether later words are hidden, and whether a table masks them."""
    if not attention.heads:
        return
    head = attention.heads[0]
    if len(attention.heads) > 1:
        attention.settings["heads"] = len(attention.heads)
    stored = head.weights and values(head.weights[0])
    q, k = (_computed(one, values) for one in (head.q, head.k))
    if stored is None or head.weights is None or q is None or k is None:
        return
    stored = stored if head.weights[1] == "columns" else stored.T
    added = _turned(head.mask, values) if head.mask is not None else None
    if stored.shape != (len(q), len(k)) or q.shape[1] != k.shape[1]:
        return
    plain = q @ k.T
    own = np.sqrt(k.shape[1])
    masks = (added, None) if added is not None and added.shape == plain.shape else (None,)
    for given, mask, causal in every((own, 1.0, None), masks, (False, True)):
        hidden = np.zeros(plain.shape) if mask is None else mask
        if causal:
            hidden = np.where(np.triu(np.ones(plain.shape), 1) > 0, -np.inf, hidden)
        divisor = given or _divisor(plain, hidden, stored)
        if not divisor:
            continue
        scores = plain / divisor + hidden
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        if np.allclose(powers / powers.sum(axis=1, keepdims=True), stored, rtol=1e-4, atol=1e-6):
            attention.agrees = True
            attention.settings |= {} if given == own else {"scale": False}
            attention.settings |= {} if given else {"temperature": divisor}
            attention.settings |= {"causal": True} if causal else {}
            if mask is not None and head.mask is not None:
                attention.weights["Mask"] = head.mask
            return
    attention.agrees = False


def _divisor(scores: np.ndarray, mask: np.ndarray, stored: np.ndarray) -> float:
    """The number that divides scores (n, m) whose softmax is stored; 0 if they do not tell: in a row,
    logarithms of attention weights differ as the scaled scores do."""
    seen = (stored > LEAST) & (mask > MASKED)
    above = below = 0.0
    for here, s, a, m in zip(seen, scores, stored, mask):
        if here.sum() > 1:
            s, a = s[here] - s[here].mean(), np.log(a[here]) - m[here]
            above, below = above + float(s @ s), below + float(s @ (a - a.mean()))
    return float(f"{above / below:.10g}") if below > 0 else 0.0


def _turned(role: Role, values: Values) -> np.ndarray | None:
    found = values(role.span)
    return found.T if found is not None and role.turned else found


def _computed(one: Projection, values: Values) -> np.ndarray | None:
    """Queries or keys, (n, d_k), from the words, the weights and the bias."""
    words = _turned(one.words, values)
    if one.weights is None or words is None:
        return words
    weights, bias = _turned(one.weights, values), one.bias and _turned(one.bias, values)
    if weights is None or words.shape[1] != weights.shape[0]:
        return None
    return np.asarray(words @ weights + (0 if bias is None else bias))
