"""Losses, and the right answers that they compare predictions with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

from attn_xl.errors import InputError, ShapeError, nearest
from attn_xl.graph.functions import (
    column_mean,
    gather,
    negative_log,
    one_hot,
    row_dot,
    row_squares,
    texts,
    width,
)
from attn_xl.graph.given import check_matrices, given_step
from attn_xl.graph.matrix import Matrix, inside
from attn_xl.graph.step import WHOLE, Part, Step
from attn_xl.settings import LABELS
from attn_xl.tables.survey import Table, Tables
from attn_xl.text import count, listed

from . import steps
from .softmax import softmax_parts


def cross_entropy(probabilities: Matrix, target: Matrix, rows: Sequence[int] = ()) -> Matrix:
    """The mean of -ln(probability of the right answer), (1, 1).

    Args:
        probabilities: (m, v), each row of which sums to 1.
        target: (n, v), 1 in the right column of each row, 0 elsewhere.
        rows: the rows of the probabilities that the target is for; by default the first n ≤ m.

    Raises:
        ShapeError: if the shapes do not fit.
        NotFinite: if a right answer has probability 0, and the probabilities are not a softmax.
        WrongTypeError: if an argument is not a matrix.

    Example:
        >>> import attn_xl
        >>> p = attn_xl.given([[0.5, 0.5], [0.25, 0.75]], ["a", "b"], ["yes", "no"], "Probabilities")
        >>> y = attn_xl.given([[1, 0], [0, 1]], ["a", "b"], ["yes", "no"], "Target")
        >>> attn_xl.cross_entropy(p, y)
        Loss = the mean of each column of Losses, 1 x 1
               loss
        mean  0.490

    The gradient of what a softmax made is (probabilities - target) / n, and a right answer whose
    probability is too small to be kept, 1e-300 or less, has the loss ln(sum of exponentials) + (largest
    logit - its own logit), which is the same number.

    Source: Goodfellow, Bengio, Courville, "Deep Learning" (2016), 6.2.1.1; 4.1 for small probabilities.
    """
    check_matrices(probabilities=probabilities, target=target)
    n = len(target.rows)
    probabilities, *shares = (
        x if len(x.rows) == n else gather([(x, row) for row in rows or range(n)], target.rows)
        for x in (probabilities, *softmax_parts(probabilities))
    )
    if probabilities.shape != target.shape:
        raise ShapeError(f"the probabilities are {probabilities.shape}, the target {target.shape}.")
    right = replace(row_dot(target, probabilities), columns=("probability",))  # (n, 1)
    right = right.as_step(steps.RIGHT)
    if shares:
        logits, maximum, total = shares
        losses = negative_log(right, total, maximum - row_dot(target, logits))  # (n, 1)
        # the derivative of softmax and logarithm together
        losses = losses.differentiated({logits: lambda _, d: (probabilities - target) * d})
    else:
        losses = negative_log(right)
    losses = replace(losses, columns=("loss",))
    if len(losses.rows) == 1:
        return losses.as_step(steps.SINGLE_LOSS)
    return column_mean(losses.as_step(steps.LOSSES)).as_step(steps.LOSS)


def mean_squared_error(output: Matrix, target: Matrix) -> Matrix:
    """The mean of the squares of output - target, (1, 1).

    Args:
        output, target: (n, d).

    Raises:
        ShapeError: if the shapes differ.
        WrongTypeError: if an argument is not a matrix.

    Example:
        >>> import attn_xl
        >>> output = attn_xl.given([[1, 3], [0, 2]], ["a", "b"], ["x", "y"], "Output")
        >>> target = attn_xl.given([[1, 1], [0, 0]], ["a", "b"], ["x", "y"], "Target")
        >>> attn_xl.mean_squared_error(output, target)
        Loss = the mean of each column of Losses, 1 x 1
              loss
        mean     2

    Source: Goodfellow, Bengio, Courville, "Deep Learning" (2016), 5.1.4.
    """
    check_matrices(output=output, target=target)
    if output.shape != target.shape:
        raise ShapeError(f"the output is {output.shape}, but the target {target.shape}.")
    errors = (output - target).as_step(steps.ERRORS)  # (n, d)
    losses = replace(row_squares(errors) / width(errors), columns=("loss",))  # (n, 1)
    losses = losses.as_step(steps.SQUARED_LOSSES)
    return column_mean(losses).as_step(steps.LOSS)


def mean_loss(losses: Mapping[str, Matrix], part: Part = WHOLE, sheet: str = "") -> Matrix:
    """The mean of the losses of several sentences, by name, (1, 1) each, to (1, 1)."""
    column = gather([(loss, 0) for loss in losses.values()], list(losses))
    column = replace(column, columns=("loss",)).described("the Loss of every sentence")
    column = column.as_step(steps.SENTENCE_LOSSES, part, sheet=sheet)
    return column_mean(column).as_step(steps.BATCH_LOSS, part, sheet=sheet)


TARGET = steps.TARGET.symbol
_PROBABLE = steps.PROBABILITIES, steps.CLASS_PROBABILITIES, steps.FILLED_PROBABILITIES
"""Results that are compared with right answers, each of which has a 1 in its row of the target."""


def take_target(sentences: dict[str, Table]) -> Table | None:
    """The table `Target`, removed from the sentences beside it; None if there is none."""
    name = next((name for name in sentences if name.casefold() == TARGET.casefold()), None)
    return sentences.pop(name) if name is not None and len(sentences) > 1 else None


class Answers:
    """The right answers of a file.

    Args:
        used: collects the names of the sheets used.
        inputs: the sentences that the model computes, by name.
        target: the numbers that every sentence without a target of its own should have.
    """

    def __init__(
        self,
        tables: Tables,
        used: set[str],
        inputs: Mapping[str, Matrix],
        target: Table | None = None,
    ) -> None:
        self._tables, self._used, self._inputs, self._target = tables, used, inputs, target
        self._targets: dict[str, Matrix] = {}
        self._classes: Matrix | None = None

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes on the sheet `Labels`, each once."""
        known = (self._tables.labels.get(name, ()) for name in self._inputs)
        return tuple(dict.fromkeys(label for labels in known for label in labels))

    def loss(self, name: str, result: Matrix, padding: Sequence[str] = ()) -> Matrix:
        """The loss of a sentence, (1, 1).

        Args:
            result: the probabilities of next or masked words (n, v) or of classes (1, c), or another
                output.
            padding: the words that only fill up a sentence.

        Raises:
            InputError: if a right answer is missing, unknown to the model, of another shape, or of an
                unknown sentence.
        """
        for labelled in self._tables.labels:
            if labelled not in self._tables.sentences:
                raise InputError(
                    f"{self._where}: there is no sentence {labelled!r}. "
                    f"{nearest(labelled, self._tables.sentences)}"
                )
        if result.step in _PROBABLE and self._given(name) and not self._tables.labels:
            return cross_entropy(result, self._numbers(name, result))
        if result.step == steps.FILLED_PROBABILITIES:
            return self._loss_of_masked(name, result, padding)
        if result.step == steps.PROBABILITIES:
            return self._loss_of_words(name, result, padding)
        if result.step == steps.CLASS_PROBABILITIES:
            return self._loss_of_class(name, result)
        return mean_squared_error(result, self._numbers(name, result))

    def _loss_of_words(self, name: str, probabilities: Matrix, padding: Sequence[str]) -> Matrix:
        """Cross-entropy with the next word after each word that has one."""
        words, given = probabilities.rows, self._tables.labels.get(name, ())
        if 1 < len(given) != len(words):
            raise InputError(
                f"{self._where}: the sentence {name!r} has {len(given)} labels. Give one word, which "
                f"follows its last, or one for each of its {len(words)} words."
            )
        right = given if len(given) == len(words) else (*words[1:], *given)
        right = next((right[:i] for i, word in enumerate(right) if word in ("", *padding)), right)
        if not right:
            raise InputError(
                f"{self._tables.path}: no word follows {words[0]!r} in the sentence {name!r}, so there "
                "is nothing to predict. Write the word that follows beside its name on a sheet Labels."
            )
        answers = self._words(name, probabilities, right, words, steps.TARGET_WORDS)
        return cross_entropy(probabilities, answers)

    def _loss_of_masked(self, name: str, probabilities: Matrix, padding: Sequence[str]) -> Matrix:
        """Cross-entropy with the words in place of the masks, or in every place that has a label."""
        words, given = probabilities.rows, self._tables.labels.get(name, ())
        rows = [row for row, word in enumerate(words) if word in steps.MASK_WORDS]
        if len(given) == len(words) and len(rows) != len(words):
            rows = [row for row, word in enumerate(given) if word not in ("", *padding)]
            given = tuple(given[row] for row in rows)
        if not rows or len(given) != len(rows):
            raise InputError(
                f"{self._where}: the sentence {name!r} has {count(len(given), 'label')} for "
                f"{count(len(rows), 'mask')}. Give the right word for each, or one for each of its "
                f"{count(len(words), 'word')}."
            )
        masked = [words[row] for row in rows]
        answers = self._words(name, probabilities, given, masked, steps.FILLED_TARGETS)
        return cross_entropy(probabilities, answers, rows)

    def _words(
        self,
        name: str,
        probabilities: Matrix,
        right: Sequence[str],
        words: Sequence[str],
        step: Step,
    ) -> Matrix:
        """The right words as 1 in the column of each, (n, v); its rows are the first n `words`.

        Raises:
            InputError: if a word is not in the vocabulary once.
        """
        columns = probabilities.columns
        found = [_among(columns, word) for word in right]
        if "" in found:
            word = right[found.index("")]
            times = [column.casefold() for column in columns].count(word.casefold())
            what = f"is in the vocabulary {times} times" if times else "is not in the vocabulary"
            advice = "Keep one" if times else "Add it to Vocabulary or W_U, or change the sentence"
            raise InputError(
                f"{self._tables.path}: the word {word!r}, which the model has to predict in the "
                f"sentence {name!r}, {what}. {nearest(word, columns)} {advice}."
            )
        rows = words[: len(right)]
        answers = texts(found, rows, "word", columns).as_step(step)
        return one_hot(answers, columns).as_step(steps.TARGET)

    def _loss_of_class(self, name: str, probabilities: Matrix) -> Matrix:
        """Cross-entropy with the class of the sentence."""
        if self._classes is None:
            labels = [self._class(one, probabilities.columns) for one in self._inputs]
            if len(probabilities.columns) == 1:
                raise InputError(
                    f"{self._where}: {labels[0]!r} is the only class, so there is nothing to tell "
                    "apart. Label a sentence with another class."
                )
            missing = [column for column in probabilities.columns if column not in labels]
            if missing and len(labels) > 1:
                raise InputError(
                    f"{self._where}: no sentence has the class {missing[0]!r}. Label a sentence "
                    "with it, or remove its column from W_C."
                )
            made = texts(labels, list(self._inputs), "class", probabilities.columns)
            with inside():
                self._classes = made.as_step(steps.LABELS)
        row = self._classes.rows.index(name)
        target = one_hot(self._classes, probabilities.columns, probabilities.rows, row)
        return cross_entropy(probabilities, target.as_step(steps.TARGET))

    def _class(self, name: str, columns: Sequence[str]) -> str:
        """The label of a sentence, spelled as in `columns`.

        Raises:
            InputError: if it is missing or not one of them.
        """
        labels = self._tables.labels.get(name, ())
        if len(labels) != 1:
            known = listed(list(self._tables.labels)) if self._tables.labels else "none"
            raise InputError(
                f"{self._where}: the sentence {name!r} has {count(len(labels), 'label')}, but "
                "needs one: "
                f"write its name and, beside it, its class. Sentences with labels: {known}."
            )
        found = _among(columns, labels[0])
        if not found:
            raise InputError(
                f"{self._where}: the class {labels[0]!r} of the sentence {name!r} is not a column "
                "of W_C. "
                f"{nearest(labels[0], columns)}"
            )
        return found

    def _given(self, name: str) -> Table | None:
        """The table of the target of a sentence."""
        known = {key.casefold(): table for key, table in self._tables.weights.items()}
        own = known.get(f"{name}.{TARGET}".casefold())
        return own or known.get(TARGET.casefold()) or self._target

    def _numbers(self, name: str, result: Matrix) -> Matrix:
        """The target of numbers for a sentence, of the shape of `result`; of probabilities, a 1 in each
        row, of which the last may be left out."""
        table, own, (n, m) = self._given(name), f"{name}.{TARGET}", result.shape
        probable = result.step in _PROBABLE
        if table is None:
            raise InputError(
                f"{self._tables.path}: {TARGET} is missing: {n} x {m}, the numbers that {result.name} "
                f"should have. Name its sheet {TARGET}; with several sentences, {own} for this one."
                + " To learn the classes of the sheet Labels, add --model classify."
                * bool(self._tables.labels)
            )
        rows = result.rows[: len(table.rows) if probable else n]
        if table.shape != (len(rows), m):
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: {table.name} is {table.shape[0]} x "
                f"{table.shape[1]}, but {result.name} of the sentence {name!r} is {n} x {m}."
            )
        ones, others = (table.values == 1).sum(axis=1), (table.values != 0).sum(axis=1)
        if probable and not ((ones == 1) & (others == 1)).all():
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: each row of {table.name} needs one 1, in the "
                "column of the right answer, and 0 elsewhere."
            )
        self._used.add(table.name)
        if table.name not in self._targets:
            step = steps.TARGET_NUMBERS
            shared = table.name.casefold() != own.casefold()
            with inside() if shared else nullcontext():
                made = given_step(table.values, rows, result.columns, step)
            self._targets[table.name] = made
        return self._targets[table.name]

    @property
    def _where(self) -> str:
        return f"{self._tables.path}, sheet {LABELS!r}"


def _among(columns: Sequence[str], label: str) -> str:
    """The column with this label, in upper or lower case, as a spreadsheet compares texts; "" if there
    is none or several."""
    if columns.count(label) == 1:
        return label
    alike = [column for column in columns if column.casefold() == label.casefold()]
    return alike[0] if len(alike) == 1 else ""
