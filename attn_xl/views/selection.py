"""Which matrices of a computation are meant: by step, by sheet. For every kind of text output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from attn_xl.errors import CallError, nearest
from attn_xl.graph.node import Node
from attn_xl.models.computation import Computation
from attn_xl.settings import COMPARE


@dataclass(frozen=True, eq=False, repr=False)
class Chosen:
    """A matrix that is to be shown: the sheet it is of ("" if all share it), its name, itself."""

    sheet: str
    name: str
    node: Node

    @property
    def title(self) -> str:
        """`cat.Softmax`, as the workbook has it."""
        return f"{self.sheet}.{self.name}" if self.sheet else self.name


def select(
    computation: Computation, steps: Sequence[str] | str = (), sheet: str | None = None
) -> list[Chosen]:
    """The matrices of a computation, or those of some steps and one sheet.

    Args:
        steps: names such as `Softmax`, `cat.Softmax`, `Softmax.Sum`, `Compare`; upper and lower case
            are alike.
        sheet: a sentence, or `Compare`.

    Raises:
        CallError: for a step or a sheet that there is not; it suggests the nearest.
    """
    steps = [steps] if isinstance(steps, str) else steps
    matrices = list(_all(computation))
    if sheet is not None:
        sheets = [*computation, *([COMPARE] if computation.comparison else [])]
        by_folded = {name.casefold(): name for name in sheets}
        name = sheet if sheet in sheets else by_folded.get(sheet.casefold())
        if name is None:
            raise CallError(f"there is no sheet {sheet!r} with a sentence. {nearest(sheet, sheets)}")
        if name == COMPARE and COMPARE not in computation:
            matrices = [chosen for chosen in matrices if chosen.name.startswith(f"{COMPARE}.")]
        else:
            own = set(computation[name].values())
            matrices = [chosen for chosen in matrices if chosen.node in own]
    if not steps:
        return matrices
    names = {chosen: called(chosen, computation) for chosen in matrices}
    wanted = {_known_step(step, names) for step in steps}
    return [
        chosen
        for chosen in matrices
        if names[chosen] & wanted or (COMPARE in wanted and chosen.node.sheet == COMPARE)
    ]


def called(chosen: Chosen, computation: Computation) -> set[str]:
    """All names of a matrix: `Softmax`, `cat.Softmax`; one that sentences share has that of each."""
    name = chosen.name
    return {name, chosen.title} | {
        f"{sentence}.{name}"
        for sentence, graph in computation.items()
        if name in graph and graph[name] is chosen.node
    }


def _known_step(step: str, names: Mapping[Chosen, set[str]]) -> str:
    plain = list(dict.fromkeys(chosen.name for chosen in names))
    if any(chosen.node.sheet == COMPARE for chosen in names):
        plain.append(COMPARE)
    known = set(plain).union(*names.values())
    by_folded = {name.casefold(): name for name in known}
    if step.casefold() not in by_folded:
        raise CallError(f"there is no step {step!r}. {nearest(step, plain)}")
    return step if step in known else by_folded[step.casefold()]


def _all(computation: Computation) -> Iterator[Chosen]:
    shared = computation.shared()
    seen: set[Node] = set()
    alone = len(computation) == 1
    for sentence, graph in computation.items():
        for name, node in graph.items():
            if node not in seen:
                seen.add(node)
                yield Chosen("" if alone or node in shared else sentence, name, node)
    for name, matrix in computation.comparison.items():
        yield Chosen("", name, matrix)
