"""Random shapes and values: written, recalculated, compared with loops.

The numbers are fractions of a power of two, so that sums are exact in whatever order a program adds:
what is left is the formulas. More examples: pytest tests/graph/test_properties.py --thorough
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import naive_attention, thorough, verify
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import attn_xl
from attn_xl.graph.graph import Graph
from attn_xl.models.attention import Attending
from attn_xl.spreadsheets.addresses import defined_name, quoted, sheet_name, unique
from attn_xl.workbook.write import write_workbook

numbers = st.integers(-1000, 1000).map(lambda i: i / 64)
words = st.text(min_size=1, max_size=12).filter(lambda w: w.strip())
count = itertools.count()


@st.composite
def problems(draw: Any) -> dict[str, Any]:
    n, d, d_k, d_v = (draw(st.integers(1, most)) for most in (7, 5, 4, 4))
    scale = 2.0 ** draw(st.sampled_from([0, 0, 0, 7, -20, -300]))
    return {
        "x": draw(arrays(float, (n, d), elements=numbers)) * scale,
        "words": draw(st.lists(words, min_size=n, max_size=n)),
        "w_q": draw(arrays(float, (d, d_k), elements=numbers)),
        "w_k": draw(arrays(float, (d, d_k), elements=numbers)),
        "w_v": draw(arrays(float, (d, d_v), elements=numbers)),
        "projected": draw(st.booleans()),
        "scaled": draw(st.booleans()),
    }


def matrix(values: np.ndarray, name: str, rows: list[str] | None = None) -> attn_xl.Matrix:
    n, m = values.shape
    return attn_xl.given(values, rows or [f"r{i}" for i in range(n)], [f"c{j}" for j in range(m)], name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("properties")


@thorough
@given(problem=problems())
def test_written_workbooks_recalculate_to_what_they_store(
    folder: Path, problem: dict[str, Any]
) -> None:
    x = matrix(problem["x"], "Input", problem["words"])
    weights = (
        [matrix(problem[f"w_{p}"], f"W_{p.upper()}") for p in "qkv"] if problem["projected"] else []
    )
    output = attn_xl.self_attention(x, *weights, attending=Attending(scale=problem["scaled"]))
    graph = Graph(output)
    q, k, v = (problem["x"] @ problem[f"w_{p}"] if weights else problem["x"] for p in "qkv")
    expected, _ = naive_attention(q, k, v, problem["scaled"])
    assert np.isfinite(output.values).all()
    assert np.allclose(graph["Softmax"].values, expected, rtol=1e-12, atol=1e-300)

    path = folder / f"p{next(count)}.xlsx"
    write_workbook(attn_xl.Computation("p", {"s": graph}, {}), path)
    verify(path)


@settings(max_examples=200)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40),
        min_size=1,
        max_size=6,
    )
)
def test_names_are_valid_and_unique(texts: list[str]) -> None:
    sheets: set[str] = set()
    names: set[str] = set()
    for text in texts:
        sheet = unique(sheet_name(text), sheets, 31)
        name = unique(defined_name(text), names)
        assert 1 <= len(sheet.encode("utf-16-le", "surrogatepass")) // 2 <= 31
        assert not set(sheet) & set("[]:*?/\\!#'")
        assert sheet.casefold() not in sheets
        assert name.casefold() not in names
        assert name.replace("_", "a").replace(".", "a").isalnum()
        assert name.isascii()
        sheets.add(sheet.casefold())
        names.add(name.casefold())


@pytest.mark.parametrize(
    ("sheet", "text"),
    [
        ("Scores", "Scores"),
        ("pets.Scores", "pets.Scores"),
        ("W_Q", "W_Q"),
        ("Q", "Q"),
        ("Q1", "'Q1'"),
        ("XFD1", "'XFD1'"),
        ("A1.Scores", "'A1.Scores'"),
        ("R", "'R'"),
        ("c", "'c'"),
        ("R1C1", "'R1C1'"),
        ("true", "'true'"),
        ("FALSE", "'FALSE'"),
        ("a b", "'a b'"),
        ("it's", "'it''s'"),
        ("2024", "'2024'"),
        (".x", "'.x'"),
        ("é", "'é'"),
    ],
)
def test_quoting(sheet: str, text: str) -> None:
    assert quoted(sheet) == text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("pets.Scores", "pets.Scores"),
        ("W_Q", "W_Q"),
        ("Step12.pets.W_Q.m", "Step12.pets.W_Q.m"),
        ("Step1_x0041_", "Step1.x0041_"),
        ("ABC1234", "_ABC1234"),
        ("Q1", "_Q1"),
        ("R", "_R"),
        ("a b", "a_b"),
        ("2024.Q", "_2024.Q"),
        ("ünï", "uni"),
        ("日本.Q", "__.Q"),
        ("_xlnm.Q", "__xlnm.Q"),
    ],
)
def test_defined_names(text: str, name: str) -> None:
    assert defined_name(text) == name
