"""Places each matrix on a sheet of its own: numbers from B5, labels above and to the left. What a step
is computed from in passing (maximum, exponentials, sum) stands to its left, so that a sheet reads from
left to right. Matrices that share a sheet (`Compare`) stand below each other."""

from __future__ import annotations

from attn_xl.errors import InputError, TooLargeError
from attn_xl.graph.graph import referred_to
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.operations.elementwise import Copy
from attn_xl.graph.step import WHOLE
from attn_xl.models import steps
from attn_xl.models.computation import Computation, formula_of, sentence_of
from attn_xl.models.parts import chosen_parts
from attn_xl.models.steps import AFTER, BEFORE, JACOBIAN, JACOBIAN_NOTE, LEARNED_NOTE, MOVED
from attn_xl.settings import COMPARE, OVERVIEW
from attn_xl.spreadsheets.addresses import (
    MAX_COLUMNS,
    MAX_NAME,
    MAX_ROWS,
    MAX_SHEET_NAME,
    MAX_TEXT,
    MOST_CELLS,
    Place,
    defined_name,
    letters,
    sheet_name,
    too_long,
    unique,
)
from attn_xl.text import clean, listed, shortened

from .layout import (
    FIRST_COLUMN,
    FIRST_ROW,
    OPTIONS_NOTE,
    Layout,
    Sheet,
)
from .page import Block

MOST_BESIDE = 26
"""Columns of matrices side by side on a shared sheet, so that they can be printed."""
MOST_CAPTION = 50
"""Characters of a note that stands as the caption of a matrix on a shared sheet."""


def lay_out(computation: Computation, only: str | None = None) -> Layout:
    """Give every matrix of a computation its sheet, its place and its defined name.

    Args:
        only: the layers and heads to write, `Enc1,head2`. The others are left out, and cells that
            would refer to them hold values instead of formulas.

    Raises:
        CallError: if `only` names a layer or head that does not exist.
        InputError: if a matrix is too large for a sheet (16,384 columns, 1,048,576 rows), or the
            matrices together for a workbook (20,000,000 numbers).
    """
    prefixes = _prefixes(computation)
    shared = computation.shared()
    node: Matrix
    contents: dict[tuple[str, str], list[tuple[Matrix, str]]] = {}  # (prefix, symbol): node, name
    owners: dict[tuple[str, str], Matrix] = {}
    step_of: dict[Matrix, Matrix] = {}
    for sentence, graph in computation.items():
        for full_name, node in graph.items():
            prefix = "" if node in shared else prefixes[sentence]
            owner = step_of[node] = graph.owner(node)
            symbol = owner.sheet or owner.name
            contents.setdefault((prefix, symbol), []).append((node, full_name))
            owners.setdefault((prefix, symbol), owner)
    for name, node in (*computation.comparison.items(), *computation.plane.items()):
        contents.setdefault(("", node.sheet), []).append((node, name))

    if only:
        parts = {key: owners[key].part if key in owners else WHOLE for key in contents}
        kept = chosen_parts(only, parts.values())
        contents = {key: members for key, members in contents.items() if parts[key] in kept}
    if len(computation) > 1:  # matrices that sentences share come first, their comparison last
        rank = {True: 0, False: 1}
        contents = dict(
            sorted(
                contents.items(), key=lambda item: 2 if item[0][1] == COMPARE else rank[not item[0][0]]
            )
        )
    if ("", OVERVIEW) in contents:  # the switches come before everything else
        contents = {("", OVERVIEW): contents.pop(("", OVERVIEW)), **contents}
    there = {node for members in contents.values() for node, _ in members}

    spelled = {p: p if _latin(p) else f"Sentence{i}" for i, p in enumerate(prefixes.values(), 1)}
    sheet_names: set[str] = {OVERVIEW.casefold()}
    names: set[str] = set()
    sheets: list[Sheet] = []
    copies: list[Block] = []
    for (prefix, symbol), members in contents.items():
        dotted = f"{prefix}." if prefix else ""
        name = OVERVIEW
        if members[0][0].sheet != OVERVIEW:
            name = _claim(sheet_name(dotted + symbol), sheet_names, MAX_SHEET_NAME)
        places = {node: number for number, (node, _) in enumerate(members)}
        # Each matrix follows its helpers, as they were made, and precedes its options.
        members.sort(key=lambda member: (places[step_of.get(member[0], member[0])], _rank(member[0])))
        widest = max(node.shape[1] for node in places)
        blocks: list[Block] = []
        last: Matrix | None = None
        for node, full_name in dict(members).items():
            whose = f"{spelled.get(prefix, prefix)}." if prefix else ""
            defined = _claim(defined_name(whose + full_name), names)
            copied = _is_copy(node, there)
            live = node.operation is not None and _is_complete(node, there) and not copied
            owner = step_of.get(node, node)
            placed = _place(node, name, defined, blocks, live, widest, beside=owner is last)
            last = owner
            (copies if copied else blocks).append(placed)
        if not blocks:
            sheet_names.discard(name.casefold())
            continue
        main = step_of.get(blocks[0].node, blocks[0].node)
        blocks.sort(key=lambda block: block.node is not main)
        alone = not main.sheet
        sheets.append(
            Sheet(
                name=name,
                symbol=symbol,
                group=prefix,
                title=f"{symbol} = {main.words}" if alone and main.words else symbol,
                note=main.note if alone else _shared_note(symbol, blocks),
                blocks=tuple(blocks),
            )
        )
    numbers = sum(b.place.rows * b.place.columns for sheet in sheets for b in sheet.blocks)
    if numbers > MOST_CELLS:
        raise TooLargeError(
            f"the workbook would hold {numbers:,} numbers, more than the {MOST_CELLS:,} or so that "
            "spreadsheet programs can open. Use fewer words (--range selects part of a table), write "
            "part of the model (--sheets-for Enc1,head2), or print the numbers with attn-xl show."
        )
    words = {prefixes[name] or name: sentence_of(graph) for name, graph in computation.items()}
    return Layout(
        computation.title,
        words,
        tuple(sheets),
        copies=tuple(copies),
        in_words=formula_of(computation.values()),
        about=computation.about,
    )


def _is_copy(node: Matrix, there: set[Matrix]) -> bool:
    """Whether it is Q, K or V without weights: the same numbers as its input, which is written."""
    plain = node.is_step(steps.QUERIES, steps.KEYS, steps.VALUES) and isinstance(node.operation, Copy)
    return plain and bool(node.parents[0].name) and node.parents[0] in there


def _latin(prefix: str) -> bool:
    """Whether a defined name can hold any letter of it."""
    return bool(defined_name(prefix).strip("_."))


def _is_complete(node: Matrix, there: set[Matrix]) -> bool:
    """Whether every matrix that its formula refers to is written."""
    return all(parent in there for parent in referred_to(node))


def _shared_note(symbol: str, blocks: list[Block]) -> str:
    if blocks[0].node.is_step(BEFORE):
        return LEARNED_NOTE
    if symbol == COMPARE:
        return steps.COMPARED.note
    if symbol == JACOBIAN:
        return JACOBIAN_NOTE
    if not blocks[0].node.scalar:
        return blocks[0].node.note
    options = [f"{block.node.name}: {block.node.note}" for block in blocks if block.node.scalar]
    others = [one.node.step.note for one in blocks if one.node.step and not one.node.scalar]
    return " ".join(dict.fromkeys([*others, OPTIONS_NOTE, *options]))


def _prefixes(computation: Computation) -> dict[str, str]:
    """The prefix of each sentence's sheet names, short enough for `NAME.Softmax`; "" for a single
    sentence."""
    if len(computation) == 1:
        return dict.fromkeys(computation, "")
    prefixes: dict[str, str] = {}
    taken: set[str] = set()
    for sentence, graph in computation.items():
        longest = max(len(node.sheet or node.name) for node in graph.values() if not node.helper)
        prefixes[sentence] = _claim(sheet_name(clean(sentence)), taken, MAX_SHEET_NAME - 1 - longest)
    return prefixes


def renamed(computation: Computation, layout: Layout) -> tuple[str, ...]:
    """A remark on sentences whose sheet names had to be changed."""
    pairs = zip(computation, layout.sentences) if len(computation) > 1 else ()
    cut = [(name, prefix) for name, prefix in pairs if name != prefix]
    if not cut:
        return ()
    changes = [f"sheets of {shortened(name)!r} begin with {prefix!r}" for name, prefix in cut]
    return (
        f"Sheet names are limited to {MAX_SHEET_NAME} characters and cannot hold every character: "
        f"{listed(changes, 3)}. Rename the sentences to choose other names.",
    )


def _claim(name: str, taken: set[str], longest: int = MAX_NAME) -> str:
    """A unique variant of `name`, which is added to `taken`."""
    name = unique(name, taken, longest)
    taken.add(name.casefold())
    return name


def _rank(node: Matrix) -> int:
    return 1 if not node.helper else 2 if node.scalar else 0


def _goes_beside(node: Matrix, before: Block) -> bool:
    """Whether it is attention after learning, or the difference, which is compared with what is before
    it number by number."""
    near = before.place.last_column + 1 < MOST_BESIDE
    return near and before.node.is_step(BEFORE, AFTER) and node.is_step(AFTER, MOVED)


def _place(
    node: Matrix, sheet: str, name: str, blocks: list[Block], live: bool, widest: int, beside: bool
) -> Block:
    """Place a matrix to the right of the last one (`beside`: its helper, or its step), or below all
    blocks, of up to `widest` columns. A helper has no row labels where they would repeat others."""
    before = blocks[-1] if blocks else None
    if before is not None and before.place.rows == 1 < len(node.rows):  # a row goes above
        beside = False
    line = [block for block in blocks if before and block.place.row == before.place.row]
    repeats = beside and line and (node.scalar or node.rows == line[0].node.rows)
    labelled = not node.helper or not repeats
    row, column, headed = FIRST_ROW, FIRST_COLUMN, True
    if before is not None and beside:
        row = before.place.row
        column = before.place.last_column + 2 + labelled
    elif before is not None and _goes_beside(node, before):
        row = before.place.row
        column = before.place.column + widest + 2
    elif before is not None:
        # A matrix computed from the one above, number under number, needs no labels of its own; nor
        # does an option below another option.
        above = line[0].node
        computed_from_it = above in referred_to(node) and above.rows != node.rows
        next_row = above.step is not None and node.is_step(above.step) and len(node.rows) == 1
        next_row = next_row and not node.is_step(BEFORE)  # a map of its own, if only of one word
        follows = computed_from_it or next_row or (node.scalar and above.scalar)
        headed = not follows or above.columns != node.columns
        row = max(block.place.last_row for block in blocks) + (3 if headed else 1)
    place = Place(sheet, row, column, *node.shape)
    if place.last_row > MAX_ROWS or place.last_column > MAX_COLUMNS:
        raise TooLargeError(
            f"{node.name} has {node.shape[0]} x {node.shape[1]} numbers and needs cells up to "
            f"{letters(place.last_column)}{place.last_row}, but a sheet ends at "
            f"{letters(MAX_COLUMNS)}{MAX_ROWS}. Use a shorter sentence, or fewer dimensions."
        )
    long = too_long((*node.rows, *node.columns, *(node.texts or ())))
    if long is not None:
        raise InputError(
            f"{node.name} has a label of {len(long):,} characters, {shortened(long, 20)!r}, but a cell "
            f"holds at most {MAX_TEXT:,}. Shorten it."
        )
    own_note = node.helper or (node.sheet and len(node.note) <= MOST_CAPTION)
    caption = node.note if own_note else node.name
    if node.scalar:
        caption = "option"
    elif node.helper and node.shape[1] == 1:  # its heading is enough
        caption = ""
    return Block(node, place, name, caption, labelled=labelled, headed=headed, live=live)
