"""What the resume page says and shows of a comparison, as HTML."""

from __future__ import annotations

from html import escape

from core.checkpoint import PARTS, Checkpoint, CheckpointError, Entry, contents
from core.config import SettingError
from core.fit_config import FIELDS
from core.records import EpochRecord, StepRecord
from core.resume import REASONS, Comparison, ResumeConfig
from pages.ui.i18n import _, localise, number, plain
from pages.ui.markup import rich
from pages.ui.terms import with_terms

_MOST_KEYS = 300
"""So many keys of a file are listed; a run's has some 40."""
_EXPLAINED = (
    "checkpoint", "resume", "optimizer", "scheduler", "rng-state", "dropout", "epoch", "patience", "early-stopping",
    "adamw",
)  # fmt: skip


def part_names() -> dict[str, str]:
    """The parts that a resume can leave out, as their buttons name them."""
    return {
        "optimizer": "optimizer",
        "torch_rng": _("torch's RNG"),
        "loader_rng": _("the loader's RNG"),
        "loop": _("epoch, best, patience count"),
        "scheduler": "scheduler",
        "position": _("position in the epoch"),
    }


def verdict(result: Comparison, config: ResumeConfig) -> str:
    """Equal to the bit, or the first step at which they part, in one sentence; then that step on both sides."""
    if not result.rows and result.exact:
        text = _("**Nothing to train**: the run was over when it was saved, so the resume stops at once, as it should.")
    elif result.exact:
        text = _(
            "**✓ Equal to the bit**: {equal} of {tensors} tensors by `torch.equal`, and {lines} of {lines} log lines."
        )
        text += " " + _harmless(config)
    else:
        text = f"{_where(result)} {_why(result, config)} " + _(
            "At the end {equal} of {tensors} tensors are equal; the largest difference is {difference}."
        )
    text = text.format(
        equal=plain(result.equal_tensors),
        tensors=plain(result.tensors),
        lines=plain(len(result.full.epochs)),
        difference=number(result.largest_difference),
    )
    look = "fc-say" if result.exact else "fc-say fc-parted"
    return (
        f'<p class="{look}" aria-live="polite" data-exact="{int(result.exact)}">'
        f"{with_terms(rich(text), *_EXPLAINED)}</p>{_step_table(result)}"
    )


def _harmless(config: ResumeConfig) -> str:
    """Why a wrong order did no harm here."""
    if config.order == "rng-before-skip" and not config.batch:
        return _("This order does harm only within an epoch, where there are batches to skip: take some.")
    if config.order == "stopper-before-update":
        return _("This order does harm only at the end of an epoch, where the stopper has just been updated.")
    if config.skip:
        return _("What was left out made no difference here.")
    return _(
        "The checkpoint holds all that the rest of the run depends on. Leave a part out, and see where the runs part."
    )


def _where(result: Comparison) -> str:
    step = result.parting.full or result.parting.resumed
    if result.parting.reason == "length":
        sides = (len(result.before) + len(side.epochs) for side in (result.full, result.resumed))
        alone, resumed = (plain(count) for count in sides)
        text = _("**✗ One run is longer**: {alone} epochs left alone, {resumed} with the resume.")
        return text.format(alone=alone, resumed=resumed)
    if step is None:
        return _("**✗ Not equal.**")
    return _("**✗ They part at epoch {epoch}, batch {batch}**: {reason}.").format(
        epoch=plain(step.epoch), batch=plain(step.batch), reason=_(REASONS[result.parting.reason])
    )


def _why(result: Comparison, config: ResumeConfig) -> str:
    """What was left out or out of order, if that explains the parting."""
    causes = {
        "optimizer": _("Without its state, the optimizer starts its running means and its lr afresh."),
        "torch_rng": _("Without torch's RNG state, dropout draws the masks of a new run."),
        "loader_rng": _("Without the loader's RNG state, the shuffle begins again with the orders of a new run."),
        "loop": _("Without its counters, the run begins again at epoch 1 and forgets its best val loss."),
        "scheduler": _("Without its state, the scheduler counts from 0 again."),
        "position": _("Without its position, the epoch under way begins again and takes rows twice."),
        "rng-before-skip": _("Skipping after the RNG was restored draws from what should have come later."),
        "stopper-before-update": _("The stopper was saved one epoch old, so patience counts one too few."),
    }
    likely = {
        "order": ("position", "loader_rng", "rng-before-skip"),
        "lr": ("optimizer", "scheduler"),
        "loss": ("torch_rng",),
        "step": ("optimizer",),
        "length": ("loop", "stopper-before-update"),
        "log": ("loop", "position", "stopper-before-update"),
    }.get(result.parting.reason, ())
    done = (*config.skip, config.order)
    return next((causes[name] for name in (*likely, *causes) if name in done and name in causes), "")


def _step_table(result: Comparison) -> str:
    """The first step at which they part, or the first after the interruption, as each side made it."""
    parting = result.parting
    if parting is not None:
        full, resumed = parting.full, parting.resumed
        caption = _("The first step that differs")
    else:
        full, resumed = (side.steps[0] if side.steps else None for side in (result.full, result.resumed))
        caption = _("The first step after the interruption")
    differing = _differing(full, resumed)
    head = "".join(
        f'<th scope="col">{escape(text)}</th>'
        for text in (caption, _("epoch, batch"), _("rows it took, in this order"), "lr", "loss")
    )
    rows = "".join(
        f'<tr data-side="{side}"><th scope="row">{escape(name)}</th>{_step_cells(step, differing)}</tr>'
        for side, name, step in (("alone", _("left alone"), full), ("resumed", _("resumed"), resumed))
    )
    return (
        '<div class="fc-wide"><table class="fc-state fc-step fc-rows">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _differing(full: StepRecord | None, resumed: StepRecord | None) -> set[str]:
    if full is None or resumed is None:
        return set()
    return {name for name in ("rows", "lr", "loss") if repr(getattr(full, name)) != repr(getattr(resumed, name))}


def _step_cells(step: StepRecord | None, differing: set[str]) -> str:
    if step is None:
        over = escape(_("no step: the run is over"))
        return f'<td colspan="4" class="fc-absent">{over}</td>'
    shown = " ".join(f"{row:>3}" for row in step.rows[:6])
    rows = localise(shown) + (
        " … " + _("({count} in all)").format(count=plain(len(step.rows))) if len(step.rows) > 6 else ""
    )
    cells = (
        ("place", _("epoch, batch"), localise(f"{step.epoch}, {step.batch}")),
        ("rows", _("rows"), rows),
        ("lr", "lr", plain(step.lr)),
        ("loss", "loss", number(step.loss, 6)),
    )
    return "".join(
        f'<td data-field="{field}" data-label="{escape(label)}" class="{"fc-changed" if field in differing else ""}">'
        f"<span>{'<b class=fc-mark>≠</b> ' if field in differing else ''}{escape(text)}</span></td>"
        for field, label, text in cells
    )


def differences(result: Comparison) -> str:
    """A row for each epoch since the interruption: both losses on both sides, and how far apart they are."""
    titles = (_("epoch"), _("train, alone"), _("resumed"), _("apart"), _("val, alone"), _("resumed"), _("apart"))
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
    rows = "".join(_difference_row(full, resumed) for full, resumed in result.rows)
    if not rows:
        none = escape(_("no epoch was left to train"))
        rows = f'<tr><td colspan="7" class="fc-absent">{none}</td></tr>'
    label = escape(_("Losses by epoch on both sides"))
    return (
        f'<div class="fc-epochs" tabindex="0" role="region" aria-label="{label}"><table class="fc-state">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _difference_row(full: EpochRecord | None, resumed: EpochRecord | None) -> str:
    numbers = [str(record.epoch) for record in (full, resumed) if record is not None]
    name = localise(" / ".join(dict.fromkeys(numbers)))
    cells = "".join(_difference_cells(full, resumed, field) for field in ("train_loss", "val_loss"))
    return f'<tr><th scope="row">{name}</th>{cells}</tr>'


def _difference_cells(full: EpochRecord | None, resumed: EpochRecord | None, field: str) -> str:
    a, b = (None if record is None else getattr(record, field) for record in (full, resumed))
    shown = "".join(
        f'<td data-field="{field}" data-side="{side}">{"–" if value is None else number(value)}</td>'
        for side, value in (("alone", a), ("resumed", b))
    )
    same = a is not None and repr(a) == repr(b)  # by its text, NaN equals NaN
    apart = localise("0") if same else "–" if a is None or b is None else number(b - a)
    look = "fc-same" if same else "fc-changed"
    return f'{shown}<td data-field="{field}" data-side="apart" class="{look}">{apart}</td>'


def words(result: Comparison) -> str:
    """What the chart shows, for who cannot see it."""
    full, resumed = result.full.epochs, result.resumed.epochs
    if not full or not resumed:
        return _("The run was over when it was interrupted: only one curve goes on, or none.")
    return _(
        "Loss by epoch. Train loss ends at {a} left alone and {b} resumed, val loss at {c} and {d};"
        " interrupted after {epochs} epochs."
    ).format(
        a=number(full[-1].train_loss),
        b=number(resumed[-1].train_loss),
        c=number(full[-1].val_loss),
        d=number(resumed[-1].val_loss),
        epochs=plain(len(result.before)),
    )


def contents_table(checkpoint: Checkpoint) -> str:
    """Every key with its shape, bytes and share, by part; first the parts' sums, and what they say."""
    entries = contents(checkpoint)
    parts = {part: [entry for entry in entries if entry.part == part] for part in (*PARTS, "other")}
    sums = "".join(_part_row(part, found) for part, found in parts.items() if found)
    keys = "".join(
        f'<tr><th scope="row">{escape(entry.key[:80])}</th><td>{escape(_shape(entry)[:40])}</td>'
        f"<td>{localise(f'{entry.size:,}')}</td><td>{_percent(entry.share)}</td></tr>"
        for entry in [entry for found in parts.values() for entry in found][:_MOST_KEYS]
    )
    if len(entries) > _MOST_KEYS:
        more = _("… and more, {count} in all").format(count=plain(len(entries)))
        keys += f'<tr><td colspan="4">{escape(more)}</td></tr>'
    head, key_head = (
        "".join(f'<th scope="col">{escape(title)}</th>' for title in titles)
        for titles in (
            (_("part"), _("keys"), _("bytes"), _("share"), ""),
            (_("key"), _("shape"), _("bytes"), _("share")),
        )
    )
    label = escape(_("Every key of the file"))
    return (
        f'<div class="fc-file"><p>{rich(_proportions(parts))}</p>'
        f'<table class="fc-state"><thead><tr>{head}</tr></thead><tbody>{sums}</tbody></table>'
        f'<div class="fc-keys" tabindex="0" role="region" aria-label="{label}">'
        f'<table class="fc-state"><thead><tr>{key_head}</tr></thead><tbody>{keys}</tbody></table></div></div>'
    )


def _part_row(part: str, entries: list[Entry]) -> str:
    size, share = sum(entry.size for entry in entries), sum(entry.share for entry in entries)
    return (
        f'<tr data-part="{part}"><th scope="row">{part}</th><td>{plain(len(entries))}</td>'
        f"<td>{localise(f'{size:,}')}</td><td>{_percent(share)}</td>"
        f'<td class="fc-bar"><i style="width:{share * 100:.1f}%"></i></td></tr>'
    )


def _shape(entry: Entry) -> str:
    if entry.shape is None:
        return "–"
    return "×".join(localise(str(side)) for side in entry.shape) or _("one number")


def _percent(share: float) -> str:
    return localise(f"{share:.1%}")


def _proportions(parts: dict[str, list[Entry]]) -> str:
    # Without the optimizer's counts of steps, which are tensors of one number.
    model, tensors = (sum(entry.size for entry in parts[name] if entry.shape) for name in ("model", "optimizer"))
    if not model:
        return _("The file has no key `model`, so it is not a checkpoint of a run.")
    states = [sum(entry.size for entry in parts[name]) for name in ("torch_rng", "loader_rng")]
    text = _(
        "Weights take {model} bytes and the optimizer's tensors {optimizer}: together **{times} times** the weights."
    ).format(
        model=localise(f"{model:,}"),
        optimizer=localise(f"{tensors:,}"),
        times=plain(round((model + tensors) / model, 2)),
    )
    if states[0] and states[0] == states[1]:
        text += " " + _("Two RNG states of {bytes} bytes each.").format(bytes=localise(f"{states[0]:,}"))
    return text


def parts_explained() -> str:
    items = (
        _("**model**: every weight and bias by name. Enough to use the model, not to go on with the run."),
        _("**optimizer**: AdamW's two running means of every parameter, its count of steps, and lr."),
        _("**scheduler**: how often it has been called, from which the next lr follows."),
        _("**epoch, best, patience count**: when the run began to get worse, and when it will stop."),
        _("**torch's RNG**: the dropout masks still to come. **The loader's RNG**: the orders still to come."),
        _(
            "**position in the epoch**: how many batches are done, the sums so far, and the loader's RNG as it was when"
            " the epoch began, to draw its order again."
        ),
        _(
            "**RNG restored before the skip**: a mistake that real trainers made. Skipping the batches seen already"
            " draws random numbers; if the states were restored before that, what comes after is no longer theirs."
        ),
        _(
            "**Stopper saved before its update**: another one. The checkpoint of an epoch holds what early stopping"
            " knew an epoch earlier, so a resumed run waits longer."
        ),
        _("Equal to the bit holds for one machine and one build of PyTorch; on a GPU some operations are not exact."),
    )
    return with_terms(f'<ul class="fc-plain">{"".join(f"<li>{rich(item)}</li>" for item in items)}</ul>', *_EXPLAINED)


def refusal(error: CheckpointError) -> str:
    """Why no run can go on from a file, in one sentence; names and code in it stay as they are."""
    parts = {name: localise(part) if part.isdigit() else part for name, part in error.parts.items()}
    if "allowed" in parts and parts.get("name") in FIELDS:
        try:
            FIELDS[parts["name"]].parse(parts["name"], "?")
        except SettingError as setting:  # which has the bounds apart from the words
            parts["allowed"] = localise(_(setting.allowed).format(**setting.bounds))
    return f'<p class="fc-say fc-parted" role="alert">{escape(_(error.template).format(**parts))}</p>'
