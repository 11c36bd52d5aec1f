"""Which weights the parameters of a PyTorch module hold, told by their names. Knows no models.

`nn.Linear` keeps its matrix out x in, so every matrix that is found here is to be transposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from attn_xl.errors import InputError
from attn_xl.spreadsheets.addresses import Place

from .roles import Found

_MODULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"in_proj", ("W_Q", "W_K", "W_V")),
    (r"(q|k|v|o|out)_proj", ("W_{}",)),
    (r"(query|key|value)", ("W_{}",)),
    (r"w_?(q|k|v|o)", ("W_{}",)),
    (r"attention\.output\.dense", ("W_O",)),
    (r"attention\.output\.LayerNorm", ("gamma_1",)),
    (r"(?:linear|fc)([12])", ("W_{}",)),
    (r"intermediate\.dense", ("W_1",)),
    (r"output\.dense", ("W_2",)),
    (r"norm([123])", ("gamma_{}",)),
    (r"output\.LayerNorm", ("gamma_2",)),
    (r"norm", ("gamma",)),
)
"""The last names of a module's path, and the weights in it; the first that fits counts. They are those
of `nn.MultiheadAttention` and the layers of `nn.Transformer`, of BERT, and of most decoders."""

_PATHS = [(re.compile(rf"(?:(.*)\.)?{end}", re.IGNORECASE), roles) for end, roles in _MODULES]
_PARAMETER = re.compile(r"\s*(.+)[._](weight|bias)\s*", re.IGNORECASE)
_CROSS = {"multihead_attn", "cross_attn", "encoder_attn"}
_WORD = re.compile(r"(?<![a-z])(?:weight|bias)(?:e?s)?(?![a-z])", re.IGNORECASE)


class _Parameter(NamedTuple):
    """The weights of a parameter, and the module that they are of."""

    roles: tuple[str, ...]
    within: tuple[str, ...]

    @property
    def layer(self) -> int | None:
        """`layers.1.` is the second; None if it is of no layer."""
        return next((int(name) for name in self.within if name.isdecimal()), None)

    @property
    def of_stack(self) -> bool:
        """Whether it is the norm after all layers."""
        return self.roles[0] in ("gamma", "beta")


def weights_of_parameters(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The weights that each parameter holds, by its name: `W_Q` for `attn.q_proj.weight`; `W_Q`, `W_K`
    and `W_V`, one below the other, for `in_proj_weight`. Names that are none are left out.

    Of a single layer they go without its number; of several as `Enc1.W_Q`, or `Dec1.Cross.W_Q`.
    """
    found = {name: part for name in names if (part := _parameter(name)) is not None}
    crossing = any(_CROSS & {*part.within} for part in found.values())

    def stack(part: _Parameter) -> str:
        decodes = "decoder" in part.within or (crossing and "encoder" not in part.within)
        return "Dec" if decodes else "Enc"

    layers = {(stack(part), part.layer) for part in found.values() if not part.of_stack}
    made: dict[str, tuple[str, ...]] = {}
    for name, part in found.items():
        before = ""
        if part.of_stack:
            before = f"{stack(part)}."
        elif len(layers) > 1 or crossing:
            before = f"{stack(part)}{(part.layer or 0) + 1}."
            if crossing and stack(part) == "Dec" and part.roles[0][-1] in "QKVO":
                before += "Cross." if _CROSS & {*part.within} else "Self."
        made[name] = tuple(before + role for role in part.roles)
    return made


def _parameter(name: str) -> _Parameter | None:
    said = _PARAMETER.fullmatch(name)
    if said is None:
        return None
    for path, roles in _PATHS:
        match = path.fullmatch(said[1])
        if match is None:
            continue
        which = (match[2] if path.groups > 1 else "")[:1].upper()
        if said[2].lower() == "bias":
            roles = tuple(role.replace("W", "b").replace("gamma", "beta") for role in roles)
        part = _Parameter(
            tuple(role.format(which) for role in roles), tuple((match[1] or "").lower().split("."))
        )
        return None if part.of_stack and part.layer is not None else part
    return None


def parts_of(f: Found, name: str, weights: Sequence[str]) -> Iterator[Found]:
    """A parameter of PyTorch's as the weights it holds: the rows of a matrix, or a bias, in as many
    equal parts.

    Raises:
        InputError: if it does not divide so.
    """
    if f.use != "weights" or f.name != name or f.table is None:
        yield f
        return
    table = f.table
    matrix = weights[0].rpartition(".")[2].startswith("W")
    along = 0 if matrix or table.shape[0] > table.shape[1] == 1 else 1
    size, left = divmod(table.shape[along], len(weights))
    if left:
        raise InputError(
            f"{table.file}, sheet {table.sheet!r}: is {f.size}, which are not {name}: its "
            f"{('rows', 'columns')[along]} do not divide by {len(weights)}."
        )
    for number, weight in enumerate(weights):
        cut = [slice(0, table.shape[0]), slice(0, table.shape[1])]
        cut[along] = slice(number * size, (number + 1) * size)
        one = table.part(cut[0], cut[1])
        place = Place(f.place.sheet, one.row, one.column, *one.shape)
        yield replace(
            f,
            place=place if len(weights) > 1 else f.place,
            numbers=place.range,
            shape=one.shape,
            table=one,
            name=weight,
            turned=along == 0,
            parameter=True,
        )


def says_weights(name: str) -> bool:
    """Whether a name has the word weight or bias in it."""
    return bool(_WORD.search(name))
