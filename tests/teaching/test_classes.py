"""Lessons for a class: numbers of their own, a key that is right, and nothing half done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from conftest import SAMPLES, thorough, verify
from judges import Editable, stored_formulas

from attn_xl import CallError, InputError, OutputError, read_tables
from attn_xl.settings import Settings
from attn_xl.tables.written import read_record
from attn_xl.teaching.lessons.answer_key import KEY_COLUMNS, read_key
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.class_lessons import write_class
from attn_xl.teaching.lessons.pages import RIGHT

Keep = Callable[[Path], Path]
MOUSE = SAMPLES / "mouse.xlsx"
NAMES = [
    ("s1", "Ada Lovelace"), ("s2", "=1+1"), ("=HYPERLINK(1)", "@x"), ("007", "-5"),
    ("+cmd|' /C calc'!A0", "日本"),
    ("s6", "it's <b>&\"x\""), ("TRUE", ""),
]  # fmt: skip


def students(path: Path, names: list[tuple[str, str]]) -> Path:
    lines = [
        "id,name",
        *(",".join('"' + part.replace('"', '""') + '"' for part in one) for one in names),
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def teach(tmp_path: Path, names: list[tuple[str, str]] = NAMES, **more: Any) -> tuple[Path, Path]:
    """Write a class; its folder, and its key."""
    folder = more.pop("folder", tmp_path / "class")
    lesson = more.pop("lesson", Lesson(level=2))
    roster = students(tmp_path / "roster.csv", names)
    more.setdefault("settings", Settings(controls=True))
    source = more.pop("source", MOUSE)
    _, key = write_class(read_tables(source), roster, folder, lesson=lesson, **more)
    return folder, key


def rows(book: Any, sheet: str) -> list[dict[str, Any]]:
    lines = [[cell.value for cell in row] for row in book[sheet].iter_rows(min_row=4)]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


@thorough
def test_each_has_numbers_of_their_own_and_the_key_is_right(tmp_path: Path, keep: Keep) -> None:
    folder, key = teach(tmp_path)
    assert key == tmp_path / "class-answers.xlsx"
    book = openpyxl.load_workbook(key)
    assert book.sheetnames[:2] == ["Overview", "Answers"]
    answers, inputs = rows(book, "Answers"), set()
    assert [(line["id"], line["name"] or "") for line in answers] == NAMES
    assert {line["file"] for line in answers} == {path.name for path in folder.iterdir()}
    assert len({line["inputs"] for line in answers}) == len(NAMES)
    for line in answers:
        path = folder / line["file"]
        (keep if line["id"] in ("s1", "TRUE") else verify)(path)
        engine = Editable(path)
        inputs.add(tuple(cell_of(engine, f"pets.Input!{cell}") for cell in ("B5", "C6", "B7", "C8")))
        engine.enter(
            [(*split(cell), number) for cell, number in list(line.items())[len(KEY_COLUMNS) :]]
        )
        marks = [engine.value(s, r, c) for s, r, c, f, _ in stored_formulas(path) if "ISBLANK" in f]
        assert len(marks) == len(line) - len(KEY_COLUMNS) == 180
        assert set(marks) == {RIGHT}
        written = openpyxl.load_workbook(path)
        grids = {"Settings": [[c.value or "" for c in row] for row in written["Settings"].iter_rows()]}
        record = {name: value for name, value, _ in read_record(grids) or []}
        assert record["lesson student"] == line["id"]
        assert record["lesson inputs"] == line["inputs"]
        assert (record["lesson name"] or "") == (line["name"] or "")
    assert len(inputs) > len(NAMES) / 2
    assert len(read_key(key).students) == len(NAMES)


def split(cell: str) -> tuple[str, int, int]:
    sheet, at = cell.rsplit("!", 1)
    return sheet, *openpyxl.utils.cell.coordinate_to_tuple(at)  # type: ignore[return-value]


def cell_of(engine: Editable, cell: str) -> Any:
    return engine.value(*split(cell))


@thorough
def test_ids_and_names_stay_text_in_all_sheets(tmp_path: Path) -> None:
    folder, key = teach(tmp_path, lesson=Lesson(exam=True))
    texts = {text for pair in NAMES for text in pair if text}
    for path in (key, *folder.iterdir()):
        seen = 0
        for sheet in openpyxl.load_workbook(path).worksheets:
            for row in sheet.iter_rows():
                for cell in row:
                    if cell.data_type == "f":
                        assert not any(text in str(cell.value) for text in texts if len(text) > 3)
                    if cell.value in texts:
                        assert (cell.data_type, cell.number_format) == ("s", "@")
                        assert cell.quotePrefix
                        seen += 1
        assert seen >= (2 * len(NAMES) - 1 if path == key else 1)  # one has no name
    cover = openpyxl.load_workbook(next(folder.glob("s2*")))["Lesson"]
    assert cover["B4"].value == "=1+1 (s2)"
    assert cover["B4"].protection.locked


@thorough
def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    made = []
    for number in (1, 2):
        folder, key = teach(
            tmp_path, NAMES[:4], folder=tmp_path / f"run{number}", lesson=Lesson(level=1)
        )
        made.append([path.read_bytes() for path in sorted(folder.iterdir())] + [key.read_bytes()])
    assert made[0] == made[1]
    folder, _ = teach(tmp_path, NAMES[:4], folder=tmp_path / "seeded", lesson=Lesson(level=1, seed=4))
    other = [path.read_bytes() for path in sorted(folder.iterdir())]
    assert not set(other) & set(made[0])


# Nothing half done


@thorough
def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "s1-Ada_Lovelace.xlsx").write_text("handed in")
    with pytest.raises(CallError, match=r"s1-Ada_Lovelace\.xlsx: exists already"):
        teach(tmp_path)
    assert [p.name for p in folder.iterdir()] == ["s1-Ada_Lovelace.xlsx"]
    assert (folder / "s1-Ada_Lovelace.xlsx").read_text() == "handed in"
    teach(tmp_path, force=True)
    assert len(list(folder.iterdir())) == len(NAMES)
    (tmp_path / "k.xlsx").write_text("mine")
    with pytest.raises(CallError, match=r"k\.xlsx: exists already"):
        teach(tmp_path, folder=tmp_path / "b", answers=tmp_path / "k.xlsx")
    assert not (tmp_path / "b").exists()


def test_a_bad_line_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 3: the id 's1' is already on line 2"):
        teach(tmp_path, [("s1", "Ada"), ("s1", "Bob")])
    with pytest.raises(InputError, match=r"line 3: .*id"):
        teach(tmp_path, [("s1", "Ada"), ("", "Bob")])
    assert [p.name for p in tmp_path.iterdir()] == ["roster.csv"]


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"answers": "key.ods"}, CallError, "ends in .xlsx"),
        ({"folder": "class.xlsx"}, CallError, "with --roster, -o takes a folder: -o class"),
        ({"answers": "class/s2-1_1.xlsx"}, CallError, "is the lesson of a student"),
        ({"answers": "no/key.xlsx"}, OutputError, "there is no such folder"),
        (
            {"folder": "roster.csv"},
            CallError,
            "names a file; with --roster, -o takes a folder: -o roster",
        ),
        ({"folder": "roster.csv/class"}, OutputError, "cannot be created"),
        ({"template": "nope"}, CallError, "no such template"),
        ({"lesson": Lesson(blank=("nope",))}, CallError, "no step 'nope'"),
        ({"settings": Settings(memory="dog")}, CallError, "no sheet 'dog'"),
        ({"settings": Settings(heads=2)}, InputError, "W_Q is missing"),
    ],
)
def test_refusals_leave_nothing(
    more: dict[str, Any], error: type[Exception], said: str, tmp_path: Path
) -> None:
    more = {
        key: tmp_path / value if key in ("answers", "folder") else value for key, value in more.items()
    }
    with pytest.raises(error, match=said):
        teach(tmp_path, **more)
    assert [p.name for p in tmp_path.iterdir()] == ["roster.csv"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from attn_xl.cli.main import main

    roster = students(tmp_path / "r.csv", NAMES[:2])
    folder = tmp_path / "mine"
    with pytest.raises(SystemExit) as end:
        main(["teach", str(MOUSE), "--roster", str(roster), "-o", str(folder), "--level", "1", "--exam",
              "--answers", str(tmp_path / "k.xlsx"), "--template", "print"])  # fmt: skip
    assert not end.value.code
    out, err = capsys.readouterr()
    assert out == f"{folder}: 2 lessons\n{tmp_path / 'k.xlsx'}: the answers\n"
    assert err == ""
    assert sorted(p.name for p in folder.iterdir()) == ["s1-Ada_Lovelace.xlsx", "s2-1_1.xlsx"]
    with pytest.raises(SystemExit) as end:
        main(["teach", str(MOUSE), "--roster", str(tmp_path / "no.csv"), "-o", str(tmp_path / "x")])
    assert end.value.code == 1
    assert "no.csv" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
