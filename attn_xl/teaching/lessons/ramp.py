"""The ramp: pages of small problems that lead from a dot product up to attention.

Five problems a page, with small whole numbers from a seed, forwards ("what is it?") and backwards
("which number gives this?"). A mark checks what an answer does, so that of several right answers each
counts.
"""

# ruff: noqa: B023 - each condition is called at once, within its round of the loop
from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attn_xl.languages import ENGLISH, current_language, message, translate, translate_count
from attn_xl.settings import SETTINGS
from attn_xl.spreadsheets.addresses import Place, address
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.page import NOTHING, Cell, Extras, Tint

from .function_names import figure_in, formulas_in
from .pages import RIGHT, WRONG
from .sentences import format_of_text, held

KIND, SEED, STUDENT, NAME = "lesson kind", "lesson ramp", "lesson student", "lesson name"
LANGUAGE, RAMP = "language", "ramp"
"""Lines of a record; the kind of a workbook that is a ramp."""
TOLERANCE = 0.01
WORDS = (
    message("cat"),
    message("dog"),
    message("bird"),
    message("fish"),
    message("mouse"),
    message("horse"),
)
FIRST, MARKS = 2, 12
"""The columns of the first table and of the first mark."""
WIDTHS = {
    1: 4.0,
    **dict.fromkeys(range(FIRST, MARKS), 9.0),
    **dict.fromkeys(range(MARKS, MARKS + 6), 3.2),
}
Condition = Callable[[int, int], str]


@dataclass(frozen=True)
class Answer:
    """A cell to fill in: its place and that of its mark, by row and column, the number of its problem,
    and an answer that is right."""

    cell: tuple[int, int]
    mark: tuple[int, int]
    problem: int
    solution: float | str


@dataclass
class Page:
    """A page of problems while it is written.

    Attributes:
        name: its title and its sheet, in the current language.
        row: the next free row; solved: whether the answers are filled in.
    """

    name: str
    rng: np.random.Generator
    solved: bool
    exam: bool
    row: int = 6
    problems: int = 0
    cells: list[Cell] = field(default_factory=list)
    tints: list[Tint] = field(default_factory=list)
    asked: list[Answer] = field(default_factory=list)

    def whole(self, *shape: int, low: int = 0, high: int = 4) -> Any:
        """Random whole numbers, with at least one other than 0 in each row."""
        while True:
            numbers = self.rng.integers(low, high + 1, shape)
            if np.atleast_2d(numbers).any(axis=1).all():
                return numbers

    def words(self, count: int) -> list[str]:
        """Different words at random."""
        return [translate(str(word)) for word in self.rng.choice(WORDS, count, replace=False)]

    def ask(self, text: str) -> None:
        """Begin a problem."""
        self.problems += 1
        self.row += 1
        self.cells.append(Cell(self.row, 1, f"{self.problems}.", style="attn label"))
        text = formulas_in(current_language(), text)
        across = MARKS + 6 - FIRST  # no mark stands in this row
        self.cells.append(Cell(self.row, FIRST, text, style="attn text", across=across))
        self.row += 1

    def table(
        self, name: str, values: Any, column: int = FIRST, heads: Sequence[str] = (), row: int = 0
    ) -> Place:
        """Given numbers to the right of their name, below headings if there are any."""
        values = np.atleast_2d(values)
        top = row or self.row
        self.cells.append(Cell(top + 1, column, name, style="attn label", align="right", indent=1))
        for j, head in enumerate(heads):
            self.cells.append(Cell(top, column + 1 + j, head, style="attn heading"))
        place = Place(self.name, top + 1, column + 1, *values.shape)
        for i, line in enumerate(values.tolist()):
            for j, value in enumerate(line):
                shown = _plain(value)
                self.cells.append(Cell(place.row + i, place.column + j, shown, style="attn input",
                                       number_format="General", align="right"))  # fmt: skip
        return place

    def answer(self, solution: Any, column: int, condition: Condition, row: int = 0) -> Place:
        """Cells to fill in, with a mark for each: ✓ where its condition is true."""
        solution = np.atleast_2d(np.asarray(solution, dtype=object))
        place = Place(self.name, row or self.row + 1, column, *solution.shape)
        first = MARKS + self._used(place)
        for i, j in np.ndindex(*solution.shape):
            at, to = (place.row + i, place.column + j), (place.row + i, first + j)
            right = _plain(solution[i, j], 4)
            shown = right if self.solved else None
            self.cells.append(Cell(*at, shown, style="attn blank", open=True,
                                   number_format="General", align="right"))  # fmt: skip
            self.asked.append(Answer(at, to, self.problems, right))
            if self.exam:
                continue
            here, mark = address(*at), address(*to)
            formula = f'IF({here}="","",IF(IFERROR({condition(i, j)},FALSE),"{RIGHT}","{WRONG}"))'
            self.cells.append(
                Cell(*to, RIGHT if self.solved else "", formula, "attn note", align="center")
            )
            self.tints.append(Tint(here, f'{mark}="{RIGHT}"', "attn right"))
            self.tints.append(Tint(here, f'{mark}="{WRONG}"', "attn wrong"))
        return place

    def _used(self, place: Place) -> int:
        """The marks that already stand in the first row of these cells."""
        return sum(cell.row == place.row and cell.column >= MARKS for cell in self.cells)

    def done(self, rows: int) -> None:
        """End a problem that takes so many rows below its text."""
        self.row += rows

    def sheet(self) -> Sheet:
        """The finished page, with its score."""
        if not self.exam:
            marks = f"{address(7, MARKS)}:{address(self.row + 2, MARKS + 5)}"
            score = float(len(self.asked) if self.solved else 0)
            text = translate_count(
                "{right} of {number}", "{right} of {number}", len(self.asked), **held("right")
            )
            count = Cell(4, FIRST, score, f'COUNTIF({marks},"{RIGHT}")', "attn step",
                         number_format=format_of_text(text, "right"), align="left")  # fmt: skip
            self.cells += [Cell(4, 1, "✓", style="attn label"), count]
        extras = Extras(tuple(self.cells), tints=tuple(self.tints), widths=WIDTHS, zoom=100,
                        print_to=f"A1:{address(self.row + 1, MARKS + 5)}")  # fmt: skip
        note = translate(
            "Fill in the marked cells: a number, a word, or your own formula. ✓ is right, ✗ is not yet."
        )
        return Sheet(self.name, self.name, "", self.name, note, (), extras)


def _plain(value: Any, decimals: int = 12) -> float | str:
    return str(value) if isinstance(value, str) else round(float(value), decimals)


def near(cell: str, value: str) -> str:
    """The condition that a cell holds a number, up to the tolerance."""
    return f"AND(ISNUMBER({cell}),ROUND(ABS({cell}-({value})),9)<={TOLERANCE}*MAX(1,ABS({value})))"


def cell_of(place: Place, row: int = 0, column: int = 0) -> str:
    return f"${address(place.row + row, place.column + column)}".replace("$", "")


def row_of(place: Place, row: int = 0) -> str:
    return Place("", place.row + row, place.column, 1, place.columns).range


def products(left: Place, i: int, right: Place, j: int, *, turned: bool = False) -> str:
    """Row i of one table times column j of another (row j, if `turned`), product by product."""
    pairs = (
        (cell_of(left, i, k), cell_of(right, j, k) if turned else cell_of(right, k, j))
        for k in range(left.columns)
    )
    return "+".join(f"{x}*{y}" for x, y in pairs)


# The pages


def dot_products(page: Page) -> None:
    for n in (2, 3, 4):
        x, y = page.whole(n), page.whole(n, low=-1)
        page.ask(translate("What is the dot product a · b? Multiply pair by pair and add up."))
        a = page.table("a", x)
        b = page.table("b", y, row=page.row + 1)
        at = FIRST + 7
        page.answer(x @ y, at, lambda i, j: near(address(a.row, at), products(a, 0, b, 0, turned=True)))
        page.done(3)
    x, y = page.whole(3, low=1), page.whole(3, low=1)
    page.ask(
        translate("Backwards: which number in place of the ? gives a · b = {product}?", product=x @ y)
    )
    a = page.table("a", x)
    shown = [*y[:2].tolist(), "?"]
    b = page.table("b", np.array(shown, dtype=object), row=page.row + 1)
    at = FIRST + 7
    known = f"{cell_of(a)}*{cell_of(b)}+{cell_of(a, 0, 1)}*{cell_of(b, 0, 1)}"
    here = address(a.row, at)
    page.answer(y[2], at, lambda i, j: near(f"({known}+{cell_of(a, 0, 2)}*{here})", str(x @ y)))
    page.done(3)
    x, y = page.whole(2, low=1), page.whole(2, low=1)
    page.ask(
        translate(
            "Backwards: find two numbers for b so that a · b = {product}. There are many answers.",
            product=x @ y,
        )
    )
    a = page.table("a", x)
    first, second = address(a.row, at), address(a.row, at + 1)
    product = near(f"({cell_of(a)}*{first}+{cell_of(a, 0, 1)}*{second})", str(x @ y))
    both = f"AND(COUNT({first}:{second})=2,{product})"
    page.answer(y, at, lambda i, j: both)
    page.done(2)


def rows_times_columns(page: Page) -> None:
    for n in (2, 3, 4):
        x, w = page.whole(n, low=-1), page.whole(n, 1)
        page.ask(translate("Row x times column W: the first number with the first, and so on; add up."))
        a, b = page.table("x", x), page.table("W", w, FIRST + 5)
        at = FIRST + 8
        page.answer((x @ w)[0], at, lambda i, j: near(address(a.row, at), products(a, 0, b, 0)))
        page.done(n + 1)
    for _ in range(2):
        x, w = page.whole(2, low=1), page.whole(2, 1, low=1)
        total = int((x @ w)[0])
        page.ask(
            translate("Backwards: which number in W, in place of the ?, gives {total}?", total=total)
        )
        a = page.table("x", x)
        b = page.table("W", np.array([[w[0, 0]], ["?"]], dtype=object), FIRST + 5)
        here = address(a.row, FIRST + 8)
        made = f"({cell_of(a)}*{cell_of(b)}+{cell_of(a, 0, 1)}*{here})"
        page.answer(w[1, 0], FIRST + 8, lambda i, j: near(made, str(total)))
        page.done(3)


def matrix_products(page: Page) -> None:
    for n, d, m in ((2, 2, 2), (2, 2, 3), (2, 3, 2), (3, 2, 4)):
        x, w = page.whole(n, d, low=-1, high=3), page.whole(d, m, high=2)
        page.ask(
            translate(
                "X × W: {n} × {d} times {d} × {m} gives {n} × {m}. Row of X times column of W.",
                n=n,
                d=d,
                m=m,
            )
        )
        a, b = page.table("X", x), page.table("W", w, FIRST + 4)
        below = page.row + 1 + d
        here = page.answer(x @ w, FIRST + 5, lambda i, j: near(
            address(below + i, FIRST + 5 + j), products(a, i, b, j)), below)  # fmt: skip
        page.done(here.last_row - page.row + 1)
    x = page.whole(2, 2, low=1)
    page.ask(translate("Backwards: which matrix W leaves X as it is: X × W = X?"))
    a = page.table("X", x)
    w = Place(page.name, page.row + 1, FIRST + 5, 2, 2)
    page.answer(np.eye(2), FIRST + 5, lambda i, j: near(f"({products(a, i, w, j)})", cell_of(a, i, j)))
    page.done(3)


def weighted_means(page: Page) -> None:
    shares = ([0.5, 0.5], [0.25, 0.75], [0.2, 0.3, 0.5], [0.1, 0.2, 0.7])
    for share in shares[:3]:
        values = page.whole(len(share), low=0, high=10)
        page.ask(
            translate(
                "What is the weighted mean? Weight times value, added up. The weights add up to 1."
            )
        )
        a, b = (
            page.table(translate("weight"), share),
            page.table(translate("value"), values, row=page.row + 1),
        )
        here = address(a.row, FIRST + 7)
        page.answer(
            values @ share, FIRST + 7, lambda i, j: near(here, products(a, 0, b, 0, turned=True))
        )
        page.done(3)
    page.ask(
        translate("Backwards: which weights, of 1 together, give the mean 5? There is one answer.")
    )
    b = page.table(translate("value"), [0, 10])
    first, second = address(b.row, FIRST + 7), address(b.row, FIRST + 8)
    mean = f"({first}*{cell_of(b)}+{second}*{cell_of(b, 0, 1)})"
    page.answer([0.5, 0.5], FIRST + 7,
                lambda i, j: f"AND({near(f'({first}+{second})', '1')},{near(mean, '5')})")  # fmt: skip
    page.done(2)
    last, values = page.rng.permutation(shares[3]), page.whole(3, low=1, high=9)
    heads = page.words(3)
    page.ask(translate("Backwards: whose value counts most in the mean? Write the word."))
    a = page.table(translate("weight"), last, heads=heads)
    page.table(translate("value"), values, row=page.row + 2)
    page.answer(heads[int(np.argmax(last))], FIRST + 7, looked_at(a, address(a.row, FIRST + 7)))
    page.done(4)


def looked_at(place: Place, cell: str) -> Condition:
    """The condition that a cell names a column whose number is the largest."""
    heads = Place("", place.row - 1, place.column, 1, place.columns).range
    row = row_of(place)
    return lambda i, j: f"INDEX({row},1,MATCH({cell},{heads},0))=MAX({row})"


def exponentials(page: Page) -> None:
    for n in (2, 3):
        x = page.whole(n, low=0, high=2)
        page.ask(translate("Take e to the power of each number: =EXP(number). Keep three decimals."))
        a = page.table("x", x)
        page.answer(np.exp(x), FIRST + 6, lambda i, j: near(address(a.row, FIRST + 6 + j),
                                                           f"EXP({cell_of(a, 0, j)})"))  # fmt: skip
        page.done(2)
    x = page.whole(3, low=1, high=5)
    page.ask(translate("What share of their sum is each number? Check: the shares add up to 1."))
    a = page.table("x", x)
    page.answer(x / x.sum(), FIRST + 6, lambda i, j: near(
        address(a.row, FIRST + 6 + j), f"{cell_of(a, 0, j)}/SUM({row_of(a)})"))  # fmt: skip
    page.done(2)
    power = int(page.rng.integers(1, 3))
    page.ask(
        translate(
            "Backwards: e to which power is {number}? A whole number.",
            number=figure_in(current_language(), f"{np.exp(power):.3f}"),
        )
    )
    here = address(page.row + 1, FIRST + 6)
    page.answer(power, FIRST + 6, lambda i, j: near(here, str(power)))
    page.done(2)
    page.ask(translate("Backwards: find two numbers above 0 of which the first has a share of 1/4."))
    one, two = address(page.row + 1, FIRST + 6), address(page.row + 1, FIRST + 7)
    made = f"AND(MIN({one}:{two})>0,COUNT({one}:{two})=2,{near(f'({one}/({one}+{two}))', '0.25')})"
    page.answer([1, 3], FIRST + 6, lambda i, j: made)
    page.done(2)


def softmaxes(page: Page) -> None:
    for n in (2, 3, 3):
        x = page.whole(n, low=-1, high=2)
        page.ask(
            translate("The softmax: e to the power of each number, divided by the sum of all of these.")
        )
        a = page.table(translate("score"), x)
        powers = [f"EXP({cell_of(a, 0, k)})" for k in range(n)]
        page.answer(np.exp(x) / np.exp(x).sum(), FIRST + 6, lambda i, j: near(
            address(a.row, FIRST + 6 + j), f"{powers[j]}/({'+'.join(powers)})"))  # fmt: skip
        page.done(2)
    heads = page.words(2)
    page.ask(
        translate("Backwards: here are two attention weights. Which score was larger? Write the word.")
    )
    weights = page.rng.permutation([0.27, 0.73])
    a = page.table(translate("weight"), weights, heads=heads)
    page.answer(heads[int(np.argmax(weights))], FIRST + 6, looked_at(a, address(a.row, FIRST + 6)))
    page.done(3)
    page.ask(
        translate("Backwards: find two scores whose softmax is 0.5 and 0.5. There are many answers.")
    )
    one, two = address(page.row + 1, FIRST + 6), address(page.row + 1, FIRST + 7)
    same = f"AND(COUNT({one}:{two})=2,{near(one, two)})"
    page.answer([1, 1], FIRST + 6, lambda i, j: same)
    page.done(2)


def scaled_scores(page: Page) -> None:
    for n in (4, 4, 1):
        q, k = page.whole(n, low=-1), page.whole(n)
        page.ask(translate("The scaled score: the dot product of q and k, divided by √{n}.", n=n))
        a, b = page.table("q", q), page.table("k", k, row=page.row + 1)
        here = address(a.row, FIRST + 7)
        page.answer(q @ k / np.sqrt(n), FIRST + 7, lambda i, j: near(
            here, f"({products(a, 0, b, 0, turned=True)})/SQRT({a.columns})"))  # fmt: skip
        page.done(3)
    score, d_k = int(page.rng.integers(2, 6)), int(page.rng.choice([4, 9, 16]))
    page.ask(
        translate(
            "Backwards: the scaled score is {score} and d_k is {d_k}. What was the score?",
            score=score,
            d_k=d_k,
        )
    )
    here = address(page.row + 1, FIRST + 7)
    page.answer(score * np.sqrt(d_k), FIRST + 7, lambda i, j: near(f"({here}/SQRT({d_k}))", str(score)))
    page.done(2)
    page.ask(translate("Backwards: a score of 12 became 4. What is d_k?"))
    here = address(page.row + 1, FIRST + 7)
    page.answer(9, FIRST + 7, lambda i, j: near(f"(12/SQRT({here}))", "4"))
    page.done(2)


def one_word(page: Page) -> None:
    words = page.words(3)
    q, k, v = page.whole(2, low=0, high=2), page.whole(3, 2, high=2), page.whole(3, 2, low=0, high=9)
    page.ask(
        translate("A word's query q, and the keys K of three words. Its scores, q times each row of K:")
    )
    a = page.table("q", q)
    keys = page.table("K", k, FIRST + 3)
    at = FIRST + 7
    scores = page.answer(k @ q, at, lambda i, j: near(address(a.row, at + j),
                                                    products(a, 0, keys, j, turned=True)))  # fmt: skip
    page.done(5)
    page.ask(translate("Its attention weights: the softmax of these scores (not scaled here)."))
    powers = [f"EXP({address(scores.row, at + j)})" for j in range(3)]
    exps = np.exp(k @ q)
    here = page.row + 1
    weights = page.answer(exps / exps.sum(), at, lambda i, j: near(
        address(here, at + j), f"{powers[j]}/({'+'.join(powers)})"))  # fmt: skip
    page.done(2)
    page.ask(translate("Its new vector: the weights times the values V of the three words, added up."))
    values = page.table("V", v, FIRST + 2)
    here_v = page.row + 1
    page.answer(exps / exps.sum() @ v, at, lambda i, j: near(
        address(here_v, at + j), f"({products(weights, 0, values, j)})"))  # fmt: skip
    page.done(5)
    share = page.rng.permutation([0.1, 0.3, 0.6])
    page.ask(
        translate("Backwards: these are the weights of another word. Which word did it look at most?")
    )
    row = page.table(translate("weight"), share, heads=words)
    page.answer(words[int(np.argmax(share))], at, looked_at(row, address(row.row, at)))
    page.done(3)
    page.ask(
        translate(
            "Backwards: write three scores so that the second word gets more than 0.9 of the attention."
        )
    )
    line = f"{address(page.row + 1, at)}:{address(page.row + 1, at + 2)}"
    cells = [address(page.row + 1, at + j) for j in range(3)]
    total = "+".join(f"EXP({cell})" for cell in cells)
    enough = f"AND(COUNT({line})=3,EXP({cells[1]})/({total})>0.9)"
    page.answer([0, 5, 0], at, lambda i, j: enough)
    page.done(2)


def attention(page: Page) -> None:
    q, k = page.whole(2, 2, high=2), page.whole(2, 2, high=2)
    v = page.whole(2, 2, low=0, high=9)
    at = FIRST + 7
    page.ask(translate("Attention of two words. The scores: each row of Q times each row of K."))
    a, b = page.table("Q", q), page.table("K", k, FIRST + 3)
    top = page.row + 1
    scores = page.answer(q @ k.T, at, lambda i, j: near(address(top + i, at + j),
                                                      products(a, i, b, j, turned=True)))  # fmt: skip
    page.done(4)
    page.ask(translate("Divided by √d_k; d_k is the number of columns of K, 2."))
    top2 = page.row + 1
    scaled = page.answer(q @ k.T / np.sqrt(2), at, lambda i, j: near(
        address(top2 + i, at + j), f"{cell_of(scores, i, j)}/SQRT(2)"))  # fmt: skip
    page.done(3)
    page.ask(translate("The softmax of each row."))
    top3 = page.row + 1
    powers = np.exp(q @ k.T / np.sqrt(2))
    share = powers / powers.sum(axis=1, keepdims=True)
    total = [f"(EXP({cell_of(scaled, i, 0)})+EXP({cell_of(scaled, i, 1)}))" for i in range(2)]
    weights = page.answer(share, at, lambda i, j: near(
        address(top3 + i, at + j), f"EXP({cell_of(scaled, i, j)})/{total[i]}"))  # fmt: skip
    page.done(3)
    page.ask(translate("The output: row of weights times column of V."))
    values = page.table("V", v)
    top4 = page.row + 1
    page.answer(share @ v, at, lambda i, j: near(address(top4 + i, at + j),
                                                f"({products(weights, i, values, j)})"))  # fmt: skip
    page.done(4)
    page.ask(
        translate("Backwards: find a query of two numbers for which both words get a weight of 0.5.")
    )
    keys = page.table("K", np.array([[1, 0], [0, 1]]))
    one, two = address(keys.row, at), address(keys.row, at + 1)
    gap = [f"({one}*{cell_of(keys, i)}+{two}*{cell_of(keys, i, 1)})" for i in range(2)]
    page.answer([1, 1], at, lambda i, j: f"AND(COUNT({one}:{two})=2,{near(gap[0], gap[1])})")
    page.done(4)


PAGES: tuple[tuple[str, Callable[[Page], None]], ...] = (
    (message("Dot product"), dot_products),
    (message("Row times column"), rows_times_columns),
    (message("Matrix product"), matrix_products),
    (message("Weighted mean"), weighted_means),
    (message("Exponentials and shares"), exponentials),
    (message("Softmax of scores"), softmaxes),
    (message("Scaled scores"), scaled_scores),
    (message("One word's attention"), one_word),
    (message("Attention of two words"), attention),
)


def ramp_pages(
    seed: int = 0, student: str = "", *, solved: bool = False, exam: bool = False
) -> Iterator[Page]:
    """The pages of the ramp.

    Args:
        seed, student: what the numbers are drawn from, in each language the same; each student has
            their own.
        solved: fill in an answer to each problem.
        exam: leave out the marks.
    """
    for name, write in PAGES:
        digest = hashlib.sha256(f"{seed}\0{student}\0{name}".encode()).digest()
        page = Page(
            translate(name), np.random.default_rng(int.from_bytes(digest[:8], "big")), solved, exam
        )
        write(page)
        yield page


def ramp_sheets(
    seed: int = 0, student: str = "", *, solved: bool = False, exam: bool = False
) -> Iterator[Sheet]:
    """The sheets of `ramp_pages`."""
    return (page.sheet() for page in ramp_pages(seed, student, solved=solved, exam=exam))


def ramp_layout(
    seed: int = 0, student: str = "", *, name: str = "", solved: bool = False, exam: bool = False
) -> Layout:
    """The ramp as a workbook of its own, as `ramp_pages`, with a record for grading.

    Args:
        name: the student's name.
    """
    sheets = tuple(ramp_sheets(seed, student, solved=solved, exam=exam))
    title = translate("From a dot product to attention")
    if not solved:
        sheets = (*sheets, _record(seed, student, name, hidden=not exam))
    return Layout(title, {}, sheets, overview=False, protected=not solved)


def _record(seed: int, student: str, name: str, *, hidden: bool) -> Sheet:
    """The sheet from which grading knows whose pages these are; an exam hides nothing."""
    lines: list[tuple[str, float | str]] = [(KIND, RAMP), (SEED, float(seed))]
    if student:
        lines += [(STUDENT, student), (NAME, name)]
    if current_language() != ENGLISH:
        lines.append((LANGUAGE, current_language()))
    cells = [
        Cell(row, column, value, style=style, align="left")
        for row, line in enumerate(lines, 5)
        for column, (value, style) in enumerate(zip(line, ("attn label", "attn text")), 1)
    ]
    note = translate("How this workbook was made. attn-xl grade goes by it.")
    extras = Extras(tuple(cells), widths={1: 30, 2: 30}, hidden=hidden, print_to=NOTHING)
    return Sheet(SETTINGS, SETTINGS, "", SETTINGS, note, (), extras)
