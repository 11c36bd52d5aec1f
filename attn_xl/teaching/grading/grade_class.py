"""Marking the submissions of a class, with remarks on repeated and swapped files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from attn_xl.console import tracked
from attn_xl.errors import CallError, OutputError
from attn_xl.outputs import check_output
from attn_xl.spreadsheets.addresses import unique
from attn_xl.teaching.lessons.answer_key import read_key
from attn_xl.teaching.roster import Student
from attn_xl.workbook.templates import find_template

from .grade_file import Submission, grade_one, named_after
from .grades import Graded, Status

_JUNK = re.compile(r"\.(?!~lock)|Thumbs\.db$|desktop\.ini$")
"""Files that systems add to a folder."""


def grade_class(
    files: Sequence[Path],
    *,
    answers: Path | None = None,
    feedback: Path | None = None,
    template: str | Path = "article",
    force: bool = False,
) -> list[Graded]:
    """Mark the submissions of a class.

    Args:
        files: the workbooks; a folder stands for all files in it and its subfolders.
        answers: the answer key of the class, or the solved workbook of a lesson for all.
        feedback: a folder for marked copies, created if missing.
        template: the look of the marked copies.
        force: whether to replace existing marked copies.

    Returns:
        The result of each file, in the order of the key or, without a key, of the files. Students in
        the key who handed nothing in are included.

    Raises:
        CallError: if there are no files, or a marked copy exists already.
        InputError: if the key cannot be used.
        OutputError: if the folder cannot be written.
    """
    paths = submitted(files)
    expected = read_key(answers).students if answers else ()
    look = find_template(template)
    named = {path for path in files if path in paths}
    copies = _feedback_paths(paths, feedback, force, [*paths, *filter(None, [answers]), look])
    tasks = [
        Submission(path, answers, copy, look, path in named, force) for path, copy in zip(paths, copies)
    ]
    return together([grade_one(task) for task in tracked(tasks, "Marking")], expected)


def submitted(files: Sequence[Path]) -> list[Path]:
    """The files that paths stand for, without duplicates: a folder stands for its files, and a pattern
    (`*.xlsx`) that the shell did not expand for its matches.

    Raises:
        CallError: if there are no files.
    """
    found: dict[Path, Path] = {}
    for path in files:
        for one in _expand(path):
            found.setdefault(one.resolve(), one)
    if not found:
        raise CallError(f"found no spreadsheets in {', '.join(map(str, files))}.")
    return list(found.values())


def _expand(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(one for one in path.rglob("*") if one.is_file() and not _JUNK.match(one.name))
    if not path.exists() and any(letter in path.name for letter in "*?"):
        return sorted(path.parent.glob(path.name))
    return [path]


def _feedback_paths(
    paths: Sequence[Path], folder: Path | None, force: bool, others: Sequence[Path]
) -> list[Path | None]:
    """The path of each marked copy, named after its file."""
    if folder is None:
        return [None] * len(paths)
    if folder.exists() and not folder.is_dir():
        raise CallError(f"{folder}: is a file; --feedback takes a folder.")
    taken: set[str] = set()
    copies: list[Path | None] = []
    for path in paths:
        stem = path.stem
        if stem.casefold() in taken:  # equal file names in one folder per student
            stem = f"{path.parent.name}-{stem}"
        stem = unique(stem, taken)
        taken.add(stem.casefold())
        copies.append(folder / f"{stem}.xlsx")
        check_output(folder / f"{stem}.xlsx", force=force, sources=others)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be created ({error.strerror or error}).") from None
    return copies


def together(found: Sequence[Graded], expected: Sequence[Student] = ()) -> list[Graded]:
    """The results of a class, with remarks that need all submissions: if a lesson was handed in twice,
    the best one counts; files named after another student get a remark. Students in the key who handed
    nothing in are added."""
    marked = [one for one in found if one.status is Status.marked]
    by_id = {one.id: Student(one.id, one.name, "") for one in marked if one.id}
    students = expected or list(by_id.values())
    files: dict[str, list[Graded]] = {}
    for one in marked:
        if one.id:
            files.setdefault(one.id, []).append(one)
    instead: dict[str, str] = {}
    results = []
    for one in found:
        remarks, status = list(one.remarks), one.status
        own = files.get(one.id, []) if status is Status.marked else []
        if len(own) > 1:
            best = max(own, key=lambda other: other.share or 0.0)
            others = [other.file for other in own if other is not one]
            also = f"The same lesson was also handed in as {', '.join(others)}."
            if best is one:
                counts = "The best one counts: this one."
            else:
                counts = f"The best one counts: {best.file}."
            remarks.insert(0, f"{also} {counts}")
            status = status if best is one else Status.repeated
        named = named_after(one.path, students) if one.path and one.id else None
        if named and named.id != one.id:
            who = f"{named.id} ({named.name})" if named.name else named.id
            remarks.insert(
                0,
                f"The file is named after {who}, but it holds the lesson of {one.id}.",
            )
            instead[named.id] = one.id
        results.append(replace(one, status=status, remarks=tuple(remarks)))
    rank = {student.id: number for number, student in enumerate(expected)}
    for student in expected:
        if student.id not in files:
            results.append(_missing(student, instead.get(student.id), found))
    return sorted(results, key=lambda one: rank.get(one.id, len(rank)))


def _missing(student: Student, instead: str | None, found: Sequence[Graded]) -> Graded:
    remark = "Nothing was handed in."
    if instead:
        remark = f"Nothing was handed in; the file with their name holds the lesson of {instead}."
    broken = [
        one.file
        for one in found
        if one.status in (Status.failed, Status.skipped)
        and one.path
        and named_after(one.path, [student])
    ]
    if broken:
        remark = f"{broken[0]}, which has their name, could not be marked."
    return Graded(None, Status.missing, student.id, student.name, remarks=(remark,))


def summary(found: Sequence[Graded]) -> str:
    """A line that counts the submissions by outcome and gives the mean of those marked."""
    shares = [one.share for one in found if one.status is Status.marked and one.share is not None]
    counts = {status: sum(one.status is status for one in found) for status in Status}
    parts = [f"{counts[Status.marked]} marked"]
    if shares:
        parts[0] += f", mean {100 * sum(shares) / len(shares):.1f} %"
    for status, word in (
        (Status.failed, "not marked"), (Status.repeated, "superseded"), (Status.missing, "missing"),
        (Status.skipped, "skipped"),
    ):  # fmt: skip
        if counts[status]:
            parts.append(f"{counts[status]} {word}")
    return "; ".join(parts)
