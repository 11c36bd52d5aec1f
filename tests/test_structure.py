"""The house: who may know whom, and that nothing public lacks its words."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from functools import cache
from importlib import import_module

import pytest
from conftest import ROOT

import attn_xl
from attn_xl.graph.step import Step

PACKAGE = ROOT / "attn_xl"
TOP = {
    "errors", "settings", "text", "outputs", "labelled",
    "records", "console",
}  # fmt: skip
MAY_IMPORT = {
    "graph": {"errors", "text", "labelled", "records"},
    "spreadsheets": TOP,
    "tables": {"spreadsheets", *TOP},
    "models": {"graph", "tables", "spreadsheets", *TOP},
    "workbook": {"models", "graph", "tables", "spreadsheets", *TOP},
    "views": {"workbook", "models", "graph", "tables", "spreadsheets", *TOP},
    "teaching": {"views", "workbook", "models", "graph", "tables", "spreadsheets", *TOP},
}
MAY_IMPORT["api"] = MAY_IMPORT["views"]
MAY_IMPORT["cli"] = {*MAY_IMPORT, *TOP}
"""The folders, and what each may import besides itself."""
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name != "__init__.py" and "templates" not in path.parts[-2:-1]
}


@cache
def nodes(module: str) -> list[ast.AST]:
    """The syntax of a module, the module itself first."""
    return [*ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8")))]


def folder_of(module: str) -> str:
    """`graph` of `attn_xl.graph.graph`; the module itself where it stands at the top."""
    return module.split(".")[1]


@cache
def imports(module: str) -> set[str]:
    """The modules of the package that one of them imports, if only for types."""
    folder = module.rpartition(".")[0]
    found: set[str] = set()
    for node in nodes(module):
        if isinstance(node, ast.ImportFrom):
            base = ".".join(part for part in (folder if node.level else "", node.module or "") if part)
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(MODULES)


def test_every_folder_is_listed() -> None:
    assert {folder_of(module) for module in MODULES} == {*MAY_IMPORT, *TOP, "__main__"}


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_a_folder_imports_only_what_is_below_it(name: str) -> None:
    allowed = {name, *MAY_IMPORT[name]}
    upward = {
        (module, imported)
        for module in MODULES
        if folder_of(module) == name
        for imported in imports(module)
        if folder_of(imported) not in allowed
    }
    assert not upward


def test_the_modules_at_the_top_import_only_each_other() -> None:
    for module in TOP:
        assert {folder_of(imported) for imported in imports(f"attn_xl.{module}")} <= TOP


def test_no_import_goes_in_a_circle() -> None:
    left = {module: imports(module) for module in MODULES}
    while free := {module for module, needed in left.items() if not needed & set(left)}:
        for module in free:
            del left[module]
    assert not left


def test_a_class_name_means_one_thing() -> None:
    names = [
        node.name
        for module in MODULES
        for node in nodes(module)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    assert {name for name in names if names.count(name) > 1} == set()


PRINTS = re.compile(r"(print|Console|sys\.std(out|err)\.write\w*|(file|out)\.write)\(")


def test_text_leaves_by_one_way() -> None:
    """`text` and `console` clean what they print, and nothing else prints."""
    files = {"spreadsheets", "tables", "workbook"}  # these write to files and buffers
    others = {
        (module, ast.unparse(node))
        for module in MODULES
        if module not in ("attn_xl.text", "attn_xl.console") and folder_of(module) not in files
        for node in nodes(module)
        if isinstance(node, ast.Call) and PRINTS.match(ast.unparse(node))
    }
    assert not others


@pytest.mark.parametrize("name", ["workbook", "views", "teaching", "api", "cli"])
def test_no_renderer_names_a_step(name: str) -> None:
    """What a step is comes from its record: no module compares names."""
    records = [import_module(module) for module in MODULES if folder_of(module) == "models"]
    steps = (step for module in records for step in vars(module).values() if isinstance(step, Step))
    symbols = {step.symbol for step in steps} - {"Words"}  # also a sheet of `vectors`
    symbols = {symbol for symbol in symbols if len(symbol) > 1 and not symbol.startswith("W_")}
    named = {
        (module, node.value)
        for module in MODULES
        if folder_of(module) == name
        for node in nodes(module)
        if isinstance(node, ast.Constant) and node.value in symbols
    }
    assert not named


def test_equation_1_reads_as_in_the_paper() -> None:
    """At most twenty lines of code, without the docstring."""
    tree = ast.parse(inspect.getsource(attn_xl.scaled_dot_product_attention))
    _, *body = tree.body[0].body  # type: ignore[attr-defined]
    assert body[-1].end_lineno - body[0].lineno < 20


def test_folders_are_empty_but_for_their_modules() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        assert path.parent == PACKAGE or not path.read_text(encoding="utf-8")


def test_tests_are_in_the_same_folders() -> None:
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders <= set(MAY_IMPORT)


def test_a_file_says_what_it_holds() -> None:
    assert [module for module in MODULES if not ast.get_docstring(nodes(module)[0])] == []  # type: ignore[arg-type]


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
        if isinstance(node, ast.ImportFrom) and node.module not in ("__future__", "importlib", "typing")
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


def test_what_is_tested_is_this_tree() -> None:
    assert attn_xl.__file__ == str(ROOT / "attn_xl" / "__init__.py")
