"""Every step of the models: its symbol, note, purpose, question and recipe.

Renderers, lessons and `explain` read these texts from the node, so each is written here once. Plain
text, without matrices.
"""

from __future__ import annotations

from dataclasses import replace

from attn_xl.graph.step import Scope, Step

from . import recipes

ENCODER, DECODER = Scope("Enc", "encoder"), Scope("Dec", "decoder")
SELF = Scope("Self", "self-attention")
CROSS = Scope("Cross", "cross-attention")
TURNED = "In the file, rows and columns are swapped."

# Attention

_CHANGED = (
    "if you changed one number in {own}, which steps would change with it, and which "
    "would stay as they are?"
)
INPUT = Step(
    "Input",
    note=("The embeddings: one word per row, one dimension per column. Change a number and watch."),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="input",
    source="sentence",
)
MEMORY = Step(
    "Memory",
    note="The sentence {sentence}, which the others attend to. Change a number and watch.",
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="input",
    source="memory",
)
SOURCE = replace(MEMORY, symbol="Source")
VOCABULARY = Step(
    "Vocabulary",
    note=(
        "The words to choose from, one per row. Compare the rows: words with similar numbers "
        "get similar probabilities."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
QUERIES = Step(
    "Q",
    note=(
        "Queries: what each word (row) is looking for. Look for similar rows: those words are "
        "looking for the same thing."
    ),
    purpose=(
        "Every word gets a query: what it is looking for, like the words you type into a "
        "search box. The learned weights {b} determine what the search is about."
    ),
    question=(
        "if two words had the same numbers in {a}, could their queries in {own} differ? "
        "Think of {word} and a copy of it."
    ),
    recipe=recipes.PROJECT,
)
QUERIES_COPIED = replace(
    QUERIES,
    purpose=(
        "Every word gets a query: what it is looking for, like the words you type into a "
        "search box. Nothing is learned here: each word looks for words like itself."
    ),
    question=(
        "which word in {text} will have the query most similar to that of {word}, and how can "
        "you tell from {a}?"
    ),
    recipe=recipes.COPY,
)
KEYS = Step(
    "K",
    note=(
        "Keys: what each word (row) has to offer. Compare them with the queries: a key "
        "that points the same way gets a high score."
    ),
    purpose=(
        "Every word gets a key: what it has to offer, like the title on the spine of a book. "
        "The learned weights {b} determine the title."
    ),
    question=(
        "can a word look for one thing and offer another? Think of {word}: what would have to differ?"
    ),
    recipe=recipes.PROJECT,
)
KEYS_COPIED = replace(
    KEYS,
    purpose=(
        "Every word gets a key: what it has to offer, like the title on the spine of a book. "
        "Nothing is learned here: a word offers what it is."
    ),
    question=(
        "the keys here are plain copies of {a}. Which words have long keys, with large "
        "numbers, and how does that affect their scores? Start with {word}."
    ),
    recipe=recipes.COPY,
)
VALUES = Step(
    "V",
    note=(
        "Values: what each word (row) passes on to the words that look at it. Look for the "
        "largest number in a row: that is what they get most of."
    ),
    purpose=(
        "Every word gets a value: what it passes on to the words that look at it, like the "
        "contents of the book. The learned weights {b} determine the contents."
    ),
    question=(
        "if a column of {b} held nothing but zeros, what would {word} and every other word "
        "pass on in that column?"
    ),
    recipe=recipes.PROJECT,
)
VALUES_COPIED = replace(
    VALUES,
    purpose=(
        "Every word gets a value: what it passes on to the words that look at it, like the "
        "contents of the book. Nothing is learned here: a word passes on what it is."
    ),
    question=(
        "suppose another word looked at {word} and at nothing else: what would its new vector be?"
    ),
    recipe=recipes.COPY,
)
COPIED = {QUERIES: QUERIES_COPIED, KEYS: KEYS_COPIED, VALUES: VALUES_COPIED}
"""Each projection without weights: the embeddings are copied unchanged."""
SCORES = Step(
    "Scores",
    note=(
        "How well the query of each word (row) matches the key of each word (column). Look "
        "for the largest number in a row: its best match."
    ),
    purpose=(
        "Every query is compared with every key, as a search is compared with every title. "
        "The dot product is large where both have large numbers in the same columns."
    ),
    question=("whose key will the query of {word} match best: {words}? Say why before you compute."),
    recipe=recipes.MATCH,
)
KEY_WIDTH = Step(
    "d_k",
    note="the width of the queries and keys",
    purpose=(
        "How many numbers each query and each key has. The more there are, the larger the "
        "scores get; the next step compensates for that."
    ),
    question="what would change the number {own}: a longer sentence, or more dimensions in {a}?",
    recipe=recipes.COUNT_COLUMNS,
    helper=True,
)
DIVISOR = Step(
    "Divisor",
    note="what the scores are divided by",
    question="does a larger number in {own} make the scores more alike, or less?",
    helper=True,
)
SCALED = Step(
    "Scaled",
    note=(
        "The scores, scaled down to keep the softmax soft. Compare with the scores: the order "
        "within a row stays the same, the differences shrink."
    ),
    purpose=(
        "Turns the scores down, like a radio, so that no word drowns out all the others in the softmax."
    ),
    question=(
        "all scores are divided by the same number. Will the order of the words in the row of "
        "{word} change? Will the differences between their scores?"
    ),
    recipe=recipes.SCALE,
)
TEMPERED = Step(
    "Scaled",
    note=(
        "The scores, rescaled by the temperature. Change the temperature: a high one spreads "
        "the attention, a low one sharpens it."
    ),
    purpose=(
        "Rescales the scores. The temperature works like a dial: turned up, it spreads "
        "attention over many words; turned down, it focuses attention on a few."
    ),
    question=(
        "if the temperature were turned up very high, would {word} look at fewer words, or at "
        "all of them equally?"
    ),
    recipe=recipes.TEMPER,
)
DIVIDED = replace(TEMPERED, note=SCALED.note)
"""Scaled scores whose divisor a reader can change."""
MASK = Step(
    "Mask",
    note=(
        "0 where a word may look, a large negative number where it may not. Look along a row: "
        "its zeros mark the words that this word may look at."
    ),
    purpose=(
        "Which words may look at which, like a sheet of paper over part of a page: 0 leaves a "
        "word visible, a large negative number covers it."
    ),
    question="which words will be covered in the row of {word}: {words}?",
    recipe=recipes.HIDE_LATER,
    hides=True,
    is_read_off=True,
)
OWN_MASK = Step(
    "Mask",
    note=(
        "Added to the scores: a large negative number where a word may not look. Change a "
        "number and watch."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="input",
    hides=True,
    source="weights",
)
COMPUTED_MASK = replace(MASK, symbol="ComputedMask")
MASKED = Step(
    "Masked",
    note=(
        "The scores, with a large negative number where a word may not look. Compare with the "
        "mask: where it is 0, the scores are unchanged."
    ),
    purpose=("The scores, with the covered words pushed so low that the softmax gives them no weight."),
    question=(
        "which words can still win in the row of {word}, now that the mask covers part of it? "
        "Compare with the winner of its row in {a}."
    ),
    recipe=recipes.HIDE,
    hides=True,
)
MAXIMUM = Step(
    "Maximum",
    note="the largest score in the row",
    purpose=(
        "The largest score in each row. The next step subtracts it from the whole row, so "
        "that the exponentials cannot get too large; the weights come out the same."
    ),
    question=("without a formula: which column holds the largest number of {a} in the row of {word}?"),
    recipe=recipes.LARGEST,
    helper=True,
)
EXPONENTIALS = Step(
    "Exponentials",
    note="e^(score − maximum)",
    purpose=(
        "e to the power of each score makes every number positive and pulls the large ones "
        "away from the small ones."
    ),
    question=(
        "in the row of {word}, which cell of {own} will be the largest, and which number must "
        "it hold, given that its score is the maximum?"
    ),
    recipe=recipes.EXPONENTIAL,
    helper=True,
)
SUM = Step(
    "Sum",
    note="the sum of the exponentials",
    purpose=(
        "The sum of the exponentials in a row: the whole cake, which the next step cuts into slices."
    ),
    question=(
        "can the sum of the row of {word} be smaller than its largest exponential? How large "
        "can it be at most, with this many words?"
    ),
    recipe=recipes.ADD_UP,
    helper=True,
)
SOFTMAX = Step(
    "Softmax",
    note=(
        "The attention weights, exponential / sum: how much each word (row) looks at each "
        "word (column). Every row sums to 1: look for its largest number."
    ),
    purpose=(
        "The attention weights: each word divides its attention like a cake, with a slice for "
        "every word. No slice is negative, and together they make up the whole cake."
    ),
    question="which word will {word} look at most, and why? Which hardly at all?",
    recipe=recipes.SHARE,
    role="attention",
)
GIVEN_ATTENTION = Step(
    "A",
    note=(
        "The given attention weights: how much each word (row) takes of each word (column). Change a "
        "number and watch."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="attention",
    source="attention",
)
PLAIN_SUM = Step(
    "Sum",
    note="the sum of the scores",
    purpose=("The sum of the scores in a row: the whole cake, which the next step cuts into slices."),
    question="what would go wrong in the next step if the scores of {word} added up to 0?",
    recipe=recipes.ADD_UP,
    helper=True,
)
SHARES = Step(
    "Weights",
    note=(
        "The attention weights, score / sum: how much each word (row) looks at each word "
        "(column). Every row sums to 1: look for its largest number."
    ),
    purpose=(
        "The attention weights: each word divides its attention like a cake, in proportion to "
        "the scores."
    ),
    question=(
        "which word will {word} look at most, and why? What would a negative score do to its share?"
    ),
    recipe=recipes.SHARE,
    role="attention",
)
DROPOUT_MASK = Step(
    "DropoutMask",
    note="1 where a weight is kept, 0 where it is dropped. Change it and watch.",
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="input",
)
DROPPED = Step(
    "Dropped",
    note=(
        "The weights with some set to 0, as in training; the others grow to compensate. Check "
        "that the zeros are where the dropout mask has them."
    ),
    purpose=(
        "In training, some weights are set to 0 at random, so that the model does not rely on "
        "a single word, just as a team practises with a player missing. The others grow to "
        "compensate."
    ),
    question=(
        "which words will {word} no longer see in {own}? Must the rest of its row still add up to 1?"
    ),
    recipe=recipes.DROP,
)
RESIDUAL_MASK = Step(
    "ResidualMask",
    note="1 where a number is kept, 0 where it is dropped. Change it and watch.",
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="input",
)
RESIDUAL = Step(
    "Residual",
    note=(
        "The same numbers with some set to 0, as in training; the others grow to compensate. "
        "Check that the zeros are where the mask has them."
    ),
    purpose=(
        "In training, some of what the step found is set to 0 at random, so that no word "
        "relies on a single number. The others grow to compensate."
    ),
    question=(
        "which numbers of {word} will be 0 in {own}? What happens to the others if half of "
        "all numbers are dropped?"
    ),
    recipe=recipes.DROP,
)
EMBEDDED_MASK = replace(RESIDUAL_MASK, symbol="EmbeddedMask")
EMBEDDED_DROPPED = replace(
    RESIDUAL,
    symbol="EmbeddedDropped",
    purpose=(
        "In training, some numbers of the embeddings are set to 0 at random, so that no word "
        "relies on a single dimension. The others grow to compensate."
    ),
)
OUTPUT = Step(
    "Output",
    note=(
        "Each word's new vector: the values, mixed by its attention weights. Compare a row "
        "with the values of the words that it looks at most."
    ),
    purpose=(
        "Each word's new vector: a mixture of the values. The attention weights are the "
        "recipe: this much of one word, that much of another."
    ),
    question=(
        "which word's value will the new vector of {word} resemble most, and which row of {a} "
        "tells you?"
    ),
    recipe=recipes.MIX,
)
SWITCHED_OUTPUT = OUTPUT.by(recipes.MIX_AND_SWITCH)
OUTPUT_KEPT = replace(
    OUTPUT,
    note=(
        "The new word's vector: the values of all words so far, mixed by its attention weights. "
        "Look at a formula: it reads earlier values where they were first computed."
    ),
    recipe=recipes.MIX_KEPT,
)
CONCAT = Step(
    "Concat",
    note=("The outputs of all heads, side by side. Compare the blocks of columns: one for each head."),
    purpose=(
        "Each head looked at the sentence in its own way. Here their reports are placed side by side."
    ),
    question="how many columns will {own} have, and which head does the last column come from?",
    recipe=recipes.SIDE_BY_SIDE,
)
ATTENTION = Step(
    "Attention",
    note=(
        "What the heads found, mixed together. Compare with the heads side by side: each "
        "column now draws on all of them."
    ),
    purpose=(
        "Combines the reports of all heads into one vector for each word, as an editor turns "
        "several reports into one article."
    ),
    question=(
        "if one head had found nothing for {word}, only zeros, would its row of {own} have to be 0?"
    ),
    recipe=recipes.PROJECT,
)
MIXED_OUTPUT = replace(ATTENTION, symbol=OUTPUT.symbol)
"""The mixed output of the heads where it is the model's result."""
COLUMNS_OF_HEAD = Step(
    "",
    note=(
        "The part of {name} that belongs to head {head}. Compare the heads: each has its own columns."
    ),
    purpose=(
        "The columns of {a} that belong to this head. Each head has its own, so that each can "
        "look for something different."
    ),
    question=(
        "which columns of {a} go into {own}, and which head does the first column left out belong to?"
    ),
    recipe=recipes.TAKE_COLUMNS,
    is_read_off=True,
)


def columns_of_head(weights: Step, name: str, head: int) -> Step:
    """The step that selects a head's columns of the weights `name`."""
    note = COLUMNS_OF_HEAD.note.format(name=name, head=head)
    return replace(COLUMNS_OF_HEAD, symbol=weights.symbol, note=note)


POSITIONS = Step(
    "Positions",
    note=(
        "The position of each word, as waves of different lengths. Look down the columns: the "
        "numbers change quickly on the left, slowly on the right."
    ),
    purpose=(
        "Attention by itself does not see the order of the words. The waves give every "
        "position its own pattern, like the hands of a clock: some turn quickly, some slowly."
    ),
    question="if other words took the positions of {text}, which numbers of {own} would change?",
    recipe=recipes.WAVES,
)
POSITIONS_TAKEN = replace(
    POSITIONS,
    note=(
        "The learned position of each word: the first rows of W_P. Compare neighbours: training "
        "decides how similar they are."
    ),
    purpose=(
        "Attention by itself does not see the order of the words. Each position has a vector of its "
        "own, learned in training, like a numbered seat."
    ),
    recipe=recipes.TAKE_ROWS,
    is_read_off=True,
)
ANGLE_OF_POSITION = Step(
    "Angle",
    note=(
        "How far each pair of columns (1a and 1b, 2a and 2b, ...) is turned for each position, in "
        "radians. Look down a column: the angle grows evenly, slower from pair to pair."
    ),
    purpose=(
        "Each position turns queries and keys like the hands of a clock: one pair of columns is a fast "
        "hand, the next a slower one. Two words meet at an angle that depends on their distance only."
    ),
    question="by how much more is the last word of {text} turned than the one before it, in pair 1?",
    recipe=recipes.TURN_BY,
)
ROTARY_FACTORS = Step(
    "RotaryFactors",
    note=(
        "What the angle of each pair of columns is multiplied by, so that long texts fit. Compare the "
        "columns: the slow pairs turn even more slowly."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
COSINES = Step(
    "Cos",
    note="The cosine of each angle. Look at the first row: position 0 turns nothing.",
    purpose="How much of each number stays in its column when its pair is turned.",
    question="which row of {own} consists of ones, and why?",
    recipe=recipes.COSINE_OF,
)
SINES = Step(
    "Sin",
    note="The sine of each angle. Look at the first row: position 0 turns nothing.",
    purpose="How much of each number goes over to the other column of its pair.",
    question="which row of {own} consists of zeros, and why?",
    recipe=recipes.SINE_OF,
)
TURNED_ON = Step(
    "Turned",
    note="a quarter turn on: the pair (a, b) becomes (−b, a)",
    purpose="Each pair of numbers as an arrow, a quarter turn on: (a, b) becomes (−b, a).",
    question="if a pair of {word} in {a} points to the right, where does it point in {own}?",
    recipe=recipes.QUARTER_TURN,
    helper=True,
)
ROTATED_QUERIES = Step(
    "RotatedQ",
    note=(
        "The queries, turned by their position: Q · cos + Turned · sin. Compare a row with Q: the "
        "lengths of the pairs stay the same."
    ),
    purpose=(
        "Turns the query of each word by its position. A word finds the same match at the same "
        "distance, wherever the two stand in the text."
    ),
    question="will the row of {word} in {own} be longer than in {a}, shorter, or as long?",
    recipe=recipes.ROTATE,
)
ROTATED_KEYS = replace(
    ROTATED_QUERIES,
    symbol="RotatedK",
    note=(
        "The keys, turned by their position: K · cos + Turned · sin. Compare a row with K: the lengths "
        "of the pairs stay the same."
    ),
    purpose="Turns the key of each word by its position, just as the queries are turned.",
)
DISTANCES = Step(
    "Distance",
    note="How many words apart two words stand. Look at the diagonal: a word is 0 from itself.",
    purpose="How far apart two words stand, counted in words.",
    question="which word is farthest from {word}: {words}?",
    recipe=recipes.COUNT_BETWEEN,
)
BIASED = Step(
    "Biased",
    note=(
        "The scores, lowered by the distance of the two words. Compare the heads: each lowers them by "
        "its own slope, so some look far and some look near."
    ),
    purpose=(
        "Words that stand near count for more, as voices in a room do. Each head is differently "
        "hard of hearing."
    ),
    question="which word loses most in the row of {word}: {words}?",
    recipe=recipes.LOWER_BY_DISTANCE,
)
EMBEDDED = Step(
    "Embedded",
    note=(
        "What each word means and where it stands. Compare the rows of a word that occurs "
        "twice: now they differ."
    ),
    purpose=(
        "What each word means, combined with where it stands: the embedding plus the pattern "
        "of its position."
    ),
    question=("if {word} stood at the other end of the sentence, would its row of {own} be the same?"),
    recipe=recipes.ADD,
)
COMPARED = Step(
    "Compare",
    note=(
        "What attention made of words that several sentences share: same input, different "
        "output. Look at the differences below the outputs."
    ),
    purpose=(
        "The same word in several sentences, one row for each, so that you see what attention "
        "made of it."
    ),
    question=(
        "how would the rows of {own} compare if the sentences around the word had been the same?"
    ),
    recipe=recipes.TAKE_ROWS,
)
COMPARED_ENDS = tuple(replace(COMPARED, symbol=end.symbol) for end in (INPUT, OUTPUT))
"""The input and the output of a word that sentences share; the word is the last scope of its part."""
ENDS = {"Input": "input", "Output": "output"}
"""The same two in words."""
COMPARED_DIFFERENCE = replace(COMPARED.by(recipes.SUBTRACT_FIRST), symbol="Difference")

# The sheets Controls and Compare; the sentence is the last scope of a step's part

WORDS = Step("Words", note="the words to choose from")
WORD = Step("Word", note="Choose a word.", role="input")
PLACE = Step("Place", note="Where it stands.")
LOOKS = Step("Looks", note="how much it looks at")
NEXT_LOOKS = replace(LOOKS, note="what comes next")
CHANGE = Step("Change", note="what it becomes")
INPUT_OF_WORD = Step("InputOfWord", note="its input")
OUTPUT_OF_WORD = Step("OutputOfWord", note="its output")
MOVES = Step("Moves")
COMPONENTS = Step("Components", note="principal components", role="weight")
CENTRE = Step("Centre", note="the mean")
SHIFT = Step("Shift", note="the mean, projected")

# The transformer

SKIP = Step(
    "Sum",
    note=(
        "The step's input added to its output. Compare with the input: the step only adjusts "
        "it and does not replace it."
    ),
    purpose=(
        "The skip connection: each word keeps what it had, and what the step found is "
        "added, like notes in the margin of a text."
    ),
    question="suppose {b} held nothing but zeros: what would the row of {word} in {own} be?",
    recipe=recipes.ADD,
)
MEAN = Step(
    "Mean",
    note="the mean of the row",
    purpose=("The mean of each row: the centre that its numbers lie around. The norm subtracts it."),
    question="if every number of {word} in {a} increased by 1, how would {own} change?",
    recipe=recipes.MEAN,
    helper=True,
)
VARIANCE = Step(
    "Variance",
    note="the variance of the row",
    purpose=(
        "How widely the numbers of each row spread around their mean. The norm divides by the "
        "square root of it."
    ),
    question="if every number of {word} in {a} increased by 1, how would {own} change, and why?",
    recipe=recipes.VARIANCE,
    helper=True,
)
SAMPLE_VARIANCE = replace(
    VARIANCE, note="the sample variance of the row", recipe=recipes.SAMPLE_VARIANCE
)
MEAN_SQUARE = Step(
    "MeanSquare",
    note="the mean of the squares of the row",
    purpose="The mean of the squares of each row: its root says how large its numbers are.",
    question="if every number of {word} in {a} were doubled, how would {own} change?",
    recipe=recipes.MEAN_SQUARE,
    helper=True,
)
NORM = Step(
    "Norm",
    note=(
        "{which}: each row rescaled to mean 0 and variance 1{how}, then stretched and "
        "shifted. Compare the rows: now none is much larger than another."
    ),
    purpose=(
        "Brings every word to the same size, like microphones set to the same volume, so that "
        "the next step can work with all of them."
    ),
    question="if every number of {word} in {a} were doubled, how would its row of {own} change?",
    recipe=recipes.NORM,
)
RMS_NORM = replace(
    NORM,
    note=(
        "{which}: each row divided by its root mean square{how}, then stretched. Compare the rows: now "
        "none is much larger than another."
    ),
)
RMS_NORM_ALONE = replace(
    NORM,
    note=(
        "Each row divided by its root mean square{how}. Compare the rows: now none is much larger than "
        "another."
    ),
)
NORM_ALONE = replace(
    NORM,
    note=(
        "Each row rescaled to mean 0 and variance 1{how}. Compare the rows: now none is much "
        "larger than another."
    ),
)
HIDDEN = Step(
    "Hidden",
    note=(
        "What each neuron of the hidden layer (column) receives. Look for negative "
        "numbers: the activation holds them back."
    ),
    purpose=(
        "A layer of neurons, one per column. Each looks for one pattern in a word's vector; a "
        "large number means that the pattern is there."
    ),
    question="if the row of {word} in {a} held nothing but zeros, what would its neurons receive?",
    recipe=recipes.PROJECT,
)
ACTIVATED = Step(
    "Activated",
    note=(
        "What each neuron passes on. Look for zeros, or numbers close to 0: neurons that stay "
        "silent for that word."
    ),
    purpose="Each neuron decides whether to speak up: negative numbers are held back.",
    question="which neurons will stay silent for {word}, and what must you look for in {a}?",
    recipe=recipes.RELU,
)
GATE = Step(
    "Gate",
    note=(
        "What the gate of each neuron (column) receives. Look for negative numbers: the activation "
        "nearly closes those gates."
    ),
    purpose=(
        "A second layer of neurons beside the first: gates that decide how much of each neuron passes."
    ),
    question="if the row of {word} in {a} held nothing but zeros, what would its gates receive?",
    recipe=recipes.PROJECT,
)
GATED = Step(
    "Gated",
    note=(
        "What passes the gates: each neuron times its gate. Look for numbers close to 0, where either "
        "of the two was."
    ),
    purpose="Each neuron is multiplied by its gate, like water by how far a tap is open.",
    question="which neurons of {word} does its gate hold back most, and what must you look for in {a}?",
    recipe=recipes.MULTIPLY,
)
FEED_FORWARD = Step(
    "FeedForward",
    note=(
        "What the feed-forward network makes of each word. Notice that each row depends on "
        "its own word alone."
    ),
    purpose=(
        "Turns what the neurons found back into a vector as wide as the word's own, one word at a time."
    ),
    question=(
        "suppose only one neuron spoke up for {word}: which row of {b} would decide its row of {own}?"
    ),
    recipe=recipes.PROJECT,
)
DRAWING = Scope("Drawing", "drawing")
NEW = Scope("New", "new word", unit="", again=True)
LOGITS = Step(
    "Logits",
    note=(
        "How well each word of the vocabulary would fit after each word of the sentence. Look "
        "for the largest number in a row: the best fit."
    ),
    purpose=(
        "The model's vector for each word is compared with every word of the vocabulary: how "
        "well would that word fit next?"
    ),
    question="which word would you expect to come after {word}: {words}?",
    recipe=recipes.MATCH,
)
PROBABILITIES = Step(
    "Probabilities",
    note=(
        "The probability that each word comes next. Every row sums to 1: look for its largest number."
    ),
    purpose=(
        "How sure the model is of each next word: the logits turned into shares that add up to 1."
    ),
    question=(
        "will the word with the largest logit after {word} also have the largest probability? Why?"
    ),
    recipe=recipes.SHARE,
    role="attention",
)
NEXT = Step(
    "Next",
    note=(
        "The most probable next word; the one in the last row continues the sentence. Check "
        "that it has the largest probability in its row."
    ),
    purpose="The model speaks: after each word, the next word that it finds most probable.",
    question="which row of {own} continues {text}, and what do the other rows tell you?",
    recipe=recipes.FIND_LARGEST_COLUMN,
)
# Writing on: each new word is a part of the model

LAST_LOGITS = Step(
    "LastLogits",
    note=(
        "The logits after the last word: how well each word continues the text. Look for the largest."
    ),
    purpose="Only the last row decides how the text goes on.",
    question="which word of the vocabulary will be written next?",
    recipe=recipes.TAKE_ROWS,
    is_read_off=True,
)
TEMPERED_LOGITS = Step(
    "Tempered",
    note="The logits, divided by word_temperature. Compare with the logits: below 1, differences grow.",
    purpose="A low temperature makes the model careful, a high one makes it bold.",
    question="does dividing all numbers by the same one change which is the largest?",
    recipe=recipes.TEMPER,
)
CHANCES_OF_WORDS = Step(
    "WordChances",
    note="The probability that each word is drawn. Look for the largest: it is drawn most often.",
    purpose="The slices of a wheel of fortune, one for each word of the vocabulary.",
    question="which word has the largest slice?",
    recipe=recipes.SHARE,
)
WHEEL = Step(
    "Wheel",
    note="The probabilities, added up from the left. Look for the first number beyond Draw: it wins.",
    purpose="The rim of the wheel, from 0 to 1: each word's slice ends at its number.",
    question="what must the last number be, and why?",
    recipe=recipes.ADD_FROM_LEFT,
)
DRAW = Step(
    "Draw",
    note="where the wheel stops, from 0 to 1",
    question="can {own} be below 0 or above 1?",
    helper=True,
)
STATE = Step(
    "State",
    note="the whole number that the next draw is made of",
    question="does {own} depend on the words of the text?",
    helper=True,
)
BEYOND = Step(
    "Beyond",
    note="1 where the slice of a word ends beyond Draw. Look for the first 1: that word is drawn.",
    purpose="The wheel stops at Draw: every slice that ends later lies beyond.",
    question="what do all words to the right of the first 1 have?",
    recipe=recipes.FIND_BEYOND,
    is_read_off=True,
)
DRAWN_ONE = Step(
    "Drawn",
    note="1 for the word that is drawn, 0 for all others. Change Seed and watch.",
    purpose="The word at which the wheel stops.",
    question="below which word is the 1?",
    recipe=recipes.FIRST_LARGEST,
    is_read_off=True,
)
LIKELIEST = Step(
    "Likeliest",
    note="1 for the most probable word, 0 for all others. Compare it with the word that is drawn.",
    purpose="The word that a careful model takes: the most probable one.",
    question="for which word of the vocabulary is the logit the largest?",
    recipe=recipes.FIRST_LARGEST,
    is_read_off=True,
)
DRAWN = Step(
    "Chosen",
    note="1 for the word that is written, 0 for all others. Change Sample, Seed or word_temperature.",
    purpose="The word that comes next: the most probable one, or the one at which the wheel stops.",
    question="how many ones are there, and below which word?",
    recipe=recipes.CHOOSE_WORD,
    is_read_off=True,
)
NEW_WORD = Step(
    "Word",
    note="The word that the model writes next. Compare with Chosen: its 1 stands below this word.",
    purpose="The model writes a word.",
    question="read {a}: which word is it?",
    recipe=recipes.FIND_LARGEST_COLUMN,
)
NEW_INPUT = Step(
    "Input",
    note="The embedding of the new word. Compare it with the rows of Vocabulary: it is one of them.",
    purpose="The word just written is what the model reads next.",
    question="which row of {b} will {own} be equal to?",
    recipe=recipes.PROJECT,
)
CACHED_PER_WORD = Step(
    "kept_per_word",
    note="the numbers of K and V of one word, in all layers and heads",
    question="would {own} change if the text were longer?",
    helper=True,
)
WORDS_SO_FAR = Step(
    "Words",
    note="words so far",
    question="by how much does {own} grow from row to row, and why?",
    helper=True,
)
CACHE = Step(
    "Cache",
    note=(
        "Numbers of K and V for each new word: kept so far, computed now, computed without a cache, "
        "and saved. Look down the columns: with the cache, the work for each word stays the same."
    ),
    purpose=(
        "The keys and values of earlier words never change, so they are kept, as a reader keeps notes "
        "instead of reading the book again for each new page."
    ),
    question="how much more would the tenth new word cost without a cache than the first?",
    recipe=recipes.COUNT_KEPT,
)
# Similarity

DOT = Step(
    "Dot",
    note=(
        "The dot product of each pair of words: large for long vectors that point the same "
        "way. Compare the diagonal, each word with itself, with the rest."
    ),
    purpose=(
        "The dot product of each pair of words: how much they have in common, and how long "
        "their vectors are."
    ),
    question=(
        "with which other word will {word} have the largest dot product: {others}? And with itself?"
    ),
    recipe=recipes.MATCH_THEMSELVES,
)
MAGNITUDE = Step(
    "Magnitude",
    note=("The length of each word's vector. Compare the words: long vectors make large dot products."),
    purpose="How long each word's arrow is, from the origin to the point that its numbers give.",
    question="do the signs of the numbers of {word} matter for its length? And their order?",
    recipe=recipes.MAGNITUDE,
)
COSINE = Step(
    "Cosine",
    note=(
        "The cosine similarity: 1 for the same direction, 0 for nothing in common, -1 for "
        "opposite directions. Look for the largest number off the diagonal."
    ),
    purpose=(
        "How similar the directions of two words are, whatever their lengths: the dot product "
        "with the lengths divided out."
    ),
    question="what must the cosine of {word} with itself be, and why?",
    recipe=recipes.COSINE,
)
ANGLE = Step(
    "Angle",
    note=(
        "The angle between the two vectors, in degrees. Look for the smallest number off the "
        "diagonal: the two most similar words."
    ),
    purpose="How far apart two arrows point: a small angle means that two words are similar.",
    question="whose arrow points most nearly the same way as that of {word}: {others}?",
    recipe=recipes.ANGLE,
)
# Learned weights

W_Q = Step(
    "W_Q",
    note=(
        "Learned: turns embeddings into queries. Look down a column: how much each dimension "
        "contributes to it."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
W_K = Step(
    "W_K",
    note=(
        "Learned: turns embeddings into keys. Look down a column: how much each dimension "
        "contributes to it."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
W_V = Step(
    "W_V",
    note=(
        "Learned: turns embeddings into values. Look down a column: how much each dimension "
        "contributes to it."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
W_O = Step(
    "W_O",
    note=(
        "Learned: mixes what the heads found. Look down a column: how much each head contributes to it."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
W_U = Step(
    "W_U",
    note=(
        "Learned: from each word's vector to the vocabulary. Look down a column: which dimensions make "
        "its word probable."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
W_C = replace(
    W_U,
    symbol="W_C",
    note=(
        "Learned: from the sentence's vector to the classes. Look down a column: which dimensions "
        "make its class probable."
    ),
)
W_1 = Step(
    "W_1",
    note=(
        "Learned: from each word to the hidden layer. Look down a column: what its neuron responds to."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
W_2 = Step(
    "W_2",
    note=(
        "Learned: from the hidden layer back to each word. Look along a row: what its "
        "neuron adds to a word."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
W_G = Step(
    "W_G",
    note=(
        "Learned: from each word to the gates of the hidden layer. Look down a column: what opens its "
        "gate."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
W_P = Step(
    "W_P",
    note=(
        "Learned: a vector for each position. Compare neighbouring rows: training decides how similar "
        "they are."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
GAMMA = Step(
    "gamma",
    note=("Learned: how much each dimension is stretched after the norm. Look for any that is not 1."),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
BETA = Step(
    "beta",
    note=("Learned: how far each dimension is shifted after the norm. Look for any that is not 0."),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
BIAS = Step(
    "b",
    note=(
        "Learned: added to the step's result. Look for any that is not 0: it shifts every word equally."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
BIASES = {
    weights: replace(BIAS, symbol=weights.symbol.replace("W", "b"))
    for weights in (*(W_Q, W_K, W_V, W_O, W_1, W_G, W_2, W_U, W_C),)
}
"""The bias that belongs to each of the weights."""

# Parts of a model that are not written

ENTERED = Step(
    "Entered",
    note=(
        "What the layers before give: computed, and entered as values. Change a number and watch what "
        "follows."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="input",
    source="entered",
)
OTHER_HEADS = replace(
    ENTERED,
    symbol="OtherHeads",
    note="What the other heads add, through their rows of W_O: computed, and entered as values.",
)
NETWORK_ENTERED = replace(
    ENTERED,
    symbol="FeedForward",
    note="What the feed-forward network gives: computed, and entered as values.",
)
OTHER_WORDS = replace(
    ENTERED,
    symbol="OtherWords",
    note=(
        "All words of the vocabulary that are not shown, as one logit: the logarithm of the sum of "
        "their exponentials. Computed, and entered as values, so that the probabilities are exact."
    ),
)
ALL_OTHERS = "(all others)"
"""The column of the words that are not shown."""
INPUT_OF_MODEL = (
    "The embeddings of the tokens. The layers that read them are not written, so nothing "
    "here depends on these numbers."
)
HEAD_SWITCH = Step(
    "Head",
    note="1: what {part} gives counts; 0: it is removed.",
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="input",
    source="weights",
)
