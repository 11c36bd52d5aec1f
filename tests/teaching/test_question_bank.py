"""Question banks, read back by a parser of their format: structure, answers, tables.

The schemas of IMS are not part of the project. What they demand of the elements that our items and
packages have is written out here (`QTI_ITEM`, `QTI_PACKAGE`): children in order, required and permitted
attributes, and the lexical form of values. Sources: the information model of QTI 2.1 (final release of
2012); imsqti_v2p1.xsd for attributes, tables, comparisons and correct responses; imscp_v1p1.xsd and
qtiv2p1_imscpv1p2_v1p0.xsd, its profile of IMS Content Packaging (2014). Moodle publishes no schema of
its XML format; its rules are written after its documentation.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from conftest import SAMPLES, alike, make_input

import attn_xl
from attn_xl.cli.main import main
from attn_xl.errors import CallError
from attn_xl.settings import Settings
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.question_bank import Question, qti_item, questions, write_bank

QTI = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
PACKAGE = "{http://www.imsglobal.org/xsd/imscp_v1p1}"
ORDER = ["name", "questiontext", "generalfeedback", "defaultgrade", "penalty", "hidden", "answer"]


IDENTIFIER = r"[A-Za-z_][\w.-]*"
NORMALIZED = r"[^\n\r\t]*"
DOUBLE = r"[+-]?(\d+(\.\d*)?|\.\d+)([Ee][+-]?\d+)?"
BOOLEAN, FLOAT = r"true|false|0|1", r"float"
FLOW = r"(p |table |div )*"
"""What stands in our `div`s, of the block elements that the schema permits there."""


class Rule(NamedTuple):
    """What a schema demands of an element: its children in order, as a pattern over their names, each
    followed by a space; its required and optional attributes, each with its lexical form; the lexical
    form of its text; and whether it may have text."""

    children: str = ""
    required: dict[str, str] = {}  # noqa: RUF012
    optional: dict[str, str] = {}  # noqa: RUF012
    text: str = r"\s*"


MIXED = r"(?s).*"
DECLARED = {"identifier": IDENTIFIER, "cardinality": "single|multiple|ordered|record"}
QTI_ITEM = {
    "assessmentItem": Rule(
        "(responseDeclaration )*(outcomeDeclaration )*(templateDeclaration )*(templateProcessing )?"
        "(stylesheet )*(itemBody )?(responseProcessing )?(modalFeedback )*",
        {"identifier": NORMALIZED, "title": NORMALIZED, "timeDependent": BOOLEAN},
        {"adaptive": BOOLEAN},
    ),
    "responseDeclaration": Rule(
        "(defaultValue )?(correctResponse )?(mapping )?(areaMapping )?", DECLARED, {"baseType": FLOAT}
    ),
    "outcomeDeclaration": Rule("(defaultValue )?(matchTable )?", DECLARED, {"baseType": FLOAT}),
    "correctResponse": Rule("(value )+"),
    "defaultValue": Rule("(value )+"),
    "value": Rule(text=DOUBLE),
    "itemBody": Rule(f"({FLOW})"),
    "div": Rule(f"({FLOW})", text=MIXED),
    "p": Rule("(strong |textEntryInteraction )*", text=MIXED),
    "strong": Rule(text=MIXED),
    "table": Rule("(caption )?(col )*(colgroup )*(thead )?(tfoot )?(tbody )+"),
    "tbody": Rule("(tr )+"),
    "tr": Rule("(td |th )+"),
    "td": Rule(text=MIXED),
    "th": Rule(text=MIXED),
    "textEntryInteraction": Rule(
        "", {"responseIdentifier": IDENTIFIER}, {"expectedLength": r"\d+"}, text=""
    ),
    "responseProcessing": Rule("(responseCondition )*"),
    "responseCondition": Rule("responseIf (responseElseIf )*(responseElse )?"),
    "responseIf": Rule("and (setOutcomeValue )*"),
    "and": Rule("(gte |lte )+"),
    "gte": Rule("(variable |baseValue ){2}"),
    "lte": Rule("(variable |baseValue ){2}"),
    "variable": Rule("", {"identifier": IDENTIFIER}),
    "setOutcomeValue": Rule("baseValue ", {"identifier": IDENTIFIER}),
    "baseValue": Rule("", {"baseType": FLOAT}, text=DOUBLE),
}
QTI_PACKAGE = {
    "manifest": Rule("metadata organizations resources ", {"identifier": IDENTIFIER}),
    "metadata": Rule("schema schemaversion "),
    "schema": Rule(text=r"QTIv2\.1 Package|QTIv2\.1 Item Bank Package"),
    "schemaversion": Rule(text=r"1\.0\.0"),
    "organizations": Rule(),
    "resources": Rule("(resource )*"),
    "resource": Rule(
        "(metadata )?(file )*(dependency )*",
        {"identifier": IDENTIFIER, "type": "imsqti_item_xmlv2p1"},
        {"href": r"\S+"},
    ),
    "file": Rule("(metadata )?", {"href": r"\S+"}),
}


def broken(root: ET.Element, rules: dict[str, Rule], namespace: str) -> list[str]:
    """Where a document differs from the rules of its schema."""
    found = []
    for element in root.iter():
        name = element.tag.removeprefix(namespace)
        rule = rules.get(name)
        if rule is None:
            found.append(f"<{name}> is not in the schema's part")
            continue
        children = "".join(f"{child.tag.removeprefix(namespace)} " for child in element)
        if not re.fullmatch(rule.children, children):
            found.append(f"<{name}> holds {children}")
        known = rule.required | rule.optional
        found += [f"<{name}> lacks {one}" for one in rule.required if one not in element.attrib]
        for attribute, value in element.attrib.items():
            if not re.fullmatch(known.get(attribute, "(?!)"), value):
                found.append(f"<{name} {attribute}={value!r}>")
        text = "".join([element.text or "", *(child.tail or "" for child in element)])
        if not re.fullmatch(rule.text, text):
            found.append(f"<{name}> has the text {text!r}")
    return found


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
        assert not broken(manifest, QTI_PACKAGE, PACKAGE)
        names = [one.get("identifier") for one in manifest.iter() if one.get("identifier")]
        assert len({*names}) == len(names)  # of type ID
        assert [child.tag for child in manifest] == [
            f"{PACKAGE}{tag}" for tag in ("metadata", "organizations", "resources")
        ]
        resources = manifest.findall(f"{PACKAGE}resources/{PACKAGE}resource")
        assert {r.get("href") for r in resources} | {"imsmanifest.xml"} == {*package.namelist()}
        for resource in resources:
            assert resource.get("type") == "imsqti_item_xmlv2p1"
            item = ET.fromstring(package.read(str(resource.get("href"))))
            assert item.tag == f"{QTI}assessmentItem"
            assert not broken(item, QTI_ITEM, QTI)
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
            low, high = (
                float(item.findtext(f".//{QTI}{one}/{QTI}baseValue", "")) for one in ("gte", "lte")
            )
            known = {"div", "p", "strong", "table", "tbody", "tr", "th", "td", "textEntryInteraction"}
            body = item.find(f"{QTI}itemBody")
            assert body is not None
            assert {one.tag.removeprefix(QTI) for one in body.iter()} - {"itemBody"} <= known
            text = "".join(body.itertext())
            answer = float(response.findtext(f"{QTI}correctResponse/{QTI}value", ""))
            assert low <= answer <= high
            assert high - answer == pytest.approx(answer - low)
            found.append((str(item.get("title")), text, answer, round((high - low) / 2, 12)))
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
    for question in [*bank("by-hand", variants=4), *bank("mouse")]:
        tables = [
            np.array(
                [[float(cell.text or "") for cell in row.iter("td")] for row in [*table.iter("tr")][1:]]
            )
            for table in ET.fromstring(f"<div>{question.html}</div>").iter("table")
        ]
        step = question.step.rpartition(".")[2]
        if step in ("Q", "K", "V", "Output"):
            all_of_them = tables[0] @ tables[1]
        elif step == "Scores":
            all_of_them = tables[0] @ tables[1].T
        else:
            continue
        assert np.isclose(all_of_them, question.answer, rtol=0, atol=question.tolerance / 10).any()
        assert question.answer == round(question.answer, 12), "no last digits of floating point"
        assert re.search(r"What is \w+ = .* in row .*, column .*\?", question.html)
        checked += 1
    assert checked == 32


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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('identifier="item0001"', ""),
        ("<tbody>", "<thead>"),
        ('timeDependent="false"', 'timeDependent="no"'),
        ('cardinality="single"', 'cardinality="one"'),
        ('<gte><variable identifier="RESPONSE"/>', "<gte>"),
        ("<value>0</value>", "<value>nil</value>"),
        ("<itemBody><div>", "<itemBody>text<div>"),
        (' expectedLength="12"', ' size="12"'),
    ],
)
def test_a_broken_item_is_caught(old: str, new: str) -> None:
    html = "<p>?</p><table><tbody><tr><td>1</td></tr></tbody></table>"
    item = qti_item(Question("Q", "Q 1", html, 1.5, 1e-05), "item0001")
    assert old in item
    assert not broken(ET.fromstring(item), QTI_ITEM, QTI)
    other = item.replace(old, new)
    if old == "<tbody>":
        other = other.replace("</tbody>", "</thead>")
    assert broken(ET.fromstring(other), QTI_ITEM, QTI)


@alike
@pytest.mark.parametrize("sample", ["encoder", "learning", "cross", "lstm", "multi-head"])
@pytest.mark.parametrize("exam", [False, True])
def test_every_kind_of_lesson_keeps_to_the_schema(sample: str, exam: bool, tmp_path: Path) -> None:
    tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    settings = Settings.resolve({}, tables.settings, "")
    made = list(questions(tables, settings, Lesson(level=3, exam=exam), variants=2))
    write_bank(made, tmp_path / "b.zip", sample)
    assert len(qti(tmp_path / "b.zip")) == len(made)


def test_small_numbers_are_shown_as_closely_as_they_are_asked_for() -> None:
    tables = attn_xl.read_tables(SAMPLES / "learning.xlsx")
    settings = Settings.resolve({"steps": 1, "optimizer": "adam"}, tables.settings, "")
    (asked,) = (
        question
        for question in questions(tables, settings, Lesson(level=2), variants=1)
        if question.step == "Step1.W_C.v"
    )
    root = ET.fromstring(f"<div>{asked.html}</div>")
    beta, gradient = (
        np.array(
            [[float(cell.text or "") for cell in row.iter("td")] for row in [*table.iter("tr")][1:]]
        )
        for table in root.iter("table")  # the gradient once, though it is multiplied by itself
    )
    assert asked.tolerance < 1e-7
    assert np.isclose((1 - beta) * gradient**2, asked.answer, rtol=0, atol=asked.tolerance / 2).any()
