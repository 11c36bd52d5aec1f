"""Every step of the models: what it is called, what it shows, what it is for, what to ask before it is
computed, and how. The one place for these words: a renderer, a lesson and `explain` read them from the
node. Plain text; knows no matrix."""

from __future__ import annotations

from dataclasses import replace

from attn_xl.graph.step import Scope, Step

from . import recipes

ENCODER, DECODER = Scope("Enc", "encoder"), Scope("Dec", "decoder")
SELF, CROSS = Scope("Self", "self-attention"), Scope("Cross", "cross-attention")
TURNED = " In the file its rows are columns."

# Attention

_CHANGED = (
    "if you changed one number of {own}, which steps would follow it, and which would stay as they are?"
)
INPUT = Step(
    "Input",
    note="The embeddings: one word a row, one dimension a column. Change a number and watch.",
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="input",
    source="sentence",
)
MEMORY = Step(
    "Memory",
    note="The sentence {!r}, which the others attend to. Change a number and watch.",
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="input",
    source="memory",
)
SOURCE = replace(MEMORY, symbol="Source")
VOCABULARY = Step(
    "Vocabulary",
    note=(
        "The words to choose from: one a row. Compare the rows: words with like numbers "
        "get like probabilities."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
QUERIES = Step(
    "Q",
    note=(
        "Queries: what each word (row) is looking for. Look for rows that are alike: those "
        "words look for the same."
    ),
    purpose=(
        "Every word gets a query: what it is looking for, like the words you type into a "
        "search box. The learned weights {b} say what the search is about."
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
        "search box. Here nothing is learned: each word looks for its like."
    ),
    question=(
        "which word of {text} will have a query most like that of {word}, and how can you "
        "tell from {a}?"
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
        "Every word gets a key: what it has to offer, like the title on the spine of a "
        "book. The learned weights {b} say which title it is."
    ),
    question=(
        "can a word look for one thing and offer another? Think of {word}: what would have to differ?"
    ),
    recipe=recipes.PROJECT,
)
KEYS_COPIED = replace(
    KEYS,
    purpose=(
        "Every word gets a key: what it has to offer, like the title on the spine of a "
        "book. Here nothing is learned: a word offers what it is."
    ),
    question=(
        "keys are here plain copies of {a}. Whose key will be long, with large numbers, "
        "and what does that do to its matches? Begin with {word}."
    ),
    recipe=recipes.COPY,
)
VALUES = Step(
    "V",
    note=(
        "Values: what each word (row) passes on to those that look at it. Look for the "
        "largest number of a row: that is what they get most of."
    ),
    purpose=(
        "Every word gets a value: what it passes on to those that look at it, like what "
        "the book says. The learned weights {b} say what that is."
    ),
    question=(
        "if a column of {b} held nothing but 0, what would {word}, and every other word, "
        "pass on in that column?"
    ),
    recipe=recipes.PROJECT,
)
VALUES_COPIED = replace(
    VALUES,
    purpose=(
        "Every word gets a value: what it passes on to those that look at it, like what "
        "the book says. Here nothing is learned: a word passes on what it is."
    ),
    question=(
        "suppose another word looked at {word} and at nothing else: what would its new vector be?"
    ),
    recipe=recipes.COPY,
)
COPIED = {QUERIES: QUERIES_COPIED, KEYS: KEYS_COPIED, VALUES: VALUES_COPIED}
"""The projections, where nothing is learned and the embeddings stay as they are."""
SCORES = Step(
    "Scores",
    note=(
        "How well the query of each word (row) matches the key of each word (column). Look "
        "for the largest number of a row: its best match."
    ),
    purpose=(
        "Every query meets every key, as a search is held against every title. The dot "
        "product is large where both have large numbers in the same columns."
    ),
    question=("whose key will the query of {word} match best: {words}? Say why before you compute."),
    recipe=recipes.MATCH,
)
KEY_WIDTH = Step(
    "d_k",
    note="the width of the queries and keys",
    purpose=(
        "How many numbers a query and a key have. The more there are, the larger the "
        "scores grow; the next step makes up for that."
    ),
    question="what would change the number {own}: a longer sentence, or more dimensions of {a}?",
    recipe=recipes.COUNT_COLUMNS,
    helper=True,
)
DIVISOR = Step(
    "Divisor",
    note="what the scores are divided by",
    helper=True,
)
SCALED = Step(
    "Scaled",
    note=(
        "The scores brought down to a size that keeps the softmax soft. Compare with the "
        "scores: the order in a row stays, the distances shrink."
    ),
    purpose=(
        "The scores made smaller, like a radio turned down, so that no word drowns out all "
        "others in the softmax."
    ),
    question=(
        "all scores are divided by the same number. In the row of {word}, will the order "
        "of the words change? And how far apart they are?"
    ),
    recipe=recipes.SCALE,
)
TEMPERED = Step(
    "Scaled",
    note=(
        "The scores brought to a size that the temperature sets. Change the temperature: a "
        "high one spreads the attention, a low one sharpens it."
    ),
    purpose=(
        "The scores brought to another size. The temperature works like a dial: high, and "
        "attention spreads over many words; low, and it sharpens on a few."
    ),
    question=(
        "if the temperature were turned up very high, would {word} look at fewer words, or "
        "at all of them alike?"
    ),
    recipe=recipes.TEMPER,
)
DIVIDED = replace(TEMPERED, note=SCALED.note)
"""The scores divided by a number that a reader can change."""
MASK = Step(
    "Mask",
    note=(
        "0 where a word may look, a large negative number where it may not. Look along a "
        "row: its zeros are the words that this word may look at."
    ),
    purpose=(
        "Who may look at whom, like a sheet of paper laid over part of a page: 0 leaves a "
        "word to be seen, a huge negative number covers it."
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
        "The scores, with a large negative number where a word may not look. Compare with "
        "the mask: where it has 0, the scores are as they were."
    ),
    purpose=(
        "The scores with the covered words pushed so far down that the softmax gives them nothing."
    ),
    question=(
        "which words can still win in the row of {word}, now that the mask is laid over "
        "it? Compare with the winner of its row in {a}."
    ),
    recipe=recipes.HIDE,
    hides=True,
)
MAXIMUM = Step(
    "Maximum",
    note="the largest score of the row",
    purpose=(
        "The largest score of each row. It is taken away from the whole row next, so that "
        "the exponentials cannot grow too large; the weights come out the same."
    ),
    question=("without a formula: which column holds the largest number of {a} in the row of {word}?"),
    recipe=recipes.LARGEST,
    helper=True,
)
EXPONENTIALS = Step(
    "Exponentials",
    note="e^(score − maximum)",
    purpose=(
        "e to the power of each score makes every number positive, and pulls the large "
        "ones away from the small ones."
    ),
    question=(
        "which cell of the row of {word} will be the largest of {own}, and which number "
        "must it be, since its score is the maximum itself?"
    ),
    recipe=recipes.EXPONENTIAL,
    helper=True,
)
SUM = Step(
    "Sum",
    note="what the exponentials add up to",
    purpose=(
        "What the exponentials of a row add up to: the whole cake, of which the next step "
        "cuts the shares."
    ),
    question=(
        "can the sum of the row of {word} be smaller than its largest exponential? How "
        "large can it be at most, with so many words?"
    ),
    recipe=recipes.ADD_UP,
    helper=True,
)
SOFTMAX = Step(
    "Softmax",
    note=(
        "The attention weights, exponential / sum: how much each word (row) looks at each "
        "word (column). Every row sums to 1: look for its largest."
    ),
    purpose=(
        "The attention weights: each word shares out its attention like a cake, a slice "
        "for every word. No slice is negative, and together they are the whole cake."
    ),
    question="which word will {word} look at most, and why? Which hardly at all?",
    recipe=recipes.SHARE,
    role="attention",
)
PLAIN_SUM = Step(
    "Sum",
    note="what the scores add up to",
    purpose=(
        "What the scores of a row add up to: the whole cake, of which the next step cuts the shares."
    ),
    question="what would go wrong in the next step if the scores of {word} added up to 0?",
    recipe=recipes.ADD_UP,
    helper=True,
)
SHARES = Step(
    "Weights",
    note=(
        "The attention weights, score / sum: how much each word (row) looks at each word "
        "(column). Every row sums to 1: look for its largest."
    ),
    purpose=(
        "The attention weights: each word shares out its attention like a cake, in "
        "proportion to the scores."
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
        "The weights with some set to 0, as in training; the others grow to make up for "
        "it. Check that the zeros stand where the dropout mask has them."
    ),
    purpose=(
        "In training some weights are set to 0 by chance, so that the model does not lean "
        "on one word alone, as a team practises with a player missing. The others grow to "
        "make up for it."
    ),
    question=(
        "which words will {word} no longer see in {own}? Must what is left of its row "
        "still add up to 1?"
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
        "The same with some numbers set to 0, as in training; the others grow to make up for it. "
        "Check that the zeros stand where the mask has them."
    ),
    purpose=(
        "In training some of what the step found is set to 0 by chance, so that no word leans on a "
        "single number. The others grow to make up for it."
    ),
    question=(
        "which numbers of {word} will be 0 in {own}? What becomes of the others if half of all are "
        "dropped?"
    ),
    recipe=recipes.DROP,
)
EMBEDDED_MASK = replace(RESIDUAL_MASK, symbol="EmbeddedMask")
EMBEDDED_DROPPED = replace(
    RESIDUAL,
    symbol="EmbeddedDropped",
    purpose=(
        "In training some numbers of the embeddings are set to 0 by chance, so that no word leans on a "
        "single dimension. The others grow to make up for it."
    ),
)
OUTPUT = Step(
    "Output",
    note=(
        "Each word's new vector: the values, mixed by its attention weights. Compare a row "
        "with the values of the words it looks at most."
    ),
    purpose=(
        "Each word's new vector: a mixture of the values. The attention weights are the "
        "recipe: so much of this word, so much of that."
    ),
    question=(
        "which word's value will the new vector of {word} be most like, and which row of {a} tells you?"
    ),
    recipe=recipes.MIX,
)
CONCAT = Step(
    "Concat",
    note=("The outputs of all heads, side by side. Compare the blocks of columns: one for each head."),
    purpose=("Each head looked at the sentence in its own way. Their reports are laid side by side."),
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
        "The reports of all heads, made into one vector for each word, as an editor makes "
        "one text of several reports."
    ),
    question=("if one head had found nothing for {word}, only 0, would its row of {own} have to be 0?"),
    recipe=recipes.PROJECT,
)
MIXED_OUTPUT = replace(ATTENTION, symbol=OUTPUT.symbol)
"""What the heads found, where it is all that the model gives."""
COLUMNS_OF_HEAD = Step(
    "",
    note=(
        "The part of {name} that belongs to head {head}. Compare the heads: each has "
        "columns of its own."
    ),
    purpose=(
        "The columns of {a} that belong to this head. Each head has its own, so that each "
        "can look for something else."
    ),
    question=(
        "which columns of {a} come into {own}, and to which head does the first column left out belong?"
    ),
    recipe=recipes.TAKE_COLUMNS,
    is_read_off=True,
)


def columns_of_head(weights: Step, name: str, head: int) -> Step:
    """The step that takes a head's columns out of the weights `name`."""
    note = COLUMNS_OF_HEAD.note.format(name=name, head=head)
    return replace(COLUMNS_OF_HEAD, symbol=weights.symbol, note=note)


POSITIONS = Step(
    "Positions",
    note=(
        "The place of each word, as waves of several lengths. Look down the columns: on "
        "the left the numbers change fast, on the right slowly."
    ),
    purpose=(
        "Attention by itself does not see in which order words stand. Waves give every "
        "place a pattern of its own, like the hands of a clock: some turn fast, some "
        "slowly."
    ),
    question="if other words stood in the places of {text}, which numbers of {own} would change?",
    recipe=recipes.WAVES,
)
EMBEDDED = Step(
    "Embedded",
    note=(
        "What each word means and where it stands. Compare the rows of a word that occurs "
        "twice: now they differ."
    ),
    purpose=(
        "What each word means, together with where it stands: the embedding plus the "
        "pattern of its place."
    ),
    question=("if {word} stood at the other end of the sentence, would its row of {own} be the same?"),
    recipe=recipes.ADD,
)
COMPARED = Step(
    "Compare",
    note=(
        "What attention made of the words that several sentences share: the same input, "
        "another output. Look at the differences below the outputs."
    ),
    purpose=(
        "The same word in several sentences, row below row, so that you see what attention made of it."
    ),
    question=("what would the rows of {own} be if the sentences around the word had been the same?"),
    recipe=recipes.TAKE_ROWS,
)
COMPARED_ENDS = tuple(replace(COMPARED, symbol=end.symbol) for end in (INPUT, OUTPUT))
"""The input and the output of a word that sentences share; the word is the last scope of its part."""
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
        "What went in, added to what came out. Compare with what went in: the step only "
        "changes it, and does not replace it."
    ),
    purpose=(
        "The skip connection: each word keeps what it had, and what the step found is "
        "added, like notes in the margin of a text."
    ),
    question="suppose {b} held nothing but 0: what would the row of {word} be in {own}?",
    recipe=recipes.ADD,
)
MEAN = Step(
    "Mean",
    note="the mean of the row",
    purpose=("The mean of each row: the middle around which its numbers lie. The norm takes it away."),
    question="if every number of {word} in {a} grew by 1, how would its mean change?",
    recipe=recipes.MEAN,
    helper=True,
)
VARIANCE = Step(
    "Variance",
    note="the variance of the row",
    purpose=(
        "How far the numbers of each row are spread around their mean. The norm divides by its root."
    ),
    question="if every number of {word} in {a} grew by 1, how would its variance change?",
    recipe=recipes.VARIANCE,
    helper=True,
)
SAMPLE_VARIANCE = replace(
    VARIANCE, note="the sample variance of the row", recipe=recipes.SAMPLE_VARIANCE
)
NORM = Step(
    "Norm",
    note=(
        "{which}: each row brought to mean 0 and variance 1{how}, then stretched and moved. "
        "Compare the rows: none is much larger than another now."
    ),
    purpose=(
        "Brings every word to the same size, like microphones set to the same loudness, so "
        "that the next step can work with all of them."
    ),
    question="if every number of {word} in {a} were doubled, how would its row of {own} change?",
    recipe=recipes.NORM,
)
NORM_ALONE = replace(
    NORM,
    note=(
        "Each row brought to mean 0 and variance 1{how}. Compare the rows: none is much larger than "
        "another now."
    ),
)
HIDDEN = Step(
    "Hidden",
    note=(
        "What each neuron of the hidden layer (column) receives. Look for negative "
        "numbers: the activation holds them back."
    ),
    purpose=(
        "A layer of neurons, one a column. Each looks for one pattern in a word's vector; "
        "a large number says that it is there."
    ),
    question="if the row of {word} in {a} held nothing but 0, what would its neurons receive?",
    recipe=recipes.PROJECT,
)
ACTIVATED = Step(
    "Activated",
    note=(
        "What each neuron passes on. Look for 0, or nearly 0: neurons that stay silent for that word."
    ),
    purpose="Each neuron decides whether to speak up: what is negative is held back.",
    question="which neurons will stay silent for {word}, and what must you look for in {a}?",
    recipe=recipes.RELU,
)
FEED_FORWARD = Step(
    "FeedForward",
    note=(
        "What the feed-forward network makes of each word. Notice that each row comes from "
        "the same word alone."
    ),
    purpose=(
        "What the neurons found is turned back into a vector as wide as the word's own, "
        "each word by itself."
    ),
    question=(
        "suppose only one neuron spoke up for {word}: which row of {b} would decide its row of {own}?"
    ),
    recipe=recipes.PROJECT,
)
LOGITS = Step(
    "Logits",
    note=(
        "How well each word of the vocabulary would fit after each word of the sentence. "
        "Look for the largest number of a row: the best fit."
    ),
    purpose=(
        "The model's vector of each word is held against every word of the vocabulary: how "
        "well would that word come next?"
    ),
    question="which word would you expect to come after {word}: {words}?",
    recipe=recipes.MATCH,
)
PROBABILITIES = Step(
    "Probabilities",
    note=("The probability of each word to come next. Every row sums to 1: look for its largest."),
    purpose=("How sure the model is of each next word: the logits made into shares that add up to 1."),
    question=(
        "will the word with the largest logit after {word} have the largest probability, too? Why?"
    ),
    recipe=recipes.SHARE,
    role="attention",
)
NEXT = Step(
    "Next",
    note=(
        "The most probable next word; the last row's is the one that continues the "
        "sentence. Check that it has the largest probability of its row."
    ),
    purpose="The model speaks: after each word, the one it holds most probable.",
    question="which row of {own} continues {text}, and what do the other rows tell?",
    recipe=recipes.FIND_LARGEST_COLUMN,
)
# Similarity

DOT = Step(
    "Dot",
    note=(
        "The dot product of every two words: large for long, like vectors. Compare the "
        "diagonal, each word with itself, with the rest."
    ),
    purpose=(
        "The dot product of every two words: how much they have in common, and how long they are."
    ),
    question=(
        "with which other word will {word} have the largest dot product: {others}? And with itself?"
    ),
    recipe=recipes.MATCH_THEMSELVES,
)
MAGNITUDE = Step(
    "Magnitude",
    note=("The length of each word's vector. Compare the words: long vectors make large dot products."),
    purpose="How long each word's arrow is, from 0 to the point that its numbers name.",
    question="do the signs of the numbers of {word} matter for its length? And their order?",
    recipe=recipes.MAGNITUDE,
)
COSINE = Step(
    "Cosine",
    note=(
        "The cosine similarity: 1 for the same direction, 0 for nothing in common, -1 for "
        "opposite. Look for the largest beside the diagonal."
    ),
    purpose=(
        "How alike the directions of two words are, whatever their lengths: the dot "
        "product with the lengths divided out."
    ),
    question="which number must the cosine of {word} with itself be, and why?",
    recipe=recipes.COSINE,
)
ANGLE = Step(
    "Angle",
    note=(
        "The angle between the two vectors, in degrees. Look for the smallest beside the "
        "diagonal: the two words most alike."
    ),
    purpose="How far apart two arrows point: a small angle says that two words are alike.",
    question="whose arrow points most nearly the way of {word}: {others}?",
    recipe=recipes.ANGLE,
)
# What was learned

W_Q = Step(
    "W_Q",
    note=(
        "Learned: turns embeddings into queries. Look down a column: how much each "
        "dimension counts in it."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
W_K = Step(
    "W_K",
    note=(
        "Learned: turns embeddings into keys. Look down a column: how much each dimension counts in it."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
W_V = Step(
    "W_V",
    note=(
        "Learned: turns embeddings into values. Look down a column: how much each "
        "dimension counts in it."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
W_O = Step(
    "W_O",
    note=("Learned: mixes what the heads found. Look down a column: how much each head counts in it."),
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
    note=("Learned: how far each dimension is moved after the norm. Look for any that is not 0."),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
BIAS = Step(
    "b",
    note=(
        "Learned: added to what the step gives. Look for any that is not 0: it moves every word alike."
    ),
    question=_CHANGED,
    recipe=recipes.GIVEN,
    role="weight",
    source="weights",
)
BIASES = {
    weights: replace(BIAS, symbol=weights.symbol.replace("W", "b"))
    for weights in (W_Q, W_K, W_V, W_O, W_1, W_2, W_U)
}
"""The bias that goes with each of the weights."""
