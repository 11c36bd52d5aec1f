"""Selects matrices of a computation by step and by sheet, for every kind of text output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attn_xl.errors import CallError, nearest
from attn_xl.graph.matrix import Matrix
from attn_xl.models.computation import Computation
from attn_xl.models.steps import COMPARED_ENDS
from attn_xl.settings import COMPARE, OVERVIEW
from attn_xl.tables.names import step_named

MOST_NAMES = 40
"""Step names that an error lists in full."""


@dataclass(frozen=True, eq=False, repr=False)
class SelectedMatrix:
    """A matrix to show: its sentence ("" if all share it), its name and, for a helper, the step it
    belongs to."""

    sheet: str
    name: str
    node: Matrix
    owner: Matrix | None = None

    @property
    def title(self) -> str:
        """Its name with the sentence, as in the workbook: `pets.Softmax`."""
        return f"{self.sheet}.{self.name}" if self.sheet else self.name


def select(
    computation: Computation, steps: Sequence[str] | str = (), sheet: str | None = None
) -> list[SelectedMatrix]:
    """The matrices of a computation, or those of some steps and one sheet.

    Args:
        steps: names such as `Softmax`, `pets.Softmax`, `Enc1.Softmax_2`, `Softmax.Sum`, `Compare`, as
            `Steps` finds them.
        sheet: a sentence, or `Compare`.

    Raises:
        CallError: for an unknown step or sheet; it suggests the nearest name.
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
            matrices = [matrix for matrix in matrices if matrix.name.startswith(f"{COMPARE}.")]
        else:
            own = set(computation[name].values())
            matrices = [matrix for matrix in matrices if matrix.node in own]
    if not steps:
        return matrices
    matrices += [SelectedMatrix("", name, node) for name, node in computation.plane.items()]
    names = Steps(matrices, computation)
    wanted = {one for step in steps for one in names.find(step, parts=True)}
    return [matrix for matrix in matrices if matrix in wanted]


def answer_of(computation: Computation) -> list[str]:
    """The names of what a reader wants first: the attention weights of each sentence, probabilities
    of words, and what became of the words that sentences share; none if there are no weights."""
    graphs = computation.values()
    weights = [n for graph in graphs for n, node in graph.items() if node.role == "attention"]
    shared = [n for n, node in computation.comparison.items() if node.is_step(COMPARED_ENDS[-1])]
    return [*dict.fromkeys(weights), *shared] if weights else []


def has_steps(computation: Computation, steps: Sequence[str], sheet: str | None = None) -> bool:
    """Whether a computation has all these steps."""
    try:
        return bool(select(computation, steps, sheet))
    except CallError:
        return False


class Steps:
    """Finds matrices by full or shortened names, for every command.

    A name is matched in full (`pets.Enc1.Softmax_2`), then without the layer (`Softmax_2`), then
    without the number of the head or the norm (`Enc1.Softmax`, `Softmax`), each with or without the
    sentence. The first form with a match is used, with every matrix that it matches. Case is ignored
    unless two names differ in it alone.

    Args:
        matrices: the matrices to search.
    """

    def __init__(self, matrices: Sequence[SelectedMatrix], computation: Computation) -> None:
        self._matrices = list(matrices)
        self._called = computation.tables.called if computation.tables else {}
        self._own = {one: called(one, computation) for one in self._matrices}
        self._forms: list[dict[str, list[SelectedMatrix]]] = [{}, {}, {}, {}]
        for one, own in self._own.items():
            fronts = ["", *(f"{name.removesuffix(one.name)}" for name in own if name != one.name)]
            for forms, names in zip(self._forms, (own, *_shorter(one, sorted(set(fronts))))):
                for name in sorted({name.casefold() for name in names}):
                    forms.setdefault(name, []).append(one)

    def find(self, name: str, *, parts: bool = False) -> list[SelectedMatrix]:
        """All matrices that a name refers to, in their order.

        Args:
            parts: whether the name of a part of the model, `Enc1`, `Compare`, selects all its matrices.

        Raises:
            CallError: if there is none; it suggests the nearest name.
        """
        matrices = self.known(name, parts=parts)
        if not matrices:
            raise self.unknown(name)
        return matrices

    def known(self, name: str, *, parts: bool = False) -> list[SelectedMatrix]:
        """As `find`, but an empty list if there is none."""
        same = [one for one, own in self._own.items() if name in own]
        if same:
            return same
        levels = self._forms if parts else self._forms[:3]
        found = next((forms[name.casefold()] for forms in levels if name.casefold() in forms), [])
        front, dot, own = name.rpartition(".")
        meant = ""
        if not (found or {*own} & {*"[("}):  # as authors call it: `Attention weights α`
            meant = self._called.get(own.casefold()) or (step_named(own) or ("",))[0]
        return self.known(f"{front}{dot}{meant}") if meant and meant != own else found

    def unknown(self, name: str) -> CallError:
        """The error for an unknown name."""
        of_row = [
            one
            for one in self._matrices
            if name and name in one.node.rows and one.node.sheet not in (COMPARE, OVERVIEW)
        ]
        if of_row:
            return CallError(
                f"{name!r} is the label of a row. Give its step, too: {of_row[-1].title}[{name}]."
            )
        front = name.partition(".")[0].casefold()
        here = [one for one in self._matrices if one.sheet.casefold() == front]
        known = [one.title for one in here] or list(dict.fromkeys(one.name for one in self._matrices))
        if len(known) > MOST_NAMES:
            known = list(dict.fromkeys(map(_without_part, here or self._matrices)))
        return CallError(f"there is no step {name!r}. {nearest(name, known)}")


def _shorter(one: SelectedMatrix, fronts: Sequence[str]) -> tuple[set[str], set[str], set[str]]:
    """A name's forms without the layer, those also without the head, and the parts that it is in."""
    names = [f"{front}{one.name}" for front in fronts]
    inside = {name[:i] for name in names for i, letter in enumerate(name) if letter == "."}
    if one.node.sheet in (COMPARE, OVERVIEW):
        return set(), set(), inside
    step = one.owner or one.node
    rest = one.name.removeprefix(step.part.prefix)
    scopes = ["", step.part.prefix, *(f"{scope.name}." for scope in step.part.scopes)]
    return (
        {f"{front}{before}{rest}" for front in fronts for before in scopes},
        {f"{front}{before}{_without_part(one)}" for front in fronts for before in scopes},
        inside,
    )


def _without_part(one: SelectedMatrix) -> str:
    """`Softmax.Sum` of `Dec1.Self.Softmax_2.Sum`; `W_1`, of the feed-forward network, as it is."""
    step = one.owner or one.node
    if step.step is None or step.sheet in (COMPARE, OVERVIEW):
        return one.name
    own = step.part.name(step.step.symbol)
    return (
        step.step.symbol + one.name.removeprefix(own)
        if one.name.startswith(own)
        else one.node.base_name
    )


def called(matrix: SelectedMatrix, computation: Computation) -> set[str]:
    """All names of a matrix: `Softmax`, `pets.Softmax`; a shared matrix has one for each sentence."""
    name = matrix.name
    return {name, matrix.title} | {
        f"{sentence}.{name}"
        for sentence, graph in computation.items()
        if name in graph and graph[name] is matrix.node
    }


def _all(computation: Computation) -> Iterator[SelectedMatrix]:
    shared = computation.shared()
    seen: set[Matrix] = set()
    alone = len(computation) == 1
    for sentence, graph in computation.items():
        for name, node in graph.items():
            if node not in seen:
                seen.add(node)
                sheet = "" if alone or node in shared else sentence
                yield SelectedMatrix(sheet, name, node, graph.owner(node))
    for name, matrix in computation.comparison.items():
        yield SelectedMatrix("", name, matrix)
