"""The house: who may know whom, and that nothing public lacks its words."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import pytest
from conftest import ROOT

import attn_xl

PACKAGE = ROOT / "attn_xl"
ORDER = [
    "errors",
    "saying",
    "jobs",
    "files",
    "settings",
    "cells",
    "page",
    "notes",
    "notebook",
    "matrix",
    "operation",
    "primitives",
    "chosen",
    "catalogue",
    "arithmetic",
    "operations",
    "attention",
    "heads",
    "engines",
    "apart",
    "repacking",
    "recalculating",
    "unpacking",
    "numerals",
    "textfiles",
    "frames",
    "marks",
    "plainsheet",
    "spreadsheets",
    "grids",
    "boxes",
    "regions",
    "parsing",
    "roles",
    "state_dicts",
    "finding",
    "findings",
    "functions",
    "formulas_in",
    "spans",
    "patterns",
    "proven",
    "formula_blocks",
    "references",
    "blanks",
    "dependents",
    "values",
    "array_sizes",
    "number_lines",
    "expected",
    "strangers",
    "holes",
    "line_ends",
    "formula_slips",
    "operands",
    "short_ranges",
    "terms",
    "shares",
    "tables",
    "vector_blocks",
    "vector_files",
    "vectors",
    "weights",
    "scoring",
    "parts",
    "transformer",
    "similarity",
    "computation",
    "controls",
    "models",
    "numbers",
    "variants",
    "roster",
    "phrases",
    "recipes",
    "ways",
    "guide",
    "blocks",
    "sheets",
    "layout",
    "stage",
    "record",
    "components",
    "lessons",
    "lesson_pages",
    "figures",
    "drawing",
    "panels",
    "paging",
    "measures",
    "picture",
    "picture_cells",
    "canvas",
    "arranging",
    "templates",
    "package",
    "rows",
    "styles",
    "charts",
    "dress",
    "workbook",
    "inputs",
    "books",
    "reopening",
    "edits",
    "reading",
    "inspecting",
    "teaching",
    "keys",
    "classes",
    "selection",
    "cell_names",
    "explanation",
    "explanation_text",
    "entries",
    "marking",
    "slips",
    "assignments",
    "results",
    "feedback",
    "grading",
    "gradebook",
    "grade_sheets",
    "grade_text",
    "terminal",
    "export",
    "checking",
    "check_text",
    "options",
    "converting",
    "cli_check",
    "cli_explain",
    "cli_grade",
    "cli_inspect",
    "cli_new",
    "cli_teach",
    "cli_vectors",
    "cli",
]


def imports(name: str) -> set[str]:
    """The files of the package that one of them imports when it runs."""
    tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module} if node.module else {alias.name for alias in node.names}
    return {module for module in found if module in ORDER}


def test_every_file_has_its_place() -> None:
    files = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    assert files == set(ORDER)


@pytest.mark.parametrize("name", ORDER)
def test_a_file_imports_only_what_stands_above_it(name: str) -> None:
    assert imports(name) <= set(ORDER[: ORDER.index(name)])


def test_models_know_only_operations_and_what_to_say() -> None:
    known = {"arithmetic", "operations", "notes", "errors"}
    assert imports("attention") <= known
    assert imports("heads") <= {*known, "attention"}
    assert imports("transformer") <= {*known, "attention", "heads"}
    assert imports("similarity") <= known


@pytest.mark.parametrize("name", ["notes", "phrases", "recipes"])
def test_words_know_nothing(name: str) -> None:
    assert imports(name) == set()


@pytest.mark.parametrize("name", ORDER)
def test_no_file_is_much_over_300_lines(name: str) -> None:
    text = (PACKAGE / f"{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 380
    assert ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("name", attn_xl.__all__)
def test_public_names_are_there_and_say_what_they_are(name: str) -> None:
    thing = getattr(attn_xl, name)
    assert inspect.getdoc(thing)
    if inspect.isfunction(thing):
        text = inspect.getdoc(thing) or ""
        for parameter in inspect.signature(thing).parameters:
            assert parameter in text, f"{name}: {parameter} is not explained"
        assert "Raises:" in text


def test_the_lazy_names_are_those_the_type_checker_sees() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    seen = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    assert seen == set(attn_xl.__all__) == set(attn_xl._HOME_OF)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'atend'"):
        attn_xl.atend  # noqa: B018
    assert set(dir(attn_xl)) == {*attn_xl.__all__, "__version__"}


@pytest.mark.parametrize("name", attn_xl.__all__)
def test_the_page_on_python_names_what_is_public(name: str) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert f"`{name}`" in page or f"attn_xl.{name}" in page


def test_the_package_loads_nothing_by_itself() -> None:
    program = "import sys, attn_xl; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_top_level_holds_what_it_should() -> None:
    allowed = {"pyproject.toml", "attn_xl", "templates", "tests", "samples", "README.md"}
    allowed |= {"LICENSE", "CHANGELOG.md", "docs"}
    here = {path.name for path in ROOT.iterdir() if path.name[0] != "." and path.suffix != ".xlsx"}
    made = {"build", "dist", "attn_xl.egg-info", "__pycache__"}
    assert here - made <= allowed


def test_templates_and_samples_travel_in_the_wheel() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for folder in ("templates", "samples"):
        for path in (*(ROOT / folder).glob("*.xlsx"), *(ROOT / folder).glob("*.txt")):
            if not path.stem.endswith(("-attention", "-similarity")):  # what users made
                assert f'"{folder}/{path.name}" = "attn_xl/{folder}/{path.name}"' in project
