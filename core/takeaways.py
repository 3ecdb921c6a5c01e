"""What to remember of the lesson, and where to go next."""

from __future__ import annotations

from core.messages import N_

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
