"""Measures what a cold start imports: time and memory of each handler from a built code folder, beside all four SDKs.

    python scripts/bench.py coldstart --runs 5

The folder is built for the Python that runs this (build/coldstart), so that both sides use one interpreter. Times are
CPU times: other work on the machine does not count. Each import is a process of its own that finds no byte code of
packages, as /code of a fresh FC instance has none; the standard library's is there, as in the runtime. The target: at
most 40 % of importing all SDKs. Ends with the ten largest packages.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from scripts.build import build
from scripts.building import Built, Target, handlers_of

__all__ = ["Cold", "main", "measure"]

ROOT = Path(__file__).resolve().parents[2]
SDKS = ("tablestore", "oss2", "alibabacloud_fnf20190315.client", "alibabacloud_fc20230330.client")
TARGET = 0.40
_PROBE = """
import importlib, importlib._bootstrap_external as machinery, json, sys, time
job = json.loads(sys.argv[1])
sys.path[:0] = job["folders"]
kept = machinery.cache_from_source
def cache_from_source(path, *rest, **more):
    if path.startswith(tuple(job["folders"])):
        raise NotImplementedError
    return kept(path, *rest, **more)
machinery.cache_from_source = cache_from_source
def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096
before, began = resident(), time.process_time()
for name in job["modules"]:
    importlib.import_module(name)
print("\\n" + json.dumps([time.process_time() - began, (resident() - before) / 2**20]))
"""


@dataclass(frozen=True)
class Cold:
    """Importing `what`: median CPU seconds, most MiB added, and the share of the time that all SDKs take."""

    what: str
    seconds: float
    mebibytes: float
    share: float


def main(arguments: Sequence[str]) -> int:
    """Measure and print; returns 0, or 1 when a handler misses the target."""
    parser = argparse.ArgumentParser(prog="bench.py coldstart", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="imports of each, the median counts")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args(arguments)
    target = Target(f"{sys.version_info[0]}.{sys.version_info[1]}")
    built = build(ROOT, ROOT / "build" / "coldstart", target, say=lambda text: print(text, file=sys.stderr))
    found = measure(built.folder, sorted(handlers_of(ROOT / "s.yaml").values()), options.runs)
    if options.as_json:
        print(
            json.dumps({"imports": [asdict(one) for one in found], "largest": [asdict(one) for one in built.largest]})
        )
    else:
        _show(found, built)
    return 1 if any(one.share > TARGET for one in found[1:]) else 0


def measure(folder: Path, handlers: Sequence[str], runs: int) -> list[Cold]:
    """All SDKs first, then the entry file that FC imports for each function, then each handler's module alone."""
    packages = sysconfig.get_paths()["purelib"]
    seconds, mebibytes = _imported([str(folder), packages], SDKS, runs)
    found = [Cold("all four SDKs", seconds, mebibytes, 1.0)]
    entries = sorted({handler.rpartition(".")[0] for handler in handlers})
    modules = [f"functions.handlers.{handler.rpartition('.')[2]}" for handler in handlers]
    for name in [*entries, *modules]:
        spent, used = _imported([str(folder)], (name,), runs)
        found.append(Cold(name, spent, used, spent / seconds))
    return found


def _imported(folders: list[str], modules: Iterable[str], runs: int) -> tuple[float, float]:
    """Median CPU seconds and most MiB of importing in a fresh interpreter that sees only `folders`."""
    job = json.dumps({"folders": folders, "modules": list(modules)})
    answers = []
    for _ in range(runs):
        command = [sys.executable, "-S", "-s", "-B", "-W", "ignore", "-c", _PROBE, job]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folders[0])  # noqa: S603
        answers.append(json.loads(done.stdout.rsplit("\n", 2)[-2]))
    return median(answer[0] for answer in answers), max(answer[1] for answer in answers)


def _show(found: Sequence[Cold], built: Built) -> None:
    for one in found:
        mark = "" if one.share <= TARGET or one is found[0] else "  over the target"
        print(f"{one.what:44} {one.seconds * 1000:7.0f} ms  {one.mebibytes:6.1f} MiB  {one.share:5.0%}{mark}")
    print(f"\n{built.zipped / 1e6:.1f} MB zipped; the ten largest packages:")
    for size in built.largest:
        print(f"{size.package:44} {size.zipped / 1e6:7.2f} MB zipped {size.bytes / 1e6:7.2f} MB unpacked")
