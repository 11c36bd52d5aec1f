"""The command `attn-xl model`, and the other commands with a trained model or with its workbook."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, by_libreoffice, make_input, table, thorough, verify
from judges import differences_libreoffice

from attn_xl.cli.main import main

TINY = SAMPLES / "tiny-model"
TEXT = "the cat chased the"
Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command; returns what it prints."""

    def call(*args: object, status: int = 0) -> str:
        with pytest.raises(SystemExit) as stopped:
            main([str(arg) for arg in args])
        printed = capsys.readouterr()
        assert (stopped.value.code or 0) == status, printed
        return printed.out if not status else printed.err

    return call


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.xlsx"
    with pytest.raises(SystemExit):
        main(["model", str(TINY), "--text", TEXT, "-o", str(path)])
    return path


@thorough
def test_a_whole_language_model(written: Path) -> None:
    verify(written)
    assert written.stat().st_size < 2_000_000
    book = openpyxl.load_workbook(written)
    assert {"Overview", "Dec1", "Dec2"} <= {*book.sheetnames}


@by_libreoffice
def test_libreoffice_agrees(written: Path) -> None:
    (found,) = differences_libreoffice([written], 1e-12).values()
    assert not found


@thorough
def test_the_default_output_stands_beside_the_folder(run: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(TINY, tmp_path / "tiny-1.5"))
    run("model", folder, "--text", TEXT, "--layers", "1")
    assert (tmp_path / "tiny-1.5-attention.xlsx").is_file()


@thorough
def test_the_overview_says_what_is_live(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.xlsx"
    run("model", TINY, "--text", TEXT, "--layers", "1", "--heads", "1", "-o", path)
    texts = [str(cell.value) for row in openpyxl.load_workbook(path)["Overview"] for cell in row]
    (line,) = [text for text in texts if "Formulas (counted from 0)" in text]
    assert "layer 1 of 2, head 1 of 4, no feed-forward network; what the rest gives" in line
    assert any("all would be" in text for text in texts)


@thorough
def test_other_commands_take_a_model_and_its_workbook(run: Run, written: Path, tmp_path: Path) -> None:
    shown = run("show", TINY, "--text", TEXT, "--step", "Next", "--json")
    assert run("show", written, "--step", "Next", "--json") == shown
    (sentence,) = json.loads(shown)["sentences"].values() if "sentences" in shown else [shown]
    assert "cat" in json.dumps(sentence)
    cell = "Dec1.Softmax_1[chased, cat]"
    assert run("explain", TINY, cell, "--text", TEXT) == run("explain", written, cell)


def test_inspect_lists_the_files_of_a_model(run: Run) -> None:
    listed = run("inspect", TINY, "--text", TEXT)
    assert "splits the text into 4 tokens" in listed
    assert "20 weights" in listed
    assert f"attn-xl convert {TINY} --text" in listed


@thorough
def test_its_canvas_and_its_lesson(run: Run, tmp_path: Path) -> None:
    canvas, lesson = tmp_path / "canvas.xlsx", tmp_path / "lesson.xlsx"
    run("model", TINY, "--text", "the cat ran", "--layout", "canvas", "-o", canvas)
    run("teach", TINY, "--text", "the cat ran", "-o", lesson)
    verify(canvas)
    verify(lesson)


@thorough
def test_influence_begins_where_formulas_begin(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.xlsx"
    chosen = ("--layers", "1", "--heads", "1", "--layout", "sheets")
    run("model", TINY, "--text", "the", *chosen, "--influence", "-o", path)
    verify(path)
    assert "Influence" in openpyxl.load_workbook(path).sheetnames


def test_too_large_says_what_to_omit(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_xl.workbook.layout.place.MOST_CELLS", 20_000)
    error = run("model", TINY, "--text", TEXT, "-o", tmp_path / "m.xlsx", status=1)
    assert "the workbook would hold" in error
    assert "Write less of the model: --layers 0" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "m.xlsx").exists()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (("--text", ""), "has no tokens"),
        ((), "needs a text"),
        (("--text", TEXT, "--layers", "7"), "--layers 7: the model has layers 0 to 1"),
        (("--text", TEXT, "--vocabulary", "some"), "it takes all, used"),
        (
            ("--text", TEXT, "--generate", "1", "--layers", "1"),
            "--generate works with all layers and heads only",
        ),
    ],
)
def test_mistakes_in_the_call(call: tuple[str, ...], says: str, run: Run) -> None:
    error = run("model", TINY, *call, status=2)
    assert says in error
    assert error.count("\n") == 1


def test_a_folder_that_does_not_exist(run: Run, tmp_path: Path) -> None:
    assert "no such file" in run("model", tmp_path / "none", "--text", TEXT, status=1)


def test_a_step_that_is_nowhere_is_said_also_where_influence_is_too_large(
    run: Run, tmp_path: Path
) -> None:
    x = np.random.default_rng(0).normal(size=(30, 200)).round(2)
    wide = make_input(tmp_path / "wide.xlsx", {"s": table(x)})
    assert "there is no step 'Nowhere'" in run("show", wide, "--step", "Nowhere", status=2)
    assert "more than 4,000,000" in run("show", wide, "--step", "Influence", status=1)
