"""Maps the parameter names of PyTorch modules to the weights they hold.

`nn.Linear` stores its matrix as out x in, so every matrix found here has to be transposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from attn_xl.errors import InputError
from attn_xl.spreadsheets.addresses import MAX_SHEET_NAME, Place
from attn_xl.text import pattern

from .labels import Table
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
    (r"gate_proj", ("W_G",)),
    (r"up_proj", ("W_1",)),
    (r"down_proj", ("W_2",)),
    (r"input_layernorm", ("gamma_1",)),
    (r"post_attention_layernorm", ("gamma_2",)),
    (r"(q|k)_norm", ("gamma_{}",)),
    (r"lm_head", ("W_U",)),
    (r"output\.LayerNorm", ("gamma_2",)),
    (r"norm", ("gamma",)),
    (r"convs?(?:1d)?\d*", ("W_conv",)),
)
"""Patterns for the end of a module's path, with its weights; the first match counts. They cover
`nn.MultiheadAttention`, the layers of `nn.Transformer`, BERT, Llama, and most decoders."""

_ENDINGS = tuple(
    f"{module}{kind}"
    for module in (
        "in_proj_", "out_proj.", "o_proj.", "q_proj.", "k_proj.", "v_proj.", "q_proj_", "k_proj_",
        "v_proj_", "query.", "key.", "value.", "linear1.", "linear2.", "fc1.", "fc2.", "norm1.",
        "norm2.", "norm3.", "norm.", "attention.output.dense.", "attention.output.LayerNorm.",
        "intermediate.dense.", "output.dense.", "output.LayerNorm.",
    )
    for kind in ("weight", "bias")
)  # fmt: skip
"""The same endings written out, to complete truncated names."""

MAX_NAME_LENGTH = 300
"""Characters; a longer text is not the name of a parameter."""
MOST_ENDS = 4
"""Completions of a truncated name that a message lists."""

_RECURRENT = pattern(r"(?:(?:.*)\.)?(weight|bias)_(ih|hh)_l(\d+)(_reverse)?", re.IGNORECASE)
_GATES = {1: "h", 3: "rzn", 4: "ifgo"}
"""The gates of `nn.RNN`, `nn.GRU` and `nn.LSTM` in PyTorch's order, by their number."""

_PATHS = [(pattern(rf"(?:(.*)\.)?{end}", re.IGNORECASE), roles) for end, roles in _MODULES]
_PARAMETER = pattern(r"\s*(.+)[._](weight|bias)\s*", re.IGNORECASE)
_CROSS = {"multihead_attn", "cross_attn", "encoder_attn"}
_ATTENTION = {*_CROSS, "self_attn", "attn", "attention", "self"}
_WORD = pattern(r"(?<![a-z])(?:weight|bias)(?:e?s)?(?![a-z])", re.IGNORECASE)
_TITLE = pattern(r"(?:\w+\.)+\w*(?:weight|bias)|bias_[kv]", re.IGNORECASE)
_SHAPE = pattern(
    r"[\s:=,]*(?:torch\.Size)?[(\[][\s\d,x×*()\[\]]*$|[\s:=,]+\d+\s*[x×]\s*\d+$", re.IGNORECASE
)
_MODULE = pattern(
    r"(?:\w+\.)*(?:encoder|decoder|layers?|self_attn|multihead_attn|attn|attention)(?:\.\w+)*\.?"
)
_CUT = pattern(rf"(?=.{{{MAX_SHEET_NAME - 3},}})([A-Za-z_]\w*\.(?:\w+\.)*\w*?)(?:[~_-]?\d{{1,2}})?")


class _Parameter(NamedTuple):
    """The weights in a parameter, and the path of its module."""

    roles: tuple[str, ...]
    within: tuple[str, ...]

    @property
    def layer(self) -> int | None:
        """The index of the layer: 1 for `layers.1.`; None outside of layers."""
        return next((int(name) for name in self.within if name.isdecimal()), None)

    @property
    def of_stack(self) -> bool:
        """Whether it belongs to the norm after all layers."""
        return self.roles[0] in ("gamma", "beta")

    @property
    def of_vocabulary(self) -> bool:
        """Whether it makes logits of the last vectors."""
        return self.roles[0] in ("W_U", "b_U")


def weights_of_parameters(
    names: Iterable[str], shapes: Mapping[str, tuple[int, int]] | None = None
) -> dict[str, tuple[str, ...]]:
    """The weights in each parameter, by parameter name: `W_Q` for `attn.q_proj.weight`; `W_Q`, `W_K`
    and `W_V`, stacked, for `in_proj_weight`. Unknown names are left out.

    Weights of a single layer have no layer prefix; those of several are `Enc1.W_Q`, `Dec1.Cross.W_Q`.
    The number of gates of a recurrent network is known from `shapes`, those of the parameters.
    """
    names = list(names)
    found = {name: part for name in names if (part := _parameter(name)) is not None}
    crossing = any(_CROSS & {*part.within} for part in found.values())

    speaks = any(part.of_vocabulary for part in found.values())  # a language model decodes

    def stack(part: _Parameter) -> str:
        decodes = "decoder" in part.within or ((crossing or speaks) and "encoder" not in part.within)
        return "Dec" if decodes else "Enc"

    within = [part for part in found.values() if not (part.of_stack or part.of_vocabulary)]
    layers = {(stack(part), part.layer) for part in within}
    made: dict[str, tuple[str, ...]] = {}
    for name, part in found.items():
        before = ""
        if part.of_vocabulary:
            before = ""
        elif part.of_stack:
            before = f"{stack(part)}."
        elif len(layers) > 1 or crossing:
            before = f"{stack(part)}{(part.layer or 0) + 1}."
            if crossing and stack(part) == "Dec" and part.roles[0][-1] in "QKVO":
                before += "Cross." if _CROSS & {*part.within} else "Self."
        made[name] = tuple(before + role for role in part.roles)
    return made | _recurrent_weights(names, shapes or {})


def _recurrent_weights(
    names: Sequence[str], shapes: Mapping[str, tuple[int, int]]
) -> dict[str, tuple[str, ...]]:
    """The weights in each parameter of `nn.RNN`, `nn.GRU` or `nn.LSTM`: `W_i`, `W_f`, `W_g` and `W_o`,
    stacked, for `weight_ih_l0`; `Layer2.Backward.U_i`, ... for `weight_hh_l1_reverse`."""
    found = {name: match for name in names if (match := _RECURRENT.fullmatch(name.strip()))}
    squares = [shapes[name] for name, m in found.items() if (m[1] + m[2]).lower() == "weighthh"]
    gates = next((rows // columns for rows, columns in squares if not rows % columns), 1)
    layers = {int(match[3]) for match in found.values()}
    both = any(match[4] for match in found.values())
    made = {}
    for name, match in found.items():
        before = f"Layer{int(match[3]) + 1}." if len(layers) > 1 else ""
        before += ("Backward." if match[4] else "Forward.") if both else ""
        of = {"weightih": "W_", "weighthh": "U_", "biasih": "b_", "biashh": "b_U"}
        kind = of[(match[1] + match[2]).lower()]
        made[name] = tuple(before + kind + letter for letter in _GATES.get(gates, "h"))
    return made


def _parameter(name: str) -> _Parameter | None:
    named = _PARAMETER.fullmatch(name)
    if named is None:
        return None
    for path, roles in _PATHS:
        match = path.fullmatch(named[1])
        if match is None:
            continue
        which = (match[2] if path.groups > 1 else "")[:1].upper()
        if named[2].lower() == "bias":
            roles = tuple(role.replace("W", "b").replace("gamma", "beta") for role in roles)
        part = _Parameter(
            tuple(role.format(which) for role in roles), tuple((match[1] or "").lower().split("."))
        )
        return None if part.of_stack and part.layer is not None else part
    return None


def parameter_of(text: str, sheet: str = "") -> str | None:
    """The parameter name in a title or a sheet's name: `norm1.weight` for `norm1.weight (4,)`; None if
    there is none.

    Args:
        text: a title or the name of a sheet.
        sheet: the name of the sheet with the title. If it is the path of a module, such as `layers.1`,
            and the title has no layer, it is prepended to the name.
    """
    if len(text) + len(sheet) > MAX_NAME_LENGTH:
        return None
    name = _SHAPE.sub("", text.strip().strip("`'\"")).strip().strip("`'\":= ")
    if _parameter(name) is None and not _RECURRENT.fullmatch(name):
        return None
    path = sheet.strip().rstrip(".")
    inside = not name.startswith(f"{path}.") and not any(p.isdecimal() for p in name.split("."))
    return f"{path}.{name}" if inside and _MODULE.fullmatch(path) else name


def is_title_of_parameter(text: str) -> bool:
    """Whether a title looks like a parameter name: `lm_head.weight`."""
    short = len(text) <= MAX_NAME_LENGTH
    return short and bool(_TITLE.fullmatch(_SHAPE.sub("", text.strip())))


def may_be_cut(sheet: str) -> bool:
    """Whether a sheet's name may be a truncated parameter name."""
    short = len(sheet) <= MAX_NAME_LENGTH
    return short and bool(_CUT.fullmatch(sheet.strip())) and "." in sheet and not says_weights(sheet)


def completed(sheet: str, shape: tuple[int, int]) -> list[str]:
    """The parameters whose names, cut to the 31 characters of a sheet name, may give this one.

    Args:
        sheet: the name of the sheet, possibly with digits appended to make it unique.
        shape: the shape of its numbers. One row or column is a bias or a norm; `in_proj_weight` has
            three times as many rows as columns.
    """
    found: dict[str, None] = {}
    name = sheet.strip()
    cut = _CUT.fullmatch(name)
    for text in dict.fromkeys((name, cut[1] if cut else name)):
        for at in [0, *(i + 1 for i, letter in enumerate(text) if letter == "."), len(text)]:
            path, tail = text[:at], text[at:]
            if at == len(text) and not text.endswith("."):
                path += "."
            for ending in _ENDINGS:
                if ending.startswith(tail) and _belongs(path, ending) and _has_shape(ending, shape):
                    found[path + ending] = None
        if found:
            break
    return list(found)


def whole_name(sheet: str, shape: tuple[int, int], file: str) -> str:
    """The full name of the parameter on a sheet whose name was cut.

    Raises:
        InputError: if several names are possible, or none is known.
    """
    names = completed(sheet, shape)
    if len(names) == 1:
        return names[0]
    ends = [name.removeprefix(names[0][: len(sheet)]) for name in names]
    more = ", ..." if len(ends) > MOST_ENDS else ""
    may_be = f" It may end in {', '.join(ends[:MOST_ENDS])}{more}." if names else ""
    raise InputError(
        f"{file}: the sheet name {sheet!r} looks like a parameter name that was cut to "
        f"{MAX_SHEET_NAME} characters, the most a sheet name can have.{may_be} Write the full name in "
        "a cell above the table, or rename the sheet."
    )


def _belongs(path: str, ending: str) -> bool:
    """Whether a module with this path can have the parameter; attention has no norm."""
    within = path.rstrip(".").rpartition(".")[2].lower()
    projects = bool(re.match(r"in_|out_|o_|[qkv]_|query|key|value", ending))
    if within.isdecimal() or not within:
        return not projects or not within
    if within in _ATTENTION:
        return projects
    return within in ("encoder", "decoder", "model", "transformer") and ending.startswith("norm.")


def _has_shape(ending: str, shape: tuple[int, int]) -> bool:
    if 1 in shape:
        return ending.endswith("bias") or "norm" in ending.lower()
    in_proj = ending.startswith("in_proj_")
    return (
        ending.endswith("weight")
        and "norm" not in ending.lower()
        and in_proj == (shape[0] == 3 * shape[1])
    )


def parts_of(f: Found, weights: Sequence[str]) -> Iterator[Found]:
    """Split a PyTorch parameter into its weights: equal parts of the rows of a matrix, or of a bias.

    Raises:
        InputError: if it does not divide into equal parts.
    """
    if f.use != "weights" or f.table is None:
        yield f
        return
    table = _without_counts(f.table)
    matrix = weights[0].rpartition(".")[2][0] in "WU"
    along = 0 if matrix or table.shape[0] > table.shape[1] == 1 else 1
    size, left = divmod(table.shape[along], len(weights))
    if left:
        raise InputError(
            f"{table.file}, sheet {table.sheet!r}: {f.name} is {f.size}, but its number of "
            f"{('rows', 'columns')[along]} must be divisible by {len(weights)}."
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
        )


def _without_counts(table: Table) -> Table:
    """The table without labels that only count rows or columns, as pandas writes them, or that repeat
    its title."""
    rows, columns = (
        there and not all(re.fullmatch(r"\d+", label) or parameter_of(label) for label in labels)
        for there, labels in zip(table.labelled, (table.rows, table.columns))
    )
    return replace(table, labelled=(rows, columns))


def says_weights(name: str) -> bool:
    """Whether a name contains the word weight or bias."""
    return bool(_WORD.search(name))
