"""Every text has its Bangla: nothing missing, nothing fuzzy, nothing left over, no placeholder or markup lost."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from babel.messages.extract import extract_from_dir

from pages.ui.i18n import LANGUAGES, messages

ROOT = Path(__file__).resolve().parents[2]
KEYWORDS = {"_": None, "N_": None}


def extracted() -> set[str]:
    found = set()
    for folder in ("core", "pages"):
        for _file, _line, message, _comments, _context in extract_from_dir(
            ROOT / folder, method_map=[("**.py", "python")], keywords=KEYWORDS
        ):
            found.add(message)
    return found


def translated() -> dict[str, str]:
    return {message.id: message.string for message in messages("bn")}


def test_no_text_hides_where_the_extractor_does_not_look() -> None:
    """Babel's extractor does not see a call inside an f-string; Python's parser does."""
    called = set()
    for folder in ("core", "pages"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KEYWORDS:
                    called |= {arg.value for arg in node.args if isinstance(arg, ast.Constant)}
    assert called - extracted() == set()


def test_no_text_is_missing_and_none_is_left_over() -> None:
    assert extracted() - set(translated()) == set()
    assert set(translated()) - extracted() == set()


def test_no_translation_is_empty_or_fuzzy() -> None:
    assert [message.id for message in messages("bn") if message.fuzzy or not message.string] == []


def test_placeholders_and_marks_survive_translation() -> None:
    lost = [
        text
        for text, bangla in translated().items()
        if sorted(re.findall(r"\{\w+\}", text)) != sorted(re.findall(r"\{\w+\}", bangla))
        or sorted(re.findall(r"`[^`]+`", text)) != sorted(re.findall(r"`[^`]+`", bangla))
    ]
    assert lost == []


def test_translations_are_bangla() -> None:
    """A text copied over untranslated is caught; a bare name or formula may stay as it is."""
    same = [
        text
        for text, bangla in translated().items()
        if not re.search("[\u0980-\u09ff]", bangla) and len(text.split()) > 5
    ]
    assert same == []


def test_no_text_is_translated_in_two_files() -> None:
    texts = [message.id for message in messages("bn")]
    assert sorted(texts) == sorted(set(texts))


def test_there_are_two_languages() -> None:
    assert set(LANGUAGES) == {"en", "bn"}
