"""Takes the formulas of a workbook apart: blocks of formulas filled by copying, and the matrix product
that a block computes, whether it is written with MMULT, SUMPRODUCT, SUM or `*` and `+`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from attn_xl.spreadsheets.addresses import Axis, Span
from attn_xl.spreadsheets.blocks import Forms, FormulaBlock, Lookup, Template, Token, blocks
from attn_xl.spreadsheets.formulas import FormulaBook, SheetCells

from .regions import Places

Corners = tuple[int, int, int, int]
"""First row, first column, last row, last column, from 1."""
Tree = tuple[Any, ...]
"""`("ref", number)`, `("number", place among the coordinates or -1)`, `("call", name, arguments)`,
`("do", operator, left, right)`, or `("other",)`."""
FactorPiece = tuple["MatrixProduct | Span", Axis]

DEEPEST = 400
"""Operations within each other in a formula that is followed: the terms of a sum, for example."""
_TRANSPARENT = ("ANCHORARRAY", "SINGLE", "ARRAYFORMULA", "N", "(")
_BINDING = {"=": 1, "<": 1, ">": 1, "&": 2, "+": 3, "-": 3, "*": 4, "/": 4, "^": 5, ":": 6}
_PARTS = ("CHOOSECOLS", "CHOOSEROWS", "TAKE", "DROP", "OFFSET", "INDEX")
"""Functions that return some rows and columns of a range."""


def other(axis: Axis) -> Axis:
    return "columns" if axis == "rows" else "rows"


@dataclass(frozen=True)
class CellReference:
    """What one reference is in the first formula of a block, and how it moves from formula to formula.

    Attributes:
        corners: the cells in the first formula.
        right, down: how the corners move in the next formula to the right, and below.
        span: the cells that all formulas of the block refer to.
    """

    corners: Corners
    right: Corners
    down: Corners
    span: Span

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns in one formula."""
        return self.corners[2] - self.corners[0] + 1, self.corners[3] - self.corners[1] + 1


class Factor(NamedTuple):
    """A factor of a matrix product: what it is, with the axis along which the product adds up."""

    pieces: tuple[FactorPiece, ...]

    @property
    def cells(self) -> tuple[Span, Axis] | None:
        """Its cells, and the axis; None if it is computed within the formula."""
        piece, axis = self.pieces[0]
        return (piece, axis) if isinstance(piece, Span) else None


@dataclass(frozen=True, eq=False)
class MatrixProduct:
    """A block whose number in row i and column j is the inner product of line i of `rows` and line j of
    `columns`.

    Attributes:
        block: the block that computes it.
        rows, columns: the factors: one line for each row, or each column, of the result.
    """

    block: ParsedBlock
    rows: Factor
    columns: Factor

    def along(self, axis: Axis) -> Factor:
        return self.rows if axis == "rows" else self.columns


@dataclass(eq=False)
class ParsedBlock:
    """Adjacent cells with one formula, filled by copying, or one array formula.

    Attributes:
        span: its cells.
        item: rows and columns of one formula: 1 x 1, or those of an array formula.
        steps: how many formulas it has below each other and beside each other.
        tree: the formula; references: what its references are.
        numbers: the coordinates of its first formula, the numbers in it among them.
    """

    span: Span
    item: tuple[int, int]
    steps: tuple[int, int]
    tree: Tree
    references: list[CellReference]
    functions: frozenset[str] = frozenset()
    numbers: tuple[float, ...] = ()

    @cached_property
    def products(self) -> list[tuple[MatrixProduct, bool]]:
        """The matrix products that it consists of, and whether each is transposed; functions that sum a
        result up are not followed."""
        return [(p, flip) for p, flip in _carried(self, self.tree) if isinstance(p, MatrixProduct)]

    @cached_property
    def carriers(self) -> list[tuple[Span, bool]]:
        """The cells that it is computed from number by number, and whether they are transposed."""
        found: dict[tuple[Span, bool], None] = {}
        for one, flip in _carried(self, self.tree):
            if isinstance(one, CellReference) and _is_carrier(self, one, flip):
                turned = flip != _is_turned(self, one)
                found[one.span, turned] = None
        return list(found)

    @cached_property
    def added(self) -> list[Span]:
        """What its formula adds as a last step; a copy adds nothing."""
        if self.is_copy:
            return []
        terms = (_bare(term, also="TRANSPOSE") for term in _terms(self.tree))
        return [self.references[t[1]].span for t in terms if t[0] == "ref"]

    @property
    def is_copy(self) -> bool:
        return _part(self, _bare(self.tree, also="TRANSPOSE")) is not None


class ParsedBlocks:
    """All blocks of a workbook, by sheet."""

    def __init__(self, book: FormulaBook) -> None:
        self._lookup, forms = Lookup(book), Forms(book.formulas)
        self._trees: dict[tuple[str, tuple[Token, ...]], tuple[Tree, list[Span]]] = {}
        self._places: dict[str, Places] = {}
        self.on: dict[str, list[ParsedBlock]] = {name: [] for name in book.sheets}
        for name, sheet in book.sheets.items():
            self.on[name] = [self._block(block) for block in blocks(sheet, forms)]
            self.on[name].sort(key=lambda block: block.span)
        self._add_sums()

    def _block(self, block: FormulaBlock) -> ParsedBlock:
        """A block of formulas with its tree and what its references are."""
        template, own, steps, item = block.template, block.sheet, block.steps, block.item
        key = own.name, template.tokens
        if key not in self._trees:
            self._trees[key] = self._read(template, own)
        tree, named = self._trees[key]
        references = []
        for r in template.references:
            sheet = self._lookup.sheet(r.sheet, own)
            at = [*range(r.at, r.at + 2 * r.cells)] * (3 - r.cells)
            corners, right, down = (
                tuple(numbers[at].astype(int).tolist())
                for numbers in (block.coordinates, block.right, block.down)
            )
            spilled = self._lookup.spilled(sheet, corners, r) if sheet is not None else corners
            if spilled != corners:
                right = down = (0,) * 4
            name = sheet.name if sheet is not None else r.sheet
            references.append(_reference(name, (spilled, right, down), steps))
        references += [_reference(a.sheet, (a[1:], (0,) * 4, (0,) * 4), (1, 1)) for a in named]
        (top, left), (rows, columns) = block.first, (steps[0] * item[0], steps[1] * item[1])
        span = Span(own.name, top, left, top + rows - 1, left + columns - 1)
        functions, numbers = frozenset(_functions(tree)), tuple(block.coordinates.tolist())
        return ParsedBlock(span, item, steps, tree, references, functions, numbers)

    def _read(self, template: Template, own: SheetCells) -> tuple[Tree, list[Span]]:
        """The tree of a template, whose last references are defined names, and what these mean."""
        named: list[Span] = []
        tokens: list[Token] = []
        for kind, text in template.tokens:
            area = self._lookup.area(text, own) if kind == "name" else None
            if area is not None:
                kind, text = "ref", str(len(template.references) + len(named))
                named.append(Span(area[0].name, *area[1]))
            tokens.append((kind, text))
        return _parsed(tokens), named

    def _add_sums(self) -> None:
        """Add the products that are written in two steps: `=A1*B1` in a table, then sums over it."""
        for block in [block for found in self.on.values() for block in found]:
            tree = _bare(block.tree)
            if tree[:2] != ("call", "SUM") or len(tree[2]) != 1 or _bare(tree[2][0])[0] != "ref":
                continue
            line = block.references[_bare(tree[2][0])[1]]
            inner = self.at(line.span)
            if len(inner) == 1 and inner[0].span.holds(line.span) and 1 in line.size != (1, 1):
                product = _summed(block, line, inner[0])
                if product is not None:
                    block.products.append((product, False))

    def at(self, span: Span) -> list[ParsedBlock]:
        """The blocks that cover some of the cells."""
        blocks = self.on.get(span.sheet, [])
        if span.sheet not in self._places:
            self._places[span.sheet] = Places([block.span[1:] for block in blocks])
        return [blocks[number] for number in self._places[span.sheet].at(span[1:])]


def _reference(sheet: str, moves: Sequence[Any], steps: tuple[int, int]) -> CellReference:
    """A reference of a block with this many formulas below and beside each other."""
    corners, right, down = moves
    last = [a + (steps[1] - 1) * r + (steps[0] - 1) * d for a, r, d in zip(corners, right, down)]
    return CellReference(corners, right, down, Span(sheet, *corners[:2], *last[2:]))


# Formulas


def _parsed(tokens: Sequence[Token]) -> Tree:
    """The tree of a formula."""
    at = 0

    def peek() -> str:
        return tokens[at][1] if at < len(tokens) and tokens[at][0] == "sign" else ""

    def primary() -> Tree:
        nonlocal at
        if at >= len(tokens):
            return ("other",)
        kind, text = tokens[at]
        at += 1
        if kind in ("ref", "number"):
            return (kind, int(text))
        if kind == "call" or (kind, text) == ("sign", "("):
            arguments: list[Tree] = []
            while at < len(tokens) and peek() != ")":
                empty = peek() in (",", ";")
                arguments.append(("other",) if empty else expression(0))
                at += peek() != ")"  # a separator
            at += 1
            return ("call", text, tuple(arguments))
        if kind == "sign" and text in ("-", "+"):
            inner = expression(5)
            return inner if text == "+" else ("call", "-", (inner,))
        return ("other",)

    def expression(least: int) -> Tree:
        nonlocal at
        left = primary()
        while at < len(tokens):
            sign = peek()
            if sign in ("%", "#"):
                at += 1
                if sign == "#":
                    left = ("call", "ANCHORARRAY", (left,))
                continue
            binding = _BINDING.get(sign, 0)
            if not binding or binding <= least:
                break
            at += 1
            left = ("do", sign, left, expression(binding))
        return left

    try:
        tree = expression(0)
    except RecursionError:
        return ("other",)
    return tree if _depth(tree) <= DEEPEST else ("other",)


def _depth(tree: Tree) -> int:
    deepest, left = 0, [(tree, 1)]
    while left:
        one, depth = left.pop()
        deepest = max(deepest, depth)
        inner = one[2] if one[0] == "call" else one[2:] if one[0] == "do" else ()
        left += [(part, depth + 1) for part in inner]
    return deepest


def _functions(tree: Tree) -> Iterator[str]:
    if tree[0] == "call":
        yield tree[1]
        for one in tree[2]:
            yield from _functions(one)
    elif tree[0] == "do":
        if tree[1] == "^" and tree[3][0] != "number":
            yield "EXP"  # e^x
        yield from _functions(tree[2])
        yield from _functions(tree[3])


def _bare(tree: Tree, also: str = "") -> Tree:
    """A formula without what only stands around it."""
    while tree[0] == "call" and (tree[1] in _TRANSPARENT or tree[1] == also) and len(tree[2]) == 1:
        tree = tree[2][0]
    return tree


def _terms(tree: Tree) -> list[Tree]:
    """The terms of a sum, nested sums included."""
    tree = _bare(tree)
    if tree[0] == "do" and tree[1] == "+":
        left, right = _terms(tree[2]), tree[3]
        return [*left, *_terms(right)]
    if tree[0] == "call" and tree[1] == "SUM" and len(tree[2]) > 1:
        return [term for one in tree[2] for term in _terms(one)]
    return [tree]


def _part(block: ParsedBlock, tree: Tree) -> CellReference | None:
    """The cells that a formula stands for: a reference, or rows and columns of one that functions cut
    out, as `CHOOSECOLS(A1#,1,2)`, `OFFSET(A1,0,2,3,2)`; None if it is something else."""
    tree = _bare(tree)
    if tree[0] == "ref":
        return block.references[tree[1]]
    if tree[:2] == ("do", ":"):
        ends = _part(block, tree[2]), _part(block, tree[3])
        return _joined([end for end in ends if end is not None]) if None not in ends else None
    if tree[0] != "call" or tree[1] not in _PARTS or not tree[2]:
        return None
    inner = _part(block, tree[2][0])
    if inner is None or any((*inner.right, *inner.down)):
        return None
    given = [_number(block, one) for one in tree[2][1:]]
    box = _cut(tree[1], inner.size, given) if None not in given else None
    if box is None:
        return None
    (down, rows), (right, columns) = box
    top, left = inner.corners[0] + down, inner.corners[1] + right
    corners = top, left, top + rows - 1, left + columns - 1
    return CellReference(corners, inner.right, inner.down, Span(inner.span.sheet, *corners))


def _number(block: ParsedBlock, tree: Tree) -> int | None:
    """A whole number in a formula, 0 for an argument left out; None for anything else."""
    if tree == ("other",):
        return 0
    if tree[:2] == ("call", "-"):
        inner = _number(block, tree[2][0])
        return None if inner is None else -inner
    if tree[0] != "number" or tree[1] < 0 or not block.numbers[tree[1]].is_integer():
        return None
    return int(block.numbers[tree[1]])


def _cut(
    name: str, size: tuple[int, int], given: Sequence[int | None]
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the rows and columns that a function cuts out of a range begin, from 0, and how many there
    are; None if they are not adjacent."""
    numbers = [one or 0 for one in given]
    ways = [(0, size[0]), (0, size[1])]
    if name in ("CHOOSECOLS", "CHOOSEROWS"):
        first = numbers[0] if numbers else 0
        if numbers != [*range(first, first + len(numbers))] or first < 1:
            return None
        ways[name == "CHOOSECOLS"] = first - 1, len(numbers)
    elif name == "OFFSET":
        rows, columns, high, wide = [*numbers, 0, 0, 0, 0][:4]
        ways = [(rows, high or size[0]), (columns, wide or size[1])]
    elif name == "INDEX":
        ways = [(n - 1, 1) if n else way for n, way in zip([*numbers, 0, 0], ways)]
    else:
        for axis, n in enumerate(numbers[:2]):
            first, count = (0, n) if n > 0 else (size[axis] + n, -n)
            if name == "DROP":
                first, count = (count, size[axis] - count) if n > 0 else (0, first)
            ways[axis] = (first, count) if n else ways[axis]
    if any(count < 1 for _, count in ways):
        return None
    return ways[0], ways[1]


def _carried(
    block: ParsedBlock, tree: Tree, flip: bool = False
) -> Iterator[tuple[MatrixProduct | CellReference, bool]]:
    """The products and references of a formula, each with whether it is transposed."""
    product = _product(block, tree)
    if product is not None:
        yield product, flip
        for term in _terms(tree):  # a bias is no factor
            if _bare(term)[0] == "ref":
                yield block.references[_bare(term)[1]], flip
        return
    part = _part(block, tree)
    if part is not None:
        yield part, flip
    elif tree[0] == "call":
        inner = flip != (tree[1] == "TRANSPOSE")
        for one in tree[2]:
            yield from _carried(block, one, inner)
    elif tree[0] == "do":
        left = list(_carried(block, tree[2], flip))
        yield from left
        if tree[1] != "/" or not left:  # what is divided goes on, not the sum that divides it
            yield from _carried(block, tree[3], flip)


def _is_carrier(block: ParsedBlock, ref: CellReference, flip: bool) -> bool:
    """Whether each number of a block is computed from one cell of what it refers to."""
    size = ref.size[::-1] if flip else ref.size
    turned = flip != _is_turned(block, ref)
    shape = ref.span.shape[::-1] if turned else ref.span.shape
    return size == block.item and shape == block.span.shape


def _is_turned(block: ParsedBlock, ref: CellReference) -> bool:
    """Whether a reference moves down where its block goes to the right."""
    right, down = block.steps[1] > 1, block.steps[0] > 1
    return bool(
        (right and ref.right[0] and not ref.right[1]) or (down and ref.down[1] and not ref.down[0])
    )


# Products


def _product(block: ParsedBlock, tree: Tree) -> MatrixProduct | None:
    """The matrix product that a formula computes as a whole; None if it computes something else."""
    tree = _bare(tree)
    if tree[0] == "call" and tree[1] == "MMULT" and len(tree[2]) == 2:
        left, right = tree[2]
        return _of(block, _factor(block, left, "columns"), _factor(block, right, "rows"))
    if tree[0] == "call" and tree[1] in ("SUMPRODUCT", "SUM"):
        pair = tree[2]
        if len(pair) == 1 and _bare(pair[0])[:2] == ("do", "*"):
            pair = _bare(pair[0])[2:]
        if len(pair) == 2 and not (tree[1] == "SUM" and len(tree[2]) == 2):
            return _of(block, *(_line(block, one) for one in pair))
    return _written_out(block, tree)


FactorLine = tuple[Factor, CellReference | None, Axis]


def _of(block: ParsedBlock, a: FactorLine | None, b: FactorLine | None) -> MatrixProduct | None:
    """The product of two factors, each assigned to the rows or the columns of the result."""
    if a is None or b is None:
        return None
    ways = [_moves_with(block, ref, axis) for _, ref, axis in (a, b)]
    if "columns" == ways[0] != ways[1] or "rows" == ways[1] != ways[0]:
        a, b = b, a
    return MatrixProduct(block, a[0], b[0])


def _moves_with(block: ParsedBlock, ref: CellReference | None, contracted: Axis) -> Axis | None:
    """Whether a factor's lines go with the rows or with the columns of the result."""
    if ref is None:
        return None
    along = 0 if contracted == "columns" else 1
    if ref.down[along]:
        return "rows"
    return "columns" if ref.right[along] else None


def _factor(block: ParsedBlock, tree: Tree, contracted: Axis) -> FactorLine | None:
    """A factor of MMULT."""
    pieces: list[tuple[MatrixProduct | CellReference, Axis]] = []
    for piece, flip in _carried(block, tree):
        pieces.append((piece, other(contracted) if flip else contracted))
    sizes = [_area(piece) for piece, _ in pieces]
    kept = [(p, axis) for (p, axis), size in zip(pieces, sizes) if size >= max(sizes)]
    if not kept:
        return None
    first, axis = kept[0]
    spans = tuple((p.span if isinstance(p, CellReference) else p, a) for p, a in kept)
    return Factor(spans), first if isinstance(first, CellReference) else None, axis


def _area(piece: MatrixProduct | CellReference) -> float:
    if isinstance(piece, MatrixProduct):
        return float("inf")
    return piece.span.shape[0] * piece.span.shape[1]


def _line(block: ParsedBlock, tree: Tree) -> FactorLine | None:
    """A factor of SUMPRODUCT: part of a row or of a column."""
    tree = _bare(tree)
    while tree[0] == "call" and tree[1] == "TRANSPOSE":
        tree = _bare(tree[2][0])
    part = _part(block, tree)
    return None if part is None else _along(part)


def _along(ref: CellReference) -> FactorLine | None:
    if 1 not in ref.size or ref.size == (1, 1):
        return None
    axis: Axis = "columns" if ref.size[0] == 1 else "rows"
    return Factor(((ref.span, axis),)), ref, axis


def _written_out(block: ParsedBlock, tree: Tree) -> MatrixProduct | None:
    """`=A1*B1+A2*B2+...`"""
    pairs = []
    for term in _terms(tree):
        if term[:2] == ("do", "*"):
            sides = _bare(term[2]), _bare(term[3])
            if any(side[0] != "ref" for side in sides):
                return None
            pairs.append([block.references[side[1]] for side in sides])
    if len(pairs) < 2 or any(ref.size != (1, 1) for pair in pairs for ref in pair):
        return None
    for number in range(1, len(pairs)):
        if not _follows(pairs, number):
            pairs[number].reverse()
            if not _follows(pairs, number):
                return None
    return _of(block, *(_along(_joined([pair[side] for pair in pairs])) for side in (0, 1)))


def _summed(block: ParsedBlock, line: CellReference, inner: ParsedBlock) -> MatrixProduct | None:
    """The product of a block of sums over the lines of a table whose cells multiply two others."""
    tree = _bare(inner.tree)
    if tree[:2] != ("do", "*") or inner.item != (1, 1) or line.span != inner.span:
        return None
    sides = [_bare(side) for side in tree[2:]]
    if any(side[0] != "ref" or inner.references[side[1]].size != (1, 1) for side in sides):
        return None
    down = line.size[1] == 1  # each sum is over a column of the table
    found: dict[bool, Factor] = {}
    for ref in (inner.references[side[1]] for side in sides):
        summed, kept = (ref.down, ref.right) if down else (ref.right, ref.down)
        if not any(summed):
            return None
        axis: Axis = "rows" if summed[0] else "columns"
        found[any(kept)] = Factor(((ref.span, axis),))
    if len(found) < 2:
        return None  # both or none go with the sums: no matrix product
    goes_right = block.steps[1] > 1
    one, many = found[False], found[True]
    return MatrixProduct(block, one, many) if goes_right else MatrixProduct(block, many, one)


def _follows(pairs: Sequence[Sequence[CellReference]], number: int) -> bool:
    """Whether both cells of a pair come after those of the pair before, in one line."""
    for side in (0, 1):
        a, b = (pairs[n][side] for n in (number - 1, number))
        step = b.corners[0] - a.corners[0], b.corners[1] - a.corners[1]
        first = pairs[0][side]
        straight = {0, 1} in (set(step),) and (
            b.corners[0] == first.corners[0] or b.corners[1] == first.corners[1]
        )
        if not straight or a.span.sheet != b.span.sheet or (a.right, a.down) != (b.right, b.down):
            return False
    return True


def _joined(refs: Sequence[CellReference]) -> CellReference:
    a, b = refs[0], refs[-1]
    corners = (*a.corners[:2], *b.corners[2:])
    span = Span(a.span.sheet, a.span.top, a.span.left, b.span.bottom, b.span.right)
    return CellReference(corners, a.right, a.down, span)
