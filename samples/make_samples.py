"""Makes the sample inputs: python samples/make_samples.py

They are ordinary workbooks, as a teacher would type them.
"""

from __future__ import annotations

import random
from datetime import datetime
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.properties import PageSetupProperties

from attn_xl.teaching.pleasant_numbers import pleasant
from attn_xl.workbook.write_input import write_tables
from attn_xl.workbook.xlsx.package import save

HERE = Path(__file__).parent
Row = list[str | float]

# The subject's worked example: mouse is an animal with one company, a device with another.
MOUSE: dict[str, list[Row]] = {
    "pets": [
        ["", "animal", "tech", "grammar"],
        ["mouse", 2.0, 1.9, 0.1],
        ["and", 0.1, 0.1, 1.6],
        ["cat", 2.6, 0.1, 0.1],
        ["are", 0.1, 0.1, 1.5],
        ["friends", 0.5, 0.2, 0.3],
    ],
    "desk": [
        ["", "animal", "tech", "grammar"],
        ["mouse", 2.0, 1.9, 0.1],
        ["or", 0.1, 0.1, 1.6],
        ["keyboard", 0.1, 2.6, 0.1],
        ["are", 0.1, 0.1, 1.5],
        ["useful", 0.2, 0.5, 0.3],
    ],
}

# Learned projections: queries and keys of width 2, values of width 4, embeddings of width 3.
PROJECTIONS: dict[str, list[Row]] = {
    "sentence": [
        ["", "animal", "action", "place"],
        ["the", 0.1, 0.0, 0.1],
        ["cat", 1.0, 0.2, 0.0],
        ["sat", 0.1, 1.0, 0.2],
        ["on", 0.0, 0.1, 0.6],
        ["mats", 0.0, 0.1, 1.0],
    ],
    "W_Q": [["", "q1", "q2"], ["animal", 1, 0], ["action", 0, 2], ["place", 1, 1]],
    "W_K": [["", "k1", "k2"], ["animal", 0, 2], ["action", 1, 0], ["place", 1, 1]],
    "W_V": [
        ["", "v1", "v2", "v3", "v4"],
        ["animal", 1, 0, 0, 1],
        ["action", 0, 1, 0, -1],
        ["place", 0, 0, 1, 1],
    ],
}

# Five words in two principal components of pre-trained word vectors.
POLITICS: dict[str, list[Row]] = {
    "politics": [
        ["", "x", "y"],
        ["florida", -2.40062016, 0.00478901],
        ["california", -2.54245794, -0.37579669],
        ["texas", -2.24764634, -0.12963368],
        ["politics", 3.02004564, 2.88826688],
        ["truth", 4.17067881, -2.38762552],
    ]
}


Sheets = dict[str, list[Row]]


def settings(**values: str | float) -> list[Row]:
    """A sheet of settings: a name and a value a row."""
    return [["setting", "value"], *([name.replace("_", "-"), value] for name, value in values.items())]


def words(text: str, dims: str, seed: int) -> list[Row]:
    """Embeddings of small, short numbers; a word has the same one wherever it occurs."""
    rows: list[Row] = [["", *dims.split()]]
    for word in text.split():
        rng = random.Random(f"{seed} {word}")
        rows.append([word, *(rng.randint(0, 10) / 5 for _ in dims.split())])
    return rows


def weights(name: str, rows: int, columns: int) -> list[Row]:
    """Weights that are easy to multiply with."""
    rng = random.Random(name)
    return [[rng.choice((-1, -0.5, 0, 0.5, 1)) for _ in range(columns)] for _ in range(rows)]


def drawn(rows: int, columns: int, seed: int) -> list[Row]:
    """Vectors of random numbers of mean 0 and variance 1."""
    rng = random.Random(seed)
    head = ["", *(f"d{j}" for j in range(1, columns + 1))]
    return [head, *([f"v{i}", *(round(rng.gauss(0, 1), 2) for _ in range(columns))]
                    for i in range(1, rows + 1))]  # fmt: skip


def layer(at: str, parts: tuple[str, ...], d: int, hidden: int, norms: int) -> Sheets:
    """All weights of a layer of width d."""
    shapes: dict[str, tuple[int, int]] = {}
    for part in parts:
        shapes |= {f"{at}{part}W_{letter}": (d, d) for letter in "QKVO"}
    shapes |= {
        f"{at}W_1": (d, hidden),
        f"{at}b_1": (1, hidden),
        f"{at}W_2": (hidden, d),
        f"{at}b_2": (1, d),
    }
    made = {name: weights(name, *shape) for name, shape in shapes.items()}
    for number in range(1, norms + 1):
        made[f"{at}gamma_{number}"] = [[1.0] * d]
        made[f"{at}beta_{number}"] = [[0.0] * d]
    return made


def gates(letters: str, d: int, hidden: int) -> Sheets:
    """The weights of the gates of a recurrent network."""
    shapes = {"W": (d, hidden), "U": (hidden, hidden), "b": (1, hidden)}
    return {
        f"{kind}_{letter}": weights(f"gate {kind}_{letter}", *shape)
        for letter in letters
        for kind, shape in shapes.items()
    }


FOUR = "living moving talking place"

VARIANTS: dict[str, Sheets] = {
    "multi-head": {
        "sentence": words("the cat chased the mouse", FOUR, 1),
        **{f"W_{letter}": weights(f"W_{letter}", 4, 4) for letter in "QKVO"},
        "b_Q": [[0.1, 0.2, 0.3, 0.4]],
        "Settings": settings(heads=2),
    },
    "masks": {
        "first": words("we read <PAD> <PAD>", FOUR, 2),
        "second": words("we read good books", FOUR, 2),
        "Settings": settings(causal="TRUE"),
    },
    "cross": {
        "french": words("le chat dort", "être bouger lieu", 3),
        "english": words("the cat is sleeping", FOUR, 3),
        "W_Q": weights("cross Q", 3, 2),
        "W_K": weights("cross K", 4, 2),
        "W_V": weights("cross V", 4, 3),
        "Settings": settings(memory="english"),
    },
    # Additive scores, which v_a tells, as in Bahdanau et al. (2015): the states of a decoder look at an
    # encoder's.
    "additive": {
        "french": words("le chat dort", "être bouger lieu", 3),
        "english": words("the cat is sleeping", FOUR, 3),
        "W_Q": weights("additive Q", 3, 2),
        "W_K": weights("additive K", 4, 2),
        "v_a": [["", "q1", "q2"], ["v_a", 2, 1]],
        "Settings": settings(memory="english"),
    },
    # A graph in place of the softmax: each word takes the sum of the words that it depends on.
    "given-weights": {
        "sentence": words("dogs chase small cats", FOUR, 8),
        "W_V": weights("given V", 4, 3),
        "depends": [
            ["", "dogs", "chase", "small", "cats"],
            ["dogs", 1, 0, 0, 0],
            ["chase", 1, 1, 0, 1],
            ["small", 0, 0, 1, 0],
            ["cats", 0, 0, 1, 1],
        ],
        "Settings": settings(attention="depends"),
    },
    "positions": {
        "sentence": words("dog bites man and man bites dog", "living moving talking place time", 4),
        "Settings": settings(positions="sinusoidal"),
    },
    # The scores of each word are 5, 3, 4, and so its weights 0.42, 0.25, 0.33.
    "plain-sum": {
        "sentence": [["", "one", "weight"], ["red", 1, 5], ["green", 1, 3], ["blue", 1, 4]],
        "W_Q": [[1], [0]],
        "W_K": [[0], [1]],
        "Settings": settings(normalize="sum", scale="FALSE"),
    },
    "temperature": {
        "sentence": MOUSE["pets"],
        "Settings": settings(temperature=0.5, scale="FALSE"),
    },
    "dropout": {
        "sentence": words("the cat chased the mouse", FOUR, 1),
        "Settings": settings(dropout=0.25, seed=3),
    },
    "encoder": {
        "sentence": words("the cat sat", FOUR, 5),
        **layer("Enc1.", ("",), 4, 6, 2),
        **layer("Enc2.", ("",), 4, 6, 2),
        "Settings": settings(model="encoder", layers=2, heads=2, activation="gelu"),
    },
    "decoder": {
        "sentence": words("le chat dort", FOUR, 6),
        "encoded": words("the cat is sleeping", FOUR, 6),
        **layer("Dec1.", ("Self.", "Cross."), 4, 6, 3),
        "Settings": settings(model="decoder", memory="encoded", heads=2, activation="gelu-tanh"),
    },
    "encoder-decoder": {
        "source": words("the cat is sleeping <PAD>", FOUR, 7),
        "target": words("<start> le chat dort", FOUR, 7),
        **layer("Enc1.", ("",), 4, 6, 2),
        **layer("Dec1.", ("Self.", "Cross."), 4, 6, 3),
        "Settings": settings(
            model="encoder-decoder", memory="source", heads=2, norm="pre", positions="sinusoidal"
        ),
    },
    "language-model": {
        "sentence": words("the cat chased the", FOUR, 61),
        "Vocabulary": words("the cat chased mouse dog .", FOUR, 61),
        **layer("Dec1.", ("",), 4, 6, 2),
        "Settings": settings(model="decoder-only", heads=2, positions="sinusoidal"),
    },
    "output-weights": {
        "sentence": words("the cat chased the", FOUR, 61),
        "W_U": [
            ["", "mouse", "dog", "the"],
            ["living", 1, 0.5, -0.5],
            ["moving", 0.5, 1, 0],
            ["talking", -1, 0, 0],
            ["place", 0, -0.5, 1],
        ],
        "b_U": [["", "mouse", "dog", "the"], ["bias", 0.2, 0.1, -0.3]],
        **layer("Dec1.", ("",), 4, 6, 2),
        "Settings": settings(model="decoder-only"),
    },
    "residual-dropout": {
        "sentence": words("the cat sat", FOUR, 5),
        **layer("Enc1.", ("",), 4, 6, 2),
        "Enc.Mask": [
            ["", "the", "cat", "sat"],
            ["the", 0, 0, -1e9],
            ["cat", 0, 0, 0],
            ["sat", -1e9, 0, 0],
        ],
        "Settings": settings(
            model="encoder", positions="sinusoidal", residual_dropout=0.25, dropout=0.25, seed=2
        ),
    },
    # The blocks of today's language models: all that Llama is made of, then one at a time.
    "llama": {
        "sentence": words("the cat chased the", FOUR, 61),
        "Vocabulary": words("the cat chased mouse dog .", FOUR, 61),
        **{f"Dec1.W_{letter}": weights(f"llama W_{letter}", 4, 4) for letter in "QO"},
        **{f"Dec1.W_{letter}": weights(f"llama W_{letter}", 4, 2) for letter in "KV"},
        **{f"Dec1.W_{letter}": weights(f"llama W_{letter}", 4, 6) for letter in "1G"},
        "Dec1.W_2": weights("llama W_2", 6, 4),
        **{name: [[1, 0.5, 1, 1.5]] for name in ("Dec1.gamma_1", "Dec1.gamma_2", "Dec.gamma")},
        "Settings": settings(
            model="decoder-only",
            heads=2,
            kv_heads=1,
            positions="rotary",
            norm="pre",
            norm_type="rms",
            activation="swiglu",
        ),
    },
    "generate": {
        "sentence": words("the cat", FOUR, 61),
        "Vocabulary": words("the cat chased mouse dog .", FOUR, 61),
        **{f"Dec1.W_{letter}": weights(f"gDec1.W_{letter}", 4, 4) for letter in "QKVO"},
        "Dec1.W_1": weights("gDec1.W_1", 4, 6),
        "Dec1.b_1": weights("gDec1.b_1", 1, 6),
        "Dec1.W_2": weights("gDec1.W_2", 6, 4),
        "Dec1.b_2": weights("gDec1.b_2", 1, 4),
        "Settings": settings(model="decoder-only", generate=2, positions="rotary", seed=3),
    },
    "rotary": {
        "sentence": words("dog bites man and man bites dog", FOUR, 4),
        "Settings": settings(positions="rotary", rotary_pairs="neighbours", rotary_base=100),
    },
    "alibi": {
        "sentence": words("dog bites man and man bites dog", FOUR, 4),
        **{f"W_{letter}": weights(f"W_{letter}", 4, 4) for letter in "QKVO"},
        "Settings": settings(heads=2, positions="alibi", causal="TRUE"),
    },
    "learned-positions": {
        "sentence": words("dog bites man", FOUR, 4),
        "W_P": weights("W_P", 6, 4),
        "Settings": settings(positions="learned"),
    },
    "window": {
        "sentence": words("the cat chased the mouse and slept", FOUR, 1),
        "Settings": settings(causal="TRUE", window=3),
    },
    "masked-words": {
        "sentence": words("the cat [MASK] the mouse", FOUR, 61),
        "Vocabulary": words("the cat chased mouse dog .", FOUR, 61),
        "W_P": weights("masked43 W_P", 6, 4),
        "Segment": [[0.1, 0, -0.1, 0.2]],
        **{f"Enc1.W_{letter}": weights(f"masked43 W_{letter}", 4, 4) for letter in "QKVO"},
        "Enc1.W_1": weights("masked43 W_1", 4, 6),
        "Enc1.W_2": weights("masked43 W_2", 6, 4),
        "Transform.W_1": weights("masked43 Transform", 4, 4),
        "Transform.b_1": [[0.1, 0, 0, -0.1]],
        "Transform.gamma": [[1, 0.5, 1, 1.5]],
        "b_U": [[0, 0, 0.5, 0, 0, -0.5]],
        "Settings": settings(
            model="masked-language-model",
            positions="learned",
            heads=2,
            activation="gelu-tanh",
            transform="gelu-tanh",
        ),
    },
    "sentence-vector": {
        "sentence": words("the cat sat", FOUR, 5),
        **{f"Enc1.W_{letter}": weights(f"vector W_{letter}", 4, 4) for letter in "QKVO"},
        "Enc1.W_1": weights("vector W_1", 4, 3),
        "Enc1.W_2": weights("vector W_2", 3, 4),
        "Pooler.W_1": weights("vector Pooler", 4, 4),
        "Pooler.b_1": [[0.1, -0.1, 0, 0.2]],
        "Settings": settings(
            model="encoder", activation="gelu-tanh", pooling="pooler", unit_length="TRUE"
        ),
    },
    "rms-norm": {
        "sentence": words("the cat sat", FOUR, 5),
        "gamma": [[1, 2, 1, 0.5]],
        "Settings": settings(model="norm", norm_type="rms"),
    },
    # One step at a time: scores that become weights, a norm as other books have it, neurons.
    "softmax": {
        "scores": [["", "the", "cat", "sat"], ["the", 2, 1, 0], ["cat", 1, 3, 2], ["sat", 0, 1.5, 1.5]],
        "Settings": settings(model="softmax"),
    },
    "norm": {
        "sentence": words("the cat sat", FOUR, 5),
        "gamma": [[1, 2, 1, 0.5]],
        "beta": [[0, 0, 0.5, 0]],
        "Settings": settings(model="norm", norm_variance="sample", norm_epsilon="outside"),
    },
    "spread": {"vectors": drawn(31, 64, 1), "Settings": settings(model="spread")},
    "feed-forward": {
        "sentence": words("the cat sat", FOUR, 5),
        "W_1": [[0.45, -0.5, 1], [1, 0.25, -0.5], [-0.5, 0.75, 0.35], [0, 1, -0.25]],
        "b_1": [[0.5, 0, -0.5]],
        "W_2": weights("W_2", 3, 4),
        "b_2": [[0, 0.1, 0, 0.1]],
        "Settings": settings(model="feed-forward"),
    },
    "cnn": {
        "sentence": words("the cat sat on the warm mat", FOUR, 19),
        **{f"W_{where}": weights(f"cnn {where}", 4, 3) for where in ("before", "here", "after")},
        "b_conv": [[-0.5, 0, -1]],
        "Settings": settings(model="cnn", window=3),
    },
    "rnn": {
        "sentence": words("cats that chase mice are happy", FOUR, 17),
        "W_h": weights("rnn W_h", 4, 3),
        "U_h": [[0.5, 0, 0.5], [0, 0.5, 0], [-0.5, 0, 0.5]],
        "b_h": [[0, 0.1, -0.1]],
        "Settings": settings(model="rnn"),
    },
    "lstm": {
        "sentence": words("cats that chase mice are happy", FOUR, 17),
        **gates("ifgo", 4, 3),
        "b_f": [[2, 2, 2]],
        "Settings": settings(model="lstm"),
    },
    "gru": {
        "sentence": words("cats that chase mice are happy", FOUR, 17),
        **gates("rzn", 4, 3),
        "b_z": [[1, 1, 1]],
        "Settings": settings(model="gru"),
    },
}


# Four sentences that begin with mouse: is it an animal or a device? The first word decides, after it
# has looked at the others; small random weights take half of the sentences for the wrong class.
MEANINGS = {
    "mouse": [1.0, 1.0, 0.1],
    "cat": [1.6, 0.1, 0.1],
    "cheese": [1.3, 0.0, 0.2],
    "friends": [0.5, 0.3, 0.4],
    "eats": [0.5, 0.2, 0.6],
    "keyboard": [0.1, 1.6, 0.1],
    "screen": [0.0, 1.4, 0.2],
    "clicks": [0.2, 0.5, 0.6],
    "useful": [0.2, 0.5, 0.4],
    "and": [0.1, 0.1, 0.9],
    "or": [0.1, 0.2, 0.8],
    "are": [0.2, 0.1, 1.0],
    "the": [0.1, 0.1, 1.0],
    "on": [0.1, 0.1, 0.8],
}


def meanings(text: str) -> list[Row]:
    rows: list[Row] = [["", "animal", "tech", "grammar"]]
    return rows + [[word, *MEANINGS[word]] for word in text.split()]


VARIANTS["learning"] = {
    "pets": meanings("mouse and cat are friends"),
    "desk": meanings("mouse or keyboard are useful"),
    "kitchen": meanings("mouse eats the cheese"),
    "office": meanings("mouse clicks on the screen"),
    "W_Q": [["", "q1", "q2"], ["animal", -0.2, -0.4], ["tech", -0.5, 0.2], ["grammar", 0, 0.6]],
    "W_K": [["", "k1", "k2"], ["animal", 0.4, 0.4], ["tech", -0.5, 0.1], ["grammar", 0.1, -0.5]],
    "W_V": [["", "v1", "v2"], ["animal", 0, -0.2], ["tech", -0.3, 0.4], ["grammar", -0.1, -0.5]],
    "W_C": [["", "animal", "device"], ["v1", -0.2, 0.5], ["v2", -0.1, -0.4]],
    "Labels": [
        ["sentence", "class"],
        ["pets", "animal"],
        ["desk", "device"],
        ["kitchen", "animal"],
        ["office", "device"],
    ],
    "Settings": settings(model="classify", pooling="first", loss="TRUE", optimizer="adam"),
}


CLASS = """id,name
s01,Ada Lovelace
s02,Emmy Noether
s03,Sofja Kowalewskaja
s04,Srinivasa Ramanujan
"""


def make(name: str, sheets: dict[str, list[Row]]) -> None:
    book = Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append([None if value == "" else value for value in row])
        for cell in (*sheet[1], *sheet["A"]):
            if isinstance(cell.value, str):
                cell.font = Font(bold=True)
        sheet.column_dimensions["A"].width = 14
    book.properties.created = book.properties.modified = datetime(1980, 1, 1)  # no clock
    save(book, HERE / f"{name}.xlsx", {})


FRAMES = {
    "Scores = Input × Inputᵀ": ("E8EEF6", "words"),
    "Scaled = Scores / √d": ("E8EEF6", "words"),
    "Attention = softmax(Scaled)": ("E3F1EE", "words"),
    "Output = Attention × Input": ("F6EEE3", "dims"),
}
"""The titles of an author's frames, with their fill, and what labels their columns."""


def make_author_sheet() -> None:
    """A sheet as an author leaves it: two contexts side by side, all frames titled, labelled, blank."""
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Two contexts"
    sheet.sheet_view.showGridLines = False
    sheet["B1"] = "The same word in two contexts"
    sheet["B1"].font = Font(name="Arial", size=16, bold=True)
    sheet["B2"] = "mouse beside cat, and mouse beside keyboard"
    sheet["B2"].font = Font(name="Arial", size=10, color="66727E")
    for left, rows in ((2, MOUSE["pets"]), (9, MOUSE["desk"])):
        dims, words = rows[0][1:], [row[0] for row in rows[1:]]
        top = 4
        _frame(sheet, top, left, "Input", "FBF3D9", words, dims, rows[1:])
        for title, (fill, across) in FRAMES.items():
            top += len(words) + 3
            _frame(sheet, top, left, title, fill, words, words if across == "words" else dims)
    for column in range(1, 16):
        wide = column in (2, 9)
        sheet.column_dimensions[get_column_letter(column)].width = (
            11 if wide else 3 if column == 1 else 9
        )
    sheet.page_setup.fitToHeight = sheet.page_setup.paperSize = 1
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    book.properties.created = book.properties.modified = datetime(1980, 1, 1)
    (HERE / "authors").mkdir(exist_ok=True)
    save(book, HERE / "authors" / "two-contexts.xlsx", {})


def _frame(
    sheet: Any, top: int, left: int, title: str, fill: str, words: Row, columns: Row, rows: Any = None
) -> None:
    """A title, labels, and a bordered frame below them, with the numbers of `rows` if given."""
    sheet.cell(top, left, title).font = Font(name="Arial", size=11, bold=True)
    for n, label in enumerate(columns):
        cell = sheet.cell(top + 1, left + 1 + n, label)
        cell.font, cell.alignment = Font(name="Arial", size=8, color="66727E"), Alignment("center")
    for i, word in enumerate(words):
        sheet.cell(top + 2 + i, left, word).font = Font(name="Arial", size=9, bold=True)
        for j in range(len(columns)):
            cell = sheet.cell(top + 2 + i, left + 1 + j)
            cell.border = Border(*[Side("thin", color="C9D2DA")] * 4)
            cell.fill, cell.number_format = PatternFill("solid", fill), "0.00"
            cell.font = Font(name="Arial", size=10, color="1D5AA6" if rows else "16212B")
            cell.alignment = Alignment("center")
            if rows:
                cell.value = rows[i][1 + j]


if __name__ == "__main__":
    make_author_sheet()
    make("mouse", MOUSE)
    make("projections", PROJECTIONS)
    make("politics", POLITICS)
    for name, sheets in VARIANTS.items():
        make(name, sheets)
    words = ["the", "cat", "chased", "the", "mouse"]
    write_tables(pleasant([words], 4, seed=13), HERE / "by-hand.xlsx")
    (HERE / "class.csv").write_text(CLASS, encoding="utf-8")
