"""The gate: what draws inside it finds its own state, and the process finds its own again."""

from __future__ import annotations

import threading

import torch

from core.rng import RandomStream, seeded


def test_a_stream_draws_what_a_seeded_process_draws() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        alone = torch.rand(5), torch.rand(5)
    stream = RandomStream(3)
    with stream.active():
        first = torch.rand(5)
    torch.rand(100)
    with stream.active():
        second = torch.rand(5)
    assert torch.equal(first, alone[0])
    assert torch.equal(second, alone[1])


def test_the_process_never_notices_even_when_the_block_raises() -> None:
    before = torch.get_rng_state()
    try:
        with seeded(1):
            torch.rand(3)
            raise ValueError
    except ValueError:
        pass
    assert torch.equal(before, torch.get_rng_state())


def test_threads_that_interleave_draw_as_if_alone() -> None:
    def draw(seed: int, kept: dict[int, list[torch.Tensor]]) -> None:
        stream = RandomStream(seed)
        kept[seed] = []
        for _ in range(200):
            with stream.active():
                kept[seed].append(torch.rand(3))

    together: dict[int, list[torch.Tensor]] = {}
    threads = [threading.Thread(target=draw, args=(seed, together)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(8):
        alone: dict[int, list[torch.Tensor]] = {}
        draw(seed, alone)
        assert all(torch.equal(a, b) for a, b in zip(alone[seed], together[seed], strict=True))
