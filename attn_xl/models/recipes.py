"""How to compute a cell by hand, one `Recipe` for each kind of calculation: in words, with spreadsheet
functions, and with the common mistakes. Plain text, without matrices."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from attn_xl.graph.step import Recipe, Step

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WORDS = Path(__file__).with_name("words")
"""The words of the steps, as data: each table of a TOML file is a `Step` or a `Recipe`, so that an
author rewords a lesson without Python.

`like` names the step that a step differs from; `recipe` names a recipe, or holds its `do` and `hint`.
The placeholders in braces are those of `Step` and `Recipe`.
"""


def read_words(
    *names: str, recipes: Mapping[str, Recipe] | None = None, steps: Mapping[str, Step] | None = None
) -> dict[str, Any]:
    """The steps or recipes of files of this folder, by name.

    Args:
        names: the names of the files, without `.toml`; a later one may refer to those before it.
        recipes, steps: those that they may refer to besides.
    """
    found: dict[str, Any] = {}
    for name in names:
        text = (WORDS / f"{name}.toml").read_text(encoding="utf-8")
        for key, entry in tomllib.loads(text).items():
            if recipes is None:
                found[key] = Recipe(**entry)
                continue
            base = {**(steps or {}), **found}[entry.pop("like")] if "like" in entry else Step("")
            recipe = entry.get("recipe", base.recipe)
            if isinstance(recipe, dict):
                recipe = Recipe(**recipe)
            elif isinstance(recipe, str):
                recipe = recipes[recipe] if recipe else None
            found[key] = replace(base, **{**entry, "recipe": recipe})
    return found


NAMED: dict[str, Recipe] = read_words("recipes")
globals().update(NAMED)


def __getattr__(name: str) -> Recipe:
    raise AttributeError(f"recipes.toml has no [{name}]")


MASKS = {
    (True, False): NAMED["HIDE_LATER"],
    (False, True): NAMED["HIDE_PADDING"],
    (True, True): NAMED["HIDE_LATER_AND_PADDING"],
}
"""Keyed by (hides later words, hides padding)."""
ACTIVATIONS = {
    name.lower().replace("_", "-"): NAMED[name] for name in ("RELU", "GELU", "GELU_TANH", "SILU")
}
NORMS = {
    (False, False): NAMED["NORM"],
    (False, True): NAMED["NORM_STRETCHED"],
    (True, False): NAMED["NORM_OUTSIDE"],
    (True, True): NAMED["NORM_OUTSIDE_STRETCHED"],
}
"""Keyed by (epsilon is outside the root, gamma and beta are given)."""
RMS_NORMS = {
    (False, False): NAMED["RMS_NORM"],
    (False, True): NAMED["RMS_NORM_STRETCHED"],
    (True, False): NAMED["RMS_NORM_OUTSIDE"],
    (True, True): NAMED["RMS_NORM_OUTSIDE"],
}
"""Keyed by (epsilon is outside the root, gamma is given)."""
