"""What the losses page shows of its reports, as HTML and figures, and the sentence to take away from each."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from core.loss_inputs import Answer, Case, SilentCase
from core.losses import BinarySweep, LogitsReport, Path
from pages.ui.chart import COLOURS, layout
from pages.ui.code import code_html
from pages.ui.i18n import _, localise, number, plain
from pages.ui.markup import rich
from pages.ui.tables import meter, table, value
from pages.ui.terms import sentence

_LONGEST = math.sqrt(2)  # of p - one_hot(y)


def both_ways(report: LogitsReport) -> str:
    """The right loss and the one after a softmax too many, side by side."""
    right = _way("right", "✓", "loss_fn(logits, y)", report.right, report)
    twice = _way("twice", "✗", "loss_fn(torch.softmax(logits, dim=1), y)", report.twice, report)
    return f'<div class="fc-pair">{right}{twice}</div>'


def _way(name: str, sign: str, code: str, path: Path, report: LogitsReport) -> str:
    look = "right" if name == "right" else "wrong"
    classes = [
        _("class {i}").format(i=plain(i)) + (" ●" if i == report.target else "") for i in range(len(report.logits))
    ]
    rows = [
        ("softmax", *(value(p, name=f"{name}-p{i}") for i, p in enumerate(path.probabilities))),
        ("gradient", *(value(g, name=f"{name}-g{i}") for i, g in enumerate(path.gradient))),
    ]
    least = 0.0 if name == "right" else report.floor
    figures = "".join(
        f'<div class="fc-figure"><span>{escape(text)}</span><b>{value(figure, name=f"{name}-{key}")}</b>'
        f"{meter(figure, most, kind)}</div>"
        for key, text, figure, most, kind in (
            ("loss", "loss", path.loss, 5, "loss"),
            ("floor", _("least possible loss"), least, 5, "loss"),
            ("norm", _("length of the gradient"), path.norm, _LONGEST, "gradient"),
        )
    )
    return (
        f'<section class="fc-card"><h3><span class="fc-{look}">{sign}</span> <code>{escape(code)}</code></h3>'
        f"{table(['', *classes], rows, label=code)}{figures}</section>"
    )


def both_ways_say(report: LogitsReport) -> str:
    chosen = max(range(len(report.logits)), key=report.logits.__getitem__)
    p = report.right.probabilities[report.target]
    numbers = {
        "right": number(report.right.norm),
        "twice": number(report.twice.norm),
        "ratio": number(report.ratio, 1),
        "floor": number(report.floor),
        "loss": number(report.right.loss),
        "stuck": number(report.twice.loss),
        "p": number(p),
        "cap": number(math.exp(-report.floor)),
        "most": number(max(report.twice.probabilities)),
    }
    if p < 0.5 and chosen != report.target:
        text = _(
            "The model prefers a wrong class. On logits the gradient that corrects it has length {right}; after a "
            "second softmax {twice}, **{ratio} times weaker**."
        )
    elif p > 0.9:
        text = _(
            "The model is sure and right: the loss on logits is {loss}. After a second softmax it is still {stuck}, "
            "and **can never go below {floor}**: no probability there exceeds {cap}."
        )
    else:
        text = _(
            "On logits the true class has probability {p}; the second softmax flattens all three to {most} at most. "
            "Its gradient is **{ratio} times weaker**, and its loss never goes below {floor}."
        )
    return sentence(localise(text).format(**numbers), "logits", "softmax", "gradient")


def spellings(report: LogitsReport) -> str:
    rows = [
        ("`nn.CrossEntropyLoss()(logits, y)`", value(report.module, name="module")),
        ("`F.cross_entropy(logits, y)`", value(report.function, name="function")),
        ("`-F.log_softmax(logits, dim=1)[0, y]`", value(report.by_hand, name="by-hand")),
    ]
    return table(["", "loss"], rows, label=_("Three spellings"))


def one_logit(at: BinarySweep) -> str:
    """Both losses at one logit."""
    rows = [
        (
            "✓ `BCEWithLogitsLoss()(z, y)`",
            value(at.fused_loss[0], name="fused-loss"),
            value(at.fused_gradient[0], name="fused-gradient"),
        ),
        (
            f"{'✓' if agree(at) else '✗'} `BCELoss()(torch.sigmoid(z), y)`",
            _beside(at.split_loss[0], at.fused_loss[0], "split-loss"),
            _beside(at.split_gradient[0], at.fused_gradient[0], "split-gradient"),
        ),
    ]
    return table(["", "loss", "gradient"], rows, label=_("Loss and gradient at this logit"))


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-2, abs_tol=1e-4)


def agree(at: BinarySweep) -> bool:
    """Whether both ways give about the same loss and gradient."""
    return _near(at.split_loss[0], at.fused_loss[0]) and _near(at.split_gradient[0], at.fused_gradient[0])


def _beside(figure: float, right: float, name: str) -> str:
    """The number, marked where it is not the right one."""
    shown = value(figure, name=name)
    return shown if _near(figure, right) else f'<span class="fc-wrong">✗ {shown}</span>'


def one_logit_say(at: BinarySweep) -> str:
    fused, split, gradient = at.fused_loss[0], at.split_loss[0], at.split_gradient[0]
    numbers = {
        "logit": plain(at.logits[0]),
        "label": plain(at.label),
        "dtype": at.dtype,
        "fused": number(fused),
        "split": number(split),
        "full": number(at.fused_gradient[0]),
        "gradient": f"`{gradient}`" if gradient != gradient else number(gradient),
    }
    if split >= 100 or gradient != gradient:
        text = _(
            "The sigmoid of {logit} rounds to exactly 0 or 1 in `{dtype}`; `BCELoss` cuts the logarithm of zero off at "
            "−100, so it says {split}, where the loss is {fused}. Its gradient is {gradient} instead of {full}."
        )
    elif not agree(at):
        text = _(
            "In `{dtype}` the sigmoid of {logit} has lost digits: apart, loss and gradient are {split} and {gradient}; "
            "fused {fused} and {full}. `BCEWithLogitsLoss` works on the logit itself."
        )
    else:
        text = _(
            "At logit {logit}, label {label}, both agree: {fused}. Move the logit far to the wrong side, "
            "and only `BCEWithLogitsLoss` keeps telling the truth."
        )
    return sentence(localise(text).format(**numbers), "sigmoid", "bce-with-logits")


def sweep_figure(sweep: BinarySweep, logit: float, of: str) -> dict[str, Any]:
    """Loss (`of` "loss") or gradient over the logit, both ways, the chosen logit marked."""
    fused, split = getattr(sweep, f"fused_{of}"), getattr(sweep, f"split_{of}")
    titles = {"loss": _("Loss at each logit"), "gradient": _("Gradient at each logit")}
    axes = {"loss": "loss", "gradient": "d loss / d logit"}
    end = -1 if sweep.label == 0 else 0
    lines = (("BCEWithLogitsLoss", fused, COLOURS["best"], "solid"), ("BCELoss", split, COLOURS["stop"], "dash"))
    shown = {
        "data": [
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": list(sweep.logits),
                "y": [y if math.isfinite(y) else None for y in ys],
                "line": {"color": colour, "dash": dash, "width": 3},
            }
            for name, ys, colour, dash in lines
        ],
        "layout": layout(titles[of], "logit", axes[of]),
    }
    shown["layout"]["shapes"] = [
        {
            "type": "line", "x0": logit, "x1": logit, "yref": "paper", "y0": 0, "y1": 1,
            "line": {"color": COLOURS["weight"], "width": 2, "dash": "dot"},
        }
    ]  # fmt: skip
    side = "right" if sweep.label == 0 else "left"
    shown["layout"]["annotations"] = [
        {
            "x": sweep.logits[end] * 0.97, "y": y, "text": name, "showarrow": False, "xanchor": side,
            "yanchor": "bottom" if of == "loss" or name == "BCELoss" else "top", "yshift": shift,
            "font": {"color": colour, "size": 13}, "bgcolor": COLOURS["paper"],
        }
        for name, y, colour, shift in (
            ("BCEWithLogitsLoss", fused[end], COLOURS["best"], -8 if of == "loss" else -6 if sweep.label == 0 else 30),
            ("BCELoss", split[end] if math.isfinite(split[end]) else 0, COLOURS["stop"], 6 if sweep.label == 0 else 0),
        )
    ]  # fmt: skip
    return shown


def call_code(case: Case) -> str:
    """The call under question as code."""
    loss, given, given_dtype, target, target_dtype = case
    lines = (
        f"given:  shape {given}, torch.{given_dtype}",
        f"target: shape {target}, torch.{target_dtype}",
        f"nn.{loss}()(given, target)",
    )
    source = f"# {lines[0]}\n# {lines[1]}\n{lines[2]}"
    return f'<div class="fc-box">{code_html(source)}</div>'


def answer(found: Answer) -> str:
    """What PyTorch answered, and why; room is kept for its longest error."""
    if found.error is not None:
        sign, body = _("✗ PyTorch raised:"), f'<pre class="fc-error">{escape(found.error)}</pre>'
    else:
        sign = _("✓ PyTorch returned a loss:") if found.fine else _("⚠ PyTorch returned a number, and said nothing:")
        body = f'<p class="fc-big">{value(found.loss, name="loss")}</p>'
    look = "right" if found.fine else "wrong"
    verdict = f'<p class="fc-verdict fc-{look}">{escape(sign)}</p>'
    cause = sentence(_(found.cause), "logits", "class-index", "one-hot", "nll-loss")
    return f'<div class="fc-reply">{verdict}{body}</div>{cause}'


def silent(cases: tuple[SilentCase, ...]) -> str:
    """The wrong calls that raise nothing: the wrong line, the right one, and what each gives."""
    return "".join(
        '<section class="fc-card">'
        + table(
            ["", _("gives")],
            [(f"✗ `{case.wrong_line}`", value(case.wrong)), (f"✓ `{case.right_line}`", value(case.right))],
            label=case.wrong_line,
        )
        + f"<p>{rich(_(case.why))}</p>"
        + (f'<pre class="fc-error">UserWarning: {escape(case.warning)}</pre>' if case.warning else "")
        + "</section>"
        for case in cases
    )
