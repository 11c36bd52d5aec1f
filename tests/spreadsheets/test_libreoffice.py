"""The second opinion, where LibreOffice is installed. It recalculates what the other tests write, too:
see `conftest.the_second_opinion`."""

from __future__ import annotations

from pathlib import Path

import openpyxl
from conftest import SAMPLES, TOLERANCE, needs_libreoffice, thorough
from judges import differences_libreoffice

import attn_xl
from attn_xl.workbook.write import write_workbook

pytestmark = [thorough, needs_libreoffice]


def test_libreoffice_agrees(tmp_path: Path) -> None:
    """One workbook; those of the other tests come at the end (`conftest.the_second_opinion`)."""
    path = tmp_path / "one.xlsx"
    write_workbook(attn_xl.attend(attn_xl.read_tables(SAMPLES / "mouse.xlsx")), path)
    (found,) = differences_libreoffice([path], TOLERANCE).values()
    assert not found, "\n".join(map(str, found[:5]))


def test_libreoffice_notices_a_wrong_formula(tmp_path: Path) -> None:
    path = tmp_path / "wrong.xlsx"
    write_workbook(attn_xl.attend(attn_xl.read_tables(SAMPLES / "politics.xlsx")), path)
    wrong = tmp_path / "planted.xlsx"
    spoil(
        path,
        wrong,
        "SUMPRODUCT(Input!$B5:$C5,Input!$B$6:$C$6)",
        "SUMPRODUCT(Input!$B5:$C5,Input!$B$7:$C$7)",
    )
    (found,) = differences_libreoffice([wrong], TOLERANCE).values()
    assert "Scores!C5" in {f"{d.sheet}!{d.cell}" for d in found}


def spoil(source: Path, target: Path, old: str, new: str) -> None:
    """A copy of a workbook with one formula changed and all stored values as they were."""
    import zipfile

    with zipfile.ZipFile(source) as given, zipfile.ZipFile(target, "w") as made:
        count = 0
        for name in given.namelist():
            xml = given.read(name)
            count += xml.count(old.encode())
            made.writestr(name, xml.replace(old.encode(), new.encode()))
    assert count == 1
    assert openpyxl.load_workbook(target).sheetnames
