"""The graph as PyTorch holds it: absent, whole, freed."""

from __future__ import annotations

from core.graph import graph
from core.trace import StepConfig

LINEAR = StepConfig().resolved()


def test_there_is_none_before_forward() -> None:
    assert graph(LINEAR, "") == []
    assert graph(LINEAR, "z") == []


def test_it_runs_from_the_loss_to_the_leaves() -> None:
    nodes = graph(LINEAR, "fl")
    assert [node.name for node in nodes[:3]] == ["NllLossBackward0", "LogSoftmaxBackward0", "AddmmBackward0"]
    assert {node.leaf for node in nodes if node.leaf} == {"weight", "bias"}
    assert "mat1: (4, 2)" in nodes[2].saved
    assert not any(node.freed for node in nodes)
    assert all(0 <= i < len(nodes) for node in nodes for i in node.inputs)


def test_before_the_loss_it_begins_at_the_logits() -> None:
    assert graph(LINEAR, "f")[0].name == "AddmmBackward0"
    assert graph(LINEAR, "flf")[0].name == "AddmmBackward0"


def test_backward_frees_what_was_saved() -> None:
    freed = [node.name for node in graph(LINEAR, "flb") if node.freed]
    assert freed == ["NllLossBackward0", "LogSoftmaxBackward0", "AddmmBackward0"]
    assert all(not node.saved for node in graph(LINEAR, "flb"))
