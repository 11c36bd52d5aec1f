"""Atomic output: files are written under a temporary name beside the target, then renamed."""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from .errors import CallError, InputError, OutputError

STANDARD_OUTPUT = Path("-")
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
MOST_ENTRIES = 10_000
"""Files of a folder to compare with a mistyped name; bounds the time in huge folders."""


def check_output(
    path: Path,
    *endings: str,
    force: bool,
    sources: Iterable[Path] = (),
    instead: str = "Use --force to replace it, or -o to name another.",
) -> None:
    """Raise an error if an output would overwrite an input or, without `force`, any existing file.

    Args:
        endings: those of its format, such as `.xlsx`; any if none is given.
        force: allow replacing an existing file.
        sources: the input files, which are never replaced.
        instead: the advice that ends the error about an existing file.

    Raises:
        CallError: if `path` has another ending, is one of `sources` or no ordinary file, or exists
            without `force`.
        OutputError: if it is open in a spreadsheet program.
    """
    if endings and path.suffix.lower() not in endings:
        raise CallError(f"{path}: give it a name that ends in {' or '.join(endings)}.")
    try:
        exists = path.exists()
        endless = (
            not exists and path.resolve().is_symlink()
        )  # True from Python 3.13 on; an error before
        same = exists and any(source.exists() and path.samefile(source) for source in sources)
    except (OSError, ValueError, RuntimeError) as error:
        raise CallError(f"{path}: is not a valid file name here ({_reason(error)}).") from None
    if same:
        raise CallError(f"{path}: is the input, which is never overwritten. Name another output.")
    if endless:
        raise CallError(f"{path}: is a link to itself. Name another output.")
    if path.is_dir():
        raise CallError(f"{path}: is a folder. Name a file in it.")
    if exists and not path.is_file():
        raise CallError(f"{path}: is not an ordinary file. Name another output.")
    if exists and not force:
        raise CallError(f"{path}: exists already. {instead}")
    for lock in (path.with_name(f"~${path.name}"), path.with_name(f".~lock.{path.name}#")):
        if exists and os.path.lexists(lock):  # lock files of Excel, LibreOffice
            raise OutputError(
                f"{path}: is open in a spreadsheet program, which would overwrite the new file. Close "
                f"it there; if it is not open, delete the lock file {lock.name!r} beside it."
            )


def _reason(error: Exception) -> object:
    return getattr(error, "strerror", None) or error


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; False for a path that is invalid on this system."""
    try:
        return path.is_dir()
    except (OSError, ValueError, RuntimeError):
        return False


def expanded(files: Sequence[Path]) -> list[Path]:
    """The files of a call without duplicates and without the lock files of open workbooks; patterns
    that the shell did not expand (`*.xlsx` on Windows) are expanded.

    Raises:
        CallError: if no file matches.
    """
    matches: list[Path] = []
    for file in files:
        pattern = glob.has_magic(str(file)) and not os.path.exists(file)
        matches += sorted(map(Path, glob.glob(str(file)))) if pattern else [file]
    left = [file for file in dict.fromkeys(matches) if not file.name.startswith("~$")]
    if not left:
        raise CallError(f"{files[0]}: no file matches.")
    return left


def no_such_file(path: Path) -> InputError:
    """The error for a file that does not exist; suggests the closest name in its folder."""
    folder = path.parent
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, MOST_ENTRIES)]
    except (OSError, ValueError):
        shipped = _samples() / path.name
        if folder.name == "samples" and shipped.exists():
            return InputError(f"{path}: no such file here. It is {shipped}.")
        return InputError(f"{path}: no such file; there is no folder {str(folder)!r}.")
    by_folded = {name.casefold(): name for name in sorted(names) if not name.startswith((".", "~$"))}
    by_folded |= {Path(name).stem.casefold(): name for name in sorted(by_folded.values())} | by_folded
    close = get_close_matches(path.name.casefold(), by_folded, n=1, cutoff=0.7)
    near = f" Did you mean {by_folded[close[0]]!r}?" if close else ""
    return InputError(f"{path}: no such file.{near}")


def _samples() -> Path:
    """The folder of the samples: in an installed package, or in a checkout."""
    here = Path(__file__).parent
    return here / "samples" if (here / "samples").is_dir() else here.parent / "samples"


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """A context with a temporary path beside `path` to write to. It replaces `path` when the block
    succeeds and is removed when the block fails. For `-`, the content is copied to standard output.

    Raises:
        OutputError: if the file cannot be written.
    """
    with writing_all([path]) as (temporary,):
        yield temporary


@contextmanager
def writing_all(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """The same for several paths; none is replaced before all are on the disk."""
    at = anywhere = " or ".join(map(str, paths))
    replaced: list[str] = []
    try:
        with ExitStack() as until_the_end:
            files = []
            for path in paths:
                # For a link, replace its target.
                printed = path == STANDARD_OUTPUT
                target = Path(tempfile.gettempdir(), path) if printed else path.resolve()
                at = str(path)
                temporary = until_the_end.enter_context(_temporary(target.parent))
                files.append((path, target, temporary))
            at = anywhere
            yield [temporary for _, _, temporary in files]
            for path, target, temporary in files:
                at = str(path)
                temporary.chmod(_permissions(target))
                # Many file systems write names to disk before contents: without fsync, a power cut can
                # replace the old file with an empty one. It costs about 10 ms.
                with open(temporary, "r+b") as written:
                    os.fsync(written.fileno())
            for path, target, temporary in files:
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
        done = (
            f"{' and '.join(replaced)} has been written already"
            if replaced
            else "An earlier file of that name was kept"
        )
        raise OutputError(f"{at}: cannot be written ({_why(error)}). {done}.") from None


def _why(error: Exception) -> object:
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return "there is no such folder"
    if isinstance(error, PermissionError):
        return "writing there is not allowed, or the file is open in another program"
    return _reason(error)


@contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    """A new file in a folder, which is removed after the block unless it was renamed."""
    path = folder / f".attn-xl-{os.urandom(6).hex()}.part"
    try:
        path.touch(exist_ok=False)
        yield path
    finally:
        with suppress(OSError):
            path.unlink()


def _permissions(target: Path) -> int:
    """The permissions of the file to be replaced, or the default of a new file."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
