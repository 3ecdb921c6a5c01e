"""Take one warning that PyTorch gives, word for word, and leave every other one to whoever else is listening.

`warnings.catch_warnings` swaps the filters and the printer of the whole process. Two threads in it at once would
restore each other's swap, so whoever wants a warning holds the gate; and since a third thread may warn meanwhile, only
this thread's warnings that begin as asked are kept, the rest go on to the printer that was there before.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_gate = threading.RLock()


@contextmanager
def taking(beginning: str) -> Iterator[list[str]]:
    """Collect the texts of this thread's UserWarnings that start with `beginning` while the block runs."""
    taken: list[str] = []
    me = threading.get_ident()
    with _gate, warnings.catch_warnings():
        # "always": Python would otherwise show a warning of one place only once in the life of the process.
        warnings.filterwarnings("always", message=re.escape(beginning), category=UserWarning)
        printer = warnings.showwarning

        def take_or_pass(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if threading.get_ident() == me and str(message).startswith(beginning):
                taken.append(str(message))
            else:
                printer(message, category, *where, **more)

        warnings.showwarning = take_or_pass
        yield taken
