"""The lesson's terms, one sentence each; its takeaways; where to go next. Other pages show a term by its key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.messages import N_


@dataclass(frozen=True)
class Term:
    key: str
    name: str
    definition: str
    page: str = ""
    """The page that shows it live, by its path; empty where none does."""


TERMS = {
    term.key: term
    for term in (
        Term("accuracy", N_("accuracy"), N_("The share of examples whose largest logit is the true class."), "metrics"),
        Term(
            "adamw",
            N_("AdamW"),
            N_(
                "An optimizer that divides each parameter's mean gradient by the root of its mean square, and applies "
                "weight decay to the weights rather than through the gradient."
            ),
            "optimizers",
        ),
        Term(
            "autograd",
            N_("autograd"),
            N_("The part of PyTorch that writes down operations as they run and works out gradients from the record."),
            "step",
        ),
        Term(
            "backward",
            N_("backward"),
            N_("Walks the graph from the loss to the parameters and adds each one's gradient to its .grad."),
            "step",
        ),
        Term(
            "batchnorm",
            N_("BatchNorm"),
            N_("A layer that normalizes by the batch's mean and variance in training, by running ones in eval mode."),
            "modes",
        ),
        Term(
            "bce-with-logits",
            N_("BCEWithLogitsLoss"),
            N_("The loss for yes or no: sigmoid and binary cross-entropy in one stable formula. Takes logits."),
            "losses",
        ),
        Term(
            "bias-correction",
            N_("bias correction"),
            N_("Adam's division by 1 − βᵗ, which makes up for its running means having started at zero."),
            "optimizers",
        ),
        Term(
            "checkpoint",
            N_("checkpoint"),
            N_("A file with all that a run needs to go on: weights, optimizer, counters and RNG states."),
            "resume",
        ),
        Term(
            "class-index", N_("class index"), N_("The true class as a whole number from 0 to C − 1, int64."), "losses"
        ),
        Term(
            "cosine-schedule",
            N_("cosine schedule"),
            N_("A learning rate that falls along half a cosine, slowly at first and at the end."),
            "optimizers",
        ),
        Term(
            "cross-entropy",
            N_("cross-entropy"),
            N_("Minus the logarithm of the probability given to the true class, averaged over the batch."),
            "losses",
        ),
        Term(
            "data-leakage",
            N_("data leakage"),
            N_("Validation data having a say in training, for instance in the mean used to standardize."),
        ),
        Term(
            "dataloader",
            N_("DataLoader"),
            N_("PyTorch's cutter of a data set into batches, shuffled by a generator if asked."),
        ),
        Term(
            "decision-boundary",
            N_("decision boundary"),
            N_("The line across which a classifier's answer changes from one class to another."),
            "numpy",
        ),
        Term(
            "double-descent",
            N_("double descent"),
            N_("A val loss that rises and later falls again, seen in some large models."),
        ),
        Term(
            "drop-last",
            N_("drop_last"),
            N_(
                "A DataLoader's setting to leave out a smaller last batch. In validation it leaves examples unmeasured."
            ),
            "metrics",
        ),
        Term(
            "dropout",
            N_("dropout"),
            N_("A layer that zeroes random units in training and scales up the rest; in eval mode it does nothing."),
            "modes",
        ),
        Term(
            "early-stopping",
            N_("early stopping"),
            N_("Ending a run once the val loss has not improved for a number of epochs."),
            "train",
        ),
        Term("epoch", N_("epoch"), N_("One pass through all training examples."), "train"),
        Term(
            "eval-mode",
            N_("eval mode"),
            N_("model.eval(): every layer's `training` is False, so dropout rests. It does not touch gradients."),
            "modes",
        ),
        Term(
            "exp-avg",
            N_("exp_avg and exp_avg_sq"),
            N_("Adam's running means of the gradient and of its square, two tensors of each parameter's own shape."),
            "optimizers",
        ),
        Term(
            "floor",
            N_("floor of the loss"),
            N_("The value a loss cannot go below; −ln(e ÷ (e + C − 1)) for C classes when softmax is taken twice."),
            "losses",
        ),
        Term("forward", N_("forward"), N_("Computing the logits from a batch; autograd writes the graph."), "step"),
        Term(
            "generator",
            N_("generator"),
            N_("An object that random numbers are drawn from; its state decides all that follow."),
        ),
        Term(
            "grad",
            N_(".grad"),
            N_("Where a parameter's gradient is kept. None until a backward has written it."),
            "step",
        ),
        Term(
            "grad-fn",
            N_("grad_fn"),
            N_("The graph's node that made a tensor, and knows how to go backward through it."),
            "step",
        ),
        Term("grad-norm", N_("gradient norm"), N_("The length of all gradients taken as one vector."), "mistakes"),
        Term(
            "gradient",
            N_("gradient"),
            N_("How fast the loss rises with each parameter; step goes the other way."),
            "step",
        ),
        Term(
            "gradient-accumulation",
            N_("gradient accumulation"),
            N_("Several small batches' backward before one step, each loss divided by their number."),
            "step",
        ),
        Term("graph", N_("graph"), N_("The record of operations from the parameters to the loss."), "step"),
        Term(
            "jacobian",
            N_("Jacobian"),
            N_("The table of every output's derivative by every input; softmax's is diag(p) − ppᵀ."),
            "losses",
        ),
        Term("label-noise", N_("label noise"), N_("Wrong labels in the data; no model should learn them by heart.")),
        Term(
            "learning-rate",
            N_("learning rate"),
            N_("lr, the factor by which step multiplies the direction it moves in."),
            "optimizers",
        ),
        Term(
            "log-sum-exp",
            N_("log-sum-exp"),
            N_("log of a sum of exponentials, computed with the largest taken off first so that nothing overflows."),
            "losses",
        ),
        Term(
            "logits",
            N_("logits"),
            N_("The last layer's raw numbers: any real values, before softmax or sigmoid."),
            "losses",
        ),
        Term(
            "loss",
            N_("loss"),
            N_("One number for how far the logits are from the targets; training makes it small."),
            "step",
        ),
        Term("mini-batch", N_("mini-batch"), N_("The few examples that one step learns from."), "train"),
        Term(
            "momentum",
            N_("momentum"),
            N_("A running sum of past gradients that SGD moves along; kept as momentum_buffer."),
            "optimizers",
        ),
        Term("naive-mean", N_("naive mean"), N_("The mean of the batches' means, whatever their sizes."), "metrics"),
        Term(
            "nll-loss",
            N_("NLLLoss"),
            N_("Negative log-likelihood: takes log-probabilities, which it does not check."),
            "losses",
        ),
        Term(
            "no-grad",
            N_("no_grad"),
            N_("torch.no_grad(): no graph is written in its block. It does not change how layers behave."),
            "modes",
        ),
        Term(
            "one-cycle",
            N_("OneCycleLR"),
            N_("A schedule that climbs to a maximum and falls far below its start, called after every batch."),
            "optimizers",
        ),
        Term("one-hot", N_("one-hot"), N_("A class written as a row of zeros with a single one.")),
        Term(
            "optimizer",
            N_("optimizer"),
            N_("The object that holds the parameters and moves them by a rule at each step()."),
            "optimizers",
        ),
        Term(
            "overfit-one-batch",
            N_("overfit one batch"),
            N_("The first test of a new loop: on one batch, over and over, the loss must go to almost zero."),
            "review",
        ),
        Term(
            "overfitting",
            N_("overfitting"),
            N_("Learning the training data's noise: train loss falls on while val loss rises."),
            "train",
        ),
        Term(
            "param-groups",
            N_("param_groups"),
            N_("The optimizer's lists of parameters, each with its own settings."),
            "optimizers",
        ),
        Term("parameter", N_("parameter"), N_("A tensor that training moves: a weight or a bias."), "step"),
        Term(
            "patience", N_("patience"), N_("How many epochs without a better val loss early stopping waits."), "train"
        ),
        Term(
            "reduce-on-plateau",
            N_("ReduceLROnPlateau"),
            N_("A scheduler that looks at the val loss and lowers the rate when it has stalled."),
            "optimizers",
        ),
        Term(
            "reproducibility",
            N_("reproducibility"),
            N_("Getting the same numbers again: to the bit on one machine, or in the mean over several seeds."),
            "resume",
        ),
        Term("regularization", N_("regularization"), N_("Whatever holds a model back from learning noise.")),
        Term("resume", N_("resume"), N_("Going on from a checkpoint as if the run had never stopped."), "resume"),
        Term(
            "rng-state",
            N_("RNG state"),
            N_("All that a random generator will ever give, in a few thousand bytes."),
            "resume",
        ),
        Term(
            "scheduler",
            N_("scheduler"),
            N_("An object that changes the optimizer's lr. Its step() comes after the optimizer's."),
            "optimizers",
        ),
        Term("seed", N_("seed"), N_("The number that a generator's state is started from.")),
        Term(
            "set-to-none",
            N_("set_to_none"),
            N_("zero_grad's default: .grad becomes None rather than zeros, and step passes it over."),
            "step",
        ),
        Term(
            "sgd",
            N_("SGD"),
            N_("Stochastic gradient descent: minus lr times the gradient of a mini-batch."),
            "optimizers",
        ),
        Term("sigmoid", N_("sigmoid"), N_("1 ÷ (1 + e⁻ᶻ): a logit as the probability of yes."), "losses"),
        Term(
            "softmax",
            N_("softmax"),
            N_("Exponentials divided by their sum: logits as probabilities that sum to 1."),
            "losses",
        ),
        Term(
            "standardization",
            N_("standardization"),
            N_("Subtracting the training mean and dividing by its standard deviation."),
        ),
        Term(
            "state-dict",
            N_("state_dict"),
            N_("Names and tensors of a model or optimizer. References, not copies."),
            "resume",
        ),
        Term("step", N_("step"), N_("Moves each parameter by the optimizer's rule, reading its .grad."), "step"),
        Term(
            "step-lr",
            N_("StepLR"),
            N_("A schedule that multiplies the rate by gamma every step_size calls."),
            "optimizers",
        ),
        Term("test-set", N_("test set"), N_("Examples looked at once, at the very end.")),
        Term(
            "train-mode",
            N_("train mode"),
            N_("model.train(): every layer's `training` is True, so dropout is on."),
            "modes",
        ),
        Term(
            "underflow",
            N_("underflow"),
            N_("A number too small for its type becoming exactly zero, whose logarithm is minus infinity."),
            "losses",
        ),
        Term(
            "validation",
            N_("validation"),
            N_("Measuring on examples that are not trained on, without changing anything."),
            "train",
        ),
        Term(
            "warm-up", N_("warm-up"), N_("A few first steps with a rate that rises from almost nothing."), "optimizers"
        ),
        Term(
            "weight-decay",
            N_("weight decay"),
            N_("Making every weight a little smaller at each step."),
            "optimizers",
        ),
        Term(
            "weighted-mean",
            N_("weighted mean"),
            N_("Batch means times batch sizes, added up and divided by the number of examples: the whole set's mean."),
            "metrics",
        ),
        Term(
            "weights-only",
            N_("weights_only"),
            N_("torch.load's default: tensors and plain containers only, so that no file can run code."),
            "resume",
        ),
        Term("zero-grad", N_("zero_grad"), N_("Forgets old gradients, so that backward does not add to them."), "step"),
    )
}

TAKEAWAYS = (
    N_(
        "Five calls: forward, loss, zero_grad, backward, step. backward only writes .grad, step moves the parameters, "
        "and scheduler.step() comes after optimizer.step()."
    ),
    N_(
        "Losses take logits: CrossEntropyLoss (N, C) floats and (N,) int64 indices, BCEWithLogitsLoss for two classes. "
        "A softmax before them leaves a floor under the loss and a feeble gradient."
    ),
    N_("Validation takes both: eval() changes how layers behave, no_grad() stops the graph; bring train() back after."),
    N_("Means over batches are weighted by batch size; a smaller last batch makes the naive mean wrong."),
    N_(
        "A checkpoint has model, optimizer, scheduler, epoch, best val loss, patience and all RNG states; then a "
        "resumed run matches to the bit. Early stopping looks at val, so the last word is the test set's."
    ),
)

NEXT = (
    N_("Dataset and DataLoader: batching, seeded shuffles, padding, workers."),
    N_("The GPU and mixed precision: what float16 can hold, and which losses stay in float32."),
    N_("Optimizers and schedules in depth: warm-up, cosine, per batch or per epoch."),
    N_("Regularization: dropout, weight decay and early stopping together."),
    N_("Debugging a training run: overfitting one batch, reading learning curves."),
)


def find(typed: str, translate: Callable[[str], str] = str) -> tuple[Term, ...]:
    """The terms that have `typed` in their name in either language, then those that have it in their definition."""
    wanted = typed.strip().casefold()
    by_name = [t for t in TERMS.values() if any(wanted in x.casefold() for x in (t.name, translate(t.name)))]
    by_text = [
        t
        for t in TERMS.values()
        if t not in by_name and any(wanted in x.casefold() for x in (t.definition, translate(t.definition)))
    ]
    return (*by_name, *by_text)
