"""The rules, one file a family; importing them fills the register in `core.check.rule`."""

from . import (  # noqa: F401
    accumulation,
    amp,
    checkpoints,
    clearing,
    data,
    graph,
    losses,
    metrics,
    modes,
    optimizer,
    order,
    schedulers,
    selection,
    stopping,
    targets,
    unseen,
)
