"""Word vectors as word2vec, GloVe and fastText save them, and tables of words from them."""

from __future__ import annotations

import os
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import IO, Any

import numpy as np

from attn_xl.errors import CallError, InputError, wrong_type
from attn_xl.outputs import SPREADSHEETS, no_such_file
from attn_xl.text import listed, shortened

from .survey import Table

BLOCK, HEAD = 1 << 18, 1 << 20
"""Bytes read at a time, and those at the start of a file from which its format is detected."""
GZIP = b"\x1f\x8b"
LINES = 2_000
"""Lines between two calls of `Progress`."""
Progress = Callable[[int, int], None]
"""Called repeatedly with the number of bytes done and the total."""
LOOKED_AT = 50
"""Lines examined to find how many numbers a line has."""
LONGEST_WORD = 10_000
BOM = b"\xef\xbb\xbf"
FASTTEXT_MODEL = struct.pack("<i", 793712314)
_CONTROL = bytes({*range(32), *range(127, 256)} - {*b"\t\n\v\f\r"})

Vector = list[float]


@dataclass(frozen=True)
class Form:
    """The detected format of a file.

    Attributes:
        dims: numbers per word.
        count: words according to the header; None without a header.
        binary: whether the numbers are float32.
        separator: the separator after a word.
        start: the offset of the first word.
    """

    dims: int
    count: int | None
    binary: bool
    separator: bytes
    start: int

    @property
    def dims_source(self) -> str:
        """The source of `dims`, for error messages."""
        return "the others have" if self.count is None else "the header says"


class VectorFile:
    """One file of word vectors."""

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self._progress = progress
        with self._opened() as (stream, _):
            self.form = self._detect_form(stream.read(HEAD))

    def find(self, words: Iterable[str]) -> dict[str, Vector]:
        """The vectors of the words that are in the file; of repeated words, the first vector.

        Raises:
            InputError: if the file is damaged before the last of these words, or one of their lines is
                malformed.
        """
        missing = {word.encode(): word for word in words}
        search = self._find_binary if self.form.binary else self._find_text
        return {missing[word]: vector for word, vector in search(set(missing))}

    def words(self) -> Iterator[str]:
        """Yield all words in file order."""
        if self.form.binary:
            yield from (word.decode("utf-8", "replace") for word, _ in self._records())
            return
        separator, dims = self.form.separator, self.form.dims
        for _, line in self._lines():
            fields = line.rstrip()
            word, _, after = fields.partition(separator)
            number = after.lstrip()[:40].partition(b" ")[0]
            if fields.count(separator) != dims and not _is_number(number):
                if not fields:
                    continue
                word = fields.rsplit(None, dims)[0]
            yield word.decode("utf-8", "replace")

    # Bytes

    @contextmanager
    def _opened(self) -> Iterator[tuple[IO[bytes], Callable[[], None]]]:
        """The file's content, decompressed, and a function that tells how much was read.

        Raises:
            InputError: if the file cannot be read or is truncated.
        """
        import zlib
        from gzip import BadGzipFile, GzipFile

        path, progress = self.path, self._progress
        try:
            with open(path, "rb") as raw:
                total = path.stat().st_size
                packed = raw.read(2) == GZIP
                raw.seek(0)
                stream: Any = GzipFile(fileobj=raw) if packed else raw
                yield stream, lambda: progress(raw.tell(), total) if progress else None
        except FileNotFoundError:
            raise no_such_file(path) from None
        except IsADirectoryError:
            raise InputError(f"{path}: is a folder, not a file of word vectors.") from None
        except EOFError:
            raise InputError(
                f"{path}: the compressed file ends too soon. Copy or download it again."
            ) from None
        except (zlib.error, BadGzipFile) as error:
            raise InputError(f"{path}: the compressed file is damaged ({error}).") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"{path}: cannot be read ({reason}).") from None

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line after the header, with its number from 1."""
        with self._opened() as (stream, tell):
            header = stream.read(self.form.start)
            for number, line in enumerate(stream, 1 + header.count(b"\n")):
                if number % LINES < 2:
                    tell()
                yield number, line

    # Format

    def _detect_form(self, begin: bytes) -> Form:
        if not begin:
            raise InputError(f"{self.path}: the file is empty.")
        self._check_kind(begin)
        start = len(BOM) if begin.startswith(BOM) else 0
        if len(begin) < HEAD and not begin.endswith(b"\n"):
            begin += b"\n"
        first, newline, _ = begin[start:].partition(b"\n")
        fields = first.split()
        if newline and len(fields) == 2 and all(field.isdigit() for field in fields):
            form = self._with_header(begin, start + len(first) + 1, *map(int, fields))
            if form is not None:
                return form
        if not newline or len(fields) < 2 or not _is_number(fields[-1]):
            raise self._no_vectors(first)
        lines = begin[start : begin.rfind(b"\n")].split(b"\n")[:LOOKED_AT]
        counts = Counter(len(line.split()) - 1 for line in lines if line.strip())
        dims = counts.most_common(1)[0][0]
        if dims < 1 or not all(map(_is_number, fields[-dims:])):
            raise self._no_vectors(first)
        return Form(dims, None, False, _separator(first), start)

    def _with_header(self, begin: bytes, start: int, count: int, dims: int) -> Form | None:
        """The format of a file that may have a header; None if line 1 is a word and its number."""
        body = begin[start:]
        line = body.partition(b"\n")[0]
        fields = line.split()
        if not body.strip():
            raise InputError(
                f"{self.path}: ends after its header, which promises {count:,} words of {dims} numbers."
                " Copy or download it again."
            )
        is_text = len(fields) > dims > 0 and all(map(_is_number, fields[len(fields) - dims :]))
        if not is_text and body[:4096].translate(None, _CONTROL) != body[:4096]:
            if not dims:
                raise InputError(f"{self.path}: line 1 says that words have 0 numbers.")
            return Form(dims, count, True, b" ", start)
        if len(fields) == 2 and dims != 1:
            return None
        if not dims:
            raise InputError(f"{self.path}: line 1 says that words have 0 numbers.")
        return Form(dims, count, False, _separator(line), start)

    def _check_kind(self, begin: bytes) -> None:
        if begin.startswith(FASTTEXT_MODEL):
            raise InputError(f"{self.path}: is a fastText model; give its .vec file.")
        if begin.startswith(b"PK") and zipfile.is_zipfile(self.path):
            if self.path.suffix.lower() in SPREADSHEETS:
                raise InputError(
                    f"{self.path}: is a spreadsheet, which convert reads; vectors takes a file of word "
                    "vectors, such as GloVe's."
                )
            raise InputError(f"{self.path}: is a zip archive; unpack it and give one of its files.")

    def _no_vectors(self, line: bytes) -> InputError:
        return InputError(
            f"{self.path}: is not a file of word vectors: line 1 is {_shown(line)}, but must be a word "
            "and its numbers, or a header with the number of words and of dimensions. (Supported: "
            "GloVe and word2vec text, word2vec binary, fastText .vec.)"
        )

    # Text

    def _find_text(self, left: set[bytes]) -> Iterator[tuple[bytes, Vector]]:
        """Compare the beginning of every line with the words; parse only lines that match."""
        separator = self.form.separator
        firsts = {word.partition(separator)[0] for word in left}
        for number, line in self._lines() if left else ():
            end = line.find(separator)
            if (line[:end] if end >= 0 else line.rstrip()) in firsts:
                found = self._line(line, left, number)
                if found:
                    yield found
                    left.remove(found[0])
                    firsts = {word.partition(separator)[0] for word in left}
                    if not left:
                        return

    def _line(self, line: bytes, wanted: set[bytes], number: int) -> tuple[bytes, Vector] | None:
        """The word and the vector of a line if the word is in `wanted`. A word may contain spaces: the
        numbers are the last fields."""
        separator, dims = self.form.separator, self.form.dims
        word, *fields = line.rstrip().split(separator, 1)
        fields = fields[0].split() if fields else []
        extra = len(fields) - dims
        if extra > 0 and not all(map(_is_number, fields[:extra])):
            word = separator.join(line.split(separator, extra + 1)[: extra + 1])
            fields, extra = fields[extra:], 0
        if word not in wanted:
            return None
        if extra:
            raise InputError(
                f"{self.path}, line {number}, word {_shown(word)}: {len(fields)} "
                f"number{'s' * (len(fields) != 1)} where {self.form.dims_source} {dims}."
            )
        return word, [self._number(field, word, number) for field in fields]

    def _number(self, field: bytes, word: bytes, number: int) -> float:
        if _is_number(field):
            value = float(field)
            if isfinite(value):
                return value
        raise InputError(
            f"{self.path}, line {number}, word {_shown(word)}: {_shown(field)} "
            "where a number is needed."
        )

    # Binary

    def _find_binary(self, left: set[bytes]) -> Iterator[tuple[bytes, Vector]]:
        for number, (word, numbers) in enumerate(self._records() if left else (), 1):
            if word in left:
                vector = list(struct.unpack(f"<{self.form.dims}f", numbers()))
                if not all(map(isfinite, vector)):
                    raise InputError(
                        f"{self.path}, word {number:,}, {_shown(word)}: "
                        f"{next(x for x in vector if not isfinite(x))} where a number is needed."
                    )
                yield word, vector
                left.remove(word)
                if not left:
                    return

    def _records(self) -> Iterator[tuple[bytes, Callable[[], bytes]]]:
        """Yield every word with a function that returns its numbers as bytes. Steps from word to word,
        so that bytes of numbers are never mistaken for a word."""
        buffer, at, size = b"", 0, 4 * self.form.dims
        assert self.form.count is not None
        with self._opened() as (stream, tell):
            stream.read(self.form.start)
            for number in range(1, self.form.count + 1):
                while (space := buffer.find(b" ", at)) < 0 or space + 1 + size > len(buffer):
                    too_long = (len(buffer) if space < 0 else space) - at > LONGEST_WORD
                    more = b"" if too_long else stream.read(BLOCK)
                    tell()
                    if not more:
                        raise self._broken(number, too_long)
                    buffer, at = buffer[at:] + more, 0
                word = buffer[at:space].removeprefix(b"\n")  # some programs end a vector with one
                at = space + 1 + size
                yield word, lambda here=buffer, end=at: here[end - size : end]  # type: ignore[misc]

    def _broken(self, number: int, garbled: bool) -> InputError:
        if garbled:
            return InputError(
                f"{self.path}: is damaged at word {number:,}, or is not a word2vec binary of "
                f"{self.form.dims} dimensions as its header says."
            )
        return InputError(
            f"{self.path}: ends in the middle of word {number:,}; its header promises "
            f"{self.form.count:,}. Copy or download it again."
        )


def _is_number(field: bytes) -> bool:
    """Whether a field is a number, infinity and NaN included."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def _separator(line: bytes) -> bytes:
    """The separator after the word: a space or a tab."""
    tab, space = line.find(b"\t"), line.find(b" ")
    return b"\t" if tab >= 0 and (space < 0 or tab < space) else b" "


def _shown(text: bytes) -> str:
    """Format bytes for an error message."""
    return repr(shortened(text[:200].decode("utf-8", "replace").rstrip("\r\n")))


MOST_CANDIDATES = 20_000
"""Words of the file, from its start, that are compared with a missing word."""
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
    known: dict[str, list[str]] = {}
    count = 0
    for word in file.words():
        known.setdefault(word.casefold(), []).append(word)
        count += 1
    named = []
    for word in missing[:MOST_NAMED]:
        folded = word.casefold()
        alike = islice((one for one in known if one[:1] in folded[:2]), MOST_CANDIDATES)
        near = [folded] if folded in known else get_close_matches(folded, alike)
        hint = " or ".join(dict.fromkeys(repr(word) for one in near for word in known[one]))
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


def rows_of(table: Table, words: Sequence[str]) -> Table:
    """The rows of the given words, in order and with repeats, from a table with unique words."""
    rows = {word: row for row, word in enumerate(table.rows)}
    return replace(table, rows=tuple(words), values=table.values[[rows[word] for word in words]])
