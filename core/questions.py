"""The lesson's own check of oneself: the order of an epoch, and six questions with one right answer of four."""

from __future__ import annotations

import math

from core.losses import softmax_twice_floor
from core.messages import N_, Message
from core.metrics import naive_mean, weighted_mean
from core.practice import ChoiceQuestion, Option, OrderQuestion

ORDER = OrderQuestion(
    key="epoch",
    prompt=Message(N_("Put one epoch in the right order.")),
    items=(
        Message(N_("Switch training mode on: model.train()")),
        Message(N_("For each training batch: forward, then the loss of its logits")),
        Message(N_("Clear the old gradients, then go backward: opt.zero_grad(), loss.backward()")),
        Message(N_("Move the parameters: opt.step(), and on to the next batch")),
        Message(N_("Validate under model.eval() and torch.no_grad(), weighting each batch by its size")),
        Message(N_("If the val loss is the best so far, save the best checkpoint; if not, patience counts one up")),
    ),
    reasons=(
        Message(N_("Training mode comes first: the last validation left eval mode on, and with it dropout off.")),
        Message(N_("Once the mode is set, a batch begins with forward and loss; backward has nothing before them.")),
        Message(N_("With a loss there, gradients come next, the old ones cleared first, or they add up.")),
        Message(N_("step reads what backward has written, so it comes right after it, still for each batch.")),
        Message(N_("Only when all batches are through is there a model of this epoch to validate.")),
        Message(N_("The decision needs the val loss, so it comes last.")),
    ),
)


def choices() -> tuple[ChoiceQuestion, ...]:
    """The six questions with one right option; their numbers are worked out here."""
    sizes, accuracies = (64, 64, 8), (0.75, 0.75, 1.0)
    values = {
        "naive": f"{naive_mean(accuracies, sizes):.4f}",
        "weighted": f"{weighted_mean(accuracies, sizes):.4f}",
        "floor": f"{softmax_twice_floor(3):.3f}",
        "guess": f"{math.log(3):.3f}",
    }

    def option(text: str, why: str, right: bool = False) -> Option:
        return Option(Message(text, values), Message(why, values), right)

    return (
        ChoiceQuestion(
            "cross-entropy-input",
            Message(N_("A classifier of 3 classes gets a batch of 32 examples. What does nn.CrossEntropyLoss() take?")),
            (
                option(
                    N_("Probabilities after softmax (32, 3), and one-hot labels (32, 3)"),
                    N_("It takes its own log-softmax, so softmax would run twice; and class indices say it shorter."),
                ),
                option(
                    N_("Predicted classes after argmax (32,), and true classes (32,)"),
                    N_("argmax throws away how sure the model was, and no gradient gets back through it."),
                ),
                option(
                    N_("Raw logits (32, 3), float, and class indices (32,), int64"),
                    N_("Right: log-softmax and the negative log-likelihood are both inside, in their stable form."),
                    True,
                ),
                option(
                    N_("Values after sigmoid (32, 3), and float labels (32,)"),
                    N_("sigmoid is for yes or no; there BCEWithLogitsLoss has it inside, and takes the logit."),
                ),
            ),
        ),
        ChoiceQuestion(
            "zero-grad-before-step",
            Message(N_("One step of AdamW is written in this order. What happens to the parameters?")),
            (
                option(
                    N_("They are updated as usual; the order does not matter"),
                    N_("It does: zero_grad has just thrown away what step was going to read."),
                ),
                option(
                    N_("Nothing changes, since every gradient is None when step comes, and no error says so"),
                    N_("Right: step passes over a parameter whose .grad is None, weight decay included."),
                    True,
                ),
                option(
                    N_("RuntimeError"),
                    N_("No error: an optimizer takes a .grad of None for a parameter that has no part in the loss."),
                ),
                option(
                    N_("The gradient adds up and doubles"),
                    N_("It would without any zero_grad; here there is one, only at the wrong place."),
                ),
            ),
            code="loss.backward()\nopt.zero_grad()\nopt.step()",
        ),
        ChoiceQuestion(
            "three-batches",
            Message(
                N_(
                    "A validation set comes in batches of 64, 64 and 8, with accuracies 0.75, 0.75 and 1.0. "
                    "What is the accuracy of the whole set?"
                )
            ),
            (
                option(
                    N_("{naive}"),
                    N_("That is the naive mean: the 8 easy examples would weigh as much as 64 others."),
                ),
                option(N_("0.7500"), N_("The last batch is small, but its 8 right answers do count.")),
                option(N_("1.0000"), N_("That is the last batch alone: a loop prints it that keeps only one value.")),
                option(
                    N_("{weighted}"), N_("Right: (48 + 48 + 8) ÷ 136 = {weighted}. Count examples, not batches."), True
                ),
            ),
        ),
        ChoiceQuestion(
            "no-grad-alone",
            Message(
                N_("A model with dropout is validated under torch.no_grad(), but without model.eval(). What happens?")
            ),
            (
                option(
                    N_("No graph is made, but dropout stays on: the val loss differs each time, on the same data"),
                    N_("Right: no_grad closes autograd's book, eval() changes how layers behave. It takes both."),
                    True,
                ),
                option(
                    N_("no_grad turns dropout off by itself, so all is well"),
                    N_("no_grad never looks at `training`; only eval() does that."),
                ),
                option(
                    N_("RuntimeError, since dropout needs a gradient"),
                    N_("Dropout multiplies by a mask; it runs with or without gradients."),
                ),
                option(
                    N_("Dropout is off, but a graph is made and takes memory"),
                    N_("The other way round: that is eval() without no_grad."),
                ),
            ),
        ),
        ChoiceQuestion(
            "checkpoint-without-rng",
            Message(
                N_(
                    "A checkpoint has the state_dict of the model and of AdamW, and the epoch, but no RNG state. The "
                    "model has dropout, the DataLoader shuffles with a seeded generator. What will a resume do?"
                )
            ),
            (
                option(
                    N_("Match the uninterrupted run bit for bit"),
                    N_("Masks and shuffles are drawn from generators; those begin anew, so other numbers come."),
                ),
                option(
                    N_("Begin training from nothing"),
                    N_("Weights and the optimizer's state are back; what was learned is not lost."),
                ),
                option(
                    N_("Go on, but with other dropout masks and another order of batches, so with other numbers"),
                    N_("Right: training continues, on another path. Bit for bit needs every RNG state as well."),
                    True,
                ),
                option(
                    N_("torch.load raises an error"),
                    N_("torch.load reads what is in the file, and knows nothing of what a loop would need."),
                ),
            ),
        ),
        ChoiceQuestion(
            "softmax-floor",
            Message(
                N_(
                    "The logits of a 3-class model go through softmax, and those probabilities into CrossEntropyLoss. "
                    "About how low can the training loss get?"
                )
            ),
            (
                option(
                    N_("0"),
                    N_(
                        "Logits can reach it, as they grow without end; probabilities stop at 1, and so the loss stops."
                    ),
                ),
                option(
                    N_("{floor}"),
                    N_("Right: a perfect (1, 0, 0) becomes e ÷ (e + 2) by the second softmax; −ln of that is {floor}."),
                    True,
                ),
                option(
                    N_("{guess}"),
                    N_("That is ln 3, the loss of guessing evenly; even a softmax too many gets below it."),
                ),
                option(
                    N_("There is no lower limit"),
                    N_("Cross-entropy with class indices is never below 0, and here it stays well above."),
                ),
            ),
        ),
    )
