"""Marks a text for translation where it is written; the page that shows it does the translating."""


def N_(text: str) -> str:  # noqa: N802 - gettext's own name for "mark, do not translate yet"
    """Return `text` unchanged; its only work is to let the extraction tool find the constant."""
    return text
