"""The commands `attn-xl convert` and `attn-xl similarity`: write a workbook for each input file. A file
that fails does not stop the others."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from attn_xl.errors import AttnXlError, CallError, InputError, OutputError, unforeseen
from attn_xl.records import record
from attn_xl.settings import Model, Settings
from attn_xl.text import say

from .options import (
    NOT_FILLED,
    OF_OUTPUT,
    Files,
    Force,
    Output,
    Plain,
    Template,
    compute_file,
    output_beside,
    read_file_tables,
    with_settings,
)


@with_settings(
    "model", "heads", "layers", "causal", "padding", "positions", "window", "memory", "attention",
    "scale", "temperature", "norm", "activation", "dropout", "random_weights", "generate", "seed",
    "influence", "decimals", "formulas", "layout",
    leave_out=("controls",),
)  # fmt: skip
def convert(
    file: Files,
    options: dict[str, Any],
    reading: dict[str, Any],
    output: Output = None,
    template: Template = "article",
    plain: Plain = False,
    force: Force = False,
) -> None:
    options = {**options, "controls": not plain}
    write_workbooks(file, output, "attention", template, force, options, reading)


@with_settings(*OF_OUTPUT, leave_out=[f.name for f in fields(Settings) if f.name not in OF_OUTPUT])
def similarity(
    file: Files,
    options: dict[str, Any],
    reading: dict[str, Any],
    output: Output = None,
    template: Template = "article",
    force: Force = False,
) -> None:
    options = {**options, "model": Model.similarity, "controls": True}
    write_workbooks(file, output, "similarity", template, force, options, reading)


def write_workbooks(
    files: list[Path],
    output: Path | None,
    tail: str,
    template: str,
    force: bool,
    options: dict[str, Any],
    reading: dict[str, Any],
) -> None:
    """Write the workbook of each file, and print what was written.

    Args:
        tail: the end of the name of an output that has none.
        options, reading: the settings given in the call, and how to read the files.

    Raises:
        AttnXlError: for a mistake in the call, or if the only file cannot be converted.
    """
    from attn_xl.outputs import expanded, is_folder

    files = expanded(files)
    into_folder = output is not None and (len(files) > 1 or is_folder(output))
    from attn_xl.workbook.templates import find_template

    template_path = find_template(template)
    folder = folder_for(output) if output is not None and into_folder else None
    tasks = []
    for file in files:
        if folder is not None:
            path = folder / f"{file.stem}-{tail}.xlsx"
        else:
            path = output or output_beside(file, f"{tail}.xlsx")
        tasks.append(Conversion(file, path, template_path, options, reading, force))
    results = [convert_file(tasks[0])] if len(tasks) == 1 else convert_files(tasks)
    for result in results:
        for line in (*result.remarks, result.error):
            if line:
                say(f"attn-xl: {line}" if line == result.error else line, file=sys.stderr)
        if result.summary:
            say(result.summary)
    failed = sum(bool(result.error) for result in results)
    if len(tasks) != 1:
        say(f"{len(tasks) - failed} of {len(tasks)} files converted")
    if failed:
        raise typer.Exit(1)


@record(frozen=True)
class Conversion:
    """One file to convert.

    Attributes:
        file, path: the input and the output.
        template: the workbook that sets the look.
        options: the settings given in the call.
        reading: the options that select the tables to read.
        force: replace an existing output.
    """

    file: Path
    path: Path
    template: Path
    options: dict[str, Any]
    reading: dict[str, Any]
    force: bool


@record(frozen=True)
class Converted:
    """The outcome for one file: what was written, or the error."""

    summary: str
    remarks: tuple[str, ...] = ()
    error: str = ""


def convert_file(task: Conversion) -> Converted:
    """Write the workbook of one file.

    Raises:
        AttnXlError: if the file cannot be converted; nothing is written then.
    """
    from attn_xl.outputs import check_output
    from attn_xl.workbook.layout.place import renamed
    from attn_xl.workbook.templates import is_arrangement
    from attn_xl.workbook.write import check_sizes, write_workbook

    check_output(task.path, ".xlsx", force=task.force, sources=(task.file, task.template))
    if is_arrangement(task.template):
        return _arranged(task)
    computation, settings = compute_file(task.file, task.options, task.reading, fits=check_sizes)
    source = "standard input" if str(task.file) == "-" else task.file.name
    layout = write_workbook(
        computation, task.path, template=task.template, settings=settings, source=source, record=True
    )
    return Converted(
        f"{task.path}: {layout.summary(settings)}",
        (*computation.remarks, computation.about.replace("\n", " "), *renamed(computation, layout)),
    )


def _arranged(task: Conversion) -> Converted:
    """Put the sentences of a file into the frames of an author's workbook."""
    from attn_xl.outputs import writing
    from attn_xl.workbook.filling.author import fill_file

    tables = read_file_tables(task.file, task.reading)
    options = {name: value for name, value in task.options.items() if name not in NOT_FILLED}
    filled = fill_file(task.template, options, tables=tables)
    if not filled.filling.count:
        raise InputError(
            " ".join([f"{task.template}: nothing can be filled in.", *filled.attention[:1]])
        )
    with writing(task.path) as temporary:
        temporary.write_bytes(filled.content)
    remarks = (*tables.remarks, *filled.notes, *filled.attention)
    return Converted(f"{task.path}: {filled.summary}", remarks)


def convert_files(tasks: Sequence[Conversion]) -> list[Converted]:
    """Write the workbooks of several files, each independently of the others.

    Raises:
        CallError: if two outputs have the same path.
    """
    taken: dict[str, Path] = {}
    for task in tasks:
        key = str(task.path).casefold()
        if key in taken:
            raise CallError(
                f"{taken[key]} and {task.file} would both be written to {task.path}. Convert them "
                "into different folders."
            )
        taken[key] = task.file
    from attn_xl.console import tracked  # not needed for a single file

    return [_try_convert(task) for task in tracked(tasks, "Converting")]


def _try_convert(task: Conversion) -> Converted:
    try:
        return convert_file(task)
    except AttnXlError as error:
        return Converted("", error=str(error))
    except Exception as error:  # one file must not stop the others
        return Converted("", error=f"{task.file}: cannot be converted ({unforeseen(error)}).")


def folder_for(output: Path) -> Path:
    """The folder to write to, created if it does not exist.

    Raises:
        CallError: if the path is a file.
        OutputError: if the folder cannot be created.
    """
    from attn_xl.outputs import SPREADSHEETS

    if output.exists() and not output.is_dir():
        raise CallError(f"{output}: is a file, but with several inputs -o must name a folder.")
    if not output.exists() and output.suffix.lower() in (*SPREADSHEETS, ".csv"):
        raise CallError(
            f"{output}: is a file name, but each of several inputs gets its own workbook. Give -o a "
            "folder, or omit it to write each workbook beside its input."
        )
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{output}: the folder cannot be created ({error.strerror or error})."
        ) from None
    return output
