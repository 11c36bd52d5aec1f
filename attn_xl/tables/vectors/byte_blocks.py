"""The bytes of large files, gzip or not, in blocks, and what goes wrong in reading. Knows no format."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from attn_xl.errors import InputError
from attn_xl.outputs import no_such_file

BLOCK = 1 << 18
"""So many bytes are read at a time: they stay in the processor's cache."""
HEAD = 1 << 20
"""So many bytes, at the most, tell what a file is."""
GZIP = b"\x1f\x8b"

Blocks = Generator[bytes, None, None]
Progress = Callable[[int, int], None]
"""Is told, again and again, how many bytes of the file are done, and of how many."""


def blocks_of(path: Path, progress: Progress | None = None) -> Blocks:
    """A file's content, decompressed, in blocks.

    Raises:
        InputError: if it cannot be read, or ends too soon.
    """
    with _said(path), open(path, "rb", buffering=0) as raw:
        total = path.stat().st_size
        for block in _unpacked(raw):
            if progress:
                progress(raw.tell(), total)
            yield block


def head(blocks: Iterator[bytes]) -> Blocks:
    """The first blocks, up to `HEAD` bytes."""
    size = 0
    for block in blocks:
        yield block
        size += len(block)
        if size >= HEAD:
            return


def _unpacked(raw: IO[bytes]) -> Blocks:
    """Blocks of a file, decompressed if it is gzip's."""
    stream: Any = raw
    compressed = raw.read(2) == GZIP
    raw.seek(0)
    if compressed:
        from isal import igzip

        unpack: Any = igzip.IGzipFile
        stream = unpack(fileobj=raw, mode="rb")
    while block := stream.read(BLOCK):
        yield block


def whole_lines(blocks: Iterator[bytes]) -> Blocks:
    """The same bytes cut at ends of lines. Blocks are not joined, which would copy them: a line that
    lies across comes by itself."""
    carried: list[bytes] = []
    for block in blocks:
        first = block.find(b"\n") + 1
        if not first:
            carried.append(block)
            continue
        last = block.rfind(b"\n") + 1
        yield b"".join([*carried, block[:first]])
        if last > first:
            yield block[first:last]
        carried = [block[last:]]
    rest = b"".join(carried)
    if rest:
        yield rest


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """What goes wrong in reading, in words."""
    import zlib
    from gzip import BadGzipFile

    from isal import isal_zlib

    damaged: Any = (isal_zlib.error, zlib.error, BadGzipFile)
    try:
        yield
    except FileNotFoundError:
        raise no_such_file(path) from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a file of word vectors.") from None
    except EOFError:
        raise InputError(
            f"{path}: the compressed file ends too soon. Was it copied or downloaded to the end?"
        ) from None
    except damaged as error:
        raise InputError(f"{path}: the compressed file is damaged ({error}).") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read ({reason}).") from None
