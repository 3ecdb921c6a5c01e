"""Core's messages in the visitor's language and digits."""

from __future__ import annotations

import re

from core.messages import Message
from pages.ui.i18n import _, localise


def said(message: Message) -> str:
    """`message` translated; numbers in its places take the visitor's digits, code keeps its own."""
    values = {
        name: value if re.search("[A-Za-z]", value) else localise(value) for name, value in message.values.items()
    }
    return _(message.text).format(**values)


def markdown(text: str) -> str:
    """`text` for a widget's label, in which Streamlit reads Markdown: nothing but `code` is markup."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_\[\]<>$~:#|])", r"\\\1", part) for part in parts)
