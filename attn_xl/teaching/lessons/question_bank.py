"""A question bank for a learning platform: numerical questions on the steps of a model, in several
variants each, as Moodle XML or as a QTI 2.1 package.

Sources: Moodle documentation, "Moodle XML format"; IMS Question and Test Interoperability 2.1,
"Assessment Test, Section, and Item Information Model" and "Conformance Guide".
"""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from attn_xl.errors import CallError
from attn_xl.graph.node import Node, referred_to
from attn_xl.languages import shown, speaking, translate
from attn_xl.models.build import attend
from attn_xl.models.computation import sentence_of
from attn_xl.outputs import writing
from attn_xl.settings import Settings
from attn_xl.tables.survey import Tables
from attn_xl.text import clean

from .blanks import Lesson, chosen_cells, unit_of
from .guide import guide
from .sentences import held
from .variants import varied

MOST_NUMBERS = 400
"""Numbers in the tables of a question; steps with more have none."""
MOODLE, QTI = ".xml", ".zip"
_QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
_PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"


@dataclass(frozen=True)
class Question:
    """A numerical question.

    Attributes:
        step: its step; title: its name in the bank; html: its text, well-formed XHTML.
        answer: the right number; tolerance: the largest absolute error accepted.
    """

    step: str
    title: str
    html: str
    answer: float
    tolerance: float


def questions(
    tables: Tables, settings: Settings, lesson: Lesson, variants: int = 3
) -> Iterator[Question]:
    """A question on a cell of each step of a lesson, in several variants with numbers of their own.

    Raises:
        CallError: if there are no variants to make, or no step is small enough for a question.
    """
    if variants < 1:
        raise CallError(f"--variants is {variants}; use 1 or a larger number.")
    from attn_xl.workbook.layout.place import lay_out

    settings = replace(settings, controls=False)
    asked = 0
    for number in range(1, variants + 1):
        drawn = varied(tables, f"variant {number}", lesson.seed, settings)
        computation = attend(drawn, settings)
        layout = lay_out(computation, settings.sheets_for)
        words: dict[Node, tuple[str, ...]] = {
            node: sentence_of(graph) for graph in computation.values() for node in graph.values()
        }
        for node, cells in chosen_cells(layout, replace(lesson, exam=False)).items():
            operands = [*dict.fromkeys(one for one in referred_to(node) if one.name)]
            if sum(one.values.size for one in operands) > MOST_NUMBERS or not operands:
                continue
            rng = np.random.default_rng([lesson.seed, number, zlib.crc32(node.name.encode())])
            row, column = rng.choice(np.argwhere(cells)).tolist()
            right = _tidy(node.values[row, column])
            name = layout.blocks[node].name.lstrip("_")
            with speaking(settings.language.value):
                text = _html(node, row, column, operands, words.get(node, node.rows), lesson.tolerance)
            tolerance = _tidy(lesson.tolerance * max(unit_of(node), abs(right)))
            yield Question(name, f"{name} {number}", text, right, tolerance)
            asked += 1
    if not asked:
        raise CallError("no step is small enough for a question. Use a shorter sentence.")


def _tidy(number: float) -> float:
    """A number without the last digits of floating point: platforms show the right answer."""
    return round(float(number), 12)


def _html(
    node: Node,
    row: int,
    column: int,
    operands: Sequence[Node],
    words: Sequence[str],
    tolerance: float,
) -> str:
    texts = guide(node, sentence=words, pick=node.rows[row])
    given = {"own": node.name, "made": translate(node.words)}
    if node.rows[row] or node.columns[column]:
        question = translate(
            "What is {own} = {made} in row {row}, column {column}?",
            row=shown(node.rows[row]), column=shown(node.columns[column]), **given,
        )  # fmt: skip
    else:
        question = translate("What is {own} = {made} in its number?", **given)
    parts = [f"<p>{_said(texts.what)} {_said(texts.do)}</p>"]
    parts += [_table(one, tolerance) for one in operands]
    parts.append(f"<p>{_said(question)}</p>")
    return "".join(parts)


def _table(node: Node, tolerance: float) -> str:
    """A table of numbers with so many decimals that rounding stays well within the tolerance."""
    finest = max(min(tolerance, 1.0) * unit_of(node), 1e-12)
    places = 2 - math.floor(math.log10(finest))
    heads = "".join(f"<th>{_said(shown(head))}</th>" for head in ("", *node.columns))
    lines = [
        "<tr>"
        + f"<th>{_said(shown(label))}</th>"
        + "".join(f"<td>{round(number, places) + 0.0:.15g}</td>" for number in numbers)
        + "</tr>"
        for label, numbers in zip(node.rows, node.values.tolist())
    ]
    caption = f"<p><strong>{_said(node.name)}</strong></p>"
    return f"{caption}<table><tbody><tr>{heads}</tr>{''.join(lines)}</tbody></table>"


def _said(text: str) -> str:
    """A text in XML, without characters that XML cannot hold."""
    return escape("".join(c for c in clean(text) if c >= " " and not 0xD800 <= ord(c) <= 0xDFFF
                          and ord(c) not in (0xFFFE, 0xFFFF)))  # fmt: skip


def moodle_xml(bank: Sequence[Question], category: str) -> str:
    """The questions as Moodle XML, with a category for each step."""
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n']
    for step in dict.fromkeys(question.step for question in bank):
        path = f"$course$/top/{_said(category).replace('/', '-')}/{_said(step)}"
        parts.append(f'<question type="category"><category><text>{path}</text></category></question>\n')
        parts += [_moodle(question) for question in bank if question.step == step]
    return "".join([*parts, "</quiz>\n"])


def _moodle(question: Question) -> str:
    nothing = "<text></text>"
    return (
        '<question type="numerical">\n'
        f"<name><text>{_said(question.title)}</text></name>\n"
        f'<questiontext format="html"><text>{escape(question.html)}</text></questiontext>\n'
        f'<generalfeedback format="html">{nothing}</generalfeedback>\n'
        "<defaultgrade>1</defaultgrade><penalty>0.3333333</penalty><hidden>0</hidden>\n"
        f'<answer fraction="100" format="moodle_auto_format"><text>{question.answer!r}</text>'
        f'<tolerance>{question.tolerance!r}</tolerance><feedback format="html">{nothing}</feedback>'
        "</answer>\n<unitgradingtype>0</unitgradingtype><unitpenalty>0.1</unitpenalty>"
        "<showunits>3</showunits><unitsleft>0</unitsleft>\n</question>\n"
    )


def qti_item(question: Question, identifier: str) -> str:
    """A question as a QTI 2.1 item: a text entry between two bounds.

    Bounds instead of `equal` with a tolerance, which some players leave out.
    """
    response = '<variable identifier="RESPONSE"/>'
    within = "".join(
        f'<{one}>{response}<baseValue baseType="float">{_tidy(bound)!r}</baseValue></{one}>'
        for one, bound in (
            ("gte", question.answer - question.tolerance),
            ("lte", question.answer + question.tolerance),
        )
    )
    field = '<textEntryInteraction responseIdentifier="RESPONSE" expectedLength="12"/>'
    entry = _said(translate("Answer: {field}", **held("field"))).replace("{field}", field)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<assessmentItem xmlns="{_QTI}" identifier="{identifier}" '
        f'title={quoteattr(clean(question.title))} adaptive="false" timeDependent="false">\n'
        '<responseDeclaration identifier="RESPONSE" cardinality="single" baseType="float">'
        f"<correctResponse><value>{question.answer!r}</value></correctResponse></responseDeclaration>\n"
        '<outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float">'
        "<defaultValue><value>0</value></defaultValue></outcomeDeclaration>\n"
        f"<itemBody><div>{question.html}</div>"
        f"<p>{entry}</p>"
        "</itemBody>\n<responseProcessing><responseCondition><responseIf>"
        f'<and>{within}</and><setOutcomeValue identifier="SCORE">'
        '<baseValue baseType="float">1</baseValue></setOutcomeValue></responseIf></responseCondition>'
        "</responseProcessing>\n</assessmentItem>\n"
    )


def qti_package(bank: Sequence[Question]) -> dict[str, str]:
    """The files of a QTI 2.1 content package, by name."""
    items = {f"item{n:04}": question for n, question in enumerate(bank, 1)}
    resources = "".join(
        f'<resource identifier="{name}" type="imsqti_item_xmlv2p1" href="{name}.xml">'
        f'<file href="{name}.xml"/></resource>'
        for name in items
    )
    manifest = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<manifest xmlns="{_PACKAGE}" identifier="attn-xl">'
        "<metadata><schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion></metadata>"
        f"<organizations/><resources>{resources}</resources></manifest>\n"
    )
    texts = {f"{name}.xml": qti_item(question, name) for name, question in items.items()}
    return {"imsmanifest.xml": manifest, **texts}


def write_bank(bank: Sequence[Question], path: Path, category: str) -> None:
    """Write a question bank: Moodle XML to an .xml, a QTI 2.1 package to a .zip.

    Raises:
        OutputError: if the file cannot be written.
    """
    with writing(path) as temporary:
        if path.suffix.lower() == MOODLE:
            temporary.write_text(moodle_xml(bank, category), encoding="utf-8")
            return
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in qti_package(bank).items():
                archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text)
