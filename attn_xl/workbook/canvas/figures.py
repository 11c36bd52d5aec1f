"""How one step is drawn by hand: what stands to the left of its result, what above, what between.
Knows no place on a sheet and no file format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attn_xl.graph.node import Node
from attn_xl.graph.operation import cells_of, operation_of
from attn_xl.graph.operations.elementwise import Copy, Elementwise
from attn_xl.graph.operations.products import Product, Transpose
from attn_xl.graph.operations.selection import Columns, Concat
from attn_xl.workbook.layout.layout import Sheet
from attn_xl.workbook.layout.placed import Block


@dataclass(frozen=True, eq=False, repr=False)
class Operand:
    """A matrix that a step reads.

    Attributes:
        node: the matrix; columns of one, or one read with rows and columns swapped to the left, where
            it stands for a part of what has cells.
        sign: what stands before it in the step: `+`; "" for none.
        turned: it is read with rows and columns swapped.
        factor: it is the right factor of a product.
    """

    node: Node
    sign: str = ""
    turned: bool = False
    factor: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Figure:
    """A step: its result, and what is to be seen beside it.

    Attributes:
        block: its result.
        helpers: what is made on the way, in reading order.
        scalars: numbers of its own, such as d_k.
        left: the operands to its left.
        above: the right factor, and whatever is read with rows and columns swapped.
        rows: the operands of one row that goes with every row, such as a bias.
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
        """Whether steps like it may stand in a row behind the operand that all of them begin with."""
        return isinstance(self.node.operation, Copy) or any(operand.factor for operand in self.above)

    @property
    def sign(self) -> str:
        """What stands before an operand that changed places with the one before it."""
        made = self.node.operation
        return made.sign if isinstance(made, Elementwise) else ""

    def first(self, last: Node | None) -> Operand | None:
        """The operand that it begins with; `last` is the matrix that was drawn last, which takes that
        place where the order does not matter."""
        for operand in self.left[1:]:
            if operand.node is last and self.sign in ("+", "·"):
                return operand
        return self.left[0] if self.left else None


def comes_with_its_use(node: Node) -> bool:
    """Whether a matrix is drawn where it is first read: it is given, or made of nothing drawn."""
    if node.operation is None or isinstance(node.operation, Columns):
        return True
    return operation_of(node).reads_labels


def figure_of(sheet: Sheet) -> Figure:
    """How the step that a sheet shows is drawn."""
    main, *rest = sheet.blocks
    helpers = tuple(block for block in rest if not block.node.scalar)
    scalars = tuple(block for block in rest if block.node.scalar)
    own = {block.node for block in sheet.blocks}
    found: dict[tuple[Node, bool], Operand] = {}
    if not comes_with_its_use(main.node) and not isinstance(main.node.operation, Concat):
        for block in (main, *helpers):
            for operand in _read(block.node):
                node = operand.node
                if node not in own and not node.scalar and not node.sheet:
                    found.setdefault((node, operand.turned or operand.factor), operand)
    above = [operand for operand in found.values() if operand.turned or operand.factor]
    left = [operand for operand in found.values() if operand not in above]
    rows = [operand for operand in left if _goes_with_every_row(operand.node, main.node)]
    left = [operand for operand in left if operand not in rows]
    return Figure(main, helpers, scalars, tuple(left), tuple(above), tuple(rows))


def _goes_with_every_row(node: Node, result: Node) -> bool:
    cells = cells_of(node)
    role = cells.node.role if cells else node.role
    return node.shape[0] == 1 and (result.shape[0] > 1 or role == "weight")


def _read(node: Node, sign: str = "", turned: bool = False, factor: bool = False) -> Iterator[Operand]:
    """The named matrices in a node's formula, with what happens to them."""
    made = node.operation
    for number, parent in enumerate(node.parents):
        said = made.sign if isinstance(made, Elementwise) and number == 1 else sign
        found = Operand(
            parent,
            said,
            turned or isinstance(made, Transpose),
            factor or (isinstance(made, Product) and number == 1),
        )
        if parent.name or _is_part(parent, isinstance(made, Product) and number == 0):
            yield found
        else:
            yield from _read(parent, found.sign, found.turned, found.factor)


def _is_part(node: Node, left_factor: bool) -> bool:
    """Whether what is read of a matrix is drawn as it is read: some of its columns, or a left factor
    with rows and columns swapped."""
    cells = cells_of(node)
    if cells is None:
        return False
    whole = cells.shape[::-1] if cells.turned else cells.shape
    return whole != cells.node.shape or (cells.turned and left_factor)


def read_by(figures: Sequence[Figure]) -> set[Node]:
    """All that these steps show beside their results."""
    return {operand.node for figure in figures for operand in figure.operands}
