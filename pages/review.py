"""The review page: what to check in a loop that somebody else wrote, and one of the checks run live."""

from __future__ import annotations

import streamlit as st

from core.config import Choice, Field, Flag, Names, Number
from core.mistakes import MISTAKES
from core.review import CHECKLIST, overfit_one_batch, script
from pages.ui import review_view as view
from pages.ui.actions import copy_actions
from pages.ui.address import change_settings, read_settings, write_settings
from pages.ui.chart import chart
from pages.ui.code import code_html
from pages.ui.i18n import _, localise, plain
from pages.ui.markup import heading, rich
from pages.ui.pages import addresses, page, title_of
from pages.ui.settings import SettingWidgets
from pages.ui.terms import sentence, with_terms

PAGE = "review"
KEYS = tuple(item.key for item in CHECKLIST)
ADDRESS: dict[str, Field] = {
    "part": Choice(("list", "overfit")),
    "item": Number(1, len(CHECKLIST), whole=True),
    "ticked": Names(KEYS),
    "loop": Choice(("right", *MISTAKES)),
    "all": Flag(),
}


def go_to(place: int) -> None:
    change_settings(PAGE, item=place)


def tick(key: str) -> None:
    before = st.session_state[f"settings:{PAGE}"]["ticked"]
    change_settings(PAGE, ticked=tuple(one for one in KEYS if (one in before) != (one == key)))


def link(address: str, **query: str) -> None:
    if address in addresses() and address != PAGE:
        label = _("See it live: {page} →").format(page=title_of(address))
        st.page_link(page(address), label=label, query_params=query or None)


def checklist() -> None:
    ticked, place = values["ticked"], values["item"]
    labels = {i: localise(str(i)) + (" ✓" if KEYS[i - 1] in ticked else "") for i in range(1, len(KEYS) + 1)}
    st.session_state["review_place"] = place
    st.pills(
        _("Item"),
        list(labels),
        format_func=labels.__getitem__,
        key="review_place",
        required=True,
        label_visibility="collapsed",
        on_change=lambda: go_to(st.session_state["review_place"]),
    )
    item = CHECKLIST[place - 1]
    st.html(
        f'<p class="fc-item fc-ready">{localise(str(place))}. {with_terms(rich(_(item.text)), *view.EXPLAINED)}</p>'
    )
    st.html(sentence(_("**The quick test.** {test}").format(test=_(item.test)), *view.EXPLAINED))
    st.html(f'<div class="fc-program fc-listing">{code_html(item.code)}</div>')
    st.session_state[f"review_tick_{item.key}"] = item.key in ticked
    st.checkbox(_("It holds in my loop"), key=f"review_tick_{item.key}", on_change=tick, args=(item.key,))
    if item.key == "overfit":
        st.button(_("Run this test here →"), on_click=change_settings, args=(PAGE,), kwargs={"part": "overfit"})
    link(item.page, **({"mistake": item.mistake} if item.page == "mistakes" else {}))
    if item.mistake and item.page != "mistakes":
        link("mistakes", mistake=item.mistake)
    onward, actions = st.columns([2.2, 8], vertical_alignment="center")
    if place < len(CHECKLIST):
        onward.button(_("Next item →"), on_click=go_to, args=(place + 1,), width="stretch")
    with actions:
        copy_actions()
    with st.expander(_("The whole list")):
        lines = (f"<li>{'☑' if one.key in ticked else '☐'} {rich(_(one.text))}</li>" for one in CHECKLIST)
        st.html(f'<section class="fc-keep"><ul style="list-style:none">{"".join(lines)}</ul></section>')


def overfit() -> None:
    widgets.choice(
        "loop",
        _("Loop"),
        {"right": view.name_of("")} | {key: _(one.title) for key, one in MISTAKES.items()},
        widget=lambda *args, **kwargs: st.pills(*args, label_visibility="collapsed", required=True, **kwargs),
    )
    chosen = "" if values["loop"] == "right" else values["loop"]
    keys = ["", *MISTAKES] if values["all"] else list(dict.fromkeys(["", chosen]))
    with st.spinner(_("Training on one batch, over and over …")):
        results = [overfit_one_batch(key) for key in keys]
    now = results[keys.index(chosen)]
    st.html(sentence(view.verdict(now), *view.EXPLAINED, ready=True))
    numbers, picture = st.columns([1.1, 1])
    with numbers:
        st.html(view.caught_table(results, chosen))
        if values["all"]:
            st.html(sentence(view.summary(results), *view.EXPLAINED))
        else:
            st.button(
                _("Run it on every mistake"),
                on_click=change_settings,
                args=(PAGE,),
                kwargs={"all": True},
                type="primary",
            )
    with picture:
        figure, words = view.loss_chart(results[0], now)
        chart(figure, "review_figure", words=words, height=300)
    copy_actions(script(chosen))


values = {"part": "list", "item": 1, "ticked": (), "loop": "right", "all": False, **read_settings(PAGE, ADDRESS)}
write_settings(PAGE, values)
widgets = SettingWidgets(PAGE, ADDRESS, values)
heading(
    _("Does the loop that an assistant wrote do what it should?"),
    _("{ticked} of {all} items ticked. Each has a quick test that proves it.").format(
        ticked=plain(len(values["ticked"])), all=plain(len(CHECKLIST))
    ),
)
widgets.choice(
    "part",
    _("Part"),
    {"list": _("The checklist"), "overfit": _("Overfit one batch, live")},
    widget=lambda *args, **kwargs: st.segmented_control(*args, label_visibility="collapsed", required=True, **kwargs),
)
checklist() if values["part"] == "list" else overfit()
