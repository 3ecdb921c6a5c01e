"""The mode grid as a script to take home."""

from __future__ import annotations

from core.modes import ModeConfig, fit_config, masks_seed
from core.run_script import trained_lines


def modes_script(config: ModeConfig) -> str:
    """A file that trains the model with early stopping and prints a line for each cell, its losses to four digits."""
    fit = fit_config(config.layers, config.dropout, config.seed)
    return f"""\
{trained_lines(fit)}print("best epoch", best_epoch)

batches = list(zip(x[val].split(64), y[val].split(64)))
known = [*model.parameters(), *model.buffers(), *(tensor for batch in batches for tensor in batch)]

def measure(model, mode, context):
    model.train(mode == "train")
    torch.manual_seed({masks_seed(config)})  # the same dropout masks in every cell
    before = [buffer.clone() for buffer in model.buffers()]
    own = {{tensor.untyped_storage().data_ptr() for tensor in [*known, *model.parameters(), *model.buffers()]}}
    kept, losses = {{}}, []

    def keep(tensor):  # what autograd saves for backward, apart from the model and the data
        if tensor.untyped_storage().data_ptr() not in own:
            kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with context():
        for count in (True, False):
            total = 0.0
            for xb, yb in batches:
                hooks = torch.autograd.graph.saved_tensors_hooks(keep if count else lambda t: t, lambda t: t)
                with hooks:
                    logits = model(xb)
                    loss = loss_fn(logits, yb)
                total += loss.item() * len(yb)
            losses.append(total / 200)
    node = "None" if logits.grad_fn is None else logits.grad_fn.name()
    moved = any(not torch.equal(a, b) for a, b in zip(before, model.buffers()))
    try:
        logits * torch.ones(3, requires_grad=True)
        later = "allowed"
    except RuntimeError as error:
        later = type(error).__name__
    print(f"{{mode:<5}} {{context.__name__:<14}} val loss {{losses[0]:.4f}} {{losses[1]:.4f}}",
          f"requires_grad {{logits.requires_grad}}  grad_fn {{node}}",
          f"kept {{sum(t.untyped_storage().nbytes() for t in kept.values())}} bytes",
          f"statistics moved {{moved}}  left in {{'train' if model.training else 'eval'}}",
          f"later graph {{later}}", sep="  ")

for mode in ("train", "eval"):
    for context in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        measure(copy.deepcopy(model), mode, context)
"""
