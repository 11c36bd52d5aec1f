"""The sheet Controls, each switch at each setting and each word, and the charts: against numpy, against
the same computed without controls, and against plain loops."""

from __future__ import annotations

import itertools
import math
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, make_input, table, thorough, verify
from judges import Editable

from attn_xl import attend, read_tables
from attn_xl.graph.extent import HIDES
from attn_xl.graph.graph import referred_to, walk
from attn_xl.graph.loops import Entered, recompute
from attn_xl.models.computation import Computation
from attn_xl.models.similarity import AXES, AXES_APART, DIRECTIONS_STAY, principal_components
from attn_xl.settings import Activation, Model, Normalize, Settings
from attn_xl.teaching.lessons.blanks import results_of
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.write import arrange, write_workbook

Keep = Callable[[Path], Path]
ALL = sorted(
    path.stem
    for path in SAMPLES.glob("*.xlsx")
    if not path.stem.endswith(("-attention", "-lesson"))
    and path.stem not in ("softmax", "norm", "rms-norm", "feed-forward", "spread")  # blocks
    and path.stem not in ("cnn", "rnn", "lstm", "gru", "given-weights")  # models without scores
)
CAUSAL_ALWAYS = (Model.decoder, Model.encoder_decoder, Model.decoder_only)
NASTY = [
    "The", "the", "a*", "b?", "c~d", "x, y", "=1+1", "5", "TRUE",
    "w" * 300, 'say "hi"', "the", "THE (2)",
    "it's", "<b>&", "ünï",
]  # fmt: skip


class Controlled:
    """A workbook with controls, in the engine, and how it was made: with a switch for the causal mask
    wherever there can be one."""

    def __init__(self, source: Path, path: Path, **chosen: Any) -> None:
        self.tables = read_tables(source)
        chosen = {"controls": True, "layout": "sheets", **chosen}
        asked = {**self.tables.settings, **chosen}
        if asked.get("normalize", "softmax") != "sum" and not {"memory", "attention"} & {*asked}:
            chosen.setdefault("switches", "causal")
        self.settings = Settings.resolve(chosen, self.tables.settings, "")
        self.computation: Computation = attend(self.tables, self.settings)
        self.path = path
        write_workbook(self.computation, path, settings=self.settings)
        self.layout: Layout = arrange(self.computation, self.settings)
        self.blocks = {block.name: block for block in self.layout.blocks.values()}

    def open(self) -> Editable:
        return Editable(self.path)

    def entry(self, name: str, content: float | str) -> tuple[str, int, int, float | str]:
        place = self.blocks[name].place
        return place.sheet, place.row, place.column, content

    def entered(self, **numbers: float) -> dict[Any, Entered]:
        return {
            self.blocks[name].node: Entered(np.ones((1, 1), bool), np.array([[number]]))
            for name, number in numbers.items()
        }

    def cells(self) -> Iterator[tuple[Any, int, int, str, int, int]]:
        """Every computed number: its matrix, where in it, where on the sheets."""
        for node, block in self.layout.blocks.items():
            if block.live and not node.texts:
                for i, j in np.ndindex(*node.shape):
                    place = block.place
                    yield node, i, j, place.sheet, place.row + i, place.column + j


def agrees(engine: Editable, book: Controlled, expected: dict[Any, Any], rtol: float = 1e-12) -> int:
    """Every computed cell against numpy; how many there were."""
    count = 0
    largest = {node: np.abs(v[v > HIDES]).max(initial=0.0) for node, v in expected.items()}
    for node, i, j, *where in book.cells():
        value, wanted = engine.value(*where), expected[node][i, j]
        assert isinstance(value, (int, float)), (where, value)
        assert abs(value - wanted) <= rtol * max(abs(wanted), 1e-3 * largest[node]), (
            node.name, i, j, value, wanted)  # fmt: skip
        count += 1
    return count


@thorough
@alike
@pytest.mark.parametrize("sample", [sample for sample in ALL if sample != "given-weights"])  # no scores
def test_every_control_at_every_setting(sample: str, tmp_path: Path, keep: Keep) -> None:
    chosen = {"activation": Activation.relu} if sample == "encoder" else {}
    book = Controlled(SAMPLES / f"{sample}.xlsx", tmp_path / "out.xlsx", **chosen)
    engine = Editable(keep(book.path))
    results = results_of(book.computation)
    has_causal = "Causal" in book.blocks
    assert {"Scale", "Temperature"} <= set(book.blocks)
    assert has_causal or book.settings.normalize is Normalize.sum or book.settings.memory
    compared = same = 0
    for scale, causal, temperature in itertools.product(
        (1, 0), (1, 0) if has_causal else (0,), (0.5, 1, 3)
    ):
        numbers = {"Scale": scale, "Temperature": temperature}
        entries = [
            book.entry("Scale", "on" if scale else "off"),
            book.entry("Temperature", temperature),
        ]
        if has_causal:
            numbers["Causal"] = causal
            entries.append(book.entry("Causal", "on" if causal else "off"))
        engine.enter(entries)
        compared += agrees(engine, book, recompute(results, book.entered(**numbers)).expected)

        # The same without any controls.
        s = book.settings
        if has_causal and s.model in CAUSAL_ALWAYS and not causal:
            continue  # which there is not without them
        plain = {
            "controls": False, "scale": bool(scale), "temperature": temperature, **chosen,
        }  # fmt: skip
        if (
            has_causal
            and s.model not in CAUSAL_ALWAYS
            and not (s.memory and s.model is Model.attention)
        ):
            plain["causal"] = bool(causal)
        twin = attend(book.tables, Settings.resolve(plain, book.tables.settings, ""))
        for sentence, graph in twin.items():
            own = book.computation[sentence]
            for name, node in graph.items():
                if name not in own or node.operation is None or node.texts or node.scalar:
                    continue
                place = book.layout.blocks[own[name]].place
                for i, j in np.ndindex(*node.shape):
                    value = engine.value(place.sheet, place.row + i, place.column + j)
                    wanted = node.values[i, j]
                    if wanted > HIDES:
                        assert value == pytest.approx(wanted, rel=1e-9, abs=1e-11), (name, i, j)
                    same += 1
    assert compared > 300
    assert same > 200


def chosen_words(book: Controlled) -> int:
    """Choose every word of the first sentence: its row of the first weights, and where it stands."""
    engine = book.open()
    sheet = openpyxl.load_workbook(book.path)["Overview"]
    row = next(cell.row for cell in sheet["A"] if cell.value == "in row") - 1
    (words,) = {v.formula1 for v in sheet.data_validations.dataValidation if f"A{row}" in v.sqref}
    labels = [str(cell[0].value) for cell in sheet[words.replace("$", "")]]
    assert len({label.casefold() for label in labels}) == len(labels)
    weights = next(iter(book.computation.values()))["Softmax"].values
    for i, label in enumerate(labels):
        engine.enter([("Overview", row, 1, label)])
        assert engine.value("Overview", row + 1, 2) == i + 1
        shown = [engine.value("Overview", row, j) for j in range(1, 60)]
        numbers = [value for value in shown if isinstance(value, float)]
        start = next(k for k in range(len(numbers)) if abs(numbers[k] - weights[i, 0]) < 1e-15)
        assert np.allclose(numbers[start : start + len(labels)], weights[i], rtol=1e-12)
    return len(labels)


def nasty(path: Path) -> Path:
    rng = np.random.default_rng(8)
    return make_input(path, {"s": table(rng.normal(size=(len(NASTY), 3)).round(2), NASTY)})


@thorough
@pytest.mark.parametrize(
    "words", [NASTY, [w for w in NASTY if len(w) < 99 and not set(w) & set("*?~")]]
)
def test_words_of_every_kind_can_be_chosen(tmp_path: Path, keep: Keep, words: list[str]) -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(len(words), 3)).round(2)
    source = make_input(tmp_path / "in.xlsx", {"s": table(x, words)})
    book = Controlled(source, tmp_path / "out.xlsx")
    keep(book.path)
    assert chosen_words(book) == len(words)
    cells = [str(cell.value) for row in openpyxl.load_workbook(book.path)["Overview"] for cell in row]
    assert any("=IFERROR(MATCH(" in text for text in cells) == (words is not NASTY)


def test_against_plain_loops(tmp_path: Path) -> None:
    book = Controlled(SAMPLES / "projections.xlsx", tmp_path / "out.xlsx")
    graph = book.computation["sentence"]
    q, k, v = (graph[name].values for name in "QKV")
    engine = book.open()
    n, d_k = q.shape
    for scale, causal, temperature in itertools.product((True, False), (True, False), (0.25, 1.0, 4.0)):
        engine.enter([book.entry("Scale", "on" if scale else "off"),
                      book.entry("Causal", "on" if causal else "off"),
                      book.entry("Temperature", temperature)])  # fmt: skip
        degree = f" · {temperature:g}" if temperature != 1 else ""
        said = f"√d_k{degree}" if scale else f"1{degree}, unscaled"
        assert engine.value("Scaled", 6, n + 5) == f"= {said}"
        for i in range(n):
            row = []
            for j in range(n):
                score = sum(q[i, c] * k[j, c] for c in range(d_k)) / temperature
                score /= math.sqrt(d_k) if scale else 1
                row.append(0.0 if causal and j > i else math.exp(score))
            for j in range(n):
                value = engine.value("Softmax", 5 + i, n + 8 + j)
                assert value == pytest.approx(row[j] / sum(row), rel=1e-12)
            assert engine.value("Softmax", 5 + i, 2 * n + 9) == pytest.approx(1, rel=1e-12)
            for j in range(v.shape[1]):
                mixed = sum(row[w] / sum(row) * v[w, j] for w in range(n))
                assert engine.value("Output", 5 + i, 2 + j) == pytest.approx(mixed, rel=1e-11)


def test_a_change_of_an_input_moves_what_is_shown_of_the_word(tmp_path: Path) -> None:
    book = Controlled(SAMPLES / "mouse.xlsx", tmp_path / "out.xlsx")
    engine = book.open()
    row = (
        next(c.row for c in openpyxl.load_workbook(book.path)["Overview"]["A"] if c.value == "in row")
        - 1
    )
    before = engine.value("Overview", row, 6)
    engine.set("pets.Input", 5, 2, -3.0)
    assert engine.value("Overview", row, 6) != before
    assert engine.value("Overview", row, 6) == engine.value("pets.Softmax", 5, 13)


# Words in a plane


@thorough
@alike
@pytest.mark.parametrize(("d", "d_v"), [(2, 2), (3, 3), (5, 5), (3, 2), (2, 4), (4, 5)])
@pytest.mark.parametrize("sentences", [1, 3])
def test_words_in_a_plane(tmp_path: Path, keep: Keep, d: int, d_v: int, sentences: int) -> None:
    rng = np.random.default_rng(d * 10 + d_v)
    sheets: dict[str, Any] = {
        f"a.{i}": table(rng.normal(size=(4, d)).round(2), [f"w{i}{j}" for j in range(4)])
        for i in range(sentences)
    }
    book = Controlled(
        make_input(tmp_path / "in.xlsx", {**sheets, "W_V": table(rng.normal(size=(d, d_v)).round(2))}),
        tmp_path / "out.xlsx",
    )
    (keep if sentences > 1 else verify)(book.path)
    graphs = book.computation.graphs
    ends = [[g[name].values for g in graphs.values()] for name in ("Input", "Output")]

    def projected(parts: list[Any], fitted: list[Any]) -> list[Any]:
        if parts[0].shape[1] == 2:
            return parts
        whole = np.vstack(fitted)
        centred = whole - whole.mean(axis=0)
        _, vectors = np.linalg.eigh(centred.T @ centred)
        made = []
        for part in parts:
            columns = [vectors[:, -1], vectors[:, -2]]
            columns = [c * np.sign(c[np.abs(c).argmax()]) for c in columns]
            made.append((part - whole.mean(axis=0)) @ np.array(columns).T)
        return made

    before = projected(ends[0], ends[0])
    after = projected(ends[1], ends[0] if d == d_v else ends[1])
    if d == d_v == 2:
        assert "Compare.Components" not in book.blocks
    for number, name in enumerate(graphs):
        moves = book.computation.plane[f"Compare.{name}.Moves" if sentences > 1 else "Compare.Moves"]
        wanted = np.c_[before[number], after[number]][:, [0, 2, 1, 3]]
        assert np.allclose(moves.values, wanted, atol=1e-5)
        assert moves.columns == (AXES if d == d_v else AXES_APART)
    planes = [chart for chart in charts_of(book, "Compare") if chart.kind != "bars"]
    assert {chart.kind for chart in planes} == ({"moves"} if d == d_v else {"points"})
    shown = [series.title for chart in planes for series in chart.series]
    assert len(shown) == 4 * sentences * (1 if d == d_v else 2)
    (compare,) = [s for s in book.layout.sheets if s.name == "Compare"]
    texts = [cell.value for cell in compare.extras.cells]
    assert (DIRECTIONS_STAY in texts) == (d > 2 or d_v > 2)
    for chart in planes:
        for series in chart.series:
            assert series.title.startswith("w") or series.title.isdecimal()
            assert sentences == 1 or "(a." in series.title or series.title.isdecimal()
            for place, numbers in ((series.values, series.numbers), (series.labels, series.names)):
                block = next(b for b in book.layout.blocks.values() if b.place.sheet == "Compare"
                             and b.place.row <= place.row <= b.place.last_row)  # fmt: skip
                start = place.column - block.place.column
                row = block.node.values[place.row - block.place.row]
                assert tuple(row[start : start + place.columns]) == numbers


def charts_of(book: Controlled, sheet: str) -> Any:
    (found,) = [s for s in book.layout.sheets if s.name == sheet]
    return found.extras.charts


def test_principal_components_are_orthonormal_and_of_largest_variance() -> None:
    x = np.random.default_rng(1).normal(size=(30, 6)) * [5, 1, 1, 9, 1, 1]
    components = principal_components(x, 2)
    assert np.allclose(components @ components.T, np.eye(2))
    assert np.abs(components).argmax(axis=1).tolist() == [3, 0]
    assert (components.max(axis=1) == np.abs(components).max(axis=1)).all()
    alike = principal_components(np.ones((2, 4)), 2)  # they vary in no direction
    np.testing.assert_array_equal(alike, np.eye(4)[:2])
    np.testing.assert_array_equal(principal_components(np.eye(3)[:2], 2)[1], [0, 0, 1])


def test_no_plane_in_one_dimension(tmp_path: Path, keep: Keep) -> None:
    source = make_input(tmp_path / "in.xlsx", {"s": table(np.array([[1.0], [2.0]]))})
    book = Controlled(source, tmp_path / "out.xlsx")
    keep(book.path)
    assert "Compare" not in openpyxl.load_workbook(book.path).sheetnames


def test_charts_of_a_shared_word(tmp_path: Path) -> None:
    book = Controlled(SAMPLES / "mouse.xlsx", tmp_path / "out.xlsx")
    bars = [chart for chart in charts_of(book, "Compare") if chart.kind == "bars"]
    assert [chart.title for chart in bars] == ["mouse: input and outputs", "are: input and outputs"]
    titles = [[series.title for series in chart.series] for chart in bars]
    assert titles == [["input", "output in pets", "output in desk"]] * 2
    outputs = [book.computation[s]["Output"].values[0].tolist() for s in ("pets", "desk")]
    assert [list(series.numbers) for series in bars[0].series] == [[2.0, 1.9, 0.1], *outputs]
    assert bars[0].series[0].names == ("animal", "tech", "grammar")
    looks, ends, *_ = charts_of(book, "Overview")
    assert [series.title for series in ends.series] == ["Input", "Output"]
    assert list(looks.series[0].numbers) == book.computation["pets"]["Softmax"].values[0].tolist()


@thorough
def test_native_charts_are_in_the_file(tmp_path: Path) -> None:
    book = Controlled(nasty(tmp_path / "in.xlsx"), tmp_path / "out.xlsx")
    with zipfile.ZipFile(book.path) as archive:
        charts = [archive.read(n) for n in archive.namelist() if n.startswith("xl/charts/chart")]
    assert len(charts) == 5
    joined = b"".join(charts).decode()
    assert "c:barChart" in joined or "<barChart" in joined
    assert "scatterChart>" in joined
    for chart in charts:
        ElementTree.fromstring(chart)
    assert "w" * 40 not in re.sub(r"<c?:?strCache>.*?strCache>", "", joined)  # names are cut
    assert "&lt;b&gt;&amp;" in joined
    loaded = openpyxl.load_workbook(book.path)
    assert (len(loaded["Overview"]._charts), len(loaded["Compare"]._charts)) == (2, 1)
    lists = {choice.formula1 for choice in loaded["Overview"].data_validations.dataValidation}
    assert lists == {None, '"on,off"', "$A$13:$A$28"}
    assert loaded["Compare"]["A2"].value.startswith("The position of each word before and after")


# Who has controls, and who has not


@thorough
def test_plain_and_values_only_have_neither_controls_nor_charts(tmp_path: Path) -> None:
    from attn_xl.cli.main import main

    with_settings = make_input(
        tmp_path / "in.xlsx",
        {"a": table(np.eye(3)), "b": table(np.eye(3)), "Settings": [["formulas", "none"]]},
    )
    calls = {
        "plain": ["convert", SAMPLES / "mouse.xlsx", "--plain"],
        "none": ["convert", SAMPLES / "mouse.xlsx", "--formulas", "none"],
        "written": ["convert", with_settings],
        "model": ["convert", SAMPLES / "mouse.xlsx", "--model", "similarity", "--plain"],
    }
    for name, call in calls.items():
        path = tmp_path / f"{name}.xlsx"
        with pytest.raises(SystemExit) as end:
            main([*map(str, call), "-o", str(path)])
        assert not end.value.code
        with zipfile.ZipFile(path) as archive:
            assert not [n for n in archive.namelist() if "chart" in n or "drawing" in n], name
        first = openpyxl.load_workbook(path).worksheets[0]
        assert not first.data_validations.dataValidation, name
    path = tmp_path / "with.xlsx"
    with pytest.raises(SystemExit):
        main(["convert", str(SAMPLES / "mouse.xlsx"), "-o", str(path)])
    assert openpyxl.load_workbook(path).sheetnames[:2] == ["Overview", "Canvas"]


@thorough
def test_a_sheet_only_for_what_happens(tmp_path: Path) -> None:
    """Masks, and a switch for them, where words may be hidden, and nowhere else."""
    source = SAMPLES / "mouse.xlsx"
    plain = Controlled(source, tmp_path / "plain.xlsx", switches=None)
    assert not [name for name in plain.blocks if "Mask" in name or name == "Causal"]
    assert len(openpyxl.load_workbook(plain.path).sheetnames) == 14  # it was 24
    for number, chosen in enumerate(({"causal": True}, {"switches": "causal"})):
        book = Controlled(source, tmp_path / f"{number}.xlsx", **{"switches": None, **chosen})
        assert {"pets.Mask", "pets.Masked", "desk.Masked", "Causal"} <= set(book.blocks)
        assert book.blocks["Causal"].node.texts == ("on" if "causal" in chosen else "off",)
        engine = Editable(book.path)
        place = book.blocks["pets.Softmax"].place
        for switch, hidden in (("on", True), ("off", False)):
            engine.enter([book.entry("Causal", switch)])
            assert (engine.value(place.sheet, place.row, place.column + 1) == 0) == hidden


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--switches", "causal", "--plain"], "--plain"),
        (["--switches", "causal", "--formulas", "none"], "--formulas none"),
        (["--switches", "causal", "--normalize", "sum"], "only a softmax"),
        (["--switches", "scale"], "it takes one of: causal"),
    ],
)
def test_a_switch_that_nothing_would_obey_is_refused(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from attn_xl.cli.main import main

    call = ["convert", str(SAMPLES / "mouse.xlsx"), "-o", str(tmp_path / "out.xlsx"), *arguments]
    with pytest.raises(SystemExit) as end:
        main(call)
    assert end.value.code == 2
    assert said in capsys.readouterr().err.replace("\n", " ")
    assert not (tmp_path / "out.xlsx").exists()


def test_what_is_chosen_is_how_the_switches_stand(tmp_path: Path) -> None:
    source = SAMPLES / "politics.xlsx"
    book = Controlled(source, tmp_path / "a.xlsx", scale=False, causal=True, temperature=2.5)
    texts = {name: book.blocks[name].node.texts for name in ("Scale", "Causal")}
    assert texts == {"Scale": ("off",), "Causal": ("on",)}
    assert book.blocks["Temperature"].node.values == 2.5
    twin = attend(read_tables(source), Settings(scale=False, causal=True, temperature=2.5))
    assert np.allclose(book.computation["politics"]["Output"].values, twin["politics"]["Output"].values)


def test_one_cell_removes_a_head_from_every_word_also_from_new_ones() -> None:
    options = {"heads": 2, "head_switches": True, "controls": True, "generate": 2}
    made = attend(SAMPLES / "generate.xlsx", **options)  # type: ignore[arg-type]
    nodes = walk(next(iter(made.values())).values())
    switches = {node.name for node in nodes if "Head" in node.name}
    assert switches == {"Dec1_Head_1", "Dec1_Head_2"}
    mixed = [node for node in nodes if node.base_name == "Output"]
    assert len(mixed) == 2 * 3  # the text and two new words
    for node in mixed:
        assert switches & {operand.name for operand in referred_to(node)}, node.name
