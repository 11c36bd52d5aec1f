"""Whose numbers a student handed in: wrong numbers that are right in the lesson of someone else."""

from __future__ import annotations

from math import comb, isclose, log10

from attn_xl.languages import translate
from attn_xl.teaching.answer_key import Keys

from .marking import Verdict
from .results import Graded

FEWEST, UNLIKELY, LEAST_CHANCE = 5, -6, 0.02
"""Equal numbers, and the power of ten of their probability, from which they are worth a remark; the
least probability that one number is equal by chance."""
PRECISION = 0.005


def copied_from(one: Graded, keys: Keys) -> str:
    """A remark on the student in whose lesson the wrong numbers are right, with how unlikely this is by
    chance: the numbers of a lesson agree with the other lessons of the class about as often as these
    do. "" if it may be chance. Numbers that follow from others are no further evidence."""
    wrong = {
        mark.cell: mark.number
        for mark in one.cells
        if mark.verdict is Verdict.wrong and mark.number is not None
    }
    equal = {
        student.id: sum(
            isclose(number, keys.keys[student.id].answers[cell], rel_tol=PRECISION, abs_tol=PRECISION)
            for cell, number in wrong.items()
            if cell in keys.keys[student.id].answers
        )
        for student in keys.students
        if student.id != one.id
    }
    if not equal:
        return ""
    source = max(equal, key=lambda student: equal[student])
    count, others = equal.pop(source), [*equal.values()]
    if count < FEWEST:
        return ""
    chance = max([LEAST_CHANCE, *(other / len(wrong) for other in others)])
    power = log10(comb(len(wrong), count)) + count * log10(chance) + log10(len(keys.students))
    if power > UNLIKELY:
        return ""
    return translate(
        "{count} of {number} wrong numbers are right in the lesson of {student}. By chance, this "
        "happens less than once in 10^{power} times.",
        count=count,
        number=len(wrong),
        student=source,
        power=int(-power),
    )
