"""What the fuzzer begins with: the files of the repository, what the program itself writes, and small
ones of the kinds that no library here can write."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import openpyxl

from attn_xl.cli.main import main

ROOT = Path(__file__).parent.parent.parent
SMALL = 60_000
"""Files of the repository up to so many bytes are taken."""
WORDS = "cat 1 0.5 2\nsat -1 0.25 0\nmat 0.5 2 1\n"

Corpus = dict[str, bytes]
"""Content by name; the ending says what it is."""


@dataclass(frozen=True)
class Kind:
    """Which files of a corpus a command takes for what."""

    tables: tuple[str, ...]
    written: tuple[str, ...]
    lessons: tuple[str, ...]
    keys: tuple[str, ...]
    templates: tuple[str, ...]
    rosters: tuple[str, ...]
    vectors: tuple[str, ...]


def call(*args: object) -> int:
    """Run a command in this process, quietly; its exit status."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            main([str(arg) for arg in args])
        except SystemExit as end:
            return int(end.code or 0)
    raise AssertionError("main always ends in SystemExit")


def corpus(folder: Path) -> Corpus:
    """All files to begin with, by name; `folder` is for what is written on the way."""
    found: Corpus = {}
    for path in sorted([*(ROOT / "samples").iterdir(), *(ROOT / "tests/data/inputs").iterdir(),
                        *(ROOT / "templates").glob("*.xlsx"), ROOT / "docs/slips.xlsx"]):  # fmt: skip
        if path.suffix in (".py", ".md") or not path.is_file() or path.stat().st_size > SMALL:
            continue
        found[f"{path.parent.name}-{path.name}"] = path.read_bytes()
    made = {**_tiny(), **_made()}
    for name in ("tiny.xlsx", "tiny.csv"):
        (folder / name).write_bytes(made[name])
    made.update(_written(folder))
    return {**found, **made}


def kinds(files: Corpus) -> Kind:
    """The names in a corpus by what they can be given to."""
    vectors = tuple(n for n in files if "vectors" in n and "json" not in n)
    templates = tuple(n for n in files if n.startswith("templates-"))
    lessons = tuple(n for n in files if n.startswith(("lesson", "exam", "student", "handed")))
    keys = tuple(n for n in files if n.startswith("key"))
    rosters = tuple(n for n in files if n.startswith(("samples-class", "roster")))
    written = tuple(n for n in files if n.startswith("written")) + lessons + keys
    small = ("tiny", "made", "data", "inputs", "docs", "samples-by-hand", "samples-mouse")
    tables = tuple(n for n in files if n.startswith(small)) + vectors
    return Kind(tables, written, lessons, keys, templates, rosters, vectors)


def _tiny() -> Corpus:
    """A sentence of three words and its weights, small enough to be computed at once."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sentence"
    for row in (["", "a", "b"], ["cat", 1, 0.5], ["sat", -1, 2], ["mat", 0, "=1+1"]):
        sheet.append(row)
    weights = book.create_sheet("W_Q")
    for numbers in ([1, 0], [0, 1]):
        weights.append(numbers)
    book.defined_names["Words"] = openpyxl.workbook.defined_name.DefinedName(
        "Words", attr_text="Sentence!$A$1:$C$4"
    )
    return {
        "tiny.xlsx": _saved(book),
        "tiny.csv": b"word,a,b\ncat,1,0.5\nsat,-1,2\nmat,0,2\n",
        "tiny.json": b'{"cat": [1, 0.5], "sat": [-1, 2]}',
        "tiny-words.json": b'{"words": ["cat", "sat"], "dims": ["a"], "values": [[1], [2]]}',
        "roster.csv": b"id;name\ns1;Ada\ns2;\xc3\x89mile\n",
        "roster.xlsx": _saved(_roster()),
    }


def _roster() -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    for row in (["id", "name"], [17, "Ada"], ["s2", "Emmy"]):
        book.active.append(row)
    return book


def _saved(book: openpyxl.Workbook) -> bytes:
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _made() -> Corpus:
    """Formats that are put together here, byte by byte."""
    array = io.BytesIO()
    np.save(array, np.array([[1.0, 2.0], [3.0, 4.0]]))
    arrays = io.BytesIO()
    np.savez(arrays, sentence=np.eye(2), W_Q=np.eye(2))
    binary = b"2 2\n" + b"".join(w + b" " + struct.pack("<2f", 1, 2) + b"\n" for w in (b"cat", b"sat"))
    return {
        "made.npy": array.getvalue(),
        "made.npz": arrays.getvalue(),
        "made.xlsb": _xlsb(),
        "made-encrypted.xlsx": compound("EncryptionInfo", "EncryptedPackage"),
        "made.xls": compound("Workbook"),
        "made-vectors.txt": WORDS.encode(),
        "made-vectors.vec": b"3 3\n" + WORDS.encode(),
        "made-vectors.bin": binary,
        "made-vectors.gz": gzip.compress(WORDS.encode(), mtime=0),
        "made.html": b"<html><table><tr><td>cat</td><td>1</td></tr></table></html>",
        "made.md": b"| word | a |\n|---|---|\n| cat | 1 |\n| sat | 2 |\n",
        "made.xml": b'<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:'
        b'spreadsheet"><Worksheet><Table><Row><Cell/></Row></Table></Worksheet></Workbook>',
    }  # fmt: skip


def compound(*streams: str) -> bytes:
    """An OLE compound file (MS-CFB) with some streams of eight sectors: what Excel encrypts into."""
    free, end, special = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    count = len(streams)
    fat = [special, end]
    for _ in streams:
        fat += [*range(len(fat) + 1, len(fat) + 8), end]
    fat += [free] * (128 - len(fat))
    header = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(16)
    header += struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6) + struct.pack("<3I", 0, 1, 1)
    header += struct.pack("<6I", 0, 4096, end, 0, end, 0) + struct.pack("<109I", 0, *[free] * 108)

    def entry(name: str, kind: int, child: int, right: int, start: int, size: int) -> bytes:
        text = name.encode("utf-16-le")
        head = text.ljust(64, b"\0") + struct.pack("<H2B3I", len(text) + 2, kind, 1, free, right, child)
        return head + bytes(36) + struct.pack("<IQ", start, size)

    directory = entry("Root Entry", 5, 1, free, end, 0)
    for i, name in enumerate(streams):
        directory += entry(name, 2, free, i + 2 if i + 1 < count else free, 2 + 8 * i, 4096)
    data = struct.pack("<128I", *fat) + directory.ljust(512, b"\0")[:512]
    return header + data + b"".join(bytes([i + 1]) * 4096 for i in range(count))


def _xlsb() -> bytes:
    """A binary workbook (MS-XLSB) with a table of two words."""

    def record(kind: int, payload: bytes = b"") -> bytes:
        head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
        return head + bytes([len(payload)]) + payload

    def text(value: str) -> bytes:
        return struct.pack("<I", len(value)) + value.encode("utf-16-le")

    def cell(column: int) -> bytes:
        return struct.pack("<2I", column, 0)

    rows = b""
    for r, (word, numbers) in enumerate((("cat", (1.0, 2.0)), ("sat", (3.0, 4.0)))):
        rows += record(0, struct.pack("<3I", r, 0, 0) + bytes(13))
        rows += record(6, cell(0) + text(word))
        rows += b"".join(record(5, cell(c + 1) + struct.pack("<d", v)) for c, v in enumerate(numbers))
    sheet = record(0x81) + record(0x94, struct.pack("<4I", 0, 1, 0, 2))
    sheet += record(0x91) + rows + record(0x92) + record(0x82)
    book = (
        record(0x83) + record(0x8F) + record(0x9C, struct.pack("<2I", 0, 1) + text("rId1") + text("A"))
    )
    book += record(0x90) + record(0x84)
    relation = (
        '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        'relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/'
        'officeDocument/2006/relationships/{}" Target="{}"/></Relationships>'
    )
    types = (
        '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
        'content-types"><Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.'
        'macroEnabled.main"/></Types>'
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (
            ("[Content_Types].xml", types.encode()),
            ("_rels/.rels", relation.format("officeDocument", "xl/workbook.bin").encode()),
            ("xl/workbook.bin", book),
            ("xl/_rels/workbook.bin.rels", relation.format("worksheet", "worksheets/s.bin").encode()),
            ("xl/worksheets/s.bin", sheet),
        ):
            archive.writestr(zipfile.ZipInfo(name), data)
    return stream.getvalue()


def _written(folder: Path) -> Corpus:
    """What the commands write, by what it is."""
    source, out = folder / "tiny.xlsx", folder / "out"
    out.mkdir(exist_ok=True)

    def made(name: str, *args: object) -> Path:
        path = out / name
        status = call(*args, "-o", path, "--force")
        assert (status, path.exists()) == (0, True), f"{name}: {status}"
        return path

    plan: list[tuple[str, tuple[object, ...]]] = [
        ("written-sheets.xlsx", ("convert", source)),
        ("written-plain.xlsx", ("convert", source, "--plain", "--no-scale")),
        ("written-canvas.xlsx", ("convert", source, "--layout", "canvas")),
        ("written-dynamic.xlsx", ("convert", source, "--formulas", "dynamic")),
        ("written-array.xlsx", ("convert", source, "--formulas", "array")),
        ("written-values.xlsx", ("convert", source, "--formulas", "none")),
        ("written-part.xlsx", ("convert", source, "--sheets-for", "Enc1", "--model", "encoder",
                               "--random-weights", "1", "--layers", "2")),
        ("written-similarity.xlsx", ("similarity", source)),
        ("written-new.xlsx", ("new", "--words", "the cat sat", "--seed", "3")),
        ("lesson.xlsx", ("teach", source)),
        ("exam.xlsx", ("teach", source, "--exam", "--level", "1")),
    ]  # fmt: skip
    found = {name: made(name, *args).read_bytes() for name, args in plan}
    vectors = folder / "vectors.txt"
    vectors.write_text(WORDS, encoding="utf-8")
    pca = made("written-pca.xlsx", "vectors", vectors, "--words", "cat", "sat", "mat", "--pca", "2")
    found[pca.name] = pca.read_bytes()
    roster = folder / "roster.csv"
    roster.write_bytes(b"id;name\ns1;Ada\ns2;Emmy\n")
    key = out / "key.xlsx"
    assert call("teach", source, "--roster", roster, "-o", out / "class", "--answers", key,
                "--jobs", "1", "--force", "--layout", "sheets") == 0  # fmt: skip
    found["key.xlsx"] = key.read_bytes()
    student = sorted((out / "class").glob("*.xlsx"))[0]
    book = openpyxl.load_workbook(student)
    for row in book["Scores"]["B5:D7"]:
        for i, cell in enumerate(row):
            cell.value = ("0,5", 1.25, "=1+1")[i]
    found["student.xlsx"] = student.read_bytes()
    found["handed.xlsx"] = handed = _saved(book)
    student.write_bytes(handed)
    grades = made("written-grades.xlsx", "grade", student, "--answers", key, "--feedback",
                  out / "feedback")  # fmt: skip
    found[grades.name] = grades.read_bytes()
    found["written-feedback.xlsx"] = next((out / "feedback").glob("*.xlsx")).read_bytes()
    return found
