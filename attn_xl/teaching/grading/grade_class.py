"""All that a class handed in, marked: files in, results out, in several processes; and what is odd
about them taken together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from operator import attrgetter
from pathlib import Path

from attn_xl.errors import CallError, OutputError
from attn_xl.outputs import SPREADSHEETS, check_output
from attn_xl.parallel import in_parallel
from attn_xl.spreadsheets.addresses import unique
from attn_xl.teaching.answer_key import Keys, read_keys
from attn_xl.teaching.roster import Student
from attn_xl.workbook.templates import find_template

from .grade_file import Submission, grade_one, named_after
from .results import Graded, Status


def grade_class(
    files: Sequence[Path],
    *,
    answers: Path | None = None,
    feedback: Path | None = None,
    template: str | Path = "article",
    jobs: int | None = None,
    force: bool = False,
) -> list[Graded]:
    """Mark what the students of a class handed in.

    Args:
        files: the workbooks; a folder stands for all spreadsheets in it and below.
        answers: the key that was written with the lessons.
        feedback: a folder for marked copies; it is made if it is not there.
        template: the look of the marked copies.
        jobs: so many at a time.
        force: replace marked copies that exist.

    Returns:
        What each file came to, in the order of the key or of the files; then the students of the key
        without a file.

    Raises:
        CallError: if there is no file, or a marked copy exists already.
        InputError: if the key cannot be used.
        OutputError: if the folder cannot be made.
    """
    paths = submitted(files)
    keys = read_keys(answers) if answers else None
    look = find_template(template)
    copies = _copies(paths, feedback, force, [*filter(None, [answers]), look])
    tasks = [Submission(path, answers, copies.get(path), look) for path in paths]
    found = dict(in_parallel(grade_one, tasks, jobs=jobs, label="Marking", file_of=attrgetter("path")))
    return together([found[number] for number in range(len(paths))], keys)


def submitted(files: Sequence[Path]) -> list[Path]:
    """The files that some paths mean, each once: of a folder its spreadsheets, of a pattern (`*.xlsx`)
    that the shell left as it is what it matches.

    Raises:
        CallError: if there are none.
    """
    found: dict[Path, Path] = {}
    for path in files:
        for one in _meant(path):
            found.setdefault(one.resolve(), one)
    if not found:
        raise CallError(f"no spreadsheets in {', '.join(map(str, files))}.")
    return list(found.values())


def _meant(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(one for one in path.rglob("*") if one.suffix.lower() in SPREADSHEETS)
    if not path.exists() and any(letter in path.name for letter in "*?"):
        return sorted(path.parent.glob(path.name))
    return [path]


def _copies(
    paths: Sequence[Path], folder: Path | None, force: bool, others: Sequence[Path]
) -> dict[Path, Path]:
    """Where each marked copy goes, under the name of its file."""
    if folder is None:
        return {}
    if folder.exists() and not folder.is_dir():
        raise CallError(f"{folder}: is a file; --feedback names a folder.")
    taken: set[str] = set()
    copies = {}
    for path in paths:
        stem = path.stem
        if stem.casefold() in taken:  # files of the same name, each in the folder of its student
            stem = f"{path.parent.name}-{stem}"
        stem = unique(stem, taken)
        taken.add(stem.casefold())
        copies[path] = folder / f"{stem}.xlsx"
        check_output(copies[path], force=force, sources=[*paths, *others])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror or error}).") from None
    return copies


def together(found: Sequence[Graded], keys: Keys | None) -> list[Graded]:
    """The results with remarks on what only shows beside the others: a lesson that was handed in twice,
    of which the best counts; a file named after somebody else; and with a line for each student of the
    key without one."""
    marked = [one for one in found if one.status is Status.marked]
    if keys:
        students = list(keys.students)
    else:
        by_id = {one.id: Student(one.id, one.name, "") for one in marked if one.id}
        students = list(by_id.values())
    files: dict[str, list[Graded]] = {}
    for one in marked:
        if one.id:
            files.setdefault(one.id, []).append(one)
    copies = _copied([one for one in marked if not one.id])
    instead: dict[str, str] = {}
    made = []
    for one in found:
        remarks, status = list(one.remarks), one.status
        own = files.get(one.id, []) if status is Status.marked else []
        if len(own) > 1:
            best = max(own, key=lambda other: other.share or 0.0)
            others = [other.file for other in own if other is not one]
            counts = "this one" if best is one else best.file
            remarks.insert(
                0,
                f"The same lesson was handed in as {', '.join(others)}, too; the best of them counts: "
                f"{counts}.",
            )
            status = status if best is one else Status.repeated
        if one.path in copies:
            remarks.insert(0, f"The same file, byte for byte, as {', '.join(copies[one.path])}.")
        named = named_after(one.path, students) if one.path and one.id else None
        if named and named.id != one.id:
            who = f"{named.id} ({named.name})" if named.name else named.id
            remarks.insert(0, f"By its name the file is {who}'s, but the lesson in it is {one.id}'s.")
            instead[named.id] = one.id
        made.append(replace(one, status=status, remarks=tuple(remarks)))
    if keys is None:
        return made
    rank = {student.id: number for number, student in enumerate(students)}
    for student in students:
        if student.id not in files:
            made.append(_missing(student, instead.get(student.id), found))
    return sorted(made, key=lambda one: rank.get(one.id, len(rank)))


def _copied(found: Sequence[Graded]) -> dict[Path | None, list[str]]:
    """The files that are others byte for byte, with the names of those."""
    same: dict[bytes, list[Path]] = {}
    for one in found:
        if one.path is not None and one.path.is_file():
            same.setdefault(sha256(one.path.read_bytes()).digest(), []).append(one.path)
    return {
        path: [other.name for other in paths if other != path]
        for paths in same.values()
        for path in paths
        if len(paths) > 1
    }


def _missing(student: Student, instead: str | None, found: Sequence[Graded]) -> Graded:
    said = "Nothing was handed in."
    if instead:
        said = f"No lesson of theirs was handed in; under their name there is that of {instead}."
    broken = [
        one.file
        for one in found
        if one.status is Status.failed and one.path and named_after(one.path, [student])
    ]
    if broken:
        said = f"{broken[0]}, which is theirs by its name, could not be marked."
    return Graded(None, Status.missing, student.id, student.name, remarks=(said,))


def summary(found: Sequence[Graded]) -> str:
    """How many were marked, how many not, and their mean."""
    shares = [one.share for one in found if one.status is Status.marked and one.share is not None]
    counts = {status: sum(one.status is status for one in found) for status in Status}
    said = [f"{counts[Status.marked]} marked"]
    if shares:
        said[0] += f", mean {100 * sum(shares) / len(shares):.1f} %"
    said += [
        f"{counts[status]} {text}"
        for status, text in (
            (Status.failed, "not marked"),
            (Status.repeated, "handed in again"),
            (Status.missing, "missing"),
            (Status.skipped, "passed over"),
        )
        if counts[status]
    ]
    return "; ".join(said)
