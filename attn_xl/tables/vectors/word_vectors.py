"""Words in, a table of their pre-trained vectors out. Knows no file format."""

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
"""So many words of the file, the first ones, are compared with a word that is missing."""
OTHER_LETTERS = 4
"""So many letters may be in one of two near spellings alone."""
MOST_NEAR = 3
MOST_NAMED = 20


def read_vectors(
    path: str | os.PathLike[str], words: Sequence[str] | str, *, progress: Progress | None = None
) -> Table:
    """Pick words out of a file of word vectors: GloVe, word2vec (text or binary), fastText .vec.

    The file is not loaded: it is read once from the front up to the last of the words, whatever its
    size. Only the lines of these words are checked. Of a word that is there twice, the first counts.

    Args:
        path: the file, gzip or not; what it is is told by its content.
        words: as the file spells them; order and repeats are kept. A text is split at its spaces.
        progress: is told how many bytes are done, and of how many.

    Returns:
        A table (n, d) with the words as row labels and `d1`, `d2`, ... as column labels; the numbers of
        a text file as Python reads them, those of a binary one exactly.

    Raises:
        CallError: if there are no words.
        InputError: if the file cannot be read, is none of these, or the line of a word has not as many
            numbers as the others, or none; if words are missing: it names them, and near spellings.

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
        raise CallError("no words were named.")
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


def words_said(path: str | os.PathLike[str], texts: Sequence[str]) -> list[str]:
    """The words of texts with spaces between them; `new york` is one, if the file has it as one.

    Raises:
        InputError: if the file cannot be read.
    """
    spaced = [text for text in texts if len(text.split()) > 1]
    file = VectorFile(Path(path)) if spaced else None
    known = file.find(spaced) if file and not file.form.binary else {}  # there, a space ends a word
    return [word for text in texts for word in ([text] if text in known else text.split())]


def _missing(file: VectorFile, missing: Sequence[str]) -> str:
    """What is missing, with near spellings; and whether the file is shorter than it says."""
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
            f" The file has {count:,} words, but its header promises {file.form.count:,}: was it "
            "copied or downloaded to the end?"
        )
    return f"{file.path}: {text} {verb} not among its {count:,} words.{ends}"


def _near(file: VectorFile, missing: Sequence[str]) -> tuple[dict[str, list[str]], int]:
    """For each word those of the file that are spelled like it, the same in another case first; and how
    many words the file has. Compared are words that begin with its first or its second letter."""
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
            if len(letters[word].symmetric_difference(known.casefold())) <= OTHER_LETTERS:
                candidates[word].append(known)
    return {
        word: _best(word, same.get(word.casefold(), []), candidates[word]) for word in missing
    }, count


def _best(word: str, same: Iterable[str], candidates: Iterable[str]) -> list[str]:
    """Those in another case, then the nearest; of equally near ones those of the same letters, then
    what comes first in the file."""
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


def picked(table: Table, words: Sequence[str]) -> Table:
    """The rows of a table that has each word once, in the order of `words`, with repeats."""
    rows = {word: row for row, word in enumerate(table.rows)}
    return replace(table, rows=tuple(words), values=table.values[[rows[word] for word in words]])
