"""Selection of the layers and heads of a model."""

from __future__ import annotations

from collections.abc import Iterable

from attn_xl.errors import CallError, nearest
from attn_xl.graph.step import WHOLE, Part, Scope
from attn_xl.settings import COMPARE

COMPARISON = WHOLE.within(Scope(COMPARE, "comparison"))
"""The part whose steps stand on the sheet `Compare`; a word or a sentence is a scope within it."""


def chosen_parts(wanted: str, parts: Iterable[Part]) -> set[Part]:
    """The parts of a model in the wanted layers and heads, and those outside any layer or head.

    Args:
        wanted: layers and heads, such as `Enc1,head2`.
        parts: all parts of the model.

    Raises:
        CallError: for a layer or head that the model does not have.
    """
    parts = list(dict.fromkeys(parts))
    layers = {part.layer.casefold(): part.layer for part in parts if part.layer}
    heads = {f"head{part.head}": part.head for part in parts if part.head}
    chosen_layers, chosen_heads = set(), set()
    for word in wanted.replace(" ", "").split(","):
        key = word.casefold()
        if key in layers:
            chosen_layers.add(layers[key])
        elif key in heads:
            chosen_heads.add(heads[key])
        else:
            known = [*layers.values(), *heads]
            raise CallError(
                f"--sheets-for: there is no layer or head {word!r}. "
                + (nearest(word, known) if known else "This model has neither layers nor heads.")
            )
    return {
        part
        for part in parts
        if (not part.layer or not chosen_layers or part.layer in chosen_layers)
        and (not part.head or not chosen_heads or part.head in chosen_heads)
    }
