"""The checker: a training loop pasted or uploaded, what is wrong with it, on which line, and what to write instead.

What is pasted stays in this visit's session; only the name of an example goes into the address.
"""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.check import Finding, Problem
from core.check.examples import EXAMPLES
from core.config import Choice, Field, Names
from pages.ui import check_view as view
from pages.ui.actions import copy_actions
from pages.ui.address import change_settings, read_settings, write_settings
from pages.ui.i18n import _, localise
from pages.ui.markup import heading, rich
from pages.ui.pages import addresses, page, title_of
from pages.ui.presenting import presentation
from pages.ui.settings import SettingWidgets
from pages.ui.terms import with_terms

PAGE, OWN = "check", "own"
ADDRESS: dict[str, Field] = {"example": Choice((*EXAMPLES, OWN)), "shown": Names(view.SEVERITIES)}
HEIGHT = 296
state = st.session_state


def take(source: str, starts: tuple[tuple[int, int], ...] = ()) -> None:
    """From now on, `source` is what is checked."""
    state["check_source"], state["check_starts"] = source, starts
    state.pop("check_refused", None)
    change_settings(PAGE, example=OWN)


def uploaded() -> None:
    file = state[f"check_file_{state['check_uploads']}"]
    if file is None:
        return
    state["check_uploads"] += 1  # another uploader takes its place, so that the file itself is let go
    read = view.from_file(file.name, file.getvalue())
    if isinstance(read, Problem):
        take("")
        state["check_refused"] = read
    else:
        take(*read)


def answer() -> view.Answer:
    """The answer to what is checked now; kept for the next click of this visit, and for nobody else."""
    source, starts = state["check_source"], state["check_starts"]
    known = state.get("check_answer")
    if known is None or (known.source, known.starts) != (source, starts):
        known = state["check_answer"] = view.answer(source, starts)
    return known


def editor(values: dict, place: DeltaGenerator | None) -> None:
    """An example; and below it, or in `place`, a text to paste, or a file."""
    names = {key: _(one.title) for key, one in EXAMPLES.items()}
    SettingWidgets(PAGE, ADDRESS, values).choice(
        "example",
        _("Example"),
        {**names, OWN: _("Your own")},
        widget=lambda *args, **kwargs: st.pills(*args, label_visibility="collapsed", required=True, **kwargs),
    )
    if values["example"] != OWN:
        state["check_source"], state["check_starts"] = EXAMPLES[values["example"]].source, ()
        state.pop("check_refused", None)
    source = state.setdefault("check_source", "")
    state.setdefault("check_starts", ())
    if state.get("check_text") != source:
        state["check_text"] = source
    paste, upload = (place, place) if place else st.columns([3.2, 1])
    paste.text_area(
        _("A training loop"),
        key="check_text",
        height=260 if place else 104,
        placeholder=_("Paste a training loop here, then press Ctrl+Enter."),
        label_visibility="collapsed",
        on_change=lambda: take(state["check_text"]),
    )
    upload.file_uploader(
        _("A file: .py or .ipynb, 1 MB at most"),
        type=["py", "ipynb"],
        key=f"check_file_{state.setdefault('check_uploads', 0)}",
        max_upload_size=1,
        on_change=uploaded,
        label_visibility="collapsed",
    )


def findings(given: view.Answer, shown: list[Finding]) -> None:
    """What was found, each with a link to where that fault can be watched."""
    groups = view.grouped(shown)
    for place, group in enumerate(groups[: view.MOST_SHOWN]):
        st.html(view.card(group, given.starts))
        address, query = view.link(group[0])
        if address in addresses():
            label = _("Look it up: {page} →") if address == "glossary" else _("Watch it live: {page} →")
            with st.container(key=f"check_link_{place}"):
                st.page_link(page(address), label=label.format(page=title_of(address)), query_params=query or None)
    if len(groups) > view.MOST_SHOWN:
        rest = localise(str(len(groups) - view.MOST_SHOWN))
        st.caption(_("and {count} more kinds; mend these first").format(count=rest))
    if given.report.findings and not shown:
        st.caption(_("None of the kinds chosen above."))


def corrected(given: view.Answer) -> None:
    """The text with the mechanical remedies applied."""
    if given.corrected is None:
        if given.report.findings:
            st.caption(_("None of these has one mechanical remedy, so there is no corrected version to offer."))
        return
    count = localise(str(len(given.corrected.fixed)))
    with st.expander(_("Corrected version: {count} mended, the rest of your text as it is").format(count=count)):
        text = _("Mended: {what}.").format(what=view.mended(given))
        st.html(f'<p class="fc-plain">{rich(text)}</p>{view.diff(given.corrected)}')
        st.download_button(
            _("Download the corrected text"), given.corrected.text, "corrected.py", "text/x-python", on_click="ignore"
        )
        st.code(given.corrected.text, height=220)


values = {"example": next(iter(EXAMPLES)), "shown": view.SEVERITIES, **read_settings(PAGE, ADDRESS)}
write_settings(PAGE, values)
# In front of a class the editor opens over the page, so that the checked code has the screen.
present = presentation().present
question, *menu = st.columns([4.4, 1] if present else 1, vertical_alignment="center")
with question:
    heading(
        _("What is wrong with this training loop?"),
        _(
            "Paste or upload one. It is only read: nothing of it is run, imported, logged, kept, "
            "or put into the address."
        ),
    )
editor(values, menu[0].popover(_("Paste or upload"), width="stretch") if present else None)
given = answer()
refused = state.get("check_refused")
report = given.report
says = view.problem(refused) if refused else view.summary(given)
# What could not be read may be quoted: a stranger's words are no terms.
terms = () if refused or report.problem else view.EXPLAINED
bad = "fc-parted" if refused or (report.problem and given.source.strip()) else ""
st.html(f'<p class="fc-say fc-ready {bad}" aria-live="polite">{with_terms(rich(says), *terms)}</p>')
if not refused and not report.problem:
    stepped = bool(report.stepper_calls)
    strips, *step = st.columns([4.2, 1] if stepped else 1, vertical_alignment="bottom")
    strips.html(view.understood(given))
    if stepped:
        with step[0].container(key="check_link_step"):
            st.page_link(page("step"), label=_("Step this very order →"), query_params={"calls": report.stepper_calls})
shown = [finding for finding in report.findings if finding.severity in values["shown"]]
code, found = st.columns([1.15, 1]) if report.findings else (st.container(), st.container())
if not report.problem or report.problem_line:
    code.html(view.listing(given, shown) + f'<p class="fc-sub">{rich(view.notes(report))}</p>')
with found:
    if report.findings:
        tally = {
            name: f"{view.SIGNS[name]} {view.severity_names()[name]} {localise(str(count))}"
            for name, count in view.counts(report).items()
        }
        SettingWidgets(PAGE, ADDRESS, values).several("shown", _("Shown"), tally, label_visibility="collapsed")
        with st.container(height=HEIGHT, border=False):
            findings(given, shown)
corrected(given)
copy_actions()
