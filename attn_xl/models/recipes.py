"""How to compute a cell by hand, one `Recipe` for each kind of calculation: in words, with spreadsheet
functions, and with the common mistakes. Plain text, without matrices."""

from __future__ import annotations

from attn_xl.graph.step import Recipe

GIVEN = Recipe(
    do="Nothing to compute: these numbers are given. Read them row by row.",
    hint=(
        "If a number surprises you, look at its row and column labels first: rows and "
        "columns are easily mixed up."
    ),
    prompt="These numbers are given: nothing to compute.",
)
COPY = Recipe(
    do=(
        "Copy every number of {a} into the same row and column. There are no weights, so "
        "nothing is multiplied."
    ),
    hint=(
        "Refer to the cell: =cell of {a}. Common mistake: starting one row too low, so that "
        "every word gets the numbers of its neighbour."
    ),
    prompt="The number of {a} in the same row and column: =cell of {a}",
)
PROJECT = Recipe(
    do=(
        "Row of {a} times column of {b}: multiply pair by pair and add up the products. The "
        "cell's row gives the row of {a}, its column the column of {b}."
    ),
    hint=(
        "Add up products, one for each number of the row: =cell*cell+cell*cell+... Or, for a long row, "
        "=SUMPRODUCT(row of {a}, TRANSPOSE(column of {b})). Common mistakes: mixing up rows and "
        "columns, such as a row of {b} instead of a column; no $ before what must not move "
        "when you copy."
    ),
    prompt="Row of {a} times column of {b}, pair by pair, added up: =cell*cell+cell*cell+...",
)
PROJECT_AND_ADD = Recipe(
    do=(
        "Row of {a} times column of {b}: multiply pair by pair and add up the products. "
        "Then add the number of {c} in that column."
    ),
    hint=(
        "Add up products, one for each number of the row, and the cell of {c}: "
        "=cell*cell+cell*cell+...+cell. Or =SUMPRODUCT(row of {a}, TRANSPOSE(column of {b}))+cell of "
        "{c}. Common mistakes: forgetting {c}, or taking its number from another column."
    ),
    prompt="Row of {a} times column of {b}, added up, plus {c}: =cell*cell+cell*cell+...+cell",
)
MIX = Recipe(
    do=(
        "Row of {a} times column of {b}: multiply the weight of each word by that word's "
        "number in the column, and add up. It is an average in which some words count more "
        "than others."
    ),
    hint=(
        "Add up products, weight times value, for each word: =cell*cell+cell*cell+... Or, for many "
        "words, =SUMPRODUCT(row of {a}, TRANSPOSE(column of {b})). Common mistake: a row of {b} "
        "instead of a column. If the weights are shares of 1, the result lies between the smallest and "
        "the largest number of the column: check that."
    ),
    prompt=("Weights (row of {a}) times values (column of {b}), added up: =cell*cell+cell*cell+..."),
)
MIX_AND_SWITCH = Recipe(
    do=MIX.do + " Multiply the sum by {c}, which is 1, or 0 to remove the head.",
    hint="Use =SUM(MMULT(row of {a}, column of {b}))*{c}. Common mistakes: a row of {b} instead of a "
    "column; forgetting {c}.",
    prompt="Weights times values, added up, times {c}: =SUM(MMULT(row, column))*{c}",
)
PROJECT_AND_ADD_OTHERS = Recipe(
    do="Row of {a} times column of {b}: multiply pair by pair and add up. Then add the numbers of the "
    "other matrices that are in the same column; of a matrix with several rows, in the same row, too.",
    hint="Use =SUM(MMULT(row of {a}, column of {b})) plus the other cells. Common mistakes: "
    "forgetting one of them; taking its number from another row or column.",
    prompt="Row of {a} times column of {b}, added up, plus the cells of the others",
)
MIX_KEPT = Recipe(
    do="Multiply the weight of each word by that word's number in the column of V, and add up. The "
    "values of earlier words stand where they were computed.",
    hint="Use =SUM(MMULT(weights of the first words, their column of V)), then add weight*value for "
    "each new word. Common mistake: leaving out the new word itself.",
    prompt="Weights times values, added up: =SUM(MMULT(weights, V))+weight*value of each new word",
)
ADD_FROM_LEFT = Recipe(
    do="Add the number of {a} to the sum of those to its left.",
    hint="Use =SUM($first cell:cell of {a}). Common mistake: no $ before the first cell when you copy.",
    prompt="Everything up to here: =SUM(first cell of {a}:this cell of {a})",
)
CHOOSE_WORD = Recipe(
    do="Copy the row that the switch Sample selects: on, the word that was drawn; off, the most "
    "probable one.",
    hint='Use =IF(Sample="on", one cell, the other). Common mistake: more than a single 1.',
    prompt='One of two rows: =IF(Sample="on", cell, other cell)',
)
FIRST_LARGEST = Recipe(
    do="Write 1 at the largest number in the row of {a}, the first of equal ones, and 0 at all others.",
    hint="Use =IF(number of the column=MATCH(MAX(row),row,0),1,0). Common mistake: a second 1.",
    prompt="1 at the largest, else 0: =IF(column=MATCH(MAX(row),row,0),1,0)",
)
FIND_BEYOND = Recipe(
    do="Write 1 where the number of {a} is larger than {b}, and 0 where it is not.",
    hint="Use =1-IF(cell of {a}<={b},1,0). Common mistake: comparing with the number of another row.",
    prompt="1 where it is larger: =1-IF(cell of {a}<={b},1,0)",
)
COUNT_KEPT = Recipe(
    do="Kept: Words times kept_per_word. Computed now: kept_per_word. Without a cache: Words times "
    "kept_per_word. Saved: (Words - 1) times kept_per_word.",
    hint="Use =Words*kept_per_word, and =(Words-1)*kept_per_word for the last column.",
    prompt="Words times kept_per_word; saved: (Words-1)*kept_per_word",
)
MATCH = Recipe(
    do=(
        "Row of {a} times row of {b}: multiply pair by pair and add up (the dot product). The "
        "cell's row gives the row of {a}, its column the row of {b}."
    ),
    hint=(
        "Use =SUMPRODUCT(row of {a}, row of {b}): both are rows. Common mistakes: mixing up "
        "rows and columns, swapping the two words, no $ before the row of {b} when you copy "
        "across."
    ),
    prompt="Row of {a} times row of {b}, pair by pair, added up: =SUMPRODUCT(row, row)",
)
MATCH_AND_ADD = Recipe(
    do="Row of {a} times row of {b}: multiply pair by pair and add up (the dot product). Then add the "
    "number of {c} in that column.",
    hint="Use =SUMPRODUCT(row of {a}, row of {b})+cell of {c}. Common mistakes: forgetting {c}, or "
    "taking its number from another column.",
    prompt="Row of {a} times row of {b}, added up, plus {c}: =SUMPRODUCT(row, row)+cell",
)
MATCH_THEMSELVES = Recipe(
    do=(
        "Take the rows of two words in {a}: the cell's row gives one, its column the other. "
        "Multiply pair by pair and add up (the dot product)."
    ),
    hint=(
        "Use =SUMPRODUCT(row of {a}, another row of {a}). Common mistakes: mixing up rows and "
        "columns; no $ before the second row when you copy across."
    ),
    prompt="Two rows of {a}, pair by pair, added up: =SUMPRODUCT(row, row)",
)
SCALE = Recipe(
    do=(
        "Divide the number of {a} in the same place by the square root of {b}, the number "
        "of columns of the keys."
    ),
    hint=(
        "Use =cell of {a}/SQRT({b}). Common mistakes: dividing by {b} instead of its square "
        "root; forgetting the parentheses of SQRT; no $ before {b} when you copy."
    ),
    prompt="The cell of {a} divided by the square root of {b}: =cell/SQRT({b})",
)
SCALE_AND_TEMPER = Recipe(
    do=(
        "Divide the number of {a} in the same place by the square root of {b}, the number of "
        "columns of the keys; then divide the result by {c}."
    ),
    hint=(
        "Use =cell of {a}/SQRT({b})/{c}. Common mistakes: dividing by {b} instead of its "
        "square root; forgetting parentheses: to divide by a product, write x/(y*z)."
    ),
    prompt="The cell of {a}, divided by the root of {b} and by {c}: =cell/SQRT({b})/{c}",
)
TEMPER = Recipe(
    do="Divide the number of {a} in the same place by {b}. It is the same for all cells.",
    hint=(
        "Use =cell of {a}/{b}. Common mistakes: multiplying instead of dividing; taking a "
        "square root, which belongs to d_k and not to {b}."
    ),
    prompt="The cell of {a} divided by {b}: =cell/{b}",
)
HIDE = Recipe(
    do=(
        "Add the number of {rest} in the same place to the number of {a}. Adding 0 changes "
        "nothing; adding a huge negative number hides the word."
    ),
    hint=(
        "Use =cell of {a}{plus}. Common mistakes: multiplying by the mask instead of adding "
        "it; writing 0 for a hidden word, since 0 is a score like any other."
    ),
    prompt="Add, in the same row and column: =cell of {a}{plus}",
)
ADD = Recipe(
    do="Add the numbers of {a} and {b} that are in the same row and column.",
    hint=(
        "Use =cell of {a}+cell of {b}. Common mistakes: adding cells of different rows; "
        "adding up a whole row when only two numbers belong together."
    ),
    prompt="Add, in the same row and column: =cell of {a}+cell of {b}",
)
ADD_THREE = Recipe(
    do="Add the numbers of {made} that are in the same row and column.",
    hint="Use =cell of {a}{plus}. Common mistakes: adding cells of different rows; leaving one out.",
    prompt="Add, in the same row and column: =cell of {a}{plus}",
)
ADD_UP = Recipe(
    do="Add up all the numbers in the row of {a}. Each row has its own sum.",
    hint=(
        "Use =SUM(row of {a}). Common mistakes: summing down a column instead of along a row; "
        "including the row's label or the matrix beside it."
    ),
    prompt="Add up the row: =SUM(row of {a})",
)
SHARE = Recipe(
    do=(
        "Divide the number of {a} in the same place by the {b} of its row: that is its "
        "share of the row."
    ),
    hint=(
        "Use =cell of {a}/{b} of its row. Common mistakes: dividing down the columns instead "
        "of along the rows; no $ before the column of {b} when you copy. Check: every row "
        "adds up to 1."
    ),
    prompt="The cell of {a} divided by the {b} of its row (not of its column): =cell/sum",
)
LARGEST = Recipe(
    do=("Find the largest number in the row of {a}. Each row has its own; less negative is larger."),
    hint=(
        "Use =MAX(row of {a}). Common mistakes: taking the largest of a column, or of the "
        "whole matrix; ignoring the minus signs."
    ),
    prompt="The largest number of the row: =MAX(row of {a})",
)
EXPONENTIAL = Recipe(
    do=(
        "Subtract the {b} of the row from the number of {a} in the same place; then take e "
        "(about 2.7) to the power of the result."
    ),
    hint=(
        "Use =EXP(cell of {a}-{b} of its row). Common mistakes: forgetting the parentheses, "
        "so that the subtraction comes after EXP; using the {b} of another row."
    ),
    prompt="e to the power of (score minus maximum of its row): =EXP(cell-maximum)",
)
MEAN = Recipe(
    do="Add up all the numbers in the row of {a} and divide by how many there are.",
    hint=(
        "Use =AVERAGE(row of {a}). Common mistakes: taking the mean of a column instead of a "
        "row; dividing by the number of words, not of dimensions."
    ),
    prompt="The mean of the row: =AVERAGE(row of {a})",
)
VARIANCE = Recipe(
    do=(
        "Subtract the mean of the row of {a} from each of its numbers, square the results, "
        "and take the mean of the squares."
    ),
    hint=(
        "Use =VARP(row of {a}). Common mistakes: VAR, which divides by one less; forgetting "
        "to square; taking the root, which comes later."
    ),
    prompt="The mean of the squared distances from the row's mean: =VARP(row of {a})",
)
SAMPLE_VARIANCE = Recipe(
    do=(
        "Subtract the mean of the row of {a} from each of its numbers, square the results, "
        "add them up, and divide by one less than the number of values."
    ),
    hint=(
        "Use =VAR(row of {a}). Common mistakes: VARP, which divides by the number of values; "
        "forgetting to square; taking the root, which comes later."
    ),
    prompt="The squared distances from the row's mean, added up, divided by n-1: =VAR(row of {a})",
)
NORM = Recipe(
    do="Take the number of {a}, subtract the Mean of the row, divide by the square root of (Variance "
    "of the row + epsilon).",
    hint=(
        "Use =(cell of {a}-Mean)/SQRT(Variance+epsilon). Common mistakes: forgetting the "
        "parentheses; dividing by the variance instead of its square root."
    ),
    prompt="Mean and Variance of the row: =(cell-Mean)/SQRT(Variance+epsilon)",
)
NORM_STRETCHED = Recipe(
    do=(
        "Take the number of {a}, subtract the Mean of the row, divide by the square root "
        "of (Variance of the row + epsilon). Multiply by the column's number of {e} and "
        "add that of {f}."
    ),
    hint=(
        "Use =(cell of {a}-Mean)/SQRT(Variance+epsilon)*cell of {e}+cell of {f}. Common "
        "mistakes: forgetting the parentheses; dividing by the variance instead of its square "
        "root."
    ),
    prompt=(
        "Mean and Variance of the row, gamma and beta of the column: "
        "=(cell-Mean)/SQRT(Variance+epsilon)*gamma+beta"
    ),
)
NORM_OUTSIDE = Recipe(
    do="Take the number of {a}, subtract the Mean of the row, divide by (the square root of the "
    "Variance of the row) + epsilon.",
    hint="Use =(cell of {a}-Mean)/(SQRT(Variance)+epsilon). Common mistakes: adding epsilon under the "
    "root; forgetting the parentheses around the sum.",
    prompt="Mean and Variance of the row: =(cell-Mean)/(SQRT(Variance)+epsilon)",
)
NORM_OUTSIDE_STRETCHED = Recipe(
    do="Take the number of {a}, subtract the Mean of the row, divide by (the square root of the "
    "Variance of the row) + epsilon. Multiply by the column's number of {e} and add that of {f}.",
    hint="Use =(cell of {a}-Mean)/(SQRT(Variance)+epsilon)*cell of {e}+cell of {f}. Common mistakes: "
    "adding epsilon under the root; forgetting the parentheses around the sum.",
    prompt="Mean and Variance of the row, gamma and beta of the column: "
    "=(cell-Mean)/(SQRT(Variance)+epsilon)*gamma+beta",
)
DROP = Recipe(
    do=(
        "Multiply the number of {a} by the 0 or 1 of {b} in the same place, and divide by 1 minus {c}."
    ),
    hint=(
        "Use =cell of {a}*cell of {b}/(1-{c}). Common mistakes: forgetting the parentheses "
        "around the subtraction; dividing by {c} itself."
    ),
    prompt="Number times 0 or 1, divided by 1 minus the share dropped: =cell*cell/(1-{c})",
)
MAGNITUDE = Recipe(
    do=("Square every number in the row of {a}, add up the squares, and take the square root."),
    hint=(
        "Use =SQRT(SUMSQ(row of {a})). Common mistakes: forgetting the root; adding up before squaring."
    ),
    prompt="The root of the sum of the squares: =SQRT(SUMSQ(row of {a}))",
)
COSINE = Recipe(
    do=(
        "Divide the number of {a} in the same place by two lengths: the {b} of the row's "
        "word times the {b} of the column's word."
    ),
    hint=(
        "Use =cell of {a}/(length of one word*length of the other). Common mistakes: "
        "forgetting the parentheses around the product; using one length twice."
    ),
    prompt="The dot product divided by both lengths: =cell of {a}/(length*length)",
)
ANGLE = Recipe(
    do="Find the angle whose cosine is the number of {a} in the same place, in degrees.",
    hint=(
        "Use =DEGREES(ACOS(cell of {a})). Common mistakes: leaving out DEGREES, since ACOS "
        "gives radians; a cosine that rounding has pushed past its limit: use ROUND first."
    ),
    prompt="The angle with this cosine, in degrees: =DEGREES(ACOS(cell of {a}))",
)
RELU = Recipe(
    do="Keep the number of {a} in the same place if it is positive; write 0 if it is not.",
    hint=("Use =MAX(0, cell of {a}). Common mistake: dropping the minus sign instead of writing 0."),
    prompt="Positive numbers stay, negative ones become 0: =MAX(0, cell of {a})",
)
GELU = Recipe(
    do=(
        "Multiply the number of {a} in the same place by the part of the normal curve (the "
        "bell curve) that lies to its left."
    ),
    hint=(
        "Use =cell of {a}*NORMSDIST(cell of {a}). Common mistakes: forgetting to multiply; "
        "treating negative numbers as 0, although a little of them is kept."
    ),
    prompt="The number times its normal distribution: =cell*NORMSDIST(cell), cell of {a}",
)
GELU_TANH = Recipe(
    do=(
        "With x for the number of {a} in the same place: cube x, multiply by 0.044715 and "
        "add x; multiply by the root of 2 / pi; take tanh; add 1; multiply by half of x."
    ),
    hint=(
        "Use =0.5*x*(1+TANH(SQRT(2/PI())*(x+0.044715*x^3))) with the cell of {a} for x. "
        "Common mistake: forgetting parentheses; build it up in steps from the inside."
    ),
    prompt="x is the cell of {a}: =0.5*x*(1+TANH(SQRT(2/PI())*(x+0.044715*x^3)))",
)
SILU = Recipe(
    do="With x for the number of {a} in the same place: divide x by 1 plus e to the power of −x.",
    hint="Use =x/(1+EXP(-x)) with the cell of {a} for x. Common mistakes: forgetting the parentheses "
    "around the sum; forgetting the minus sign.",
    prompt="x is the cell of {a}: =x/(1+EXP(-x))",
)
MULTIPLY = Recipe(
    do="Multiply the numbers of {a} and {b} that are in the same row and column.",
    hint="Use =cell of {a}*cell of {b}. Common mistakes: multiplying cells of different rows; a "
    "matrix product, which adds up a whole row.",
    prompt="Multiply, in the same row and column: =cell of {a}*cell of {b}",
)
RMS_NORM = Recipe(
    do="Divide the number of {a} by the square root of (MeanSquare of the row + epsilon).",
    hint="Use =cell of {a}/SQRT(MeanSquare+epsilon). Common mistakes: subtracting the mean, which this "
    "norm leaves; forgetting the parentheses of SQRT.",
    prompt="MeanSquare of the row: =cell/SQRT(MeanSquare+epsilon)",
)
RMS_NORM_STRETCHED = Recipe(
    do="Divide the number of {a} by the square root of (MeanSquare of the row + epsilon). Multiply by "
    "the column's number of gamma; if there is a beta, add its number.",
    hint="Use =cell of {a}/SQRT(MeanSquare+epsilon)*cell of gamma. Common mistakes: subtracting the "
    "mean, which this norm leaves; gamma of another column.",
    prompt="MeanSquare of the row, gamma of the column: =cell/SQRT(MeanSquare+epsilon)*gamma",
)
RMS_NORM_OUTSIDE = Recipe(
    do="Divide the number of {a} by (the square root of the MeanSquare of the row) + epsilon. Multiply "
    "by the column's number of gamma if there is one.",
    hint="Use =cell of {a}/(SQRT(MeanSquare)+epsilon)*cell of gamma. Common mistake: adding epsilon "
    "under the root.",
    prompt="MeanSquare of the row: =cell/(SQRT(MeanSquare)+epsilon)*gamma",
)
MEAN_SQUARE = Recipe(
    do="Square the numbers in the row of {a}, add up the squares, and divide by how many there are.",
    hint="Use =SUMSQ(row of {a})/COLUMNS(...). Common mistakes: squaring the sum; dividing by the "
    "number of words.",
    prompt="The mean of the squares of the row: =SUMSQ(row of {a})/number of columns",
)
TURN_BY = Recipe(
    do="Count the words (position) and the pairs of columns (i) from 0. Divide the position by "
    "rotary_base to the power of 2i / (number of columns). Both columns of a pair have the same angle.",
    hint="Use =position/rotary_base^(2*i/number of columns). Common mistakes: counting from 1; "
    "counting columns instead of pairs.",
    prompt="position, i from 0: =position/rotary_base^(2*i/columns)",
)
TURN_BY_FACTOR = Recipe(
    do=TURN_BY.do + " Multiply by the number of RotaryFactors in that column.",
    hint="Use =position/rotary_base^(2*i/number of columns)*cell of RotaryFactors. Common mistakes: "
    "counting from 1; the factor of another column.",
    prompt="position, i from 0: =position/rotary_base^(2*i/columns)*factor",
)
COSINE_OF = Recipe(
    do="The cosine of the angle of {a} in the same place.",
    hint="Use =COS(cell of {a}); the angle is in radians. Common mistake: converting to degrees.",
    prompt="The cosine of the angle: =COS(cell of {a})",
)
SINE_OF = Recipe(
    do="The sine of the angle of {a} in the same place.",
    hint="Use =SIN(cell of {a}); the angle is in radians. Common mistake: converting to degrees.",
    prompt="The sine of the angle: =SIN(cell of {a})",
)
QUARTER_TURN = Recipe(
    do="For each pair of columns (a, b) of {a}, whose labels in Angle end in a and b: write −b in the "
    "first and a in the second.",
    hint="Refer to the other column of the pair, with a minus sign in the first: =-cell. Common "
    "mistakes: the minus sign in the wrong column; the wrong partner.",
    prompt="The pair (a, b) becomes (−b, a): =-cell, and =cell",
)
ROTATE = Recipe(
    do="Multiply the number of {a} by the cosine, and that of Turned by the sine, in the same place; "
    "add the two products. Columns without an angle stay as they are.",
    hint="Use =cell of {a}*cell of Cos+cell of Turned*cell of Sin. Common mistakes: cosine and sine "
    "swapped; the angle of another word.",
    prompt="Two products, added: =cell of {a}*Cos+Turned*Sin",
)
COUNT_BETWEEN = Recipe(
    do="Count how many words lie between the word of the row and that of the column, plus 1; 0 for a "
    "word and itself.",
    hint="Use =ABS(number of the column-number of the row). Common mistake: a negative distance.",
    prompt="How many words apart: =ABS(column-row)",
)
LOWER_BY_DISTANCE = Recipe(
    do="Subtract the slope of this head times the number of {b} from the number of {a}.",
    hint="Use =cell of {a}-slope*cell of {b}. Common mistake: adding, which favours distant words.",
    prompt="The score minus slope times distance: =cell-slope*cell",
)
TAKE_COLUMNS = Recipe(
    do="Copy {made}, row by row. Nothing is multiplied.",
    hint=(
        "Refer to the cell: =cell of {a}, in the right column. Common mistake: starting at "
        "the first column of {a} for every head."
    ),
    prompt="Copy {made}: =cell of {a}",
)
SIDE_BY_SIDE = Recipe(
    do=("Copy {made}: each row holds the numbers of {a} first, then those of the matrices after it."),
    hint=(
        "Refer to the cells: =cell of {a}, and so on to the right. Common mistakes: placing "
        "them below each other; mixing up the order of the heads."
    ),
    prompt="Side by side in their order, same row: =cell of {a}, then the others",
)
FIND_LARGEST_COLUMN = Recipe(
    do="Find the largest number in the row of {a} and write the heading of its column.",
    hint=(
        "Use =INDEX(headings of {a}, 1, MATCH(MAX(row of {a}), row of {a}, 0)). Common "
        "mistakes: forgetting the 0 in MATCH; a range of headings that does not start in the "
        "same column as the row."
    ),
    prompt="The heading of the row's largest: =INDEX(headings, 1, MATCH(MAX(row), row, 0))",
)
HIDE_LATER = Recipe(
    do=(
        "Write 0 if the column's word is at the same position as the row's word or before it, "
        "and -1E9 if it comes later."
    ),
    hint=(
        "Use =IF(number of the column>number of the row, -1E9, 0). Common mistakes: hiding "
        "the earlier words; hiding the diagonal, although a word may look at itself."
    ),
    prompt="0 for itself and earlier words, -1E9 for later ones: =IF(column>row, -1E9, 0)",
)
HIDE_PADDING = Recipe(
    do=(
        "Write -1E9 in every row of a column whose word only fills up the sentence, and 0 "
        "in all other columns."
    ),
    hint=(
        'Use =IF(heading="the filler", -1E9, 0). Common mistake: hiding the filler\'s row '
        "instead of its column: no word may look at the filler."
    ),
    prompt=(
        'Write -1E9 in the columns of words that only fill up, 0 elsewhere: =IF(heading="...", -1E9, 0)'
    ),
)
HIDE_LATER_AND_PADDING = Recipe(
    do=(
        "Write -1E9 if the column's word comes later than the row's word, or only fills up "
        "the sentence. Write 0 otherwise."
    ),
    hint=(
        'Use =IF(OR(column>row, heading="the filler"), -1E9, 0). Common mistakes: hiding the '
        "diagonal; hiding the filler's row instead of its column."
    ),
    prompt=(
        'Write -1E9 for later words and fillers, else 0: =IF(OR(column>row, heading="..."), -1E9, 0)'
    ),
)
HIDE_FAR = Recipe(
    do="Write -1E9 if the column's word is hidden: it is Window words or more away from the row's word "
    "and not among the first Sinks words; or {made}. Write 0 otherwise.",
    hint="Use =IF(OR(column>row, AND(ABS(column-row)>=Window, column>=Sinks)), -1E9, 0), counting from "
    "0; leave out column>row where later words are visible. Common mistake: a window too wide by 1.",
    prompt="Hidden words, from 0: =IF(OR(column>row, AND(ABS(column-row)>=Window, column>=Sinks)), "
    "-1E9, 0)",
)
WAVES = Recipe(
    do=(
        "Count the words (pos) and the pairs of columns (i) from 0; d is the number of "
        "columns. The first column of a pair is the sine of pos / 10000^(2i / d), the "
        "second the cosine."
    ),
    hint=(
        "Use =SIN(pos/10000^(2*i/d)) and =COS of the same. Common mistakes: counting from 1; "
        "using degrees instead of radians; forgetting the parentheses around the exponent."
    ),
    prompt="pos, i from 0: =SIN(pos/10000^(2*i/d)), beside it =COS(the same)",
)
COUNT_COLUMNS = Recipe(
    do="Count the columns of {a}.",
    hint="Use =COLUMNS({a}). Common mistake: counting the words, which are rows.",
    prompt="How many columns: =COLUMNS({a})",
)
TAKE_ROWS = Recipe(
    do="Copy {made}: the label of each row says where it comes from.",
    hint="Refer to the cell: =cell of {a}. Common mistake: taking the row of another word.",
    prompt="The word's own row: =cell of {a}",
)
SUBTRACT_FIRST = Recipe(
    do="Subtract the first row of {a} from each of its other rows, column by column.",
    hint=(
        "Use =cell of the other row-cell of the first row. Common mistake: subtracting the "
        "other way round, which flips every sign."
    ),
    prompt="Other row minus first row of {a}, column by column: =cell-cell",
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
