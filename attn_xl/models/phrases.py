"""What each step of a model is for, in everyday words, and what to ask a student before it is computed,
by the step's symbol. Plain text; knows no matrix.

`{own}` is the matrix, `{a}`, `{b}` what it is made from, `{word}` a word of the sentence, `{words}` the
words of its columns, `{others}` the same without `{word}`, `{text}` the sentence.
"""

from __future__ import annotations

from typing import NamedTuple


class Phrases(NamedTuple):
    """What a step is for, and a question that can be answered by thinking, before computing."""

    what: str
    question: str


_QUERY = "Every word gets a query: what it is looking for, like the words you type into a search box."
_KEY = "Every word gets a key: what it has to offer, like the title on the spine of a book."
_VALUE = "Every word gets a value: what it passes on to those that look at it, like what the book says."

STEPS = {
    "Q": Phrases(
        f"{_QUERY} The learned weights {{b}} say what the search is about.",
        "if two words had the same numbers in {a}, could their queries in {own} differ? Think of "
        "{word} and a copy of it.",
    ),
    "Q copied": Phrases(
        f"{_QUERY} Here nothing is learned: each word looks for its like.",
        "which word of {text} will have a query most like that of {word}, and how can you tell from "
        "{a}?",
    ),
    "K": Phrases(
        f"{_KEY} The learned weights {{b}} say which title it is.",
        "can a word look for one thing and offer another? Think of {word}: what would have to differ?",
    ),
    "K copied": Phrases(
        f"{_KEY} Here nothing is learned: a word offers what it is.",
        "keys are here plain copies of {a}. Whose key will be long, with large numbers, and what does "
        "that do to its matches? Begin with {word}.",
    ),
    "V": Phrases(
        f"{_VALUE} The learned weights {{b}} say what that is.",
        "if a column of {b} held nothing but 0, what would {word}, and every other word, pass on in "
        "that column?",
    ),
    "V copied": Phrases(
        f"{_VALUE} Here nothing is learned: a word passes on what it is.",
        "suppose another word looked at {word} and at nothing else: what would its new vector be?",
    ),
    "Scores": Phrases(
        "Every query meets every key, as a search is held against every title. The dot product is "
        "large where both have large numbers in the same columns.",
        "whose key will the query of {word} match best: {words}? Say why before you compute.",
    ),
    "d_k": Phrases(
        "How many numbers a query and a key have. The more there are, the larger the scores grow; the "
        "next step makes up for that.",
        "what would change the number {own}: a longer sentence, or more dimensions of {a}?",
    ),
    "Scaled": Phrases(
        "The scores made smaller, like a radio turned down, so that no word drowns out all others in "
        "the softmax.",
        "all scores are divided by the same number. In the row of {word}, will the order of the words "
        "change? And how far apart they are?",
    ),
    "Scaled, tempered": Phrases(
        "The scores brought to another size. The temperature works like a dial: high, and attention "
        "spreads over many words; low, and it sharpens on a few.",
        "if the temperature were turned up very high, would {word} look at fewer words, or at all of "
        "them alike?",
    ),
    "Mask": Phrases(
        "Who may look at whom, like a sheet of paper laid over part of a page: 0 leaves a word to be "
        "seen, a huge negative number covers it.",
        "which words will be covered in the row of {word}: {words}?",
    ),
    "Masked": Phrases(
        "The scores with the covered words pushed so far down that the softmax gives them nothing.",
        "which words can still win in the row of {word}, now that the mask is laid over it? Compare "
        "with the winner of its row in {a}.",
    ),
    "Maximum": Phrases(
        "The largest score of each row. It is taken away from the whole row next, so that the "
        "exponentials cannot grow too large; the weights come out the same.",
        "without a formula: which column holds the largest number of {a} in the row of {word}?",
    ),
    "Exponentials": Phrases(
        "e to the power of each score makes every number positive, and pulls the large ones away from "
        "the small ones.",
        "which cell of the row of {word} will be the largest of {own}, and which number must it be, "
        "since its score is the maximum itself?",
    ),
    "Sum": Phrases(
        "What the exponentials of a row add up to: the whole cake, of which the next step cuts the "
        "shares.",
        "can the sum of the row of {word} be smaller than its largest exponential? How large can it be "
        "at most, with so many words?",
    ),
    "Plain sum": Phrases(
        "What the scores of a row add up to: the whole cake, of which the next step cuts the shares.",
        "what would go wrong in the next step if the scores of {word} added up to 0?",
    ),
    "Softmax": Phrases(
        "The attention weights: each word shares out its attention like a cake, a slice for every "
        "word. No slice is negative, and together they are the whole cake.",
        "which word will {word} look at most, and why? Which hardly at all?",
    ),
    "Weights": Phrases(
        "The attention weights: each word shares out its attention like a cake, in proportion to the "
        "scores.",
        "which word will {word} look at most, and why? What would a negative score do to its share?",
    ),
    "Dropped": Phrases(
        "In training some weights are set to 0 by chance, so that the model does not lean on one word "
        "alone, as a team practises with a player missing. The others grow to make up for it.",
        "which words will {word} no longer see in {own}? Must what is left of its row still add up to "
        "1?",
    ),
    "Residual": Phrases(
        "In training some of what the step found is set to 0 by chance, so that no word leans on a "
        "single number. The others grow to make up for it.",
        "which numbers of {word} will be 0 in {own}? What becomes of the others if half of all are "
        "dropped?",
    ),
    "EmbeddedDropped": Phrases(
        "In training some numbers of the embeddings are set to 0 by chance, so that no word leans on a "
        "single dimension. The others grow to make up for it.",
        "which numbers of {word} will be 0 in {own}? What becomes of the others if half of all are "
        "dropped?",
    ),
    "Output": Phrases(
        "Each word's new vector: a mixture of the values. The attention weights are the recipe: so "
        "much of this word, so much of that.",
        "which word's value will the new vector of {word} be most like, and which row of {a} tells "
        "you?",
    ),
    "Concat": Phrases(
        "Each head looked at the sentence in its own way. Their reports are laid side by side.",
        "how many columns will {own} have, and which head does the last column come from?",
    ),
    "Attention": Phrases(
        "The reports of all heads, made into one vector for each word, as an editor makes one text of "
        "several reports.",
        "if one head had found nothing for {word}, only 0, would its row of {own} have to be 0?",
    ),
    "Columns": Phrases(
        "The columns of {a} that belong to this head. Each head has its own, so that each can look for "
        "something else.",
        "which columns of {a} come into {own}, and to which head does the first column left out "
        "belong?",
    ),
    "Positions": Phrases(
        "Attention by itself does not see in which order words stand. Waves give every place a pattern "
        "of its own, like the hands of a clock: some turn fast, some slowly.",
        "if other words stood in the places of {text}, which numbers of {own} would change?",
    ),
    "Embedded": Phrases(
        "What each word means, together with where it stands: the embedding plus the pattern of its "
        "place.",
        "if {word} stood at the other end of the sentence, would its row of {own} be the same?",
    ),
    "Skip": Phrases(
        "The skip connection: each word keeps what it had, and what the step found is added, like "
        "notes in the margin of a text.",
        "suppose {b} held nothing but 0: what would the row of {word} be in {own}?",
    ),
    "Mean": Phrases(
        "The mean of each row: the middle around which its numbers lie. The norm takes it away.",
        "if every number of {word} in {a} grew by 1, how would its mean change?",
    ),
    "Variance": Phrases(
        "How far the numbers of each row are spread around their mean. The norm divides by its root.",
        "if every number of {word} in {a} grew by 1, how would its variance change?",
    ),
    "Norm": Phrases(
        "Brings every word to the same size, like microphones set to the same loudness, so that the "
        "next step can work with all of them.",
        "if every number of {word} in {a} were doubled, how would its row of {own} change?",
    ),
    "Hidden": Phrases(
        "A layer of neurons, one a column. Each looks for one pattern in a word's vector; a large "
        "number says that it is there.",
        "if the row of {word} in {a} held nothing but 0, what would its neurons receive?",
    ),
    "Activated": Phrases(
        "Each neuron decides whether to speak up: what is negative is held back.",
        "which neurons will stay silent for {word}, and what must you look for in {a}?",
    ),
    "FeedForward": Phrases(
        "What the neurons found is turned back into a vector as wide as the word's own, each word by "
        "itself.",
        "suppose only one neuron spoke up for {word}: which row of {b} would decide its row of {own}?",
    ),
    "Logits": Phrases(
        "The model's vector of each word is held against every word of the vocabulary: how well would "
        "that word come next?",
        "which word would you expect to come after {word}: {words}?",
    ),
    "Probabilities": Phrases(
        "How sure the model is of each next word: the logits made into shares that add up to 1.",
        "will the word with the largest logit after {word} have the largest probability, too? Why?",
    ),
    "Next": Phrases(
        "The model speaks: after each word, the one it holds most probable.",
        "which row of {own} continues {text}, and what do the other rows tell?",
    ),
    "Dot": Phrases(
        "The dot product of every two words: how much they have in common, and how long they are.",
        "with which other word will {word} have the largest dot product: {others}? And with itself?",
    ),
    "Magnitude": Phrases(
        "How long each word's arrow is, from 0 to the point that its numbers name.",
        "do the signs of the numbers of {word} matter for its length? And their order?",
    ),
    "Cosine": Phrases(
        "How alike the directions of two words are, whatever their lengths: the dot product with the "
        "lengths divided out.",
        "which number must the cosine of {word} with itself be, and why?",
    ),
    "Angle": Phrases(
        "How far apart two arrows point: a small angle says that two words are alike.",
        "whose arrow points most nearly the way of {word}: {others}?",
    ),
    "Compare": Phrases(
        "The same word in several sentences, row below row, so that you see what attention made of it.",
        "what would the rows of {own} be if the sentences around the word had been the same?",
    ),
    "Given": Phrases(
        "{note}",
        "if you changed one number of {own}, which steps would follow it, and which would stay as they "
        "are?",
    ),
    "Step": Phrases(
        "{note}",
        "before you fill in {own} = {made}: where in the row of {word} do you expect the largest "
        "number, and why?",
    ),
}
