import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, TensorDataset

from core.batches import ShuffledLoader, draw_base_seed, in_order
from core.rng import RandomStream

SIZES = st.integers(1, 90)


@given(n=SIZES, batch_size=SIZES, seed=st.integers(0, 2**32 - 1))
def test_the_order_is_that_of_a_data_loader_to_the_last_draw(n: int, batch_size: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    loader = DataLoader(TensorDataset(torch.arange(n)), batch_size, shuffle=True, generator=generator)
    ours = ShuffledLoader(n, batch_size, seed)
    for _ in range(2):
        theirs = [rows for (rows,) in loader]
        drawn = ours.draw()
        assert len(drawn) == len(theirs)
        assert all(torch.equal(a, b) for a, b in zip(drawn, theirs, strict=True))
        assert torch.equal(ours.state, generator.get_state())


@given(n=SIZES, batch_size=SIZES)
def test_validation_batches_are_those_of_a_data_loader(n: int, batch_size: int) -> None:
    x, y = torch.arange(3.0 * n).reshape(n, 3), torch.arange(n)
    stream, ours = RandomStream(1), RandomStream(1)
    with stream.active():
        theirs = list(DataLoader(TensorDataset(x, y), batch_size))
    with ours.active():
        draw_base_seed()
    batches = in_order(x, y, batch_size)
    assert len(batches) == len(theirs)
    for mine, other in zip(batches, theirs, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(mine, other, strict=True))
    assert torch.equal(stream.state, ours.state)


def test_the_state_brings_an_order_back() -> None:
    loader = ShuffledLoader(20, 7, seed=3)
    loader.draw()
    state = loader.state
    first, second = loader.draw(), loader.draw()
    loader.state = state
    assert torch.equal(torch.cat(loader.draw()), torch.cat(first))
    assert not torch.equal(torch.cat(first), torch.cat(second))
