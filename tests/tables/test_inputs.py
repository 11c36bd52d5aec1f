"""Files as people have them: each format, each place on a sheet, each kind of cell."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import ROOT

import attn_xl
from attn_xl import CallError, InputError, attend, read_tables
from attn_xl.cli.main import main
from attn_xl.tables.names import weight_label

INPUTS = ROOT / "tests" / "data" / "inputs"
WORDS, DIMS = ("cat", "Füße", "dog"), ("a", "b")
X = [[1.5, 2.0], [0.25, -1.0], [3.0, 4.5]]
W = [[1.0, 0.0], [0.5, 2.0]]

FOUND: dict[str, tuple[str, Any, Any, tuple[str, ...]]] = {
    # file: sentence, words, dimensions, weights
    "messy.xlsx": ("lesson", WORDS, DIMS, ("W_Q", "W_K")),
    "formats.xlsx": ("s", WORDS, DIMS, ()),
    "columns.xlsx": ("turned", WORDS, ("dim 1", "dim 2"), ("W_V", "b_V")),
    "libreoffice.ods": ("s", WORDS, DIMS, ("W_V",)),
    "libreoffice.xls": ("s", WORDS, DIMS, ("W_V",)),
    "libreoffice.xlsx": ("s", WORDS, DIMS, ("W_V",)),
    "libreoffice.csv": ("libreoffice", WORDS, DIMS, ("W_V",)),
    "comma.csv": ("comma", WORDS, DIMS, ()),
    "semicolon.csv": ("semicolon", WORDS, DIMS, ()),
    "pipe.csv": ("pipe", WORDS, DIMS, ()),
    "excel.csv": ("excel", WORDS, DIMS, ()),
    "tab.tsv": ("tab", WORDS, DIMS, ()),
    "spaces.txt": ("spaces", WORDS, DIMS, ()),
}


@pytest.mark.parametrize("file", FOUND)
def test_every_file_of_the_corpus_gives_the_same_numbers(file: str) -> None:
    name, words, dims, weights = FOUND[file]
    tables = read_tables(INPUTS / file)
    assert list(tables.sentences) == [name]
    sentence = tables.sentences[name]
    assert sentence.values.tolist() == X
    assert (sentence.rows, sentence.columns) == (words, dims)
    assert sorted(tables.weights) == sorted(weights)
    for weight in weights:
        assert tables.weights[weight].values.tolist() == ([[7, 8]] if weight == "b_V" else W)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("refused-date.xlsx", "cell C3: the date or time 2024-01-02"),
        ("refused-boolean.xlsx", "cell C3: TRUE"),
        ("refused-error.xlsx", "cell C3: the error value #N/A"),
        ("xlsxwriter.xlsx", "its formulas have no stored values"),
        (
            "refused-doubt.xlsx",
            "cell C3: the text '1,234', which may have decimals or a thousands sep",
        ),
        ("refused-text.xlsx", "cell C3: the text 'many'"),
        ("doubt.csv", "cell B2: '1,234' may have three decimals or a thousands"),
        ("mixed.csv", "cell B2: '1,5' has a decimal comma"),
    ],
)
def test_what_is_doubtful_is_refused_with_its_cell(file: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_tables(INPUTS / file)


def test_what_was_read_in_a_special_way_is_said() -> None:
    said = " ".join(read_tables(INPUTS / "formats.xlsx").remarks)
    assert "2 numbers are stored as text and read as numbers" in said
    assert "its hidden rows or columns are read like the others" in said
    assert "'old' is hidden and was skipped" in said
    assert list(read_tables(INPUTS / "formats.xlsx", sheet="old").sentences) == ["old"]
    assert read_tables(INPUTS / "comma.csv").remarks == ()


def test_a_mask_and_a_vocabulary_may_stand_the_other_way_round(tmp_path: Path) -> None:
    """Beside words in rows; nothing is remarked."""
    words = [["", "a", "b"], *([word, *x] for word, x in zip(WORDS, X))]
    mask: list[list[Any]] = [[0], [-1e9], [0]]
    known: list[list[Any]] = [["", "the", "cat", "on"], ["a", 1, 2, 3], ["b", 0, 1, 1]]
    probabilities = []
    for turned in (False, True):
        book = openpyxl.Workbook()
        for name, table in {"s": words, "Mask": mask, "Vocabulary": known}.items():
            sheet = book.create_sheet(name)
            for line in table if turned or name == "s" else zip(*table):
                sheet.append([*line])
        del book["Sheet"]
        book.save(tmp_path / "s.xlsx")
        found = attend(read_tables(tmp_path / "s.xlsx"), model="decoder-only", feed_forward=False)
        probabilities.append(found["s"]["Probabilities"].values)
        assert found.remarks == ()
    assert np.array_equal(*probabilities)


def test_words_in_columns_are_computed_as_if_in_rows() -> None:
    tables = read_tables(INPUTS / "columns.xlsx")
    assert "words are in columns" in tables.remarks[0]
    graph = attend(tables)["turned"]
    assert np.allclose(graph["V"].values, np.array(X) @ np.array(W) + [7, 8])
    assert graph["W_V"].note.endswith("In the file, rows and columns are swapped.")
    assert tables.sentences["turned"].largest() == "E5"
    rows = read_tables(INPUTS / "columns.xlsx", words_in="rows")
    assert rows.sentences["turned"].rows == ("dim 1", "dim 2")


@pytest.mark.parametrize(
    ("ranges", "sentences", "weights"),
    [
        ("First", {"all": 3}, ["W_V"]),
        ("second", {"all": 2}, ["W_V"]),
        ("all!B2:D5", {"all": 3}, ["W_V"]),
        ("$B$8:D10", {"all": 2}, ["W_V"]),
        (["one=First", "two=Second"], {"one": 3, "two": 2}, ["W_V"]),
        (["First", "W_Q=all!H2:I3"], {"all": 3}, ["W_Q"]),
    ],
)
def test_ranges_by_address_and_by_name(
    ranges: Any, sentences: dict[str, int], weights: list[str]
) -> None:
    tables = read_tables(INPUTS / "names.xlsx", range=ranges)
    assert {name: len(t.rows) for name, t in tables.sentences.items()} == sentences
    assert list(tables.weights) == weights


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({}, InputError, r"2 tables may be the sentence: B2:D5 \(3 x 2\), B8:D10.*--range \"all!B2:D5\""),
        ({"range": "nothing"}, CallError, "'nothing'; give a range such as 'Sheet!B3:F9'"),
        ({"range": "firs"}, CallError, "Did you mean 'First'"),
        ({"range": "al!B2:D5"}, CallError, "there is no sheet 'al'. Did you mean 'all'"),
        ({"range": "all!M1:N5"}, InputError, "there are no numbers in the range all!M1:N5"),
        ({"range": "all!B2:D10"}, InputError, "the range all!B2:D10 holds 2 tables: B2:D5, B8:D10"),
        ({"sheet": "none"}, CallError, "--sheet: there is no sheet 'none'"),
        ({"words_in": "rings"}, CallError, "--words-in is 'rings'"),
    ],
)  # fmt: skip
def test_what_cannot_be_told(options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        read_tables(INPUTS / "names.xlsx", **options)


@pytest.mark.parametrize("file", ["comma.csv", "libreoffice.ods"])
def test_standard_input(
    file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Piped:
        buffer = io.BytesIO((INPUTS / file).read_bytes())

    monkeypatch.setattr(sys, "stdin", Piped)
    with pytest.raises(SystemExit) as stopped:
        main(["convert", "-", "-o", str(tmp_path / "out.xlsx")])
    assert stopped.value.code == 0
    with pytest.raises(SystemExit) as stopped:
        main(["convert", "-"])
    assert stopped.value.code == 2
    assert "Give the output a name with -o" in capsys.readouterr().err


class Frame:
    """What pandas and polars frames have in common with what is asked of them."""

    def __init__(self, index: list[Any] | None, columns: list[Any], rows: list[list[Any]]) -> None:
        self.columns, self._rows = columns, rows
        if index is not None:  # pandas
            self.iloc, self.index = None, index
            self.to_numpy = lambda dtype: np.array(rows, dtype=dtype)
        else:
            self.iter_rows = lambda: iter(rows)


def test_frames_and_arrays() -> None:
    pandas = Frame(list(WORDS), list(DIMS), X)
    polars = Frame(None, ["word", *DIMS], [[w, *row] for w, row in zip(WORDS, X)])
    for frame in (pandas, polars):
        sentence = read_tables(frame).sentences["Sentence"]
        assert (sentence.rows, sentence.columns, sentence.values.tolist()) == (WORDS, DIMS, X)
    numbered = Frame(list(WORDS), [0, 1], X)
    assert read_tables(numbered).sentences["Sentence"].columns == ("0", "1")
    tables = read_tables({"pets": pandas, "W_V": np.array(W)})
    assert np.allclose(attend(tables)["pets"]["V"].values, np.array(X) @ W)
    missing = Frame(list(WORDS), list(DIMS), [[1.0, float("nan")], [2.0, 3.0], [4.0, 5.0]])
    with pytest.raises(
        InputError, match=r"column '.*': there is no number \(a missing value, NaN\) for"
    ):
        read_tables(missing)
    for wrong, said in [
        ({}, "the dictionary is empty"),
        (np.zeros((2, 2, 2)), "2 x 2 x 2 of float64"),
        (np.array(["a"]), "1-D, 1 of <U1; a table has rows and columns of numbers"),
    ]:
        with pytest.raises(InputError, match=said):
            read_tables(wrong)


def test_real_frames() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, index=WORDS, columns=DIMS)
    sentence = read_tables(frame).sentences["Sentence"]
    assert (sentence.rows, sentence.columns, sentence.values.tolist()) == (WORDS, DIMS, X)
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"word": WORDS, "a": [r[0] for r in X], "b": [r[1] for r in X]})
    assert read_tables(frame).sentences["Sentence"].values.tolist() == X


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("W_Q", "W_Q"), ("Wq", "W_Q"), ("WQ", "W_Q"), ("W^Q", "W_Q"), ("W_{Q}", "W_Q"), ("Wᵩ", "W_Q"),
        ("W q:", "W_Q"), ("Query weights", "W_Q"), ("key weights", "W_K"), ("Weights of the values", "W_V"),
        ("W_Q (3 x 6)", "W_Q"), ("Value projection", "W_V"), ("output weights", "W_O"), ("Wo", "W_O"),
        ("b_q", "b_Q"), ("Key bias", "b_K"), ("W_Q_2", "W_Q_2"), ("W_2^Q", "W_Q_2"),
        ("w100", None), ("b 0q", None), ("W12", "W_1_2"),  # a hundred words
        ("Query weights, head 2", "W_Q_2"), ("Head 2: Wq", "W_Q_2"), ("W_Q: learned", "W_Q"), ("Matrix WK", "W_K"), ("Sheet 1 - W_Q", "W_Q"),
        ("Q weights", "W_Q"), ("Linear layer Q", "W_Q"), ("Random W_K", "W_K"), ("• W_Q", "W_Q"),
        ("Step 1: W_Q ∈ R^3x3", "W_Q"), ("W_xh", "W_h"), ("Whh", "U_h"), ("W_ih", "W_h"), ("W_hc", "U_c"),
        ("Query projection W_Q", "W_Q"), ("Weights for Q", "W_Q"), ("Enc1.W_Q", "Enc1.W_Q"), ("Mask", "Mask"),
        ("\u03b31", "gamma_1"), ("\u03b2\u2082", "beta_2"), ("Scale \u03b3", "gamma"), ("Norm 2 beta", "beta_2"),
        ("Vocabulary embeddings", "Vocabulary"), ("Unembedding matrix", "Vocabulary"),
        ("Q", None), ("W", None), ("Q = Wq X", None), ("W_Q^T", None), ("Weather", None), ("wolf", None),
    ],
)  # fmt: skip
def test_labels_of_weights(text: str, name: str | None) -> None:
    assert weight_label(text) == name


def test_the_python_name_is_public() -> None:
    assert attn_xl.read_tables is read_tables
