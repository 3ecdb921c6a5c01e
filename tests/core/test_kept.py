import math

from core.kept import Kept, keeping


def test_the_longest_unasked_goes_first():
    kept = Kept(2)
    kept.put("a", 1)
    kept.put("b", 2)
    assert kept.get("a") == 1
    kept.put("c", 3)
    assert [kept.get(key) for key in "abc"] == [1, None, 3]


def test_what_is_kept_weighs_no_more_than_allowed():
    kept = Kept(100, weigh=len, most=10)
    for key in range(20):
        kept.put(key, "x" * (key % 4 + 1))
        assert kept.weight == sum(len(value) for value in kept._values.values()) <= 10
    kept.put("same", "xxx")
    kept.put("same", "x")
    assert kept.weight == sum(len(value) for value in kept._values.values())
    kept.put("too heavy", "x" * 11)
    assert len(kept) == kept.weight == 0


def test_a_function_is_called_once_for_the_same_arguments():
    calls = []

    @keeping(Kept(8))
    def root(x, digits=3):
        calls.append(x)
        return round(math.sqrt(x), digits)

    assert root.peek(2) is None
    assert root(2) == root(2) == root.peek(2) == 1.414
    assert root(2, digits=1) == 1.4
    assert calls == [2, 2]
    root.cache_clear()
    assert root.peek(2) is None
    assert root.__wrapped__(2) == 1.414
