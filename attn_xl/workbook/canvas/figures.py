"""Decides how a step is drawn: which operands stand to the left of its result, and which above."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from attn_xl.graph.node import Node
from attn_xl.graph.operation import cells_of, operation_of, view_of
from attn_xl.records import record
from attn_xl.workbook.layout.layout import Sheet
from attn_xl.workbook.layout.placed import Block


@record(frozen=True, eq=False, repr=False)
class Operand:
    """A matrix that a step reads.

    Attributes:
        node: the matrix, some columns of one, or a transposed left factor.
        sign: the sign before it, `+`; "" for none.
        turned: whether it is transposed.
        factor: whether it is the right factor of a product.
        moved: `Hidden[t-1]`, whose rows are those that the step reads of it; None if they are its own.
        beyond: whether it is the row that stands beyond the ends of such a matrix.
        called: the copy of the matrix that the step reads, which has its name: `K` of `Input`.
    """

    node: Node
    sign: str = ""
    turned: bool = False
    factor: bool = False
    moved: Node | None = None
    beyond: bool = False
    called: Node | None = None


@record(frozen=True, eq=False, repr=False)
class Figure:
    """A step: its result and the operands drawn beside it.

    Attributes:
        block: its result.
        helpers: intermediate results, in reading order.
        scalars: its own scalars, such as d_k.
        left: the operands to its left.
        above: the right factor, and transposed operands.
        rows: operands of a single row that applies to every row, such as a bias.
    """

    block: Block
    helpers: tuple[Block, ...]
    scalars: tuple[Block, ...]
    left: tuple[Operand, ...]
    above: tuple[Operand, ...]
    rows: tuple[Operand, ...]

    @property
    def node(self) -> Node:
        return self.block.node

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (*self.left, *self.above, *self.rows)

    @property
    def fans(self) -> bool:
        """Whether several such steps may share the operand at the start of their line: Q, K and V."""
        view = view_of(self.node)
        is_copy = view is not None and not view.turned and view.shape == view.node.shape
        return is_copy or (len(self.left) < 2 and any(operand.factor for operand in self.above))

    @property
    def sign(self) -> str:
        """The sign of its operation, `+`; "" for none."""
        return operation_of(self.node).sign if self.node.operation else ""

    @property
    def is_line(self) -> bool:
        """Whether the operands to its left, with their signs, are the whole formula."""
        return not self.helpers and _line(self.node) == [(one.node, one.sign) for one in self.left]

    def first(self, last: Node | None) -> Operand | None:
        """The operand that it begins with: `last`, the matrix drawn last, if the order is free."""
        commutes = {operand.sign for operand in self.left[1:]} in ({"+"}, {"·"})
        for operand in self.left[1:]:
            if operand.node is last and (commutes or not self.is_line):
                return operand
        return self.left[0] if self.left else None


def is_drawn_at_first_use(node: Node) -> bool:
    """Whether a matrix is drawn where it is first used: it is given, or has no operands to draw."""
    if node.operation is None or operation_of(node).reads_labels:
        return True
    view = view_of(node)
    return view is not None and not view.turned and view.shape != view.node.shape


def figure_of(sheet: Sheet, original: Callable[[Node], Node]) -> Figure:
    """The figure of the step that a sheet shows; `original` gives the matrix in whose cells a copy
    stands."""
    main, *rest = sheet.blocks
    helpers = tuple(block for block in rest if not block.node.scalar)
    scalars = tuple(block for block in rest if block.node.scalar)
    own = {block.node for block in sheet.blocks}
    operands: dict[tuple[Node, bool], Operand] = {}
    if not is_drawn_at_first_use(main.node) and not operation_of(main.node).joins:
        for block in (main, *helpers):
            for operand in _read(block.node):
                node = original(operand.node)
                if node is not operand.node:
                    operand = replace(operand, node=node, called=operand.node)
                if node not in own and not node.scalar and not node.sheet:
                    key = node, operand.turned or operand.factor
                    first = operands.setdefault(key, operand)
                    if first.moved != operand.moved:  # several rows are read
                        operands[key] = replace(first, moved=None)
    above = [operand for operand in operands.values() if operand.turned or operand.factor]
    left = [operand for operand in operands.values() if operand not in above]
    rows = [operand for operand in left if _goes_with_every_row(operand.node, main.node)]
    left = [operand for operand in left if operand not in rows]
    rows.sort(key=lambda operand: operand.beyond)  # right above the first row
    return Figure(main, helpers, scalars, tuple(left), tuple(above), tuple(rows))


def _goes_with_every_row(node: Node, result: Node) -> bool:
    cells = cells_of(node)
    role = cells.node.role if cells else node.role
    return node.shape[0] == 1 and (result.shape[0] > 1 or role == "weight")


def _read(node: Node, sign: str = "", turned: bool = False, factor: bool = False) -> Iterator[Operand]:
    """The named matrices in a node's formula, with their signs and positions."""
    if node.operation is None:
        return
    operation, view = operation_of(node), view_of(node)
    turned = turned or (view is not None and view.turned)
    for number, parent in enumerate(node.parents):
        operand = Operand(
            parent,
            operation.sign if operation.sign and number == 1 else sign,
            turned,
            factor or (operation.is_product and number == 1),
            node if operation.row_of(0) and number == 0 and parent.shape == node.shape else None,
            operation.row_of(0) is not None and number == 1,
        )
        if operand.beyond:
            operand = replace(operand, sign="")
        if parent.name or _is_part(parent, operation.is_product and number == 0):
            yield operand
        else:
            yield from _read(parent, operand.sign, operand.turned, operand.factor)


def _line(node: Node) -> list[tuple[Node, str]]:
    """A formula as its operands, each with the sign before it, as it is read from left to right; empty
    if it cannot be written so."""
    sign = operation_of(node).sign if node.operation else ""
    if not sign:
        return []
    left, right = (
        [(parent, "")] if parent.name or _is_part(parent, False) else _line(parent)
        for parent in node.parents
    )
    inner = {own for _, own in left[1:]}, {own for _, own in right[1:]}
    sum_of_products = sign in "+-" and inner[1] <= {"·"}
    if not left or not right or not (sum_of_products or (not inner[1] and inner[0] <= {"·"})):
        return []
    return [*left, (right[0][0], sign), *right[1:]]


def _is_part(node: Node, left_factor: bool) -> bool:
    """Whether a part of a matrix is drawn instead of the whole: some columns, or a transposed left
    factor."""
    cells = cells_of(node)
    if cells is None:
        return False
    whole = cells.shape[::-1] if cells.turned else cells.shape
    return whole != cells.node.shape or (cells.turned and left_factor)


def read_by(figures: Sequence[Figure]) -> set[Node]:
    """All operands of these steps."""
    return {operand.node for figure in figures for operand in figure.operands}
