"""What functions do with blank cells, and the cells that formulas test for being blank."""

from __future__ import annotations

from attn_xl.spreadsheets.blocks.references import Lookup, rectangles_of, uses
from attn_xl.spreadsheets.blocks.templates import Forms, names
from attn_xl.spreadsheets.formulas import WIDTH, FormulaBook

ADDING = names("""
    SUM SUMPRODUCT MMULT AVERAGE MAX MIN PRODUCT SUMSQ VAR VARP VAR.P VAR.S STDEV STDEVP STDEV.P
    STDEV.S EXP SQRT LN LOG LOG10 POWER SIN COS TANH SUMXMY2 SUMX2MY2 MEDIAN MDETERM MINVERSE
""")
"""Functions of numbers, which skip blank cells and text or take them as 0."""
CAREFUL = names("""
    IF IFS IFERROR IFNA ISBLANK ISNUMBER ISTEXT ISERROR ISERR ISNA COUNT COUNTA COUNTBLANK COUNTIF
    COUNTIFS SUMIF SUMIFS AVERAGEIF N T CHOOSE SWITCH AGGREGATE SUBTOTAL LET LAMBDA FILTER
""")
"""Functions that can test for a number; a formula with one of them may handle blanks."""
ASKING = names("ISBLANK ISNUMBER COUNT COUNTA COUNTBLANK")


def asked_about(book: FormulaBook, forms: Forms, lookup: Lookup) -> set[tuple[str, int]]:
    """The cells, by sheet and key, that some formula tests for being blank (ISBLANK, COUNT): they are
    there to be filled in."""
    asked: set[tuple[str, int]] = set()
    for sheet, _, template, values in uses(book, forms):
        for reference in template.references:
            target = lookup.sheet(reference.sheet, sheet)
            if reference.function in ASKING and target is not None and reference.cells == 1:
                top, left, _, _ = rectangles_of(reference, values)
                asked.update((target.name, key) for key in (top * WIDTH + left - 1).tolist())
    return asked
