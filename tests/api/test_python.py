"""The library as a Python user meets it: matrices like arrays, anything with numbers to `attend`, one
clear line for what cannot be taken, the workbook of `convert`."""

from __future__ import annotations

import doctest
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, SAMPLES, alike, thorough, verify

import attn_xl
from attn_xl import AttnXlError, CallError, Computation, Graph, InputError, Matrix, Settings, attend
from attn_xl.cli.main import main
from attn_xl.errors import ShapeError, WrongTypeError
from attn_xl.labelled import LabelError, MissingLibraryError, PositionError

X = np.array([[1.0, 0.0, 2.0], [0.0, 2.0, -1.5], [3.0, 1.0, 0.25]])
WORDS, DIMS = ("the", "cat", "the"), ("a", "b", "c")


def matrix(rows: Any = ("mouse", "cat", "sat"), columns: Any = DIMS) -> Matrix:
    return attn_xl.given(X, rows, columns, "Input")


@pytest.fixture
def mouse() -> Computation:
    return attend(SAMPLES / "mouse.xlsx")


# A matrix is an array


def test_a_matrix_is_indexed_like_its_array() -> None:
    m = matrix()
    keys: list[Any] = [
        (0, 2), 0, -1, (-1, -2), slice(1, None), (slice(None), 1), (slice(0, 2), slice(1, 3)),
        [2, 0], ..., (..., 1), X > 0, (np.int64(1), 2), None,
    ]  # fmt: skip
    for key in keys:
        assert np.array_equal(m[key], X[key]), key
    assert len(m) == 3
    assert m.shape == X.shape
    assert (m.ndim, m.size, m.dtype) == (2, 9, X.dtype)
    assert m.tolist() == X.tolist()
    assert all(np.array_equal(row, other) for row, other in zip(m, X))
    assert isinstance(m[0, 0], float)
    with pytest.raises(ValueError, match="read-only"):
        m[0][0] = 5


def test_labels_stand_for_positions() -> None:
    m = matrix()
    keys: list[tuple[Any, Any]] = [
        (("mouse", "c"), (0, 2)),
        ("cat", 1),
        ((slice(None), "b"), (slice(None), 1)),
        ((..., "b"), (slice(None), 1)),
        (("cat", ..., "b"), (1, 1)),
        (("cat", ...), 1),
        ((-1, "b"), (2, 1)),
        (["sat", "mouse"], [2, 0]),
        (("cat", slice(0, 2)), (1, slice(0, 2))),
    ]
    for key, positions in keys:
        assert np.array_equal(m[key], X[positions]), key
    assert "cat" in m
    assert "b" in m
    assert "dog" not in m
    assert 0.25 in m
    assert 7 not in m


def test_a_label_that_is_there_twice_is_picked_as_explain_picks_it() -> None:
    m = matrix(WORDS)
    with pytest.raises(LabelError) as error:
        m["the", "a"]
    assert str(error.value) == (
        "Input has 2 rows labelled 'the'. Say which one: 'the#1' (or 0), 'the#2' (or 2)."
    )
    assert np.array_equal(m["the#2"], X[2])
    assert m["the#2", "c"] == X[2, 2]
    graph = Graph(attn_xl.self_attention(m))
    assert attn_xl.explain(graph, "Input[the#2, c]").value == X[2, 2]
    assert np.array_equal(matrix(("x", "x#2", "x"))['"x"#2'], X[2])


@pytest.mark.parametrize(
    ("key", "kind", "said"),
    [
        ("dog", LabelError, "Input has no row labelled 'dog'. There are: mouse, cat, sat."),
        ("Cat", LabelError, "Did you mean 'cat'"),
        (("cat", "mouse"), LabelError, "no column labelled 'mouse'"),
        ("b", LabelError, "no row labelled 'b', but it has such a column: write [:, 'b']"),
        (3, PositionError, "Input has 3 rows, numbered from 0, so there is no row 3."),
        (-4, PositionError, "no row -4"),
        ((0, 9), PositionError, "Input has 3 columns, numbered from 0, so there is no column 9."),
        ((0, 0, 0), PositionError, "too many indices"),
        (0.5, PositionError, "only integers"),
        (slice("mouse", "cat"), PositionError, "a slice takes positions"),
    ],
)
def test_a_key_that_is_not_there(key: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind) as error:
        matrix()[key]
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert issubclass(kind, CallError)
    assert issubclass(kind, KeyError if kind is LabelError else IndexError)


def test_numpy_takes_a_matrix() -> None:
    m = matrix()
    assert np.shares_memory(np.asarray(m), m.values)
    assert np.array(m).flags.writeable
    assert np.asarray(m, dtype=np.float32).dtype == np.float32
    assert m.__array__(copy=True).flags.writeable
    assert m.__array__(copy=False) is not None
    with pytest.raises(ValueError, match="needs a copy"):
        m.__array__(np.float32, copy=False)
    for function in (np.sum, np.mean, np.max, np.linalg.norm):
        assert function(m) == function(X)  # type: ignore[operator]
    assert np.array_equal(np.sum(m, axis=1), X.sum(axis=1))
    assert np.array_equal(np.vstack([m, m]), np.vstack([X, X]))
    assert np.array_equal(np.round(m, 1), X.round(1))
    assert np.allclose(m, X)
    np.testing.assert_array_equal(m, X)


def test_arithmetic_still_remembers() -> None:
    m = matrix()
    for made in (2 * m, np.float64(2) * m, m * 2, m * np.int64(2)):
        assert isinstance(made, Matrix)
        assert made.operation is not None
        assert np.array_equal(made.values, 2 * X)
    assert Matrix.__array_ufunc__ is None
    for wrong in (lambda: m + X, lambda: X + m, lambda: m * "2", lambda: m + None):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(WrongTypeError, match="is an ndarray; it takes a matrix"):
        m + X
    with pytest.raises(ShapeError, match="cannot multiply"):
        m @ attn_xl.given([[1]], ["a"], ["b"], "One")
    with pytest.raises(ShapeError, match=r"\(3, 3\) does not go with \(2, 3\)"):
        m + attn_xl.given(X[:2], "ab", DIMS, "Two")


def test_a_matrix_stays_one_thing_to_python() -> None:
    m, other = matrix(), matrix()
    assert m != other
    assert m == m
    assert len({m, other, m}) == 2
    assert m
    assert attn_xl.given(np.zeros((0, 2)), [], ["a", "b"], "Empty")
    assert not isinstance(m, Mapping)
    graph = Graph(attn_xl.self_attention(m))
    assert [node.name for node in graph.values()] == [name.rpartition(".")[2] for name in graph]


def test_frames_of_a_matrix() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    m = matrix(WORDS)
    frame = m.to_pandas()
    assert list(frame.index) == list(WORDS)
    assert list(frame.columns) == list(DIMS)
    assert np.array_equal(frame.to_numpy(), X)
    assert isinstance(frame, pandas.DataFrame)
    frame.iloc[0, 0] = 99  # is the user's own
    assert m[0, 0] == 1
    made = m.to_polars()
    assert isinstance(made, polars.DataFrame)
    assert made.columns == ["word", *DIMS]
    assert made["word"].to_list() == list(WORDS)
    assert made["c"].to_list() == X[:, 2].tolist()
    scores = Graph(attn_xl.self_attention(m))["Scores"]
    assert scores.to_polars().columns == ["word", "the#1", "cat", "the#2"]
    assert matrix(columns=("word", "b", "c")).to_polars().columns == ["word_", "word", "b", "c"]
    for again in (m.to_pandas(), m.to_polars(), m):
        assert attend(again)["Input"].rows == WORDS
        assert np.array_equal(attend(again)["Input"], X)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_library_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibraryError, match=f"needs {library}.*pip install {library}") as error:
        getattr(matrix(), f"to_{library}")()
    assert isinstance(error.value, (AttnXlError, ImportError))


def test_how_a_matrix_shows_itself() -> None:
    assert repr(matrix()) == textwrap.dedent(
        """\
        Input, 3 x 3
                   a      b       c
        mouse  1.000  0.000   2.000
        cat    0.000  2.000  -1.500
        sat    3.000  1.000   0.250"""
    )
    product = (matrix() @ matrix().T).named("Scores")
    assert repr(product).startswith("Scores = Input × Inputᵀ, 3 x 3\n")
    whole = attn_xl.given([[1, -1e9], [0, 12]], ["猫", "a\x1b[2J"], ["p", "q"], "Mask")
    assert repr(whole).splitlines()[1:] == ["       p       q", "猫     1  -1e+09", "a�[2J  0      12"]
    assert "1.00e-04" in repr(attn_xl.given([[1e-4]], ["a"], ["b"], "Small"))


def test_the_page_shows_a_matrix_as_it_shows_itself(mouse: Computation) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert f">>> softmax\n{mouse['pets']['Softmax']!r}\n```" in page


def test_a_large_matrix_is_abbreviated() -> None:
    large = attn_xl.given(np.arange(90_000).reshape(300, 300) / 7, range(300), range(300), "Large")
    lines = repr(large).splitlines()
    assert lines[0] == "Large, 300 x 300"
    assert len(lines) < 16
    assert all(len(line) <= 80 for line in lines)
    assert lines[7] == "..."
    assert lines[1].split()[0] == "0"
    assert lines[1].split()[-1] == "299"
    assert "..." in lines[1].split()
    assert lines[-1].split()[0] == "299"
    assert float(lines[-1].split()[-1]) == pytest.approx(large[299, 299], abs=1e-3)


def test_tables_and_settings_show_themselves_in_short() -> None:
    tables = attn_xl.read_tables(SAMPLES / "projections.xlsx")
    assert "weights W_Q: " in repr(tables)
    assert len(repr(tables).splitlines()) < 10
    (sentence,) = tables.sentences.values()
    assert sentence[0, 0] == sentence.values[0, 0]
    assert repr(sentence).startswith(f"{sentence.name}, {sentence.shape[0]} x {sentence.shape[1]}\n")
    assert repr(Settings(model="encoder", heads=2)) == "Settings(model='encoder', heads=2)"  # type: ignore[arg-type]
    assert repr(Settings()) == "Settings()"


# A computation


def test_a_computation_is_a_mapping_of_sentences(mouse: Computation) -> None:
    assert list(mouse) == ["pets", "desk"]
    assert len(mouse) == 2
    assert "pets" in mouse
    assert "Softmax" not in mouse
    assert mouse["pets"]["Softmax"]["mouse", "cat"] == pytest.approx(0.2073, abs=1e-4)
    assert dict(mouse) == mouse.graphs
    assert mouse.get("Nothing") is None
    shown = repr(mouse)
    assert "pets: mouse and cat are friends" in shown
    assert "Softmax               5 x 5  softmax(Scaled)" in shown
    assert "Softmax               5 x 5" in repr(mouse["pets"])


def test_a_step_of_a_single_sentence_needs_no_sentence(mouse: Computation) -> None:
    alone = attend(SAMPLES / "politics.xlsx")
    assert alone["Softmax"] is alone["politics"]["Softmax"]
    with pytest.raises(CallError) as error:
        mouse["Softmax"]
    assert str(error.value) == (
        "Softmax is a step of 2 sentences. Say which one: ['pets']['Softmax'], ['desk']['Softmax']."
    )
    with pytest.raises(KeyError, match="Did you mean the step 'Softmax'"):
        alone["softmx"]
    with pytest.raises(KeyError, match="Did you mean 'pets'"):
        mouse["pet"]
    assert mouse["Compare.mouse.Input"] is mouse.comparison["Compare.mouse.Input"]  # type: ignore[comparison-overlap]
    weighted = attend(SAMPLES / "mouse.xlsx", weights={"W_Q": np.eye(3)})
    assert weighted["W_Q"] is weighted["pets"]["W_Q"]  # of both sentences, so it is clear


def test_a_long_computation_is_abbreviated() -> None:
    encoder = attend(X, model="encoder", layers=6, random_weights=1)
    assert len(repr(encoder).splitlines()) < 30
    many = attend({f"s{i}": X for i in range(40)})
    assert len(repr(many).splitlines()) < 120
    assert "35 more sentences" in repr(many)


# What attend takes


def same(computation: Computation, words: Any = WORDS, dims: Any = DIMS) -> bool:
    (graph,) = computation.values()
    x = graph["Input"]
    expected = attn_xl.self_attention(attn_xl.given(X, words, dims, "Input"))
    return (x.rows, x.columns) == (tuple(words), tuple(dims)) and np.array_equal(
        graph["Output"], expected
    )


def test_attend_takes_anything_with_numbers(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame(X, index=WORDS, columns=DIMS)
    assert same(attend(frame))
    assert same(attend(frame.reset_index(names="word")))
    assert same(attend(frame.astype("Float64")))
    assert same(attend(frame.astype(object).map(Decimal)))
    assert same(attend(polars.DataFrame({"word": WORDS, **{d: X[:, i] for i, d in enumerate(DIMS)}})))
    numbered = ("word 1", "word 2", "word 3"), ("dim 1", "dim 2", "dim 3")
    assert same(attend(X), *numbered)
    assert same(attend(X.tolist()), *numbered)
    assert same(attend(np.asfortranarray(X.astype(np.float32))), *numbered)
    assert same(attend(X, words=WORDS, dims="a b c"))
    assert same(attend(X.tolist(), words="the cat the", dims=DIMS))
    assert same(attend([["", *DIMS], *([w, *row] for w, row in zip(WORDS, X.tolist()))]))
    assert same(attend({"cat": X[0], "sat": X[1].tolist(), "mat": tuple(X[2])}), ("cat", "sat", "mat"),
                numbered[1])  # fmt: skip
    assert same(attend(matrix(WORDS)))
    tables = attn_xl.read_tables({"Sentence": matrix(WORDS)})
    assert same(attend(tables))
    assert same(attend(tables.sentences["Sentence"]))
    path = tmp_path / "input.csv"
    frame.to_csv(path)
    assert same(attend(path))
    assert same(attend(str(path)))


def test_a_tensor_is_an_array() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor(X, requires_grad=True)
    assert np.array_equal(attend(x)["Input"], X)
    assert np.array_equal(attend(X, weights={"W_Q": torch.nn.Parameter(torch.eye(3))})["Q"], X)


def test_options_are_keywords() -> None:
    computation = attend(X, causal=True, heads=3, random_weights=1)
    assert computation["Softmax_3"][0].tolist() == [1, 0, 0]
    assert computation.settings == Settings(causal=True, heads=3, random_weights=1)
    assert attend(X, model="encoder", random_weights=2).title.startswith("Encoder")
    assert attend(X, Settings(causal=True), scale=False).settings == Settings(causal=True, scale=False)


def test_an_option_wins_over_the_workbooks_own() -> None:
    assert attend(SAMPLES / "temperature.xlsx").settings.temperature != 3  # type: ignore[union-attr]
    assert attend(SAMPLES / "temperature.xlsx", temperature=3).settings.temperature == 3  # type: ignore[union-attr]


def test_weights_are_keywords() -> None:
    pandas = pytest.importorskip("pandas")
    w = np.arange(6.0).reshape(3, 2)
    weights = {"W_Q": w, "W_K": pandas.DataFrame(w, index=DIMS), "W_V": w.tolist(), "b_Q": [1.0, 2.0]}
    computation = attend(matrix(WORDS), weights=weights)
    assert np.array_equal(computation["Q"], X @ w + [1, 2])
    assert np.array_equal(computation["K"], X @ w)
    assert np.array_equal(computation["V"], X @ w)
    assert np.array_equal(attend(SAMPLES / "politics.xlsx", weights={})["Q"],
                          attend(SAMPLES / "politics.xlsx")["Q"])  # fmt: skip
    other = attend(SAMPLES / "projections.xlsx", weights={"wq": np.zeros((3, 2))})
    assert not np.any(other["Q"].values)
    assert np.any(other["K"].values)


def frame_of(values: Any, **labels: Any) -> Any:
    return pytest.importorskip("pandas").DataFrame(values, **labels)


WRONG: list[tuple[str, Callable[[], object], type[AttnXlError], str]] = [
    ("number", lambda: attend(5), WrongTypeError, "the table is an int; it takes a file, a pandas"),
    ("nothing", lambda: attend(None), WrongTypeError, "the table is None; it takes"),
    ("set", lambda: attend({1, 2}), WrongTypeError, "the table is a set"),
    ("computation", lambda: attend(attend(X)), WrongTypeError, "the table is a Computation"),
    ("missing file", lambda: attend("nofile.xlsx"), InputError, "nofile.xlsx: no such file"),
    ("1-D", lambda: attend(X[0]), InputError, r"1-D, 3 of float64; .*single word as \[\[...\]\]"),
    ("1-D list", lambda: attend([1, 2]), InputError, "1-D, 2 of int64"),
    ("3-D", lambda: attend(X[None]), InputError, "1 x 3 x 3 of float64"),
    ("no rows", lambda: attend(np.zeros((0, 3))), InputError, "0 x 3 of float64"),
    ("no list", lambda: attend([]), InputError, "1-D, 0 of float64"),
    ("no dictionary", lambda: attend({}), InputError, "the dictionary is empty"),
    ("ragged", lambda: attend([[1], [2, 3]]), InputError, "its rows have 1 and 2 cells"),
    ("complex", lambda: attend(X + 1j), InputError, "3 x 3 of complex128"),
    ("objects", lambda: attend(np.array([[object()]])), InputError, "1 x 1 of object"),
    ("booleans", lambda: attend(X > 0), InputError, "3 x 3 of bool"),
    ("NaN", lambda: attend([[1, 2], [3, np.nan]]), InputError, r"missing value, NaN\) at \[1, 1\]"),
    ("infinite", lambda: attend([[1, np.inf]]), InputError, r"there is inf at \[0, 1\]"),
    ("NaN of a word", lambda: attend({"cat": [1, np.nan]}), InputError, "NaN.* for 'cat', dim 2"),
    ("words of other length", lambda: attend({"a": [1, 2], "b": [3]}), InputError, "'b' has 1 number, but"),
    ("empty frame", lambda: attend(frame_of([])), InputError, "the frame has 0 rows and 0 columns"),
    ("frame of no columns", lambda: attend(frame_of([], index=["a"])), InputError, "0 columns"),
    ("text in a frame", lambda: attend(frame_of([[1, "x"]], index=["cat"], columns=["a", "b"])), InputError,
     "the table, column 'b': there is the text 'x' for 'cat'. Every column needs finite numbers"),
    ("NaN in a frame", lambda: attend(frame_of([[1, np.nan]], index=["cat"], columns=["a", "b"])), InputError,
     "column 'b': there is no number .* for 'cat'"),
    ("complex frame", lambda: attend(frame_of([[1j]], index=["cat"])), InputError, "there is 1j for 'cat'"),
    ("dates", lambda: attend(frame_of(np.array([["2020-01-01"]], "M8[ns]"), index=["cat"])), InputError,
     r"2020-01-01 00:00:00 \(Timestamp\) for 'cat'"),
    ("boolean frame", lambda: attend(frame_of([[True]], index=["cat"])), InputError, r"True \(bool\)"),
    ("words", lambda: attend(X, words=["a"]), CallError, "words has 1 labels, but the table has 3 rows"),
    ("dims", lambda: attend(X, dims="a b"), CallError, "dims has 2 labels, but the table has 3 columns"),
    ("words of a frame", lambda: attend(frame_of(X), words="a b c"), CallError, "already has labels"),
    ("words of a file", lambda: attend(SAMPLES / "mouse.xlsx", words="a"), CallError, "own labels"),
    ("option", lambda: attend(X, head=2), CallError, "no option 'head'. Did you mean 'heads'"),  # type: ignore[call-arg]
    ("option's value", lambda: attend(X, heads="two"), CallError, "^--heads is two; it takes a whole number"),  # type: ignore[arg-type]
    ("missing weights", lambda: attend(X, model="encoder"), InputError, "missing weights: --random-weights SEED"),
    ("settings", lambda: attend(X, "encoder"), WrongTypeError, "settings is a str; it takes Settings"),  # type: ignore[arg-type]
    ("weights", lambda: attend(X, weights=[1]), WrongTypeError, "weights is a list; it takes a dict"),  # type: ignore[arg-type]
    ("name of weights", lambda: attend(X, weights={"foo": X}), CallError, "'foo' is not the name of a weight"),
    ("shape of weights", lambda: attend(X, weights={"W_Q": X[:2]}), InputError, "W_Q needs 3 rows"),
    ("show", lambda: attn_xl.show(X), WrongTypeError, "the computation is an ndarray; it takes the result of attend"),  # type: ignore[arg-type]
    ("explain", lambda: attn_xl.explain(attend(X), 3), WrongTypeError, "cell is an int"),  # type: ignore[arg-type]
    ("self_attention", lambda: attn_xl.self_attention(X), WrongTypeError, "x is an ndarray; .* attn_xl.given"),  # type: ignore[arg-type]
    ("sdpa", lambda: attn_xl.scaled_dot_product_attention(X, X, X), WrongTypeError, "q is an ndarray"),  # type: ignore[arg-type]
    ("softmax", lambda: attn_xl.softmax(X), WrongTypeError, "x is an ndarray"),  # type: ignore[arg-type]
    ("compare", lambda: attn_xl.compare([X]), WrongTypeError, "sentences is a list"),  # type: ignore[arg-type]
    ("Graph", lambda: Graph(X), WrongTypeError, "a result is an ndarray"),  # type: ignore[arg-type]
    ("given 1-D", lambda: attn_xl.given([1], "a", "b", "x"), ShapeError, r"x has values of shape \(1,\)"),
    ("given text", lambda: attn_xl.given([["q"]], "a", "b", "x"), InputError, "values of x are not numbers"),
    ("given complex", lambda: attn_xl.given([[1j]], "a", "b", "x"), InputError, "complex128"),
    ("given ragged", lambda: attn_xl.given([[1], [1, 2]], "ab", "b", "x"), InputError, "values of x"),
    ("given NaN", lambda: attn_xl.given([[np.nan]], "a", "b", "x"), InputError, r"nan at \[a, b\]"),
    ("vectors", lambda: attn_xl.read_vectors(3, "cat"), WrongTypeError, "path is an int"),  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "said"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_what_cannot_be_taken_is_one_clear_line(
    call: Callable[[], object], kind: type[AttnXlError], said: str
) -> None:
    with pytest.raises(kind, match=said) as error:
        call()
    assert "\n" not in str(error.value)
    assert isinstance(pickle.loads(pickle.dumps(error.value)), kind)
    if kind is WrongTypeError:
        assert isinstance(error.value, TypeError)


# The workbook


@alike
@pytest.mark.parametrize("sample", ["mouse", "projections", "masks", "encoder-decoder"])
def test_the_workbook_is_that_of_convert(sample: str, tmp_path: Path) -> None:
    source = SAMPLES / f"{sample}.xlsx"
    with pytest.raises(SystemExit):
        main(["convert", str(source), "-o", str(tmp_path / "command.xlsx")])
    made = attn_xl.write_workbook(attend(source), tmp_path / "python.xlsx")
    assert (tmp_path / "python.xlsx").read_bytes() == (tmp_path / "command.xlsx").read_bytes()
    assert repr(made) == f"<workbook of {len(made.sheets)} sheets>"


@thorough
def test_options_reach_the_workbook_as_those_of_convert_do(tmp_path: Path) -> None:
    source = SAMPLES / "mouse.xlsx"
    for number, (options, keywords, plain) in enumerate(
        [
            (["--plain"], {}, True),
            (["--causal", "--layout", "canvas"], {"causal": True, "layout": "canvas"}, False),
            (["--formulas", "none", "--decimals", "1"], {"formulas": "none", "decimals": 1}, False),
            (["--template", "print"], {}, False),
        ]
    ):
        command, python = (tmp_path / f"{kind}{number}.xlsx" for kind in ("command", "python"))
        with pytest.raises(SystemExit):
            main(["convert", str(source), "-o", str(command), *options])
        template = "print" if "print" in options else "article"
        computation = attend(source, **keywords)  # type: ignore[arg-type]
        attn_xl.write_workbook(computation, python, plain=plain, template=template)
        assert python.read_bytes() == command.read_bytes(), options


def test_a_frame_becomes_a_workbook_that_is_read_back(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "frame.xlsx"
    computation = attend(pandas.DataFrame(X, index=WORDS, columns=DIMS), causal=True)
    attn_xl.write_workbook(computation, path)
    verify(path)
    again = attend(path)
    assert again["Input"].rows == WORDS
    assert np.allclose(again["Output"], computation["Output"], rtol=1e-12)


def test_a_workbook_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    computation = attend(X)
    attn_xl.write_workbook(computation, path)
    before = path.read_bytes()
    with pytest.raises(CallError) as error:
        attn_xl.write_workbook(computation, path)
    assert str(error.value) == (
        f"{path}: exists already. Pass overwrite=True to replace it, or name another file."
    )
    attn_xl.write_workbook(attend(X[:2]), str(path), overwrite=True)
    assert path.read_bytes() != before
    source = tmp_path / "in.xlsx"
    source.write_bytes((SAMPLES / "politics.xlsx").read_bytes())
    with pytest.raises(CallError, match="is the input, which is never overwritten"):
        attn_xl.write_workbook(attend(source), source, overwrite=True)
    for wrong, said in [(3, "path is an int"), (tmp_path / "x.csv", r"ends in \.xlsx")]:
        with pytest.raises(CallError, match=said):
            attn_xl.write_workbook(computation, wrong)  # type: ignore[arg-type]
    with pytest.raises(
        WrongTypeError, match="the computation is an ndarray; it takes the result of attend"
    ):
        attn_xl.write_workbook(X, tmp_path / "y.xlsx")  # type: ignore[arg-type]


def test_a_matrix_or_a_graph_becomes_a_workbook(tmp_path: Path) -> None:
    output = attn_xl.self_attention(matrix())
    attn_xl.write_workbook(output, tmp_path / "matrix.xlsx")
    attn_xl.write_workbook(Graph(output), tmp_path / "graph.xlsx")
    assert (tmp_path / "matrix.xlsx").read_bytes() == (tmp_path / "graph.xlsx").read_bytes()


# Docstrings, types, start-up


FUNCTIONS = [
    name for name in attn_xl.__all__ if getattr(attn_xl, name).__class__.__name__ == "function"
]


@pytest.mark.parametrize("name", [*FUNCTIONS, "Labelled"])
def test_the_example_of_a_docstring_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attn_xl.labelled import Labelled

    (tmp_path / "samples").symlink_to(SAMPLES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    what = Labelled if name == "Labelled" else getattr(attn_xl, name)
    test = doctest.DocTestParser().get_doctest(what.__doc__, {}, name, None, None)
    assert test.examples, f"{name} has no example"
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)


@thorough
def test_types_are_those_a_user_works_with(tmp_path: Path) -> None:
    assert (ROOT / "attn_xl" / "py.typed").exists()
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """\
            import attn_xl
            computation = attn_xl.attend([[1, 2]], causal=True, model="encoder", heads=2)
            reveal_type(computation["pets"])
            reveal_type(computation["Softmax"])
            reveal_type(computation["pets"]["Softmax"])
            m = computation["pets"]["Softmax"]
            reveal_type(m @ m.T)
            reveal_type(m[0, "cat"])
            reveal_type(m["cat"])
            for row in m:
                reveal_type(row)
            attn_xl.write_workbook([[1, 2]], "out.xlsx")
            """
        )
    )
    out, _, _ = api.run(["--strict", "--config-file", str(ROOT / "pyproject.toml"), str(program)])
    lines = [line.partition("py:")[2] for line in out.splitlines() if "program.py:" in line]
    revealed = [line for line in lines if "Revealed" in line]
    matrix_, graph = '"attn_xl.graph.matrix.Matrix"', '"attn_xl.graph.graph.Graph"'
    wanted = [graph, matrix_, matrix_, matrix_, "float", "ndarray", "ndarray"]
    assert [part in line for part, line in zip(wanted, revealed)] == [True] * len(wanted), out
    assert {line.partition(":")[0] for line in lines if "error" in line} == {"12"}, out


@thorough
def test_what_a_script_imports_is_what_it_needs() -> None:
    program = (
        "import sys, attn_xl; attn_xl.attend([[1, 2]]);"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert not {"pandas", "polars", "typer", "torch", "openpyxl", "rich"} & set(loaded.stdout.split())


def test_weights_without_a_place_are_left_out_when_they_are_read() -> None:
    words, weights = np.eye(2), {"W_Q": np.eye(2), "W_1": np.eye(2)}
    with pytest.raises(InputError, match="leave it out with --without W_1"):
        attend(words, weights=weights)
    tables = attn_xl.read_tables({"x": words, **weights}, without="W_1")
    assert "W_1" not in attend(tables)["x"]
