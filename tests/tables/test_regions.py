"""Tables anywhere among anything: a random table at a random place is found exactly."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from conftest import make_input, thorough
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attn_xl import read_tables
from attn_xl.spreadsheets.numerals import NumberText
from attn_xl.tables import regions
from attn_xl.tables.names import is_matrix_name, weight_label
from attn_xl.tables.read import survey
from attn_xl.tables.regions import find_regions, kinds
from attn_xl.tables.roles import OF_SENTENCES

NOTES = st.sampled_from(
    ["A note.", "see page 3", "→", "↓", "⇒", "Lesson 7: attention", "© me", "-->", "?", "half of 10"]
)
HEADINGS = regions.LABEL_HEADINGS | regions.TURNED_HEADINGS  # of words, without which they are dims
LETTERS = st.text("abcdefgopqrstuvwxyzäßжאあ", min_size=1, max_size=6).filter(
    lambda text: not (weight_label(text) or OF_SENTENCES.fullmatch(text)) and text not in HEADINGS
)  # `bo` names a bias, and `we` tells where the words are
NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[Any]], dict[str, Any]]:
    """The cells of a table, and what is to be found."""
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    values = [[draw(NUMBERS) for _ in range(columns)] for _ in range(rows)]
    turned = draw(st.booleans())
    named = turned or draw(st.booleans()), turned or draw(st.booleans())
    words = [draw(LETTERS) for _ in range(rows)]
    dims = (
        [f"dim {j + 1}" for j in range(columns)] if turned else [draw(LETTERS) for _ in range(columns)]
    )
    if columns == 1 and not named[0]:
        named = True, named[1]  # a lone column under a text may be anything
    if rows == 1 and not named[1]:
        named = named[0], True
    body = [[*([w] if named[0] else []), *line] for w, line in zip(words, values)]
    if named[1]:
        body = [[*([""] if named[0] else []), *dims], *body]
    if turned:
        body = [list(line) for line in zip(*body)]
    expected = {
        "values": values,
        "rows": tuple(words) if named[0] else tuple(f"word {i + 1}" for i in range(rows)),
        "columns": tuple(dims) if named[1] else tuple(f"dim {j + 1}" for j in range(columns)),
    }
    return body, expected


def place(grid: list[list[Any]], rows: list[list[Any]], top: int, left: int) -> None:
    for r, row in enumerate(rows, top):
        for c, value in enumerate(row, left):
            grid[r][c] = value


@st.composite
def sheets(draw: st.DrawFn) -> tuple[list[list[Any]], dict[str, Any], tuple[int, int]]:
    """A sheet with a table, and decoration that does not touch it; arrows may."""
    body, expected = draw(tables())
    top, left = draw(st.integers(2, 9)), draw(st.integers(1, 7))
    height, width = top + len(body) + 12, left + len(body[0]) + 10
    grid: list[list[Any]] = [[None] * width for _ in range(height)]
    last_row, last_column = top + len(body), left + len(body[0])
    for _ in range(draw(st.integers(0, 12))):
        r, c = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
        if not (top - 2 < r <= last_row and left - 2 < c <= last_column):
            grid[r][c] = draw(NOTES)
    if draw(st.booleans()):  # arrows beside and below it
        for r in range(top, last_row):
            grid[r][last_column] = "→"
        for c in range(left, last_column):
            grid[last_row][c] = "↓"
    place(grid, body, top, left)
    return grid, expected, (top, left)


@thorough
@given(sheets())
def test_a_table_is_found_exactly(
    tmp_path_factory: pytest.TempPathFactory,
    made: tuple[list[list[Any]], dict[str, Any], tuple[int, int]],
) -> None:
    grid, expected, _ = made
    path = make_input(tmp_path_factory.mktemp("x") / "input.xlsx", {"s": grid})
    found = read_tables(path).sentences["s"]
    assert found.values.tolist() == expected["values"]
    assert (found.rows, found.columns) == (expected["rows"], expected["columns"])


@thorough
@given(sheets(), st.integers(1, 4), st.sampled_from(["Wq", "W_V", "Key weights"]), st.booleans())
def test_a_second_table_with_a_name_is_the_weights(
    tmp_path_factory: pytest.TempPathFactory,
    made: tuple[list[list[Any]], dict[str, Any], tuple[int, int]],
    width: int,
    label: str,
    below: bool,
) -> None:
    grid, expected, (_, left) = made
    d = len(expected["columns"])
    weights = [[float(i - j) for j in range(width)] for i in range(d)]
    rows = (
        [[label], *weights]
        if below or d == 1
        else [[label, *weights[0]], *([None, *w] for w in weights[1:])]
    )
    top = len(grid) + 2
    grid = [*grid, *([None] * max(len(grid[0]), left + width + 3) for _ in range(d + 6))]
    place(grid, rows, top, left)
    turned = read_turned(expected, grid)
    path = make_input(tmp_path_factory.mktemp("x") / "input.xlsx", {"s": grid})
    seen = survey(path)
    used = [f for sheet in seen.sheets for f in sheet.found if f.use == "weights"]
    assert [f.shape for f in used] == [(d, width)]
    assert used[0].table is not None
    assert used[0].table.values.tolist() == weights
    if not turned:
        assert seen.tables is not None
        assert seen.tables.sentences["s"].values.tolist() == expected["values"]


def read_turned(expected: dict[str, Any], grid: list[list[Any]]) -> bool:
    """Whether the table of this sheet has its words in columns: then weights go the other way, too."""
    return (
        any("dim 1" in map(str, row) and row.count("dim 1") for row in grid) or not expected["values"]
    )


@given(sheets())
@settings(max_examples=25)
def test_without_numbers_nothing_is_found(
    made: tuple[list[list[Any]], dict[str, Any], tuple[int, int]],
) -> None:
    grid = [["" if isinstance(v, float) else v for v in row] for row in made[0]]
    assert find_regions(grid, is_matrix_name) == []


CELLS = st.one_of(
    st.none(),
    NUMBERS,
    st.sampled_from(["a", "1", "1,5", "→", "W_Q", "x", True, "Q", " ", "1,234", "dim 1"]),
)


@thorough
@example([["a", None, 0.0, "1"], [None, 0.0]], False)
@example([[True, 0.0, "1"]], False)
@given(st.lists(st.lists(CELLS, max_size=7), max_size=9), st.booleans())
def test_no_sheet_ends_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, grid: list[list[Any]], twice: bool
) -> None:
    from attn_xl.views.inspection import as_json, as_text

    path = make_input(
        tmp_path_factory.mktemp("x") / "i.xlsx", {"s": grid, **({"t": grid} if twice else {})}
    )
    seen = survey(path)
    assert (seen.tables is None) != (seen.trouble is None)
    assert str(path) in as_text(str(path), seen, {})
    assert as_json(str(path), seen, {})
    for sheet in seen.sheets:
        for f in sheet.found:
            assert f.why


def test_many_scattered_numbers_take_no_time() -> None:
    grid = [[float(r) if (r + c) % 2 == 0 and r % 3 else "" for c in range(90)] for r in range(90)]
    assert kinds(grid).shape == (90, 90)
    assert find_regions(grid, is_matrix_name)


@pytest.mark.parametrize("blanks", [0, 3, 40])
def test_what_a_cell_is_however_many_are_blank(blanks: int) -> None:
    row = [1.5, "", "word", " ", NumberText(2.0, "2"), "3,5", "→", True, None, 7]
    kinds_of = [
        regions.NUMBER,
        0,
        regions.TEXT,
        0,
        regions.NUMBER,
        regions.NUMBER_TEXT,
        regions.DECORATION,
    ]
    expected = [*kinds_of, regions.OTHER, 0, regions.NUMBER]
    found = regions.kinds([row + [""] * blanks, [], [""] * blanks + row])
    assert found[0].tolist() == expected + [0] * blanks
    assert found[2].tolist() == [0] * blanks + expected
    assert not found[1].any()


@thorough
def test_a_sheet_of_five_million_blank_cells_is_looked_at_in_a_second() -> None:
    """Measured in processor time: 0.3 s; kind by kind it took 3 s."""
    grid = [["", 1.5, *[""] * 16_000] for _ in range(300)]
    begun = process_time()
    assert (regions.kinds(grid) == regions.NUMBER).sum() == 300
    assert process_time() - begun < 1.5
