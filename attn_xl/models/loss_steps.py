"""The steps of losses and of classification: symbols, notes, purposes, questions and recipes."""

from __future__ import annotations

from dataclasses import replace

from attn_xl.graph.step import Recipe, Step

from . import recipes

# Classification

POOLED = Step(
    "Pooled",
    note=(
        "One vector for the whole sentence: the mean of its words' vectors. Compare with the words: "
        "which of them are large in the same columns?"
    ),
    purpose=(
        "One vector for the whole sentence, whatever its length: the mean of its words' vectors, as a "
        "jury's verdict counts every juror once."
    ),
    question="if one word of {text} were repeated many times, what would {own} come to resemble?",
    recipe=Recipe(
        do="Add up the column of {a} and divide by the number of words.",
        hint="Common mistakes: taking the mean of a row; including the heading of the column.",
    ),
)
FIRST_WORD = replace(
    POOLED,
    note=(
        "One vector for the whole sentence: that of its first word, which has looked at all the "
        "others. Compare with the words that it looks at most."
    ),
    purpose=(
        "One vector for the whole sentence: the first word speaks for all, after it has looked at "
        "all of them."
    ),
    question="if other words of {text} changed, could {own} change, though it is the row of one word?",
    recipe=recipes.TAKE_ROWS,
)
CLASS_LOGITS = Step(
    "Logits",
    note=(
        "How well the sentence fits each class (column). Look for the largest number: the class "
        "that the model chooses."
    ),
    purpose="The sentence's vector is compared with each class, a column of {b}: how well does it fit?",
    question="which class do you expect to fit {text} best: {words}?",
    recipe=recipes.PROJECT,
)
CLASS_PROBABILITIES = Step(
    "Probabilities",
    note="The probability of each class. The row sums to 1: look for its largest number.",
    purpose="How sure the model is of each class: the logits turned into shares that add up to 1.",
    question="by how much must one logit exceed another for its class to be twice as probable?",
    recipe=recipes.SHARE,
    role="attention",
)
CLASS = Step(
    "Class",
    note="The most probable class. Check that it has the largest probability.",
    purpose="The model's answer: the class that it finds most probable.",
    question="would {own} change if all logits increased by the same number?",
    recipe=recipes.FIND_LARGEST_COLUMN,
)
# Targets

LABELS = Step(
    "Labels",
    note="The right class of each sentence. Change one to another class and watch the loss.",
    question="which steps would change if you changed the class of a sentence?",
    recipe=recipes.GIVEN,
    role="input",
    source="answers",
)
TARGET_WORDS = replace(
    LABELS,
    symbol="TargetWords",
    note="The right next word after each word. Change one to another word and watch the loss.",
    question="which steps would change if you changed one of the target words?",
)
TARGET = Step(
    "Target",
    note="What the model should have said. Look for the 1 of each row: the right column.",
    purpose=(
        "What a perfect model would answer: all of the probability in the right column. It is "
        "compared with the probabilities."
    ),
    question="in which column will the row of {word} have its 1?",
    recipe=Recipe(
        do="Write 1 in the column whose heading is the text of {a}, and 0 in all other columns.",
        hint="Common mistakes: no $ before the row of the heading when you copy; comparing with the "
        "row's label.",
    ),
    is_read_off=True,
)
TARGET_NUMBERS = replace(
    TARGET,
    note="The numbers that the model should compute. Change one and watch the loss.",
    question="which steps would change if you changed one number of {own}?",
    recipe=recipes.GIVEN,
    role="input",
    source="target",
)

# Losses

RIGHT = Step(
    "Right",
    note="the probability of the right answer",
    purpose=(
        "The probability that the model gave to the right answer. The 0s of the target cancel all the "
        "other columns."
    ),
    question="which column of {b} decides the number of {own} in the row of {word}?",
    recipe=Recipe(
        do=(
            "Row of {a} times row of {b}: multiply pair by pair and add up. Only the right column "
            "counts, since {a} is 0 in all others."
        ),
        hint="Common mistake: taking the largest probability in place of that of the right answer.",
    ),
    helper=True,
)
_SURPRISE = Recipe(
    do="Take the natural logarithm of {a} and change its sign.",
    hint="Common mistakes: forgetting the minus sign, although a loss is never negative here; LOG, "
    "which takes the logarithm to base 10.",
)
LOSSES = Step(
    "Losses",
    note=(
        "The loss of each word, −ln of the probability of the right answer. Look for the largest "
        "number: where the model was most surprised."
    ),
    purpose=(
        "How surprised the model is by the right answer: 0 if it was certain of it, and the "
        "larger, the "
        "less probable it found it."
    ),
    question="if the probability of the right answer were 1, what would the loss be? And close to 0?",
    recipe=_SURPRISE,
)
MEAN_OF_ALL = Recipe(
    do="Add up all the numbers of {a} and divide by how many there are.",
    hint="Common mistake: adding them up without dividing.",
)
LOSS = Step(
    "Loss",
    note="The mean of all losses, which learning makes smaller. Compare with the losses one by one.",
    purpose="How wrong the model is on the whole, as one number: the mean of all losses.",
    question="which number of {a} contributes most to {own}?",
    recipe=MEAN_OF_ALL,
)
SINGLE_LOSS = replace(
    LOSS,
    note="−ln of the probability of the right answer. Change an input and watch: learning lowers it.",
    purpose=LOSSES.purpose,
    question=LOSSES.question,
    recipe=_SURPRISE,
)
SENTENCE_LOSSES = replace(
    LOSSES,
    note="The loss of each sentence. Look for the largest number: the sentence that is most wrong.",
    purpose="The losses of all sentences in one column, to compare them and to take their mean.",
    question="if one sentence were answered perfectly, which number would stand in its row of {own}?",
    recipe=recipes.TAKE_ROWS,
)
BATCH_LOSS = replace(
    LOSS,
    note="The mean of the sentences' losses, which learning makes smaller. Compare with each of them.",
    purpose="How wrong the model is on the whole, as one number: the mean over all sentences.",
)
ERRORS = Step(
    "Errors",
    note=(
        "How far each number is from its target: positive where it is too large. Look for the largest "
        "in size."
    ),
    purpose="How far the model's numbers are from the target: positive if too large.",
    question="where a number of {a} is too small, which sign has its error?",
    recipe=Recipe(
        do="Subtract the number of {b} from the number of {a} in the same row and column.",
        hint="Common mistake: subtracting the other way round, which flips every sign.",
    ),
)
SQUARED_LOSSES = replace(
    LOSSES,
    note=(
        "The loss of each word: the mean of its squared errors. Look for the largest number: where the "
        "model is furthest from the target."
    ),
    purpose=(
        "How wrong each word's row is: the mean of its squared errors. Squaring makes every error "
        "count, whatever its sign, and large ones most."
    ),
    question="if all errors of {word} were twice as large, what would its loss be?",
    recipe=Recipe(
        do="Square every number in the row of {a}, add up the squares, and divide by how many they "
        "are.",
        hint="Common mistakes: adding up before squaring; forgetting to divide.",
    ),
)
