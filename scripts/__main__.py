"""All cloud-side jobs under one name: `python -m scripts JOB` is `python -m scripts.JOB`; alone it lists them."""

from __future__ import annotations

import ast
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["jobs", "main"]

_FOLDER = Path(__file__).resolve().parent
_NO_JOBS = ("__init__", "__main__", "bench", "demo_main", "demo_page", "panels")


def jobs() -> dict[str, str]:
    """Every job with the first sentence of its module; nothing is imported."""
    found = {}
    for file in sorted(_FOLDER.glob("*.py")):
        if file.stem not in _NO_JOBS:
            text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            found[file.stem] = text.split("\n\n")[0].replace("\n", " ")
    return found


def main(arguments: Sequence[str]) -> int:
    """Run the job that is named first; 2 and the list when there is none of that name."""
    known = jobs()
    name = arguments[0].replace("-", "_") if arguments else ""
    if name in known:
        sys.argv = [f"python -m scripts {arguments[0]}", *arguments[1:]]
        runpy.run_module(f"scripts.{name}", run_name="__main__", alter_sys=True)
        return 0
    width = max(map(len, known))
    lines = [f"  {job:{width}}  {text}" for job, text in known.items()]
    text = ["usage: python -m scripts JOB [options]; JOB --help says more", "", *lines, ""]
    sys.stdout.write("\n".join(text))
    return 0 if not arguments or arguments[0] in ("-h", "--help") else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
