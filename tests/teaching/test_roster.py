"""Rosters as they come out of schools: every form of CSV, spreadsheets, and names that are traps."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from attn_xl import InputError
from attn_xl.teaching.roster import Student, file_name, read_roster

ADA = Student("s017", "Ada Lovelace", "s017-Ada_Lovelace.xlsx")


@pytest.fixture
def roster(tmp_path: Path) -> Callable[..., list[Student]]:
    """Read a file with this content."""

    def read(content: str | bytes, name: str = "class.csv") -> list[Student]:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_roster(path)

    return read


Roster = Callable[..., list[Student]]


@pytest.mark.parametrize(
    "content",
    [
        "s017,Ada Lovelace\n",
        "s017;Ada Lovelace",
        "s017\tAda Lovelace\r\n",
        "id,name\ns017,Ada Lovelace\n",
        "ID;Name\r\ns017;Ada Lovelace\r\n",
        "Name,Student ID\nAda Lovelace,s017\n",
        "E-Mail;Last name;First name;Student Number\na@b;Lovelace;Ada;s017\n",
        "Matrikel-Nr.;Vorname;Nachname\ns017;Ada;Lovelace\n",
        "student_id,full_name\ns017,Ada Lovelace\n",
        "Student,ID\nAda Lovelace,s017\n",
        "Name,First name,Last name,ID\nA.,Ada,Lovelace,s017\n",
        "\n\n , \ns017,Ada Lovelace\n,\n\n",
        "sep=;\ns017;Ada Lovelace\n",
        'sep=,\r\n"id","name"\r\n"s017","Ada Lovelace"\r\n',
        '"s017","Ada\nLovelace"\n',
        " s017 , Ada Lovelace ",
        '"s017";"Ada Lovelace"',
    ],
)
def test_forms_of_csv(roster: Roster, content: str) -> None:
    assert roster(content) == [ADA]


@pytest.mark.parametrize(
    "content",
    [
        "1,Zoë Müller".encode(),
        codecs.BOM_UTF8 + "1,Zoë Müller".encode(),
        "1,Zoë Müller".encode("cp1252"),
        "1,Zoë Müller".encode("utf-16"),
    ],
)
def test_encodings(roster: Roster, content: bytes) -> None:
    assert roster(content) == [Student("1", "Zoë Müller", "1-Zoë_Müller.xlsx")]


def test_ids_keep_leading_zeros_and_names_may_be_missing(roster: Roster) -> None:
    assert roster("007\n0012,Bond\n") == [
        Student("007", "", "007.xlsx"),
        Student("0012", "Bond", "0012-Bond.xlsx"),
    ]
    assert roster("id,first name\n1,Ada\n")[0].name == "Ada"


def test_commas_in_quotes_do_not_decide(roster: Roster) -> None:
    assert roster('"1";"a, b, c"\n')[0] == Student("1", "a, b, c", "1-a_b_c.xlsx")


def _spreadsheet(path: Path, rows: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in rows:
        sheet.append(row)
    book.create_sheet("other").append([9, "nobody"])
    book.save(path)
    return path


def test_a_spreadsheet(tmp_path: Path) -> None:
    rows = [["Name", "Number"], ["Ada", 17], [], ["Bo", "0042"], ["Cy", 2.5]]
    path = _spreadsheet(tmp_path / "class.xlsx", rows)
    assert [(s.id, s.name) for s in read_roster(path)] == [("17", "Ada"), ("0042", "Bo"), ("2.5", "Cy")]
    renamed = path.rename(tmp_path / "class.csv")  # told by its content
    assert len(read_roster(renamed)) == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("id,name\n1,Ada\n,Bo\n", "line 3: this student has no id"),
        ("1,Ada\n\n1,Bo\n", "line 3: the id '1' is already on line 1"),
        ("a1,Ada\nA1,Bo\n", "line 2: the id 'a1' and 'A1' is already on line 1"),
        ('1,"A\nB"\n2,C\n2,D\n', "line 4: the id '2' is already on line 3"),
        ("name,e-mail\nAda,a@b\n", "line 1: none of the columns 'name', 'e-mail' holds ids"),
        ("first name,last name\nAda,L\n", "holds ids"),
        ("id,name\n", "lists no students below them"),
        ("\n\n", "lists no students"),
        ("", "is empty"),
        ("1,a\0b", "neither a CSV file nor a spreadsheet"),
        ('1,"' + "x" * 200_000, "line 1: cannot be read as CSV"),
    ],
)
def test_refusals(roster: Roster, content: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        roster(content)
    assert "class.csv" in str(error.value)
    assert said in str(error.value)


def test_refusals_of_spreadsheets(roster: Roster, tmp_path: Path) -> None:
    path = _spreadsheet(tmp_path / "class.xlsx", [["id"], [1], [1.0]])
    with pytest.raises(InputError, match=r"class\.xlsx, line 3: the id '1' is already on line 2"):
        read_roster(path)
    path = _spreadsheet(tmp_path / "class.xlsx", [["id"], ["#N/A"]])
    with pytest.raises(InputError, match="line 2: a cell has the error value #N/A"):
        read_roster(path)
    with pytest.raises(InputError, match="not a spreadsheet"):
        roster("id,name\n", "class.xlsx")
    with pytest.raises(InputError, match="no such file"):
        read_roster(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_roster(tmp_path)


@pytest.mark.parametrize(
    ("student", "name", "wanted"),
    [
        ("s017", "Ada Lovelace", "s017-Ada_Lovelace.xlsx"),
        ("=1+1", "", "1_1.xlsx"),
        ("../../x", "", "x.xlsx"),
        ("a/b", "Robert'); DROP", "a_b-Robert_DROP.xlsx"),
        ("1", "O'Neil", "1-O_Neil.xlsx"),
        ("🐭", "🐭", "student.xlsx"),
        ("🐭", "Ada", "Ada.xlsx"),
        ("ab-1", "Zoë", "ab-1-Zoë.xlsx"),
        ("1", "Łukasz 日本", "1-Łukasz_日本.xlsx"),
        ("x" * 300, "Ada", "x" * 40 + "-Ada.xlsx"),
        ("-rf", "हिन्दी \x1b[31m", "rf-हिन्दी_31m.xlsx"),
    ],
)
def test_file_names(student: str, name: str, wanted: str) -> None:
    assert file_name(student, name, set()) == wanted


def test_file_names_are_unique_whatever_their_case(roster: Roster) -> None:
    files = [student.file for student in roster("a/b,X\na_b,x\na:b,X\n🐭,\n🐮,\n")]
    assert files == ["a_b-X.xlsx", "a_b-x_2.xlsx", "a_b-X_3.xlsx", "student.xlsx", "student_2.xlsx"]


def test_ids_and_names_do_not_steer_a_terminal(roster: Roster) -> None:
    student = roster('"\x1b[31m","a\x07\r\nb"\n')[0]
    assert (student.id, student.name) == ("\ufffd[31m", "a\ufffd b")
    with pytest.raises(InputError) as error:
        roster("\x1b[31m\n\x1b[31m\n")
    assert "\x1b" not in str(error.value)
