"""The first sheet: what it draws is what the steps hold, whatever word is chosen."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, make_input, table, thorough, verify
from judges import Editable

import attn_xl
from attn_xl.settings import Settings


def written(source: Path, path: Path, **options: object) -> attn_xl.Computation:
    tables = attn_xl.read_tables(source)
    settings = Settings.resolve({"controls": True, **options}, tables.settings, "")
    computation = attn_xl.attend(tables, settings)
    attn_xl.write_workbook(computation, path, settings=settings)
    return computation


def test_the_sample_opens_on_its_answer(tmp_path: Path) -> None:
    written(SAMPLES / "mouse.xlsx", tmp_path / "w.xlsx")
    book = openpyxl.load_workbook(tmp_path / "w.xlsx", data_only=True)
    first = book.worksheets[0]
    assert first["A4"].value == "mouse: with cat it becomes animal 2.05 > tech 1.45"
    assert first["A5"].value == "mouse: with keyboard it becomes tech 1.95 > animal 1.56"
    looks = first._charts[0]
    assert (looks.y_axis.scaling.min, looks.y_axis.scaling.max) == (0, 1)  # shares
    assert looks.y_axis.delete  # the numbers stand on the bars
    assert looks.ser[0].dLbls.showVal
    turned = first._charts[1]  # before and after, in the order and the colours of its title
    assert [run.t for run in turned.title.tx.rich.p[0].r] == ["before", " → after"]
    values = [[cell.value for cell in first[one.val.numRef.f.partition("!")[2].replace("$", "")][0]]
              for one in turned.ser]  # fmt: skip
    assert values[0] == [2.0, 1.9, 0.1]
    assert np.round(values[1], 2).tolist() == [2.05, 1.45, 0.14]
    linked = {cell.hyperlink.location for row in first.iter_rows() for cell in row if cell.hyperlink}
    assert {f"{name}!A1" for name in book.sheetnames[1:] if name != "Settings"} <= linked
    (choice,) = [cell.row for cell in first["A"] if cell.value == "choose a word"]
    assert [cell.value for cell in first[choice] if cell.value] == ["choose a word"] * 2  # side by side
    columns = first.column_dimensions.values()
    assert sum((7 * one.width + 5) * (one.max - one.min + 1) for one in columns) < 1280  # pixels


@alike
@pytest.mark.parametrize("word", range(3))
def test_another_word_moves_its_row_and_the_finding(word: int, tmp_path: Path) -> None:
    x = np.array([[2.0, 0.5], [0.3, 1.9], [1.2, -0.7]])
    source = make_input(tmp_path / "in.xlsx", {"s": table(x, ["red", "fox", "ran"])})
    computation = written(source, tmp_path / "w.xlsx")
    verify(tmp_path / "w.xlsx")
    graph = next(iter(computation.values()))
    engine = Editable(tmp_path / "w.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "w.xlsx")["Overview"]
    row = next(cell.row for cell in sheet["A"] if cell.value == "in row") - 1
    engine.enter([("Overview", row, 1, ["red", "fox", "ran"][word])])
    shown = [engine.value("Overview", row, column) for column in range(2, 12)]
    numbers = [value for value in shown if isinstance(value, float)]
    expected = [*x[word], *graph["Softmax"].values[word], *graph["Output"].values[word]]
    assert numbers == pytest.approx(expected, rel=1e-12)
    arrows = [engine.value("Overview", row - 5 + i, 4) for i in range(3)]
    assert arrows == ["→" if i == word else "" for i in range(3)]
    weights, output = graph["Softmax"].values[word], graph["Output"].values[word]
    other = np.argsort(weights)[-2 if weights.argmax() == word else -1]
    assert str(engine.value("Overview", 4, 1)).startswith(
        f"{['red', 'fox', 'ran'][word]}: with {['red', 'fox', 'ran'][other]} it becomes "
        f"{graph['Output'].columns[output.argmax()]} "
    )


def first_sheet(path: Path) -> dict[str, Any]:
    """The texts and numbers of the first sheet, by cell."""
    sheet = openpyxl.load_workbook(path, data_only=True).worksheets[0]
    return {cell.coordinate: cell.value for row in sheet.iter_rows() for cell in row if cell.value}


@alike
@pytest.mark.parametrize(
    ("sample", "finding", "shows"),
    [
        ("by-hand", "cat: with mouse it becomes ", ["Softmax"]),  # not the first `the`
        ("multi-head", "the (1): with chased it becomes o2 2.72 > o3 2.02", ["Softmax_1", "Softmax_2"]),
        ("language-model", "after the (4) comes mouse 0.6 > cat 0.31", ["next", "p"]),
        ("encoder-decoder", "<start>: with ", ["Dec1.Cross.Softmax_1", "cat"]),
        ("translation", "the black cat sleeps: le chat noir dort <end>", ["Dec1.Cross.Softmax_1"]),
        ("rnn", "cats: it becomes ", ["Hidden"]),
        ("politics", None, ["Softmax"]),
        ("alibi", None, ["Softmax_1", "Output"]),
    ],
)
def test_every_model_opens_on_its_answer(
    sample: str, finding: str | None, shows: list[str], tmp_path: Path
) -> None:
    written(SAMPLES / f"{sample}.xlsx", tmp_path / "w.xlsx")
    verify(tmp_path / "w.xlsx")
    cells = first_sheet(tmp_path / "w.xlsx")
    assert str(cells["A4"]).startswith(finding or "")
    assert set(shows) <= {str(value) for value in cells.values()}


def test_a_word_that_looks_at_no_other_is_said_to(tmp_path: Path) -> None:
    """The first word of a causal model sees itself alone; the finding opens on one that sees more."""
    x = np.array([[2.0, 0.5], [0.3, 1.9], [1.2, -0.7]])
    source = make_input(tmp_path / "in.xlsx", {"s": table(x, ["red", "fox", "ran"])})
    written(source, tmp_path / "w.xlsx", causal=True)
    verify(tmp_path / "w.xlsx")
    engine = Editable(tmp_path / "w.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "w.xlsx", data_only=True)["Overview"]
    assert str(sheet["A4"].value).startswith("ran: with ")
    (row,) = [cell.row + 1 for cell in sheet["A"] if cell.value == "choose a word"]
    engine.enter([("Overview", row, 1, "red")])
    assert str(engine.value("Overview", 4, 1)).startswith("red: by itself it becomes ")


def test_a_finding_names_both_of_two_equal_numbers(tmp_path: Path) -> None:
    words = table(np.array([[2, 0, 2], [2, 1, 2]]), ["x", "y"])
    source = make_input(tmp_path / "in.xlsx", {"s": words})
    written(source, tmp_path / "w.xlsx")
    verify(tmp_path / "w.xlsx")
    assert first_sheet(tmp_path / "w.xlsx")["A4"].endswith("it becomes d1 2 ≈ d3 2")


@thorough
def test_a_head_and_a_sentence_can_be_chosen(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    words = [[f"w{i}{j}" for j in range(2 + i % 3)] for i in range(6)]
    sheets: dict[str, Any] = {
        f"s{i}": table(rng.normal(size=(len(own), 2)).round(2), own) for i, own in enumerate(words)
    }
    for name in "QKV":
        sheets[f"W_{name}"] = table(rng.normal(size=(2, 4)).round(2))
    source = make_input(tmp_path / "in.xlsx", sheets)
    computation = written(source, tmp_path / "w.xlsx", heads=2)
    verify(tmp_path / "w.xlsx")
    engine = Editable(tmp_path / "w.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "w.xlsx")["Overview"]
    fields = {cell.value: cell for row in sheet.iter_rows() for cell in row if cell.value}
    head, sentence = fields["attention, 1 to 2"], next(
        cell for row in sheet.iter_rows() for cell in row if cell.value == "sentence, 1 to 6"
    )  # fmt: skip
    row = next(cell.row for cell in sheet["A"] if cell.value == "choose a word") - 2
    top = sentence.row + 7
    for number, own in enumerate(words):
        engine.enter([("Overview", sentence.row + 1, sentence.column, number + 1)])
        for h in (1, 2):
            engine.enter([("Overview", head.row + 1, head.column, h)])
            weights = computation[f"s{number}"][f"Softmax_{h}"].values
            shown = [[engine.value("Overview", top + i, j) for j in range(1, 9)] for i in range(4)]
            assert [line[0] for line in shown if line[0]] == own, (number, shown, row)
            for i in range(len(own)):
                assert shown[i][4 : 4 + len(own)] == pytest.approx(weights[i].tolist(), rel=1e-12)
                assert not any(shown[i][4 + len(own) :])


@thorough
def test_learning_opens_on_what_changed(tmp_path: Path) -> None:
    written(SAMPLES / "learning.xlsx", tmp_path / "w.xlsx", steps=1)
    verify(tmp_path / "w.xlsx")
    cells = first_sheet(tmp_path / "w.xlsx")
    assert str(cells["A4"]).startswith("loss: 0.73 before learning, 0.7 after 1 step")
    assert "before learning" in str(cells["A5"])
    assert openpyxl.load_workbook(tmp_path / "w.xlsx").worksheets[0]._charts[-1].ser


@thorough
def test_one_choice_is_for_all_sentences_that_have_the_word(tmp_path: Path) -> None:
    written(SAMPLES / "mouse.xlsx", tmp_path / "w.xlsx")
    verify(tmp_path / "w.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "w.xlsx")["Overview"]
    (row,) = [cell.row + 1 for cell in sheet["A"] if cell.value == "choose a word"]
    other = next(cell.column for cell in sheet[row][1:] if "SUMPRODUCT" in str(cell.value))
    engine = Editable(tmp_path / "w.xlsx")
    for word, shown in (("are", "are"), ("cat", "mouse"), ("mouse", "mouse")):
        engine.enter([("Overview", row, 1, word)])
        assert engine.value("Overview", row, other) == shown
        assert str(engine.value("Overview", 5, 1)).startswith(f"{shown}: ")
    engine.enter([("Overview", row, other, "keyboard")])
    assert str(engine.value("Overview", 4, 1)).startswith("mouse: ")
    assert str(engine.value("Overview", 5, 1)).startswith("keyboard: ")


@thorough
def test_positions_open_on_their_waves(tmp_path: Path) -> None:
    graph = written(SAMPLES / "positions.xlsx", tmp_path / "w.xlsx", model="positions")["sentence"]
    verify(tmp_path / "w.xlsx")
    book = openpyxl.load_workbook(tmp_path / "w.xlsx")
    for name in ("Overview", "Positions"):
        first = [float(point.v) for point in book[name]._charts[-1].ser[0].val.numRef.numCache.pt]
        assert first == pytest.approx(np.sin(np.arange(7)).tolist(), abs=1e-12)
        scales = [
            rule.colorScale for cells in book[name].conditional_formatting for rule in cells.rules
        ]
        assert any([end.val for end in scale.cfvo] == [-1, 0, 1] for scale in scales if scale)
    shown = openpyxl.load_workbook(tmp_path / "w.xlsx", data_only=True)["Overview"]
    numbers = {cell.value for row in shown.iter_rows() for cell in row}
    assert set(graph["Positions"].values.flat) <= numbers


@thorough
def test_words_are_drawn_as_arrows_and_two_are_compared(tmp_path: Path) -> None:
    """The five words of the article: the magnitude of florida is 2.4006."""
    written(SAMPLES / "politics.xlsx", tmp_path / "w.xlsx", model="similarity", controls=True)
    verify(tmp_path / "w.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "w.xlsx")["Vectors"]
    at = {str(cell.value): cell for row in sheet.iter_rows() for cell in row if cell.value}
    engine, x = Editable(tmp_path / "w.xlsx"), attn_xl.read_tables(SAMPLES / "politics.xlsx")
    vectors = x.sentences["politics"]

    def shown(name: str) -> float:
        return engine.value("Vectors", at[name].row, at[name].column + 1)

    assert shown("magnitude of the one") == pytest.approx(2.4006, abs=5e-5)
    field = at["another word"]
    for other in vectors.rows[1:]:
        engine.enter([("Vectors", field.row, field.column + 1, other)])
        a, b = vectors["florida"], vectors[other]
        cosine = a @ b / math.hypot(*a) / math.hypot(*b)
        found = [shown(name) for name in ("dot product", "magnitude of the other", "angle in degrees")]
        assert found == pytest.approx([a @ b, math.hypot(*b), math.degrees(math.acos(cosine))])
        arrow = [engine.value("Vectors", field.row, field.column + 3 + j) for j in range(4)]
        assert arrow == [0, b[0], 0, b[1]]
    for name in ("Overview", "Vectors"):
        chart = openpyxl.load_workbook(tmp_path / "w.xlsx")[name]._charts[-1]
        assert len(chart.ser) == (5 if name == "Overview" else 7)
        ends = [(axis.scaling.min, axis.scaling.max) for axis in (chart.x_axis, chart.y_axis)]
        assert ends[0] == ends[1] == (-5, 5)  # angles look as they are


def test_similarity_opens_on_the_nearest_word(tmp_path: Path) -> None:
    words = ["apple", "pear", "lemon", "plum"]
    x = np.array([[0.8, 0.3, 0.9], [0.1, 0.9, 0.6], [1.6, 0.6, 1.8], [0.9, 0.1, 0.1]])
    source = make_input(tmp_path / "in.xlsx", {"s": table(x, words)})
    written(source, tmp_path / "w.xlsx", model="similarity")
    verify(tmp_path / "w.xlsx")
    engine, sheet = (
        Editable(tmp_path / "w.xlsx"),
        openpyxl.load_workbook(tmp_path / "w.xlsx")["Overview"],
    )
    (row,) = [cell.row + 1 for cell in sheet["A"] if cell.value == "choose a word"]
    for i, word in enumerate(words):
        engine.enter([("Overview", row, 1, word)])
        cosines = [float(a @ x[i] / math.hypot(*a) / math.hypot(*x[i])) for a in x]
        nearest = max((cosine, -j) for j, cosine in enumerate(cosines) if j != i)
        angle = round(math.degrees(math.acos(min(nearest[0], 1.0))), 2)
        found = engine.value("Overview", 4, 1)
        assert found == f"{word}: nearest to {words[-nearest[1]]}, {angle:g}°"
    chart = sheet._charts[-1]  # every arrow lies within the axes
    ends = [float(v.v) for one in chart.ser for v in (one.xVal or one.val).numRef.numCache.pt]
    assert max(map(abs, ends)) <= chart.x_axis.scaling.max


@thorough
@pytest.mark.parametrize(("sample", "sheet"), [("politics", "Input"), ("mouse", "desk.Input")])
def test_the_words_of_an_input_are_drawn_as_arrows(sample: str, sheet: str, tmp_path: Path) -> None:
    """In the plane that keeps most of them; what two of them have in common is that of the input."""
    path = tmp_path / "w.xlsx"
    computation = written(SAMPLES / f"{sample}.xlsx", path, layout="sheets")
    verify(path)
    x = next(g["Input"] for name, g in computation.items() if sheet in ("Input", f"{name}.Input"))
    page = openpyxl.load_workbook(path)[sheet]
    at = {str(cell.value): cell for row in page.iter_rows() for cell in row if cell.value}
    engine, values = Editable(path), x.values

    def shown(name: str) -> float:
        return engine.value(sheet, at[name].row, at[name].column + 1)

    a, b = values[0], next(v for v, word in zip(values, x.rows) if word != x.rows[0])
    found = [shown(name) for name in ("dot product", "magnitude of the one", "angle in degrees")]
    cosine = a @ b / math.hypot(*a) / math.hypot(*b)
    assert found == pytest.approx([a @ b, math.hypot(*a), math.degrees(math.acos(cosine))])
    field = at["one word"]
    engine.enter([(sheet, field.row, field.column + 1, x.rows[-1])])
    arrow = [engine.value(sheet, field.row, field.column + 3 + j) for j in range(4)]
    last = next(i for i, word in enumerate(x.rows) if word == x.rows[-1])
    _, _, plane = np.linalg.svd(values)
    longest = values @ plane[:2].T if values.shape[1] > 2 else values
    assert math.hypot(arrow[1], arrow[3]) == pytest.approx(math.hypot(*longest[last]))
    assert shown("magnitude of the one") == pytest.approx(math.hypot(*values[last]))
    (chart,) = page._charts
    assert len(chart.ser) == len(x.rows) + 2


@thorough
@pytest.mark.parametrize(
    ("rows", "angle"),
    [
        ([["", "a", "b"], ["x", 1, 0], ["y", 0, 0]], ""),  # a word without a direction
        ([["", "a", "b"], ["x", 4000, 0], ["y", 0, 3000]], 90.0),
    ],
)
def test_two_words_of_an_input_of_any_size(
    rows: list[list[object]], angle: object, tmp_path: Path
) -> None:
    path = tmp_path / "w.xlsx"
    written(make_input(tmp_path / "in.xlsx", {"s": rows}), path)
    verify(path)
    page = openpyxl.load_workbook(path, data_only=True)["Input"]
    (name,) = (c for row in page.iter_rows() for c in row if c.value == "angle in degrees")
    assert (page.cell(name.row, name.column + 1).value or "") == angle
    (head,) = (c for row in page.iter_rows() for c in row if c.value == "to x")
    assert page.cell(head.row + 1, head.column).number_format == ("0.0" if angle else "0.000")


def test_arrows_of_more_dimensions_lie_in_the_plane_that_keeps_most_of_them() -> None:
    (graph,) = attn_xl.attend(SAMPLES / "projections.xlsx", model="similarity").values()
    x, drawn = graph["Input"].values, graph["Vectors"].values[:, [1, 3]]
    _, sizes, _ = np.linalg.svd(x)
    assert np.linalg.norm(drawn) ** 2 == pytest.approx((sizes[:2] ** 2).sum())


@thorough
def test_a_classifier_opens_on_the_class_of_each_sentence(tmp_path: Path) -> None:
    rows = table(np.array([[1.0, -1.0], [0.5, 2.0]]), ["{word}", "cat"])
    sheets = {"a{b}": rows, "b": rows[:2], "Labels": [["a{b}", "up"], ["b", "down"]]}
    source = make_input(tmp_path / "in.xlsx", sheets)
    written(source, tmp_path / "w.xlsx", model="classify", random_weights=1)
    verify(tmp_path / "w.xlsx")
    cells = first_sheet(tmp_path / "w.xlsx")
    assert str(cells["A4"]).startswith("a{b}: ")
    assert {"up", "down"} <= {str(value) for value in cells.values()}


@thorough
def test_a_long_sentence_has_tiles_without_numbers_and_a_longer_one_links_alone(tmp_path: Path) -> None:
    for count in (30, 70):
        x = np.random.default_rng(1).normal(size=(count, 2)).round(2)
        source = make_input(
            tmp_path / f"in{count}.xlsx", {"s": table(x, [f"w{i}" for i in range(count)])}
        )
        written(source, tmp_path / f"{count}.xlsx")
        sheet = openpyxl.load_workbook(tmp_path / f"{count}.xlsx").worksheets[0]
        cells = [cell for row in sheet.iter_rows() for cell in row]
        assert (";;;" in {cell.number_format for cell in cells}) == (count == 30)
        assert "Softmax!A1" in {cell.hyperlink.location for cell in cells if cell.hyperlink}


@thorough
def test_a_comparison_opens_on_how_far_each_model_sees(tmp_path: Path) -> None:
    from attn_xl.models.compare_models import compare_models, models_of

    tables = attn_xl.read_tables(SAMPLES / "rnn.xlsx")
    made = compare_models(tables, models_of(["rnn", "attention"]), {})
    attn_xl.write_workbook(made, tmp_path / "w.xlsx")
    verify(tmp_path / "w.xlsx")
    cells = first_sheet(tmp_path / "w.xlsx")
    assert "depends on each input word" in str(cells["A2"])
    assert str(cells["A4"]).startswith("rnn: happy depends on ")
    charts = openpyxl.load_workbook(tmp_path / "w.xlsx").worksheets[0]._charts
    assert len(charts) == 3  # the influence of each model on the last word, and all by distance
