"""The layer and the head that a matrix belongs to, told from its name: plain text."""

from __future__ import annotations

import re

from attn_xl.errors import CallError, nearest

_LAYER = re.compile(r"((?:Enc|Dec)\d+)\.")
_HEAD = re.compile(
    r"(?:.*\.)?(?:[Wb]_)?"
    r"(?:Q|K|V|Scores|Scaled|Masked|Softmax|Weights|DropoutMask|Dropped|Output)_(\d+)"
)


def layer_and_head(symbol: str) -> tuple[str, str]:
    """The layer and the number of the head in a matrix's name; "" for none."""
    layer, head = _LAYER.match(symbol), _HEAD.fullmatch(symbol)
    return layer[1] if layer else "", head[1] if head else ""


def base_symbol(symbol: str) -> str:
    """A matrix's name without layer and head: `Scores` for `Enc1.Scores_2`."""
    head = layer_and_head(symbol)[1]
    return symbol.rpartition(".")[2].removesuffix(f"_{head}" if head else "")


def chosen_parts(wanted: str, symbols: list[str]) -> set[str]:
    """The names that belong to the wanted layers and heads, or to none."""
    parts = {symbol: layer_and_head(symbol) for symbol in symbols}
    layers = {layer.casefold(): layer for layer, _ in parts.values() if layer}
    heads = {f"head{head}": head for _, head in parts.values() if head}
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
        symbol
        for symbol, (layer, head) in parts.items()
        if (not layer or not chosen_layers or layer in chosen_layers)
        and (not head or not chosen_heads or head in chosen_heads)
    }
