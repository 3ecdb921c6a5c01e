"""The home page: the whole loop as one picture, and the ways into it."""

from __future__ import annotations

import streamlit as st

from pages.ui.drawing import draw
from pages.ui.i18n import _
from pages.ui.loop_figure import loop_figure
from pages.ui.markup import heading
from pages.ui.pages import addresses, page

heading(
    _("What does each call of a training loop do?"),
    _("Real PyTorch, run here, one call at a time. Every number on these pages comes from running the loop."),
)

ways = {
    "step": (_("Step it"), _("Press one call; see what it changes, and what it does not.")),
    "train": (_("Train it"), _("Run whole epochs: early stopping, validation, resume to the bit.")),
    "mistakes": (_("Break it"), _("Make the common mistakes on purpose, and see what gives them away.")),
}
ready = [address for address in ways if address in addresses()]
for address, column in zip(ready, st.columns(3), strict=False):
    title, text = ways[address]
    with column.container(border=True):
        st.page_link(page(address), label=f"**{title} →**")
        st.caption(text)

chosen = draw(loop_figure(addresses()), "loop")
if chosen in addresses():
    st.switch_page(page(chosen))
