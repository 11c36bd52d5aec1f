"""From files to workbooks: one, or many at once, of which a bad one does not stop the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from attn_xl.errors import AttnXlError, CallError, Interrupted, OutputError, unforeseen
from attn_xl.outputs import SPREADSHEETS, check_output
from attn_xl.workbook.arrange import check_sizes
from attn_xl.workbook.layout.place import renamed
from attn_xl.workbook.write import write_workbook

from .options import computed


@dataclass(frozen=True)
class Conversion:
    """One file to convert.

    Attributes:
        file: what is read; path: what is written.
        template: the look.
        chosen: the settings that the call names; reading: which tables.
        force: replace what exists.
    """

    file: Path
    path: Path
    template: Path
    chosen: dict[str, Any]
    reading: dict[str, Any]
    force: bool


@dataclass(frozen=True)
class Converted:
    """How it went: what was written, or what was wrong."""

    said: str
    remarks: tuple[str, ...] = ()
    error: str = ""


def convert_file(task: Conversion) -> Converted:
    """Write the workbook of one file.

    Raises:
        AttnXlError: if it cannot be done; then nothing was written.
    """
    check_output(task.path, force=task.force, sources=(task.file, task.template))
    computation, settings = computed(task.file, task.chosen, task.reading, fits=check_sizes)
    source = "standard input" if str(task.file) == "-" else task.file.name
    layout = write_workbook(
        computation,
        task.path,
        template=task.template,
        settings=settings,
        source=source,
        record=True,
    )
    return Converted(
        f"{task.path}: {layout.summary(settings)}",
        (*computation.remarks, *renamed(computation, layout)),
    )


def convert_files(tasks: Sequence[Conversion], jobs: int | None) -> list[Converted]:
    """Write the workbooks of several files, each as if it were alone.

    Raises:
        CallError: if two would be written to the same place, or `jobs` is below 1.
        Interrupted: when stopped; the files that are finished are whole.
    """
    taken: dict[str, Path] = {}
    for task in tasks:
        key = str(task.path).casefold()
        if key in taken:
            raise CallError(
                f"{taken[key]} and {task.file} would both be written to {task.path}. Convert them into "
                "different folders."
            )
        taken[key] = task.file
    from attn_xl.parallel import in_parallel  # one file starts without it

    done = dict(in_parallel(_tried, tasks, jobs=jobs, said="Converting", file_of=attrgetter("file")))
    return [done[number] for number in range(len(tasks))]


def _tried(task: Conversion) -> Converted:
    try:
        return convert_file(task)
    except Interrupted:
        raise
    except AttnXlError as error:
        return Converted("", error=str(error))
    except Exception as error:  # one file must not stop the others
        return Converted("", error=f"{task.file}: cannot be converted ({unforeseen(error)}).")


def folder_for(output: Path) -> Path:
    """The folder to write to, made if it is not there.

    Raises:
        CallError: if it is a file.
        OutputError: if it cannot be made.
    """
    if output.exists() and not output.is_dir():
        raise CallError(f"{output}: is a file; for several inputs -o names a folder.")
    if not output.exists() and output.suffix.lower() in (*SPREADSHEETS, ".csv"):
        raise CallError(
            f"{output}: is the name of a file, but several inputs become a workbook each. Give -o a "
            "folder, or leave it out: then each lies beside its input."
        )
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{output}: cannot be made ({error.strerror or error}).") from None
    return output
