"""Marks texts that `core` holds and a page translates."""


def N_(text: str) -> str:  # noqa: N802 - gettext's own name for it
    """Return `text` unchanged; its presence puts the text into the catalogues."""
    return text
