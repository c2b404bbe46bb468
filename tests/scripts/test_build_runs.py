"""The built package at work: a whole task, from that folder alone, by the target's own Python, over the real wire."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from documents import pdf

from local_sim.clock import RealClock
from local_sim.services import Services
from local_sim.services.oss import OssStore
from local_sim.services.oss import create_app as oss_app
from local_sim.services.tablestore import LOCAL_KEY_ID, LOCAL_SECRET, TablestoreStore
from local_sim.services.tablestore import create_app as tablestore_app
from scripts.build import build
from scripts.building import Target, find_interpreter

ROOT = Path(__file__).resolve().parents[2]

# What runs in the other interpreter: a task from its document to the saved result, then everything is undone.
STORY = """
import json, sys
sys.path.insert(0, sys.argv[1])
import fc_handlers as door
from functions import Payloads
from ledger import Ledger, LedgerSettings, provision
provision(LedgerSettings())
payloads = Payloads.open()
payloads.bucket.provision()
document = payloads.put("inbox/contract.pdf", open(sys.argv[2], "rb").read())
def ask(handler, step, **event):
    return json.loads(getattr(door, handler)(json.dumps({"step": step, **event}).encode(), None))
given = {"task_id": "t-1", "document": {"uri": document.uri}}
task = ask("validate_input", "ValidateInput", workflow="content_review-1", task=given)["task"]
task = ask("prepare_material", "PrepareMaterial", task=task)["task"]
task = ask("generate_draft", "GenerateDraft", task=task)["task"]
ask("request_review", "HumanReview", task=task, token="t")
task = ask("save_result", "SaveResult", task=task, review={"decision": "approved"})["task"]
task = ask("notify", "Notify", task=task)["task"]
saved = payloads.bucket.get("results/t-1/result.md", 10**6).decode()
loose = {"workflow": "content_review-1", "execution": "e", "task": task}
undone = ask("compensate", "Compensate", outcome="rejected", **loose)["undone"]
states = {row.step: row.state for row in Ledger.open().rows("t-1") if row.direction == "forward"}
print()
print(json.dumps({"saved": saved, "undone": undone, "states": states}))
"""


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("python", ["3.12", "3.10"])
def test_a_whole_task_runs_from_the_built_folder(tmp_path: Path, python: str) -> None:
    interpreter = find_interpreter(Target(python))
    if interpreter is None:
        pytest.skip(f"no python{python} on this machine")
    (ROOT / "build/cache").mkdir(parents=True, exist_ok=True)
    (tmp_path / "cache").symlink_to(ROOT / "build/cache")
    built = build(ROOT, tmp_path, Target(python))
    assert built.problems == ()
    contract = tmp_path / "contract.pdf"
    contract.write_bytes(pdf([["甲方每月支付 48000 元。"], ["The provider deletes all documents."]], owner="boss"))
    tables, objects = TablestoreStore(tmp_path / "tables.sqlite3"), OssStore(tmp_path / "oss")
    services = Services()
    services.add("tablestore", tablestore_app(tables))
    services.add("oss", oss_app(objects, credentials={LOCAL_KEY_ID: LOCAL_SECRET}, clock=RealClock()))
    with services:
        environment = {
            "TABLESTORE_ENDPOINT": services["tablestore"].endpoint,
            "TABLESTORE_INSTANCE": "local",
            "OSS_ENDPOINT": services["oss"].endpoint,
            "OSS_BUCKET": "built-package",
            "ALIBABA_CLOUD_ACCESS_KEY_ID": LOCAL_KEY_ID,
            "ALIBABA_CLOUD_ACCESS_KEY_SECRET": LOCAL_SECRET,
            "ALIBABA_CLOUD_REGION": "cn-hangzhou",
            "STEPKEEPER_OUTBOX": str(tmp_path / "outbox"),
        }
        # -I would drop the environment's PYTHON* variables only; -S keeps every installed package out of sight.
        command = [interpreter, "-I", "-S", "-B", "-c", STORY, str(built.folder), str(contract)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    tables.close()
    objects.close()
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert "48000 元" in told["saved"]
    assert told["undone"] == {"compensated": 4, "irreversible": 1, "nothing_to_undo": 1}
    assert told["states"]["SaveResult"] == "compensated"
    assert told["states"]["Notify"] == "irreversible"
    assert len(list((tmp_path / "outbox").glob("*.json"))) == 2
