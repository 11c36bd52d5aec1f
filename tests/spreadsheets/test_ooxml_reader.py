"""One reader of Open XML: packages whose parts stand elsewhere, and those that are none."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.workbook.defined_name import DefinedName

from attn_xl.spreadsheets.formulas import Formula, formulas_in, references
from attn_xl.spreadsheets.metadata import Marks
from attn_xl.spreadsheets.ooxml import Malformed, Package, parse


def a_book(rename: str = "workbook.xml") -> bytes:
    """A workbook with a name, a formula and a hidden row, whose main part has another name."""
    book = Workbook()
    book.active.title = "s"
    for row in (["word", "a"], ["cat", 1.5], ["dog", "=B2*2"]):
        book.active.append(row)
    book.active.row_dimensions[2].hidden = True
    book.defined_names["X"] = DefinedName("X", attr_text="s!$B$2:$B$3")
    packed, moved = io.BytesIO(), io.BytesIO()
    book.save(packed)
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(moved, "w") as new:
        for name in old.namelist():
            content = old.read(name).replace(b"workbook.xml", rename.encode())
            new.writestr(name.replace("workbook.xml", rename), content)
    return moved.getvalue()


@pytest.mark.parametrize("main", ["workbook.xml", "book.xml"])
def test_all_readers_follow_the_relations(main: str, tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(a_book(main))
    marks, book = Marks(path.read_bytes()), formulas_in(path.read_bytes())
    assert marks.sheets() == {"s": "xl/worksheets/sheet1.xml"}
    assert marks.names() == [("X", ("s", 2, 2, 3, 2))]
    assert marks.references() == book.names == {"X": "s!$B$2:$B$3"}
    assert marks.formulas("s") == {(3, 2)}
    assert marks.hidden("s") == ({2}, set())
    assert {cell: formula.text for cell, formula in book.sheets["s"].items()} == {(3, 2): "B2*2"}


def test_what_a_part_refers_to_outside_of_the_package_is_no_part() -> None:
    packed = io.BytesIO()
    relation = '<Relationship Id="{}" Type="x/{}" Target="{}"{}/>'
    lines = [
        relation.format("a", "table", "../tables/t.xml", ""),
        relation.format("b", "hyperlink", "https://example.org", ' TargetMode="External"'),
        relation.format("c", "drawing", "/xl/drawings/d.xml", ""),
    ]
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            "xl/worksheets/_rels/s.xml.rels", f"<Relationships>{''.join(lines)}</Relationships>"
        )
    with zipfile.ZipFile(packed) as archive:
        found = Package(archive).relations("xl/worksheets/s.xml")
    assert found == {"a": ("table", "xl/tables/t.xml"), "c": ("drawing", "xl/drawings/d.xml")}


def test_a_document_type_is_refused() -> None:
    with pytest.raises(Malformed, match="document type"):
        parse(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', lambda tag, attributes: None)


def test_a_formula_tells_what_it_reads() -> None:
    text = """MMULT(french!B2:D3,'a b'!$A$1)+LOG10(A1)*c_attn.weight!A1:L4+A1#+"B2"+data1"""
    assert list(references(Formula(text, 1, 1), (2, 3))) == [
        ("french", (3, 4, 4, 6)),
        ("a b", (1, 1, 1, 1)),
        ("", (2, 3, 2, 3)),
        ("c_attn.weight", (2, 3, 5, 14)),
        ("", (2, 3, 2, 3)),
    ]
