"""Real processes over the real wire: races, kill -9, and one request delivered again and again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from ledger_kit import WV, local_credentials

from ledger import EffectKind, Ledger, LedgerSettings, OutcomeUncertain, StepContext, StepRequest

ROOT = Path(__file__).resolve().parents[2]
PRELUDE = textwrap.dedent(
    """
    import os, sys, json
    from ledger import *
    from local_sim.services.tablestore import LOCAL_KEY_ID, LOCAL_SECRET

    def credentials():
        return Credentials(LOCAL_KEY_ID, LOCAL_SECRET)

    settings = LedgerSettings(**json.loads(sys.argv[1]))
    ledger = Ledger.open(settings, credentials=credentials)
    log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(text):
        os.write(log, (text + "\\n").encode())
    """
)
RACER = """
sys.stdin.readline()
for number in range(int(sys.argv[4])):
    request = StepRequest(sys.argv[3], "flow-1", f"S{number}", {"n": number}, kind=EffectKind.IDEMPOTENT)
    value = ledger.run(request, lambda context: note(f"effect {context.step}") or context.step).value
    assert value == f"S{number}", value
note("finished")
"""
DELIVERIES = """
sys.stdin.readline()
request = StepRequest(sys.argv[3], "flow-1", "A", {"n": 1}, kind=EffectKind.UNDECLARED, read_first=True)
for _ in range(int(sys.argv[4])):
    assert ledger.run(request, lambda context: note("effect A") or "once").value == "once"
note("finished")
"""
VICTIM = """
import threading

import ledger.store as store
spot = sys.argv[4]

def die(name):
    if name == spot:
        os.kill(os.getpid(), 9)

send = store.TableStore._put_or_update
count = 0

def wrapped(self, write):
    global count
    if threading.current_thread() is not threading.main_thread():
        return send(self, write)  # a renewal of the lease: how many there are depends on the machine
    count += 1
    die(f"before {count}")
    send(self, write)
    die(f"after {count}")

store.TableStore._put_or_update = wrapped

def effect(context):
    die("before effect")
    note(f"effect {context.idempotency_key}")
    die("after effect")
    return "done"

def undo(context):
    note(f"undo {context.idempotency_key}")
    die("after undo")

kind = EffectKind(sys.argv[5])
request = StepRequest(sys.argv[3], "flow-1", "A", 1, kind=kind, compensation=Compensation("undo", 1))
ledger.run(request, effect)
ledger.saga(sys.argv[3], "flow-1").compensate({"undo": undo})
note("finished")
"""


def start(script: str, served: LedgerSettings, log: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PRELUDE + script, json.dumps(served.model_dump()), str(log), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, text=True)


def race(script: str, served: LedgerSettings, log: Path, *arguments: str) -> list[str]:
    children = [start(script, served, log, *arguments) for _ in range(8)]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    codes = [child.wait(timeout=7_200) for child in children]
    for child in children:
        assert child.stdin is not None
        child.stdin.close()
    assert codes == [0] * 8
    return log.read_text().splitlines()


def test_eight_processes_and_a_hundred_keys_give_a_hundred_effects(
    served: LedgerSettings, task: str, tmp_path: Path
) -> None:
    lines = race(RACER, served, tmp_path / "log", task, "100")
    assert lines.count("finished") == 8
    effects = [line for line in lines if line.startswith("effect")]
    assert sorted(effects) == sorted(f"effect S{number}" for number in range(100))


@pytest.mark.parametrize("deliveries", [2_000, pytest.param(100_000, marks=[pytest.mark.soak, pytest.mark.timeout(0)])])
def test_one_request_delivered_many_times_by_eight_workers_has_one_effect(
    served: LedgerSettings, task: str, tmp_path: Path, deliveries: int
) -> None:
    lines = race(DELIVERIES, served, tmp_path / "log", task, str(deliveries // 8))
    assert lines.count("finished") == 8
    assert lines.count("effect A") == 1


SPOTS = [
    *[f"{when} {count}" for count in range(1, 5) for when in ("before", "after")],
    "before effect",
    "after effect",
    "after undo",
]


@pytest.mark.parametrize("spot", SPOTS)
def test_a_killed_process_is_made_good_by_the_next(
    served: LedgerSettings, task: str, tmp_path: Path, spot: str
) -> None:
    log = tmp_path / "log"
    short = served.model_copy(update={"lease_seconds": 0.5, "busy_wait_seconds": 20})
    victim = start(VICTIM, short, log, task, spot, "idempotent")
    assert victim.wait(timeout=60) == -signal.SIGKILL
    rescuer = start(VICTIM, short, log, task, "nowhere", "idempotent")
    closed = spot in ("after 3", "before 4", "after 4", "after undo")
    # Once undoing has begun the step is closed, so the rescuer's flow goes straight to the unwind.
    if closed:
        assert rescuer.wait(timeout=60) == 1
        unwind(short, log, task)
    else:
        assert rescuer.wait(timeout=60) == 0
    lines = log.read_text().splitlines() if log.exists() else []
    for word in ("effect", "undo"):
        keys = {line for line in lines if line.startswith(word)}
        assert len(keys) == 1, lines  # whatever the number of calls, one key: the other side applies it once
    for child in (victim, rescuer):
        assert child.stdin is not None
        child.stdin.close()


def unwind(served: LedgerSettings, log: Path, task: str) -> None:
    def undo(context: StepContext) -> None:
        with log.open("a") as out:
            out.write(f"undo {context.idempotency_key}\n")

    Ledger.open(served, credentials=local_credentials).saga(task, WV).compensate({"undo": undo})


def test_a_killed_undeclared_effect_is_not_run_again(served: LedgerSettings, task: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    short = served.model_copy(update={"lease_seconds": 0.5, "busy_wait_seconds": 20})
    victim = start(VICTIM, short, log, task, "after effect", "undeclared")
    assert victim.wait(timeout=60) == -signal.SIGKILL
    assert victim.stdin is not None
    victim.stdin.close()
    ledger = Ledger.open(short, credentials=local_credentials)
    request = StepRequest(task, WV, "A", 1, kind=EffectKind.UNDECLARED)
    with pytest.raises(OutcomeUncertain, match="vanished"):
        ledger.run(request, lambda context: "again")
    assert len(log.read_text().splitlines()) == 1
