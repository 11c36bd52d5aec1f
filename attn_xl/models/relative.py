"""Positions that attention sees in its scores: rotated queries and keys, and penalties on distance.

Shapes: n words; d_k of a head.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from attn_xl.errors import InputError
from attn_xl.graph.functions import Angle, Distance, QuarterTurn, cos, sin
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import Part, Step

from . import recipes, steps


@dataclass(frozen=True, eq=False, repr=False)
class Rotary:
    """Rotary positions: each pair of dimensions is turned by position / base^(2i / d_k).

    Attributes:
        base: a scalar.
        neighbours: whether neighbouring dimensions form a pair, instead of i and i + d_k/2.
        factors: returns the row of factors (1, d_k) that the angles are multiplied by, for the
            labels of its columns, or None: models trained on short texts turn more slowly in long ones.

    Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021), 3.2 and
    equation (34); pairs of halves as in Black et al., "GPT-NeoX-20B" (2022), 2.1.1. Factors: Llama
    Team, "The Llama 3 Herd of Models" (2024), and its published code.
    """

    base: Matrix
    neighbours: bool = False
    factors: Callable[[Sequence[str]], Matrix | None] = lambda _: None
    _made: dict[tuple[object, ...], tuple[Matrix, Matrix]] = field(default_factory=dict)

    def waves(self, part: Part, rows: Sequence[str], width: int, first: int) -> tuple[Matrix, Matrix]:
        """(n, d_k) each: cosine and sine of the angles, made once for all heads and layers."""
        place = part.every_layer.numbered(0)
        key = (place, tuple(rows), width)
        if key not in self._made:
            # A second width, of other heads, would have the same name.
            several = sum(made[0] == place and made[1] == tuple(rows) for made in self._made)
            place = place.numbered(several + 1 if several else 0)
            angle = Angle(len(rows), width, self.neighbours, first)(self.base, rows=rows)
            factors = self.factors(angle.columns)
            step = steps.ANGLE_OF_POSITION
            if factors is not None:
                angle, step = angle * factors, step.by(recipes.TURN_BY_FACTOR)
            angle = angle.as_step(step, place)
            self._made[key] = (
                cos(angle).as_step(steps.COSINES, place),
                sin(angle).as_step(steps.SINES, place),
            )
        return self._made[key]

    def rotated(self, x: Matrix, step: Step, part: Part, first: int = 0) -> Matrix:
        """(n, d_k): x · cos + turned(x) · sin. `first` is the position of the first word.

        Raises:
            InputError: if d_k is odd.
        """
        d = len(x.columns)
        if d % 2:
            raise InputError(
                f"{x.name} has {d} dimensions. Rotary positions turn pairs of dimensions: give each "
                "head an even number of them."
            )
        cosine, sine = self.waves(part, x.rows, d, first)
        ahead = QuarterTurn(self.neighbours)(x).as_step(steps.TURNED_ON)
        return (x * cosine + ahead * sine).as_step(step, part)


def slope(head: int, heads: int) -> float:
    """The slope of a head, counted from 1: a geometric sequence from 2^(-8/heads).

    Source: Press, Smith, Lewis, "Train Short, Test Long: Attention with Linear Biases" (2022), 3; for a
    number of heads that is no power of 2, the sequence for the power below it, followed by every second
    slope of that for twice as many heads, as in the paper's code.
    """
    power = 2 ** int(math.log2(heads))
    if head <= power:
        return float(2.0 ** (-8 * head / power))
    return slope(2 * (head - power) - 1, 2 * power)


@dataclass(frozen=True, eq=False, repr=False)
class Alibi:
    """Attention with linear biases: each score is lowered by the head's slope times the distance.

    Source: as `slope`.
    """

    heads: int
    _made: dict[tuple[object, ...], Matrix] = field(default_factory=dict)

    def begin_sentence(self) -> None:
        """Forget the distances of the sentence before, which may have the same words."""
        self._made.clear()

    def biased(self, scores: Matrix, part: Part, first: int = 0) -> Matrix:
        """(n, m): scores - slope · distance. `first` is the place of the first word of the rows."""
        place = part.every_layer
        key = (place, scores.rows, scores.columns)
        if key not in self._made:
            self._made[key] = Distance(first)(scores).as_step(steps.DISTANCES, place)
        lowered = scores - slope(part.head or 1, self.heads) * self._made[key]
        return lowered.as_step(steps.BIASED, part)
