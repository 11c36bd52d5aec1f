"""Workbooks in other languages: no English is left, nothing is cut off, everything is read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import SAMPLES, alike
from pseudo import PSEUDO, left_in_english, own_texts, pseudo_language

from attn_xl.cli.options import compute_file, read_file_tables
from attn_xl.workbook.write import write_workbook

ODD = ("class", "vectors")
FILES = sorted(path.stem for path in SAMPLES.glob("*.xlsx"))
MORE: dict[str, tuple[str, dict[str, Any]]] = {
    "canvas": ("multi-head", {"layout": "canvas", "influence": True}),
    "layers": ("encoder-decoder", {"layout": "layers"}),
    "head-maps": ("encoder", {"head_maps": True}),
    "lens": ("language-model", {"lens": True}),
    "learning": ("learning", {"steps": 3}),
    "live": ("learning", {"steps": 9, "live": 2}),
    "similarity": ("mouse", {"model": "similarity"}),
    "gru": ("gru", {"influence": True}),
}


def written(path: Path, name: str, options: dict[str, Any], folder: Path, language: str) -> Path:
    """A workbook of a sample in a language."""
    computation, settings = compute_file(path, {**options, "language": language}, {})
    out = folder / f"{name}.xlsx"
    write_workbook(computation, out, settings=settings, source=path.name, record=True)
    return out


@pytest.mark.parametrize("name", FILES)
@alike
def test_no_english_is_left_in_samples(name: str, tmp_path: Path) -> None:
    path = SAMPLES / f"{name}.xlsx"
    with pseudo_language():
        out = written(path, name, {"controls": True}, tmp_path, PSEUDO)
    assert not left_in_english(out, own_texts(read_file_tables(path, {})))


@pytest.mark.parametrize("name", MORE)
def test_no_english_is_left(name: str, tmp_path: Path) -> None:
    sample, options = MORE[name]
    path = SAMPLES / f"{sample}.xlsx"
    with pseudo_language():
        out = written(path, name, {"controls": True, **options}, tmp_path, PSEUDO)
    assert not left_in_english(out, own_texts(read_file_tables(path, {})))
