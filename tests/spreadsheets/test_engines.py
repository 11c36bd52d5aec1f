"""Every variant of attention in every formula style agrees in every engine at hand, as the page
docs/engines.md says."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT, TOLERANCE, thorough
from engine_cases import STYLES, VARIANTS, Case, workbook
from engine_matrix import ENGINES, LIMITS, largest_error, measured, stored
from judges import relative_error
from primitives import PRIMITIVES

from attn_xl.graph.node import Node
from attn_xl.graph.operation import Operation
from attn_xl.settings import Activation, Formulas, Model, Norm, Normalize, Positions, Settings

PAGE = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
ANEW = "run: python docs/make_engines.py"
Write = Callable[[str, Formulas], Case]


def stated() -> Iterator[tuple[str, Formulas, str, str]]:
    """What the page says: variant, style, engine, and the error or the letter of a reason."""
    for title, part in re.findall(r"^## (\w+)\n\n(\| \|.*?)\n\n", PAGE, re.MULTILINE | re.DOTALL):
        head, _, *rows = (
            [cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines()
        )
        for row in rows:
            for engine, cell in zip(head[1:], row[1:]):
                yield row[0], Formulas(title), engine, cell


@pytest.fixture(scope="session")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    """Writes a workbook, once."""
    folder = tmp_path_factory.mktemp("engines")
    made: dict[tuple[str, Formulas], Case] = {}

    def case(variant: str, style: Formulas) -> Case:
        if (variant, style) not in made:
            made[variant, style] = workbook(variant, style, folder)
        return made[variant, style]

    return case


@pytest.mark.parametrize(
    "name", [name if name == "IronCalc" else pytest.param(name, marks=thorough) for name in ENGINES]
)
def test_an_engine_agrees_where_the_page_says_so(
    name: str, write: Write, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    engine = ENGINES[name]
    if not engine.version():
        pytest.skip(f"{name} is not installed")
    places = [(variant, style) for variant in VARIANTS for style in STYLES]
    every = engine.every if pytestconfig.getoption("--thorough") else 10
    cases = [write(*place) for place in places[::every]]  # this goes round the three styles
    says = {(variant, style): cell for variant, style, who, cell in stated() if who == name}
    wrong = []
    for (variant, style), error in measured(name, cases, tmp_path).items():
        cell = says[variant, style]
        if len(cell) > 1 and not error <= min(TOLERANCE, 10 * float(cell)):
            wrong.append(f"{variant}, {style.value}: {error:.0e}, the page says {cell}")
        elif len(cell) == 1 and error <= TOLERANCE:
            wrong.append(f"{variant}, {style.value}: agrees now, the page says it does not; {ANEW}")
    assert not wrong, f"{name} {engine.version()}: " + "\n".join(wrong)


def test_the_page_has_every_variant_style_and_engine() -> None:
    for part in runpy.run_path(str(ROOT / "docs" / "make_engines.py"))["INTRODUCTION"].split(
        "{versions}"
    ):
        assert part in PAGE, ANEW
    said = {(variant, style, engine): cell for variant, style, engine, cell in stated()}
    assert said.keys() == {(v, s, e) for v in VARIANTS for s in STYLES for e in ENGINES}, ANEW
    without = {(e, v, cell) for (v, _, e), cell in said.items() if len(cell) == 1}
    assert {(e, v) for e, v, _ in without} == set(LIMITS), ANEW
    for engine, variant, letter in without:
        assert f"- {letter}: {engine}, {variant}: {LIMITS[engine, variant]}." in PAGE, ANEW


def kind(operation: Operation) -> tuple[str, str]:
    """What tells an operation's formula from others."""
    texts = (str(getattr(operation, name, "")) for name in ("template", "symbol", "function", "plain"))
    return type(operation).__name__, "".join(texts)


@thorough
def test_every_operation_and_every_choice_is_in_some_variant(write: Write) -> None:
    found: set[tuple[str, str]] = set()
    for variant in VARIANTS:
        waiting: list[Node] = list(write(variant, Formulas.cell).layout.blocks)
        while waiting:
            node = waiting.pop()
            if node.operation is not None:
                found.add(kind(node.operation))
            waiting += [parent for parent in node.parents if not parent.name]
    assert found >= {kind(operation) for operation in PRIMITIVES}
    chosen = [Settings(**options) for _, options in VARIANTS.values()]
    for name, choices in {"model": Model, "norm": Norm, "activation": Activation,
                          "normalize": Normalize, "positions": Positions}.items():  # fmt: skip
        assert {getattr(settings, name) for settings in chosen} == set(choices)
    assert set(STYLES) == set(Formulas) - {Formulas.none}


def test_what_an_engine_gets_holds_no_right_value(write: Write) -> None:
    """So an engine that gives back what is stored agrees nowhere."""
    for variant in ("scaled dot-product attention", "language model"):
        for style in STYLES:
            case = write(variant, style)
            found = stored(case.given)
            for sheet, cells in case.expected.items():
                for cell, value in cells.items():
                    assert relative_error(value, found[sheet][cell]) > 0.5, f"{sheet}!{cell}"


def test_a_number_that_is_off_is_noticed(write: Write) -> None:
    case = write("scaled dot-product attention", Formulas.array)
    computed = {sheet: dict(cells) for sheet, cells in case.expected.items()}
    assert largest_error(case, computed) == 0
    right = computed["Softmax"]["C6"]
    assert isinstance(right, float)
    for wrong in (right * (1 + 1e-11), "#VALUE!", None):
        computed["Softmax"]["C6"] = wrong
        assert largest_error(case, computed) > TOLERANCE
