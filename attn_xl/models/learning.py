"""Learning: forward, loss, gradients and new weights, step after step, as one graph.

Every step is a copy of the model in a scope of its own, `Step1.`, whose weights are computed from the
weights and gradients of the step before.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np

from attn_xl.errors import CallError, InputError, NotFinite, nearest
from attn_xl.graph.copies import Replay, copied
from attn_xl.graph.functions import (
    Power,
    column_mean,
    column_sum,
    copy,
    gather,
    one_in_cell,
    option,
    rounded,
    row_dot,
    sqrt,
)
from attn_xl.graph.gradients import gradients
from attn_xl.graph.graph import Graph, walk
from attn_xl.graph.matrix import Matrix, Numbers, created, foresees
from attn_xl.graph.operations.elementwise import constant
from attn_xl.graph.step import Scope, Step
from attn_xl.models import recipes, steps
from attn_xl.models.steps import RIGHT
from attn_xl.settings import CELLS, COMPARE, CURVES, READ_BY, Optimizer, Settings
from attn_xl.tables.survey import Table

from .computation import Computation
from .losses import mean_loss
from .parts import COMPARISON
from .steps import SHARES, SOFTMAX

Moments = tuple[Matrix, ...]
"""What an optimizer remembers of earlier gradients of some weights: one matrix, two, or none."""
NOTES = {
    "rate": "the learning rate: how far each step goes. Try 10 times as much.",
    "momentum": "the share of the earlier gradients that is kept.",
    "beta1": "the share of the earlier gradients that is kept.",
    "beta2": "the share of the earlier squared gradients that is kept.",
    "adam_epsilon": "it keeps Adam from dividing by 0.",
    "decay": "the share of the weights, times the rate, that is taken away at each step.",
}
MOMENTS = {
    Optimizer.sgd: (),
    Optimizer.momentum: (steps.FIRST_MOMENT,),
    Optimizer.adam: (steps.FIRST_MOMENT, steps.SECOND_MOMENT),
    Optimizer.adamw: (steps.FIRST_MOMENT, steps.SECOND_MOMENT),
}


Progress = Callable[[int, int], None]
_progress: ContextVar[Progress | None] = ContextVar("called after each step", default=None)


@contextmanager
def followed_by(progress: Progress | None) -> Iterator[None]:
    """In the block, `progress` is called after each step with its number and their total."""
    before = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(before)


@dataclass(frozen=True, eq=False, repr=False)
class Update:
    """The rule of an optimizer, with the cells that control it.

    Attributes:
        optimizer: which rule.
        cells: rate, beta1, ... as scalars, by setting.
    """

    optimizer: Optimizer
    cells: Mapping[str, Matrix]

    def moments(self, d: Matrix, before: Moments) -> Moments:
        """The moments after the gradient `d`; `before` is empty in the first step."""
        if self.optimizer is Optimizer.sgd:
            return ()
        if self.optimizer is Optimizer.momentum:
            return (self.cells["momentum"] * before[0] + d if before else d,)
        made = []
        for number, (name, part) in enumerate((("beta1", d), ("beta2", d * d))):
            beta = self.cells[name]
            fresh = (1 - beta) * part
            made.append(beta * before[number] + fresh if before else fresh)
        return tuple(made)

    def weights(self, w: Matrix, d: Matrix, moments: Moments, powers: tuple[Matrix, Matrix]) -> Matrix:
        """The new weights.

        Args:
            w, d: the weights and their gradient, (n, m) each.
            moments: the result of `moments`.
            powers: beta1 and beta2 to the power of the step's number.

        Source: momentum as in Sutskever et al. (2013), in PyTorch's form; Kingma, Ba, "Adam" (2015),
        algorithm 1; Loshchilov, Hutter, "Decoupled Weight Decay Regularization" (2019), algorithm 2.
        """
        rate = self.cells["rate"]
        if self.optimizer in (Optimizer.sgd, Optimizer.momentum):
            return w - rate * (moments[0] if moments else d)
        m, v = moments
        if self.optimizer is Optimizer.adamw:
            w = w * (1 - rate * self.cells["decay"])
        root = sqrt(v / (1 - powers[1]))
        return w - rate * (m / (1 - powers[0])) / (root + self.cells["adam_epsilon"])

    def powers(self, number: int) -> tuple[Matrix, Matrix]:
        """beta1 and beta2 to the power of a step's number; (1, 1) where they are not needed."""
        if "beta1" not in self.cells:
            return constant(1), constant(1)
        return Power(number)(self.cells["beta1"]), Power(number)(self.cells["beta2"])


def learned(
    title: str,
    outputs: Mapping[str, Sequence[Matrix]],
    settings: Settings,
    sheet: str,
    where: str,
    remarks: tuple[str, ...] = (),
) -> Computation:
    """The computation of all steps of learning, as one graph.

    Args:
        outputs: the results of the model for each sentence, the last of which is its loss.
        sheet: the sheet with the cells that control learning.
        where: the file, for errors.

    Raises:
        InputError: if the model has no weights, or the loss becomes infinite.
        CallError: if `train` names weights that the model does not have.
    """
    losses = {name: output[-1] for name, output in outputs.items()}
    loss = next(iter(losses.values())) if len(losses) == 1 else mean_loss(losses)
    weights = _trained(loss, settings, where)
    cells = {
        name: option(getattr(settings, name), CELLS[name], NOTES[name], sheet=sheet)
        for name in NOTES
        if settings.optimizer in READ_BY.get(name, tuple(Optimizer))
    }
    more = [matrix for output in outputs.values() for matrix in output[:-1]]
    curves = [loss, *_certainty(loss)]
    run = _Learning(curves, weights, more, Update(settings.optimizer, cells), where)
    number = min(settings.steps, 2) if foresees() else settings.steps  # all have the same shapes
    results = run.of(number, settings.live)
    results += run.compared()
    if settings.controls:
        results += run.checked(sheet)
    name = next(iter(outputs)) if len(outputs) == 1 else steps.LEARNING
    curve = next(matrix.values[:, 0] for matrix in results if matrix.step is steps.CURVE)
    if curve[-1] > curve[0] and not foresees():
        grows = f"The loss grows from {curve[0]:.4g} to {curve[-1]:.4g}."
        remarks = (*remarks, f"{grows} {run.smaller_rate()}")
    once = f"Learning, one step: {title}"
    often = f"Learning, {settings.steps} steps: {title}"
    return Computation(
        once if settings.steps == 1 else often,
        {name: Graph(*results)},
        {},
        remarks=remarks,
        settings=settings,
    )


COLUMNS = {steps.CURVE.symbol: "loss", steps.CERTAINTY.symbol: "certainty"}
"""The headings of the curves."""
MOST_COMPARED = 12
"""Attention matrices that are shown before and after learning, at most."""
TRIED, STEPS_TRIED = (0, 1, 2, 3, 5, 8, 13, 21), 20
"""How often a rate to try is divided by 10 before one is suggested, and the steps with each."""


def losses(computation: Computation) -> Numbers:
    """The losses before learning and after each step, (steps + 1,).

    Raises:
        CallError: if the computation does not learn.
    """
    if computation.settings is None or not computation.settings.steps:
        raise CallError(
            "--steps is 0; learning takes at least 1 step. For the loss without learning, convert the "
            "file with --loss."
        )
    (graph,) = computation.values()
    return graph["Loss"].values[:, 0]


def trained(computation: Computation) -> dict[str, Table]:
    """The weights after the last step of learning, by name."""
    assert computation.settings is not None
    prefix = f"{steps.LEARNED.name}."
    weights = _weights_in(computation)
    return {
        name.removeprefix(prefix): _table(name.removeprefix(prefix), node)
        for name, node in weights.items()
        if name.startswith(prefix)
    }


def not_learned(computation: Computation) -> dict[str, Table]:
    """The weights that are not learned, by name: those that `--train` leaves out."""
    weights = _weights_in(computation)
    return {name: _table(name, node) for name, node in weights.items() if not _in_step(node)}


def _weights_in(computation: Computation) -> dict[str, Matrix]:
    (graph,) = computation.values()
    return {name: node for name, node in graph.items() if node.role == "weight"}


def _in_step(node: Matrix) -> bool:
    return bool(node.part.scopes) and node.part.scopes[0].symbol in (
        steps.STEP.symbol, steps.LEARNED.symbol, steps.PLUS.symbol, steps.MINUS.symbol
    )  # fmt: skip


def _table(name: str, node: Matrix) -> Table:
    """A table of weights; a single row has no label, since its sheet has its name."""
    labelled = (len(node.rows) > 1, True)
    return Table(name, node.values, node.rows, node.columns, labelled, "learned", name, 1, 1)


def _trained(loss: Matrix, settings: Settings, where: str) -> list[Matrix]:
    """The weights to learn."""
    found = {
        node.name: node for node in walk([loss]) if node.operation is None and node.role == "weight"
    }
    if not found:
        raise InputError(
            f"{where}: there is nothing to learn, because the model has no weights. Choose a model "
            "with weights, such as --model classify."
        )
    if settings.train is None:
        return list(found.values())
    wanted = settings.train.replace(",", " ").split()
    if not wanted:
        raise CallError(f"--train: name the weights to learn. There are: {', '.join(found)}.")
    folded = {name.casefold(): matrix for name, matrix in found.items()}
    for name in wanted:
        if name.casefold() not in folded:
            raise CallError(f"--train: there are no weights {name!r}. {nearest(name, found)}")
    return [folded[name] for name in dict.fromkeys(map(str.casefold, wanted))]


class _Learning:
    """The steps of learning of one model.

    Args:
        curves: the loss, which is to become smaller, and other numbers to follow.
        weights: the weights that change.
        more: further results to compute in every step.
        suggests: whether an error about infinite numbers names a rate that was tried.
    """

    def __init__(
        self,
        curves: Sequence[Matrix],
        weights: Sequence[Matrix],
        more: Sequence[Matrix],
        update: Update,
        where: str,
        *,
        suggests: bool = True,
    ) -> None:
        self._curves, self._weights, self._more = curves, weights, more
        self._update, self._where, self._suggests = update, where, suggests
        self._count = STEPS_TRIED
        self._gradients = gradients(curves[0], weights)
        forward = set(walk(curves))
        backward = [node for node in walk(self._gradients) if node not in forward]
        self._own = [node for node in backward if node.operation is not None]

    def of(self, count: int, live: int) -> list[Matrix]:
        """The results of all steps and the curve of the loss: the first and the last steps as live
        copies, the others as numbers."""
        self._count = count
        first = count if count <= live else -(-live // 2)
        last = count + 1 if count <= live else count + 1 - live // 2
        results: list[Matrix] = []
        curves: list[list[Matrix | float]] = [[] for _ in self._curves]
        self._first: dict[Matrix, Matrix] = {}
        weights = [self._named(w, 1, w) for w in self._weights]
        moments: list[Moments] = [() for _ in weights]
        number = 1
        while number <= count:
            if first < number < last:
                results += [*weights, *(moment for some in moments for moment in some)]
                weights, moments, kept = self._plainly(weights, moments, number, last, count)
                for curve, numbers in zip(curves, kept):
                    curve += numbers
                number = last
                continue
            copies, weights, moments = self._step(weights, moments, number)
            self._first = self._first or copies
            results += [copies[matrix] for matrix in (*self._more, *self._gradients)]
            for curve, point in zip(curves, self._curves):
                curve.append(copies[point])
            _report(number, count)
            number += 1
        copies = self._copy(weights, number, [*self._curves, *self._more])
        self._last = copies
        results += [copies[matrix] for matrix in self._more]
        for curve, point, step in zip(curves, self._curves, (steps.CURVE, steps.CERTAINTY)):
            results.append(_curve([*curve, copies[point]], step))
        return results

    def checked(self, sheet: str) -> list[Matrix]:
        """The gradient of a chosen weight in the first step, and its central difference: the loss with
        the weight nudged up and down, computed anew. It is rounded, since nearly equal losses are
        subtracted. Source: Press et al., "Numerical Recipes", 5.7."""
        known = [f"{i} is {w.name}" for i, w in enumerate(self._weights, 1)]
        which = f"the matrix of the weight to check: {', '.join(known)}."
        row = "the row of the weight to check, from 1."
        column = "the column of the weight to check, from 1."
        place = [
            option(1, f"Checked{what}", note, sheet=sheet)
            for what, note in (("Matrix", which), ("Row", row), ("Column", column))
        ]
        how_far = "how far the checked weight is nudged up and down."
        nudge = option(1e-4, "Nudge", how_far, sheet=sheet)
        marks = []
        for number, w in enumerate(self._weights, 1):
            mark = one_in_cell(w, number, *place).as_step(steps.PLACE, w.part.around(steps.PLUS))
            marks.append(replace(mark, name=f"{steps.PLUS.name}.{steps.PLACE.symbol}.{w.name}"))
        losses = []
        for scope, sign in ((steps.PLUS, 1), (steps.MINUS, -1)):
            nudged: dict[Matrix, Matrix] = {}
            for w, mark in zip(self._weights, marks):
                now, by = self._first[w], nudge * mark
                step = steps.of_weights(steps.NUDGED, w.base_name, 1)
                made = (now + by if sign == 1 else now - by).as_step(step, w.part.around(scope))
                nudged[w] = replace(made, name=f"{scope.name}.{w.name}")
            losses.append(copied(self._curves[:1], nudged, scope)[self._curves[0]])
        parts = [
            column_sum(row_dot(mark, self._first[d]).described(f"{steps.PLACE.symbol} · {d.name}"))
            for mark, d in zip(marks, self._gradients)
        ]
        gradient = sum(parts[1:], parts[0]).described("the gradient in step 1 of the chosen weight")
        difference = rounded((losses[0] - losses[1]) / (2 * nudge))
        results = []
        for step, matrix in (
            (steps.CHECKED_GRADIENT, gradient), (steps.CENTRAL_DIFFERENCE, difference)
        ):  # fmt: skip
            labelled = replace(matrix, rows=(step.symbol,), columns=("value",), scalar=False)
            results.append(labelled.as_step(step, sheet=steps.CHECK_SHEET))
        gap = replace(rounded(results[0] - results[1]), rows=(steps.GAP.symbol,))
        return [*results, gap.as_step(steps.GAP, sheet=steps.CHECK_SHEET)]

    def compared(self) -> list[Matrix]:
        """Attention before the first step and after the last, and the difference."""
        results = []
        attention = [m for m in self._first if m.is_step(SOFTMAX, SHARES)][:MOST_COMPARED]
        for matrix in attention:
            ends = [self._first[matrix], self._last[matrix]]
            part = COMPARISON.within(Scope(matrix.name, matrix.name))
            before, after = (
                copy(end).as_step(step, part, note=" ".join([matrix.name, step.note]), sheet=COMPARE)
                for end, step in zip(ends, (steps.BEFORE, steps.AFTER))
            )
            moved = (after - before).as_step(steps.MOVED, part, sheet=COMPARE)
            results += [before, after, moved]
        return results

    def _step(
        self, weights: Sequence[Matrix], moments: Sequence[Moments], number: int
    ) -> tuple[dict[Matrix, Matrix], list[Matrix], list[Moments]]:
        """One live step: its copies of all matrices, and the weights and moments after it."""
        copies = self._copy(weights, number, [*self._curves, *self._gradients, *self._more])
        powers = self._update.powers(number)
        names = MOMENTS[self._update.optimizer]
        with self._finite(number):
            kept = [
                tuple(
                    self._as_step(moment, step, original, number)
                    for moment, step in zip(self._update.moments(copies[d], before), names)
                )
                for original, d, before in zip(self._weights, self._gradients, moments)
            ]
            new = [
                self._as_step(
                    self._update.weights(w, copies[d], after, powers), steps.UPDATED, original, number,
                    after=1,
                )
                for original, w, d, after in zip(self._weights, weights, self._gradients, kept)
            ]  # fmt: skip
        return copies, new, kept

    def _copy(
        self, weights: Sequence[Matrix], number: int, results: Sequence[Matrix]
    ) -> dict[Matrix, Matrix]:
        with self._finite(number) if number > 1 else nullcontext():  # no rate helps before step 1
            return copied(results, dict(zip(self._weights, weights)), self._scope(number), self._own)

    def _plainly(
        self,
        weights: Sequence[Matrix],
        moments: Sequence[Moments],
        number: int,
        last: int,
        count: int | None = None,
    ) -> tuple[list[Matrix], list[Moments], list[list[float]]]:
        """The steps before `last` as numbers: the weights and moments after them, and the points of
        each curve. They are reported as steps of `count`, if it is given."""
        names = MOMENTS[self._update.optimizer]
        before = [tuple(_given(np.zeros(w.shape), w) for _ in names) for w in weights]
        powers = option(0.5, "Beta1Power", ""), option(0.5, "Beta2Power", "")
        after = [self._update.moments(d, b) for d, b in zip(self._gradients, before)]
        new = [
            self._update.weights(w, d, m, powers)
            for w, d, m in zip(self._weights, self._gradients, after)
        ]
        replay = Replay(
            [*self._curves, *new, *(moment for some in after for moment in some)],
            [*self._weights, *(moment for some in before for moment in some), *powers],
        )
        known = moments if any(moments) else before
        state = [w.values for w in (*weights, *(moment for some in known for moment in some))]
        cells = self._update.cells
        betas = [
            cells[name].values if name in cells else np.ones((1, 1)) for name in ("beta1", "beta2")
        ]
        points: list[list[float]] = []
        for step in range(number, last):
            found = replay([*state, *(beta**step for beta in betas)])
            state = found[len(self._curves) :]
            points.append([float(point[0, 0]) for point in found[: len(self._curves)]])
            if not np.isfinite(points[-1]).all():
                raise self._infinite(step)
            if count is not None:
                _report(step, count)
        values = iter(state)
        with self._finite(last):
            now = [self._named(_given(next(values), w), last, w) for w in self._weights]
            kept = [
                tuple(self._as_step(_given(next(values), w), step, w, last - 1) for step in names)
                for w in self._weights
            ]
        return now, kept, [list(curve) for curve in zip(*points)]

    def _named(self, weights: Matrix, number: int, original: Matrix) -> Matrix:
        """The given weights before a step, under their name in it."""
        part = original.part.around(self._scope(number))
        step = original.step if weights is original else _kept(original)
        name = f"{self._scope(number).name}.{original.name}"
        return replace(
            weights, name=name, part=part, step=step, role="weight", note=original.note, order=created()
        )

    def _as_step(
        self, matrix: Matrix, step: Step, original: Matrix, number: int, *, after: int = 0
    ) -> Matrix:
        """The new weights, or a moment of them, computed in a step."""
        scope = self._scope(number + after)
        made = matrix.as_step(
            steps.of_weights(step, original.base_name, number), original.part.around(scope)
        )
        return replace(made, name=f"{scope.name}.{original.name}{step.symbol}")

    def _scope(self, number: int) -> Scope:
        """The scope of a step; what follows the last one is called `Learned`."""
        if number > self._count:
            return steps.LEARNED
        return steps.STEP._replace(layer=number, again=number > 1)

    @contextmanager
    def _finite(self, number: int) -> Iterator[None]:
        """A context in which infinite numbers are an error that names the step."""
        try:
            yield
        except NotFinite:
            raise self._infinite(number) from None

    def _infinite(self, number: int) -> InputError:
        return InputError(
            f"{self._where}: the numbers of learning become too large in step {number}."
            + (f" {self.smaller_rate()}" if self._suggests else "")
        )

    def smaller_rate(self) -> str:
        """A sentence that suggests a rate with which the loss falls; it was tried."""
        rate = float(self._update.cells["rate"].values[0, 0])
        for number in TRIED:
            tried = min(rate / 10, 1.0) / 10**number
            cells = {**self._update.cells, "rate": option(tried, CELLS["rate"], "")}
            update = replace(self._update, cells=cells)
            other = _Learning(self._curves, self._weights, (), update, self._where, suggests=False)
            with suppress(InputError), np.errstate(all="ignore"):
                start: list[Moments] = [() for _ in self._weights]
                losses = other._plainly(self._weights, start, 1, STEPS_TRIED + 1)[2][0]
                if losses[-1] <= losses[0]:
                    return f"Try a smaller rate: with --rate {tried:g} the loss falls."
        return f"Try a rate much smaller than {rate:g}."


def _report(number: int, count: int) -> None:
    """Tell that a step is done."""
    progress = _progress.get()
    if progress is not None and not foresees():
        progress(number, count)


def _given(values: Numbers, like: Matrix) -> Matrix:
    """Given numbers with the labels of a matrix."""
    return Matrix(values, like.rows, like.columns, name="Given")


def _kept(original: Matrix) -> Step:
    """The step of weights that learning has computed without formulas."""
    assert original.step is not None
    return replace(original.step, source="kept")


def _curve(points: Sequence[Matrix | float], step: Step) -> Matrix:
    """The column of a number in all steps, (steps + 1, 1)."""
    labels = list(map(str, range(len(points))))
    numbers = {label: point for label, point in zip(labels, points) if not isinstance(point, Matrix)}
    column = (COLUMNS[step.symbol],)
    places: Iterator[tuple[Matrix, int]] = iter(())
    if numbers:
        kept = Matrix(np.array([[number] for number in numbers.values()]), tuple(numbers), column)
        symbol = f"{steps.KEPT.symbol}{step.symbol}"
        kept = kept.as_step(replace(steps.KEPT, symbol=symbol), sheet=steps.KEPT.symbol)
        places = zip(itertools.repeat(kept), itertools.count())
    picks = [(point, 0) if isinstance(point, Matrix) else next(places) for point in points]
    curve = replace(gather(picks, labels), columns=column)
    return curve.described(f"the {step.symbol} of every step").as_step(step, sheet=CURVES)


def _certainty(loss: Matrix) -> list[Matrix]:
    """The mean probability of the right answers, (1, 1), if the loss is of probabilities."""
    rights = [node for node in walk([loss]) if node.is_step(RIGHT)]
    mean = [replace(column_mean(*rights), columns=(COLUMNS[steps.CERTAINTY.symbol],))] if rights else []
    return [one.as_step(steps.CERTAINTY.by(recipes.MEAN_OF_ALL)) for one in mean]
