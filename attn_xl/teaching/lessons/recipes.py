"""How a cell is worked out by hand, in each of the ways that steps are made: in words, in the functions
of a spreadsheet, with the mistakes that are often made. Plain text; knows no matrix.
"""

from __future__ import annotations

from typing import NamedTuple


class Recipe(NamedTuple):
    """How to fill in a cell; `{own}` is the matrix, `{a}`, `{b}`, ... what its formula refers to,
    `{made}` the step in symbols, `{rest}` all but the first of what it refers to, `{plus}` their cells.

    Attributes:
        do: the mathematics in words, for any cell.
        hint: the spreadsheet's function in general form, and common mistakes.
        prompt: the shortest form of the hint.
    """

    do: str
    hint: str
    prompt: str


RECIPES = {
    "given": Recipe(
        "Nothing to compute: these numbers are given. Read them row by row.",
        "If a number surprises you, look at its row and column labels first: rows and columns are "
        "easily mixed up.",
        "These numbers are given: nothing to compute.",
    ),
    "copy": Recipe(
        "Copy every number of {a} into the same place: the same row, the same column. There are no "
        "weights, so nothing is multiplied.",
        "Point at the cell: =cell of {a}. Common mistake: starting one row too low, so that every word "
        "gets the numbers of its neighbour.",
        "The number of {a} in the same row and column: =cell of {a}",
    ),
    "project": Recipe(
        "Row of {a} times column of {b}: multiply pair by pair and add up the products. The row of the "
        "cell says which row of {a}, its column which column of {b}.",
        "Use =SUM(MMULT(row of {a}, column of {b})). Common mistakes: rows and columns mixed up, such "
        "as a row of {b} in place of a column; no $ before what should stay when you copy.",
        "Row of {a} times column of {b}, pair by pair, added up: =SUM(MMULT(row, column))",
    ),
    "project and add": Recipe(
        "Row of {a} times column of {b}: multiply pair by pair and add up the products. Then add the "
        "number of {c} in that column.",
        "Use =SUM(MMULT(row of {a}, column of {b}))+cell of {c}. Common mistakes: forgetting {c}, or "
        "taking its number from another column.",
        "Row of {a} times column of {b}, added up, plus {c}: =SUM(MMULT(row, column))+cell",
    ),
    "mix": Recipe(
        "Row of {a} times column of {b}: multiply the weight of each word by that word's number in the "
        "column, and add up. It is an average in which some words count for more.",
        "Use =SUM(MMULT(row of {a}, column of {b})). Common mistake: a row of {b} in place of a "
        "column. With weights that are shares of 1, the result lies between the smallest and the "
        "largest number of the column: check that.",
        "Weights (row of {a}) times values (column of {b}), added up: =SUM(MMULT(row, column))",
    ),
    "match": Recipe(
        "Row of {a} times row of {b}: multiply pair by pair and add up (the dot product). The row of "
        "the cell says which row of {a}, its column which row of {b}.",
        "Use =SUMPRODUCT(row of {a}, row of {b}): both are rows. Common mistakes: rows and columns "
        "mixed up, the two words swapped, no $ before the row of {b} when you copy to the side.",
        "Row of {a} times row of {b}, pair by pair, added up: =SUMPRODUCT(row, row)",
    ),
    "match and add": Recipe(
        "Row of {a} times row of {b}: multiply pair by pair and add up (the dot product). Then add the "
        "number of {c} in that column.",
        "Use =SUMPRODUCT(row of {a}, row of {b})+cell of {c}. Common mistakes: forgetting {c}, or "
        "taking its number from another column.",
        "Row of {a} times row of {b}, added up, plus {c}: =SUMPRODUCT(row, row)+cell",
    ),
    "match among themselves": Recipe(
        "Take the rows of two words in {a}: the row of the cell names one, its column the other. "
        "Multiply pair by pair and add up (the dot product).",
        "Use =SUMPRODUCT(row of {a}, another row of {a}). Common mistakes: rows and columns mixed up; "
        "no $ before the second row when you copy to the side.",
        "Two rows of {a}, pair by pair, added up: =SUMPRODUCT(row, row)",
    ),
    "scale": Recipe(
        "Divide the number of {a} in the same place by the square root of {b}, the number of columns "
        "of the keys.",
        "Use =cell of {a}/SQRT({b}). Common mistakes: dividing by {b} and not by its square root; "
        "forgetting the parentheses of SQRT; no $ before {b} when you copy.",
        "The cell of {a} divided by the square root of {b}: =cell/SQRT({b})",
    ),
    "scale and temper": Recipe(
        "Divide the number of {a} in the same place by the square root of {b}, the number of columns "
        "of the keys; divide the result by {c}, too.",
        "Use =cell of {a}/SQRT({b})/{c}. Common mistakes: dividing by {b} and not by its square root; "
        "forgetting parentheses: what is divided by a product needs them, x/(y*z).",
        "The cell of {a}, divided by the root of {b} and by {c}: =cell/SQRT({b})/{c}",
    ),
    "temper": Recipe(
        "Divide the number of {a} in the same place by {b}. It is the same for all cells.",
        "Use =cell of {a}/{b}. Common mistakes: multiplying in place of dividing; taking a square "
        "root, which belongs to d_k and not to {b}.",
        "The cell of {a} divided by {b}: =cell/{b}",
    ),
    "hide": Recipe(
        "Add to the number of {a} the number of {rest} in the same place. Adding 0 changes nothing; "
        "adding a huge negative number hides the word.",
        "Use =cell of {a}{plus}. Common mistakes: multiplying by the mask in place of adding "
        "it; writing 0 for a hidden word, which is a score like any other.",
        "Add, in the same row and column: =cell of {a}{plus}",
    ),
    "add": Recipe(
        "Add the numbers of {a} and {b} that stand in the same row and column.",
        "Use =cell of {a}+cell of {b}. Common mistakes: cells of two different rows; adding up a whole "
        "row, when only two numbers belong together.",
        "Add, in the same row and column: =cell of {a}+cell of {b}",
    ),
    "add up": Recipe(
        "Add up all numbers of the row of {a}. Each row has its own sum.",
        "Use =SUM(row of {a}). Common mistakes: summing down a column in place of along a row; taking "
        "the row's label or the next matrix along.",
        "Add up the row: =SUM(row of {a})",
    ),
    "share": Recipe(
        "Divide the number of {a} in the same place by the {b} of its row: that is its "
        "share of the row.",
        "Use =cell of {a}/{b} of its row. Common mistakes: dividing down the columns in place of along "
        "the rows; no $ before the column of {b} when you copy. Check: every row adds up to 1.",
        "The cell of {a} divided by the {b} of its row (not of its column): =cell/sum",
    ),
    "largest": Recipe(
        "Find the largest number of the row of {a}. Each row has its own; less negative is larger.",
        "Use =MAX(row of {a}). Common mistakes: the largest of a column, or of the whole matrix; "
        "passing over the minus signs.",
        "The largest number of the row: =MAX(row of {a})",
    ),
    "exponential": Recipe(
        "Subtract the {b} of the row from the number of {a} in the same place; then take e (about "
        "2.7) to the power of the result.",
        "Use =EXP(cell of {a}-{b} of its row). Common mistakes: forgetting the parentheses, so that "
        "the subtraction comes after EXP; the {b} of another row.",
        "e to the power of (score minus maximum of its row): =EXP(cell-maximum)",
    ),
    "mean": Recipe(
        "Add up all numbers of the row of {a} and divide by how many there are.",
        "Use =AVERAGE(row of {a}). Common mistakes: the mean of a column in place of a row; dividing "
        "by the number of words, not of dimensions.",
        "The mean of the row: =AVERAGE(row of {a})",
    ),
    "variance": Recipe(
        "Subtract the mean of the row of {a} from each of its numbers, square the results, and take "
        "the mean of the squares.",
        "Use =VARP(row of {a}). Common mistakes: VAR, which divides by one less; forgetting to square; "
        "taking the root, which comes later.",
        "The mean of the squared distances from the row's mean: =VARP(row of {a})",
    ),
    "sample variance": Recipe(
        "Subtract the mean of the row of {a} from each of its numbers, square the results, add them "
        "up, and divide by one less than there are numbers.",
        "Use =VAR(row of {a}). Common mistakes: VARP, which divides by how many numbers there are; "
        "forgetting to square; taking the root, which comes later.",
        "The squared distances from the row's mean, added up, divided by n-1: =VAR(row of {a})",
    ),
    "norm": Recipe(
        "Take the number of {a}, subtract the Mean of the row, divide by the square root of (Variance "
        "of the row + epsilon).",
        "Use =(cell of {a}-Mean)/SQRT(Variance+epsilon). Common mistakes: forgetting the parentheses; "
        "dividing by the variance and not by its square root.",
        "Mean and Variance of the row: =(cell-Mean)/SQRT(Variance+epsilon)",
    ),
    "norm, stretched": Recipe(
        "Take the number of {a}, subtract the Mean of the row, divide by the square root of (Variance "
        "of the row + epsilon). Multiply by the column's number of {e} and add that of {f}.",
        "Use =(cell of {a}-Mean)/SQRT(Variance+epsilon)*cell of {e}+cell of {f}. Common mistakes: "
        "forgetting the parentheses; dividing by the variance and not by its square root.",
        "Mean and Variance of the row, gamma and beta of the column: "
        "=(cell-Mean)/SQRT(Variance+epsilon)*gamma+beta",
    ),
    "norm, epsilon outside": Recipe(
        "Take the number of {a}, subtract the Mean of the row, divide by (the square root of the "
        "Variance of the row) + epsilon.",
        "Use =(cell of {a}-Mean)/(SQRT(Variance)+epsilon). Common mistakes: adding epsilon under the "
        "root; forgetting the parentheses around the sum.",
        "Mean and Variance of the row: =(cell-Mean)/(SQRT(Variance)+epsilon)",
    ),
    "norm, epsilon outside, stretched": Recipe(
        "Take the number of {a}, subtract the Mean of the row, divide by (the square root of the "
        "Variance of the row) + epsilon. Multiply by the column's number of {e} and add that of {f}.",
        "Use =(cell of {a}-Mean)/(SQRT(Variance)+epsilon)*cell of {e}+cell of {f}. Common mistakes: "
        "adding epsilon under the root; forgetting the parentheses around the sum.",
        "Mean and Variance of the row, gamma and beta of the column: "
        "=(cell-Mean)/(SQRT(Variance)+epsilon)*gamma+beta",
    ),
    "drop": Recipe(
        "Multiply the number of {a} by the 0 or 1 of {b} in the same place, and divide by 1 minus {c}.",
        "Use =cell of {a}*cell of {b}/(1-{c}). Common mistakes: forgetting the parentheses around the "
        "subtraction; dividing by {c} itself.",
        "Weight times 0 or 1, divided by 1 minus the share dropped: =cell*cell/(1-{c})",
    ),
    "magnitude": Recipe(
        "Square every number of the row of {a}, add up the squares, and take the square root.",
        "Use =SQRT(SUMSQ(row of {a})). Common mistakes: forgetting the root; adding up first and "
        "squaring then.",
        "The root of the sum of the squares: =SQRT(SUMSQ(row of {a}))",
    ),
    "squares": Recipe(
        "Square every number of the row of {a} and add up the squares.",
        "Use =SUMSQ(row of {a}). Common mistake: adding up first and squaring then.",
        "The sum of the squares of the row: =SUMSQ(row of {a})",
    ),
    "cosine": Recipe(
        "Divide the number of {a} in the same place by two lengths: the {b} of the row's word times "
        "the {b} of the column's word.",
        "Use =cell of {a}/(length of one word*length of the other). Common mistakes: forgetting the "
        "parentheses around the product; using one length twice.",
        "The dot product divided by both lengths: =cell of {a}/(length*length)",
    ),
    "angle": Recipe(
        "Find the angle whose cosine is the number of {a} in the same place, in degrees.",
        "Use =DEGREES(ACOS(cell of {a})). Common mistakes: leaving out DEGREES, since ACOS gives "
        "radians; a cosine that rounding has pushed past its limit: use ROUND first.",
        "The angle with this cosine, in degrees: =DEGREES(ACOS(cell of {a}))",
    ),
    "relu": Recipe(
        "Keep the number of {a} in the same place if it is positive; write 0 if it is not.",
        "Use =MAX(0, cell of {a}). Common mistake: dropping the minus sign in place of writing 0.",
        "Positive numbers stay, negative ones become 0: =MAX(0, cell of {a})",
    ),
    "gelu": Recipe(
        "Multiply the number of {a} in the same place by the part of the normal curve (the bell curve) "
        "that lies to its left.",
        "Use =cell of {a}*NORMSDIST(cell of {a}). Common mistakes: forgetting to multiply; taking "
        "negative numbers for 0, though a little of them is kept.",
        "The number times the normal distribution of it: =cell*NORMSDIST(cell), cell of {a}",
    ),
    "gelu-tanh": Recipe(
        "With x for the number of {a} in the same place: cube x, multiply by 0.044715 and add x; "
        "multiply by the root of 2 / pi; take tanh; add 1; multiply by half of x.",
        "Use =0.5*x*(1+TANH(SQRT(2/PI())*(x+0.044715*x^3))) with the cell of {a} for x. Common "
        "mistake: forgetting parentheses; build it up in steps from the inside.",
        "x is the cell of {a}: =0.5*x*(1+TANH(SQRT(2/PI())*(x+0.044715*x^3)))",
    ),
    "columns": Recipe(
        "Copy {made}, row by row. Nothing is multiplied.",
        "Point at the cell: =cell of {a}, in the right column. Common mistake: starting at the first "
        "column of {a} for every head.",
        "Copy {made}: =cell of {a}",
    ),
    "side by side": Recipe(
        "Copy {made}: each row has first the numbers of {a}, then those of what follows.",
        "Point at the cells: =cell of {a}, and so on to the right. Common mistakes: putting them below "
        "each other; mixing up the order of the heads.",
        "Side by side in their order, same row: =cell of {a}, then the others",
    ),
    "best": Recipe(
        "Find the largest number in the row of {a} and write the heading of its column.",
        "Use =INDEX(headings of {a}, 1, MATCH(MAX(row of {a}), row of {a}, 0)). Common mistakes: "
        "forgetting the 0 in MATCH; a range of headings that starts elsewhere than the row.",
        "The heading of the row's largest: =INDEX(headings, 1, MATCH(MAX(row), row, 0))",
    ),
    "later words": Recipe(
        "Write 0 if the word of the column stands at the place of the row's word or before it, and "
        "-1E9 if it comes later.",
        "Use =IF(number of the column>number of the row, -1E9, 0). Common mistakes: hiding the earlier "
        "words; hiding the diagonal: a word may look at itself.",
        "0 for itself and earlier words, -1E9 for later ones: =IF(column>row, -1E9, 0)",
    ),
    "padding": Recipe(
        "Write -1E9 in every row of a column whose word only fills up the sentence, and 0 in all other "
        "columns.",
        'Use =IF(heading="the filler", -1E9, 0). Common mistake: hiding the row of the filler in place '
        "of its column: nobody is to look at it.",
        'Write -1E9 in the columns of words that only fill up, 0 elsewhere: =IF(heading="...", -1E9, '
        "0)",
    ),
    "later words and padding": Recipe(
        "Write -1E9 if the word of the column comes later than the row's word, or only fills up the "
        "sentence. Write 0 if neither is so.",
        'Use =IF(OR(column>row, heading="the filler"), -1E9, 0). Common mistakes: hiding the diagonal; '
        "hiding the filler's row in place of its column.",
        'Write -1E9 for later words and fillers, else 0: =IF(OR(column>row, heading="..."), -1E9, 0)',
    ),
    "waves": Recipe(
        "Count the words (pos) and the pairs of columns (i) from 0; d is the number of columns. The "
        "first column of a pair is the sine of pos / 10000^(2i / d), the second the cosine.",
        "Use =SIN(pos/10000^(2*i/d)) and =COS of the same. Common mistakes: counting from 1; degrees "
        "in place of radians; forgetting the parentheses around the exponent.",
        "pos, i from 0: =SIN(pos/10000^(2*i/d)), beside it =COS(the same)",
    ),
    "width": Recipe(
        "Count the columns of {a}.",
        "Use =COLUMNS({a}). Common mistake: counting the words, which are rows.",
        "How many columns: =COLUMNS({a})",
    ),
    "gather": Recipe(
        "Copy {made}: the label of each row says where it comes from.",
        "Point at the cell: =cell of {a}. Common mistake: the row of another word.",
        "The word's own row: =cell of {a}",
    ),
    "difference": Recipe(
        "Subtract the first row of {a} from each of its other rows, column by column.",
        "Use =cell of the other row-cell of the first row. Common mistake: subtracting the other way "
        "round, which turns every sign.",
        "Other row minus first row of {a}, column by column: =cell-cell",
    ),
    "arithmetic": Recipe(
        "Work out {made}, cell by cell, from the numbers in the same row and column. A single row, "
        "column or number serves for all.",
        "Write a formula that begins with = and points at one cell of each matrix. Common mistakes: "
        "cells of different rows; forgetting parentheses.",
        "{made}, from the cells in the same row and column",
    ),
}
