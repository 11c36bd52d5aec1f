"""Output that appears whole or not at all: written beside its place, then renamed into it."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import CallError, OutputError


def check_output(path: Path, *, force: bool, sources: Iterable[Path] = ()) -> None:
    """Refuse an output that would overwrite something unasked.

    Args:
        force: replace what exists.
        sources: the files that are read, which are never replaced.

    Raises:
        CallError: if `path` is one of `sources`, no file, or exists without `force`.
    """
    try:
        exists = path.exists()
        same = exists and any(source.exists() and path.samefile(source) for source in sources)
    except (OSError, ValueError, RuntimeError) as error:
        raise CallError(f"{path}: is no name for a file here ({_reason(error)}).") from None
    if same:
        raise CallError(f"{path}: is the input, which is never overwritten. Name another output.")
    if path.is_dir():
        raise CallError(f"{path}: is a folder. Name a file in it.")
    if exists and not path.is_file():
        raise CallError(f"{path}: is not an ordinary file. Name another output.")
    if exists and not force:
        raise CallError(f"{path}: exists already. Use --force to replace it, or -o to name another.")


def _reason(error: Exception) -> object:
    return getattr(error, "strerror", None) or error


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; what is no name for a file here is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError, RuntimeError):
        return False


def expanded(files: Sequence[Path]) -> list[Path]:
    """The files of a call, with patterns that the shell has left as they are (`*.xlsx` on Windows), but
    for the lock files of open workbooks, each once."""
    found: list[Path] = []
    for file in files:
        pattern = glob.has_magic(str(file)) and not os.path.exists(file)
        found += sorted(map(Path, glob.glob(str(file)))) if pattern else [file]
    return [file for file in dict.fromkeys(found) if not file.name.startswith("~$")]


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to; it replaces `path` when the block ends well, and is
    removed when it does not.

    Raises:
        OutputError: if the folder, the disk or the file does not take it.
    """
    temporary = path.with_name(f".attn-xl-{os.urandom(6).hex()}.part")  # known before it is there
    try:
        target = path.resolve()  # through a link, the file behind it is replaced
        temporary = target.with_name(temporary.name)
        temporary.touch(exist_ok=False)
        yield temporary
        temporary.chmod(_permissions(target))
        os.replace(temporary, target)
    except (OSError, RuntimeError) as error:
        why = {
            "FileNotFoundError": "there is no such folder",
            "NotADirectoryError": "there is no such folder",
            "PermissionError": "writing there is not allowed, or the file is open in another program",
        }.get(type(error).__name__, _reason(error))
        raise OutputError(f"{path}: cannot be written ({why}). Nothing was changed.") from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def _permissions(target: Path) -> int:
    """Those of the file that is replaced, or what a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
