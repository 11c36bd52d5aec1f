"""Regions: the rectangles of numbers on a sheet, with the labels around them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from attn_xl.errors import InputError
from attn_xl.records import record
from attn_xl.spreadsheets.addresses import Place, letters
from attn_xl.spreadsheets.boxes import Box, Places, boxes, merged, union
from attn_xl.spreadsheets.numerals import ErrorValue, NumberText, as_text, is_number, numeral
from attn_xl.text import clean, listed

from .headings import is_heading
from .names import step_named, weight_label

Grid = list[list[Any]]

BLANK, DECORATION, TEXT, NUMBER_TEXT, NUMBER, OTHER = range(6)
"""Kinds of cell. OTHER is a non-numeric value: a boolean, a date, an error value."""


class _Codes(dict[type, int]):
    def __missing__(self, kind: type) -> int:
        return OTHER


_TYPES = _Codes({
    float: NUMBER, int: NUMBER, NumberText: NUMBER, bool: OTHER, ErrorValue: OTHER, str: 255,
    datetime.date: OTHER, datetime.datetime: OTHER, datetime.time: OTHER, datetime.timedelta: OTHER,
    type(None): BLANK,
})  # fmt: skip
_ARROW = re.compile(
    "[\u2190-\u21ff\u27f0-\u27ff\u2900-\u297f\u2b00-\u2bff\u2500-\u257f\u25a0-\u25ff\\s]+"
    "|[-=~]{1,9}>|<[-=~]{1,9}|[\u2013\u2014]{1,9}"
)


def is_blank(value: Any) -> bool:
    """Whether a cell looks empty."""
    return value is None or (isinstance(value, str) and not value.strip())


def kind_of(text: str) -> int:
    """The kind of a text: blank, an arrow, a number, or text."""
    if not text.strip():
        return BLANK
    if _ARROW.fullmatch(text.strip()):
        return DECORATION
    return NUMBER_TEXT if numeral(text) is not None else TEXT


def kinds(grid: Grid) -> np.ndarray:
    """The kind of each cell, (rows, columns)."""
    width = max(map(len, grid), default=0)
    lines, code_of = [], _TYPES.__getitem__
    for row in grid:
        if 2 * row.count("") > len(row):  # with one cell far out, most are blank
            line = bytearray(len(row))
            for place in [place for place, value in enumerate(row) if value != ""]:
                line[place] = code_of(type(row[place]))
        else:
            line = bytearray(map(code_of, map(type, row)))
        place = line.find(255)
        while place >= 0:
            line[place] = kind_of(row[place])
            place = line.find(255, place + 1)
        lines.append(bytes(line).ljust(width, b"\0"))
    return np.frombuffer(b"".join(lines), dtype=np.uint8).reshape(len(grid), width)


MOST_TABLES = 10_000
"""Tables of a sheet; each takes about half a millisecond."""
WORD_HEADINGS = {"word", "words", "token", "tokens"}
NOTE_HEADINGS = {"note", "notes", "comment", "comments", "remark", "remarks"}
_COUNT_HEADINGS = {"#", "no", "no.", "nr", "nr.", "pos", "position"}
_ID_HEADINGS = {"id", "ids", "index", "idx", "token id", "token ids"}
"""Headings of a column that numbers the words beside it, one after the other or in any order."""
_SENTENCE_HEADINGS = re.compile(
    r"(?:sentence|context|sequence|text|phrase|example|document|doc|sent)s?"
    r"(?:[ _]?(?:id|no\.?|number|name|#))?",
    re.IGNORECASE,
)
"""Headings of a column that tells the sentence of each word."""
LABEL_HEADINGS = WORD_HEADINGS | _COUNT_HEADINGS | _ID_HEADINGS | {"", "label", "labels", "name"}
TURNED_HEADINGS = {"dim", "dims", "dimension", "dimensions", "feature", "features", "component"}
"""Corner texts above a column of words, and above a column of dimensions."""


def numbers_words(headings: Sequence[Any], values: Iterable[Any]) -> bool:
    """Whether the first heading, of a column and those beside it, tells that its values number words,
    and they may: they are different whole numbers, those of positions one after the other."""
    name, *others = (str(heading).strip().casefold() for heading in headings)
    if name not in _COUNT_HEADINGS | _ID_HEADINGS or (name == "pos" and "neg" in others):
        return False
    found = [*values]
    if not all(is_number(one) and float(one).is_integer() for one in found):
        return False
    follow = all(after - before == 1 for before, after in pairwise(found))
    return follow if name in _COUNT_HEADINGS else len({*found}) == len(found)


def numbered_lines(single: Mapping[tuple[int, int], Any]) -> set[tuple[int, int]]:
    """The cells that number the steps of a sheet, 1, 2, 3 below each other, among the single numbers
    left of a text."""
    columns: dict[int, list[tuple[int, int]]] = {}
    for row, column in sorted(single):
        columns.setdefault(column, []).append((row, column))
    counted = (cells for cells in columns.values() if len(cells) > 2)
    return {
        cell
        for cells in counted
        if [single[one] for one in cells] == [*range(1, len(cells) + 1)]
        for cell in cells
    }


_SIGNS = re.compile(r"[-=+/*×·:|–—−÷^⋅∗…. ]{1,4}")
_SHAPE = re.compile(r"(?:torch\.Size)?[(\[]*\d+(?:\s*[,x×]\s*\d*)*[)\]]*")
"""The shape of a tensor, which may be beside its title."""


@record(frozen=True)
class Region:
    """A table of numbers and the text around it.

    Attributes:
        box: the rectangle of the numbers, from 0.
        crop: the rectangle with labels and with text that may be a mistyped number.
        title: the text that names the table, or "".
        title_at: the position of the title: `above it`, `left of it`, `in its corner`.
        odd: whether the region contains arrows, or text that may be a number.
        near: all texts that may name the table, with their positions.
        below: the rows of text directly below that are taken for notes, with their texts.
        words_at: the column of the words, if other texts stand between them and the numbers.
        aside: remarks on columns of texts beside the numbers that are left out.
        sentences: the sentences whose words follow each other, each with its number of rows; () if
            nothing tells them apart.
    """

    box: Box
    crop: Box
    title: str = ""
    title_at: str = ""
    odd: bool = False
    near: tuple[tuple[str, str], ...] = ()
    below: tuple[tuple[int, str], ...] = ()
    words_at: int | None = None
    aside: tuple[str, ...] = ()
    sentences: tuple[tuple[str, int], ...] = ()

    def place(self, sheet: str) -> Place:
        """The cells of the region, labels included."""
        top, left, bottom, right = self.crop
        return Place(sheet, top + 1, left + 1, bottom - top + 1, right - left + 1)


def find_regions(grid: Grid, names: Callable[[str], bool], where: str = "") -> list[Region]:
    """Find every table of numbers on a sheet, from the top left.

    Adjacent numbers belong together, diagonal neighbours included. Labels are the adjacent texts: a row
    above, a column to the left. Arrows and blank cells separate tables.

    Args:
        names: whether a text is the name of a matrix rather than the label of a row or column.
        where: the file and the sheet, for errors.

    Raises:
        InputError: if there are more than `MOST_TABLES`.
    """
    cells = kinds(grid)
    if not cells.size:
        return []
    sheet = _Sheet(grid, cells, names)
    check_number(len(sheet.boxes), where)
    return sheet.regions()


def check_number(tables: int, where: str) -> None:
    """Validate the number of tables of a sheet.

    Raises:
        InputError: if it is above `MOST_TABLES`.
    """
    if tables > MOST_TABLES:
        raise InputError(
            f"{where}: has more than {MOST_TABLES:,} separate tables of numbers or formulas. Copy "
            "those to be read into a file of their own."
        )


def _absorbed(region: Region, crops: Places) -> bool:
    """Whether the numbers of a region belong to another of the given regions."""
    found = (crops.boxes[number] for number in crops.at(region.box))
    return any(union(crop, region.box) == crop != region.crop for crop in found)


def _texts(kinds: np.ndarray) -> np.ndarray:
    """Which cells are neither blank, decoration nor numbers."""
    return np.asarray((kinds >= TEXT) & (kinds != NUMBER))


class _Sheet:
    def __init__(self, grid: Grid, cells: np.ndarray, names: Callable[[str], bool]) -> None:
        self.grid, self.cells, self.names = grid, cells.copy(), names
        self.boxes = merged(boxes(cells >= NUMBER_TEXT))
        for top, left, bottom, right in self.boxes:
            for column in range(left, right):
                tells = self._numbers_words(top, bottom, column) or self._sentences(top, bottom, column)
                if tells and self._is_text(top, bottom, column - 1):
                    self.cells[top : bottom + 1, column] = TEXT  # between the words and their numbers
        single = {
            (top, left): grid[top][left]
            for top, left, bottom, right in self.boxes
            if (top, left) == (bottom, right) and self.kind(top, left + 1) == TEXT
        }
        for cell in numbered_lines(single):
            self.cells[cell] = TEXT
        if not np.array_equal(cells, self.cells):
            self.boxes = merged(boxes(self.cells >= NUMBER_TEXT))
        self.counts = self._counts()
        boxes_left = (box for box in self.boxes if box[:2] not in self.counts)
        self.boxes = [part for box in boxes_left for part in self._groups(box)]
        self.owner = np.zeros(cells.shape, dtype=np.int32)
        self._own()

    def _counts(self) -> set[tuple[int, int]]:
        """The first cells of columns that number the words right of them, with numbers beyond these."""
        tables, found = {box[:3] for box in self.boxes}, set()
        for top, left, bottom, right in self.boxes:
            beyond = left + 1
            while self._is_text(top, bottom, beyond):
                beyond += 1
            if left < right or top == bottom or beyond == left + 1:
                continue
            numbers = [row[left] for row in self.grid[top : bottom + 1]]
            counts = numbers in ([*range(len(numbers))], [*range(1, len(numbers) + 1)])
            counts |= self._numbers_words(top, bottom, left) or bool(self._sentences(top, bottom, left))
            if counts and (top, beyond, bottom) in tables:
                found.add((top, left))
        return found

    def _numbers_words(self, top: int, bottom: int, column: int) -> bool:
        """Whether the heading of a column tells that it numbers the words."""
        numbers = (row[column] for row in self.grid[top : bottom + 1] if len(row) > column)
        headings = [self.text(top - 1, one) for one in (column, column - 1, column + 1)]
        return numbers_words(headings, numbers)

    def _groups(self, box: Box) -> list[Box]:
        """The columns of a table by the steps that a row above their headings names, `Embedding` and
        `Query`; the table itself if it names none."""
        top, left, bottom, right = box
        starts = [column for column in range(left, right + 1) if self._starts_group(top, column)]
        if len(starts) < 2 or starts[0] > left:
            return [box]
        ends = [*(start - 1 for start in starts[1:]), right]
        return [(top, start, bottom, end) for start, end in zip(starts, ends)]

    def _starts_group(self, top: int, column: int) -> bool:
        """Whether a text over the heading of a column of numbers names a step, or the heading itself
        weights, and the next column has none."""
        over, heading = self.text(top - 2, column), self.text(top - 1, column)
        of_both = self.kind(top - 1, column + 1) == BLANK < self.kind(top, column + 1)
        return bool(heading and ((over and step_named(over)) or (of_both and weight_label(heading))))

    def _is_text(self, top: int, bottom: int, column: int) -> bool:
        """Whether some rows of a column are all texts."""
        cells = self.cells[top : bottom + 1, column : column + 1]
        return column >= 0 and bool(cells.size) and bool((cells == TEXT).all())

    def _own(self) -> None:
        self.owner[:] = 0
        for number, (top, left, bottom, right) in enumerate(self.boxes, 1):
            self.owner[top : bottom + 1, left : right + 1] = number

    def regions(self) -> list[Region]:
        while self._join():  # until no boxes are left to join
            self.boxes = merged(self.boxes)
            self._own()
        found = [self._region(box) for box in self.boxes if self._has_numbers(box)]
        found = list(dict.fromkeys(found))  # headings without a gap turn two regions into one
        crops = Places([region.crop for region in found])
        return [region for region in found if not _absorbed(region, crops)]

    def text(self, row: int, column: int) -> str:
        return str(self.grid[row][column]).strip() if self.kind(row, column) >= TEXT else ""

    def kind(self, row: int, column: int) -> int:
        rows, columns = self.cells.shape
        return int(self.cells[row, column]) if 0 <= row < rows and 0 <= column < columns else BLANK

    def any_text(self, row: int, left: int, right: int) -> bool:
        if not 0 <= row < len(self.cells):
            return False
        return bool(_texts(self.cells[row, max(left, 0) : right + 1]).any())

    def filled(self, row: int, left: int, right: int) -> list[int]:
        """The columns of a row that are neither blank nor decoration."""
        return (np.flatnonzero(self.cells[row, left : right + 1] >= TEXT) + left).tolist()

    def foreign(self, row: int, left: int, right: int, own: int) -> bool:
        """Whether the cells contain another table's numbers."""
        owners = self.owner[row, left : right + 1]
        return bool(((owners != 0) & (owners != own)).any())

    def _has_numbers(self, box: Box) -> bool:
        cells = self.cells[box[0] : box[2] + 1, box[1] : box[3] + 1]
        return bool((cells == NUMBER).any()) or int((cells == NUMBER_TEXT).sum()) > 1

    # Boxes that belong together although they do not touch

    def _join(self) -> bool:
        """Join boxes that are separated only by labelled rows with text instead of numbers, each with
        at most one other; returns whether there were any."""
        from_row: dict[int, list[int]] = {}
        for number, box in enumerate(self.boxes):
            from_row.setdefault(box[0], []).append(number)
        gone: set[int] = set()
        made: list[Box] = []
        for i, upper in enumerate(self.boxes):
            if i in gone:
                continue
            for j in sorted(j for gap in (2, 3, 4) for j in from_row.get(upper[2] + gap, ())):
                if j not in gone and self._parted_by_text(upper, self.boxes[j]):
                    upper = union(upper, self.boxes[j])
                    gone.add(j)
                    break
            made.append(upper)
        self.boxes = made
        return bool(gone)

    def _parted_by_text(self, upper: Box, lower: Box) -> bool:
        first, last = upper[2] + 1, lower[0] - 1
        if not first <= last <= first + 2 or upper[1] > lower[3] or lower[1] > upper[3]:
            return False
        left, right = min(upper[1], lower[1]), max(upper[3], lower[3])
        label = left - 1
        labelled = [self.kind(r, label) >= TEXT for r in (upper[0], upper[2], lower[0], lower[2])]
        if label < 0 or not all(labelled):
            return False
        for row in range(first, last + 1):
            if self.kind(row, label) < TEXT or self.kind(row, label) > NUMBER_TEXT:
                return False  # a blank corner: headings of the lower table
            if self.text(row, label).casefold() in LABEL_HEADINGS | TURNED_HEADINGS:
                return False
            beside = self.filled(row, left, right)
            if not beside and self.any_text(row + 1, left, right):
                return False  # a title above headings
        return True

    # Labels

    def _region(self, box: Box) -> Region:
        top, left, bottom, right = box
        own = int(self.owner[top, left])
        header = top > 0 and self.any_text(top - 1, left, right)
        if header:  # a column without numbers may still have a heading
            while left > 0 and self._continues(top - 1, left - 1, own):
                if any(self._label_column(top, bottom, left)) or self._starts_group(top, left):
                    break
                left -= 1
            while self._continues(top - 1, right + 1, own):
                if self._describes(top, bottom, right + 1) or self._starts_group(top, right + 1):
                    break
                right += 1
        labels = self._label_column(top, bottom, left)
        side_title = ""
        if bottom > top and sum(labels) == 1:
            label = self.text(top + labels.index(True), left - 1)
            if self.names(label):
                side_title, labels = label, []
            elif _SIGNS.fullmatch(label):  # between two factors
                labels = []
        apart = not labels and bottom > top and self._parts(top, bottom, left - 1)
        first = left - 1 if labels or apart else left
        last = self._right(top, bottom, right, own)
        words, aside = left - 2 if apart else first, ()  # type: int, tuple[str, ...]
        sentences: tuple[tuple[str, int], ...] = ()
        if labels and header and bottom > top:
            words, aside = self._words(top, bottom, first)
            for column in (words - 1, words - 2, words + 1):
                if found_there := self._sentences(top, bottom, column):
                    sentences, name = found_there, f"column {letters(column + 1)}"
                    told = f"{name} tells its sentences: {listed([one for one, _ in sentences], 4)}"
                    aside = (*(note for note in aside if not note.startswith(name)), told)
        if self._describes(top, bottom, last + 1) and not self._title_behind(top, bottom, last + 1):
            name = self.text(top - 1, last + 1)
            called = f", {name!r}," if name else ""
            aside += (f"column {letters(last + 2)}{called} has texts and is left out",)
        start = min(words, first)
        up = self._up(top, start, last, own)
        down, end = self._down(bottom, first, left, last, own)
        found = self._titled((top, left, bottom, right), (up, start, down, last), side_title)
        notes = tuple((r, self.text(r, first)) for r in range(down + 1, end + 1))
        crop = (found.crop[0], first, *found.crop[2:])
        return replace(
            found, crop=crop, below=notes, words_at=words if start < first else None, aside=aside,
            sentences=sentences,
        )  # fmt: skip

    def _describes(self, top: int, bottom: int, column: int) -> bool:
        """Whether a column of texts right of numbers describes their rows: all, or some if it is
        headed as notes, or alone has no heading; no numbers follow it."""
        rows = slice(top, bottom + 1)
        texts, after = self.cells[rows, column : column + 1], self.owner[rows, column + 1 : column + 2]
        if bottom == top or not (texts == TEXT).any() or after.any():
            return False
        before, heading = (self.text(top - 1, c) for c in (column - 1, column))
        notes = bool(before and not heading) or heading.casefold() in NOTE_HEADINGS
        return self._is_text(top, bottom, column) or (notes and not (texts > TEXT).any())

    def _title_behind(self, top: int, bottom: int, column: int) -> str:
        """The name of a matrix right of its numbers, which nothing follows; "" if there is none."""
        rows = slice(top, bottom + 1)
        if column >= self.cells.shape[1] or self.cells[rows, column + 1 : column + 2].any():
            return ""
        filled = np.flatnonzero(self.cells[rows, column])
        name = self.text(top + int(filled[0]), column) if len(filled) == 1 else ""
        return name if name and self.names(name) else ""

    def _parts(self, top: int, bottom: int, column: int) -> bool:
        """Whether an empty column stands between words, which no numbers precede, and numbers."""
        rows = slice(top, bottom + 1)
        texts, before = self._is_text(top, bottom, column - 1), self.owner[rows, : max(column - 1, 0)]
        return texts and not self.cells[rows, column].any() and not before[:, -1:].any()

    def _words(self, top: int, bottom: int, nearest: int) -> tuple[int, tuple[str, ...]]:
        """The column of the words, of several with texts, and remarks on the others: it is that headed
        `word`, or else nearest to the numbers."""
        columns = [nearest]
        numbering = self._numbers_words(top, bottom, nearest)
        while self._is_text(top, bottom, columns[-1] - 1) and (
            self.text(top - 1, columns[-1] - 1) or (numbering and columns == [nearest])
        ):
            columns.append(columns[-1] - 1)
        headed = (c for c in columns if self.text(top - 1, c).casefold() in WORD_HEADINGS)
        words = next(headed, columns[1] if numbering and len(columns) > 1 else nearest)
        notes = [
            f"column {letters(c + 1)}, {self.text(top - 1, c)!r}, is left out; the words are in column "
            f"{letters(words + 1)}"
            for c in columns
            if c != words
        ]
        if (top, columns[-1] - 1) in self.counts:
            notes.append(f"column {letters(columns[-1])} numbers the words and is left out")
        return words, tuple(notes)

    def _sentences(self, top: int, bottom: int, column: int) -> tuple[tuple[str, int], ...]:
        """The sentences that a column tells by its heading, each with its number of words: it names
        each in every row, or in its first one."""
        if column < 0 or not _SENTENCE_HEADINGS.fullmatch(heading := self.text(top - 1, column)):
            return ()
        named: list[str] = []
        for row in self.grid[top : bottom + 1]:
            value = row[column] if column < len(row) else ""
            name = f"{heading} {value:g}" if is_number(value) else clean(as_text(value))
            named.append(name or (named[-1] if named else ""))
        runs = [(name, len([*run])) for name, run in groupby(named)]
        several = 1 < len(runs) == len({name for name, _ in runs}) < len(named)
        return tuple(runs) if several and named[0] else ()

    def _continues(self, row: int, column: int, own: int) -> bool:
        kind = self.kind(row, column)
        return TEXT <= kind <= NUMBER_TEXT and not self.foreign(row, column, column, own)

    def _label_column(self, top: int, bottom: int, left: int) -> list[bool]:
        """For each row, whether it has a text to the left of the numbers; empty if no row has one."""
        if left == 0:
            return []
        part = self.cells[top : bottom + 1, left - 1]
        texts = _texts(part).tolist()
        return texts if any(texts) else []

    def _right(self, top: int, bottom: int, right: int, own: int) -> int:
        """The last column of the region: text right of the numbers may be a mistyped number."""
        column = right + 1
        while column < self.cells.shape[1]:
            part = self.cells[top : bottom + 1, column]
            beyond = self.owner[top : bottom + 1, column + 1 : column + 2]
            if (
                not ((part == TEXT) | (part == NUMBER_TEXT)).any()
                or ((beyond != 0) & (beyond != own)).any()
            ):
                break
            if (self.owner[top : bottom + 1, column] > 0).any():
                break
            if self._describes(top, bottom, column) or self._title_behind(top, bottom, column):
                break
            column += 1
        return column - 1

    def _up(self, top: int, first: int, last: int, own: int) -> int:
        """The first row of the region, with headings and titles up to a blank row or other numbers."""
        row = top
        while row > 0 and self.filled(row - 1, first, last):
            if self.foreign(row - 1, first, last, own):
                corner_only = not self.foreign(row - 1, first + 1, last, own)
                if not (corner_only and self.any_text(row - 1, first + 1, last)):
                    break
            row -= 1
        return row

    def _down(self, bottom: int, first: int, left: int, last: int, own: int) -> tuple[int, int]:
        """The last row of the region, and the last row with notes. Text below the numbers may be a
        mistyped number; text alone in its row, in the column of words, is a note."""
        end = bottom
        while end + 1 < len(self.cells):
            filled = self.filled(end + 1, first, last)
            if not filled or self.foreign(end + 1, first, last, own):
                break
            titled = filled == [first] and step_named(self.text(end + 1, first))
            if titled and self.any_text(end + 2, left, last):
                break  # a title above headings of the next table
            end += 1
        below = end + 1
        if end > bottom and below < len(self.cells) and self.foreign(below, first, last, own):
            return bottom, bottom  # headings and titles of the next table
        down = end
        while down > bottom and left < last + (first < left) and self._is_note(down, first, left, last):
            down -= 1
        return down, end

    def _is_note(self, row: int, first: int, left: int, last: int) -> bool:
        """Whether a row below numbers is a note rather than a mistyped number."""
        if self.filled(row, first, last) != [first] or self.kind(row, first) != TEXT:
            return False
        return first < left or " " in self.text(row, first)

    # Titles

    def _titled(self, box: Box, crop: Box, side_title: str) -> Region:
        """Build the region: cut off the titles above it and collect the texts that may name it."""
        top, left, _, right = box
        up, first, down, last = crop
        if self._starts_group(top, left) and len(self.filled(top - 2, first, last)) > 1:
            up, side_title = top - 1, self.text(top - 2, left)
        header = top - 1 if up < top and self.any_text(top - 1, left, last) else None
        as_title = header is not None and self._is_title(header, box, first)
        stop = top if header is None else header
        titles: list[str] = []
        corner = "" if header is None else self.text(header, first).casefold()
        certain = header is not None and first < left and corner in LABEL_HEADINGS | TURNED_HEADINGS
        if certain or self._only_titles(up, stop, first, left, last):
            titles = self._texts(up, stop, first, last)
            if as_title:
                titles = self._texts(stop, top, first, last) + titles
            up = top if as_title else stop
        near = [(title, "above it") for title in titles]
        if behind := self._title_behind(top, box[2], last + 1):
            near.append((behind, "right of it"))
        if side_title:
            near.append((side_title, "left of it"))
        if header is not None and up <= header:
            if first < left:
                near.append((self.text(header, first), "in its corner"))
            if left == right:
                near.append((self.text(header, left), "above it"))
        if first < left and box[0] == box[2]:
            near.append((self.text(top, first), "left of it"))
        title, title_at = near[0] if titles or side_title else ("", "")
        crop = (up, first, down, last)
        near += self._further(crop, box)
        part = self.cells[up : down + 1, first : last + 1]
        odd = bool(((part == DECORATION) | (part == NUMBER_TEXT)).any())
        return Region(box, crop, title, title_at, odd, tuple(n for n in near if n[0]))

    def _is_title(self, row: int, box: Box, first: int) -> bool:
        """Whether the row above the numbers is one title over several columns, not headings."""
        _, left, _, right = box
        filled = self.filled(row, first, right)
        if len(filled) == 2 and filled[0] == first and _SHAPE.fullmatch(self.text(row, filled[1])[:40]):
            filled = [left] if self.names(self.text(row, first)) else filled
        if right == left or filled != [left]:
            return False
        return first == left or self.names(self.text(row, left) or self.text(row, first))

    def _only_titles(self, up: int, stop: int, first: int, left: int, last: int) -> bool:
        """Whether the rows above contain one text each, so none can be a mistyped number."""
        return all(
            len(filled := self.filled(row, first, last)) == 1
            and (filled[0] == first or first == left or is_heading(self.text(row, filled[0])))
            for row in range(up, stop)
        )

    def _texts(self, up: int, stop: int, first: int, last: int) -> list[str]:
        """The first text of each row, nearest row first."""
        rows = reversed(range(up, stop))
        return [self.text(row, self.filled(row, first, last)[0]) for row in rows]

    def _corner(self, row: int, top: int, left: int) -> list[int]:
        """The column of a title that stands over row labels which a table does not have."""
        there = left > 0 and self.kind(row, left - 1) == TEXT
        free = all(self.kind(below, left - 1) == BLANK for below in range(row + 1, top + 1))
        return [left - 1] if there and free else []

    def _further(self, crop: Box, box: Box) -> Iterator[tuple[str, str]]:
        """Yield texts that are a blank row or column, a sign or an arrow away from the table."""
        top, left = crop[0], crop[1]
        if top > 1 and not self.filled(top - 1, left, crop[3]):
            for column in (self.filled(top - 2, left, crop[3]) or self._corner(top - 2, top, left))[:1]:
                if self.kind(top - 2, column) == TEXT:
                    yield self.text(top - 2, column), "above it"
        alone = self.filled(top - 1, 0, left - 1) if min(top, left) > 0 else []
        if len(alone) != 1:
            alone = self._corner(top - 1, top, left)
        if len(alone) == 1 and self.kind(top - 1, alone[0]) == TEXT:  # overflows into blank cells
            yield self.text(top - 1, alone[0]), "above it"
        for row in range(top, min(box[2], top + 50) + 1):
            for column in range(left - 1, max(-1, left - 4), -1):
                kind = self.kind(row, column)
                if kind > TEXT:
                    break
                touched = self.kind(row, column - 1) == NUMBER and column < left - 1
                if touched and self.names(self.text(row, column)):
                    break  # right of its own numbers
                if kind == TEXT and not _SIGNS.fullmatch(self.text(row, column)):
                    yield self.text(row, column), "left of it"
                    break
