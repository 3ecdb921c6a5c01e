"""The NumPy page without a browser."""

from __future__ import annotations

from core.numpy_loop import FIELDS, NumpyConfig
from core.numpy_script import LINES, numpy_script, pytorch_script
from tests.pages.conftest import OpenPage, html
from tests.pages.strangers import addresses, copied_script, values


def test_the_lessons_figures_twice_over(open_page: OpenPage) -> None:
    app = open_page("numpy")
    shown = values(app)
    for name in ("numpy", "pytorch"):
        assert [shown[f"{name}-{key}"] for key in ("stopped", "best", "val", "accuracy", "train")] == [
            "33",
            "13",
            "0.4291",
            "0.833",
            "0.4681",
        ]
    assert copied_script(app) == numpy_script()
    assert app.code[0].value == pytorch_script().strip()


def test_every_line_has_its_pytorch_call_and_every_epoch_its_difference(open_page: OpenPage) -> None:
    text = html(open_page("numpy", lang="bn"))
    assert text.count('<th scope="row"><code>') == len(LINES)
    assert "loss.backward()" in text
    assert text.count('<th scope="row">৩৩</th>') == 1


def test_a_slider_changes_the_run_and_the_address(open_page: OpenPage) -> None:
    app = open_page("numpy")
    app.slider(key="numpy_patience").set_value(5).run()
    assert app.query_params["patience"] == "5"
    assert copied_script(app) == numpy_script(NumpyConfig(patience=5))
    assert values(app)["numpy-stopped"] == values(app)["pytorch-stopped"] == "18"


def test_a_run_that_diverges_is_said_plainly(open_page: OpenPage) -> None:
    app = open_page("numpy", lr="1", momentum="0.99", batch_size="8", patience="3")
    assert not app.exception
    assert "ran away" in html(app) or "unstable" in html(app)


def test_strangers_addresses_never_break_the_page(open_page: OpenPage) -> None:
    for query in addresses(FIELDS, 8):
        app = open_page("numpy", **{**query, "most_epochs": "3"})
        assert not app.exception, query
        assert values(app)["numpy-stopped"], query
