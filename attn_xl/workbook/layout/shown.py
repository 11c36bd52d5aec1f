"""What the first sheet shows of each sentence: its input, its attention, what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from attn_xl.models import steps
from attn_xl.models.steps import AFTER, BEFORE, DISTANCE, INFLUENCE, LEARNING, MOVED
from attn_xl.text import distinct

from .layout import Layout
from .page import Block

MOST_ROWS, MOST_DIMS = 60, 8
"""Words, and dimensions, that are drawn."""
MOST_VIEWS, MOST_CHOICES = 4, 40
"""Sentences that are drawn at once, of more, two that are chosen; sentences or heads to choose from."""
BEST = 5
"""The next words that are listed."""


class Panel(NamedTuple):
    """Matrices that stand beside the words: for each sentence to choose from, one for each head.

    Attributes:
        kind: `number`; `share`, a heat map from 0; `change`, one around 0; `best`, the most probable
            words; `row`, a single row.
    """

    kind: str
    blocks: Sequence[Sequence[Block]]

    @property
    def all(self) -> list[Block]:
        return [block for own in self.blocks for block in own]

    @property
    def width(self) -> int:
        """The number of columns."""
        return BEST if self.kind == "best" else max(block.place.columns for block in self.all)


class View(NamedTuple):
    """What is drawn in one place: a sentence, or the one that is chosen, `now`, of several."""

    groups: Sequence[str]
    words: Sequence[Sequence[str]]
    panels: Sequence[Panel]
    now: int = 0


def compares(layout: Layout) -> bool:
    """Whether several models are compared."""
    return any(block.node.step == DISTANCE for block in layout.blocks.values())


def views_of(layout: Layout) -> list[View]:
    learned = [block for block in layout.blocks.values() if block.node.is_step(BEFORE, AFTER, MOVED)]
    if learned and learned[0].node.is_step(BEFORE):
        kinds = "share", "share", "change"
        triples = [learned[first : first + 3] for first in range(0, len(learned), 3)][:MOST_VIEWS]
        return [
            View([""], [own[0].node.rows], [Panel(kind, [[b]]) for kind, b in zip(kinds, own)])
            for own in triples
        ]
    learned_together = list(layout.sentences) == [LEARNING]
    found = [v for group in layout.sentences if not learned_together for v in _view(layout, group)]
    if len(found) <= MOST_VIEWS:
        return found
    kinds_of = [[panel.kind for panel in view.panels] for view in found]
    alike = [view for view, kinds in zip(found, kinds_of) if kinds == kinds_of[0]][:MOST_CHOICES]
    panels = [Panel(kind, [view.panels[number].blocks[0] for view in alike])
              for number, kind in enumerate(kinds_of[0])]  # fmt: skip
    together = View([v.groups[0] for v in alike], [v.words[0] for v in alike], panels)
    return [together._replace(now=number) for number in range(min(2, len(alike)))]


def _view(layout: Layout, group: str) -> Iterator[View]:
    """What is drawn of a sentence; nothing if it has too many words, or no numbers to draw."""
    prefix, words = group if len(layout.sentences) > 1 else "", tuple(layout.sentences[group])
    placed = layout.blocks
    nodes = [b.node for s in (layout.steps or layout.sheets) if s.group == prefix for b in s.blocks]
    own = [placed[node] for node in nodes if node in placed and not node.helper]
    by_word = [block for block in own if block.node.rows == words]
    everywhere = [*by_word, *(block for block in placed.values() if block.node.rows == words)]
    inputs = [block for block in everywhere if is_input(block)]
    compared = compares(layout)
    looks = [block for block in by_word if block.node.role == "attention"]
    looks = [b for b in looks if not b.node.is_step(steps.PROBABILITIES)]
    looks = [b for b in looks if b.node.is_step(INFLUENCE) == compared]
    looks = [block for block in looks if block.node.columns == looks[-1].node.columns]
    panels = [Panel("number", [inputs[:1]])] * bool(inputs)
    panels += [Panel("share", [looks[:MOST_CHOICES]])] * bool(looks)
    waves = [b for b in by_word if b.node.step == steps.POSITIONS and not looks]
    panels += [Panel("change", [waves[:1]])] * bool(waves)
    panels += [] if compared else _result(own, by_word)
    panels = [one for one in panels if one.kind in ("share", "best") or one.width <= MOST_DIMS]
    if panels and len(words) <= MOST_ROWS and max(panel.width for panel in panels) <= MOST_ROWS:
        yield View([group], [distinct(words)], panels)


def without_choice(view: View) -> View:
    """A view without a choice of sentences or heads."""
    now = slice(view.now, view.now + 1)
    panels = [Panel(panel.kind, [own[:1] for own in panel.blocks[now]]) for panel in view.panels]
    return View(view.groups[now], view.words[now], panels)


def is_input(block: Block) -> bool:
    return block.node.step is not None and block.node.step.source == "sentence"


def _result(own: Sequence[Block], by_word: Sequence[Block]) -> list[Panel]:
    """What becomes of the words: the next words, a class, or vectors."""
    for block in by_word:
        if block.node.is_step(steps.PROBABILITIES):
            return [Panel("best" if block.place.columns > BEST else "share", [[block]])]
    for block in own:
        if block.node.is_step(steps.CLASS_PROBABILITIES):
            return [Panel("row", [[block]])]
    values = [b for b in by_word if b.node.role == "value" and not b.node.texts and not b.node.sheet]
    outputs = [b for b in values if b.node.is_step(steps.OUTPUT) and not b.node.part.head]
    if not outputs:
        losses = {step.symbol for step in steps.of_losses()}
        outputs = [b for b in values if b.node.step is None or b.node.step.symbol not in losses]
    last = max(outputs, key=lambda block: block.node.order, default=None)
    return [] if last is None else [Panel("number", [[last]])]
