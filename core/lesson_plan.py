"""A class of an hour: which page, what to ask before each press, and the answer, made from the numbers of the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.fit_config import FitConfig
from core.live import finished
from core.losses import report_logits
from core.messages import N_
from core.metrics import report_means, validation_block
from core.mistakes import run_mistake
from core.modes import ModeConfig, grid
from core.resume import ResumeConfig, compare
from core.stories import STORIES
from core.trace import StepConfig, replay

Numbers = dict[str, float]


@dataclass(frozen=True)
class Item:
    """One press in front of the class."""

    minutes: int
    page: str
    query: str
    """The state to open the page in, as its address has it."""
    ask: str
    """Before the press; text to translate."""
    answer: str
    """After it; text to translate, with places for `numbers()`."""
    numbers: Callable[[], Numbers] = dict


def _first_batch() -> Numbers:
    *_, loss, _zero, backward, step = replay(StepConfig().resolved(), "flzbs")
    return {"loss": loss.loss, "grad": backward.grad, "w": loss.w, "new": step.w, "next": step.next_loss}


def _accumulated() -> Numbers:
    story = STORIES["exercise-3"]
    grads = [s.grad for s in replay(story.config.resolved(), story.calls) if s.call == "backward"]
    return {"first": grads[0], "second": grads[1], "new": grads[1] - grads[0]}


def _softmax_twice() -> Numbers:
    report = report_logits((0.0, 4.0, 0.0), 0)
    return {"right": report.right.norm, "twice": report.twice.norm, "ratio": report.ratio, "floor": report.floor}


def _means() -> Numbers:
    report = report_means(validation_block().correct, 64)
    return {"naive": report.naive, "weighted": report.weighted}


def _grid() -> Numbers:
    cells = {(cell.mode, cell.grad): cell for cell in grid(ModeConfig())}
    first, second = cells["train", "no_grad"].losses
    return {"first": first, "second": second, "right": cells["eval", "no_grad"].losses[0]}


def _stop() -> Numbers:
    last = finished(FitConfig())[-1]
    return {"best": last.best_epoch, "stop": last.epoch, "patience": FitConfig().patience}


def _part() -> Numbers:
    parting = compare(ResumeConfig(skip=("torch_rng", "loader_rng"))).parting
    return {"epoch": parting.full.epoch, "batch": parting.full.batch}


def _mistake() -> Numbers:
    right, wrong = run_mistake("softmax", False), run_mistake("softmax", True)
    return {"acc": right.val_acc, "wrong_acc": wrong.val_acc, "loss": right.val_loss, "wrong_loss": wrong.val_loss}


PLAN = (
    Item(
        4,
        "step",
        "calls=",
        N_("I press `forward`. Which of the three columns will change?"),
        N_("None of them. The logits are made and the graph is written; weight, gradient and loss are as they were."),
    ),
    Item(
        4,
        "step",
        "calls=flz",
        N_("Now `backward`. Does w[0,0] change?"),
        N_("No. `.grad` becomes {grad}, and w[0,0] stays {w}: backward only computes."),
        _first_batch,
    ),
    Item(
        4,
        "step",
        "calls=flzb",
        N_("The learning rate is 0.1. Where will `step` put w[0,0], and will the loss be lower?"),
        N_("{w} − 0.1 × {grad} = {new}. On the same batch the loss goes from {loss} to {next}."),
        _first_batch,
    ),
    Item(
        4,
        "step",
        "scene=scalar&calls=flbsfl",
        N_("Here nobody calls zero_grad. The new gradient is 0.9. What will `.grad` be after `backward`?"),
        N_("{second}: backward adds {new} to the {first} that was there."),
        _accumulated,
    ),
    Item(
        3,
        "step",
        "calls=flzb",
        N_("I press `backward` a second time. What happens?"),
        N_(
            "PyTorch raises: the first backward freed what the graph had saved. "
            "The gradient is still good: press `step`."
        ),
    ),
    Item(
        6,
        "losses",
        "",
        N_(
            "A model is sure of the wrong class. With softmax before CrossEntropyLoss, "
            "is its gradient larger or smaller?"
        ),
        N_("About {ratio} times smaller: {twice} instead of {right}. And the loss can never fall below {floor}."),
        _softmax_twice,
    ),
    Item(
        6,
        "metrics",
        "",
        N_("200 examples in batches of 64. Is the mean of the four batch accuracies the accuracy?"),
        N_("No: it says {naive}, and the truth is {weighted}. The last 8 examples weigh as much as 64."),
        _means,
    ),
    Item(
        6,
        "modes",
        "",
        N_("We validate with no_grad, but forget eval. Do two measurements agree?"),
        N_("No: {first}, then {second}. no_grad does not stop dropout; with eval both are {right}."),
        _grid,
    ),
    Item(
        6,
        "train",
        "epochs=4",
        N_("The best epoch so far is this one, and patience is 8. When does the run stop?"),
        N_(
            "At epoch {stop}, which is {best} + {patience}, unless val loss falls again before. "
            "The weights to keep are those of epoch {best}."
        ),
        _stop,
    ),
    Item(
        6,
        "resume",
        "",
        N_("We resume from epoch 6 without the random states. Where do the two runs part?"),
        N_("At once: epoch {epoch}, batch {batch}. The seed begins anew, so the batches hold other rows."),
        _part,
    ),
    Item(
        6,
        "mistakes",
        "",
        N_("Softmax before CrossEntropyLoss: will the accuracy give it away?"),
        N_("Hardly: {wrong_acc} instead of {acc}. The true val loss does: {wrong_loss} instead of {loss}."),
        _mistake,
    ),
    Item(
        5,
        "review",
        "",
        N_("An assistant wrote this loop, and the loss falls. What do you check first?"),
        N_("Overfit one batch, measure val loss twice, change the batch size, resume and compare: four quick tests."),
    ),
)
"""In teaching order."""
