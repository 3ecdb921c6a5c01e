import io
import os
import pickle
import signal
import struct
import subprocess
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.checkpoint import MOST_BYTES, PARTS, SKIPPABLE, CheckpointError, contents, load, same, save, to_bytes
from core.fit import Run
from core.fit_config import FitConfig

RUN = Run(FitConfig(max_epochs=3))
RUN.epoch()
CHECKPOINT = RUN.checkpoint()
FILE = to_bytes(CHECKPOINT)


def refused(data: bytes) -> str:
    with pytest.raises(CheckpointError) as caught:
        load(data)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 300
    return sentence


def rezipped(change: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """FILE with some members replaced."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(FILE)) as old, zipfile.ZipFile(buffer, "w", compression) as new:
        for member in old.infolist():
            new.writestr(member.filename, change.get(member.filename.split("/", 1)[1], old.read(member)))
    return buffer.getvalue()


class Marker:
    """Unpickled without care, it makes a directory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.path),)


def test_what_was_saved_is_what_is_loaded(tmp_path: Path) -> None:
    save(CHECKPOINT, tmp_path / "last.pt", verify=True)
    assert same(load(tmp_path / "last.pt"), CHECKPOINT)
    assert os.listdir(tmp_path) == ["last.pt"]


def test_what_is_in_it() -> None:
    entries = contents(CHECKPOINT)
    sizes = {part: sum(entry.size for entry in entries if entry.part == part) for part in PARTS}
    assert abs(sum(entry.share for entry in entries) - 1) < 1e-9
    assert sizes["model"] == 17_667 * 4
    tensors = [entry for entry in entries if entry.part == "optimizer" and entry.shape]
    assert sum(entry.size for entry in tensors) == 2 * sizes["model"]  # with the weights, AdamW's three to one
    assert sizes["torch_rng"] == sizes["loader_rng"] == 5056
    assert set(SKIPPABLE) < set(PARTS)
    assert {key for keys in PARTS.values() for key in keys} == set(CHECKPOINT)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("whole", [True, False])
def test_a_malicious_pickle_does_nothing(tmp_path: Path, protocol: int, whole: bool) -> None:
    marker = tmp_path / "run"
    hostile = pickle.dumps({**{"model": {}}, "evil": Marker(marker)}, protocol=protocol)
    sentence = refused(hostile if whole else rezipped({"data.pkl": hostile}))
    assert not marker.exists()
    if not whole:
        assert "asks for" in sentence
    pickle.loads(hostile)  # noqa: S301 - the trap works
    assert marker.exists()


@pytest.mark.parametrize(
    "value", [RUN.model, bytearray(9), {1, 2}, 1j, OrderedDict, torch.float32, RUN.model[0].weight]
)
def test_only_tensors_numbers_and_texts_are_in_it(value: object) -> None:
    buffer = io.BytesIO()
    torch.save({"model": value}, buffer)
    refused(buffer.getvalue())


def test_a_memory_bomb_by_an_allowed_global_is_refused_before_it_goes_off() -> None:
    bomb = b"\x80\x02c__builtin__\nbytearray\n\x8a\x05" + struct.pack("<Q", 2**35)[:5] + b"\x85R."
    assert "asks for" in refused(rezipped({"data.pkl": bomb}))


def test_a_swollen_file_is_refused() -> None:
    big = {"model": torch.zeros(MOST_BYTES // 4 + 1)}
    assert "at most" in refused(to_bytes(big))
    packed = rezipped({"data/0": bytes(10**8)}, zipfile.ZIP_DEFLATED)
    assert len(packed) < MOST_BYTES
    assert "compressed" in refused(packed)


def test_a_tensor_larger_than_its_memory_is_refused() -> None:
    refused(to_bytes({"model": torch.zeros(1).expand(10**12)}))
    refused(to_bytes({"model": torch.zeros(2, 3).t()}))
    refused(rezipped({"data/0": b"1234"}))


def test_containers_that_hold_themselves_or_each_other_without_end_are_refused() -> None:
    circle: list[object] = []
    circle.append(circle)
    refused(to_bytes({"model": circle}))
    nest: list[object] = [0]
    for _ in range(40):
        nest = [nest, nest]
    refused(to_bytes({"model": nest}))
    refused(to_bytes({"model": [0] * 10_000}))


def test_other_files_are_refused(tmp_path: Path) -> None:
    old = io.BytesIO()
    torch.save(CHECKPOINT, old, _use_new_zipfile_serialization=False)
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    for data in (b"", b"PK\x03\x04", b"hello", b"a,b\n1,2\n" * 1000, old.getvalue(), empty.getvalue()):
        refused(data)
    for value in (torch.zeros(3), [1, 2], "text", 5):
        refused(to_bytes(value))
    for path in (tmp_path, tmp_path / "none.pt"):
        with pytest.raises(CheckpointError, match="cannot be read"):
            load(path)


@given(st.integers(0, len(FILE) - 1))
def test_a_truncated_file_is_refused(length: int) -> None:
    refused(FILE[:length])


@given(st.integers(0, len(FILE) - 1), st.integers(1, 255))
def test_a_flipped_byte_is_refused_or_changes_nothing(at: int, flip: int) -> None:
    data = bytearray(FILE)
    data[at] ^= flip
    try:
        value = load(bytes(data))
    except CheckpointError:
        return
    assert same(value, CHECKPOINT)


@given(st.binary(max_size=300))
def test_any_pickle_of_a_few_bytes_is_refused_or_read(data: bytes) -> None:
    try:
        load(rezipped({"data.pkl": b"\x80\x02" + data + b"."}))
    except CheckpointError:
        return


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "last.pt"
    save(CHECKPOINT, path)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        save({"model": lambda: None}, path)
    assert same(load(path), CHECKPOINT)
    assert os.listdir(tmp_path) == ["last.pt"]


KILLED = """
import os, random, signal, sys, time
from pathlib import Path
import torch
from core.checkpoint import load, save

torch.set_num_threads(1)  # a forked child has no other
path, wanted = Path(sys.argv[1]), int(sys.argv[2])
places = random.Random(0)
seen, inside, kill = set(), 0, 0
while inside < wanted and kill < 10 * wanted:
    kill += 1
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        number = 0
        while True:
            number += 1
            os.write(write, b".")
            save({"number": torch.full((60_000,), float(kill * 1000 + number)), "kill": kill}, path)
    os.read(read, 1)  # it has begun to save
    time.sleep(places.random() * 0.02)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    temporary = path.with_name(path.name + ".tmp")
    if temporary.exists():
        inside += 1
        temporary.unlink()
    if path.exists():
        numbers = load(path)["number"]
        assert numbers.numel() == 60_000 and bool((numbers == numbers[0]).all())
        seen.add(numbers[0].item())
    os.close(read), os.close(write)
print(len(seen), inside)
"""


def test_kill_9_during_save_leaves_a_whole_file_every_time(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "last.pt"), "50"], capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    files, inside = map(int, result.stdout.split())
    assert files >= 20  # killed after many different saves
    assert inside == 50  # kills that came while the new file was being written
    assert signal.SIGKILL == 9


def test_what_a_killed_save_left_lying_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "last.pt.tmp").write_bytes(b"half a file" * 100_000)
    save(CHECKPOINT, tmp_path / "last.pt")
    assert same(load(tmp_path / "last.pt"), CHECKPOINT)
    assert os.listdir(tmp_path) == ["last.pt"]
