"""One or two sentences on what a call did and did not change, made from the numbers of its snapshot."""

from __future__ import annotations

import math

from core.scenes import Scene
from core.trace import Snapshot
from pages.ui.i18n import _, number, plain


def explain(scene: Scene, before: Snapshot | None, now: Snapshot) -> str:
    """What `now`, which came after `before`, means; text with `code` and **bold**."""
    if before is None:
        return _start(scene, now)
    if now.error is not None:
        return _raised(now)
    return _SENTENCES[now.call](scene, before, now)


def _names(scene: Scene) -> dict[str, str]:
    return {"w": f"`{scene.watched}`", "wgrad": f"`{scene.watched.replace('w', 'w.grad')}`"}


def _start(scene: Scene, now: Snapshot) -> str:
    return _("Nothing has run yet: {w} is {value}, its `.grad` is `None`, and there is no loss.").format(
        w=_names(scene)["w"], value=number(now.w)
    )


def _raised(now: Snapshot) -> str:
    if isinstance(now.error, NameError):
        missing = {
            "loss": _("**loss** needs logits, and no forward has made any. Python raised, and nothing changed."),
            "backward": _("**backward** needs a loss, and there is none yet. Python raised, and nothing changed."),
        }
        return missing[now.call]
    return _(
        "**{call}** raised: an earlier backward already went through this graph and freed what it had saved. "
        "Weights, gradients and loss are as they were."
    ).format(call=now.call)


def _forward(scene: Scene, _before: Snapshot, now: Snapshot) -> str:
    if scene.is_classifier:
        return _(
            "**forward** made {rows} × {columns} logits and wrote the graph, ending in `{node}`. "
            "No weight and no gradient changed."
        ).format(rows=plain(now.logits.shape[0]), columns=plain(now.logits.shape[1]), node=now.grad_fn)
    return _(
        "**forward** computed the output {output} and wrote the graph, ending in `{node}`. "
        "Neither the weight nor its gradient changed."
    ).format(output=number(now.logits.item()), node=now.grad_fn)


def _loss(scene: Scene, _before: Snapshot, now: Snapshot) -> str:
    if scene.is_classifier and scene.loss_divisor == 1:
        return _(
            "**loss** is one number, {loss}. A blind guess among three classes costs ln 3 ≈ {guess}. "
            "Weights and gradients are as they were."
        ).format(loss=number(now.loss), guess=number(math.log(3), 3))
    return _("**loss** is one number, {loss}. Weights and gradients are as they were.").format(loss=number(now.loss))


def _zero_grad(scene: Scene, before: Snapshot, now: Snapshot) -> str:
    if now.outcome == "nothing":
        if now.grad is None:
            return _("**zero_grad** had nothing to forget: {wgrad} was `None` already.").format(**_names(scene))
        return _("**zero_grad** had nothing to forget: {wgrad} was zero already.").format(**_names(scene))
    sentence = (
        _("**zero_grad** forgot {old}: {wgrad} is `None` again. {w} did not move.")
        if now.grad is None
        else _("**zero_grad** overwrote {old} with zeros in {wgrad}. {w} did not move.")
    ).format(old=number(before.grad), **_names(scene))
    if before.call == "backward":
        sentence += " " + _("But backward had only just written it: the next step will find nothing to use.")
    return sentence


def _backward(scene: Scene, before: Snapshot, now: Snapshot) -> str:
    names = _names(scene)
    if before.grad:
        return _(
            "**backward** added {new} to the {old} that was there: {wgrad} is now {grad}. {w} is still {value}; "
            "only **step** moves it."
        ).format(
            new=number(now.grad - before.grad),
            old=number(before.grad),
            grad=number(now.grad),
            value=number(now.w),
            **names,
        )
    return _(
        "**backward** wrote {grad} into {wgrad}. {w} is still {value}: backward only computes; "
        "**step** is what moves it."
    ).format(grad=number(now.grad), value=number(now.w), **names)


def _step(scene: Scene, before: Snapshot, now: Snapshot) -> str:
    names = _names(scene)
    if now.outcome == "nothing" and now.grad is None:
        return _(
            "**step** changed nothing and raised nothing: {wgrad} is `None`, "
            "and the optimizer passes over such a weight in silence."
        ).format(**names)
    if "w" not in now.changed:
        return _("**step** moved nothing: {w} is still {value}.").format(value=number(now.w), **names)
    sentence = _("**step** moved {w} from {old} to {new}; {wgrad} keeps its value until zero_grad.").format(
        old=number(before.w), new=number(now.w), **names
    )
    if now.next_loss is not None and now.loss is not None:
        sentence += " " + _("On the same batch the next loss will be {next}, after {loss}.").format(
            next=number(now.next_loss), loss=number(now.loss)
        )
    return sentence


_SENTENCES = {"forward": _forward, "loss": _loss, "zero_grad": _zero_grad, "backward": _backward, "step": _step}
