"""A checkpoint: a plain dict of named keys, what is in it, and a file that is whole or not there.

A file may come from anyone. It is opened only if it is what `torch.save` writes, names nothing but tensors and plain
containers, and unpacks to no more than `MOST_BYTES`; and then with `weights_only=True`. Anything else is one sentence.
"""

from __future__ import annotations

import io
import os
import pickletools
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from core.messages import N_

MOST_BYTES = 8 * 2**20
_MOST_VALUES, _DEEPEST = 5000, 8

PARTS: dict[str, tuple[str, ...]] = {
    "model": ("model",),
    "optimizer": ("optimizer",),
    "scheduler": ("scheduler",),
    "loop": ("epoch", "best_val", "best_epoch", "bad_epochs"),
    "position": ("batch", "epoch_rng", "loss_sum", "correct"),
    "torch_rng": ("torch_rng",),
    "loader_rng": ("loader_rng",),
    "config": ("config", "data"),
}
"""Part -> the keys of the checkpoint that belong to it."""

SKIPPABLE = ("optimizer", "torch_rng", "loader_rng", "loop", "scheduler", "position")
"""The parts that a resume may leave out, to see what they are for."""

Checkpoint = dict[str, Any]


class CheckpointError(ValueError):
    """A file or a dict that no run can go on from.

    `str()` is one English sentence; `template` and `parts` are there for other languages.
    """

    def __init__(self, template: str, **parts: object) -> None:
        self.template, self.parts = template, {key: " ".join(str(part).split())[:120] for key, part in parts.items()}
        super().__init__(template.format(**self.parts))


@dataclass(frozen=True)
class Entry:
    """One value of a checkpoint: `shape` is None for what is not a tensor, `share` is of all `size` bytes.

    `part` is a key of PARTS, or "other" for what no run saves.
    """

    part: str
    key: str
    shape: tuple[int, ...] | None
    size: int
    share: float


def walk(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested dicts, lists and tuples, each with its keys joined by dots."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from walk(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from walk(inner, f"{key}.{index}")
    else:
        yield key, value


def contents(checkpoint: Checkpoint) -> list[Entry]:
    """Every tensor of the checkpoint and every number beside them, in its order.

    A tensor's size is that of its elements; a number counts 8 bytes, a text one a letter, None and flags nothing.
    """
    owner = {key: part for part, keys in PARTS.items() for key in keys}
    leaves = [(key, value, _size(value)) for key, value in walk(checkpoint)]
    total = sum(size for _, _, size in leaves) or 1
    return [
        Entry(
            owner.get(key.split(".")[0], "other"),
            key,
            tuple(value.shape) if isinstance(value, Tensor) else None,
            size,
            size / total,
        )
        for key, value, size in leaves
    ]


def _size(value: Any) -> int:
    if isinstance(value, Tensor):
        return value.nbytes
    if isinstance(value, str):
        return len(value)
    return 0 if value is None or isinstance(value, bool) else 8


def to_bytes(checkpoint: Any) -> bytes:
    """The file as bytes."""
    buffer = io.BytesIO()
    torch.save(checkpoint, buffer)
    return buffer.getvalue()


def save(checkpoint: Any, path: Path, verify: bool = False) -> None:
    """Write to a temporary name, then put it in the place of `path` at one stroke; `verify` loads it back first.

    Whenever the process dies, `path` is the old file or the new one, whole.
    """
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(to_bytes(checkpoint))
            file.flush()
            os.fsync(file.fileno())
        if verify and not same(load(temporary), checkpoint):
            raise CheckpointError(N_("The file written to {path} does not read back as what was saved."), path=path)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)  # the new name too has to reach the disk
    finally:
        os.close(directory)


def same(a: Any, b: Any) -> bool:
    """Equal in every key, number and tensor, to the bit; NaN equals itself."""
    left, right = list(walk(a)), list(walk(b))
    return [key for key, _ in left] == [key for key, _ in right] and all(
        same_leaf(x, y) for (_, x), (_, y) in zip(left, right, strict=True)
    )


def same_leaf(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        return torch.equal(a, b) or (a.is_floating_point() and torch.allclose(a, b, rtol=0, atol=0, equal_nan=True))
    return type(a) is type(b) and (a == b or (a != a and b != b))


def load(source: Path | bytes) -> Any:
    """Read a file that `torch.save` wrote, of a checkpoint or of weights alone; raises CheckpointError.

    No code in it runs. What comes back holds dicts, lists, tuples, texts, numbers and contiguous tensors only.
    """
    data = source if isinstance(source, bytes) else _read(source)
    if len(data) > MOST_BYTES:
        raise CheckpointError(
            N_("The file has {size} bytes, and a checkpoint has at most {most}."), size=len(data), most=MOST_BYTES
        )
    _inspect(data)
    try:
        value = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:
        raise CheckpointError(N_("The file is damaged: torch.load cannot read it.")) from error
    if not isinstance(value, dict):
        raise CheckpointError(N_("The file holds a {kind}, not a dict of named keys."), kind=type(value).__name__)
    _require_plain(value)
    return value


def _require_plain(value: dict[Any, Any]) -> None:
    """Refuse values that no run saves, and shared or circular containers that would take for ever to walk."""
    waiting: list[tuple[str, Any, int]] = [("", value, 0)]
    visited = size = 0
    while waiting:
        key, value, depth = waiting.pop()
        visited += 1
        if visited > _MOST_VALUES or depth > _DEEPEST:
            raise CheckpointError(N_("The file holds more values, or deeper ones, than any checkpoint."))
        if isinstance(value, Mapping):
            waiting += [(f"{key}.{name}" if key else str(name), inner, depth + 1) for name, inner in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [(f"{key}.{index}", inner, depth + 1) for index, inner in enumerate(value)]
        elif isinstance(value, Tensor):
            size += value.nbytes
            plain = type(value) is Tensor and value.layout == torch.strided and value.is_contiguous()
            if not plain or value.requires_grad or size > MOST_BYTES:
                raise CheckpointError(N_("{key} is not a plain tensor."), key=key)
        elif not isinstance(value, str | int | float | bool | None):
            raise CheckpointError(
                N_("{key} is a {kind}, which no checkpoint holds."), key=key, kind=type(value).__name__
            )


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise CheckpointError(N_("{path} cannot be read: {reason}."), path=path, reason=error.strerror) from None


_PLAIN = {"collections OrderedDict", "torch._utils _rebuild_tensor_v2"} | {
    f"torch {kind}Storage" for kind in ("Float", "Double", "Long", "Int", "Short", "Char", "Byte", "Bool", "Half")
}
_NAMING = {"STACK_GLOBAL", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "EXT1", "EXT2", "EXT4"}


def _inspect(data: bytes) -> None:
    """Before any of it is unpickled, refuse what is not torch's zip file, would swell, or names more than tensors."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if any(member.compress_type != zipfile.ZIP_STORED for member in members):
                raise CheckpointError(N_("The file is compressed, which torch.save never does."))
            if sum(member.file_size for member in members) > MOST_BYTES:
                raise CheckpointError(N_("The file would unpack to more than {most} bytes."), most=MOST_BYTES)
            if (damaged := archive.testzip()) is not None:
                raise CheckpointError(N_("The file is damaged in its part {name}."), name=damaged)
            pickles = [archive.read(member) for member in members if member.filename.lower().endswith("data.pkl")]
    except CheckpointError:
        raise
    except Exception as error:  # zipfile raises many kinds on a broken file
        raise CheckpointError(N_("This is not a file that torch.save wrote, or not the whole of it.")) from error
    if len(pickles) != 1:
        raise CheckpointError(N_("The zip file holds no data.pkl, so torch.save did not write it."))
    try:
        for opcode, argument, _ in pickletools.genops(pickles[0]):
            if opcode.name in _NAMING or (opcode.name == "GLOBAL" and argument not in _PLAIN):
                name = str(argument or opcode.name).replace(" ", ".")
                raise CheckpointError(
                    N_("The file asks for {name}; a checkpoint holds tensors and numbers only."), name=name
                )
    except CheckpointError:
        raise
    except Exception as error:
        raise CheckpointError(N_("The file is damaged: its pickle breaks off.")) from error


def check(found: Any, expected: Any, key: str = "the file") -> None:
    """Raise CheckpointError unless `found` has the keys, kinds and shapes of `expected`, at every depth."""
    if isinstance(expected, Mapping):
        if not isinstance(found, Mapping):
            raise CheckpointError(N_("{key} is not a dict."), key=key)
        for name in expected:
            if name not in found:
                raise CheckpointError(N_("{key} has no key {name}."), key=key, name=name)
            check(found[name], expected[name], str(name) if key == "the file" else f"{key}.{name}")
        for name in found:
            if name not in expected:
                raise CheckpointError(N_("{key} has a key {name}, which no run saved there."), key=key, name=name)
    elif isinstance(expected, Tensor):
        if not isinstance(found, Tensor):
            raise CheckpointError(N_("{key} is not a tensor."), key=key)
        if found.shape != expected.shape or found.dtype != expected.dtype:
            raise CheckpointError(
                N_("{key} is {dtype} of shape {shape}; this run needs {wanted}."),
                key=key,
                dtype=str(found.dtype).removeprefix("torch."),
                shape=tuple(found.shape),
                wanted=f"{str(expected.dtype).removeprefix('torch.')} {tuple(expected.shape)}",
            )
    elif isinstance(expected, list | tuple):
        if not isinstance(found, list | tuple) or len(found) != len(expected):
            raise CheckpointError(N_("{key} is not a list of {length}."), key=key, length=len(expected))
        for index, (a, b) in enumerate(zip(found, expected, strict=True)):
            check(a, b, f"{key}.{index}")
    elif not _same_kind(found, expected):
        raise CheckpointError(N_("{key} cannot be {value}."), key=key, value=repr(found))


def _same_kind(found: Any, expected: Any) -> bool:
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        return found == expected and type(found) is type(expected)
    if isinstance(expected, int):
        return isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 2**53
    return isinstance(found, float | int) and not isinstance(found, bool)
