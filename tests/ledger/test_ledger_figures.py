"""The six figures, the sweep's findings, and the three commands over them."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oss2
import pytest
import typer
import yaml
from ledger_kit import START_MS, WV, Crash, DirectWire, TurnableClock, ledger_over, local_credentials
from typer.testing import CliRunner

from ledger import (
    Compensation,
    CompensationContext,
    CompensationFailed,
    EffectKind,
    Ledger,
    LedgerSettings,
    OssBlobs,
    OutcomeUncertain,
    StepContext,
    StepRequest,
    Versions,
    figures_of,
)
from ledger.results import result_prefix
from ledger.sweep import ORPHAN_AGE_MS, expired_leases, orphans, stuck_steps
from local_sim.clock import RealClock
from local_sim.services.host import ServiceHost
from local_sim.services.oss import OssStore, create_app
from local_sim.services.tablestore import LOCAL_KEY_ID, LOCAL_SECRET
from scripts import migrate, report, sweep

DAY = 86_400


class Timeout(Exception):
    pass


class InvalidInput(Exception):
    effect_applied = False


class OrderRefused(Exception):
    effect_applied = False


class Play:
    """Runs steps that go well or badly."""

    def __init__(self, ledger: Ledger, task: str) -> None:
        self.ledger, self.task = ledger, task

    def step(self, name: str, *ends: type[BaseException] | None, kind: EffectKind = EffectKind.IDEMPOTENT) -> None:
        for end in ends or (None,):

            def effect(context: StepContext, end: type[BaseException] | None = end) -> Any:
                if end:
                    raise end
                return "ok"

            request = StepRequest(self.task, WV, name, 1, kind=kind, compensation=Compensation("undo", {}))
            with contextlib.suppress(Timeout, InvalidInput, OrderRefused, OutcomeUncertain, Crash):
                self.ledger.run(request, effect)

    def unwind(self, *broken: str) -> None:
        def undo(context: CompensationContext) -> None:
            if context.step in broken:
                raise Timeout

        try:
            self.ledger.saga(self.task, WV).compensate({"undo": undo}, continue_on_error=True)
        except CompensationFailed:
            assert broken


def test_the_six_figures(ledger: Ledger, task: str) -> None:
    one, two = Play(ledger, task), Play(ledger, f"{task}-2")
    one.step("Validate")
    one.step("Draft", Timeout, Timeout, None)
    one.step("Draft@2")
    one.unwind("Draft")
    one.unwind()
    two.step("Validate", InvalidInput)
    two.step("Draft", Timeout)
    two.step("Pay", Timeout, kind=EffectKind.UNDECLARED)
    histories = [ledger.history(one.task), ledger.history(two.task)]
    now = max(change.timestamp for change in histories[1].transitions)
    figures = figures_of(histories, now + 2 * 3_600_000, business_errors={"InvalidInput"})
    assert figures.tasks == 2
    assert figures.started == {"Validate": 2, "Draft": 3, "Pay": 1}
    assert figures.first_try == {"Validate": 1, "Draft": 1, "Pay": 0}
    assert figures.recovered == 2
    assert figures.to_person == 2  # the wrong input and the uncertain payment
    assert figures.exhausted == 1  # the second task's draft
    assert figures.compensations == {"done": 3, "failed": 1, "skipped": 2}
    assert sorted((entry.step, entry.state) for entry in figures.stuck) == [("Draft", "failed"), ("Validate", "failed")]


def test_a_step_is_stuck_only_past_the_limit_of_its_state(ledger: Ledger, task: str) -> None:
    Play(ledger, task).step("Draft", Timeout)
    history = ledger.history(task)
    at = history.transitions[-1].timestamp
    limits = {"failed": 10.0}
    assert figures_of([history], at + 10_000, limits=limits).stuck == ()
    (found,) = figures_of([history], at + 10_001, limits=limits).stuck
    assert (found.step, found.state, found.seconds) == ("Draft", "failed", 10.001)


def test_an_empty_window_has_empty_figures() -> None:
    figures = figures_of([], START_MS)
    assert (figures.tasks, figures.started, figures.stuck) == (0, {}, ())


def test_the_sweep_names_expired_leases_and_says_what_to_do(wire: DirectWire, clock: TurnableClock, task: str) -> None:
    ledger = ledger_over(wire, clock, busy_wait_seconds=0)
    Play(ledger, task).step("Draft", Crash)
    assert expired_leases(ledger.history(task), clock.now_ms()) == []
    clock.sleep(31)
    (found,) = expired_leases(ledger.history(task), clock.now_ms())
    assert (found.kind, found.step, found.state, found.seconds) == ("expired_lease", "Draft", "claimed", 1.0)
    assert "takes the claim over" in found.advice


def test_the_sweep_gives_the_key_to_look_for(ledger: Ledger, task: str) -> None:
    Play(ledger, task).step("Pay", Timeout, kind=EffectKind.UNDECLARED)
    history = ledger.history(task)
    (found,) = stuck_steps(history, history.transitions[-1].timestamp + 2 * DAY * 1000)
    assert (found.state, found.side_effect_id) == ("uncertain", history.rows[0].side_effect_id)
    assert "Ledger.resolve" in found.advice


@pytest.fixture(scope="module")
def oss_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    store = OssStore(tmp_path_factory.mktemp("oss"))
    app = create_app(store, credentials={LOCAL_KEY_ID: LOCAL_SECRET}, clock=RealClock())
    with ServiceHost(app, name="oss") as host:
        oss2.Bucket(oss2.Auth(LOCAL_KEY_ID, LOCAL_SECRET), host.endpoint, "swept").create_bucket()
        yield host.endpoint
    store.close()


def test_only_old_objects_without_a_row_are_orphans(
    wire: DirectWire, clock: TurnableClock, oss_endpoint: str, task: str
) -> None:
    blobs = OssBlobs(oss_endpoint, "swept", local_credentials)
    ledger = ledger_over(wire, clock, blobs=blobs, inline_limit_bytes=10)
    ledger.run(StepRequest(task, WV, "A", 1, kind=EffectKind.LOCAL), lambda context: "x" * 50)
    blobs.put(f"{result_prefix(task)}orphan.json", b"{}")
    history = ledger.history(task)
    now = RealClock().now_ms()
    assert list(orphans(blobs, history, now)) == []
    ((info, finding),) = orphans(blobs, history, now + ORPHAN_AGE_MS + 2000)
    assert info.key.endswith("orphan.json")
    assert finding.kind == "orphaned_object"
    found = sweep.findings([history], now + ORPHAN_AGE_MS + 2000, {}, blobs, delete_orphans=True)
    assert [entry.kind for entry in found] == ["orphaned_object"]
    assert len(list(blobs.list(result_prefix(task)))) == 1
    assert ledger.run(StepRequest(task, WV, "A", 1, kind=EffectKind.LOCAL), lambda context: "never").replayed


@pytest.fixture
def environment(served: LedgerSettings, oss_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """What a command of the cloud side sees."""
    for name, value in {
        "TABLESTORE_ENDPOINT": served.tablestore_endpoint,
        "TABLESTORE_INSTANCE": "local",
        "ALIBABA_CLOUD_ACCESS_KEY_ID": LOCAL_KEY_ID,
        "ALIBABA_CLOUD_ACCESS_KEY_SECRET": LOCAL_SECRET,
        "OSS_ENDPOINT": oss_endpoint,
        "OSS_BUCKET": "swept",
    }.items():
        monkeypatch.setenv(name, value)
    return Ledger.open()


def command(main: Any, *arguments: str) -> Any:
    app = typer.Typer()
    app.command()(main)
    return CliRunner().invoke(app, list(arguments))


def test_the_report_in_its_three_forms(environment: Ledger, task: str) -> None:
    environment.begin(task, Versions("1"))
    Play(environment, task).step(f"Only_{task}")
    table = command(report.main, "--days", "1")
    assert table.exit_code == 0
    assert f"Only_{task}" in table.stdout
    figures = json.loads(command(report.main, "--json", "--days", "1").stdout)
    assert figures["first_try"][f"Only_{task}"] == 1
    text = command(report.main, "--prometheus").stdout
    assert f'stepkeeper_steps_first_try{{step="Only_{task}"}} 1\n' in text
    assert "# TYPE stepkeeper_compensations gauge" in text
    lines = [json.loads(line) for line in command(report.main, "--transitions").stdout.splitlines()]
    assert [line["to_status"] for line in lines if line["task_id"] == task] == ["claimed", "done"]
    assert lines == sorted(lines, key=lambda line: line["timestamp"])


def test_the_report_refuses_limits_it_does_not_know(environment: Ledger) -> None:
    assert command(report.main, "--limit", "nonsense=1").exit_code == 2
    assert command(report.main, "--limit", "failed=x").exit_code == 2


def test_the_commands_say_in_one_line_that_the_ledger_cannot_be_read(
    environment: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPKEEPER_LEDGER_TABLE", "not_there")
    for main, arguments in (
        (report.main, ()),
        (sweep.main, ()),
        (migrate.main, ("t", "--to", "prompt=2", "--reason", "x")),
    ):
        result = command(main, *arguments)
        assert result.exit_code == 2
        assert "'not_there' does not exist" in result.stderr
        assert "Traceback" not in result.output


def test_business_errors_are_those_that_a_person_gets() -> None:
    wanted = {"InvalidInput", "ResultConflict", "SystemFault", "UncertainOutcome", "VersionMismatch"}
    assert report.business_errors() == wanted


def test_of_the_steps_errors_the_shipped_flows_undo_exactly_the_refusals() -> None:
    undoes: set[str] = set()
    for path in sorted((Path(__file__).parents[2] / "flows").glob("*.yaml")):
        for state in yaml.safe_load(path.read_text(encoding="utf-8"))["States"]:
            for caught in state.get("Catch", ()):
                names = {name for name in caught["Errors"] if not name.startswith("FnF.")}  # the steps' own errors
                if caught["Next"] in ("Compensate", "Undo"):
                    undoes |= names
                else:
                    assert not names & report.REFUSALS, (path.name, state["Name"])
    assert undoes == report.REFUSALS


def test_a_refusal_is_neither_an_error_nor_a_persons_business(ledger: Ledger, task: str) -> None:
    play = Play(ledger, task)
    play.step("Charge", OrderRefused)
    play.step("Ship", OrderRefused, None)
    history = ledger.history(task)
    at = history.transitions[-1].timestamp + 2 * 3_600_000
    figures = figures_of([history], at, business_errors=report.business_errors(), refusals=report.REFUSALS)
    assert (figures.to_person, figures.recovered, figures.exhausted) == (0, 0, 0)
    assert figures_of([history], at).exhausted == 1


def test_the_sweep_exits_with_one_when_it_found_something(
    environment: Ledger, served: LedgerSettings, task: str
) -> None:
    brief = Ledger.open(served.model_copy(update={"lease_seconds": 0.2}), credentials=local_credentials)
    brief.begin(task, Versions("1"))
    Play(brief, task).step("Draft", Crash)
    time.sleep(0.25)  # the command reads the machine's clock; a lease too short for one request is another story
    result = command(sweep.main, "--json")
    assert result.exit_code == 1
    mine = [entry for entry in json.loads(result.stdout) if entry["task_id"] == task]
    assert ("expired_lease", "Draft") in [(entry["kind"], entry["step"]) for entry in mine]
    quiet = command(sweep.main, "--days", "0")
    assert (quiet.exit_code, quiet.stdout) == (0, "nothing found\n")


def test_a_migration_says_which_finished_steps_stay_valid(environment: Ledger, task: str) -> None:
    environment.begin(task, Versions(WV, "1", "p1", "i"))
    Play(environment, task).step("Draft")
    result = command(migrate.main, task, "--to", "prompt=p2", "--reason", "better", "--by", "li")
    assert result.exit_code == 0
    assert "prompt: p1 -> p2" in result.stdout
    assert "finished steps that stay valid: Draft" in result.stdout
    record = environment.task(task)
    assert record is not None
    assert (record.versions.prompt, record.migrations[0].reason, record.migrations[0].by) == ("p2", "better", "li")


def test_a_migration_that_would_run_finished_steps_again_needs_a_word(environment: Ledger, task: str) -> None:
    environment.begin(task, Versions(WV, "1", "p1", "i"))
    Play(environment, task).step("Draft")
    arguments = (task, "--to", "workflow=flow-2", "--reason", "new flow", "--json")
    refused = command(migrate.main, *arguments)
    assert (refused.exit_code, json.loads(refused.stdout)["rerun"]) == (1, ["Draft"])
    assert environment.task(task).versions.workflow == WV  # type: ignore[union-attr]
    dry = command(migrate.main, *arguments, "--rerun-finished", "--dry-run")
    assert json.loads(dry.stdout)["outcome"] == "dry run"
    done = command(migrate.main, *arguments, "--rerun-finished")
    assert (done.exit_code, json.loads(done.stdout)["outcome"]) == (0, "migrated")


@pytest.mark.parametrize(
    "arguments", [("nobody", "--to", "prompt=2", "--reason", "x"), ("t", "--to", "x", "--reason", "y")]
)
def test_a_migration_of_nothing_is_refused(environment: Ledger, arguments: tuple[str, ...]) -> None:
    assert command(migrate.main, *arguments).exit_code == 2
