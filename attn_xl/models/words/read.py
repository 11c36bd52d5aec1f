"""The words of the steps, as data: each table of a TOML file is a `Step` or a `Recipe`, so that an
author rewords a lesson without Python.

`like` names the step that a step differs from; `recipe` names a recipe, or holds its `do` and `hint`.
The placeholders in braces are those of `Step` and `Recipe`.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from attn_xl.graph.step import Recipe, Step

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_words(name: str, *known: ModuleType) -> dict[str, Any]:
    """The steps and recipes of a file of this folder, by name.

    Args:
        name: the name of the file, without `.toml`.
        known: the modules whose steps and recipes it may refer to; one may be named before a dot.
    """
    found: dict[str, Any] = {}

    def lookup(reference: str) -> Any:
        module, _, last = reference.rpartition(".")
        homes = [vars(one) for one in known if one.__name__.endswith(module)]
        return next(home[last] for home in (*([found] if not module else []), *homes) if last in home)

    text = Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8")
    for key, entry in tomllib.loads(text).items():
        if "do" in entry:
            found[key] = Recipe(**entry)
            continue
        base = lookup(entry.pop("like")) if "like" in entry else Step("")
        recipe = entry.get("recipe", base.recipe)
        if isinstance(recipe, dict):
            recipe = Recipe(**recipe)
        elif isinstance(recipe, str):
            recipe = lookup(recipe) if recipe else None
        found[key] = replace(base, **{**entry, "recipe": recipe})
    return found
