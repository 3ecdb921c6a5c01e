"""The lesson's terms, one sentence each. Other pages show a term by its key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.messages import N_


@dataclass(frozen=True)
class Term:
    key: str
    name: str
    """As PyTorch and its users write it, in every language."""
    definition: str
    page: str = ""
    """The page that shows it live, by its path; empty where none does."""
    also: tuple[str, ...] = ()
    """What else names it in a sentence, in either language: the call that stands for it, another form of the word."""

    @property
    def bangla(self) -> str:
        """How the name is read or understood in Bangla, for those who look for it so."""
        return _BANGLA[self.key]


TERMS = {
    term.key: term
    for term in (
        Term("accuracy", "accuracy", N_("The share of examples whose largest logit is the true class."), "metrics"),
        Term(
            "adamw",
            "AdamW",
            N_(
                "An optimizer that divides each parameter's mean gradient by the root of its mean square, and applies "
                "weight decay to the weights rather than through the gradient."
            ),
            "optimizers",
        ),
        Term(
            "autograd",
            "autograd",
            N_("The part of PyTorch that writes down operations as they run and works out gradients from the record."),
            "step",
        ),
        Term(
            "backward",
            "backward",
            N_("Walks the graph from the loss to the parameters and adds each one's gradient to its .grad."),
            "step",
            ("backward()",),
        ),
        Term(
            "batchnorm",
            "BatchNorm",
            N_("A layer that normalizes by the batch's mean and variance in training, by running ones in eval mode."),
            "modes",
        ),
        Term(
            "bce-with-logits",
            "BCEWithLogitsLoss",
            N_("The loss for yes or no: sigmoid and binary cross-entropy in one stable formula. Takes logits."),
            "losses",
        ),
        Term(
            "bias-correction",
            "bias correction",
            N_("Adam's division by 1 − βᵗ, which makes up for its running means having started at zero."),
            "optimizers",
        ),
        Term(
            "checkpoint",
            "checkpoint",
            N_("A file with all that a run needs to go on: weights, optimizer, counters and RNG states."),
            "resume",
        ),
        Term("class-index", "class index", N_("The true class as a whole number from 0 to C − 1, int64."), "losses"),
        Term(
            "cosine-schedule",
            "cosine schedule",
            N_("A learning rate that falls along half a cosine, slowly at first and at the end."),
            "optimizers",
        ),
        Term(
            "cross-entropy",
            "cross-entropy",
            N_("Minus the logarithm of the probability given to the true class, averaged over the batch."),
            "losses",
        ),
        Term(
            "data-leakage",
            "data leakage",
            N_("Validation data having a say in training, for instance in the mean used to standardize."),
        ),
        Term(
            "dataloader",
            "DataLoader",
            N_("PyTorch's cutter of a data set into batches, shuffled by a generator if asked."),
        ),
        Term(
            "decision-boundary",
            "decision boundary",
            N_("The line across which a classifier's answer changes from one class to another."),
            "numpy",
        ),
        Term(
            "double-descent",
            "double descent",
            N_("A val loss that rises and later falls again, seen in some large models."),
        ),
        Term(
            "drop-last",
            "drop_last",
            N_(
                "A DataLoader's setting to leave out a smaller last batch. In validation it leaves examples unmeasured."
            ),
            "metrics",
        ),
        Term(
            "dropout",
            "dropout",
            N_("A layer that zeroes random units in training and scales up the rest; in eval mode it does nothing."),
            "modes",
        ),
        Term(
            "early-stopping",
            "early stopping",
            N_("Ending a run once the val loss has not improved for a number of epochs."),
            "train",
        ),
        Term("epoch", "epoch", N_("One pass through all training examples."), "train"),
        Term(
            "eval-mode",
            "eval mode",
            N_("model.eval(): every layer's `training` is False, so dropout rests. It does not touch gradients."),
            "modes",
            ("eval()",),
        ),
        Term(
            "exp-avg",
            "exp_avg, exp_avg_sq",
            N_("Adam's running means of the gradient and of its square, two tensors of each parameter's own shape."),
            "optimizers",
        ),
        Term(
            "floor",
            "floor of the loss",
            N_("The value a loss cannot go below; −ln(e ÷ (e + C − 1)) for C classes when softmax is taken twice."),
            "losses",
        ),
        Term("forward", "forward", N_("Computing the logits from a batch; autograd writes the graph."), "step"),
        Term(
            "generator",
            "generator",
            N_("An object that random numbers are drawn from; its state decides all that follow."),
        ),
        Term(
            "grad",
            ".grad",
            N_("Where a parameter's gradient is kept. None until a backward has written it."),
            "step",
        ),
        Term(
            "grad-fn",
            "grad_fn",
            N_("The graph's node that made a tensor, and knows how to go backward through it."),
            "step",
        ),
        Term("grad-norm", "gradient norm", N_("The length of all gradients taken as one vector."), "mistakes"),
        Term(
            "gradient",
            "gradient",
            N_("How fast the loss rises with each parameter; step goes the other way."),
            "step",
        ),
        Term(
            "gradient-accumulation",
            "gradient accumulation",
            N_("Several small batches' backward before one step, each loss divided by their number."),
            "step",
        ),
        Term("graph", "graph", N_("The record of operations from the parameters to the loss."), "step"),
        Term(
            "jacobian",
            "Jacobian",
            N_("The table of every output's derivative by every input; softmax's is diag(p) − ppᵀ."),
            "losses",
        ),
        Term("label-noise", "label noise", N_("Wrong labels in the data; no model should learn them by heart.")),
        Term(
            "learning-rate",
            "learning rate",
            N_("lr, the factor by which step multiplies the direction it moves in."),
            "optimizers",
        ),
        Term(
            "log-sum-exp",
            "log-sum-exp",
            N_("log of a sum of exponentials, computed with the largest taken off first so that nothing overflows."),
            "losses",
        ),
        Term(
            "logits",
            "logits",
            N_("The last layer's raw numbers: any real values, before softmax or sigmoid."),
            "losses",
        ),
        Term(
            "loss",
            "loss",
            N_("One number for how far the logits are from the targets; training makes it small."),
            "step",
        ),
        Term("mini-batch", "mini-batch", N_("The few examples that one step learns from."), "train"),
        Term(
            "momentum",
            "momentum",
            N_("A running sum of past gradients that SGD moves along; kept as momentum_buffer."),
            "optimizers",
        ),
        Term("naive-mean", "naive mean", N_("The mean of the batches' means, whatever their sizes."), "metrics"),
        Term(
            "nll-loss",
            "NLLLoss",
            N_("Negative log-likelihood: takes log-probabilities, which it does not check."),
            "losses",
        ),
        Term(
            "no-grad",
            "no_grad",
            N_("torch.no_grad(): no graph is written in its block. It does not change how layers behave."),
            "modes",
            ("no_grad()",),
        ),
        Term(
            "one-cycle",
            "OneCycleLR",
            N_("A schedule that climbs to a maximum and falls far below its start, called after every batch."),
            "optimizers",
        ),
        Term("one-hot", "one-hot", N_("A class written as a row of zeros with a single one.")),
        Term(
            "optimizer",
            "optimizer",
            N_("The object that holds the parameters and moves them by a rule at each step()."),
            "optimizers",
        ),
        Term(
            "overfit-one-batch",
            "overfit one batch",
            N_("The first test of a new loop: on one batch, over and over, the loss must go to almost zero."),
            "review",
            ("overfitting one batch", "একটি batch overfit"),
        ),
        Term(
            "overfitting",
            "overfitting",
            N_("Learning the training data's noise: train loss falls on while val loss rises."),
            "train",
        ),
        Term(
            "param-groups",
            "param_groups",
            N_("The optimizer's lists of parameters, each with its own settings."),
            "optimizers",
        ),
        Term("parameter", "parameter", N_("A tensor that training moves: a weight or a bias."), "step"),
        Term("patience", "patience", N_("How many epochs without a better val loss early stopping waits."), "train"),
        Term(
            "reduce-on-plateau",
            "ReduceLROnPlateau",
            N_("A scheduler that looks at the val loss and lowers the rate when it has stalled."),
            "optimizers",
        ),
        Term(
            "reproducibility",
            "reproducibility",
            N_("Getting the same numbers again: to the bit on one machine, or in the mean over several seeds."),
            "resume",
        ),
        Term("regularization", "regularization", N_("Whatever holds a model back from learning noise.")),
        Term("resume", "resume", N_("Going on from a checkpoint as if the run had never stopped."), "resume"),
        Term(
            "rng-state",
            "RNG state",
            N_("All that a random generator will ever give, in a few thousand bytes."),
            "resume",
        ),
        Term(
            "scheduler",
            "scheduler",
            N_("An object that changes the optimizer's lr. Its step() comes after the optimizer's."),
            "optimizers",
        ),
        Term("seed", "seed", N_("The number that a generator's state is started from.")),
        Term(
            "set-to-none",
            "set_to_none",
            N_("zero_grad's default: .grad becomes None rather than zeros, and step passes it over."),
            "step",
        ),
        Term(
            "sgd",
            "SGD",
            N_("Stochastic gradient descent: minus lr times the gradient of a mini-batch."),
            "optimizers",
        ),
        Term("sigmoid", "sigmoid", N_("1 ÷ (1 + e⁻ᶻ): a logit as the probability of yes."), "losses"),
        Term(
            "softmax",
            "softmax",
            N_("Exponentials divided by their sum: logits as probabilities that sum to 1."),
            "losses",
        ),
        Term(
            "standardization",
            "standardization",
            N_("Subtracting the training mean and dividing by its standard deviation."),
        ),
        Term(
            "state-dict",
            "state_dict",
            N_("Names and tensors of a model or optimizer. References, not copies."),
            "resume",
        ),
        Term("step", "step", N_("Moves each parameter by the optimizer's rule, reading its .grad."), "step"),
        Term(
            "step-lr",
            "StepLR",
            N_("A schedule that multiplies the rate by gamma every step_size calls."),
            "optimizers",
        ),
        Term("test-set", "test set", N_("Examples looked at once, at the very end.")),
        Term(
            "train-mode",
            "train mode",
            N_("model.train(): every layer's `training` is True, so dropout is on."),
            "modes",
            ("train()", "training mode"),
        ),
        Term(
            "underflow",
            "underflow",
            N_("A number too small for its type becoming exactly zero, whose logarithm is minus infinity."),
            "losses",
        ),
        Term(
            "validation",
            "validation",
            N_("Measuring on examples that are not trained on, without changing anything."),
            "train",
        ),
        Term("warm-up", "warm-up", N_("A few first steps with a rate that rises from almost nothing."), "optimizers"),
        Term(
            "weight-decay",
            "weight decay",
            N_("Making every weight a little smaller at each step."),
            "optimizers",
        ),
        Term(
            "weighted-mean",
            "weighted mean",
            N_("Batch means times batch sizes, added up and divided by the number of examples: the whole set's mean."),
            "metrics",
        ),
        Term(
            "weights-only",
            "weights_only",
            N_("torch.load's default: tensors and plain containers only, so that no file can run code."),
            "resume",
        ),
        Term(
            "zero-grad",
            "zero_grad",
            N_("Forgets old gradients, so that backward does not add to them."),
            "step",
            ("zero_grad()",),
        ),
    )
}

_BANGLA = {
    "accuracy": "নির্ভুলতা, অ্যাকুরেসি",
    "adamw": "অ্যাডাম-ডব্লিউ",
    "autograd": "অটোগ্র্যাড, নিজে থেকে gradient",
    "backward": "ব্যাকওয়ার্ড, পেছনে হাঁটা",
    "batchnorm": "ব্যাচ-নর্ম",
    "bce-with-logits": "হ্যাঁ-না প্রশ্নের loss",
    "bias-correction": "শুরুর ঝোঁক শোধরানো",
    "checkpoint": "চেকপয়েন্ট, মাঝপথের সংরক্ষণ",
    "class-index": "শ্রেণি-সূচক",
    "cosine-schedule": "কোসাইন সূচি",
    "cross-entropy": "ক্রস-এনট্রপি",
    "data-leakage": "তথ্য ফাঁস",
    "dataloader": "ডেটালোডার",
    "decision-boundary": "সিদ্ধান্তের সীমানা",
    "double-descent": "দুবার নামা",
    "drop-last": "শেষ batch বাদ",
    "dropout": "ড্রপআউট",
    "early-stopping": "আগেভাগে থামা",
    "epoch": "ইপক, পুরো ডেটা একবার ঘোরা",
    "eval-mode": "যাচাইয়ের অবস্থা",
    "exp-avg": "চলমান গড়",
    "floor": "loss-এর নিচের সীমা",
    "forward": "ফরওয়ার্ড, সামনে হাঁটা",
    "generator": "জেনারেটর, র‍্যান্ডম সংখ্যার উৎস",
    "grad": "gradient রাখার জায়গা",
    "grad-fn": "যে কাজে tensor তৈরি",
    "grad-norm": "gradient-এর দৈর্ঘ্য",
    "gradient": "গ্রেডিয়েন্ট, ঢাল",
    "gradient-accumulation": "gradient জমানো",
    "graph": "গ্রাফ, হিসাবের নকশা",
    "jacobian": "জ্যাকোবিয়ান",
    "label-noise": "ভুল লেবেল",
    "learning-rate": "শেখার হার",
    "log-sum-exp": "লগ-সাম-এক্সপ",
    "logits": "লজিট, কাঁচা স্কোর",
    "loss": "লস, ক্ষতি",
    "mini-batch": "মিনি-ব্যাচ, ছোট দল",
    "momentum": "ভরবেগ, মোমেন্টাম",
    "naive-mean": "সরল গড়",
    "nll-loss": "ঋণাত্মক log-likelihood",
    "no-grad": "gradient বন্ধ",
    "one-cycle": "এক চক্রের সূচি",
    "one-hot": "ওয়ান-হট",
    "optimizer": "অপটিমাইজার",
    "overfit-one-batch": "একটি batch মুখস্থ করানো",
    "overfitting": "মুখস্থ করে ফেলা, ওভারফিটিং",
    "param-groups": "parameter-এর দল",
    "parameter": "প্যারামিটার",
    "patience": "ধৈর্য",
    "reduce-on-plateau": "থমকে গেলে হার কমানো",
    "reproducibility": "পুনরায় একই ফল",
    "regularization": "নিয়ন্ত্রণ, রেগুলারাইজেশন",
    "resume": "আবার চালানো",
    "rng-state": "র‍্যান্ডম সংখ্যার অবস্থা",
    "scheduler": "শিডিউলার, হারের সূচি",
    "seed": "বীজ, সিড",
    "set-to-none": "None বসানো",
    "sgd": "এসজিডি",
    "sigmoid": "সিগময়েড",
    "softmax": "সফটম্যাক্স",
    "standardization": "প্রমিতকরণ",
    "state-dict": "অবস্থার তালিকা",
    "step": "স্টেপ, ধাপ",
    "step-lr": "ধাপে ধাপে হার কমা",
    "test-set": "শেষ পরীক্ষার ডেটা",
    "train-mode": "শেখার অবস্থা",
    "underflow": "এত ছোট যে শূন্য",
    "validation": "যাচাই, ভ্যালিডেশন",
    "warm-up": "ওয়ার্ম-আপ, ধীরে শুরু",
    "weight-decay": "weight কমতে থাকা",
    "weighted-mean": "ওজন করা গড়",
    "weights-only": "শুধু weight পড়া",
    "zero-grad": "gradient মোছা",
}


def find(typed: str, translate: Callable[[str], str] = str) -> tuple[Term, ...]:
    """The terms that have `typed` in their name in either language, then those that have it in their definition.

    `translate` gives a definition in Bangla, whatever the visitor's own language.
    """
    wanted = typed.strip().casefold()
    by_name = [t for t in TERMS.values() if any(wanted in x.casefold() for x in (t.name, t.bangla))]
    by_text = [
        t
        for t in TERMS.values()
        if t not in by_name and any(wanted in x.casefold() for x in (t.definition, translate(t.definition)))
    ]
    return (*by_name, *by_text)
