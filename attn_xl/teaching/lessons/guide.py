"""The texts of a lesson: what a step is for, what to predict, how to compute its cells.

All of them come from the `Step` that a matrix carries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from attn_xl.graph.graph import referred_to
from attn_xl.graph.matrix import Cells, Matrix, cells_of, operation_of
from attn_xl.graph.operations.selection import Moved
from attn_xl.graph.step import ARITHMETIC, Step
from attn_xl.graph.terms import Operand
from attn_xl.spreadsheets.addresses import literal
from attn_xl.text import capitalized, clean, shortened


def general_form(node: Matrix, row: int, column: int, names: Mapping[Matrix, str]) -> str:
    """The formula of a cell of a computed matrix, with `cell of Q`, `row of Q` and `column of Q` for
    its references.

    Args:
        row, column: the cell, counted from 0.
        names: the defined names of the matrices that have one.
    """
    return _Operand(node, row, column, names_in(node, names)).own(column)


def names_in(node: Matrix, names: Mapping[Matrix, str]) -> Mapping[Matrix, str]:
    """The names of the operands of a step: a helper beside it goes by its own name if no other does."""
    read = dict.fromkeys(referred_to(node))
    own = Counter(operand.name for operand in read)
    beside = (operand for operand in read if operand.helper and not operand.scalar)
    return {**names, **{operand: operand.name for operand in beside if own[operand.name] == 1}}


def name_of_operand(node: Matrix, names: Mapping[Matrix, str]) -> str:
    """A matrix as a general form names it; some columns of a matrix are called that."""
    cells = cells_of(node)
    if cells and not node.name and not cells.turned:
        return node.words
    base = cells.node if cells else node
    return names.get(base, base.name)


class _Operand(Operand):
    """A matrix in the formula of a cell; `moved` if what reads it moves all rows alike."""

    def __init__(
        self, node: Matrix, row: int, column: int, names: Mapping[Matrix, str], *, moved: bool = False
    ) -> None:
        self._node, self._row, self._column, self._names = node, row, column, names
        self._moved = moved
        self.shape = node.shape

    @cached_property
    def _cells(self) -> Cells | None:
        return cells_of(self._node)

    @property
    def is_transposed(self) -> bool:
        return self._cells is not None and self._cells.turned

    @property
    def _name(self) -> str:
        return name_of_operand(self._node, self._names)

    def _beside(self, row: int | None) -> str:
        step = (0 if row is None else row - self._row) if self._moved else 0
        return {-1: " in the row above", 1: " in the row below"}.get(step, "")

    def _operand(self, parent: Matrix) -> _Operand:
        moved = isinstance(self._node.operation, Moved)
        return _Operand(parent, self._row, self._column, self._names, moved=moved)

    def own(self, column: int) -> str:
        """The formula that computes a cell of it."""
        operation = operation_of(self._node)
        operands = [self._operand(parent) for parent in self._node.parents]
        return operation.formula(
            self._row, column, *operands, *([self] if operation.reads_labels else [])
        )

    def cell(self, column: int, *, row: int | None = None, binds: int = 0) -> str:
        node = self._node
        if node.name and node.scalar:
            return self.whole()
        if self._cells is None:
            text = self.own(column)
            return f"({text})" if operation_of(node).binds < binds else text
        return f"cell of {self._name}{self._beside(row)}"

    def row(self, row: int | None = None, stop: int | None = None) -> str:
        if self._cells is None:
            picked = operation_of(self._node).row_of(self._row if row is None else row)
            assert picked is not None
            return self._operand(self._node.parents[picked[0]]).row(picked[1])
        return f"{'column' if self.is_transposed else 'row'} of {self._name}{self._beside(row)}"

    def column(self, column: int) -> str:
        return f"{'row' if self.is_transposed else 'column'} of {self._name}"

    def whole(self) -> str:
        return self._names.get(self._node, self._node.name)

    def part(self, start: int, stop: int) -> str:
        return f"columns of {self._name}"

    def literal(self, text: str) -> str:
        return literal(text)

    def heading(self, column: int) -> str:
        return "heading of the column"

    def heading_at(self, number: str) -> str:
        return f"INDEX(headings of {self._name},1,{number})"

    def column_number(self, column: int) -> str:
        left = self._column - column
        return f"number of the column{f' {left} to the left' if left else ''}"

    def row_number(self) -> str:
        return "number of the row"


MOST_COMPARED = 100
"""Rows, or columns, of a matrix whose formulas are compared for a hint."""
LONGEST_WORD, LONGEST_LIST, LONGEST_PROMPT = 40, 90, 200
UNKNOWN = Step("")
"""The texts for a matrix that is not a step of a model."""


def introduction(tolerance: float, *, attends: bool = True, small: bool = False) -> tuple[str, ...]:
    """The instructions on the cover of a lesson.

    Args:
        attends: whether the model has attention.
        small: whether there are steps of small numbers only.
    """
    about = (
        "Attention lets every word of a sentence look at the others and take from each what "
        "matters to it: that is how “mouse” comes to mean an animal next to “cat”."
    )
    return (
        *([about] if attends else []),
        _fill_in(),
        (
            "Before you compute, answer the question for the step: a guess that you can justify is "
            "worth more than a number."
        ),
        "Each cell is marked as you go: ✓ is right, ✗ is wrong, … waits for an earlier step.",
        "Later steps use what you entered, so fix the first ✗ first; later ones may disappear.",
        *_accuracy(tolerance, small),
        "Click on a cell for a hint. Save the workbook under its current name.",
    )


def exam_introduction(
    tolerance: float, *, attends: bool = True, small: bool = False
) -> tuple[str, ...]:
    """The instructions on the cover of an exam; the arguments are those of `introduction`."""
    about = (
        "Attention lets every word of a sentence look at the others and take from each what "
        "matters to it."
    )
    return (
        *([about] if attends else []),
        _fill_in(),
        "No marks are shown while you work.",
        (
            "Later steps are marked against the numbers you entered: after a mistake, carry on with "
            "what you have."
        ),
        *_accuracy(tolerance, small),
        "Do not rename, move or delete sheets, and do not change the numbers that are given.",
        "Save the workbook under its current name.",
    )


def _fill_in() -> str:
    return (
        "Fill in the marked cells, step by step in the order of the list below, with a number or with "
        "your own formula that refers to earlier steps."
    )


def _accuracy(tolerance: float, small: bool) -> Iterator[str]:
    yield (
        f"Keep as many decimals as you can. A number counts as right if it is within {tolerance:g} "
        "of the correct one."
    )
    if small:
        yield (
            "Steps in which all numbers are small, such as gradients, are marked more closely in "
            "proportion."
        )


@dataclass(frozen=True)
class Guide:
    """The texts on one step, for students and teachers.

    Attributes:
        what: what the step is for, in everyday words.
        do: how to compute any of its cells by hand.
        hint: help for a stuck student: the formula in general form, common mistakes.
        prompt: the formula in general form, at most 200 characters.
        question: what to predict before computing.
    """

    what: str
    do: str
    hint: str
    prompt: str
    question: str


def guide(
    node: Matrix, *, sentence: Sequence[str], pick: str, names: Mapping[Matrix, str] | None = None
) -> Guide:
    """The texts of a lesson on one matrix. None of them reveals a number of the matrix.

    Args:
        node: a matrix of a computation; a matrix that is not a step of a model gets generic texts.
        sentence: the words of the sentence.
        pick: the word to ask about; the first row of the matrix if it has no such row.
        names: the defined names of matrices where they differ from their own names.

    Returns:
        Texts without line breaks; words of the sentence are shortened to 40 characters.
    """
    step = node.step or UNKNOWN
    own = operation_of(node).recipe(*node.parents) if node.operation else ARITHMETIC
    recipe = step.recipe or own
    used = [parent.name for parent in referred_to(node)]
    word = pick if pick in node.rows or not node.rows else node.rows[0]
    made = node.words
    note = node.note or (f"this step is {made}" if made else "this step is given")
    before = "the matrix before"
    others = _alternatives([one for one in node.columns if one != word])
    given = {
        "own": node.name or "this matrix",
        "made": made or "this step",
        "note": _sentence(note),
        "rest": _rest(used[1:]),
        "word": f"“{_short(word)}”",
        "words": _alternatives(node.columns),
        "others": others or "any",
        "text": _quoted(sentence if pick in node.rows else node.rows),
        **dict(zip("abcdef", [*used, *[before] * 6])),
    }
    form = _form(node, names or {})

    def by_hand(text: str) -> str:
        return text.format(**given)

    return Guide(
        what=step.purpose.format(**given),
        do=by_hand(recipe.do),
        hint=f"{form}. {by_hand(recipe.hint)}" if form else by_hand(recipe.hint),
        prompt=_short(form or by_hand(recipe.do), LONGEST_PROMPT),
        question=_question(_location(node), step.question.format(**given)),
    )


def _form(node: Matrix, names: Mapping[Matrix, str]) -> str:
    """The formula of a step in general form. Where rows or columns differ, it is the longest one, with
    its place; "" if nothing is computed."""
    if node.operation is None:
        return ""

    def form(row: int, column: int) -> str:
        return clean(general_form(node, row, column, names))

    rows = [form(row, 0) for row in range(min(node.shape[0], MOST_COMPARED))]
    row = max(range(len(rows)), key=lambda index: len(rows[index]))
    columns = [form(row, column) for column in range(min(node.shape[1], MOST_COMPARED))]
    column = max(range(len(columns)), key=lambda index: len(columns[index]))
    places = []
    if len(set(rows)) > 1:
        places.append(f"in the row {_quoted([node.rows[row]])}")
    if len(set(columns)) > 1:
        places.append(f"in the column {_quoted([node.columns[column]])}")
    where = f", {', '.join(places)}," if places else ""
    return f"Use{where} ={columns[column]}"


def _location(node: Matrix) -> str:
    """The layer and head of a matrix, in words; for a helper, those of its step."""
    while node.helper and not node.scalar and (used := list(referred_to(node))):
        node = used[0]
    return node.part.words


def _rest(names: Sequence[str]) -> str:
    """The matrices after the first: `A and of B`."""
    first, *more = names or ("",)
    for name in more:
        first = f"{first} and of {name}"
    return first


def _question(location: str, question: str) -> str:
    text = question
    if location:
        text = f"{location}: {question}"
    return capitalized(text)


def _short(text: str, longest: int = LONGEST_WORD) -> str:
    return shortened(clean(text), longest)


def _sentence(text: str) -> str:
    text = clean(text)
    text = capitalized(text)
    return text if text.endswith((*".!?…。！？",)) else f"{text}."


def _alternatives(words: Sequence[str]) -> str:
    """`cat, dog or mouse`; as many as fit."""
    listed: list[str] = []
    for word in map(_short, dict.fromkeys(words)):
        if len(", ".join([*listed, word])) > LONGEST_LIST and listed:
            return f"{', '.join(listed)} or another"
        listed.append(word)
    if len(listed) < 2:
        return "".join(listed)
    return f"{', '.join(listed[:-1])} or {listed[-1]}"


def _quoted(words: Sequence[str]) -> str:
    return f"“{_short(' '.join(map(_short, words)), LONGEST_LIST)}”"
