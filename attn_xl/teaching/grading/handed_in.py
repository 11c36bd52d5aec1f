"""The files of a class: folders, and the .zip that Moodle, Canvas and Google Classroom export."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from attn_xl.errors import InputError
from attn_xl.languages import message, translate
from attn_xl.outputs import SPREADSHEETS, writing

MOST_FILES, MOST_BYTES = 5_000, 100_000_000
"""Files in a .zip, and bytes of each once it is unpacked."""
MOST_FOLDERS = 6
"""Parts of a name that are kept when it is unpacked: the owner's folder may be further up."""
ASK = {
    ".csv": message("a .csv file holds a single sheet without its formulas"),
    ".pdf": message("a .pdf file holds pages, not cells"),
    ".numbers": message(
        "a .numbers file opens in Numbers only, whose File > Export To > Excel makes an .xlsx"
    ),
    ".gsheet": message(
        "a .gsheet file is only a link; in Google Sheets, File > Download makes an .xlsx"
    ),
    ".zip": message("a .zip in a .zip is not opened"),
}
"""What is wrong with formats in which lessons are often handed in."""
_JUNK = re.compile(r"^(\.(?!~lock)|__MACOSX$|Thumbs\.db$|desktop\.ini$)")
_MOODLE = re.compile(r"^(?P<name>.+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)(?:_|$)")
_CANVAS = re.compile(r"^(?P<name>[^_]*[^\W\d_][^_]*?)(?:_LATE)?_(?P<number>\d+)_\d+_.")
_COPY = r"(?:copy|kopie|copie|copia|cópia|副本|コピー|複本)"
_GOOGLE = re.compile(rf"^(?P<name>[^_]*?[^\W\d_][^_]*?) - (?!{_COPY}(?: ?\(?\d+\)?)?$).", re.IGNORECASE)
"""`Name - lesson`, but not the copy that a file manager makes: `lesson - Copy (2)`."""


@dataclass(frozen=True)
class HandedIn:
    """A file that was handed in.

    Attributes:
        path: where it is now; name: its name in its folder or .zip, with folders, under which its
            marked copy goes back.
        named: whether the call named it, rather than its folder or .zip.
    """

    path: Path
    name: str
    named: bool = True


@dataclass(frozen=True)
class Owner:
    """A student as a learning platform names them in a file: the name, and the platform's number."""

    name: str = ""
    number: str = ""


def owner_of(path: Path) -> Owner:
    """The student in the name of an exported file or of its folder, for Moodle also of a folder further
    up; an empty one if none is named."""
    folders = [parent.name for parent in path.parents]
    places = (
        (_MOODLE, (*folders[:1], path.stem, *folders[1:])),
        (_CANVAS, (*folders[:1], path.name)),
        (_GOOGLE, (*folders[:1], path.stem)),
    )
    for pattern, texts in places:
        for text in texts:
            if found := pattern.match(text):
                return Owner(found["name"].strip(), found.groupdict().get("number") or "")
    return Owner()


def why_not(path: Path) -> str:
    """Why a file is no submission, from its format; "" for a spreadsheet."""
    ending = path.suffix.lower()
    if ending in SPREADSHEETS:
        return ""
    if ending in ASK:
        why = translate(ASK[ending])
    elif ending:
        why = translate("{ending} is not the format of a spreadsheet", ending=ending)
    else:
        why = translate("no format")
    return translate("{why}. Ask for the .xlsx", why=why)


def files_in(folder: Path) -> list[Path]:
    """Every file in a folder and its subfolders, without those that systems add."""
    return sorted(
        one
        for one in folder.rglob("*")
        if one.is_file() and not any(map(_JUNK.match, one.relative_to(folder).parts))
    )


def is_export(path: Path) -> bool:
    """Whether a file is a .zip of files, rather than a workbook."""
    if path.suffix.lower() != ".zip" or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return "[Content_Types].xml" not in archive.namelist()


@contextmanager
def handed_in(paths: Sequence[Path], found: Iterable[Path] = ()) -> Iterator[list[HandedIn]]:
    """The files to mark, with those of each .zip unpacked for the time of the block.

    Args:
        paths: files, as `submitted` lists them.
        found: those of them that a folder stands for.

    Raises:
        InputError: if a .zip is damaged, protected, or too large.
    """
    in_folder = set(found)
    with TemporaryDirectory(prefix="attn-xl-") as temporary:
        files: list[HandedIn] = []
        for number, path in enumerate(paths):
            if is_export(path):
                files += _unpacked(path, Path(temporary, str(number)))
            else:
                files.append(HandedIn(path, path.name, path not in in_folder))
        yield files


def _unpacked(path: Path, into: Path) -> Iterator[HandedIn]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            if len(members) > MOST_FILES:
                raise InputError(
                    f"{path}: has {len(members):,} files; at most {MOST_FILES:,} are read."
                )
            for number, info in enumerate(members):
                parts = [part for part in PurePosixPath(info.filename).parts if part not in ("..", "/")]
                if not parts or any(map(_JUNK.match, parts)):
                    continue
                if info.file_size > MOST_BYTES:
                    raise InputError(
                        f"{path}: {info.filename!r} is larger than {MOST_BYTES // 1_000_000} MB."
                    )
                # A folder of its own each, since names may differ in case alone.
                target = into.joinpath(str(number), *[_safe(part) for part in parts[-MOST_FOLDERS:]])
                target.parent.mkdir(parents=True)
                with archive.open(info) as member:
                    target.write_bytes(member.read(MOST_BYTES))
                yield HandedIn(target, "/".join(parts), named=False)
    except (zipfile.BadZipFile, RuntimeError, OSError, EOFError, NotImplementedError) as error:
        raise InputError(f"{path}: cannot be unpacked ({error}). Export it again.") from None


def _safe(part: str) -> str:
    return re.sub(r'[<>:"\\|?*\x00-\x1f]', "_", part)[:200]


def write_zip(path: Path, copies: Sequence[tuple[str, Path]]) -> None:
    """Write files to a .zip under the names given; the same files give the same bytes. Of several
    files with one name, the later ones get a number.

    Raises:
        OutputError: if it cannot be written.
    """
    taken: set[str] = set()
    with writing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        for wanted, copy in copies:
            stem, number, name = wanted.removesuffix(".xlsx"), 1, wanted
            while name.casefold() in taken:
                number += 1
                name = f"{stem} ({number}).xlsx"
            taken.add(name.casefold())
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), copy.read_bytes())
