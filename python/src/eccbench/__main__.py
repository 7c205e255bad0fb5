"""The command: ``eccbench`` and ``python -m eccbench``."""

import os
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).with_name("bin") / "eccbench"
    if not program.exists():
        sys.exit("eccbench: this package has the library alone: the command is for Linux and macOS")
    sys.stdout.flush()
    os.execv(program, ["eccbench", *sys.argv[1:]])


if __name__ == "__main__":
    main()
