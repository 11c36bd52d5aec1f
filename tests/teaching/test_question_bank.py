"""Question banks, read back by a parser of their format: structure, answers, tables.

The schemas of Moodle and IMS are not part of the project; the rules that are checked here are written
after Moodle's documentation of its XML format and IMS's QTI 2.1 information model.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from conftest import SAMPLES, make_input

import attn_xl
from attn_xl.cli.main import main
from attn_xl.errors import CallError
from attn_xl.settings import Settings
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.question_bank import Question, questions, write_bank

QTI = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
PACKAGE = "{http://www.imsglobal.org/xsd/imscp_v1p1}"
ORDER = ["name", "questiontext", "generalfeedback", "defaultgrade", "penalty", "hidden", "answer"]


def bank(sample: str, **options: int) -> list[Question]:
    tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    settings = Settings.resolve({}, tables.settings, "")
    return list(questions(tables, settings, Lesson(level=1), **options))


def moodle(path: Path) -> list[tuple[str, str, float, float]]:
    """The numerical questions of a Moodle XML file: name, text, answer, tolerance."""
    root = ET.parse(path).getroot()
    assert root.tag == "quiz"
    found = []
    for number, question in enumerate(root):
        assert question.tag == "question"
        if question.get("type") == "category":
            assert question.findtext("category/text", "").startswith("$course$/")
            continue
        assert number > 0  # a category comes first
        assert question.get("type") == "numerical"
        assert [child.tag for child in question][: len(ORDER)] == ORDER
        assert question.find("questiontext").get("format") == "html"  # type: ignore[union-attr]
        (answer,) = question.findall("answer")
        assert answer.get("fraction") == "100"
        text = question.findtext("questiontext/text", "")
        ET.fromstring(f"<div>{text}</div>")
        found.append((question.findtext("name/text", ""), text, float(answer.findtext("text", "")),
                      float(answer.findtext("tolerance", ""))))  # fmt: skip
    return found


def qti(path: Path) -> list[tuple[str, str, float, float]]:
    """The items of a QTI 2.1 package, each checked for what a numerical item needs."""
    found = []
    with zipfile.ZipFile(path) as package:
        manifest = ET.fromstring(package.read("imsmanifest.xml"))
        assert [child.tag for child in manifest] == [
            f"{PACKAGE}{tag}" for tag in ("metadata", "organizations", "resources")
        ]
        resources = manifest.findall(f"{PACKAGE}resources/{PACKAGE}resource")
        assert {r.get("href") for r in resources} | {"imsmanifest.xml"} == {*package.namelist()}
        for resource in resources:
            assert resource.get("type") == "imsqti_item_xmlv2p1"
            item = ET.fromstring(package.read(str(resource.get("href"))))
            assert item.tag == f"{QTI}assessmentItem"
            assert item.get("identifier") == resource.get("identifier")
            assert (item.get("adaptive"), item.get("timeDependent")) == ("false", "false")
            assert [child.tag.removeprefix(QTI) for child in item] == [
                "responseDeclaration", "outcomeDeclaration", "itemBody", "responseProcessing",
            ]  # fmt: skip
            response = item.find(f"{QTI}responseDeclaration")
            assert response is not None
            assert (response.get("cardinality"), response.get("baseType")) == ("single", "float")
            (entry,) = item.iter(f"{QTI}textEntryInteraction")
            assert entry.get("responseIdentifier") == response.get("identifier")
            (equal,) = item.iter(f"{QTI}equal")
            low, high = map(float, str(equal.get("tolerance")).split())
            assert low == high
            known = {"div", "p", "strong", "table", "tbody", "tr", "th", "td", "textEntryInteraction"}
            body = item.find(f"{QTI}itemBody")
            assert body is not None
            assert {one.tag.removeprefix(QTI) for one in body.iter()} - {"itemBody"} <= known
            text = "".join(body.itertext())
            answer = float(response.findtext(f"{QTI}correctResponse/{QTI}value", ""))
            found.append((str(item.get("title")), text, answer, low))
    return found


@pytest.mark.parametrize("sample", ["by-hand", "mouse", "masks"])
def test_what_is_read_back_is_what_was_asked(sample: str, tmp_path: Path) -> None:
    made = bank(sample)
    write_bank(made, tmp_path / "b.xml", sample)
    write_bank(made, tmp_path / "b.zip", sample)
    wanted = sorted((q.title, q.answer, q.tolerance) for q in made)
    for found in (moodle(tmp_path / "b.xml"), qti(tmp_path / "b.zip")):
        assert sorted((title, answer, off) for title, _, answer, off in found) == wanted
    assert len({q.step for q in made}) * 3 == len(made)


def test_the_answer_follows_from_the_tables_in_the_question() -> None:
    """Recomputed from the HTML alone, for products and scores."""
    checked = 0
    for question in bank("by-hand", variants=4):
        tables = [
            np.array(
                [[float(cell.text or "") for cell in row.iter("td")] for row in [*table.iter("tr")][1:]]
            )
            for table in ET.fromstring(f"<div>{question.html}</div>").iter("table")
        ]
        if question.step in ("Q", "K", "V"):
            all_of_them = tables[0] @ tables[1]
        elif question.step == "Scores":
            all_of_them = tables[0] @ tables[1].T
        else:
            continue
        assert np.isclose(all_of_them, question.answer).any()
        assert re.search(r"What is \w+ = .* in row .*, column .*\?", question.html)
        checked += 1
    assert checked == 16


def test_words_cannot_break_the_files(tmp_path: Path) -> None:
    words = ["<b>&", ']]>"', "a\x01b\ufffe"]
    source = make_input(tmp_path / "in.csv.xlsx", {"s": [["", "a<", "b"], *[[w[:4], i, 1] for i, w in
                        enumerate(words[:2])], ["ab", 2, 1]]})  # fmt: skip
    made = list(questions(attn_xl.read_tables(source), Settings(), Lesson()))
    write_bank(made, tmp_path / "b.xml", "a & b/c")
    write_bank(made, tmp_path / "b.zip", "a & b")
    assert len(moodle(tmp_path / "b.xml")) == len(qti(tmp_path / "b.zip")) == len(made)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bank.xml"
    for options, code in (((), 0), (("--force", "--variants", "2"), 0), ((), 2),
                          (("--force", "--variants", "0"), 2),
                          (("-o", "x.xlsx", "--force"), 2)):  # fmt: skip
        with pytest.raises(SystemExit) as ended:
            main(["teach", str(SAMPLES / "by-hand.xlsx"), "--export", str(path), *options])
        assert (ended.value.code or 0) == code, capsys.readouterr()
    assert len(moodle(path)) == 14
    with pytest.raises(CallError, match="--variants is 0"):
        bank("by-hand", variants=0)
