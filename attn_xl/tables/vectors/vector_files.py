"""Detects the format of word-vector files and looks up single words in them.

GloVe text has a word and its numbers on each line. word2vec and fastText text have the same lines under
a header, `count dims`. word2vec binary has the header, then each word, a space and its numbers as
float32. A file is read once from the front, up to the last requested word; of other lines only the
first bytes are examined.
"""

from __future__ import annotations

import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from attn_xl.errors import InputError
from attn_xl.outputs import SPREADSHEETS
from attn_xl.text import shortened

from .byte_blocks import HEAD, Blocks, Progress, blocks_of, head, whole_lines

LOOKED_AT = 50
"""Lines examined to find how many numbers a line has."""
LONGEST_WORD = 10_000
LONGEST_NUMBER = 40
"""Bytes examined to find whether a word continues after a space."""
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
        with closing(self._blocks()) as blocks:
            self.form = self._detect_form(b"".join(head(blocks)))

    def find(self, words: Iterable[str]) -> dict[str, Vector]:
        """The vectors of the words that are in the file; of repeated words, the first vector.

        Raises:
            InputError: if the file is damaged before the last of these words, or one of their lines is
                malformed.
        """
        missing = {word.encode(): word for word in words}
        if not missing:
            return {}
        with closing(self._body()) as blocks:
            search = self._find_binary if self.form.binary else self._find_text
            return {missing[word]: vector for word, vector in search(blocks, missing)}

    def words(self) -> Iterator[str]:
        """Yield all words in file order."""
        with closing(self._body()) as blocks:
            if self.form.binary:
                yield from (word.decode("utf-8", "replace") for word, _ in self._records(blocks))
                return
            separator, dims = self.form.separator, self.form.dims
            for block in whole_lines(blocks):
                for line in block.split(b"\n"):
                    fields = line.rstrip()
                    word, _, after = fields.partition(separator)
                    if fields.count(separator) != dims and not _is_number(
                        after.lstrip()[:LONGEST_NUMBER].partition(b" ")[0]
                    ):
                        if not fields:
                            continue
                        word = fields.rsplit(None, dims)[0]
                    yield word.decode("utf-8", "replace")

    # Bytes

    def _blocks(self) -> Blocks:
        return blocks_of(self.path, self._progress)

    def _body(self) -> Blocks:
        """Yield the file's content, starting with the first word."""
        left = self.form.start
        with closing(self._blocks()) as blocks:
            for block in blocks:
                if len(block) > left:
                    yield block[left:] if left else block
                left = max(0, left - len(block))

    def _line_number(self, offset: int) -> int:
        """The number, from 1, of the line that contains byte `offset` of the body."""
        left, lines = self.form.start + offset, 1
        with closing(self._blocks()) as blocks:
            for block in blocks:
                lines += block.count(b"\n", 0, max(0, left))
                left -= len(block)
                if left <= 0:
                    break
        return lines

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

    def _find_text(
        self, blocks: Iterator[bytes], missing: dict[bytes, str]
    ) -> Iterator[tuple[bytes, Vector]]:
        """Compare the first bytes of every line with the missing words; parse only lines that match."""
        left = set(missing)
        separator = self.form.separator
        size = min(len(word) + 1 for word in left)
        ends = (separator, b"\n", b"\r", b"")  # a line may end after its word

        def beginnings() -> set[bytes]:
            return {(word + end)[:size] for word in left for end in ends}

        starts = beginnings()
        offset = 0
        for block in whole_lines(blocks):
            find, at = block.find, 0
            while True:
                if block[at : at + size] in starts:
                    end = find(b"\n", at)
                    line = block[at : end if end >= 0 else len(block)]
                    found = self._line(line, left, offset + at)
                    if found:
                        yield found
                        left.remove(found[0])
                        if not left:
                            return
                        starts = beginnings()  # lines of a repeated word are parsed once
                at = find(b"\n", at) + 1
                if not at:
                    break
            offset += len(block)

    def _line(self, line: bytes, wanted: set[bytes], offset: int) -> tuple[bytes, Vector] | None:
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
                f"{self.path}, line {self._line_number(offset)}, word {_shown(word)}: {len(fields)} "
                f"number{'s' * (len(fields) != 1)} where {self.form.dims_source} {dims}."
            )
        return word, [self._number(field, word, offset) for field in fields]

    def _number(self, field: bytes, word: bytes, offset: int) -> float:
        if _is_number(field):
            value = float(field)
            if isfinite(value):
                return value
        raise InputError(
            f"{self.path}, line {self._line_number(offset)}, word {_shown(word)}: {_shown(field)} "
            "where a number is needed."
        )

    # Binary

    def _find_binary(
        self, blocks: Iterator[bytes], missing: dict[bytes, str]
    ) -> Iterator[tuple[bytes, Vector]]:
        left = set(missing)
        for number, (word, numbers) in enumerate(self._records(blocks), 1):
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

    def _records(self, blocks: Iterator[bytes]) -> Iterator[tuple[bytes, Callable[[], bytes]]]:
        """Yield every word with a function that returns its numbers as bytes. Steps from word to word,
        so that bytes of numbers are never mistaken for a word."""
        buffer, at, size = b"", 0, 4 * self.form.dims
        assert self.form.count is not None
        for number in range(1, self.form.count + 1):
            while (space := buffer.find(b" ", at)) < 0 or space + 1 + size > len(buffer):
                too_long = len(buffer) - at if space < 0 else space - at
                more = next(blocks, b"") if too_long <= LONGEST_WORD else b""
                if not more:
                    raise self._broken(number, too_long > LONGEST_WORD)
                buffer, at = buffer[at:] + more, 0
            word = buffer[at:space]
            if word[:1] == b"\n":  # some programs end a vector with one
                word = word[1:]
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
