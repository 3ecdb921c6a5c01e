import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from core.batches import in_order
from core.loop import evaluate
from core.rng import seeded


def _model() -> nn.Module:
    with seeded(0):
        return nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 3))


@given(n=st.integers(1, 60), batch_size=st.integers(1, 60))
def test_the_weighted_mean_is_that_of_the_whole_set(n: int, batch_size: int) -> None:
    with seeded(n):
        x, y = torch.randn(n, 2), torch.randint(0, 3, (n,))
    model = _model()
    loss, accuracy = evaluate(model, in_order(x, y, batch_size), F.cross_entropy)
    whole_loss, whole_accuracy = evaluate(model, [(x, y)], F.cross_entropy)
    assert abs(loss - whole_loss) < 1e-5
    assert abs(accuracy - whole_accuracy) < 1e-12


def test_it_leaves_the_mode_as_it_was_and_measures_the_same_twice() -> None:
    model, x, y = _model(), torch.ones(5, 2), torch.zeros(5, dtype=torch.int64)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    for training in (True, False):
        model.train(training)
        assert evaluate(model, [(x, y)], F.cross_entropy) == evaluate(model, [(x, y)], F.cross_entropy)
        assert model.training is training
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in before.items())
    assert all(parameter.grad is None for parameter in model.parameters())
