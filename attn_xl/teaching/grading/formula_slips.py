"""Slips inside a step that is computed at once, such as `tanh(Input × W + Hidden[t−1] × U + b)` or a
gradient: one part of its formula left out, turned, or taken from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from attn_xl.graph.node import Node, Numbers
from attn_xl.graph.operation import operation_of, view_of
from attn_xl.graph.operations.catalogue import ADD, DIVIDE, MULTIPLY, SUBTRACT
from attn_xl.graph.operations.elementwise import Sigmoid, Tanh
from attn_xl.graph.operations.selection import Previous
from attn_xl.languages import translate

Changes = dict[Node, Numbers]


def formula_slips(node: Node, numbers: Mapping[Node, Numbers]) -> Iterator[tuple[str, Numbers]]:
    """What a matrix becomes if one part of its formula is done wrongly.

    The formula is that of the node and of all nodes without a name that lead to it; with a single
    operation, only the slips in which matrices it takes are turned or exchanged.

    Args:
        node: a computed matrix (n, m).
        numbers: the student's numbers of every matrix.

    Returns:
        Pairs of a phrase and the whole matrix (n, m).
    """
    for phrase, changes in _changes(node, numbers):
        with np.errstate(all="ignore"):
            try:
                made = _value(node, numbers, changes)
            except ValueError:  # shapes that do not fit after all
                continue
        if made.shape == node.shape:
            yield phrase, made


def _inside(node: Node) -> list[Node]:
    """A node and the nodes without a name that lead to it."""
    found, waiting = [], [node]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        found.append(one)
        if not isinstance(one.operation, Previous):
            waiting += [parent for parent in one.parents if parent.operation and not parent.name]
    return found


def _value(node: Node, numbers: Mapping[Node, Numbers], changes: Changes) -> Numbers:
    inside = {*_inside(node)}

    def value(one: Node) -> Numbers:
        if one in changes:
            return changes[one]
        if one not in inside or isinstance(one.operation, Previous):
            return numbers[one]
        return np.asarray(operation_of(one).numbers(*map(value, one.parents)))

    return value(node)


def _changes(node: Node, numbers: Mapping[Node, Numbers]) -> Iterator[tuple[str, Changes]]:
    for one in _inside(node):
        yield from _left_out(one, numbers, outermost=one is node)
        yield from _functions(one, numbers)
        yield from _turned(one, numbers)
        if isinstance(one.operation, Previous):
            state, start = one.parents[0], one.parents[-1]
            slip = translate(
                "using the same row of {state} instead of the row before", state=state.name
            )
            yield slip, {one: numbers[state]}
            if numbers[start].any():  # zeros are the same as leaving it out
                slip = translate("using the start of {state} in every row", state=state.name)
                yield slip, {one: np.broadcast_to(numbers[start][:1], one.shape)}
    yield from _weights(node, numbers)


def _left_out(
    one: Node, numbers: Mapping[Node, Numbers], *, outermost: bool
) -> Iterator[tuple[str, Changes]]:
    if one.operation not in (ADD, SUBTRACT, MULTIPLY, DIVIDE):
        return
    first, second = one.parents
    if one.operation in (ADD, MULTIPLY):
        yield _leaving_out(first), {one: np.broadcast_to(numbers[second], one.shape)}
    if outermost:
        return  # the second one alone is a slip of the operation
    alone = {one: np.broadcast_to(numbers[first], one.shape)}
    if one.operation is DIVIDE:
        yield translate("not dividing by {number}", number=_named(second)), alone
    else:
        yield _leaving_out(second), alone
    if one.operation in (ADD, SUBTRACT):
        sign = 1.0 if one.operation is SUBTRACT else -1.0
        slip = translate("wrong sign of {term}", term=_named(second))
        yield slip, {one: numbers[first] + sign * numbers[second]}


def _leaving_out(term: Node) -> str:
    return translate("leaving out {term}", term=_named(term))


def _named(node: Node) -> str:
    """A matrix by its name, a helper by what it is."""
    return translate(node.words) if node.helper or not node.name else node.name


def _functions(one: Node, numbers: Mapping[Node, Numbers]) -> Iterator[tuple[str, Changes]]:
    if not isinstance(one.operation, (Tanh, Sigmoid)):
        return
    inside = numbers[one.parents[0]]
    if isinstance(one.operation, Tanh):
        yield translate("using the sigmoid instead of tanh"), {one: 1 / (1 + np.exp(-inside))}
        yield translate("leaving out tanh"), {one: inside}
    else:
        yield translate("using tanh instead of the sigmoid"), {one: np.tanh(inside)}
        yield translate("leaving out the sigmoid"), {one: inside}


def _turned(one: Node, numbers: Mapping[Node, Numbers]) -> Iterator[tuple[str, Changes]]:
    """Products with the transpose of the first matrix, and with it where it is to be transposed."""
    if not operation_of(one).is_product:
        return
    left, right = one.parents
    if left.shape[0] != left.shape[1] or left.role == "attention":
        return  # of attention, see `known_slips`
    view = view_of(left)
    made = {one: numbers[left].T @ numbers[right]}
    if view is not None and view.turned:
        yield translate("forgetting to transpose {matrix}", matrix=left.parents[0].name), made
    else:
        yield translate("using the transpose of {matrix}", matrix=_named(left)), made


def _weights(node: Node, numbers: Mapping[Node, Numbers]) -> Iterator[tuple[str, Changes]]:
    """Weights in the formula that are taken for each other, or for others of their shape."""
    inside = [one for one in _inside(node) if operation_of(one).is_product]
    if inside == [node]:
        return  # a single product: see `known_slips`
    used = {one: one.parents[1] for one in inside if one.parents[1].role == "weight"}
    others = [one for one in numbers if one.role == "weight" and one.name and one.operation is None]
    for one, meant in used.items():
        left = numbers[one.parents[0]]
        for other in others:
            if other is meant or other.shape != meant.shape or _equal(numbers, other, meant):
                continue
            changes = {one: left @ numbers[other]}
            twin = next((each for each, weight in used.items() if weight is other), None)
            if twin is None:
                slip = translate("using {other} instead of {meant}", other=other.name, meant=meant.name)
                yield slip, changes
            elif twin.order > one.order:
                changes[twin] = numbers[twin.parents[0]] @ numbers[meant]
                slip = translate("exchanging {first} and {second}", first=meant.name, second=other.name)
                yield slip, changes


def _equal(numbers: Mapping[Node, Numbers], one: Node, other: Node) -> bool:
    return np.array_equal(numbers[one], numbers[other])
