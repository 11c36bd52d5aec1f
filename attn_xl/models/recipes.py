"""How to compute a cell by hand, one `Recipe` for each kind of calculation: in words, with spreadsheet
functions, and with the common mistakes. Plain text, without matrices."""

from __future__ import annotations

from attn_xl.graph.step import Recipe

from .words.read import read_words

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
