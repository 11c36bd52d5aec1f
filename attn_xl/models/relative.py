"""Positions that attention sees in its scores: rotated queries and keys, and penalties on distance.

Shapes: n words; d_k of a head; r, the even number of its dimensions that are turned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from attn_xl.errors import InputError
from attn_xl.graph.functions import angles, columns, concat, cos, distance, sin, turned
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import Part, Step

from . import recipes, steps


@dataclass(frozen=True, eq=False, repr=False)
class Rotary:
    """Rotary positions: each pair of dimensions is turned by position / base^(2i / r).

    Attributes:
        base: a scalar.
        neighbours: whether neighbouring dimensions form a pair, instead of i and i + r/2.
        share: the share of the dimensions that are turned.
        factors: returns the row of factors (1, r) that the angles are multiplied by, for the labels of
            its columns, or None: models trained on short texts turn more slowly in long ones.
        gain: a scalar that what is turned is multiplied by, or None.

    Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021), 3.2 and
    equation (34); pairs of halves and a share of the dimensions as in Black et al., "GPT-NeoX-20B"
    (2022), 2.1.1. Factors and gain: Peng et al., "YaRN" (2023), 3.
    """

    base: Matrix
    neighbours: bool = False
    share: float = 1.0
    factors: Callable[[Sequence[str]], Matrix | None] = lambda _: None
    gain: Matrix | None = None
    _made: dict[tuple[object, ...], tuple[Matrix, Matrix]] = field(default_factory=dict)

    def waves(self, part: Part, rows: Sequence[str], width: int, first: int) -> tuple[Matrix, Matrix]:
        """(n, r) each: cosine and sine of the angles, made once for all heads and layers."""
        place = part.every_layer.numbered(0)
        key = (place, tuple(rows), width)
        if key not in self._made:
            # A second width, of other heads, would have the same name.
            several = sum(made[0] == place and made[1] == tuple(rows) for made in self._made)
            place = place.numbered(several + 1 if several else 0)
            angle = angles(self.base, rows, width, neighbours=self.neighbours, first=first)
            factors = self.factors(angle.columns)
            step = steps.ANGLE_OF_POSITION
            if factors is not None:
                angle, step = angle * factors, step.by(recipes.TURN_BY_FACTOR)
            angle = angle.as_step(step, place)
            cosine, sine = cos(angle), sin(angle)
            if self.gain is None:
                waves = cosine.as_step(steps.COSINES, place), sine.as_step(steps.SINES, place)
            else:
                stronger = (
                    steps.COSINES.by(recipes.COSINE_AND_GAIN),
                    steps.SINES.by(recipes.SINE_AND_GAIN),
                )
                waves = (
                    (cosine * self.gain).as_step(stronger[0], place),
                    (sine * self.gain).as_step(stronger[1], place),
                )
            self._made[key] = waves
        return self._made[key]

    def rotated(self, x: Matrix, step: Step, part: Part, first: int = 0) -> Matrix:
        """(n, d_k): x · cos + turned(x) · sin, in the first r dimensions. `first` is the position of
        the first word.

        Raises:
            InputError: if r is odd or 0.
        """
        d = len(x.columns)
        r = int(d * self.share)
        if r % 2 or not r:
            share = f" The share {self.share:g} of them is {r}." if self.share < 1 else ""
            raise InputError(
                f"{x.name} has {d} dimensions.{share} Rotary positions turn pairs of dimensions: give "
                "each head an even number of them, or choose another --rotary-share."
            )
        cosine, sine = self.waves(part, x.rows, r, first)
        own = columns(x, 0, r) if r < d else x
        ahead = turned(own, neighbours=self.neighbours).as_step(steps.TURNED_ON)
        rotated = own * cosine + ahead * sine
        if r < d:
            words = f"{rotated.words}; the rest of {x.name}"
            rotated = concat([rotated, columns(x, r, d)]).described(words)
        return rotated.as_step(step, part)


def slope(head: int, heads: int) -> float:
    """The slope of a head, counted from 1: a geometric sequence from 2^(−8/heads).

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
        """(n, m): scores − slope · distance. `first` is the place of the first word of the rows."""
        place = part.every_layer
        key = (place, scores.rows, scores.columns)
        if key not in self._made:
            self._made[key] = distance(scores, first).as_step(steps.DISTANCES, place)
        lowered = scores - slope(part.head or 1, self.heads) * self._made[key]
        return lowered.as_step(steps.BIASED, part)
