"""The steps of what stands on an encoder: one vector for the sentence, and the words that a masked
language model puts in place of its masks."""

from __future__ import annotations

from dataclasses import replace

from attn_xl.graph.step import Recipe, Scope, Step

from . import loss_steps, recipes, steps

MASKED = ("[MASK]", "<mask>")
"""The words that a masked language model predicts, as its text has them."""

POOLER = Scope("Pooler", "pooler")
"""The layer that BERT trained for the first word: `Pooler.W_1`, `Pooler.b_1`."""
TRANSFORM = Scope("Transform", "prediction layer")
"""The layer before the words of a masked language model: `Transform.W_1`, `Transform.gamma`, ..."""

POOLER_HIDDEN = replace(
    steps.HIDDEN,
    note="The sentence's vector through a layer of its own. Compare with the row that it comes from.",
    purpose="Training gave the first word a layer of its own, so that it can speak for the sentence.",
    question="if the row of {word} in {a} held nothing but zeros, what would {own} be?",
)
POOLER_ACTIVE = replace(
    steps.ACTIVATED,
    note="The sentence's vector, pressed between −1 and 1. Look for numbers close to either end.",
    purpose="Presses each number between −1 and 1, so that no dimension outweighs all others.",
    question="which numbers of {a} hardly change, and which end near −1 or 1?",
    recipe=Recipe(
        do="The hyperbolic tangent of the number of {a} in the same place.",
        hint="Common mistake: TAN, which is another function.",
    ),
)
LENGTH = Step(
    "Length",
    note="the length of each row",
    purpose="The length of the sentence's vector: the root of the sum of its squares.",
    question="what would {own} be if all numbers of {a} were twice as large?",
    recipe=Recipe(
        do="Square each number in the row of {a}, add up the squares, and take the root.",
        hint="Common mistake: adding up the numbers themselves.",
    ),
    helper=True,
)
UNIT = Step(
    "Unit",
    note=(
        "The sentence's vector with length 1: only its direction counts. Compare with the row that it "
        "comes from: the shares of its numbers stay the same."
    ),
    purpose="Keeps the direction and drops the length, so that long sentences do not look more alike.",
    question="what do the squares of the row in {own} add up to?",
    recipe=Recipe(
        do="Divide the number of {a} in the same place by {b}, the length of the row.",
        hint="Common mistake: dividing by the sum of the row.",
    ),
)
LOGITS = replace(
    steps.LOGITS,
    note=(
        "How well each word of the vocabulary would fit in each place of the sentence. Look at the row "
        "of the mask for the largest number: the best fit."
    ),
    purpose=(
        "The vector at each place is compared with every word of the vocabulary: how well would that "
        "word fit there?"
    ),
    question="which word would you expect in the place of {word}: {words}?",
)
PROBABILITIES = replace(
    steps.PROBABILITIES,
    note=(
        "The probability of each word in each place. Every row sums to 1: look for the largest number "
        "in the row of the mask."
    ),
    purpose="How sure the model is of each word: the logits turned into shares that add up to 1.",
    question=(
        "will the word with the largest logit in the place of {word} also have the largest "
        "probability? Why?"
    ),
)
FILLED = replace(
    steps.NEXT,
    symbol="Filled",
    note=(
        "The most probable word in each place. Look at the row of the mask: there, the model had to "
        "guess."
    ),
    purpose="The model fills the gap: in each place, the word that it finds most probable.",
    question="in which rows of {own} may the model see the word itself, and in which must it guess?",
)
TARGET_WORDS = replace(
    loss_steps.TARGET_WORDS,
    note="The right word in place of each mask. Change one to another word and watch the loss.",
)
SEGMENT = replace(
    steps.W_P,
    symbol="Segment",
    note=(
        "Learned: the vector of the first segment, added to each word. Compare with the embeddings: "
        "words of a second text would get another one."
    ),
)
EMBEDDED_IN_SEGMENT = replace(
    steps.EMBEDDED.by(recipes.ADD_THREE),
    purpose=(
        "What each word means, where it stands, and which text it belongs to: three vectors, added up."
    ),
)
