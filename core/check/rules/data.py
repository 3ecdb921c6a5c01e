"""Data: the order the batches come in, and the random numbers of the workers."""

from __future__ import annotations

import ast

from core.check.names import says_eval, says_train
from core.check.rule import INFO, WARNING, rule
from core.check.values import Const, Func, Thing
from core.messages import N_

from .common import batch_loop


def training_loaders(model):
    """(loader, its batch loop, a backward) for every DataLoader made here that is trained on."""
    seen = set()
    for event in model.of("backward"):
        batch_loop(model, event)
        for around in event.loops:
            loader = around.loader
            while (
                isinstance(loader, Thing) and loader.cls != "DataLoader" and isinstance(loader.data.get("wraps"), Thing)
            ):
                loader = loader.data["wraps"]
            if isinstance(loader, Thing) and loader.cls == "DataLoader" and loader not in seen:
                seen.add(loader)
                yield loader, around, event


@rule(
    "FC1201",
    N_("Training batches are not shuffled"),
    WARNING,
    N_(
        "The training loader gives the examples in the same order in every epoch; where they are sorted "
        "by class or time, each batch pulls one way."
    ),
    N_("DataLoader(..., shuffle=True) for training."),
    "/glossary?find=DataLoader",
)
def not_shuffled(model):
    """shuffle=False said outright on a training loader: a warning; not said at all: worth knowing."""
    for loader, loop, event in training_loaders(model):
        kwargs, args = loader.data["kwargs"], loader.data["args"]
        if {"sampler", "batch_sampler", "**"} & set(kwargs) or len(args) > 3:
            continue
        shuffle = kwargs.get("shuffle") or (args[2] if len(args) > 2 else None)
        if not model.entry(event, "step") or (loop.carried and _stateful(model, loop)):
            continue
        dataset = loader.data.get("dataset")
        if (
            isinstance(dataset, Thing)
            and dataset.data.get("local") is not None
            and "Iterable" in " ".join(dataset.data["local"].base_names())
        ):
            continue
        if says_eval(loader.name) and not says_train(loader.name):
            continue
        if isinstance(shuffle, Const) and shuffle.value is False:
            again = bool(loop.loops) or loop.frame.parent is not None or loop.frame.name != "<module>"
            yield loader.line, {}, WARNING if again else INFO
        elif shuffle is None:
            yield loader.line, {}, INFO


def _stateful(model, loop) -> bool:
    """A hidden state goes from batch to batch, so their order matters."""
    return any(
        name in ast.unparse(loop.node)
        for name, _, _ in loop.carried
        if "hid" in name or "state" in name or name in ("h", "hc")
    )


@rule(
    "FC1202",
    N_("set_epoch() is missing"),
    WARNING,
    N_(
        "{sampler} is a DistributedSampler, and set_epoch() is never called: every epoch uses the same "
        "order, and every process the same part of the data."
    ),
    N_("Call {sampler}.set_epoch(epoch) at the start of every epoch."),
    "/glossary?find=epoch",
)
def set_epoch_missing(model):
    """A DistributedSampler behind a loader that is trained on over several epochs, and no set_epoch in the file."""
    if "set_epoch" in model.calls or model.has_word("set_epoch"):
        return
    for loader, loop, _event in training_loaders(model):
        sampler = loader.data["kwargs"].get("sampler")
        if not isinstance(sampler, Thing) or sampler.cls != "DistributedSampler" or not loop.loops:
            continue
        shuffle = sampler.data["kwargs"].get("shuffle")
        if isinstance(shuffle, Const) and shuffle.value is False:
            continue
        if loader.data.get("prepared") or model.of("prepare"):
            continue
        yield loop.loops[-1].line, {"sampler": sampler.name or "sampler"}


@rule(
    "FC1203",
    N_("NumPy's random numbers in the workers"),
    INFO,
    N_(
        "{name} draws from NumPy's global generator inside the workers. PyTorch seeds it in each "
        "worker since 1.9; before that, all workers drew the same "
        "numbers, and a generator made once in the dataset still does."
    ),
    N_("Draw from torch, or seed a generator of your own in worker_init_fn."),
    "/glossary?find=generator",
)
def worker_seeds(model):
    """np.random or random in __getitem__, with workers and no worker_init_fn."""
    if "worker_init_fn" in model.keywords or model.has_word("worker_init_fn", "get_worker_info"):
        return
    for event in model.of("loader"):
        workers, dataset = event.obj.data["kwargs"].get("num_workers"), event.value
        if workers is None or (isinstance(workers, Const) and workers.value == 0) or not isinstance(dataset, Thing):
            continue
        cls = dataset.data.get("local")
        method = cls.find("__getitem__")[0] if cls is not None else None
        if method is None:
            continue
        for node in ast.walk(method):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in ("np.random", "numpy.random"):
                yield node.lineno, {"name": cls.name}
                break
            if (
                isinstance(node, ast.Attribute)
                and node.attr in ("rng", "_rng", "generator", "random_state")
                and _shared_generator(cls, node.attr)
            ):
                yield node.lineno, {"name": cls.name}, WARNING
                break


def _shared_generator(cls, name) -> bool:
    """A NumPy generator made with a fixed seed in the dataset's __init__: copied into every worker."""
    init = cls.methods.get("__init__")
    text = ast.unparse(init) if init is not None else ""
    return f"self.{name}" in text and any(
        m in text for m in ("random.default_rng(", "random.RandomState(", "random.Random(")
    )


@rule(
    "FC1204",
    N_("Every worker gets the same seed"),
    WARNING,
    N_(
        "{name} seeds every worker with the same number: all of them draw the same random numbers, and in every epoch "
        "the same ones again."
    ),
    N_("Seed with torch.initial_seed() % 2**32, which differs from worker to worker and from epoch to epoch."),
    "/glossary?find=seed",
)
def same_seed_in_workers(model):
    """A worker_init_fn of the file that seeds with something it neither computes nor is given."""
    for event in model.of("loader"):
        kwargs = event.obj.data["kwargs"]
        init, workers = kwargs.get("worker_init_fn"), kwargs.get("num_workers")
        if not isinstance(init, Func) or workers is None or (isinstance(workers, Const) and workers.value == 0):
            continue
        node = init.node
        own = {a.arg for a in node.args.args}
        own |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for call in (n for n in ast.walk(node) if isinstance(n, ast.Call) and n.args):
            name = ast.unparse(call.func)
            if name.rpartition(".")[2] not in ("seed", "manual_seed", "default_rng", "RandomState"):
                continue
            inside = list(ast.walk(call.args[0]))
            if not any(isinstance(n, ast.Call) or (isinstance(n, ast.Name) and n.id in own) for n in inside):
                yield call.lineno, {"name": name}, WARNING if _draws(event.value) else INFO
                break


def _draws(dataset) -> bool:
    """Does the dataset draw random numbers, as far as the file shows?"""
    cls = dataset.data.get("local") if isinstance(dataset, Thing) else None
    method = cls.find("__getitem__")[0] if cls is not None else None
    return method is not None and any(
        isinstance(n, ast.Attribute) and ("rand" in n.attr or n.attr in ("normal", "choice", "uniform", "shuffle"))
        for n in ast.walk(method)
    )
