"""Hostile files: some inputs of the fuzzer, the faults that it found, and that its judge sees faults; and
that nothing that is written runs or leads out of its file."""

from __future__ import annotations

import io
import json
import mmap
import multiprocessing
import os
import re
import struct
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import openpyxl
import pytest
from conftest import SAMPLES, alike, thorough
from fuzz import LONGEST, Case, Tally, Verdict, active, fuzz, judged, the_program
from fuzz_corpus import Corpus, corpus, kinds
from fuzz_mutations import ALL, PACKAGES, packed
from openpyxl.formatting.rule import FormulaRule
from openpyxl.packaging.custom import StringProperty
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation

from attn_xl.cli.main import main
from attn_xl.errors import InputError
from attn_xl.spreadsheets import sandbox
from attn_xl.spreadsheets.book import read_book
from attn_xl.workbook.templates import shipped

forks = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="processes cannot be forked here"
)


@pytest.fixture(autouse=True)
def no_process_for_ironcalc() -> None:
    """These tests need it."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus(tmp_path_factory.mktemp("corpus"))


# Some inputs of the fuzzer


@thorough
@forks
def test_every_mutation_ends_in_success_or_in_one_clear_message(files: Corpus, tmp_path: Path) -> None:
    tally = Tally()
    fuzz([*range(len(ALL))], 1, 1, files, tmp_path, tally.add)
    assert not tally.failed, "\n".join(map(str, tally.failed[:5]))
    assert sum(tally.verdicts.values()) == len(ALL)
    assert len(tally.seen) > 0.9 * len(ALL)


# The judge sees faults


def a_case(name: str = "input.csv", data: bytes = b"a,1\n") -> Case:
    return Case(0, "base", (), ("inspect", name), {name: data}, name, ("out.xlsx",))


def ends(status: int, text: str = "") -> Callable[[tuple[str, ...]], int]:
    def run(_: tuple[str, ...]) -> int:
        sys.stderr.write(text)
        return status

    return run


def raising(_: tuple[str, ...]) -> int:
    raise KeyError("xl/workbook.xml")


def touching(_: tuple[str, ...]) -> int:
    Path("input.csv").write_text("changed")
    return 0


def escaping(_: tuple[str, ...]) -> int:
    Path("../x").write_text("made")
    return 0


def half_written(_: tuple[str, ...]) -> int:
    Path("out.xlsx").write_bytes(packed([("x", b"")]))
    return ends(1, "attn-xl: input.csv: is damaged.\n")(())


def with_macros(_: tuple[str, ...]) -> int:
    Path("out.xlsx").write_bytes(packed([("xl/vbaProject.bin", b"")]))
    return 0


@pytest.mark.parametrize(
    ("run", "fault"),
    [
        (ends(0), ""),
        (ends(1, "attn-xl: input.csv: is damaged. Save it again.\n"), ""),
        (raising, "KeyError"),
        (touching, "touched work/input.csv"),
        (escaping, "made x"),
        (half_written, "made work/out.xlsx, and failed"),
        (with_macros, "the part xl/vbaProject.bin"),
        (ends(1, "attn-xl: input.csv: \x1b[31mis damaged.\n"), "a control character"),
        (ends(1, "attn-xl: input.csv: is damaged (KeyError: 'x').\n"), "a message for programmers"),
        (ends(1, "attn-xl: is damaged.\n"), "the message does not name the file"),
        (ends(1, "attn-xl: input.csv: is damaged.\n" * 2), "2 messages"),
        (ends(1), "0 messages"),
        (ends(139), "exit status 139"),
        (ends(1, "attn-xl: input.csv: " + "x" * 5000 + ".\n"), "letters"),
    ],
)
def test_the_judge_sees_a_planted_fault(
    run: Callable[[tuple[str, ...]], int], fault: str, tmp_path: Path
) -> None:
    found = "; ".join(judged(a_case(), run, tmp_path / "top").faults)
    assert fault in found
    assert bool(fault) is bool(found)


def test_the_judge_sees_what_is_slow_or_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.SECONDS", 0.05)
    monkeypatch.setattr("fuzz.MEMORY", 20 << 20)

    def greedy(_: tuple[str, ...]) -> int:
        until = time.process_time() + 0.2
        while time.process_time() < until:
            with mmap.mmap(-1, 60 << 20) as taken:  # not what Python has and does not use
                for page in range(0, 60 << 20, 4096):
                    taken[page] = 1
        return 0

    found = judged(a_case(), greedy, tmp_path / "top").faults
    assert any(re.fullmatch(r"took \d+\.\d s", fault) for fault in found)
    if Path("/proc/self/clear_refs").exists():
        assert any(re.fullmatch(r"took \d+ MiB", fault) for fault in found)


@forks
def test_a_process_that_dies_is_told(
    files: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzz.the_program", lambda _: os._exit(11))
    found: list[Verdict] = []
    fuzz([3, 4], 1, 1, files, tmp_path, found.append)
    assert [one.faults for one in found] == [["the process died (11)"]] * 2


# What the fuzzer found


def changed(data: bytes, part: str, old: bytes, new: bytes) -> bytes:
    """A package with one part changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    assert any(name == part and old in text for name, text in members)
    return packed([(n, text.replace(old, new) if n == part else text) for n, text in members])


def lying(data: bytes, size: int) -> bytes:
    """A package whose largest part claims another size."""
    made = bytearray(data)
    sizes = {
        m.start(): struct.unpack_from("<I", made, m.start() + 24)[0]
        for m in re.finditer(b"PK\1\2", data)
    }
    struct.pack_into("<I", made, max(sizes, key=lambda at: sizes[at]) + 24, size)
    return bytes(made)


def softmax_without_cells(data: bytes) -> bytes:
    """A workbook of empty sheets, and a name that says where the attention weights are."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [
            (name, re.sub(b"<row.*</row>", b"", archive.read(name))) for name in archive.namelist()
        ]
    return changed(packed(members), "xl/workbook.xml", b'"Words">Sentence!$A$1:$C$4',
                   b'"Softmax">Sentence!$A$1:$XFD$1048576')  # fmt: skip


def re_counted(data: bytes, count: bytes) -> bytes:
    """A workbook that says it has so many shared strings."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    return packed([(n, re.sub(rb'ount="\d+"', b'ount="' + count + b'"', x) if "shared" in n else x)
                   for n, x in members])  # fmt: skip


SHEET = "xl/worksheets/sheet1.xml"
FAR_CELL = [struct.pack("<I", column) + bytes(4) + struct.pack("<d", 2.0) for column in (2, 0x94000181)]
"""In the binary format, without and with a damaged column."""
BOMB = b" " * 40_000_000


def formula(text: bytes) -> Callable[[Corpus], bytes]:
    return lambda files: changed(files["tiny.xlsx"], SHEET, b"<f>1+1</f>", b"<f>" + text + b"</f>")


FOUND: list[tuple[str, str, Callable[[Corpus], bytes], str]] = [
    ("inspect", "a.xlsx", lambda f: changed(f["tiny.xlsx"], SHEET, b"</sheetData>", BOMB + b"</sheetData>"),
     "a.xlsx: contains 40 MB compressed to 0.0 MB, which no table does"),
    ("inspect", "a.xlsx", lambda f: lying(changed(f["tiny.xlsx"], SHEET, b"</sheetData>", BOMB + b"</sheetData>"), 99),
     "its part 'xl/worksheets/sheet1.xml' is incomplete or corrupt"),
    ("check", "a.xlsx", lambda f: lying(f["tiny.xlsx"], 0x7FFFFFFF), "is larger than 2 GB when unpacked"),
    ("inspect", "a.xlsx", lambda f: packed([(f"{i}", b"") for i in range(10_001)]), "has 10,001 parts"),
    ("inspect", "a.xlsx", lambda f: PACKAGES["encrypted_in_the_zip"](f["tiny.xlsx"], Random(1), f),
     "is protected by a password"),
    ("inspect", "a.xlsx", lambda f: f["made-encrypted.xlsx"], "is protected by a password"),
    ("inspect", "a.xlsb", lambda f: changed(f["made.xlsb"], "xl/_rels/workbook.bin.rels", b"s.bin", b"t.bin"),
     "a.xlsb: is damaged or not a spreadsheet"),
    ("inspect", "a.npz", lambda f: packed([("a.npy", f["made.npy"]), ("b.xml", b"<x/>")]), "it contains something that is not an array"),
    ("inspect", "a.csv", lambda f: b"1," * 5_000_000, "a.csv: has 1 rows and 5,000,001 columns"),
    ("inspect", "a.json", lambda f: json.dumps([[1] * 20_000]).encode(), "a.json: has 1 rows and 20,000 columns"),
    ("show", "a.json", lambda f: b'{"cat": [' + b"9" * 5000 + b", 1]}", "an infinite number"),
    ("inspect", "a.xlsx", lambda f: changed(f["tiny.xlsx"], "xl/workbook.xml", b"<sheet ", b"<shoot "), "a.xlsx: "),
    ("inspect", "a.xlsx", lambda f: changed(f["tiny.xlsx"], SHEET, b"<sheetData>",
     b'<cols><col min="1" max="x" hidden="1"/></cols><sheetData>'), ""),
    ("check", "a.xlsx", lambda f: changed(f["tiny.xlsx"], SHEET, b'r="C4"', b'r="AAAAAAAAAAAA1"'),
     "it has cells outside the limits of a sheet"),
    ("check", "a.xlsx", lambda f: changed(f["tiny.xlsx"], SHEET, b'r="C4"', b'r="' + b"x" * 1_000_000 + b'"'), "is damaged"),
    ("check", "a.xlsx", formula(b"B2*9E999"), "no value"),
    ("inspect", "a.csv", lambda f: b"|a|b\ncat|1|2\nsat|3|4\n" + b",\n" * 99, ""),
    ("inspect", "a.csv", lambda f: b",a,b\ncat,1,2\nsat,3,4\n" + b")" * 100_000 + b"\n", ""),
    ("inspect", "a.xlsx", lambda f: re_counted(f["docs-slips.xlsx"], b"99999999999"), "it takes too much memory"),
    ("inspect", "a.xlsb", lambda f: changed(f["made.xlsb"], "xl/worksheets/s.bin", FAR_CELL[0], FAR_CELL[1]),
     "are there cells far away from the table?"),
    ("inspect", "a.xlsx", lambda f: changed(f["tiny.xlsx"], SHEET, b'<row r="4"><c r="A4"', b"<row r='1048576'><c r='XFD1048576'"),
     "are there cells far away from the table?"),
    ("inspect", "a.xlsx", lambda f: changed(f["tiny.xlsx"], SHEET, b'<c r="C4"', b'<c r="xfd1048576"'),
     "has cells as far away as XFD1048576"),
    ("check", "a.xlsx", lambda f: softmax_without_cells(f["tiny.xlsx"]), ""),
    ("check", "a.xlsx", formula(b"(" * 5000 + b"1" + b")" * 5000), "a formula is too deeply nested or too large"),
    ("check", "a.xlsx", formula(b"1^" * 4000 + b"1"), "a formula is too deeply nested or too large"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(FOUND)))
def test_what_was_found_is_mended(number: int, files: Corpus, tmp_path: Path) -> None:
    command, name, make, said = FOUND[number]
    one = Case(number, "", (), (command, name), {name: make(files)}, name, ())
    made = judged(one, the_program, tmp_path / "top")
    assert not made.faults
    assert said in made.said
    assert made.status in ((1,) if said else (0, 3))  # 3: nothing to check


def test_of_a_very_long_message_the_middle_is_left_out() -> None:
    said = str(InputError(f"a.csv: there is no setting {'x' * 40_000!r}. There are: causal, scale."))
    assert len(said) < LONGEST
    assert said.startswith("a.csv: there is no setting 'xxx")
    assert said.endswith("xxx'. There are: causal, scale.")


def test_a_formula_that_never_ends_is_given_up(
    files: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "SECONDS", 0.5)
    path = tmp_path / "endless.xlsx"
    path.write_bytes(formula(b"SUMPRODUCT(D1:XFD1048576)")(files))
    made = judged(
        Case(0, "", (), ("check", path.name), {path.name: path.read_bytes()}, path.name, ()),
        the_program,
        tmp_path / "top",
    )
    assert not made.faults
    assert re.search(
        r"IronCalc cannot recalculate this workbook \(its formulas take too long: not finished after 1 s\)",
        made.said,
    )


def test_a_reader_that_never_ends_is_given_up(
    files: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.xlsb"
    path.write_bytes(files["made.xlsb"])

    def late(*_: object) -> None:
        raise sandbox.SandboxStopped(5.0)

    monkeypatch.setattr(sandbox.Sandbox, "ask", late)
    with pytest.raises(
        InputError, match=r"a\.xlsb: .*it takes more than 5 s: are there cells far away"
    ):
        read_book(path)


# What is written neither runs nor leads out of its file


def hostile_template(path: Path) -> Path:
    """A template with all that a template could bring along."""
    book = openpyxl.load_workbook(shipped()["article"])
    cover = book["Cover"]
    for row, text in enumerate(
        ('=WEBSERVICE("http://127.0.0.1:9/")', '=HYPERLINK("http://x/","y")', "=NOW()"), 1
    ):
        cover.cell(row, 8).value = text
    cover["I1"] = "a link"
    cover["I1"].hyperlink = "http://127.0.0.1:9/"
    cover.conditional_formatting.add("A1:B2", FormulaRule(formula=["[1]S!$A$1>0"]))
    choice = DataValidation(type="list", formula1='INDIRECT("x")')
    choice.add("I2")
    cover.add_data_validation(choice)
    book.defined_names["Call"] = DefinedName("Call", attr_text='WEBSERVICE("http://127.0.0.1:9/")')
    book.custom_doc_props.append(StringProperty(name="secret", value="x"))
    book.save(path)
    data = path.read_bytes()
    for name in ("external_links", "macros"):
        data = PACKAGES[name](data, Random(1), {})
    path.write_bytes(data)
    assert [*active(path)]
    return path


def test_no_workbook_that_is_written_runs_or_leads_outside(files: Corpus, tmp_path: Path) -> None:
    sorts = kinds(files)
    assert len(sorts.written) > 15
    for name in sorts.written:
        path = tmp_path / name
        path.write_bytes(files[name])
        assert not [*active(path)], name


@alike
@pytest.mark.parametrize(
    "args",
    [
        *(("convert", "--formulas", style) for style in ("cell", "array", "dynamic", "none")),
        ("convert", "--layout", "canvas"),
        ("similarity",),
        ("teach",),
        ("teach", "--exam"),
        ("teach", "--answers", "answers.xlsx"),
        ("teach", "--roster", str(SAMPLES / "class.csv"), "--jobs", "1"),
    ],
)
def test_nor_if_the_input_or_the_template_does(
    args: tuple[str, ...], files: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    template = hostile_template(tmp_path / "template.xlsx")
    source = tmp_path / "source.xlsm"
    data = formula(b"HYPERLINK(&quot;http://127.0.0.1:9/&quot;,1)")(files)
    for name in ("external_links", "macros"):
        data = PACKAGES[name](data, Random(1), files)
    # A stored value, since no value is computed for HYPERLINK.
    source.write_bytes(changed(data, SHEET, b"</f><v />", b"</f><v>2</v>"))
    out = "class" if "--roster" in args else "out.xlsx"
    with pytest.raises(SystemExit) as end:
        main([args[0], str(source), *args[1:], "-o", out, "--template", str(template)])
    assert not end.value.code
    written = [path for path in tmp_path.rglob("*.xlsx") if path != template]
    assert len(written) == (5 if "--roster" in args else 2 if "--answers" in args else 1)
    for path in written:
        assert not [*active(path)], path.name


def test_nor_do_grades_and_marked_copies(
    files: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    template = hostile_template(tmp_path / "template.xlsx")
    data = files["handed.xlsx"]
    for name in ("external_links", "macros"):
        data = PACKAGES[name](data, Random(1), files)
    Path("handed.xlsm").write_bytes(data)
    Path("key.xlsx").write_bytes(files["key.xlsx"])
    with pytest.raises(SystemExit):
        main(["grade", "handed.xlsm", "-o", "grades.xlsx", "--answers", "key.xlsx", "--feedback", "marked",
              "--template", str(template)])  # fmt: skip
    for path in (Path("grades.xlsx"), *Path("marked").iterdir()):
        assert not [*active(path)], path.name
