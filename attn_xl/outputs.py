"""Output that appears whole or not at all: written beside its place, then renamed into it."""

from __future__ import annotations

import glob
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from difflib import get_close_matches
from functools import cache
from itertools import islice
from pathlib import Path
from typing import IO

from .errors import CallError, InputError, OutputError

STANDARD_OUTPUT = Path("-")
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
MOST_ENTRIES = 10_000
"""At most this many files of a folder are compared with a name."""
_STRAY = re.compile(r"\.attn-xl-[0-9a-f]{12}\.part")


def check_output(
    path: Path,
    *,
    force: bool,
    sources: Iterable[Path] = (),
    instead: str = "Use --force to replace it, or -o to name another.",
) -> None:
    """Refuse an output that would overwrite something unasked.

    Args:
        force: replace what exists.
        sources: the files that are read, which are never replaced.
        instead: what to do where one exists.

    Raises:
        CallError: if `path` is one of `sources`, no file, or exists without `force`.
        OutputError: if it is open in a spreadsheet program.
    """
    try:
        exists = path.exists()
        endless = not exists and path.resolve().is_symlink()  # from Python 3.13 on; else an error
        same = exists and any(source.exists() and path.samefile(source) for source in sources)
    except (OSError, ValueError, RuntimeError) as error:
        raise CallError(f"{path}: is no name for a file here ({_reason(error)}).") from None
    if same:
        raise CallError(f"{path}: is the input, which is never overwritten. Name another output.")
    if endless:
        raise CallError(f"{path}: is a link that leads to itself. Name another output.")
    if path.is_dir():
        raise CallError(f"{path}: is a folder. Name a file in it.")
    if exists and not path.is_file():
        raise CallError(f"{path}: is not an ordinary file. Name another output.")
    if exists and not force:
        raise CallError(f"{path}: exists already. {instead}")
    for lock in (path.with_name(f"~${path.name}"), path.with_name(f".~lock.{path.name}#")):
        if exists and os.path.lexists(lock):  # Excel's, LibreOffice's
            raise OutputError(
                f"{path}: is open in a spreadsheet program, which would save over the new one. Close "
                f"it there; if it is not open, delete {lock.name!r} beside it, which says so."
            )


def check_ending(path: Path, *endings: str) -> None:
    """Refuse the name of an output that does not say what is written.

    Raises:
        CallError: if it ends in none of the `endings`, such as `.xlsx`.
    """
    if path.suffix.lower() not in endings:
        raise CallError(f"{path}: give it a name that ends in {' or '.join(endings)}.")


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
    for the lock files of open workbooks, each once.

    Raises:
        CallError: if no file is left.
    """
    found: list[Path] = []
    for file in files:
        pattern = glob.has_magic(str(file)) and not os.path.exists(file)
        found += sorted(map(Path, glob.glob(str(file)))) if pattern else [file]
    left = [file for file in dict.fromkeys(found) if not file.name.startswith("~$")]
    if not left:
        raise CallError(f"{files[0]}: no file matches.")
    return left


def no_such_file(path: Path) -> InputError:
    """The error about a file that does not exist, with the name nearest to it in its folder."""
    folder = path.parent
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, MOST_ENTRIES)]
    except (OSError, ValueError):
        return InputError(f"{path}: no such file; there is no folder {str(folder)!r}.")
    by_folded = {name.casefold(): name for name in sorted(names) if not name.startswith((".", "~$"))}
    by_folded |= {Path(name).stem.casefold(): name for name in sorted(by_folded.values())} | by_folded
    close = get_close_matches(path.name.casefold(), by_folded, n=1, cutoff=0.7)
    near = f" Did you mean {by_folded[close[0]]!r}?" if close else ""
    return InputError(f"{path}: no such file.{near}")


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to; it replaces `path` when the block ends well, and is
    removed when it does not. `-` is the standard output: what was written is copied to it.

    A program that is killed leaves its temporary file; who next writes into the folder removes it.

    Raises:
        OutputError: if the folder, the disk or the file does not take it.
    """
    with writing_all([path]) as (temporary,):
        yield temporary


@contextmanager
def writing_all(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """The same for several paths: none is replaced before all are on the disk."""
    at = anywhere = " or ".join(map(str, paths))
    replaced: list[str] = []
    try:
        with ExitStack() as until_the_end:
            files = []
            for path in paths:
                # Through a link, the file behind it is replaced.
                printed = path == STANDARD_OUTPUT
                target = Path(tempfile.gettempdir(), path) if printed else path.resolve()
                at = str(path)
                _remove_strays(target.parent)
                files.append((path, target, *until_the_end.enter_context(_temporary(target.parent))))
            at = anywhere
            yield [temporary for _, _, temporary, _ in files]
            for path, target, temporary, held in files:
                at = str(path)
                temporary.chmod(_permissions(target))
                # Many file systems put names on the disk before contents: without this, a power cut
                # can leave an empty file where the old one was. It costs some 10 ms.
                os.fsync(held.fileno())
                if os.name == "nt":  # what is open there cannot be renamed
                    held.close()
            for path, target, temporary, _ in files:
                at = str(path)
                if path == STANDARD_OUTPUT:
                    sys.stdout.buffer.write(temporary.read_bytes())
                    sys.stdout.buffer.flush()
                else:
                    os.replace(temporary, target)
                replaced.append(at)
    except BrokenPipeError:
        raise
    except (OSError, RuntimeError) as error:
        done = f"{' and '.join(replaced)} is written already" if replaced else "Nothing was changed"
        raise OutputError(f"{at}: cannot be written ({_why(error)}). {done}.") from None


def _why(error: Exception) -> object:
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return "there is no such folder"
    if isinstance(error, PermissionError):
        return "writing there is not allowed, or the file is open in another program"
    return _reason(error)


@contextmanager
def _temporary(folder: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new file in a folder, and itself opened, which keeps it locked as long as this process lives;
    gone after the block, unless it was renamed."""
    made = False
    while not made:
        path = folder / f".attn-xl-{os.urandom(6).hex()}.part"
        try:
            with open(path, "xb") as held:
                _lock(held, wait=True)
                made = path.exists()  # else it was taken for a stray before it was locked
                if made:
                    yield path, held
        finally:  # closed by now: Windows removes nothing that is open
            with suppress(OSError):
                path.unlink()


def _lock(file: IO[bytes], *, wait: bool) -> bool:
    """Lock an open file until it is closed or its process ends, however that ends; whether it could be
    locked. Some network drives have no locks: there nothing is a stray. Windows needs none: what is
    open is not removed."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@cache
def _remove_strays(folder: Path) -> None:
    """Remove the temporary files of programs that were killed: ordinary files, named as only this
    program names them, that no process has locked. A run looks once into each folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _STRAY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError), open(entry.path, "r+b") as stray:
                    if os.name == "nt":
                        stray.close()
                    if _lock(stray, wait=False):
                        os.unlink(entry.path)


def _permissions(target: Path) -> int:
    """Those of the file that is replaced, or what a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
