"""What `show` prints: on a terminal, piped, as JSON, CSV and SVG."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import SAMPLES, make_input, table, thorough
from rich.cells import cell_len

import attn_xl
from attn_xl import CallError, attend, explain, read_tables
from attn_xl.cli.main import main
from attn_xl.graph.extent import Extent
from attn_xl.graph.given import given_step
from attn_xl.models.steps import MASKED
from attn_xl.views import terminal
from attn_xl.views.export import to_csv, to_json
from attn_xl.views.selection import select

MOUSE = attend(read_tables(SAMPLES / "mouse.xlsx"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def show(
        computation: attn_xl.Computation, width: int, colour: bool = True, **options: object
    ) -> str:
        for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("COLORTERM", "truecolor")
        if not colour:
            monkeypatch.setenv("NO_COLOR", "1")
        screen = Terminal()
        terminal.show(computation, file=screen, **options)  # type: ignore[arg-type]
        return screen.getvalue()

    return show


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def show(computation: attn_xl.Computation, **options: object) -> str:
        for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
            monkeypatch.delenv(name, raising=False)
        pipe = io.StringIO()
        terminal.show(computation, file=pipe, **options)  # type: ignore[arg-type]
        return pipe.getvalue()

    return show


def test_every_matrix_with_its_formula(piped: Callable[..., str]) -> None:
    text = piped(MOUSE)
    for line in (
        "pets.Input",
        "pets.Q = Input",
        "pets.Scores = Q × Kᵀ",
        "pets.d_k = the number of columns of K = 3",
        "pets.Scaled = Scores / √d_k",
        "pets.Softmax.Maximum = the largest of each row of Scaled",
        "pets.Softmax.Exponentials = e^(Scaled - Maximum)",
        "pets.Softmax.Sum = the sum of each row of Exponentials",
        "desk.Softmax = softmax(Scaled)",
        "desk.Output = Softmax × V",
        "Compare.mouse.Output.Difference = difference from “in pets”",
    ):
        assert line in text.splitlines(), line
    assert "\x1b" not in text


def test_a_table_is_aligned(piped: Callable[..., str]) -> None:
    lines = piped(MOUSE, steps=["Output"], sheet="pets").splitlines()
    assert lines[2].split() == ["animal", "tech", "grammar"]
    assert lines[3].split() == ["mouse", "2.046", "1.446", "0.141"]
    assert len({len(line) for line in lines[2:]}) == 1
    assert len(lines) == 8


def test_steps_and_sheets_in_any_case(piped: Callable[..., str]) -> None:
    text = piped(MOUSE, steps=["softmax", "softmax.sum"], sheet="PETS")
    assert re.findall(r"^\S+(?= =)", text, re.MULTILINE) == ["pets.Softmax.Sum", "pets.Softmax"]
    assert piped(MOUSE, steps=["Compare"]) == piped(MOUSE, sheet="Compare")


def test_decimals(piped: Callable[..., str]) -> None:
    first = MOUSE["pets"]["Output"].values[0, 0]
    assert f" {first:.4f} " in piped(MOUSE, steps=["Output"], decimals=4)
    tiny = attn_xl.given([[1e-9, 2e-9]], ["w"], ["a", "b"], "Input")
    graph = attn_xl.Graph(attn_xl.self_attention(tiny))
    assert "1.000e-09" in piped(attn_xl.Computation("", {"s": graph}, {}), steps=["Input"])


def test_only_what_a_mask_hides_is_shown_without_its_digits(piped: Callable[..., str]) -> None:
    x = attn_xl.given([[-1.2345e8, 2.0]], ["w"], ["a", "b"], "Input")
    assert "-1.234e+08" in piped(x)
    small = given_step([[-1.2345e8, 2.0]], ["w"], ["a", "b"], MASKED)
    assert piped(small).splitlines()[-1].split() == ["w", "-1e+08", "2.000"]


def test_a_result_without_a_name_is_shown(piped: Callable[..., str]) -> None:
    scores = attn_xl.given([[0, 0]], ["w"], ["a", "b"], "Scores")
    text = piped(attn_xl.softmax(scores)).splitlines()
    at = text.index("Result = softmax(Scores)")
    assert text[at + 2].split() == ["w", "0.500", "0.500"]
    assert "Result.Sum = the sum of each row of Exponentials" in text


@thorough
@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_cut_to_the_terminal(on_terminal: Callable[..., str], tmp_path: Path, width: int) -> None:
    x = np.random.default_rng(0).normal(size=(100, 30))
    source = make_input(tmp_path / "in.xlsx", {"s": table(x)})
    steps = ["Input", "Softmax"]
    text = on_terminal(attend(read_tables(source)), width, colour=False, steps=steps, numbers=True)
    assert all(cell_len(line) <= width for line in text.splitlines())
    flat = " ".join(text.split())
    shown, there = map(
        int, re.findall(r"Shown: 50 of 100 rows(?: and (\d+) of (\d+) columns)?", flat)[1]
    )
    assert (there, shown) == (100, {20: 1, 40: 3, 60: 6, 80: 9, 200: 24}[width])
    assert "For all of them: --csv, --json or convert." in flat


def test_nothing_is_cut_where_it_fits_or_is_piped(
    on_terminal: Callable[..., str], piped: Callable[..., str], tmp_path: Path
) -> None:
    assert "Shown:" not in on_terminal(MOUSE, 100)
    x = np.random.default_rng(0).normal(size=(100, 90))
    text = piped(
        attend(read_tables(make_input(tmp_path / "in.xlsx", {"s": table(x)}))), steps=["Input"]
    )
    assert "Shown:" not in text
    assert len(text.splitlines()) == 103
    assert len(text.splitlines()[5].split()) == 91


def test_the_first_and_the_last_are_shown(on_terminal: Callable[..., str], tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(100, 30))
    source = make_input(tmp_path / "in.xlsx", {"s": table(x)})
    lines = on_terminal(attend(read_tables(source)), 60, colour=False, steps=["Input"]).splitlines()
    lines = lines[next(i for i, line in enumerate(lines) if line.split()[:1] == ["d1"]) :]
    assert lines[0].split() == ["d1", "d2", "d3", "…", "d28", "d29", "d30"]
    words = [line.split()[0] for line in lines[2:] if line.startswith(("word", "…"))]
    first, last = [f"word{i}" for i in range(1, 26)], [f"word{i}" for i in range(76, 101)]
    assert words == [*first, "…", *last]


def test_a_long_sentence_is_printed_at_once(
    piped: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """How numbers are written is asked of a matrix, not of each number."""
    asked: list[int] = []
    needs_exponent = Extent.needs_exponent

    def asking(self: Extent, decimals: int) -> bool:
        asked.append(1)
        return needs_exponent(self, decimals)

    monkeypatch.setattr(Extent, "needs_exponent", asking)
    x = attn_xl.given(np.eye(60), [f"w{i}" for i in range(60)], [f"d{i}" for i in range(60)], "Input")
    text = piped(x)
    assert len(asked) == 1
    assert len({len(line) for line in text.splitlines()[1:]}) == 1


def test_what_nobody_reads_is_cut_in_a_pipe_too(
    piped: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "MOST_CELLS", 100 * 80 - 1)
    words, dims = [f"w{i}" for i in range(100)], [f"d{i}" for i in range(80)]
    lines = piped(attn_xl.given(np.eye(100)[:, :80], words, dims, "Input")).splitlines()
    assert lines[-1] == (
        "Shown: 50 of 100 rows and 50 of 80 columns. For all of them: --csv or --json with --step."
    )
    assert lines[-2].split()[:2] == ["w99", "0.000"]
    assert len({len(line) for line in lines[1:-1]}) == 1
    monkeypatch.setattr(terminal, "MOST_CELLS", 100 * 80)
    assert "Shown:" not in piped(attn_xl.given(np.eye(100)[:, :80], words, dims, "Input"))


def test_attention_is_a_heat_map(on_terminal: Callable[..., str]) -> None:
    text = on_terminal(MOUSE, 100, steps=["Softmax"])
    backgrounds = set(re.findall(r"48;2;(\d+;\d+;\d+)", text))
    assert len(backgrounds) > 10
    inks = set(re.findall(r"38;2;(\d+;\d+;\d+)", text))
    assert inks == {"0;0;0", "255;255;255"}  # black on light cells, white on dark ones
    assert not re.findall(r"48;2;", on_terminal(MOUSE, 100, steps=["Scores"]))


def test_no_color_is_plain(on_terminal: Callable[..., str]) -> None:
    assert "\x1b" in on_terminal(MOUSE, 100)
    assert "\x1b" not in on_terminal(MOUSE, 100, colour=False)


def test_words_cannot_steer_the_terminal(piped: Callable[..., str]) -> None:
    evil = attn_xl.given([[1.0]], ["\x1b]0;title\x07x[bold]y[/bold]"], ["\x1b[2J"], "Input")
    graph = attn_xl.Graph(attn_xl.self_attention(evil))
    text = piped(attn_xl.Computation("", {"s": graph}, {}))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[bold]y[/bold]" in text


def test_json() -> None:
    data = json.loads(to_json(MOUSE))
    softmax = data["pets.Softmax"]
    assert (softmax["sheet"], softmax["step"], softmax["formula"]) == (
        "pets",
        "Softmax",
        "softmax(Scaled)",
    )
    assert softmax["rows"] == softmax["columns"] == ["mouse", "and", "cat", "are", "friends"]
    assert softmax["values"] == MOUSE["pets"]["Softmax"].values.tolist()
    assert data["Compare.mouse.Input"]["sheet"] is None
    short = json.loads(to_json(MOUSE, steps=["Output"], sheet="pets", decimals=2))
    assert list(short) == ["pets.Output"]
    assert short["pets.Output"]["values"][0] == [2.05, 1.45, 0.14]


def test_csv() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(MOUSE, steps=["Output"], sheet="pets"))))
    assert rows[0] == ["pets.Output", "animal", "tech", "grammar"]
    assert [float(x) for x in rows[1][1:]] == MOUSE["pets"]["Output"].values[0].tolist()
    assert len(rows) == 6
    both = to_csv(MOUSE, steps=["Output"])
    assert both.count("\n\n") == 1
    assert "desk.Output,animal" in both


@thorough
def test_the_cli_prints_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = str(SAMPLES / "mouse.xlsx")
    for option, start in (("--json", "{"), ("--csv", "pets.Input,"), ("--all", "pets.Input\n"),
                          ("--decimals=2", "pets.Softmax = softmax(Scaled)\n")):  # fmt: skip
        with pytest.raises(SystemExit) as end:
            main(["show", source, option])
        assert not end.value.code
        assert capsys.readouterr().out.startswith(start)
    said = []
    for steps in (["Scores"], ["--step", "Scores"], []):
        with pytest.raises(SystemExit):
            main(["show", source, *steps])
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != said[2]
    assert [line for line in said[2].splitlines() if " = " in line and "[" not in line] == [
        "pets.Softmax = softmax(Scaled)", "desk.Softmax = softmax(Scaled)",
        "Compare.mouse.Output = the word's row of Output",
        "Compare.are.Output = the word's row of Output",
    ]  # fmt: skip
    picture = tmp_path / "p.svg"
    with pytest.raises(SystemExit):
        main(["show", source, "--svg", str(picture), "--step", "Softmax"])
    assert capsys.readouterr().out == f"{picture}\n"
    with pytest.raises(SystemExit) as end:
        main(["show", source, "--svg", str(picture)])
    assert end.value.code == 2
    assert "exists already" in capsys.readouterr().err


def test_svg_is_a_picture_that_needs_nothing_else() -> None:
    text = terminal.svg(MOUSE, steps=["Softmax"])
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "friends" in text
    assert text.replace("http://www.w3.org/2000/svg", "").count("http") == 0
    assert text == terminal.svg(MOUSE, steps=["Softmax"])
    assert len(set(re.findall(r'fill="(#[0-9a-f]{6})"', text))) > 10


def test_a_step_is_known_by_its_whole_name(piped: Callable[..., str]) -> None:
    whole = piped(MOUSE, steps=["pets.Softmax"])
    assert (
        whole == piped(MOUSE, steps=["Softmax"], sheet="pets") == piped(MOUSE, steps=["PETS.softmax"])
    )
    assert whole == piped(MOUSE, steps=["pets.Softmax"], sheet="pets")
    shared = attend(read_tables(SAMPLES / "projections.xlsx"))
    name = next(iter(shared))
    assert piped(shared, steps=[f"{name}.W_Q"]) == piped(shared, steps=["W_Q"])


# Attention weights that are too wide for a table


def long_attention(n: int, m: int | None = None) -> attn_xl.Graph:
    """Attention of n words to as many, or to m others."""
    x, y = (np.random.default_rng(i).normal(size=(k or n, 3)) for i, k in enumerate((n, m)))
    words = [f"word{i}" for i in range(1, n + 1)]
    others = [f"other{i}" for i in range(1, m + 1)] if m else words
    given = attn_xl.given(x, words, list("abc"), "Input")
    memory = attn_xl.given(y, others, list("abc"), "Memory") if m else None
    return attn_xl.Graph(attn_xl.self_attention(given, memory=memory))


@pytest.mark.parametrize(("width", "shown"), [(60, 40), (80, 40), (100, 40), (40, 29), (20, 9)])
def test_a_long_sentence_is_a_map(on_terminal: Callable[..., str], width: int, shown: int) -> None:
    graph = long_attention(40)
    values = graph["Softmax"].values
    text = on_terminal(graph, width, colour=False, steps=["Softmax"])
    lines = text.splitlines()
    assert all(cell_len(line) <= width for line in lines)
    rows = [line for line in lines if re.match(r" ?\d+ word?", line)]
    assert [int(row.split()[0]) for row in rows] == [*range(1, 41)]
    row = int(values.max(axis=1).argmax())
    assert rows[row].count("█") == (2 if width == 100 else 1)  # two letters a cell where there is room
    flat = " ".join(text.split())
    assert ("of 40 columns" in flat) == (shown < 40)
    assert "For numbers: --numbers" in flat
    assert "Shades: · to" in flat
    units = next(line for line in lines if re.fullmatch(r"\s+1 ?2.*0\s?", line))
    assert len(units.replace(" ", "").replace("…", "")) == shown
    last = rows[row][units.index("1") :]
    assert last[0] == terminal.shade(values[row, 0], values.max())
    if width == 80:
        assert last == "".join(terminal.shade(v, values.max()) for v in values[row])
    assert " 0." not in "".join(rows)
    numbers = on_terminal(graph, width, colour=False, steps=["Softmax"], numbers=True)
    assert " 0." in numbers
    assert "of 40 columns" in " ".join(numbers.split())


def test_shades() -> None:
    assert "".join(
        terminal.shade(v, 0.8) for v in (0, 0.01, 0.1, 0.2, 0.21, 0.4, 0.5, 0.6, 0.7, 0.8)
    ) == (" ·░░▒▒▓▓██")


# Names of steps


@cache
def encoder() -> attn_xl.Computation:
    return attend(read_tables(SAMPLES / "encoder.xlsx"))


@pytest.mark.parametrize(
    ("step", "meant"),
    [
        ("Softmax", ["Enc1.Softmax_1", "Enc1.Softmax_2", "Enc2.Softmax_1", "Enc2.Softmax_2"]),
        ("enc2.softmax", ["Enc2.Softmax_1", "Enc2.Softmax_2"]),
        ("Softmax_2", ["Enc1.Softmax_2", "Enc2.Softmax_2"]),
        ("Enc1.Softmax_2", ["Enc1.Softmax_2"]),
        ("Enc1.Softmax.Sum", ["Enc1.Softmax_1.Sum", "Enc1.Softmax_2.Sum"]),
        ("sentence.Enc1.Softmax_2", ["Enc1.Softmax_2"]),
        ("Hidden", ["Enc1.Hidden", "Enc2.Hidden"]),
        ("W_1", ["Enc1.W_1", "Enc2.W_1"]),
        ("W_Q", ["Enc1.W_Q", "Enc2.W_Q"]),
        ("Norm_2", ["Enc1.Norm_2", "Enc2.Norm_2"]),
    ],
)
def test_a_step_without_its_head_is_that_of_all_heads(step: str, meant: list[str]) -> None:
    computation = encoder()
    assert [one.title for one in select(computation, step)] == meant
    explanation = explain(computation, f"{step}[1, 1]")
    assert explanation.step == meant[0]
    assert [other.partition("[")[0] for other in explanation.others] == meant[1:]
    if len(meant) > 1:
        with pytest.raises(CallError, match="is the name of several steps: " + ", ".join(meant)):
            explain(computation, step)


@thorough
def test_a_full_name_is_that_of_one_step() -> None:
    computation = encoder()
    names = {one.title for one in select(computation)}
    assert all([one.title for one in select(computation, name)] == [name] for name in names)


def test_a_part_of_a_model_is_all_steps_in_it() -> None:
    computation = encoder()
    first = [one.title for one in select(computation, "enc1")]
    assert "Enc1.Softmax_2" in first
    assert all(title.startswith("Enc1.") for title in first)
    assert {one.sheet for one in select(MOUSE, "pets")} == {"pets"}
    with pytest.raises(CallError, match=r"no step 'Softmx'. Did you mean 'Softmax'"):
        select(computation, "Softmx")


def test_a_step_that_explain_has_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for step in ("Masked", "Softmax", "pets.Softmax.Sum", "Divisor", "Compare.mouse.Input"):
        with pytest.raises(SystemExit) as end:
            main(["show", str(SAMPLES / "mouse.xlsx"), "--step", step, "--causal"])
        assert not end.value.code
        assert step.removeprefix("pets.") in capsys.readouterr().out


def test_what_is_longer_than_the_terminal_is_paged(
    on_terminal: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = tmp_path / "keep.py"
    keep.write_text("import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())")
    monkeypatch.setenv("PAGER", f'"{sys.executable}" "{keep}" "{tmp_path / "paged"}"')
    monkeypatch.setenv("LINES", "24")
    printed = on_terminal(MOUSE, 100)
    assert on_terminal(MOUSE, 100, paged=True) == ""
    assert (tmp_path / "paged").read_text(encoding="utf-8") == printed
    short = on_terminal(MOUSE, 100, paged=True, steps="Output", sheet="pets")
    assert short == on_terminal(MOUSE, 100, steps="Output", sheet="pets")
    monkeypatch.setenv("PAGER", "no-such-pager")
    assert on_terminal(MOUSE, 100, paged=True) == printed
