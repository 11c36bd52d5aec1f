"""Looks up words in a word-vector file and returns a table of their pre-trained vectors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher, get_close_matches
from pathlib import Path

import numpy as np

from attn_xl.errors import CallError, InputError, wrong_type
from attn_xl.tables.survey import Table
from attn_xl.text import listed

from .byte_blocks import Progress
from .vector_files import VectorFile

MOST_CANDIDATES = 20_000
"""Words of the file, from its start, that are compared with a missing word."""
MAX_UNSHARED_LETTERS = 4
"""Letters that may occur in only one of two similar spellings."""
MOST_NEAR = 3
MOST_NAMED = 20


def read_vectors(
    path: str | os.PathLike[str], words: Sequence[str] | str, *, progress: Progress | None = None
) -> Table:
    """Look up words in a file of word vectors: GloVe, word2vec (text or binary), fastText .vec.

    The file is not loaded into memory: it is read once from the front, up to the last of the words.
    Only the lines of these words are checked. If a word occurs twice, the first vector is used.

    Args:
        path: the file, gzip or not; the format is detected from its content.
        words: the words as the file spells them; order and repeats are kept. A string is split at its
            spaces.
        progress: called with the number of bytes done and the total.

    Returns:
        A table (n, d) with the words as row labels and `d1`, `d2`, ... as column labels; the numbers of
        a text file as Python parses them, those of a binary file exactly.

    Raises:
        CallError: if there are no words.
        InputError: if the file cannot be read or has another format; if the line of a word has a wrong
            number of values or a value that is not a number; if words are missing, which the message
            names with similar spellings.

    Example:
        >>> import attn_xl
        >>> print(attn_xl.read_vectors("samples/vectors.txt", ["cat", "dog"])["dog", "d1"])
        0.9309
    """
    if isinstance(words, str):
        words = words.split()
    if not isinstance(path, (str, os.PathLike)):
        raise wrong_type("path", path, "the name of a file of word vectors")
    if not words:
        raise CallError("no words were given.")
    file = VectorFile(Path(path), progress)
    found = file.find(words)
    missing = [word for word in dict.fromkeys(words) if word not in found]
    if missing:
        raise InputError(_missing(file, missing))
    return Table(
        name=Path(path).stem,
        values=np.array([found[word] for word in words]),
        rows=tuple(words),
        columns=tuple(f"d{number}" for number in range(1, file.form.dims + 1)),
        labelled=(True, True),
        file=str(path),
        sheet="",
        row=2,
        column=2,
    )


def split_words(path: str | os.PathLike[str], texts: Sequence[str]) -> list[str]:
    """Split texts at spaces into words; `new york` stays one word if the file has it as one.

    Raises:
        InputError: if the file cannot be read.
    """
    spaced = [text for text in texts if len(text.split()) > 1]
    file = VectorFile(Path(path)) if spaced else None
    known = file.find(spaced) if file and not file.form.binary else {}  # in binary, a space ends a word
    return [word for text in texts for word in ([text] if text in known else text.split())]


def _missing(file: VectorFile, missing: Sequence[str]) -> str:
    """The message about missing words, with similar spellings, and whether the file is truncated."""
    near, count = _near(file, missing)
    named = []
    for word in missing[:MOST_NAMED]:
        hint = " or ".join(map(repr, near[word]))
        named.append(repr(word) + (f" (did you mean {hint}?)" if hint else ""))
    text = listed([*named, *missing[MOST_NAMED:]], MOST_NAMED)
    verb = "is" if len(missing) == 1 else "are"
    ends = ""
    if not file.form.binary and file.form.count is not None and count < file.form.count:
        ends = (
            f" The file has {count:,} words, but its header promises {file.form.count:,}. Copy or "
            "download it again."
        )
    return f"{file.path}: {text} {verb} not among its {count:,} words.{ends}"


def _near(file: VectorFile, missing: Sequence[str]) -> tuple[dict[str, list[str]], int]:
    """For each missing word the file's words with a similar spelling, those that differ only in case
    first; and the number of words in the file. Compares words that begin with the missing word's first
    or second letter."""
    by_start: dict[str, list[str]] = {}
    for word in missing:
        for letter in set(word.casefold()[:2]):
            by_start.setdefault(letter, []).append(word)
    candidates: dict[str, list[str]] = {word: [] for word in missing}
    letters = {word: set(word.casefold()) for word in missing}
    folded = {word.casefold() for word in missing}
    same: dict[str, list[str]] = {}
    count = 0
    for known in file.words():
        count += 1
        begin = by_start.get(known[:1].casefold())
        if begin is None:
            continue
        if known.casefold() in folded:
            same.setdefault(known.casefold(), []).append(known)
        for word in begin:
            close = abs(len(known) - len(word)) <= max(1, len(word) // 3)
            if not close or len(candidates[word]) == MOST_CANDIDATES:
                continue
            if len(letters[word].symmetric_difference(known.casefold())) <= MAX_UNSHARED_LETTERS:
                candidates[word].append(known)
    return {
        word: _best(word, same.get(word.casefold(), []), candidates[word]) for word in missing
    }, count


def _best(word: str, same: Iterable[str], candidates: Iterable[str]) -> list[str]:
    """The best suggestions: words that differ only in case, then the most similar; ties go to words
    with the same letters, then to the first in the file."""
    folded = word.casefold()
    first: dict[str, str] = {}
    for known in candidates:
        first.setdefault(known.casefold(), known)
    order = {known: number for number, known in enumerate(first)}

    def far(known: str) -> tuple[float, bool, int]:
        ratio = SequenceMatcher(None, known, folded).ratio()
        return -ratio, sorted(known) != sorted(folded), order[known]

    close = sorted(get_close_matches(folded, first, n=20, cutoff=0.6), key=far)
    return list(dict.fromkeys([*same, *(first[known] for known in close)]))[:MOST_NEAR]


def rows_of(table: Table, words: Sequence[str]) -> Table:
    """The rows of the given words, in order and with repeats, from a table with unique words."""
    rows = {word: row for row, word in enumerate(table.rows)}
    return replace(table, rows=tuple(words), values=table.values[[rows[word] for word in words]])
