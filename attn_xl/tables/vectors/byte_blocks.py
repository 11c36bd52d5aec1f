"""Reads large files, gzip or not, in blocks of bytes, and turns read errors into messages."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from attn_xl.errors import InputError
from attn_xl.outputs import no_such_file

BLOCK = 1 << 18
"""Bytes read at a time; a block fits in the processor's cache."""
HEAD = 1 << 20
"""Bytes at the start of a file that are examined to detect its format."""
GZIP = b"\x1f\x8b"

Blocks = Generator[bytes, None, None]
Progress = Callable[[int, int], None]
"""Called repeatedly with the number of bytes done and the total."""


def blocks_of(path: Path, progress: Progress | None = None) -> Blocks:
    """Yield a file's content, decompressed, in blocks.

    Raises:
        InputError: if the file cannot be read or is truncated.
    """
    with _input_errors(path), open(path, "rb", buffering=0) as raw:
        total = path.stat().st_size
        for block in _unpacked(raw):
            if progress:
                progress(raw.tell(), total)
            yield block


def head(blocks: Iterator[bytes]) -> Blocks:
    """Yield the first blocks, up to `HEAD` bytes."""
    size = 0
    for block in blocks:
        yield block
        size += len(block)
        if size >= HEAD:
            return


def _unpacked(raw: IO[bytes]) -> Blocks:
    """Yield blocks of a file, decompressed if it is gzip."""
    stream: Any = raw
    compressed = raw.read(2) == GZIP
    raw.seek(0)
    if compressed:
        from gzip import GzipFile

        stream = GzipFile(fileobj=raw, mode="rb")
    while block := stream.read(BLOCK):
        yield block


def whole_lines(blocks: Iterator[bytes]) -> Blocks:
    """Yield the same bytes, split at line ends. A line that crosses two blocks is yielded on its own,
    because joining whole blocks would copy them."""
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
def _input_errors(path: Path) -> Iterator[None]:
    """Convert read errors to InputError."""
    import zlib
    from gzip import BadGzipFile

    try:
        yield
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
