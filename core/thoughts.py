"""Five questions to think about; each has an answer to compare with, and a sentence to keep."""

from __future__ import annotations

from core.messages import N_, Message
from core.practice import ThoughtQuestion

THOUGHTS = (
    ThoughtQuestion(
        "early-stopping",
        Message(N_("Early stopping is so simple a rule. Why is there so much to say about when to stop?")),
        (
            Message(
                N_(
                    "A real val curve is not smooth. It dips, rises, and dips again, and a rule that gives up at the "
                    "first rise may stop short of a better place. A patient rule finds slightly better models and "
                    "pays for them in time; Prechelt measured that trade in 1998."
                )
            ),
            Message(
                N_(
                    "Choosing an epoch by its val loss is a small search on the validation set, so the value found is "
                    "partly luck: only a test set, looked at once, tells what the model is worth. On 200 customers, "
                    "one hundredth of accuracy is two people. And in some large models the val loss rises once and "
                    "falls again later, so many train them for a fixed number of steps and choose afterwards."
                )
            ),
        ),
        Message(
            N_(
                "Early stopping is a cheap and good regularizer, and a decision made on the validation set: choose "
                "patience with thought, keep checkpoints, measure on a test set at the end."
            )
        ),
    ),
    ThoughtQuestion(
        "modes",
        Message(
            N_("Training and eval mode are a flag hidden in the model. Why was it made so, and where does it bite?")
        ),
        (
            Message(
                N_(
                    "Dropout and BatchNorm must behave differently while training and in use. With a flag in every "
                    "module the code of forward stays one and the same. The price is hidden state: a validation that "
                    "forgets model.train() at its end switches dropout off for the next epoch, and nothing says so. "
                    "Other libraries pass the mode as an argument of each call."
                )
            ),
            Message(
                N_(
                    "BatchNorm's running mean moves in training mode even under no_grad, so that a validation in the "
                    "wrong mode changes the model itself. A server that forgets eval() gives one request two answers."
                )
            ),
        ),
        Message(
            N_(
                "Put eval() and no_grad() into evaluate, restore the mode you found, and know of each new layer "
                "whether the mode changes it."
            )
        ),
    ),
    ThoughtQuestion(
        "reproducibility",
        Message(N_("Why do two runs with the same seed so often not agree?")),
        (
            Message(
                N_(
                    "A seed covers one generator. A project has several: torch's own, the DataLoader's, NumPy's, "
                    "Python's, one in each worker, one on the GPU. And even the same random numbers do not settle the "
                    "order of a sum: (a + b) + c and a + (b + c) can differ in the last bit, a GPU adds in whatever "
                    "order its threads finish, and thousands of steps make much of one bit."
                )
            ),
            Message(
                N_(
                    "Agreement to the bit is for resuming and for hunting faults, and holds on one machine, one build "
                    "and known sources of randomness. A claim that one method is better needs the other kind: several "
                    "seeds, their mean and their spread. Henderson and others showed in 2018 how a seed can turn a "
                    "published comparison around."
                )
            ),
        ),
        Message(
            N_(
                "A seed is not enough: to the bit means the state of every source and the order of every sum; a claim "
                "means several seeds."
            )
        ),
    ),
    ThoughtQuestion(
        "logits",
        Message(N_("Why do libraries want logits for a loss, and not probabilities?")),
        (
            Message(
                N_(
                    "log softmax is z minus log-sum-exp, which is stable once the largest logit has been taken off. "
                    "Taken apart, a small probability becomes exactly 0 and its logarithm minus infinity, or a "
                    "sigmoid becomes exactly 1 and the loss is cut off at 100."
                )
            ),
            Message(
                N_(
                    "The gradient gains too: on logits it is p minus y, between -1 and 1. By way of probabilities it "
                    "is "
                    "1/p, which can be huge, times a Jacobian that can be tiny. float16 makes both worse, which is why "
                    "mixed precision computes losses in float32."
                )
            ),
        ),
        Message(
            N_("End the model in logits, give the loss logits, and take softmax only when you need probabilities.")
        ),
    ),
    ThoughtQuestion(
        "own-loop",
        Message(N_("Write your own training loop, or take Keras's fit, Lightning or a Trainer?")),
        (
            Message(
                N_(
                    "A ready-made loop is tested, has eval mode, weighted means, scheduler and checkpoints right, "
                    "and brings several GPUs and mixed precision along. It also hides them: defaults change between "
                    "versions, hooks run at times of their own, and whoever needs something unusual fights the frame."
                )
            ),
            Message(
                N_(
                    "PyTorch leaves the loop to you on purpose. Many learn by writing it, then use a frame in "
                    "production; many researchers stay with a short loop that can be read. Either way, whoever knows "
                    "the five calls, the two switches and what is in a checkpoint can read any frame's log."
                )
            ),
        ),
        Message(
            N_("A frame saves the writing, not the understanding: write the loop once, test it, then trust defaults.")
        ),
    ),
)
