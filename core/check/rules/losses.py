"""Loss: what a loss function is fed, and what it applies by itself."""

from __future__ import annotations

from core.check.loopmodel import LoopModel
from core.check.names import LINEAR_LAYERS
from core.check.rule import ERROR, INFO, WARNING, rule
from core.check.values import Tensor, Thing
from core.messages import N_

NOT_PROBABILITIES = frozenset(("linear", "relu", "tanh"))


def predicted(model: LoopModel, *classes: str):
    """(loss event, activation of its first argument) for losses of these classes."""
    for event in model.of("loss"):
        if event.data["cls"] in classes and event.args:
            first = event.args[0]
            if isinstance(first, Tensor) and first.act is not None:
                yield event, first.act


def before(model, classes, activations):
    """The first loss of `classes` fed with one of `activations`, for each place where one is applied."""
    said = set()
    for event, act in predicted(model, *classes):
        if act.name in activations and act.line not in said:
            said.add(act.line)
            yield event.line, {"activation": act.name, "loss": event.data["cls"], "at": act.line}


@rule(
    "FC101",
    N_("Softmax before cross-entropy"),
    ERROR,
    N_(
        "{loss} applies log-softmax itself, and here it is given the output of {activation} (line "
        "{at}). Squashed twice, the scores "
        "lie between 0 and 1, the loss cannot come near zero and the gradients are small: it trains, only worse."
    ),
    N_("Give {loss} the raw scores (logits); apply {activation} only where you need probabilities to look at."),
    "/mistakes?mistake=softmax",
)
def softmax_before_cross_entropy(model):
    """Softmax or sigmoid into CrossEntropyLoss."""
    yield from before(model, ("CrossEntropyLoss",), ("softmax", "sigmoid"))


@rule(
    "FC102",
    N_("Sigmoid before a loss with logits"),
    ERROR,
    N_(
        "{loss} applies the sigmoid itself, and here it is given the output of {activation} (line "
        "{at}). Squashed twice, no "
        "prediction can pass 0.73, and the gradients shrink."
    ),
    N_("Give {loss} the raw scores, or keep the sigmoid and use BCELoss."),
    "/losses",
)
def sigmoid_before_logits_loss(model):
    """Sigmoid or softmax into BCEWithLogitsLoss."""
    classes = ("BCEWithLogitsLoss", "MultiLabelSoftMarginLoss")
    yield from before(model, classes, ("softmax", "sigmoid", "logsigmoid", "log_softmax"))


@rule(
    "FC103",
    N_("Log-softmax before cross-entropy"),
    INFO,
    N_(
        "{loss} applies log-softmax itself; {activation} on line {at} is done twice. The number does "
        "not change, for log-softmax "
        "of log-softmax is the same, but whoever reads on will take the output for raw scores."
    ),
    N_("Drop {activation}, or keep it and use NLLLoss."),
    "/losses",
)
def log_softmax_before_cross_entropy(model):
    """Log-softmax into CrossEntropyLoss."""
    yield from before(model, ("CrossEntropyLoss",), ("log_softmax",))


@rule(
    "FC104",
    N_("NLLLoss without log-softmax"),
    ERROR,
    N_(
        "NLLLoss only picks out the number of the right class and changes its sign: it expects "
        "log-probabilities. Here it gets the "
        "output of {activation} (line {at}), so the loss can fall without limit below zero."
    ),
    N_("Put log_softmax(..., dim=1) before NLLLoss, or use CrossEntropyLoss on the raw scores."),
    "/losses?view=takes&loss=nllloss",
)
def nll_without_log_softmax(model):
    """Scores or probabilities into NLLLoss."""
    for event, act in predicted(model, "NLLLoss", "NLLLoss2d"):
        if act.name in NOT_PROBABILITIES | {"softmax", "sigmoid"}:
            yield event.line, {"activation": act.name, "at": act.line}


@rule(
    "FC105",
    N_("BCELoss on raw scores"),
    ERROR,
    N_(
        "BCELoss takes the logarithm of what it is given, which must lie between 0 and 1. Here it "
        "gets the output of {activation} "
        "(line {at}), which can be anything: the loss raises an error or becomes nan."
    ),
    N_("Use BCEWithLogitsLoss on the raw scores, or apply a sigmoid first."),
    "/losses?view=logit",
)
def bce_on_scores(model):
    """Scores into BCELoss."""
    for event, act in predicted(model, "BCELoss"):
        if act.name in NOT_PROBABILITIES | {"log_softmax", "logsigmoid"}:
            yield event.line, {"activation": act.name, "at": act.line}


@rule(
    "FC106",
    N_("Softmax over the batch"),
    ERROR,
    N_(
        "{activation} runs over dim=0, which is the batch: the numbers of one class over all examples "
        "sum to one, and every "
        "prediction depends on its neighbours in the batch."
    ),
    N_("Normalise over the classes: dim=1, or dim=-1 when they come last."),
    "/losses",
)
def softmax_over_batch(model):
    """dim=0 on a batch of model outputs that goes to a loss, or on the last layer of a model."""
    used = set()
    for event in model.of("loss"):
        for t in event.args[:1]:
            if (
                isinstance(t, Tensor)
                and t.act is not None
                and t.act.name in ("softmax", "log_softmax")
                and t.act.dim == 0
            ):
                used.add(t.act.line)
                yield t.act.line, {"activation": t.act.name}
    yield from _last_layer(model, used)
    batched = {e.line for e in model.of("forward") if not e.inner and any(getattr(a, "loader", None) for a in e.args)}
    for event in model.of("softmax_dim0"):
        given = event.value
        fed = any(f.data.get("batch") or f.line in batched for f in given.forwards)
        if event.data["act"].line not in used and given.forwards and fed and not event.inner:
            yield event.data["act"].line, {"activation": event.data["act"].name}


def _last_layer(model, used):
    """A classifier that ends in a softmax over dim 0, or returns one, in a file that trains with a loss over
    classes.
    """
    if not any(e.data["cls"] in ("CrossEntropyLoss", "NLLLoss") for e in model.of("loss")):
        return
    for event in model.of("sequential"):
        layers = event.obj.data["layers"] or [None]
        last, kinds = layers[-1], {getattr(x, "cls", "") for x in layers}
        if last is None or last.cls not in ("Softmax", "LogSoftmax") or not kinds & LINEAR_LAYERS or last.line in used:
            continue
        dim = last.data["kwargs"].get("dim") or (last.data["args"] or [None])[0]
        if getattr(dim, "value", None) == 0 and last.data["args"] + list(last.data["kwargs"].values()):
            used.add(last.line)
            yield last.line, {"activation": last.cls}
    for event in model.of("return"):
        t = event.value
        if event.frame.name == "forward" and isinstance(t, Tensor) and t.act is not None and t.act.line not in used:
            wrong = t.act.name in ("softmax", "log_softmax") and t.act.dim == 0
            if wrong and isinstance(event.frame.instance, Thing):
                used.add(t.act.line)
                yield t.act.line, {"activation": t.act.name}


@rule(
    "FC107",
    N_("Argmax over the batch"),
    WARNING,
    N_("The predicted class is taken over dim=0, which is the batch, and compared with the labels."),
    N_("Take it over the classes: argmax(dim=1)."),
    "/metrics",
)
def argmax_over_batch(model):
    """argmax or max over dim 0 of a model's output, compared with labels."""
    for event in model.of("equal"):
        for t in event.value:
            if (
                isinstance(t, Tensor)
                and t.argmax
                and t.argmax[1] == 0
                and any(f.args and _batch(f.args[0]) for f in t.forwards)
            ):
                yield t.argmax[0]


def _batch(value) -> bool:
    return isinstance(value, Tensor) and value.loader is not None


@rule(
    "FC108",
    N_("Loss on argmax"),
    ERROR,
    N_(
        "The loss gets class numbers out of argmax (line {at}). Argmax has no gradient, so nothing "
        "reaches the parameters."
    ),
    N_("Compute the loss on the scores; use argmax for the accuracy only."),
    "/losses",
)
def loss_on_argmax(model):
    """The prediction of a loss went through argmax."""
    for event in model.of("loss"):
        first = event.args[0] if event.args else None
        if isinstance(first, Tensor) and first.argmax and first.forwards:
            yield event.line, {"at": first.argmax[0]}


@rule(
    "FC109",
    N_("DataParallel returns one loss per device"),
    ERROR,
    N_(
        "The model is wrapped in DataParallel (line {at}) and computes the loss in its forward: with "
        "several devices it returns a "
        "vector with one loss for each, and backward() on a vector fails."
    ),
    N_("Reduce it first: `loss = loss.mean()`."),
    "/step?calls=flb",
)
def parallel_loss_not_reduced(model):
    """backward on what a DataParallel forward returned, with no mean or sum in between."""
    for event in model.of("backward"):
        t = event.value
        wrapped = [m for m in t.models if m.data.get("parallel")]
        if not wrapped or not t.forwards:
            continue
        outer = [f for f in t.forwards if f.obj in wrapped and not f.inner]
        last = max(outer, key=lambda f: f.index, default=None)
        if last is None:
            continue
        after = [e for e in t.losses if e.index > last.index and not e.inner]
        if not after and t.losses and t.direct is last:
            yield event.line, {"at": wrapped[0].data["parallel"]}


@rule(
    "FC110",
    N_("A loss that is not reduced"),
    ERROR,
    N_("The loss keeps one number for each example (reduction='none'), and backward() needs a single number."),
    N_("Take its mean: loss.mean().backward()."),
    "/step?calls=flb",
)
def loss_not_reduced(model):
    """backward on a loss with reduction='none'."""
    for event in model.of("backward"):
        t = event.value
        one = next(iter(t.losses)) if len(t.losses) == 1 else None
        if (
            one is not None
            and one.data["red"] == "none"
            and t.red == "none"
            and t.line == one.line
            and event.data["source"] is t
        ):
            yield event.line
