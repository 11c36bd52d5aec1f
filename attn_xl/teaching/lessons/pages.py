"""The pages of a lesson: its cover, its hints, and the marks beside the cells to fill in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attn_xl.errors import InputError
from attn_xl.graph.matrix import Matrix
from attn_xl.settings import COMPARE, OVERVIEW
from attn_xl.spreadsheets.addresses import (
    MAX_COLUMNS,
    Place,
    address,
    at_row,
    fixed,
    formula_of_text,
    literal,
    quoted,
)
from attn_xl.text import count, text_width
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.page import Block, Cell, Choice, Extras, Heat, Tint, row_of

from .blanks import Lesson, is_updated, unit_of
from .guide import Guide, exam_introduction, guide, introduction

COVER, HINTS = "Lesson", "Hints"
RIGHT, WRONG, WAITS, NO_NUMBER = "✓", "✗", "…", "#"
BAR = 20
MOST_NAME = 36.0
"""The widest that the names of steps make their column."""
WIDTHS = {1: 20.0, 2: 70.0, 3: 46.0, 4: 40.0, 5: 9.0, 6: 7.0, 7: 18.0, 8: 2.0}
LINE = 15.5
"""The height of a line of text, in points."""
MARK_WIDTH = 3.2
_SPLIT = re.compile("[\u2e80-\u9fff\uff00-\uffef]|[^\\s\u2e80-\u9fff\uff00-\uffef]+")
"""What stays on a line: a word, or one Chinese or Japanese character."""


@dataclass(frozen=True, eq=False, repr=False)
class LessonStep:
    """A matrix to fill in: its name, its block, the number of its cells, the place of its marks, its
    texts."""

    name: str
    block: Block
    cells: int
    marks: Place
    guide: Guide

    @property
    def symbol(self) -> str:
        """Its name without the sentence and the step that it helps."""
        return self.block.node.name


def with_pages(layout: Layout, lesson: Lesson, title: str) -> Layout:
    """A layout with blanks, plus the cover, hints and marks of a lesson. The cover takes the place of
    the Overview. No page of an exam invites to change a number."""
    steps: list[LessonStep] = []
    sheets: list[Sheet] = []
    for sheet in layout.sheets:
        opened = [block for block in sheet.blocks if block.node in layout.blanks.open]
        if opened:
            made = _steps(layout, sheet, opened, lesson)
            steps += made
            sheet = _marked(layout, sheet, made, lesson)
        elif lesson.exam:
            sheet = replace(sheet, note="Given: these numbers stay as they are.")
        sheets.append(sheet)
    cover = _cover(layout, steps, lesson, title)
    if not lesson.exam:
        printed = [at for at, sheet in enumerate(sheets, 1) if sheet.name not in (OVERVIEW, COMPARE)]
        sheets.insert(printed[-1], _hints(steps))
    return replace(layout, sheets=tuple(sheets), cover=cover, protected=True)


def _steps(layout: Layout, sheet: Sheet, opened: list[Block], lesson: Lesson) -> list[LessonStep]:
    """The steps of a sheet, with a mark for each cell in its row, to the right of everything else."""
    last = max(block.place.last_column for block in sheet.blocks)
    last = max([last, *(cell.column + cell.across - 1 for cell in sheet.extras.cells)])
    if not lesson.exam and last + max(block.place.last_column for block in opened) > MAX_COLUMNS:
        raise InputError(
            f"{sheet.symbol} has {sheet.main.place.columns} columns, which leaves no room on its sheet "
            "for the marks. Use a shorter sentence, or --exam, which has no marks."
        )
    owners = {b.node: s for s in (layout.steps or layout.sheets) for b in s.blocks}
    names = {block.node: block.name for block in layout.blocks.values()}
    steps = []
    for block in opened:
        node = block.node
        words = _sentence(layout, owners[node], node)
        pick = node.rows[0] if not node.scalar else words[0]
        cells = int(layout.blanks.open[node].sum())
        marks = replace(block.place, column=block.place.column + last)
        name = name_of(owners[node], node)
        steps.append(
            LessonStep(name, block, cells, marks, guide(node, sentence=words, pick=pick, names=names))
        )
    return steps


def _sentence(layout: Layout, owner: Sheet, node: Matrix) -> tuple[str, ...]:
    """The words of the sentence that a step is computed for, also where all are in one graph."""
    if len(layout.sentences) == 1:
        scopes = {scope.symbol for scope in node.part.scopes}
        inputs = (b.node for sheet in layout.sheets for b in sheet.blocks if _is_sentence(b.node))
        for one in inputs:
            if one.part.scopes and scopes.issuperset(scope.symbol for scope in one.part.scopes):
                return one.rows
    return layout.sentences.get(owner.group) or next(iter(layout.sentences.values()))


def _is_sentence(node: Matrix) -> bool:
    return node.step is not None and node.step.source == "sentence"


def name_of(owner: Sheet, node: Matrix) -> str:
    """The name of a step in a lesson: that of its own sheet, a helper's after it."""
    if not node.helper:
        return owner.name
    prefix = f"{owner.group}." if owner.group else ""
    return f"{prefix}{node.name}" if node.scalar else f"{owner.name}.{node.name}"


def _marked(layout: Layout, sheet: Sheet, steps: Sequence[LessonStep], lesson: Lesson) -> Sheet:
    """The sheet with a note on what to do and, except in an exam, with marks."""
    extras = sheet.extras
    cells, tints, choices = list(extras.cells), list(extras.tints), list(extras.choices)
    widths = dict(extras.widths)
    heats, heads = list(extras.heats), list[Cell]()
    for step in () if lesson.exam else steps:
        place, block = step.marks, step.block
        head = f"marks of {step.symbol}"
        heads.append(Cell(place.row - 1, place.column, head, style="attn note"))
        for row, column in np.argwhere(layout.blanks.open[block.node]).tolist():
            cells.append(_mark(layout, step, row, column, lesson.tolerance))
        widths.update(dict.fromkeys(range(place.column, place.last_column + 1), MARK_WIDTH))
        mark = address(place.row, place.column)
        right = f'{mark}="{RIGHT}"'
        if block.node.role == "attention":  # complete, it becomes the heat map that it is
            done = f'COUNTIF({fixed(place.range)},"{RIGHT}")={step.cells}'
            right = f"AND({right},NOT({done}))"
            heats.append(Heat(block.place.range, done))
        tints.append(Tint(block.place.range, right, "attn right"))
        bad = f'OR({mark}="{WRONG}",{mark}="{NO_NUMBER}")'
        tints.append(Tint(block.place.range, bad, "attn wrong"))
        choices.append(Choice(_open_range(layout, block), "", "How to", step.guide.prompt))
    make_room(heads, widths)
    if not extras.canvas:
        note = f"To fill in: {steps[0].guide.do}"
    elif lesson.exam:
        note = "Fill in the marked cells, in the order in which they are drawn."
    else:
        note = (
            "Fill in the marked cells, in the order in which they are drawn. Your marks are on the "
            "right."
        )
    made = replace(
        extras,
        cells=(*cells, *heads),
        tints=tuple(tints),
        choices=tuple(choices),
        widths=widths,
        heats=tuple(heats),
    )
    if extras.canvas:  # the marks are for the screen
        places = [block.place for block in sheet.blocks]
        last = max(step.marks.column - step.block.place.column for step in steps)
        bottom = max([place.last_row for place in places] + [cell.row for cell in extras.cells])
        made = replace(made, print_to=f"A1:{address(bottom, last)}")
    return replace(sheet, note=note, extras=made)


def make_room(heads: Sequence[Cell], widths: dict[int, float]) -> None:
    """Widen the column before each heading of marks so far that the heading to its left is not cut
    off."""
    for head in heads:
        columns = [other.column for other in heads if other.row == head.row]
        following = [column for column in columns if column > head.column]
        if following:
            end = min(following)
            room = sum(widths.setdefault(column, MARK_WIDTH) for column in range(head.column, end))
            widths[end - 1] += max(0.0, text_width(str(head.value)) + 1 - room)


def _open_range(layout: Layout, block: Block) -> str:
    cells = layout.blanks.open[block.node]
    if cells.all():
        return block.place.range
    place = block.place
    return " ".join(address(place.row + r, place.column + c) for r, c in np.argwhere(cells).tolist())


def _mark(layout: Layout, step: LessonStep, row: int, column: int, tolerance: float) -> Cell:
    """✓ if a cell follows from the cells that it is computed from, as the student filled them in."""
    block = step.block
    place = block.place
    here = address(place.row + row, place.column + column)
    formula, missing = layout.needs(block, row, column)
    # Rounded, so that 0.51 is within 0.01 of 0.5 in every program.
    unit = np.format_float_positional(unit_of(block.node), trim="-")
    size = unit if is_updated(block.node) else f"MAX({unit},ABS({formula}))"
    near = f"ROUND(ABS({here}-({formula}))-{tolerance!r}*{size},12)<=0"
    judged = f'IFERROR(IF({near},"{RIGHT}","{WRONG}"),"{WAITS}")'  # an error comes from an earlier step
    marked = f'IF(ISNUMBER({here}),{judged},"{NO_NUMBER}")'
    if missing:
        marked = f'IF({missing},"{WAITS}",{marked})'
    text = at_row(f'IF(ISBLANK({here}),"",{marked})', place.row + row)
    return Cell(step.marks.row + row, step.marks.column + column, "", text, "attn note", align="center")


def _cover(layout: Layout, steps: Sequence[LessonStep], lesson: Lesson, title: str) -> Sheet:
    """The first page: instructions, the steps with a question each, the progress."""
    cells: list[Cell] = []
    heights: dict[int, float] = {}
    row = 4
    owner = " ".join(filter(None, (lesson.name, f"({lesson.student})" if lesson.student else "")))
    cells.append(Cell(row, 1, "name", style="attn label"))
    cells.append(Cell(row, 2, owner, style="attn text") if owner
                 else Cell(row, 2, None, style="attn answer", open=True, align="left"))  # fmt: skip
    row += 2
    lines = exam_introduction if lesson.exam else introduction
    attends = any(b.node.role == "attention" for sheet in layout.sheets for b in sheet.blocks)
    small = any(unit_of(step.block.node) < 1 for step in steps)
    for number, text in enumerate(lines(lesson.tolerance, attends=attends, small=small), 1):
        numeral = Cell(row, 1, float(number), align="right", number_format="0", wrap=True)
        cells.append(numeral)
        cells.append(Cell(row, 2, text, style="attn text", wrap=True, across=3))
        heights[row] = row_height(text, WIDTHS[2] + WIDTHS[3] + WIDTHS[4])
        row += 1
    row += 1
    first = row + (2 if lesson.exam else 4)
    if not lesson.exam:
        cells += _progress(row, first + 1, len(steps), sum(step.cells for step in steps))
    heads = ["step", "what to do", "predict first"]
    heads.append("your prediction, and why")
    if lesson.exam:
        heads.append("filled in")
    else:
        heads += ["right", "to fix", "", ""]
    cells += [
        Cell(first, column, head or None, style="attn heading", align="left")
        for column, head in enumerate(heads, 1)
    ]
    for number, step in enumerate(steps, 1):
        at = first + number
        words = f"{step.guide.what} {step.guide.do}"
        texts = [(2, words), (3, step.guide.question)]
        cells.append(_link(at, step))
        cells.append(Cell(at, 2, words, style="attn text", wrap=True))
        question = Cell(
            at, 3, step.guide.question, style="attn text", wrap=True, align="left", indent=1
        )
        cells.append(question)
        cells.append(
            Cell(
                at, 4, None, style="attn answer", open=True, wrap=True, align="left", number_format="@"
            )
        )
        if lesson.exam:
            there = f"{quoted(step.block.place.sheet)}!{step.block.place.range}"
            whole = step.cells == step.block.node.values.size
            filled = f'COUNT({there})&" / {step.cells}"' if whole else ""
            many = count(step.cells, "cell")
            shown = f"0 / {step.cells}" if whole else many
            cells.append(Cell(at, 5, shown, filled, "attn text", wrap=True))
        else:
            cells += _counts(step, at, number)
        heights[at] = max(
            3 * LINE, *(row_height(text, WIDTHS[column] - 2 * (column == 3)) for column, text in texts)
        )
    note = "Read this page first; then fill in the marked cells, in the order of the steps."
    widths = {column: WIDTHS[column] for column in WIDTHS if column <= len(heads)}
    widths[1] = min(max([widths[1], *(text_width(step.name) for step in steps)]), MOST_NAME)
    extras = Extras(
        tuple(cells),
        widths=widths,
        heights=heights,
        zoom=100,
        print_to=f"A1:{address(first + len(steps), min(len(heads), 7))}",
    )
    return Sheet(COVER, COVER, "", title, note, (), extras)


def _counts(step: LessonStep, row: int, number: int) -> list[Cell]:
    marks = f"{quoted(step.marks.sheet)}!{step.marks.range}"
    bar = f'REPT("█",ROUND({BAR // 2}*E{row}/{step.cells},0))'
    rest = f'REPT("░",{BAR // 2}-ROUND({BAR // 2}*E{row}/{step.cells},0))'
    right = f'COUNTIF({marks},"{RIGHT}")'
    wrong = f'COUNTIF({marks},"{WRONG}")+COUNTIF({marks},"{NO_NUMBER}")'
    return [
        Cell(row, 5, 0.0, right, "attn text", number_format=f'0" / {step.cells}"', wrap=True),
        Cell(row, 6, 0.0, wrong, "attn text", number_format="0;;", wrap=True),
        Cell(row, 7, "░" * (BAR // 2), f"{bar}&{rest}", "attn note", wrap=True),
        Cell(row, 8, "", f'IF(F{row}>0,{number},"")', "attn note", number_format=";;;"),
    ]


def _progress(row: int, first: int, steps: int, cells: int) -> list[Cell]:
    """The progress of the whole lesson, and which mistake to fix first."""
    last = first + steps - 1
    done = f"SUM(E{first}:E{last})"
    bar = f'REPT("█",ROUND({BAR}*{done}/{cells},0))&REPT("░",{BAR}-ROUND({BAR}*{done}/{cells},0))'
    first_slip = f"INDEX(A{first}:A{last},MIN(H{first}:H{last}))"
    start = "Start with the first ✗ in: {step}"
    no_slip = "Nothing to fix so far."
    begin = (
        f"IF({done}={cells},{literal('All done. Well done!')},"
        f"IF(COUNT(H{first}:H{last})=0,{literal(no_slip)},{formula_of_text(start, step=first_slip)}))"
    )
    progress = f"{{done}} of {count(cells, 'cell')}"
    legend = "✓ right   ✗ wrong   … waits for an earlier step   # is not a number"
    return [
        Cell(row, 1, "progress", style="attn label"),
        Cell(row, 2, "░" * BAR, bar, "attn step"),
        Cell(row, 3, progress.format(done=0), formula_of_text(progress, done=done), "attn text"),
        Cell(row + 1, 1, "to fix", style="attn label"),
        Cell(row + 1, 2, no_slip, begin, "attn text"),
        Cell(row + 2, 2, legend),
    ]


def _hints(steps: Sequence[LessonStep]) -> Sheet:
    cells = row_of(4, ("step", "hint"), style="attn heading")
    heights: dict[int, float] = {}
    for row, step in enumerate(steps, 5):
        cells.append(_link(row, step))
        cells.append(Cell(row, 2, step.guide.hint, style="attn text", wrap=True))
        heights[row] = row_height(step.guide.hint, 110)
    extras = Extras(tuple(cells), widths={1: 24.0, 2: 110.0}, heights=heights, zoom=100)
    note = "Stuck? Try first, then look here."
    return Sheet(HINTS, HINTS, "", "Hints", note, (), extras)


def _link(row: int, step: LessonStep) -> Cell:
    place = step.block.place
    spot = address(place.row, place.column) if place.sheet != step.name else "A1"
    return Cell(row, 1, step.name, style="attn link", link=place.sheet, link_cell=spot, wrap=True)


def row_height(text: str, width: float) -> float:
    """The height, in points, of a cell `width` characters wide that holds `text`."""
    lines, room = 1, 0
    for word in _SPLIT.findall(text):
        wide = text_width(word)
        if room and room + wide > width * 1.06:
            lines, room = lines + 1, 0
        room += wide + (wide == len(word))
    return LINE * lines + 5
