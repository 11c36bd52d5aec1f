"""Many files at once: each as if it were alone, a bad one reported, an interruption clean."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from conftest import make_input, table, thorough

from attn_xl.cli.main import main


def call(*args: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(arg) for arg in args])
    return int(end.value.code or 0)


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    (tmp_path / "in").mkdir()
    return [
        make_input(tmp_path / "in" / f"lesson {n}.xlsx", {"s": table(np.eye(n + 1))}) for n in range(4)
    ]


@thorough
def test_each_file_becomes_what_it_would_alone(
    inputs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert call("convert", *inputs, "-o", out) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 5
    assert said[-1] == "4 of 4 files converted"
    for source in inputs:
        alone = tmp_path / "alone.xlsx"
        assert call("convert", source, "-o", alone, "--force") == 0
        made = out / f"{source.stem}-attention.xlsx"
        assert made.read_bytes() == alone.read_bytes()


def test_without_o_each_lies_beside_its_input(inputs: list[Path]) -> None:
    assert call("similarity", *inputs[:2]) == 0
    for source in inputs[:2]:
        assert source.with_name(f"{source.stem}-similarity.xlsx").exists()


@thorough
def test_a_bad_file_is_reported_and_does_not_stop_the_others(
    inputs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "in" / "bad.xlsx"
    bad.write_text("no spreadsheet")
    missing = tmp_path / "missing.xlsx"
    out = tmp_path / "out"
    assert call("convert", bad, *inputs, missing, "-o", out) == 1
    said = capsys.readouterr()
    assert f"{bad}: is not a spreadsheet" in said.err
    assert f"{missing}: no such file" in said.err
    assert said.out.splitlines()[-1] == "4 of 6 files converted"
    assert len(list(out.iterdir())) == 4


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("x"), "a bug in attn-xl; please report it: KeyError: 'x'"),
        (MemoryError(), "not enough memory"),
        (OSError(5, "Input/output error"), "Input/output error"),
    ],
)
def test_an_error_that_nobody_foresaw_is_said_as_one(
    error: Exception, said: str, inputs: list[Path], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("attn_xl.cli.convert.convert_file", fails)
    assert call("convert", *inputs[:2]) == 1
    assert f"cannot be converted ({said})." in capsys.readouterr().err


@thorough
def test_what_exists_is_kept_unless_forced(
    inputs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    precious = out / f"{inputs[0].stem}-attention.xlsx"
    precious.write_text("precious")
    assert call("convert", *inputs, "-o", out) == 1
    assert precious.read_text() == "precious"
    assert "exists already" in capsys.readouterr().err
    assert call("convert", *inputs, "-o", out, "--force") == 0
    assert openpyxl.load_workbook(precious).sheetnames


def test_refusals(inputs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other").mkdir()
    twin = make_input(tmp_path / "other" / inputs[0].name, {"s": table(np.eye(2))})
    assert call("convert", inputs[0], twin, "-o", tmp_path / "out") == 2
    assert "would both be written to" in capsys.readouterr().err
    assert call("convert", *inputs, "-o", inputs[1]) == 2
    assert "is a file, but with several inputs -o must name a folder" in capsys.readouterr().err
    assert call("convert", *inputs, "-o", tmp_path / "both.xlsx") == 2
    assert "both.xlsx: is a file name, but each of several inputs" in capsys.readouterr().err
    assert not (tmp_path / "both.xlsx").exists()
    assert call("convert", tmp_path / "nothing*.xlsx") == 2
    assert "no file matches" in capsys.readouterr().err


@thorough
def test_a_pattern_that_the_shell_has_left_is_expanded(inputs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "in" / "~$lesson 1.xlsx").write_text("lock")
    out = tmp_path / "out"
    assert call("convert", tmp_path / "in" / "*.xlsx", "-o", out) == 0
    assert len(list(out.iterdir())) == len(inputs)


@thorough
@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_interrupted_it_leaves_finished_files_whole(tmp_path: Path, make: Callable[..., Path]) -> None:
    source = make({"s": table(np.random.default_rng(0).normal(size=(40, 8)))})
    for n in range(40):
        (tmp_path / f"{n}.xlsx").write_bytes(source.read_bytes())
    out = tmp_path / "out"
    files = [str(tmp_path / f"{n}.xlsx") for n in range(40)]
    command = [sys.executable, "-m", "attn_xl", "convert", *files, "-o", str(out)]
    run = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while not (out.is_dir() and len(list(out.glob("*.xlsx"))) > 2):
        assert run.poll() is None
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "interrupted" in err
    assert "Traceback" not in err
    made = list(out.iterdir())
    assert 2 < len(made) < 40
    assert all(path.suffix == ".xlsx" for path in made)
    for path in made:
        assert openpyxl.load_workbook(path, read_only=True).sheetnames
