import contextlib
import io
import runpy
import warnings

import pytest
from hypothesis import settings

from core.process import one_thread
from core.rng import seeded

one_thread()
settings.register_profile("unhurried", settings(), deadline=None)  # a busy machine is slow, not wrong
settings.load_profile("unhurried")


@pytest.fixture
def run_script(tmp_path):
    """Run a script to take home and return what it printed: (stdout, stderr). It may not import this project."""

    def run(text):
        assert "from core" not in text
        assert "import core" not in text
        path = tmp_path / "take_home.py"
        path.write_text(text, encoding="utf-8")
        out, err = io.StringIO(), io.StringIO()
        # A process of its own would take seconds to import torch; what a script can disturb here is put back.
        with seeded(0), warnings.catch_warnings(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            warnings.simplefilter("always")
            warnings.showwarning = lambda message, *_, **__: err.write(f"{message}\n")
            runpy.run_path(str(path), run_name="__main__")
        return out.getvalue(), err.getvalue()

    return run
