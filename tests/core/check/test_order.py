"""The order of calls that the checker recovers, and what each call belongs to."""

from __future__ import annotations

from core.check import check

TWO = """
import torch

bce = torch.nn.BCEWithLogitsLoss()

def train(painter, judge, loader, epochs):
    opt_p = torch.optim.Adam(painter.parameters())
    opt_j = torch.optim.Adam(judge.parameters())
    for epoch in range(epochs):
        for real in loader:
            fake = painter(torch.randn(len(real), 8))
            loss_j = bce(judge(real), torch.ones(64, 1)) + bce(judge(fake.detach()), torch.zeros(64, 1))
            opt_j.zero_grad()
            loss_j.backward()
            opt_j.step()
            loss_p = bce(judge(fake), torch.ones(64, 1))
            opt_p.zero_grad()
            loss_p.backward()
            opt_p.step()
"""
HELPED = """
def update(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def train(model, probe, loader, model_opt, probe_opt, loss_fn):
    for x, y in loader:
        first = loss_fn(model(x), y)
        update(model_opt, first)
        second = loss_fn(probe(x), y)
        update(probe_opt, second)
"""
SCALED = """
for x, y in loader:
    total = F.cross_entropy(model(x), y)
    self.opts["a"].zero_grad()
    self.opts["b"].zero_grad()
    scaler.scale(total).backward()
    scaler.step(self.opts["a"])
    scaler.step(self.opts["b"])
    scaler.update()
"""
ONE = """
for x, y in loader:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    if amp:
        scaler.scale(loss).backward()
        scaler.step(optimizer)
    else:
        loss.backward()
        optimizer.step()
"""


def calls(source: str) -> list[tuple[str, str]]:
    (order,) = check(source).loops
    return [(call.name, call.of) for call in order.calls]


def test_with_two_optimizers_each_call_says_whose_it_is() -> None:
    assert calls(TWO) == [
        ("forward", "painter"),
        ("forward", "judge"),
        ("loss", "loss_j"),
        ("forward", "judge"),
        ("loss", "loss_j"),
        ("zero_grad", "opt_j"),
        ("backward", "loss_j"),
        ("step", "opt_j"),
        ("forward", "judge"),
        ("loss", "loss_p"),
        ("zero_grad", "opt_p"),
        ("backward", "loss_p"),
        ("step", "opt_p"),
    ]


def test_in_a_helper_the_loops_own_names_are_told() -> None:
    of = [(name, of) for name, of in calls(HELPED) if name in ("zero_grad", "backward", "step")]
    assert of == [
        ("zero_grad", "model_opt"),
        ("backward", "first"),
        ("step", "model_opt"),
        ("zero_grad", "probe_opt"),
        ("backward", "second"),
        ("step", "probe_opt"),
    ]


def test_what_a_scaler_is_handed_is_what_steps() -> None:
    of = calls(SCALED)
    assert ("backward", "total") in of
    assert [name for kind, name in of if kind == "step"] == ["self.opts['a']", "self.opts['b']"]


def test_two_losses_of_one_optimizer_are_told_apart() -> None:
    two = (
        ONE.split("    if amp")[0]
        + "    loss.backward(retain_graph=True)\n    extra.backward()\n    optimizer.step()\n"
    )
    assert [of for name, of in calls(two) if name == "backward"] == ["loss", "extra"]


def test_with_one_of_each_nothing_is_added() -> None:
    assert {of for _name, of in calls(ONE)} == {""}


def test_a_long_name_is_cut() -> None:
    long = "engine" + "_of_all" * 30
    of = calls(ONE.split("    if amp")[0] + f"    loss.backward()\n    {long}.backward(other)\n    optimizer.step()\n")
    assert all(len(name) <= 60 for _kind, name in of)
