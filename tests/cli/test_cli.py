"""The command line: every option, every refusal, its words and its status."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, make_input, table, thorough
from rich.cells import cell_len

from attn_xl import __version__
from attn_xl.cli.commands import COMMANDS, load
from attn_xl.cli.main import main
from attn_xl.settings import Settings
from attn_xl.text import say
from attn_xl.workbook.templates import shipped

MOUSE = str(SAMPLES / "mouse.xlsx")


class Run:
    """What a call of the program said, and its status."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *args: object) -> None:
        with pytest.raises(SystemExit) as end:
            main([str(arg) for arg in args])
        self.status = end.value.code or 0
        self.out, self.err = capsys.readouterr()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    monkeypatch.delenv("COLUMNS", raising=False)
    return lambda *args: Run(capsys, *args)


Runner = Callable[..., Run]


def test_convert(run: Runner, tmp_path: Path, keep: Callable[[Path], Path]) -> None:
    done = run("convert", MOUSE, "-o", tmp_path / "out.xlsx")
    assert done.status == 0
    finding = "mouse: with cat it becomes animal 2.05 > tech 1.45"
    written = f"{tmp_path / 'out.xlsx'}: 14 sheets, 335 formulas"
    assert done.out == f"{written}; the first says “{finding}”\n"
    assert done.err == ""
    keep(tmp_path / "out.xlsx")
    assert [p.name for p in tmp_path.iterdir()] == ["out.xlsx"]


def test_a_large_workbook_says_what_it_costs_before_it_is_written(run: Runner, tmp_path: Path) -> None:
    x = np.ones((120, 4))
    source = make_input(tmp_path / "in.xlsx", {"s": table(x, [f"w{i}" for i in range(120)])})
    done = run("convert", source, "-o", tmp_path / "out.xlsx")
    assert done.status == 0
    assert "formulas will be written: about 0.8 MB" in done.err


def test_without_o_the_result_lies_beside_the_input(run: Runner, tmp_path: Path) -> None:
    source = make_input(tmp_path / "my lesson.xlsx", {"s": table(np.eye(2))})
    assert run("convert", source).status == 0
    assert (tmp_path / "my lesson-attention.xlsx").exists()


def test_options_of_convert(run: Runner, tmp_path: Path) -> None:
    out = tmp_path / "o.xlsx"
    done = run(
        "convert",
        MOUSE,
        "-o",
        out,
        "--no-scale",
        "--formulas",
        "none",
        "--template",
        "print",
        "--decimals",
        1,
    )
    assert "values only" in done.out
    book = openpyxl.load_workbook(out)
    assert "pets.Scaled" not in book.sheetnames
    assert isinstance(book["pets.Output"]["B5"].value, float)
    assert book["pets.Input"]["B5"].number_format == "0.0"
    assert book["pets.Input"]["B5"].border.left.style == "medium"


def test_an_output_that_exists_is_refused_without_force(run: Runner, tmp_path: Path) -> None:
    out = tmp_path / "o.xlsx"
    out.write_text("precious")
    done = run("convert", MOUSE, "-o", out)
    assert (done.status, out.read_text()) == (2, "precious")
    assert (
        done.err
        == f"attn-xl: {out}: exists already. Use --force to replace it, or -o to name another.\n"
    )
    assert run("convert", MOUSE, "-o", out, "--force").status == 0
    assert openpyxl.load_workbook(out).sheetnames


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (("fill", SAMPLES / "authors" / "two-contexts.xlsx", "-o"), "o.xlsx"),
        (("compare", MOUSE, "--models", "attention", "rnn", "-o"), "o.xlsx"),
        (("learn", SAMPLES / "learning.xlsx", "--steps", "1", "-o"), "o.xlsx"),
        (("teach", MOUSE, "-o"), "o.xlsx"),
        (("new", "--words", "a b", "-o"), "o.xlsx"),
        (("vectors", SAMPLES / "vectors.txt", "--words", "cat", "-o"), "o.xlsx"),
        (("show", MOUSE, "--svg"), "o.svg"),
    ],
)
def test_every_command_keeps_a_file_that_exists(
    run: Runner, tmp_path: Path, call: tuple[Any, ...], name: str
) -> None:
    out = tmp_path / name
    out.write_text("precious")
    done = run(*call, out)
    assert (done.status, out.read_text()) == (2, "precious")
    assert f"{out}: exists already. Use --force" in done.err
    if name == "o.xlsx":
        assert "give it a name that ends in .xlsx." in run(*call, tmp_path / "o.docx").err


@pytest.mark.parametrize("how", ["same", "symlink", "hardlink", "dots"])
def test_the_input_is_never_overwritten(run: Runner, tmp_path: Path, how: str) -> None:
    source = make_input(tmp_path / "in.xlsx", {"s": table(np.eye(2))})
    before = source.read_bytes()
    out = tmp_path / "out.xlsx"
    if how == "symlink":
        out.symlink_to(source)
    elif how == "hardlink":
        os.link(source, out)
    elif how == "dots":
        (tmp_path / "sub").mkdir()
        out = tmp_path / "sub" / ".." / "in.xlsx"
    else:
        out = source
    done = run("convert", source, "-o", out, "--force")
    assert done.status == 2
    assert "never overwritten" in done.err
    assert source.read_bytes() == before


@pytest.mark.parametrize(
    ("args", "status", "said"),
    [
        (["convert", "nowhere.xlsx"], 1, "nowhere.xlsx: no such file."),
        (["show", "nowhere.xlsx"], 1, "nowhere.xlsx: no such file."),
        (["convert", ""], 1, "is a folder"),
        (["convert", "."], 1, "is a folder"),
        (["convert", "x" * 300], 1, "File name too long"),
        (["convert", MOUSE, "-o", "x" * 300 + ".xlsx"], 2, "is not a valid file name"),
        (["convert", MOUSE, "-o", "out.csv"], 2, "ends in .xlsx"),
        (["convert", MOUSE, "-o", "no/such/folder/out.xlsx"], 1, "no such folder"),
        (["convert", MOUSE, "-o", "out.xlsx", "--template", "blue"], 2, "no such template"),
        (["convert", MOUSE, "-o", "out.xlsx", "--decimals", "-1"], 2, "--decimals is -1"),
        (["convert", MOUSE, "-o", "out.xlsx", "--formulas", "some"], 2, "some"),
        (["convert", MOUSE, "--colour"], 2, "--colour"),
        (["convert"], 2, "FILE"),
        (["paint", MOUSE], 2, "paint"),
        (["show", MOUSE, "--only", "Softmax"], 2, "Did you mean --step?"),
        (["convert", MOUSE, "--mask"], 2, "Did you mean --causal?"),
        (["the cat sat"], 2, 'attn-xl new --words "the cat sat"'),
        (["show", "samples/mouse.xlsx"], 1, "no such file here. It is "),
        (["model", MOUSE], 1, "is no trained model, which is a folder with config.json"),
        (["explain", MOUSE, "cat"], 2, "'cat' is the label of a row. Give its step, too: pets."),
        (["show", MOUSE, "--step", "Sofmax"], 2, "there is no step 'Sofmax'. Did you mean 'Softmax'?"),
        (
            ["show", MOUSE, "--sheet", "pet"],
            2,
            "there is no sheet 'pet' with a sentence. Did you mean 'pets'?",
        ),
        (["show", MOUSE, "--json", "--csv"], 2, "cannot be combined"),
        (["show", MOUSE, "--sheet", "pets", "--sheet", "desk"], 2, "--sheet is given twice"),
        (["convert", MOUSE, "-o", "a.xlsx", "--output=b.xlsx"], 2, "--output is given twice"),
    ],
)
def test_refusals(
    run: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    args: list[str],
    status: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*args)
    assert done.status == status
    assert said in done.err
    assert "Traceback" not in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")
def test_what_is_no_ordinary_file_is_not_replaced(run: Runner, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xlsx")
    (tmp_path / "loop.xlsx").symlink_to(tmp_path / "loop.xlsx")
    template = tmp_path / "look.xlsx"
    template.write_bytes(shipped()["print"].read_bytes())
    for out, said in (("pipe", "not an ordinary file"), ("loop", ""), ("look", "never overwritten")):
        path = tmp_path / f"{out}.xlsx"
        done = run("convert", MOUSE, "-o", path, "--force", "--template", template)
        assert done.status in (1, 2)
        assert said in done.err
        assert len(done.err.splitlines()) == 1
    assert (tmp_path / "pipe.xlsx").is_fifo()
    assert template.read_bytes() == shipped()["print"].read_bytes()


def test_a_file_name_cannot_steer_the_terminal(run: Runner, tmp_path: Path) -> None:
    done = run("show", tmp_path / "no\x1b[31m.xlsx")
    assert "\x1b" not in done.err
    source = make_input(tmp_path / "bell\x07.xlsx", {"s": table(np.eye(2))})
    assert run("convert", source, "-o", tmp_path / "o.xlsx").status == 0


@thorough
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("option", ["--csv"])
def test_an_output_that_cannot_be_printed_is_one_line(option: str) -> None:
    command = f"{sys.executable} -m attn_xl show {MOUSE} {option}"
    done = subprocess.run(f"{command} > /dev/full", shell=True, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "attn-xl: the output cannot be written (No space left on device).\n"
    assert subprocess.run(f"{command} >&-", shell=True, capture_output=True).returncode == 0


def test_a_bad_cell_is_one_line_with_file_sheet_and_cell(run: Runner, tmp_path: Path) -> None:
    source = make_input(tmp_path / "in.xlsx", {"pets": [["", "a"], ["cat", 1], ["dog", "x"]]})
    done = run("convert", source)
    assert done.status == 1
    assert done.err == (
        f"attn-xl: {source}, sheet 'pets', cell B3: the text 'x' where a number is needed.\n"
    )
    assert [p.name for p in tmp_path.iterdir()] == ["in.xlsx"]


@thorough
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(
    "signum", [signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGINT)]
)
def test_an_interrupted_run_leaves_the_old_file_and_nothing_else(tmp_path: Path, signum: int) -> None:
    rng = np.random.default_rng(0)
    source = make_input(tmp_path / "in.xlsx", {"s": table(rng.normal(size=(600, 8)))})
    out = tmp_path / "o.xlsx"
    out.write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-m", "attn_xl", "convert", str(source), "-o", str(out), "--force"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signum, signal.SIG_DFL),  # whoever runs the tests
    )
    for _ in range(2000):  # until the unfinished file is there
        if process.poll() is not None or any(p.suffix == ".part" for p in tmp_path.iterdir()):
            break
        time.sleep(0.005)
    process.send_signal(signum)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "Traceback" not in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.xlsx", "o.xlsx"]
    assert out.read_text() == "old"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_the_output_gets_the_usual_permissions(run: Runner, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        run("convert", MOUSE, "-o", tmp_path / "o.xlsx")
    finally:
        os.umask(before)
    assert (tmp_path / "o.xlsx").stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_replaced_file_keeps_its_permissions(run: Runner, tmp_path: Path) -> None:
    out = tmp_path / "o.xlsx"
    out.write_text("old")
    out.chmod(0o640)
    assert run("convert", MOUSE, "-o", out, "--force").status == 0
    assert out.stat().st_mode & 0o777 == 0o640


def test_an_output_behind_a_link_is_replaced_and_the_link_stays(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "real.xlsx").write_text("old")
    (tmp_path / "link.xlsx").symlink_to(tmp_path / "real.xlsx")
    assert run("convert", MOUSE, "-o", tmp_path / "link.xlsx", "--force").status == 0
    assert (tmp_path / "link.xlsx").is_symlink()
    assert openpyxl.load_workbook(tmp_path / "real.xlsx").sheetnames


def test_sentences_that_are_not_compared_are_said(run: Runner, tmp_path: Path) -> None:
    sheets = {"one": table(np.eye(2), ["a", "b"]), "two": table(np.eye(3), ["a", "b", "c"])}
    done = run("convert", make_input(tmp_path / "in.xlsx", sheets))
    assert done.status == 0
    assert "Not compared with 'one', since their dimensions differ: 'two'." in done.err


def test_version_and_help(run: Runner) -> None:
    assert run("--version").out == f"attn-xl {__version__}\n"
    for command in ("convert", "show"):
        text = run(command, "--help").out
        assert f"attn-xl {command} samples/mouse.xlsx" in text
        assert "--[no-]causal" in text


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_screen(command: str, run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(*filter(None, [command]), "--help").out.splitlines()
    assert len(lines) <= (60 if command else 24)
    assert max(map(len, lines)) <= 80
    assert not command or len(load(command).params) <= 35


def test_a_file_in_place_of_a_command_is_converted(run: Runner, tmp_path: Path) -> None:
    assert run("./no.xlsx").err.startswith("attn-xl: no.xlsx: no such file.")
    assert run(MOUSE, "-o", tmp_path / "o.xlsx").out.startswith(f"{tmp_path / 'o.xlsx'}: ")


def test_every_setting_can_be_set_and_is_listed(run: Runner) -> None:
    shown = run("show", MOUSE, "--json", "--set", "causal=on", "--set", "temperature = 2").out
    assert shown == run("show", MOUSE, "--json", "--causal", "--temperature=2").out
    assert shown != run("show", MOUSE, "--json").out
    told = run("show", MOUSE, "--set", "rotery-base=1").err
    assert "there is no such setting here. Did you mean 'rotary-base'?" in told
    assert "give it a value: --set causal=VALUE" in run("show", MOUSE, "--set", "causal").err
    assert (
        "--temperature is 0.0; it takes a number above 0."
        in run("show", MOUSE, "--set", "temperature=0").err
    )
    told = run("show", MOUSE, "--rotary-base").err
    assert "--set rotary-base: give it a value: --set rotary-base=VALUE." in told
    listed = run("settings").out
    for setting in fields(Settings):
        assert f"\n{setting.name.replace('_', '-')}\n" in f"\n{listed}"
    assert "a whole number from 1 to 1,000; default: none" in run("settings", "kv-heads").out
    assert "attn-xl settings lists all" in run("settings", "colour").err


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["convert", "--help"], ["show", "--help"]])
def test_help_and_version_load_nothing_heavy(args: list[str]) -> None:
    program = (
        "import sys\nfrom attn_xl.cli.main import main\n"
        f"try:\n    main({args!r})\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'openpyxl', 'ironcalc', 'python_calamine'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("args", "spared"),
    [
        (["--help"], {"attn_xl.cli.options", "numpy"}),
        (
            ["convert", str(SAMPLES / "mouse.xlsx"), "-o", "OUT"],
            {"urllib.request", "multiprocessing", "pygments", "attn_xl.cli.teach"},
        ),
    ],
)
def test_starting_loads_nothing_that_is_not_used(
    args: list[str], spared: set[str], tmp_path: Path
) -> None:
    program = (
        "import sys\nfrom attn_xl.cli.main import main\n"
        f"try:\n    main({[str(tmp_path / 'out.xlsx') if a == 'OUT' else a for a in args]!r})\n"
        "except SystemExit as end:\n    assert not end.code\n"
        f"loaded = {spared!r} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
        "from rich.markdown import Markdown\nMarkdown('*whole*').parsed\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_mistake_in_the_call_is_one_sentence(run: Runner) -> None:
    assert run("convret", "x").err == (
        "attn-xl: No such command 'convret'. Did you mean 'convert'? Try 'attn-xl --help'.\n"
    )


def test_saying_nothing_prints_the_help(run: Runner) -> None:
    done = run()
    assert "convert" in done.out
    assert done.err == ""


def test_as_a_module_and_a_script() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "attn_xl", "--version"], capture_output=True, text=True
    )
    assert done.stdout == f"attn-xl {__version__}\n"


@thorough
def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"set -o pipefail; {sys.executable} -m attn_xl show {MOUSE} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stdout == "pets.Softmax = softmax(Scaled)\n"
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_the_help_names_the_program_however_it_was_started(run: Runner) -> None:
    assert "Usage: attn-xl convert" in run("convert", "--help").out


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("mosue.xlsx", " Did you mean 'mouse.xlsx'?"),
        ("MOUSE.XLSX", " Did you mean 'mouse.xlsx'?"),
        ("mouse", " Did you mean 'mouse.xlsx'?"),
        ("mouse.csv", " Did you mean 'mouse.xlsx'?"),
        ("elephants.ods", ""),
        ("none/mouse.xlsx", None),
    ],
)
@pytest.mark.parametrize("command", ["show", "convert", "inspect", "similarity", "vectors"])
def test_a_file_that_is_not_there_has_a_near_name(
    command: str, asked: str, hint: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("mouse.xlsx", "~$mouse.xlsx", ".mouse.xlsx"):
        (tmp_path / name).write_bytes(b"x")
    path = tmp_path / asked
    if path.exists():
        pytest.skip("upper and lower case are alike here")
    with pytest.raises(SystemExit) as end:
        main([command, str(path), *(["--words", "cat"] if command == "vectors" else [])])
    assert end.value.code == 1
    end_of_line = f"; there is no folder {str(path.parent)!r}." if hint is None else f".{hint}"
    assert f"{path}: no such file{end_of_line}" in capsys.readouterr().err


@pytest.mark.parametrize("width", [20, 40, 60, 80])
def test_no_word_of_an_error_is_broken_on_a_narrow_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    said = (
        "attn-xl: /a/long/path/to/a/file-with-hyphens.xlsx: no such file. Did you mean 鼠标.xlsx? " * 3
    )
    monkeypatch.setenv("COLUMNS", str(width))
    terminal, pipe = Terminal(), io.StringIO()
    say(said.strip(), file=terminal)
    say(said.strip(), file=pipe)
    lines = terminal.getvalue().splitlines()
    assert pipe.getvalue() == f"{said.strip()}\n"
    assert " ".join(lines) == said.strip()
    assert len(lines) > 1
    assert all(cell_len(line) <= width or " " not in line for line in lines)
    monkeypatch.delenv("COLUMNS")  # StringIO has no width of its own
    say("x " * 60, file=terminal)
    assert max(map(len, terminal.getvalue().splitlines()[len(lines) :])) <= 80
