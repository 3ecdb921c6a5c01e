"""Links to states of pages: read one that a teacher pasted, make one that opens anywhere."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import streamlit as st

from core.messages import N_
from pages.ui.i18n import _
from pages.ui.pages import addresses, page

_MOST_SETTINGS = 40


class LinkError(ValueError):
    """A pasted text that is not a link to one of our pages; `template` and `parts` make a sentence in any language."""

    def __init__(self, template: str, **parts: str) -> None:
        self.template, self.parts = template, parts
        super().__init__(template.format(**parts))


def read_link(text: str) -> tuple[str, dict[str, str]]:
    """The page and the settings of a link, whatever host it names; the page itself checks their values again.

    How the page is shown (`lang`, `present`, `hide`) is left out: the teacher chooses that anew.
    """
    try:
        parts = urlsplit(text.strip())
        settings = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=_MOST_SETTINGS))
    except ValueError:
        raise LinkError(N_("This is not a link, or one with too many settings.")) from None
    address = parts.path.rstrip("/").rpartition("/")[2]
    if address not in addresses():
        raise LinkError(N_("The link must lead to one of the pages: {pages}."), pages=", ".join(sorted(addresses())))
    return address, {name: value for name, value in settings.items() if name not in ("lang", "present", "hide")}


def base_address() -> str:
    """Where this visitor's browser finds the app, without a slash at the end."""
    url = urlsplit(st.context.url or "http://localhost:8501")
    folder = url.path.rstrip("/")
    last = folder.rpartition("/")[2]
    return f"{url.scheme}://{url.netloc}{folder.removesuffix(f'/{last}') if last in addresses() else folder}"


def see_the_mistake(mistake: str) -> None:
    """A link to the common mistakes, with that one chosen."""
    label = _("What this mistake does to a whole run →")
    st.page_link(page("mistakes"), label=label, query_params={"mistake": mistake})
