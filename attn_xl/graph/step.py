"""Steps of a model and their places in it: records that a node carries, so that readers need not parse
its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

from attn_xl.records import record

Role = Literal["input", "weight", "value", "attention"]
Source = Literal[
    "", "sentence", "memory", "attention", "weights", "target", "answers", "kept", "entered"
]


class Recipe(NamedTuple):
    """How to compute a cell by hand. The formula itself is not part of it: a lesson gives that of the
    workbook, in general form.

    In the texts `{own}` is the matrix, `{a}`, `{b}`, ... the matrices in its formula, `{made}` the
    step in symbols, `{rest}` all of these matrices but the first.

    Attributes:
        do: the mathematics in words, for any cell.
        hint: common mistakes, and how to check the result.
    """

    do: str
    hint: str


ARITHMETIC = Recipe(
    do="Compute {made}. × is the matrix product: a row of the first times a column of the second, pair "
    "by pair, added up. The other signs join numbers in the same row and column; a single row, column "
    "or number applies to all.",
    hint="Common mistakes: using cells of different rows; forgetting parentheses.",
)
"""The recipe of an operation without its own."""


@record(frozen=True)
class Step:
    """One step of a model: declared once, read by the workbook, `explain`, lessons and grading.

    In `purpose` and `question`, `{own}` is the matrix, `{a}`, `{b}` its operands, `{word}` a
    word of the sentence, `{words}` the words of its columns, `{others}` the same without `{word}`,
    `{text}` the sentence, `{note}` the note.

    Attributes:
        symbol: its name without layer and head: `Scores`.
        note: what it shows and what to look for; the line above its numbers.
        purpose: what it is for, in everyday words.
        question: what to predict before computing it.
        recipe: how a cell is computed by hand; if None, as its operation says.
        role: what it is to the reader.
        helper: whether it is shown beside the step that uses it (a row's maximum beside the softmax).
        hides: whether it has large negative numbers from a mask where a word may not look.
        is_read_off: whether its cells are read off, not computed: a mask, columns of given weights.
        source: the input table of a given step: a sentence, the sentence that others attend to, given
            attention weights, weights, a target of numbers, or the right answers as texts; `kept` if it
            was computed without formulas; `entered` for values of steps that are not written.
    """

    symbol: str
    note: str = ""
    purpose: str = "{note}"
    question: str = (
        "before you fill in {own} = {made}: where in the row of {word} do you expect the largest "
        "number, and why?"
    )
    recipe: Recipe | None = None
    role: Role = "value"
    helper: bool = False
    hides: bool = False
    is_read_off: bool = False
    source: Source = ""

    def by(self, recipe: Recipe) -> Step:
        """The same step with another recipe."""
        return replace(self, recipe=recipe)


class Scope(NamedTuple):
    """A part of a model with its own steps: a stack of layers, a layer, a sublayer."""

    symbol: str
    """the form in names: `Enc`"""
    words: str
    """the form in text: `encoder`"""
    layer: int = 0
    """the number of the layer, from 1; 0 for the whole scope"""
    unit: str = "layer"
    """what is numbered, in text; "" where the scope itself is, such as an expert"""
    again: bool = False
    """whether it has the steps of an earlier part once more, with other numbers"""

    @property
    def name(self) -> str:
        """`Enc1`."""
        return f"{self.symbol}{self.layer if self.layer > 0 else ''}"

    @property
    def spoken(self) -> str:
        """`encoder layer 1`."""
        if self.layer <= 0:
            return self.words
        return f"{self.words} {'layer ' if self.unit else ''}{self.layer}"


@record(frozen=True)
class Part:
    """The place of a step in a model.

    Attributes:
        scopes: from the outermost in: the layer, the sublayer.
        head: the number of the attention head, from 1; 0 for none.
        number: distinguishes steps with one symbol in the same scopes (`Norm_1`, `Norm_2`); 0 for none.
    """

    scopes: tuple[Scope, ...] = ()
    head: int = 0
    number: int = 0

    def name(self, symbol: str) -> str:
        """A step's full name: `Enc1.Self.Scores_2`."""
        tail = "".join(f"_{number}" for number in (self.number, self.head) if number)
        return f"{self.prefix}{symbol}{tail}"

    @property
    def prefix(self) -> str:
        """The prefix of symbols: `Enc1.Self.`."""
        return "".join(f"{scope.name}." for scope in self.scopes)

    @property
    def layer(self) -> str:
        """The name of its layer: `Enc1`; "" for none."""
        return next((scope.name for scope in self.scopes if scope.layer), "")

    @property
    def every_layer(self) -> Part:
        """The same place in every layer of its stack, for what all layers share."""
        scopes = (scope._replace(layer=0) if scope.unit else scope for scope in self.scopes)
        return replace(self, scopes=tuple(scopes), head=0)

    @property
    def head_alone(self) -> Part:
        """The head without its layer, for weights that every layer shares."""
        return replace(self, scopes=())

    @property
    def words(self) -> str:
        """The part in words: `encoder layer 1, self-attention, head 2`; "" for the whole model."""
        parts = [scope.spoken for scope in self.scopes]
        head = [f"head {self.head}"] if self.head else []
        return ", ".join([*parts, *head])

    def within(self, *scopes: Scope) -> Part:
        """A part of this part."""
        return replace(self, scopes=(*self.scopes, *scopes))

    def around(self, scope: Scope) -> Part:
        """The same place in a copy of the model, which is named by a scope."""
        return replace(self, scopes=(scope, *self.scopes))

    def in_layer(self, layer: int) -> Part:
        """The same place in one layer of its stack."""
        first, *inner = self.scopes
        return replace(self, scopes=(first._replace(layer=layer), *inner))

    def of_head(self, head: int) -> Part:
        """One attention head of this part."""
        return replace(self, head=head)

    def numbered(self, number: int) -> Part:
        """The same part, for one of several steps with the same symbol."""
        return replace(self, number=number)


WHOLE = Part()
"""The model itself: no layer, no head."""
