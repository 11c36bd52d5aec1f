"""Records, of which drawing a workbook makes a hundred thousand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

__all__ = ["changed", "record"]

Record = TypeVar("Record")

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen: bool, eq: bool = True, **options: bool) -> Callable[[type], type]:
        """A frozen `dataclass` that is made in a third of the time: type checkers take it for frozen,
        and nothing looks when the program runs."""
        return dataclass(eq=eq, unsafe_hash=frozen and eq, **options)


def changed(record: Record, **fields: object) -> Record:
    """A copy of a record with other fields: `dataclasses.replace` at many times its speed, for records
    without `__post_init__`."""
    values = record.__dict__.copy()
    values.update(fields)
    copy = object.__new__(type(record))
    copy.__dict__ = values
    return copy
