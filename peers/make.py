#!/usr/bin/env python3
"""Makes an environment for each list of packages that adapters require, and a program for each adapter.

    make.py [FOLDER [ADAPTER...]]      default: bin beside this file, all adapters

An adapter whose packages cannot be installed is left out, with the reason. What is there is kept.
"""
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

here = Path(__file__).resolve().parent


def environment(folder, requires):
    """The interpreter that has some packages."""
    env = folder / "env" / hashlib.sha256(requires.encode()).hexdigest()[:12]
    if not (env / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", env], check=True)
        install = [env / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--prefer-binary", *requires.split()], check=True, capture_output=True, text=True)
        (env / "done").write_text(requires)
    return env / "bin/python"


def main(folder=here / "bin", *names):
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for adapter in sorted(here.glob("adapters/peer_*.py")):
        name = adapter.stem.removeprefix("peer_").replace("_", "-")
        if names and name not in names:
            continue
        requires = re.search(r"requires: ([^\n\"]*)", adapter.read_text())[1]
        program = folder / name
        if "needs: an NVIDIA GPU" in adapter.read_text() and not shutil.which("nvidia-smi"):
            print(f"{name}: left out: it needs an NVIDIA GPU", file=sys.stderr)
            continue
        try:
            python = environment(folder, requires)
        except subprocess.CalledProcessError as e:
            failed += 1
            program.unlink(missing_ok=True)
            print(f"{name}: left out: {requires}: {(e.stderr or str(e)).strip().splitlines()[-1]}", file=sys.stderr)
            continue
        program.write_text(f'#!/bin/sh\nexec "{python}" "{adapter}"\n')
        program.chmod(0o755)
        print(program)
    return failed > 0


sys.exit(main(*sys.argv[1:]))
