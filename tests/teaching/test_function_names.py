"""Formulas in hints, as they are typed in the spreadsheet program of a language."""

from __future__ import annotations

import re

import pytest

from attn_xl.languages import LANGUAGES
from attn_xl.models import recipes
from attn_xl.teaching.lessons.function_names import NAMES, figure_in, formula_in, formulas_in

FORMULA = "=SUMPRODUCT(A1:B1,TRANSPOSE(C1:C2))+0.5"


@pytest.mark.parametrize(
    ("language", "typed"),
    [
        ("en", FORMULA),
        ("de", "=SUMMENPRODUKT(A1:B1;MTRANS(C1:C2))+0,5"),
        ("es", "=SUMAPRODUCTO(A1:B1;TRANSPONER(C1:C2))+0,5"),
        ("fr", "=SOMMEPROD(A1:B1;TRANSPOSE(C1:C2))+0,5"),
        ("pt", "=SOMARPRODUTO(A1:B1;TRANSPOR(C1:C2))+0,5"),
        ("zh", FORMULA),
        ("ja", FORMULA),
    ],
)
def test_a_formula_has_the_names_and_separators_of_its_language(language: str, typed: str) -> None:
    assert formula_in(language, FORMULA) == typed


def test_texts_and_addresses_in_a_formula_stay() -> None:
    assert formula_in("de", "=IF('SUM, 1.5'!A1=\"SUM(1.5, 2)\",-1E9,1.5)") == (
        "=WENN('SUM, 1.5'!A1=\"SUM(1.5, 2)\";-1E9;1,5)"
    )


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("Use =MAX(0, cell of Q). Slip: no SUM.", "Use =MAX(0; cell of Q). Slip: no SUMME."),
        (
            "x is Q: =0.5*x*(1+TANH(SQRT(2/PI())*(x+0.044715*x^3))), in steps",
            "x is Q: =0,5*x*(1+TANHYP(WURZEL(2/PI())*(x+0,044715*x^3))), in steps",
        ),
        (
            "leaving out DEGREES, since ACOS gives radians; use ROUND first.",
            "leaving out GRAD, since ARCCOS gives radians; use RUNDEN first.",
        ),
        ("(see =SUM(row of Q, 1))", "(see =SUMME(row of Q; 1))"),
        ("a, b and c: 1.5 of SUMMER", "a, b and c: 1.5 of SUMMER"),
        ("=SIN(pos/1000^(2*i/d)) and =COS of it", "=SIN(pos/1000^(2*i/d)) and =COS of it"),
    ],
)  # fmt: skip
def test_a_text_keeps_all_but_its_formulas(text: str, typed: str) -> None:
    assert formulas_in("de", text) == typed


def test_every_function_in_a_recipe_has_a_name_in_every_language() -> None:
    texts = [text for one in vars(recipes).values() if isinstance(one, recipes.Recipe) for text in one]
    used = {name for text in texts for name in re.findall(r"\b([A-Z][A-Z0-9.]+)\(", text)} - {"GELU"}
    assert len(used) > 20
    assert set(NAMES) == set(LANGUAGES) - {"en", "zh", "ja"}
    for names in NAMES.values():
        assert used <= names.keys()
    for text in texts:
        for language in LANGUAGES:
            typed = formulas_in(language, text)
            if language in NAMES:
                calls = re.findall(r"([A-ZÁÉÍÓÚÃ.]{2,}) *\(", typed)
                assert set(calls) <= {*NAMES[language].values()} | {"GELU"}, typed
            else:
                assert typed == text


def test_a_decimal_comma() -> None:
    assert [figure_in(language, "0.01") for language in ("en", "de", "ja")] == ["0.01", "0,01", "0.01"]
