"""No text of a student's file steers the terminal or the spreadsheet of the teacher who reads it."""

from __future__ import annotations

import io
import re
from pathlib import Path

import openpyxl
import pytest
from conftest import SAMPLES, thorough

from attn_xl.cli.main import main
from attn_xl.console import console
from attn_xl.spreadsheets.text_files import harmless, read_text

HOSTILE = "_x001B_]0;owned_x0007__x009B_31m_x202E_"
"""How a file writes a title for the terminal, a colour, and a direction."""


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def run(*arguments: object) -> None:
    with pytest.raises(SystemExit):
        main([str(argument) for argument in arguments])


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    """A lesson of which a student has edited a given number."""
    path = tmp_path / "lesson.xlsx"
    run("teach", SAMPLES / "by-hand.xlsx", "-o", path, "--answers", tmp_path / "key.xlsx")
    book = openpyxl.load_workbook(path)
    sheet, _, cells = book.defined_names["Input"].attr_text.rpartition("!")
    book[sheet.strip("'")][cells.replace("$", "").partition(":")[0]].value = HOSTILE
    book.save(path)
    return path


@thorough
@pytest.mark.parametrize("terminal", [False, True])
def test_a_setting_cannot_steer_the_terminal(
    terminal: bool, submitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Terminal() if terminal else io.StringIO()
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", err := io.StringIO())
    table = tmp_path / "grades.csv"
    run("grade", submitted, "--answers", tmp_path / "key.xlsx", "-o", tmp_path / "g.xlsx",
        "--csv", table)  # fmt: skip
    texts = [out.getvalue(), err.getvalue(), table.read_text(encoding="utf-8")]
    assert any("owned" in text for text in texts)
    for text in texts:
        assert not {"\x1b", "\x07", "\x9b"} & set(
            re.sub(r"\x1b\[[0-9;]*m", "", text)
        )  # but styles of ours


def test_a_console_cleans_what_it_prints() -> None:
    out = Terminal()
    console(out, color_system=None).print("a\x1b]0;b\x07c\u202ed", markup=False)
    assert out.getvalue() == "a\ufffd]0;bc\ufffdd\n"  # Rich leaves the bell out


@pytest.mark.parametrize("hidden", ["\u200b", "\ufeff", "\u2060 ", "\u200b\u200e"])
def test_an_invisible_character_hides_no_formula(hidden: str) -> None:
    text = f"{hidden}=1+1"
    assert harmless(text) == f"'{text}"
    assert read_text(f"a,{harmless(text)}\nb,1\n", "x")[0] == ["a", text]
