"""How to compute a cell by hand, one `Recipe` for each kind of calculation: in words, with spreadsheet
functions, and with the common mistakes. Plain text, without matrices."""

from __future__ import annotations

from attn_xl.graph.step import Recipe

GIVEN = Recipe(
    do="Nothing to compute: these numbers are given. Read them row by row.",
    hint="If a number surprises you, look at its row and column labels first: rows and columns are "
    "easily mixed up.",
)
COPY = Recipe(
    do=(
        "Copy every number of {a} into the same row and column. There are no weights, so "
        "nothing is multiplied."
    ),
    hint="Common mistake: starting one row too low, so that every word gets the numbers of its "
    "neighbour.",
)
PROJECT = Recipe(
    do=(
        "Row of {a} times column of {b}: multiply pair by pair and add up the products. The "
        "cell's row gives the row of {a}, its column the column of {b}."
    ),
    hint="Common mistakes: mixing up rows and columns, such as a row of {b} instead of a column; no "
    "$ before what must not move when you copy.",
)
PROJECT_AND_ADD = Recipe(
    do=(
        "Row of {a} times column of {b}: multiply pair by pair and add up the products. "
        "Then add the number of {c} in that column."
    ),
    hint="Common mistakes: forgetting {c}, or taking its number from another column.",
)
MIX = Recipe(
    do=(
        "Row of {a} times column of {b}: multiply the weight of each word by that word's "
        "number in the column, and add up. It is an average in which some words count more "
        "than others."
    ),
    hint="Common mistake: a row of {b} instead of a column. If the weights are shares of 1, the "
    "result lies between the smallest and the largest number of the column: check that.",
)
MIX_AND_SWITCH = Recipe(
    do=MIX.do + " Multiply the sum by {c}, which is 1, or 0 to remove the head.",
    hint="Common mistakes: a row of {b} instead of a column; forgetting {c}.",
)
PROJECT_AND_ADD_OTHERS = Recipe(
    do="Row of {a} times column of {b}: multiply pair by pair and add up. Then add the numbers of the "
    "other matrices that are in the same column; of a matrix with several rows, in the same row, too.",
    hint="Common mistakes: forgetting one of them; taking its number from another row or column.",
)
MIX_KEPT = Recipe(
    do="Multiply the weight of each word by that word's number in the column of V, and add up. The "
    "values of earlier words stand where they were computed.",
    hint="Common mistake: leaving out the new word itself.",
)
ADD_FROM_LEFT = Recipe(
    do="Add the number of {a} to the sum of those to its left.",
    hint="Common mistake: no $ before the first cell when you copy.",
)
CHOOSE_WORD = Recipe(
    do="Copy the row that the switch Sample selects: on, the word that was drawn; off, the most "
    "probable one.",
    hint="Common mistake: more than a single 1.",
)
FIRST_LARGEST = Recipe(
    do="Write 1 at the largest number in the row of {a}, the first of equal ones, and 0 at all others.",
    hint="Common mistake: a second 1.",
)
FIND_BEYOND = Recipe(
    do="Write 1 where the number of {a} is larger than {b}, and 0 where it is not.",
    hint="Common mistake: comparing with the number of another row.",
)
COUNT_KEPT = Recipe(
    do="Kept: Words times kept_per_word. Computed now: kept_per_word. Without a cache: Words times "
    "kept_per_word. Saved: (Words - 1) times kept_per_word.",
    hint="Common mistake: counting the word that is being computed as saved.",
)
MATCH = Recipe(
    do=(
        "Row of {a} times row of {b}: multiply pair by pair and add up (the dot product). The "
        "cell's row gives the row of {a}, its column the row of {b}."
    ),
    hint="Common mistakes: mixing up rows and columns, swapping the two words, no $ before the row "
    "of {b} when you copy across.",
)
MATCH_AND_ADD = Recipe(
    do="Row of {a} times row of {b}: multiply pair by pair and add up (the dot product). Then add the "
    "number of {c} in that column.",
    hint="Common mistakes: forgetting {c}, or taking its number from another column.",
)
MATCH_THEMSELVES = Recipe(
    do=(
        "Take the rows of two words in {a}: the cell's row gives one, its column the other. "
        "Multiply pair by pair and add up (the dot product)."
    ),
    hint="Common mistakes: mixing up rows and columns; no $ before the second row when you copy "
    "across.",
)
SCALE = Recipe(
    do=(
        "Divide the number of {a} in the same place by the square root of {b}, the number "
        "of columns of the keys."
    ),
    hint="Common mistakes: dividing by {b} instead of its square root; forgetting the parentheses "
    "of SQRT; no $ before {b} when you copy.",
)
SCALE_AND_TEMPER = Recipe(
    do=(
        "Divide the number of {a} in the same place by the square root of {b}, the number of "
        "columns of the keys; then divide the result by {c}."
    ),
    hint="Common mistakes: dividing by {b} instead of its square root; forgetting parentheses: to "
    "divide by a product, write x/(y*z).",
)
TEMPER = Recipe(
    do="Divide the number of {a} in the same place by {b}. It is the same for all cells.",
    hint="Common mistakes: multiplying instead of dividing; taking a square root, which belongs to "
    "d_k and not to {b}.",
)
HIDE = Recipe(
    do=(
        "Add the number of {rest} in the same place to the number of {a}. Adding 0 changes "
        "nothing; adding a huge negative number hides the word."
    ),
    hint="Common mistakes: multiplying by the mask instead of adding it; writing 0 for a hidden "
    "word, since 0 is a score like any other.",
)
ADD = Recipe(
    do="Add the numbers of {a} and {b} that are in the same row and column.",
    hint="Common mistakes: adding cells of different rows; adding up a whole row when only two "
    "numbers belong together.",
)
ADD_THREE = Recipe(
    do="Add the numbers of {made} that are in the same row and column.",
    hint="Common mistakes: adding cells of different rows; leaving one out.",
)
ADD_UP = Recipe(
    do="Add up all the numbers in the row of {a}. Each row has its own sum.",
    hint="Common mistakes: summing down a column instead of along a row; including the row's label "
    "or the matrix beside it.",
)
SHARE = Recipe(
    do=(
        "Divide the number of {a} in the same place by the {b} of its row: that is its "
        "share of the row."
    ),
    hint="Common mistakes: dividing down the columns instead of along the rows; no $ before the "
    "column of {b} when you copy. Check: every row adds up to 1.",
)
LARGEST = Recipe(
    do=("Find the largest number in the row of {a}. Each row has its own; less negative is larger."),
    hint="Common mistakes: taking the largest of a column, or of the whole matrix; ignoring the "
    "minus signs.",
)
EXPONENTIAL = Recipe(
    do=(
        "Subtract the {b} of the row from the number of {a} in the same place; then take e "
        "(about 2.7) to the power of the result."
    ),
    hint="Common mistakes: forgetting the parentheses, so that the subtraction comes after EXP; "
    "using the {b} of another row.",
)
MEAN = Recipe(
    do="Add up all the numbers in the row of {a} and divide by how many there are.",
    hint="Common mistakes: taking the mean of a column instead of a row; dividing by the number of "
    "words, not of dimensions.",
)
VARIANCE = Recipe(
    do=(
        "Subtract the mean of the row of {a} from each of its numbers, square the results, "
        "and take the mean of the squares."
    ),
    hint="Common mistakes: VAR, which divides by one less; forgetting to square; taking the root, "
    "which comes later.",
)
SAMPLE_VARIANCE = Recipe(
    do=(
        "Subtract the mean of the row of {a} from each of its numbers, square the results, "
        "add them up, and divide by one less than the number of values."
    ),
    hint="Common mistakes: VARP, which divides by the number of values; forgetting to square; "
    "taking the root, which comes later.",
)
NORM = Recipe(
    do="Take the number of {a}, subtract the Mean of the row, divide by the square root of (Variance "
    "of the row + epsilon).",
    hint="Common mistakes: forgetting the parentheses; dividing by the variance instead of its "
    "square root.",
)
NORM_STRETCHED = Recipe(
    do=(
        "Take the number of {a}, subtract the Mean of the row, divide by the square root "
        "of (Variance of the row + epsilon). Multiply by the column's number of {e} and "
        "add that of {f}."
    ),
    hint="Common mistakes: forgetting the parentheses; dividing by the variance instead of its "
    "square root.",
)
NORM_OUTSIDE = Recipe(
    do="Take the number of {a}, subtract the Mean of the row, divide by (the square root of the "
    "Variance of the row) + epsilon.",
    hint="Common mistakes: adding epsilon under the root; forgetting the parentheses around the sum.",
)
NORM_OUTSIDE_STRETCHED = Recipe(
    do="Take the number of {a}, subtract the Mean of the row, divide by (the square root of the "
    "Variance of the row) + epsilon. Multiply by the column's number of {e} and add that of {f}.",
    hint="Common mistakes: adding epsilon under the root; forgetting the parentheses around the sum.",
)
DROP = Recipe(
    do=(
        "Multiply the number of {a} by the 0 or 1 of {b} in the same place, and divide by 1 minus {c}."
    ),
    hint="Common mistakes: forgetting the parentheses around the subtraction; dividing by {c} itself.",
)
MAGNITUDE = Recipe(
    do=("Square every number in the row of {a}, add up the squares, and take the square root."),
    hint="Common mistakes: forgetting the root; adding up before squaring.",
)
COSINE = Recipe(
    do=(
        "Divide the number of {a} in the same place by two lengths: the {b} of the row's "
        "word times the {b} of the column's word."
    ),
    hint="Common mistakes: forgetting the parentheses around the product; using one length twice.",
)
ANGLE = Recipe(
    do="Find the angle whose cosine is the number of {a} in the same place, in degrees.",
    hint="Common mistakes: leaving out DEGREES, since ACOS gives radians; a cosine that rounding "
    "has pushed past its limit: use ROUND first.",
)
RELU = Recipe(
    do="Keep the number of {a} in the same place if it is positive; write 0 if it is not.",
    hint="Common mistake: dropping the minus sign instead of writing 0.",
)
GELU = Recipe(
    do=(
        "Multiply the number of {a} in the same place by the part of the normal curve (the "
        "bell curve) that lies to its left."
    ),
    hint="Common mistakes: forgetting to multiply; treating negative numbers as 0, although a "
    "little of them is kept.",
)
GELU_TANH = Recipe(
    do=(
        "With x for the number of {a} in the same place: cube x, multiply by 0.044715 and "
        "add x; multiply by the root of 2 / pi; take tanh; add 1; multiply by half of x."
    ),
    hint="Common mistake: forgetting parentheses; build it up in steps from the inside.",
)
SILU = Recipe(
    do="With x for the number of {a} in the same place: divide x by 1 plus e to the power of −x.",
    hint="Common mistakes: forgetting the parentheses around the sum; forgetting the minus sign.",
)
MULTIPLY = Recipe(
    do="Multiply the numbers of {a} and {b} that are in the same row and column.",
    hint="Common mistakes: multiplying cells of different rows; a matrix product, which adds up a "
    "whole row.",
)
RMS_NORM = Recipe(
    do="Divide the number of {a} by the square root of (MeanSquare of the row + epsilon).",
    hint="Common mistakes: subtracting the mean, which this norm leaves; forgetting the parentheses "
    "of SQRT.",
)
RMS_NORM_STRETCHED = Recipe(
    do="Divide the number of {a} by the square root of (MeanSquare of the row + epsilon). Multiply by "
    "the column's number of gamma; if there is a beta, add its number.",
    hint="Common mistakes: subtracting the mean, which this norm leaves; gamma of another column.",
)
RMS_NORM_OUTSIDE = Recipe(
    do="Divide the number of {a} by (the square root of the MeanSquare of the row) + epsilon. Multiply "
    "by the column's number of gamma if there is one.",
    hint="Common mistake: adding epsilon under the root.",
)
MEAN_SQUARE = Recipe(
    do="Square the numbers in the row of {a}, add up the squares, and divide by how many there are.",
    hint="Common mistakes: squaring the sum; dividing by the number of words.",
)
TURN_BY = Recipe(
    do="Count the words (position) and the pairs of columns (i) from 0. Divide the position by "
    "rotary_base to the power of 2i / (number of columns). Both columns of a pair have the same angle.",
    hint="Common mistakes: counting from 1; counting columns instead of pairs.",
)
TURN_BY_FACTOR = Recipe(
    do=TURN_BY.do + " Multiply by the number of RotaryFactors in that column.",
    hint="Common mistakes: counting from 1; the factor of another column.",
)
COSINE_OF = Recipe(
    do="The cosine of the angle of {a} in the same place.",
    hint="Common mistake: converting to degrees.",
)
SINE_OF = Recipe(
    do="The sine of the angle of {a} in the same place.",
    hint="Common mistake: converting to degrees.",
)
QUARTER_TURN = Recipe(
    do="For each pair of columns (a, b) of {a}, whose labels in Angle end in a and b: write −b in the "
    "first and a in the second.",
    hint="Common mistakes: the minus sign in the wrong column; the wrong partner.",
)
ROTATE = Recipe(
    do="Multiply the number of {a} by the cosine, and that of Turned by the sine, in the same place; "
    "add the two products. Columns without an angle stay as they are.",
    hint="Common mistakes: cosine and sine swapped; the angle of another word.",
)
COUNT_BETWEEN = Recipe(
    do="Count how many words lie between the word of the row and that of the column, plus 1; 0 for a "
    "word and itself.",
    hint="Common mistake: a negative distance.",
)
LOWER_BY_DISTANCE = Recipe(
    do="Subtract the slope of this head times the number of {b} from the number of {a}.",
    hint="Common mistake: adding, which favours distant words.",
)
TAKE_COLUMNS = Recipe(
    do="Copy {made}, row by row. Nothing is multiplied.",
    hint="Common mistake: starting at the first column of {a} for every head.",
)
SIDE_BY_SIDE = Recipe(
    do=("Copy {made}: each row holds the numbers of {a} first, then those of the matrices after it."),
    hint="Common mistakes: placing them below each other; mixing up the order of the heads.",
)
FIND_LARGEST_COLUMN = Recipe(
    do="Find the largest number in the row of {a} and write the heading of its column.",
    hint="Common mistakes: forgetting the 0 in MATCH; a range of headings that does not start in "
    "the same column as the row.",
)
HIDE_LATER = Recipe(
    do=(
        "Write 0 if the column's word is at the same position as the row's word or before it, "
        "and -1E9 if it comes later."
    ),
    hint="Common mistakes: hiding the earlier words; hiding the diagonal, although a word may look "
    "at itself.",
)
HIDE_PADDING = Recipe(
    do=(
        "Write -1E9 in every row of a column whose word only fills up the sentence, and 0 "
        "in all other columns."
    ),
    hint="Common mistake: hiding the filler's row instead of its column: no word may look at the "
    "filler.",
)
HIDE_LATER_AND_PADDING = Recipe(
    do=(
        "Write -1E9 if the column's word comes later than the row's word, or only fills up "
        "the sentence. Write 0 otherwise."
    ),
    hint="Common mistakes: hiding the diagonal; hiding the filler's row instead of its column.",
)
HIDE_FAR = Recipe(
    do="Write -1E9 if the column's word is hidden: it is Window words or more away from the row's word "
    "and not among the first Sinks words; or {made}. Write 0 otherwise.",
    hint="Common mistake: a window too wide by 1.",
)
WAVES = Recipe(
    do=(
        "Count the words (pos) and the pairs of columns (i) from 0; d is the number of "
        "columns. The first column of a pair is the sine of pos / 10000^(2i / d), the "
        "second the cosine."
    ),
    hint="Common mistakes: counting from 1; using degrees instead of radians; forgetting the "
    "parentheses around the exponent.",
)
COUNT_COLUMNS = Recipe(
    do="Count the columns of {a}.",
    hint="Common mistake: counting the words, which are rows.",
)
TAKE_ROWS = Recipe(
    do="Copy {made}: the label of each row says where it comes from.",
    hint="Common mistake: taking the row of another word.",
)
SUBTRACT_FIRST = Recipe(
    do="Subtract the first row of {a} from each of its other rows, column by column.",
    hint="Common mistake: subtracting the other way round, which flips every sign.",
)
MASKS = {
    (True, False): HIDE_LATER,
    (False, True): HIDE_PADDING,
    (True, True): HIDE_LATER_AND_PADDING,
}
"""Keyed by (hides later words, hides padding)."""
ACTIVATIONS = {"relu": RELU, "gelu": GELU, "gelu-tanh": GELU_TANH, "silu": SILU}
NORMS = {
    (False, False): NORM,
    (False, True): NORM_STRETCHED,
    (True, False): NORM_OUTSIDE,
    (True, True): NORM_OUTSIDE_STRETCHED,
}
"""Keyed by (epsilon is outside the root, gamma and beta are given)."""
RMS_NORMS = {
    (False, False): RMS_NORM,
    (False, True): RMS_NORM_STRETCHED,
    (True, False): RMS_NORM_OUTSIDE,
    (True, True): RMS_NORM_OUTSIDE,
}
"""Keyed by (epsilon is outside the root, gamma is given)."""
