"""Spreadsheet functions by the names that a student types: those of the program's own language.

A workbook stores the English names, which every program shows in the language of its user; a text,
such as a hint, has to name them as the user sees them.

Source: Microsoft Support, "Excel functions (alphabetical)", in each language; pt is Brazilian.
"""

from __future__ import annotations

import re

from openpyxl.formula import Tokenizer

COMMA_LANGUAGES = frozenset({"de", "es", "fr", "pt"})
"""Languages with a decimal comma, and therefore a semicolon between the arguments of a function."""
_NAMES = """
            de              es              fr              pt
ABS         ABS             ABS             ABS             ABS
ACOS        ARCCOS          ACOS            ACOS            ACOS
AND         UND             Y               ET              E
AVERAGE     MITTELWERT      PROMEDIO        MOYENNE         MÉDIA
COLUMNS     SPALTEN         COLUMNAS        COLONNES        COLS
COS         COS             COS             COS             COS
COUNT       ANZAHL          CONTAR          NB              CONT.NÚM
DEGREES     GRAD            GRADOS          DEGRES          GRAUS
EXP         EXP             EXP             EXP             EXP
IF          WENN            SI              SI              SE
INDEX       INDEX           INDICE          INDEX           ÍNDICE
LN          LN              LN              LN              LN
MATCH       VERGLEICH       COINCIDIR       EQUIV           CORRESP
MAX         MAX             MAX             MAX             MÁXIMO
MIN         MIN             MIN             MIN             MÍNIMO
MMULT       MMULT           MMULT           PRODUITMAT      MATRIZ.MULT
MOD         REST            RESIDUO         MOD             MOD
NORMSDIST   STANDNORMVERT   DISTR.NORM.ESTAND  LOI.NORMALE.STANDARD  DIST.NORMP
NOT         NICHT           NO              NON             NÃO
OR          ODER            O               OU              OU
PI          PI              PI              PI              PI
RANK        RANG            JERARQUIA       RANG            ORDEM
ROUND       RUNDEN          REDONDEAR       ARRONDI         ARRED
ROW         ZEILE           FILA            LIGNE           LIN
SIN         SIN             SENO            SIN             SEN
SQRT        WURZEL          RAIZ            RACINE          RAIZ
SUM         SUMME           SUMA            SOMME           SOMA
SUMPRODUCT  SUMMENPRODUKT   SUMAPRODUCTO    SOMMEPROD       SOMARPRODUTO
SUMSQ       QUADRATESUMME   SUMA.CUADRADOS  SOMME.CARRES    SOMAQUAD
TANH        TANHYP          TANH            TANH            TANH
TRANSPOSE   MTRANS          TRANSPONER      TRANSPOSE       TRANSPOR
VAR         VARIANZ         VAR             VAR             VAR
VARP        VARIANZEN       VARP            VAR.P           VARP
"""
_LINES = [line.split() for line in _NAMES.strip().splitlines()]
NAMES: dict[str, dict[str, str]] = {
    language: {english: own[column] for english, *own in _LINES[1:]}
    for column, language in enumerate(_LINES[0])
}
"""For each language, the functions' names by their English ones; Chinese and Japanese keep those."""
_FUNCTION = re.compile(rf"\b(?:{'|'.join(english for english, *_ in _LINES[1:])})\b")
_BLANK = " \t\u00a0"


def figure_in(language: str, digits: str) -> str:
    """A number as a language writes it: `0,01`."""
    return digits.replace(".", ",") if language in COMMA_LANGUAGES else digits


def formula_in(language: str, formula: str) -> str:
    """A formula as it is typed in the spreadsheet program of a language: `=SUMMENPRODUKT(A1:B1;A2:B2)`.

    Cell addresses and texts stay as they are.
    """
    names = NAMES.get(language, {})
    if not names and language not in COMMA_LANGUAGES:
        return formula
    tokens = Tokenizer(formula if formula.startswith("=") else f"={formula}")
    parts = ["=" if formula.startswith("=") else ""]
    for token in tokens.items:
        text = token.value
        if token.type == "FUNC" and token.subtype == "OPEN":
            text = names.get(text[:-1].upper(), text[:-1]) + "("
        elif token.type == "SEP" and token.subtype == "ARG":
            text = ";"
        elif token.type == "OPERAND" and token.subtype == "NUMBER":
            text = figure_in(language, text)
        parts.append(text)
    return "".join(parts)


def formulas_in(language: str, text: str) -> str:
    """A text with its formulas as they are typed in the spreadsheet program of a language, and with
    the functions that it names on their own."""
    names = NAMES.get(language, {})
    if not names:
        return text
    parts: list[str] = []
    at = 0
    while call := _FUNCTION.search(text, at):
        if text[call.end() : call.end() + 1] != "(":
            parts += [text[at : call.start()], names[call.group()]]
            at = call.end()
            continue
        first, last = _formula_around(text, at, call.start())
        parts += [text[at:first], formula_in(language, text[first:last])]
        at = last
    return "".join([*parts, text[at:]])


def _formula_around(text: str, lowest: int, call: int) -> tuple[int, int]:
    """The part of a text, from `lowest` on, that is the formula with a call in it: up to the blank
    outside of its parentheses on either side."""
    first = call
    while first > lowest and text[first - 1] not in _BLANK:
        first -= 1
    depth = 0
    for at in range(first, len(text)):
        if text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
            if depth < 0:
                return (first, at) if at > call else _formula_around(text, at + 1, call)
        elif depth == 0 and text[at] in _BLANK and at > call:
            return first, _without_stop(text, first, at)
    return first, _without_stop(text, first, len(text))


def _without_stop(text: str, first: int, last: int) -> int:
    """The end of a formula without the sentence's own punctuation after it."""
    while last > first and text[last - 1] in ".,;:…":
        last -= 1
    return last
