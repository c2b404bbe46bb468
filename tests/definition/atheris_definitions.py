"""Coverage-guided fuzzing of the checker, for who has atheris: `pip install atheris`, then

    python tests/definition/atheris_definitions.py -max_total_time=300

Any byte string may give findings and nothing else; what has no error loads. Options are libFuzzer's. Starts from the
examples of docs/findings.md and the shipped flows.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-not-found,unused-ignore]

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

with atheris.instrument_imports(include=["local_sim.definition", "local_sim.expression"]):
    from local_sim.definition import DefinitionError, check_flow, load_flow
    from local_sim.definition.examples import EXAMPLES, whole_flow


def one_input(data: bytes) -> None:
    """Check, load and compare."""
    report = check_flow(data, "f.yaml", functions={"pay": ("X",)})
    refused = ()
    try:
        load_flow(data, "f.yaml")
    except DefinitionError as error:
        refused = error.findings
    assert refused == report.errors


def seeds(folder: Path) -> None:
    """Write the examples and the shipped flows as the first inputs."""
    for code, example in EXAMPLES.items():
        folder.joinpath(code).write_text(whole_flow(example.broken), encoding="utf-8")
        folder.joinpath(f"{code}-mended").write_text(whole_flow(example.mended), encoding="utf-8")
    for path in (ROOT / "flows").glob("*.yaml"):
        folder.joinpath(path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as corpus:
        seeds(Path(corpus))
        atheris.Setup([*sys.argv, corpus], one_input)
        atheris.Fuzz()
