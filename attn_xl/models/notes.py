"""What each matrix shows and what to look for in it: the line above its numbers. Knows no matrix.

One or two sentences each, short enough for a line of a sheet.
"""

from __future__ import annotations

INPUT = "The embeddings: one word a row, one dimension a column. Change a number and watch."
TURNED = " In the file its rows are columns."
MEMORY = "The sentence {!r}, which the others attend to. Change a number and watch."
VOCABULARY = (
    "The words to choose from: one a row. "
    "Compare the rows: words with like numbers get like probabilities."
)

# Attention

QUERIES = (
    "Queries: what each word (row) is looking for. "
    "Look for rows that are alike: those words look for the same."
)
KEYS = (
    "Keys: what each word (row) has to offer. "
    "Compare them with the queries: a key that points the same way gets a high score."
)
VALUES = (
    "Values: what each word (row) passes on to those that look at it. "
    "Look for the largest number of a row: that is what they get most of."
)
SCORES = (
    "How well the query of each word (row) matches the key of each word (column). "
    "Look for the largest number of a row: its best match."
)
SCALED = (
    "The scores brought down to a size that keeps the softmax soft. "
    "Compare with the scores: the order in a row stays, the distances shrink."
)
TEMPERED = (
    "The scores brought to a size that the temperature sets. "
    "Change the temperature: a high one spreads the attention, a low one sharpens it."
)
MASK = (
    "0 where a word may look, a large negative number where it may not. "
    "Look along a row: its zeros are the words that this word may look at."
)
OWN_MASK = (
    "Added to the scores: a large negative number where a word may not look. Change a number and watch."
)
MASKED = (
    "The scores, with a large negative number where a word may not look. "
    "Compare with the mask: where it has 0, the scores are as they were."
)
SOFTMAX = (
    "The attention weights, exponential / sum: how much each word (row) looks at each word (column). "
    "Every row sums to 1: look for its largest."
)
PLAIN_SUM = SOFTMAX.replace("exponential / sum", "score / sum")
DROPOUT_MASK = "1 where a weight is kept, 0 where it is dropped. Change it and watch."
RESIDUAL_MASK = "1 where a number is kept, 0 where it is dropped. Change it and watch."
DROPPED = (
    "The weights with some set to 0, as in training; the others grow to make up for it. "
    "Check that the zeros stand where the dropout mask has them."
)
RESIDUAL_DROPPED = (
    "The same with some numbers set to 0, as in training; the others grow to make up for it. "
    "Check that the zeros stand where the mask has them."
)
OUTPUT = (
    "Each word's new vector: the values, mixed by its attention weights. "
    "Compare a row with the values of the words it looks at most."
)
HEAD = "The part of {name} that belongs to head {head}. Compare the heads: each has columns of its own."
CONCAT = "The outputs of all heads, side by side. Compare the blocks of columns: one for each head."
ATTENTION = (
    "What the heads found, mixed together. "
    "Compare with the heads side by side: each column now draws on all of them."
)
POSITIONS = (
    "The place of each word, as waves of several lengths. "
    "Look down the columns: on the left the numbers change fast, on the right slowly."
)
EMBEDDED = (
    "What each word means and where it stands. "
    "Compare the rows of a word that occurs twice: now they differ."
)
COMPARE = (
    "What attention made of the words that several sentences share: the same input, another output. "
    "Look at the differences below the outputs."
)

# The transformer

SKIP = (
    "What went in, added to what came out. "
    "Compare with what went in: the step only changes it, and does not replace it."
)
NORM = (
    "{which}: each row brought to mean 0 and variance 1{how}, then stretched and moved. "
    "Compare the rows: none is much larger than another now."
)
NORM_ALONE = (
    "Each row brought to mean 0 and variance 1. Compare the rows: none is much larger than another now."
)
HIDDEN = (
    "What each neuron of the hidden layer (column) receives. "
    "Look for negative numbers: the activation holds them back."
)
ACTIVATED = (
    "What each neuron passes on. Look for 0, or nearly 0: neurons that stay silent for that word."
)
FEED_FORWARD = (
    "What the feed-forward network makes of each word. "
    "Notice that each row comes from the same word alone."
)
LOGITS = (
    "How well each word of the vocabulary would fit after each word of the sentence. "
    "Look for the largest number of a row: the best fit."
)
PROBABILITIES = "The probability of each word to come next. Every row sums to 1: look for its largest."
NEXT = (
    "The most probable next word; the last row's is the one that continues the sentence. "
    "Check that it has the largest probability of its row."
)

# Similarity

DOT = (
    "The dot product of every two words: large for long, like vectors. "
    "Compare the diagonal, each word with itself, with the rest."
)
MAGNITUDE = "The length of each word's vector. Compare the words: long vectors make large dot products."
COSINE = (
    "The cosine similarity: 1 for the same direction, 0 for nothing in common, -1 for opposite. "
    "Look for the largest beside the diagonal."
)
ANGLE = (
    "The angle between the two vectors, in degrees. "
    "Look for the smallest beside the diagonal: the two words most alike."
)

# What was learned

_DOWN = "Look down a column: how much each dimension counts in it."
WEIGHTS = {
    "W_Q": f"Learned: turns embeddings into queries. {_DOWN}",
    "W_K": f"Learned: turns embeddings into keys. {_DOWN}",
    "W_V": f"Learned: turns embeddings into values. {_DOWN}",
    "W_O": "Learned: mixes what the heads found. Look down a column: how much each head counts in it.",
    "W_U": "Learned: from each word's vector to the vocabulary. "
    "Look down a column: which dimensions make its word probable.",
    "W_1": "Learned: from each word to the hidden layer. "
    "Look down a column: what its neuron responds to.",
    "W_2": "Learned: from the hidden layer back to each word. "
    "Look along a row: what its neuron adds to a word.",
    "gamma": "Learned: how much each dimension is stretched after the norm. "
    "Look for any that is not 1.",
    "beta": "Learned: how far each dimension is moved after the norm. Look for any that is not 0.",
}
BIAS = "Learned: added to what the step gives. Look for any that is not 0: it moves every word alike."
