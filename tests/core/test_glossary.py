import re
import string

from core.glossary import TERMS, find
from core.takeaways import NEXT, TAKEAWAYS

BANGLA = {"One pass through all training examples.": "সব উদাহরণে একবার"}


def translate(text):
    return BANGLA.get(text, text)


def test_terms_are_short_and_told_once():
    assert len(TERMS) > 60
    assert len({term.name for term in TERMS.values()}) == len(TERMS)
    for key, term in TERMS.items():
        assert key == term.key
        assert set(key) <= set(string.ascii_lowercase + "-")
        assert term.definition.endswith(".")
        assert len(term.definition) < 170
        assert re.search("[\u0980-\u09ff]", term.bangla) or term.key in ("grad",)


def test_found_by_typing_either_language():
    assert find("patience", translate)[0].key == "patience"
    assert find(" ধৈর্য ", translate)[0].key == "patience"
    assert [term.key for term in find("সব উদাহরণে", translate)] == ["epoch"]
    assert find("no such thing", translate) == ()
    assert len(find("", translate)) == len(TERMS)


def test_names_come_before_definitions():
    found = [term.key for term in find("softmax")]
    assert found[0] == "softmax"
    assert "logits" in found


def test_takeaways_and_ways_on():
    assert len(TAKEAWAYS) == 5
    assert NEXT
