"""The attention that a workbook computes, told by its numbers: which tables are the words, the weights,
the biases, the mask and the heads, whatever they are called."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from itertools import product as every
from typing import Any

import numpy as np

from attn_xl.errors import InputError
from attn_xl.records import record
from attn_xl.spreadsheets.addresses import Place
from attn_xl.spreadsheets.book import Book
from attn_xl.spreadsheets.formulas import References
from attn_xl.text import count, listed

from .computed import (
    AGREES,
    LEAST,
    MOST_PARTS,
    Factor,
    Products,
    Projection,
    Tables,
    Values,
)
from .labels import Table, words_seen
from .names import ACROSS, step_named, weight_label
from .roles import Found, Reading

MOST_TABLES, MOST_UNREAD = 500, 60
"""Tables of a workbook in which attention is looked for, and of one whose formulas cannot be read."""
FEW = 2
"""Words, at most, whose attention weights may agree with other tables by chance."""
HIDES = -1e6
"""What a mask adds to scores to hide words, or less."""
MOST_OTHERS, MOST_TYPED, MOST_ORDERED = 60, 12, 4
"""Tables that may look at each other; typed tables whose products stand in no cells; heads of which
every order is tried."""
_ATTENTION = re.compile(r"\battention\b", re.IGNORECASE)
_POWERS = re.compile(r"EXP|SOFTMAX|\^", re.IGNORECASE)


@record(frozen=True, eq=False)
class HeadFound:
    """One attention.

    Attributes:
        weights: the cells of the attention weights and whether these are transposed; None if none hold
            them.
        output: its numbers; place: their cells.
        settings: those with which attn-xl computes the same; mask: a table that is added to the scores.
        agrees: whether attn-xl computes the same attention weights.
    """

    q: Projection
    k: Projection
    v: Projection
    weights: tuple[Place, bool] | None
    output: Values
    place: Place
    settings: Mapping[str, Any] = field(default_factory=dict)
    mask: Factor | None = None
    agrees: bool = True

    @property
    def places(self) -> list[Place]:
        """The cells of its attention weights and of its output."""
        return [*(self.weights or ())[:1], self.place]


@dataclass(eq=False)
class AttentionFound:
    """The heads that attend from the same words to the same words.

    Attributes:
        words, memory: the words that look, and those looked at if they are others.
        weights: weights and biases by name, each with the reason.
        output: the cells with the result.
        settings: the settings with which attn-xl computes the same.
    """

    words: Factor
    memory: Factor | None
    heads: Sequence[HeadFound]
    output: Place
    why: str = ""
    weights: dict[str, tuple[Factor, str]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass
class Computed:
    """What the numbers of a book say.

    Attributes:
        attentions: each attention computed from words that are not the result of another.
        later: the number of attentions that read the results of others.
        products: the products of the book's tables; None if it has no formulas.
    """

    attentions: list[AttentionFound] = field(default_factory=list)
    later: int = 0
    products: Products | None = None


def read_attention(
    book: Book, tables: Tables, only: Collection[str], asked: Sequence[Place], plain: Mapping[str, str]
) -> Reading:
    """What the numbers that a book computes say of its tables; a book is searched once.

    Args:
        tables: the tables of each sheet, by its name in the file; plain: their names without control
            characters.
        only: the requested sheets; asked: the requested words.
    """
    if "computed" not in book.kept:
        book.kept["computed"] = _read(book, tables)
    said: Computed = book.kept["computed"]
    attentions = _to_compute(said, only, asked, book.hidden)
    made = Reading(trouble=_conflict(book, attentions, plain))
    if said.products:
        made.multiplied, made.results = said.products.multiplied, said.products.results
        made.reads = said.products.references.refers_to if said.products.references else made.reads
    if not attentions:
        return made
    made.roles = _by_sheet(book, said, attentions, plain)
    first = max(attentions, key=lambda one: len(one.words.values) > 1)
    if made.trouble is None:
        memory = {"memory": _memory_name(first, made.roles)} if first.memory is not None else {}
        made.settings, made.instead = {**first.settings, **memory}, _ranges_of_weights(first)
        made.joined = len(first.heads) > 1 and "W_O" not in first.weights
        made.unfinished = any(h.weights and h.weights[0] == h.place for h in first.heads)
    return made


def _read(book: Book, tables: Tables) -> Computed:
    written = book.written
    if not 1 < sum(map(len, tables.values())) <= (MOST_TABLES if written else MOST_UNREAD):
        return Computed()
    references = References(written) if written else None
    has_powers = written is None or any(
        _POWERS.search(one.text) for cells in written.sheets.values() for one in cells.values()
    )
    products = Products(book, tables, references)
    found = _Search(products).attentions() if has_powers else []
    if not found and has_powers:
        rounded = Products(book, tables, references, rounded=True)
        found = _Search(rounded).attentions() if rounded.numbers.unit else []
        products = rounded if found else products
    found = found or list(_given(products))
    found.sort(key=lambda one: products.numbers.order(one.output))
    first = [
        _with_positions(one, products) for one in found if not _follows(products.references, one, found)
    ]
    return Computed(first, len(found) - len(first), products)


def _with_positions(one: AttentionFound, products: Products) -> AttentionFound:
    """An attention; if its words are typed ones plus positions, sinusoidal or typed, then of those."""
    wanted = one.words.values
    if not one.words.found.computed or one.memory is not None:
        return one
    typed = [x for x in products.factors if x.values.shape == wanted.shape and not x.found.computed]
    for x, p in every(typed, (None, *typed)):
        if np.allclose(wanted, x.values + (_waves(*wanted.shape) if p is None else p.values)):
            kind = "sinusoidal" if p is None else "learned"
            if p is not None:
                one.weights["W_P"] = p, f"{one.words.place.where} is its sum with {x.place.where}"
            return replace(one, words=x, settings={**one.settings, "positions": kind})
    return one


def _waves(n: int, d: int) -> Values:
    """Sinusoidal positions (n, d)."""
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(d) // 2 * 2 / d)
    return np.where(np.arange(d) % 2, np.cos(angles), np.sin(angles))


def _follows(
    references: References | None, one: AttentionFound, others: Sequence[AttentionFound]
) -> bool:
    """Whether the words of an attention are computed from the results of one."""
    words = one.words.place
    sources = [words, *(references.sources(words) if references else ())]
    return any(source.overlaps(other.output) for source in sources for other in others)


Hold = Callable[
    [Projection, Projection, Sequence[Projection], Values, Sequence[Place]], "HeadFound | None"
]
"""The head with these queries, keys, possible values and attention weights, whose output is not in some
cells; None if no cells hold it."""


class _Search:
    """Looks for attention among the products of a workbook."""

    def __init__(self, products: Products) -> None:
        self._products, self._numbers = products, products.numbers
        words = [x for x in products.of if not _is_step(x)]
        self._of = {x: products.of[x] for x in words}
        self._parts = {x: products.parts[x] for x in words}
        self._taken: list[Place] = []

    def attentions(self) -> list[AttentionFound]:
        """Every attention; what is less certain is looked for only if nothing else is found."""
        of, parts = self._of, self._parts
        heads = [self._heads(own, own, self._in_cells) for own in of.values()]
        if not any(heads):
            heads = [self._heads(own, own, self._in_cells) for own in parts.values()]
        certain = any(heads)
        for q, k in self._others(certain):
            both = [[one for one in of[x] if one.weights or not certain] for x in (q, k)]
            heads.append(self._heads(both[0], both[1], self._in_cells, certain))
        for lists in (of, parts) if not any(heads) else ():
            heads += [self._typed(own) for own in lists.values()]
        for hold in (self._alone, self._in_one_formula, self._in_rows) if not any(heads) else ():
            heads += [self._heads(own, own, hold, True) for own in of.values()]
            for q, k in self._others(False) if not any(heads) else ():
                heads.append(self._heads(of[q], of[k], hold, True))
            if not any(heads):
                heads += [self._heads(own, own, hold, True) for own in parts.values()]
        for own in self._in_no_cells() if not any(heads) else ():
            heads.append(self._heads(own, own, self._in_one_formula))
        used = [p for own in heads for head in own for p in (head.q, head.k, head.v)]
        known = {id(one.found) for p in used for one in (p.words, p.weights) if one}
        return self._apart([self._joined(own, known) for own in heads if own])

    def _apart(self, found: Sequence[AttentionFound]) -> list[AttentionFound]:
        """The attentions without those that fit the numbers by chance: their words are weights or steps
        of another one that has typed words, more heads or more numbers, or their weights its words."""
        kept: list[AttentionFound] = []
        words, weights, steps = set[int](), set[int](), list[Place]()
        inputs = [x for x in self._products.factors if x.found.input_title and not x.found.computed]
        told = (one for one in found if not (_misnamed(one, inputs) or self._lacks_heads(one)))
        for one in sorted(told, key=_chance):
            ends = [end for end in (one.words, one.memory) if end]
            own = {id(w.found) for w, _ in one.weights.values()}
            computed, sheet = one.words.found.computed, one.words.sheet
            beside = any(k.words.sheet == sheet and not k.words.found.computed for k in kept)
            if own & words or any(id(end.found) in weights for end in ends):
                continue
            if any(end.place.overlaps(step) for end in ends for step in steps):
                continue
            if computed and beside and not _follows(self._products.references, one, kept):
                continue
            kept.append(one)
            words |= {id(end.found) for end in ends}
            weights |= own
            projected = [p for head in one.heads for p in (head.q, head.k, head.v) if p.weights]
            steps += [p.place for p in projected if p.place]
            steps += [h.weights[0] for h in one.heads if h.weights]
        return kept

    def _lacks_heads(self, one: AttentionFound) -> bool:
        """Whether titles of typed weights tell other heads than the numbers, which may fit by chance;
        what only the numbers tell is kept."""
        labels = {_title(x.found) for x in self._products.factors if not x.found.computed}
        heads = [{name[4:] for name in labels if name.startswith(f"W_{letter}_")} for letter in "QKV"]
        plain = one.settings.keys() <= {"heads"} and "Mask" not in one.weights
        return plain and heads[0] == heads[1] == heads[2] and 1 < len(heads[0]) != len(one.heads)

    def _others(self, certain: bool) -> Iterator[tuple[Factor, Factor]]:
        """Words and those of others that they may look at: if it is `certain` that some look at
        themselves, those whose products one formula reads."""
        of, references = self._of, self._products.references
        if not certain and len(of) <= MOST_OTHERS:
            yield from permutations(of, 2)
            return
        read = [p for own in of.values() for p in own if p.place and p.weights and len(p.values) > 1]
        pairs = references.together([p.place for p in read if p.place]) if references else ()
        words = dict.fromkeys((read[q].words, read[k].words) for q, k in sorted(pairs))
        yield from ((q, k) for q, k in words if q.found is not k.found)

    def _heads(
        self,
        queries: Sequence[Projection],
        keys: Sequence[Projection],
        hold: Hold,
        certain: bool = False,
    ) -> list[HeadFound]:
        """The heads whose attention weights are a softmax of scores; `certain` leaves out those of
        zeros and ones, which stand everywhere."""
        best: list[HeadFound] = []
        for scale, mask, causal in self._settings(queries, keys):
            heads: list[HeadFound] = []
            for q, k in _pairs(queries, keys):
                if any(q in (head.q, head.k) or k is head.q for head in heads):
                    continue
                if len(q.values) <= FEW and not (_may_be(q, "W_Q") and _may_be(k, "W_K")):
                    continue
                a = _looks(q, k, scale, mask, causal)
                if certain and _of_zeros_and_ones(a):
                    continue
                if head := hold(q, k, keys, a, [place for head in heads for place in head.places]):
                    told = ({} if scale else {"scale": False}) | ({"causal": True} if causal else {})
                    heads.append(replace(head, settings=told, mask=mask))
            best = heads if len(heads) > len(best) else best
        self._taken += [head.place for head in best]
        return best

    def _in_cells(
        self, q: Projection, k: Projection, keys: Sequence[Projection], a: Values, but: Sequence[Place]
    ) -> HeadFound | None:
        at = self._numbers.find(a, [*_read_by(q, k), *but], q.words.sheet)
        return at and self._output(q, k, keys, self._numbers.at(*at), but, at)

    def _alone(
        self, q: Projection, k: Projection, keys: Sequence[Projection], a: Values, but: Sequence[Place]
    ) -> HeadFound | None:
        """A head of words that look at themselves whose attention weights multiply nothing: its values
        are the third product of the words, if there is one. A softmax stands along the words."""
        at = self._numbers.find(a, [*_read_by(q, k), *but], q.words.sheet)
        if at is None or at[1] != q.words.turned or q.words is not k.words:
            return None
        others = [v for v in keys if v.weights and v is not q and v is not k]
        return HeadFound(q, k, others[0] if len(others) == 1 else keys[-1], at, a, at[0])

    def _in_one_formula(
        self, q: Projection, k: Projection, keys: Sequence[Projection], a: Values, but: Sequence[Place]
    ) -> HeadFound | None:
        """A head of which only the output stands in cells."""
        enough = len(keys) > 2 or not self._products.results
        return self._output(q, k, keys, a, but) if enough and len(keys) <= MOST_PARTS else None

    def _in_rows(
        self, q: Projection, k: Projection, keys: Sequence[Projection], a: Values, but: Sequence[Place]
    ) -> HeadFound | None:
        """The head that is computed for some of the words only."""
        for i in range(len(a)) if a.shape[1] > 2 and not but else ():
            if _of_zeros_and_ones(a[i]) or np.ptp(a[i]) < AGREES:
                continue  # equal scores have these weights, whatever they are computed from
            if self._numbers.find(a[i : i + 1], _read_by(q, k)) is None:
                continue
            for v in _values(q, k, keys):
                output = a @ v.values
                if at := self._numbers.find(output[i : i + 1], _read_by(q, k, v)):
                    return HeadFound(q, k, v, None, output, at[0])
        return None

    def _output(
        self,
        q: Projection,
        k: Projection,
        keys: Sequence[Projection],
        a: Values,
        but: Sequence[Place],
        at: tuple[Place, bool] | None = None,
    ) -> HeadFound | None:
        """A head with the values that its attention weights multiply."""
        for v in _values(q, k, keys):
            output = a @ v.values
            taken = [*_read_by(q, k, v), *(at or ())[:1], *but, *self._taken]
            if there := self._numbers.find(output, taken, q.words.sheet):
                return HeadFound(q, k, v, at, output, there[0])
        return None

    def _typed(self, own: Sequence[Projection]) -> list[HeadFound]:
        """The heads whose attention weights attn-xl computes with another divisor, or not at all:
        tables that multiply values."""
        heads: list[HeadFound] = []
        for a in self._products.factors if len(own) > 2 else ():
            n, values = len(own[0].values), a.values
            if values.shape != (n, n) or not a.found.computed or n < 2 or values.min() < 0:
                continue
            used = [one for head in heads for one in (head.q, head.k)]
            pairs = [p for p in _pairs(own, own) if p[0] not in used and p[1] not in used]
            if not pairs or abs(values.sum(axis=1) - 1).max() > 0.5:
                continue
            told = ((q, k, one) for q, k in pairs if (one := _settled(q, k, values)))
            q, k, settings = next(told, (*pairs[0], None))
            places = [head.place for head in heads]
            if head := self._output(q, k, own, values, places, (a.place, a.turned)):
                heads.append(replace(head, settings=settings or {}, agrees=settings is not None))
        self._taken += [head.place for head in heads]
        return heads

    def _in_no_cells(self) -> Iterator[list[Projection]]:
        """The products of typed tables, whether they stand in cells or not."""
        typed = [x for x in self._products.factors if not x.found.computed and min(x.values.shape) > 1]
        for x in typed if len(typed) <= MOST_TYPED else ():
            yield [
                Projection(x.values @ w.values, x, w)
                for w in typed
                if w.found is not x.found and len(w.values) == x.values.shape[1]
            ]

    def _settings(
        self, queries: Sequence[Projection], keys: Sequence[Projection]
    ) -> Iterator[tuple[bool, Factor | None, bool]]:
        """Whether scores are scaled, their mask, and whether later words are hidden: what may be."""
        if not queries or not keys:
            return
        shape = len(queries[0].values), len(keys[0].values)
        own = id(queries[0].words.found), id(keys[0].words.found)
        masks = [
            mask
            for each in {shape, (1, shape[1])}  # or a row for all
            for mask in self._products.masks.get(each, ())
            if id(mask.found) not in own and not (each == shape and _hides_later(mask.values))
        ]
        orders = (False, True) if shape[0] == shape[1] else (False,)
        for mask, scale, causal in every((None, *masks), (True, False), orders):
            yield scale, mask, causal

    def _joined(self, heads: Sequence[HeadFound], known: Collection[int]) -> AttentionFound:
        """The attention of some heads, with W_O if the workbook holds the product with it; `known` are
        the tables that are something else."""
        given = [head.q.weights for head in heads if head.q.weights]
        apart = len({one.place for one in given}) == len(heads)
        heads = sorted(heads, key=lambda head: self._numbers.order(
            head.q.weights.place if apart and head.q.weights else head.place))  # fmt: skip
        mixed = self._mixed(heads, known)
        if mixed:
            heads = mixed[0]
        first = heads[0]
        same = first.q.words is first.k.words
        made = AttentionFound(
            first.q.words, None if same else first.k.words, heads, mixed[3] if mixed else first.place
        )
        for number, head in enumerate(heads, 1):
            tail = f"_{number}" if len(heads) > 1 else ""
            for letter, one in (("Q", head.q), ("K", head.k), ("V", head.v)):
                where = f"{one.where} holds" if one.where else f"{head.place.where} is computed from"
                if one.weights is not None:
                    why = f"{where} its product with {one.words.place.where}"
                    made.weights[f"W_{letter}{tail}"] = one.weights, why
                if one.bias is not None:
                    made.weights[f"b_{letter}{tail}"] = one.bias, f"{one.where} holds a product plus it"
        if mixed:
            _, w, bias, place = mixed
            why = f"{place.where} holds its product with the heads' outputs"
            made.weights["W_O"] = w, why
            if bias is not None:
                made.weights["b_O"] = bias, f"{place.where} holds a product plus it"
        made.why = "its words are compared with each other"
        if first.q.weights:
            made.why = f"{first.place.where} is computed from its products with weights"
        for one in (first.v, first.k, first.q):
            if one.where and one.weights:
                made.why = f"{one.where} holds its product with {one.weights.place.where}"
        made.settings = {**first.settings, **({"heads": len(heads)} if len(heads) > 1 else {})}
        if first.mask is not None:
            made.weights["Mask"] = first.mask, "it hides scores"
        return made

    def _mixed(
        self, heads: Sequence[HeadFound], known: Collection[int]
    ) -> tuple[Sequence[HeadFound], Factor, Factor | None, Place] | None:
        """W_O and its bias, the heads in the order in which it takes them, and the result. The output
        of one head has the width of the words again: another product may lead to classes."""
        width = heads[0].q.words.values.shape[1]
        high = sum(head.output.shape[1] for head in heads)
        orders = permutations(heads) if len(heads) <= MOST_ORDERED else (heads,)
        for order in orders:
            outputs = np.hstack([head.output for head in order])
            for w in self._products.factors:
                if w.values.shape[0] != high or id(w.found) in known or w.found.computed:
                    continue
                if len(heads) == 1 and w.values.shape[1] != width:
                    continue
                mixed = outputs @ w.values
                biases = [b for b in self._products.factors if b.values.shape == (1, w.values.shape[1])]
                for bias in (None, *biases):
                    wanted = mixed if bias is None else mixed + bias.values
                    if at := self._numbers.find(wanted, [head.place for head in heads]):
                        return order, w, bias, at[0]
        return None


def _given(products: Products) -> Iterator[AttentionFound]:
    """The attention whose weights are typed below a label that says so, and multiply words or the
    product of words with weights."""
    for a in products.factors:
        square = a.values.shape[0] == a.values.shape[1] > 1
        if not square or a.found.computed or not any(_ATTENTION.search(t) for t, _ in a.found.names):
            continue
        for v in (v for own in products.of.values() for v in own):
            if len(v.values) != len(a.values) or v.words.found is a.found:
                continue
            at = products.numbers.find(a.values @ v.values)
            if at is None or at[1] != a.turned:
                continue
            why = f"{at[0].where} holds its product with {a.place.where}"
            one = AttentionFound(v.words, None, [], at[0], why, settings={"attention": "A"})
            if v.weights is not None:
                one.weights["W_V"] = v.weights, f"{v.where} holds its product with the words"
            if v.bias is not None:
                one.weights["b_V"] = v.bias, f"{v.where} holds a product plus it"
            one.weights["A"] = a, f"{at[0].where} holds its product with {v.where or 'the words'}"
            yield one
            return


def _may_be(one: Projection, name: str) -> bool:
    """Whether neither a label nor its sheet says that the weights of a projection are others."""
    if one.weights is None:
        return True
    texts = [text for text, _ in one.weights.found.names[:1]] or [one.weights.sheet]
    labels = (weight_label(text) or name for text in texts)
    return all(label.rpartition(".")[2].startswith(name) for label in labels)


def _is_step(one: Factor) -> bool:
    """Whether the title of a computed table names scores or attention weights, which are no words; of
    few words, also queries, keys or values, computed or not."""
    titles = (step_named(text) for text, _ in one.found.names[:1])
    known: tuple[str, ...] = ("Q", "K", "V") if 1 < len(one.values) <= FEW else ()
    known += ACROSS if one.found.computed else ()
    return any(t and t[0].partition("_")[0] in known for t in titles)


def _misnamed(one: AttentionFound, inputs: Sequence[Factor]) -> bool:
    """Whether titles say the contrary: that its words or some weights are others, and some weights the
    input, or some words weights beside typed inputs."""
    words = [end for end in (one.words, one.memory) if end]
    given = [*(("", end) for end in words), *((name, w) for name, (w, _) in one.weights.items())]
    titles = [(name, text) for name, factor in given for text, _ in factor.found.names[:1]]
    others = [name for name, text in titles if (own := weight_label(text)) and not name.startswith(own)]
    unread = {id(x.found) for x in inputs} - {id(end.found) for end in words}
    is_input = any(factor.found.input_title for name, factor in given if name)
    return bool(others) and (is_input or ("" in others and bool(unread)))


def _chance(one: AttentionFound) -> tuple[bool, int, int]:
    """The rank of an attention among those that may fit the numbers by chance."""
    return bool(one.words.found.computed), -len(one.heads), -one.output.rows * one.output.columns


def _read_by(*projections: Projection) -> list[Place]:
    """The cells of products and of their factors, which hold no results."""
    places = [(one.place, one.words.place, one.weights and one.weights.place) for one in projections]
    return [place for some in places for place in some if place]


def _pairs(
    queries: Sequence[Projection], keys: Sequence[Projection]
) -> list[tuple[Projection, Projection]]:
    """The queries and keys of one width, those with different weights first; of these, those whose
    titles call them so, and of one head."""
    pairs = [(q, k) for q in queries for k in keys if q.values.shape[1] == k.values.shape[1]]

    def rank(pair: tuple[Projection, Projection]) -> tuple[bool, bool, bool]:
        q, k = pair
        return q is k, not (_may_be(q, "W_Q") and _may_be(k, "W_K")), _head_of(q) != _head_of(k)

    return sorted(pairs, key=rank)


def _values(q: Projection, k: Projection, keys: Sequence[Projection]) -> list[Projection]:
    """What attention weights may multiply, that of the same head first, queries and keys last."""
    return sorted(keys, key=lambda v: (v is q or v is k, _head_of(v) != _head_of(q)))


def _head_of(one: Projection) -> str:
    """The number of the head in the title of its weights; "" if there is none."""
    return _title(one.weights.found).partition("_")[2].partition("_")[2] if one.weights else ""


def _title(found: Found) -> str:
    """The weights that the title of a table names, or ""."""
    return (weight_label(found.names[0][0]) if found.names else None) or ""


def _of_zeros_and_ones(a: Values) -> bool:
    return bool(((a < AGREES) | (a > 1 - AGREES)).all())


def _hides_later(mask: Values) -> bool:
    """Whether a mask hides the words after each word, as `causal` does."""
    hidden, seen = np.triu(np.ones(mask.shape), 1) > 0, words_seen(mask)
    if seen is not None:
        return np.array_equal(seen, ~hidden)
    return bool((mask[~hidden] == 0).all() and (mask[hidden] <= HIDES).all())


def _looks(q: Projection, k: Projection, scale: bool, mask: Factor | None, causal: bool) -> Values:
    """The attention weights of queries and keys."""
    scores = q.values @ k.values.T / (np.sqrt(q.values.shape[1]) if scale else 1.0)
    if mask is not None and (seen := words_seen(mask.values)) is not None:
        scores = np.where(seen, scores, -np.inf)
    elif mask is not None:
        scores = scores + mask.values
    return _softmax(scores, causal)


def _settled(q: Projection, k: Projection, stored: Values) -> dict[str, Any] | None:
    """The settings with another divisor that lead to attention weights; None if there are none."""
    scores = q.values @ k.values.T
    divisor = _divisor(scores, stored)
    for causal in (False, True) if divisor else ():
        if np.allclose(_softmax(scores / divisor, causal), stored, rtol=1e-4, atol=1e-6):
            return {"scale": False, "temperature": divisor, **({"causal": True} if causal else {})}
    return None


def _softmax(scores: Values, causal: bool) -> Values:
    """The softmax of each row; `causal` hides later words."""
    if causal:
        scores = np.where(np.triu(np.ones(scores.shape), 1) > 0, -np.inf, scores)
    with np.errstate(all="ignore"):
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _divisor(scores: Values, stored: Values) -> float:
    """The number that divides scores (n, m) whose softmax is stored; 0 if they do not tell: in a row,
    logarithms of attention weights differ as the scaled scores do."""
    above = below = 0.0
    for s, a in zip(scores, stored):
        seen = a > LEAST
        if seen.sum() > 1:
            s, a = s[seen] - s[seen].mean(), np.log(a[seen])
            above, below = above + float(s @ s), below + float(s @ (a - a.mean()))
    return float(f"{above / below:.10g}") if below > 0 else 0.0


# What the attentions are computed from


def _to_compute(
    said: Computed, only: Collection[str], asked: Sequence[Place], hidden: Collection[str]
) -> list[AttentionFound]:
    """The attentions to compute: those of the requested sheets, or those whose words were requested."""
    there = said.attentions
    if asked:
        return [one for one in there if any(map(one.words.place.overlaps, asked))]
    if only:
        return [one for one in there if one.words.sheet in only]
    return [one for one in there if one.words.sheet not in hidden]


def _conflict(
    book: Book, found: Sequence[AttentionFound], plain: Mapping[str, str]
) -> InputError | None:
    """The error for attentions that cannot be computed together; None if they can."""
    weights = {tuple((name, w.place) for name, (w, _) in one.weights.items()) for one in found}
    several = [one for one in found if len(one.words.values) > 1]  # a single word is never hidden
    settings = {tuple(sorted(one.settings.items())) for one in several}
    if max(len(weights), len(settings)) < 2:
        return None
    words = [one.words.place for one in found]
    sheets = [plain[place.sheet] for place in words]
    alone = len(set(sheets)) == len(sheets)
    shown = listed([*(place.where for place in words)])
    first = f"--sheet {shlex.quote(sheets[0])}" if alone else f'--range "{words[0].where}"'
    return InputError(
        f"{book.path}: the formulas compute {len(found)} attentions with different "
        f"{'weights' if len(weights) > 1 else 'settings'}, of the words in {shown}. Choose one with "
        f"{first}."
    )


def _by_sheet(
    book: Book, said: Computed, attentions: Sequence[AttentionFound], plain: Mapping[str, str]
) -> dict[str, list[Found]]:
    """The tables that the attentions are computed from, by sheet."""
    made: dict[tuple[str, Place], Found] = {}
    sheets = [one.words.sheet for one in attentions]
    for one in attentions:
        for words, name in ((one.words, ""), (one.memory, "memory")):
            if words is None or (name, words.place) in made:
                continue
            own = plain[words.sheet]
            if words is one.words:
                name = "" if sheets.count(words.sheet) == 1 else f"{own} {_first(words.place)}"
            else:
                name = own if one.words.sheet != words.sheet else f"{own} memory"
            notes = (*_check(said, one), *_further(said)) if words is one.words else ()
            f = words.as_found(one.why, use="sentence", name=name)
            why = f"its {f.words_in} are multiplied by weights, or compared"
            f = replace(f, why_words=why, notes=(*f.notes, *notes), table=_labelled(said, words))
            made["memory" if words is one.memory else "", words.place] = f
        for name, (weights, why) in one.weights.items():
            made.setdefault((name, weights.place), weights.as_found(why, use="weights", name=name))
    found: dict[str, list[Found]] = {}
    for (_, place), f in made.items():
        found.setdefault(place.sheet, []).append(f)
    return found


def _first(place: Place) -> str:
    return place.range.partition(":")[0]


def _labelled(said: Computed, words: Factor) -> Table:
    """A table of words with the labels beside it, or else those of the embeddings that it is computed
    from, where positions are added."""
    table = words.table
    references = said.products.references if said.products else None
    bare = references is not None and not all(table.labelled)
    sources = [*references.sources(words.place)] if references and bare else []
    for sheet, f in said.products.tables if said.products else ():
        cells, other = f.cells(sheet), f.table
        if other is None or other.shape != table.shape or not any(map(cells.overlaps, sources)):
            continue
        rows, columns = (
            theirs if there and not mine else own
            for own, theirs, mine, there in zip(
                (table.rows, table.columns), (other.rows, other.columns), table.labelled, other.labelled
            )
        )
        both = [mine or there for mine, there in zip(table.labelled, other.labelled)]
        table = replace(table, rows=rows, columns=columns, labelled=(both[0], both[1]))
    return table


def _memory_name(one: AttentionFound, found: Mapping[str, Sequence[Found]]) -> str:
    """The name of the sentence that the words of an attention look at."""
    assert one.memory is not None
    cells = one.memory.place.range
    there = found[one.memory.sheet]
    return next(f.name for f in there if f.use == "sentence" and f.cells("").range == cells)


def _further(said: Computed) -> Iterator[str]:
    if said.later:
        yield (
            f"{count(said.later, 'more attention')} in the formulas, of the results of the first, "
            f"{'is' if said.later == 1 else 'are'} not read"
        )


def _check(said: Computed, one: AttentionFound) -> tuple[str, ...]:
    if not one.heads or one.heads[0].weights is None:
        return ()
    where = one.heads[0].weights[0].where
    if not all(head.agrees for head in one.heads):
        given = "".join(f'--range "{name}" ' for name in _ranges_of_weights(one))
        use = f"; {given}--attention A uses them as they are" if given else ""
        return (
            f"the attention weights in {where} are not those of these tables: the formulas do "
            f"something else between the scores and the weights{use}",
        )
    divisor = one.settings.get("temperature")
    unscaled = "the scores are not divided by the square root of d_k (--scale divides them)"
    if divisor:
        unscaled = f"the scores are divided by {divisor:.6g} in place of the square root of d_k"
    rounded = ", which are rounded" if said.products and said.products.numbers.unit else ""
    added = "positions are added to the words (--positions none leaves them out)"
    extra = (
        ("positions", added),
        ("scale", unscaled),
        ("causal", "later words are hidden (--no-causal shows them)"),
    )
    return (
        f"the attention weights of attn-xl equal those in {where}{rounded}",
        *(text for name, text in extra if name in one.settings),
    )


def _ranges_of_weights(one: AttentionFound) -> list[str]:
    """The attention weights of each head, `A_1=Sheet1!F14:H16`, if attn-xl does not compute them from
    the other tables and they can be given in place of a softmax; otherwise none."""
    if all(head.agrees for head in one.heads):
        return []
    places = [h.weights[0] for h in one.heads if h.weights and h.weights[1] == one.words.turned]
    if len(places) < len(one.heads):
        return []
    several = len(places) > 1
    return [f"A_{n}={p.where}" if several else f"A={p.where}" for n, p in enumerate(places, 1)]
