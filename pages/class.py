"""For a teacher: a link that opens exactly what the class is to see, also as a QR code; and a plan of the hour."""

from __future__ import annotations

from html import escape
from urllib.parse import urlencode

import segno
import streamlit as st

from core.lesson_plan import PLAN
from core.stories import STORIES
from pages.ui.drawing import draw
from pages.ui.i18n import LANGUAGES, _, language, number, plain
from pages.ui.links import LinkError, base_address, read_link
from pages.ui.markup import heading, rich
from pages.ui.pages import addresses, title_of
from pages.ui.presenting import HIDEABLE
from pages.ui.terms import sentence

TEACHABLE = tuple(address for address in addresses() if address not in ("class", "home"))


def hideable_names() -> dict[str, str]:
    return {
        "menus": _("menus (stories, settings)"),
        "copy": _("copy buttons and hand-out"),
        "switches": _("Predict first, Show the graph"),
        "play": _("playing and its speed"),
    }


def chosen_state() -> tuple[str, dict[str, str]]:
    """The page and its settings: from a pasted link, or from the story and the position chosen here."""
    pasted = st.text_input(_("Paste the link of a state to show, or choose below"), key="class_pasted", max_chars=2000)
    if pasted.strip():
        try:
            return read_link(pasted)
        except LinkError as error:
            st.error(_(error.template).format(**error.parts))
    pages = {address: title_of(address) for address in TEACHABLE}
    page = st.selectbox(_("Page"), pages, format_func=pages.get, key="class_page")
    if page != "step":
        return page, {}
    stories = {key: _(story.title) for key, story in STORIES.items()}
    story = STORIES[st.selectbox(_("Story"), stories, format_func=stories.get, key="class_story")]
    position = st.slider(_("Calls already made"), 0, len(story.calls), 0, key=f"class_position_{story.key}")
    config = {name: str(value) for name, value in vars(story.config).items() if name == "scene"}
    return page, {**config, "calls": story.calls[:position]}


def link_of(page: str, query: dict[str, str]) -> str:
    return f"{base_address()}/{page}?{urlencode(query)}"


def qr_code(link: str) -> None:
    try:
        code = segno.make(link, error="m").svg_inline(omitsize=True, border=3, dark="#000", light="#fff")
    except segno.DataOverflowError:
        st.warning(_("This link is too long for a QR code. It can still be copied."))
        return
    label = escape(_("QR code of the link"))
    draw(f'<div role="img" aria-label="{label}" style="max-width:280px">{code}</div>', "class_qr")


def the_link() -> None:
    left, right = st.columns([1.5, 1])
    with left:
        page, query = chosen_state()
        row = st.container(horizontal=True)
        shown = row.segmented_control(
            _("Language of the page"),
            LANGUAGES,
            format_func=LANGUAGES.get,
            default=language(),
            required=True,
            key="class_lang",
        )
        large = row.toggle(_("Large text, no sidebar"), value=True, key="class_present")
        hide = st.multiselect(
            _("Hide"),
            HIDEABLE,
            format_func=hideable_names().get,
            key="class_hide",
            placeholder=_("Nothing; choose what to hide"),
        )
    query = {**query, "lang": shown}
    if large:
        query["present"] = "1"
    if hide:
        query["hide"] = ",".join(hide)
    link = link_of(page, query)
    with right:
        qr_code(link)
        st.code(link, language=None, wrap_lines=True)
        st.link_button(_("Open it"), link, type="primary")


def digits(value: float) -> int:
    """Decimals to say aloud: none for a count, one for a ratio, four for a loss or a weight."""
    return 0 if value == int(value) else 1 if abs(value) >= 10 else 4


def the_plan() -> None:
    items = [item for item in PLAN if item.page in addresses()]
    minutes = sum(item.minutes for item in items)
    st.html(
        sentence(
            _("{minutes} minutes, {presses} presses. Ask first, then press.").format(
                minutes=plain(minutes), presses=plain(len(items))
            )
        )
    )
    rows, unit = "", escape(_("min"))
    for item in items:
        numbers = {name: number(value, digits(value)) for name, value in item.numbers().items()}
        link = escape(f"{item.page}?{item.query}&lang={language()}&present=1")
        rows += (
            f'<tr><td data-unit="{unit}">{plain(item.minutes)}</td>'
            f'<td><a href="{link}">{escape(title_of(item.page))}</a></td>'
            f"<td>{rich(_(item.ask))}</td><td>{rich(_(item.answer).format(**numbers))}</td></tr>"
        )
    heads = "".join(f'<th scope="col">{escape(text)}</th>' for text in (_("min"), _("Page"), _("Ask"), _("Answer")))
    st.html(f'<table class="fc-plan"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>')


heading(_("What shall the class see?"), _("A link opens the page in exactly this state, for everyone, on any device."))
link_tab, plan_tab = st.tabs([_("Link and QR code"), _("Lesson plan")])
with link_tab:
    the_link()
with plan_tab:
    the_plan()
