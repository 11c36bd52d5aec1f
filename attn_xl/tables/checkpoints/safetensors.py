"""Reads tensors from .safetensors files, also in several shards, without loading the files.

The format (github.com/huggingface/safetensors): the length of the header as 8 bytes, little-endian; the
header, a JSON object with the type, shape and byte range of each tensor; the bytes of all tensors,
without gaps or overlaps. Nothing in it is executed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_xl.errors import InputError

LONGEST_HEADER = 100_000_000
"""Bytes, as in the reference implementation."""
TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""The types that weights may have, as NumPy types; the bits of a bfloat16 are the upper half of a
float32."""
_SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1,
          "U16": 2, "U32": 4, "U64": 8, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1}  # fmt: skip
INDEX = "model.safetensors.index.json"
ONE_FILE = "model.safetensors"


@dataclass(frozen=True)
class _Stored:
    """A tensor in a file: its type, its shape, its first byte and the byte after its last."""

    file: Path
    type: str
    shape: tuple[int, ...]
    begin: int
    end: int


class Tensors(Mapping[str, NDArray[Any]]):
    """The tensors of a checkpoint by name. Each is a view of its file, in the type it is stored in,
    until it is used; bfloat16 is read as float32.

    Args:
        path: a .safetensors file, or a folder with `model.safetensors` or shards and their index.

    Raises:
        InputError: if a file is missing, truncated, or not well-formed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        files = _files(path)
        self._stored: dict[str, _Stored] = {}
        for file in files:
            for name, stored in _header(file).items():
                if name in self._stored:
                    raise InputError(
                        f"{file}: the tensor {name!r} is also in {self._stored[name].file.name}. Keep "
                        "the shards of one model in the folder."
                    )
                self._stored[name] = stored

    def __getitem__(self, name: str) -> NDArray[Any]:
        stored = self._stored[name]
        if stored.type not in TYPES:
            raise InputError(
                f"{stored.file}: the tensor {name!r} is stored as {stored.type}; attn-xl reads "
                "float16, bfloat16, float32 and float64. Save the model in one of these."
            )
        if stored.begin == stored.end:
            return np.zeros(stored.shape, TYPES[stored.type])
        length = stored.end - stored.begin
        raw = np.memmap(stored.file, np.uint8, "r", stored.begin, (length,))
        values = raw.view(TYPES[stored.type]).reshape(stored.shape)
        if stored.type == "BF16":
            return (values.astype(np.uint32) << 16).view(np.float32)
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def __contains__(self, name: object) -> bool:
        return name in self._stored

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, from the header."""
        return self._stored[name].shape

    def file(self, name: str) -> Path:
        """The file that holds a tensor."""
        return self._stored[name].file


def _files(path: Path) -> list[Path]:
    """The .safetensors files of a checkpoint."""
    if not path.is_dir():
        refuse_pickle(path)
        return [path]
    index = path / INDEX
    if index.is_file():
        shards = read_json(index).get("weight_map")
        names = set(shards.values()) if isinstance(shards, dict) else {None}
        if not all(isinstance(name, str) and Path(name).name == name for name in names):
            raise InputError(f"{index}: weight_map must map each tensor to a file in the same folder.")
        files = [path / str(name) for name in sorted(map(str, names))]
    else:
        files = [path / ONE_FILE]
    for file in files:
        if not file.is_file():
            for other in sorted(path.iterdir()):
                refuse_pickle(other)
            raise InputError(f"{path}: {file.name} is missing. A model's folder has its weights there.")
    return files


def refuse_pickle(file: Path) -> None:
    """Refuse a file of weights that is a Python pickle.

    Raises:
        InputError: with the way to convert it.
    """
    if file.suffix in (".bin", ".pt", ".pth", ".ckpt"):
        raise InputError(
            f"{file.parent}: {file.name} is a pickle, which can run code when opened, so attn-xl does "
            "not open it. Convert it: AutoModel.from_pretrained(folder).save_pretrained(folder, "
            "safe_serialization=True)."
        )


def _header(file: Path) -> dict[str, _Stored]:
    """The tensors that the header of a file lists.

    Raises:
        InputError: if the file is not a well-formed .safetensors file.
    """

    def refuse(why: str) -> InputError:
        return InputError(f"{file}: not a usable .safetensors file: {why}. Download it again.")

    with _opened(file) as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or length > min(size - 8, LONGEST_HEADER):
            raise refuse(
                f"its header would have {length:,} bytes, but the file has {size:,}"
                if size >= 8
                else f"it has {size} bytes"
            )
        raw = stream.read(length)
    try:
        header = json.loads(raw)
    except (ValueError, RecursionError):
        raise refuse("its header is not JSON") from None
    if not isinstance(header, dict):
        raise refuse("its header is not a JSON object")
    header.pop("__metadata__", None)
    found: dict[str, _Stored] = {}
    for name, entry in header.items():
        try:
            kind, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
            numbers = [*shape, begin, end]
            if any(type(number) is not int or number < 0 for number in numbers):
                raise ValueError
            # Python's integers do not overflow, so a hostile shape cannot pass for a small one.
            if kind not in _SIZES or prod(shape) * _SIZES[kind] != end - begin:
                raise ValueError
        except (TypeError, KeyError, ValueError):
            raise refuse(f"the entry of the tensor {name!r} is not consistent") from None
        found[name] = _Stored(file, kind, tuple(shape), 8 + length + begin, 8 + length + end)
    at = 8 + length
    for name, one in sorted(found.items(), key=lambda item: (item[1].begin, item[1].end)):
        if one.begin != at:
            what = "overlaps another" if one.begin < at else "leaves a gap before it"
            raise refuse(f"the tensor {name!r} {what}")
        at = one.end
    if at != size:
        raise refuse(f"its tensors end at byte {at:,}, but the file has {size:,}")
    return found


def _opened(file: Path) -> Any:
    try:
        return file.open("rb")
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error}).") from None


def read_json(file: Path, kind: type = dict) -> Any:
    """A JSON object, or a value of another kind.

    Raises:
        InputError: if the file is missing or holds none.
    """
    with _opened(file) as stream:
        try:
            read = json.loads(stream.read())
        except (ValueError, RecursionError):
            read = None
    if not isinstance(read, kind):
        what = "object" if kind is dict else "array"
        raise InputError(f"{file}: not a JSON {what}. Download it again.")
    return read
