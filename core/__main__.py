"""The command line: `python -m core step | train | compare | check`."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn


class _OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage that argparse puts before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["check"]:  # it only reads code: no need to wait for torch
        from core.check.cli import main as check

        return check(argv[1:])

    from core.cli import compare, step, train
    from core.process import one_thread

    parser = _OneLineParser(prog="python -m core", description="The training loop of Five Calls.")
    commands = parser.add_subparsers(dest="command", required=True)
    for command in (step, train, compare):
        command.add(commands)
    commands.add_parser("check", help="read a training loop and say what is wrong with it")
    arguments = parser.parse_args(argv)
    one_thread()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
