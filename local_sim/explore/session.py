"""One process that explores: it builds the world, runs the flow once without faults, then grows the tree of runs."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from local_sim.engine import HistoryEvent
from local_sim.project import Function, load_project
from local_sim.runner import RunResult
from local_sim.runner.api import find_flow
from local_sim.runner.preflight import functions_of
from local_sim.workers import WorkerEnvironment

from . import patches, speed
from .driver import People, drive
from .effects import effects_of
from .errors import BadPlan, Hung
from .faults import Catalogue
from .fibers import Fiber, Hub, Instance, WorldClock
from .forks import Emit, Explorer, Share, freeze, writer
from .functions import Functions, redirect
from .gate import Gate
from .invariants import Check, ask_invariants, load_invariants
from .labels import Code, Sources, rows_as_json
from .model import Answer, Plan, Run, Verdict, Violation
from .modules import ModuleState, patch_caches
from .outside import import_outside
from .settings import read_explore_settings
from .transport import install
from .verdict import Baseline, Judge, verdict_of
from .world import World, encoded, set_environment

START_MS = 1_767_225_600_000
"""When every world begins."""

_MOST_ROWS = 200


class Session:
    """A world with a flow in it. One a process: it puts its own clock, chance and transports in place for good."""

    def __init__(self, plan: Plan, folder: Path, emit: Emit) -> None:
        self.plan, self.folder, self.emit = plan, folder, emit
        self.hub = Hub(WorldClock(START_MS), plan.seed)
        self._chance = patches.Chance(plan.seed)
        patches.apply(self.hub, self._chance)
        speed.install()
        self.project = load_project(plan.root)
        self.source = find_flow(self.project, plan.flow)
        self.settings = read_explore_settings(plan.root)
        used = functions_of(self.project, self.source.text, self.source.file)
        folders = _folders(used)
        sys.path[:0] = [*map(str, folders), str(self.project.root)]
        sources = Sources(self.project.root, folders, set())
        patch_caches(self.hub, sources.own)
        before = frozenset(sys.modules)
        import_outside(self.project)
        self._services = ModuleState([self.project.root], before)
        self._services.learn()
        self.world = World(self.project, folder, self.hub.clock)
        self._modules = ModuleState(folders, frozenset(sys.modules))
        self._shared = encoded({**os.environ, **self.world.shared_variables()})
        self.explorer = Explorer(self._catalogue(used), emit, folder)
        environment = WorkerEnvironment(self.world.endpoints)
        self.functions = Functions(self.hub, environment, self.explorer.at)
        self.functions.brief = self.explorer.brief
        self._load(used, sources)
        flow, file = self.source.flow, _shown(self.source.file, plan.root)
        self.judge = Judge(flow, self.settings.ends.get(flow.name, {}), file)
        self.people = People(self._answers())
        self._checks = self._invariants()

    def _catalogue(self, used: list[Function]) -> Catalogue:
        errors = {function.name: self.project.settings.errors.get(function.name, ()) for function in used}
        return Catalogue(errors, self.plan.faults, versions=bool(self.settings.versions))

    def _answers(self) -> tuple[Answer, ...]:
        """The plan's answers, and the project's own for the states that the plan says nothing about."""
        said = {answer.state for answer in self.plan.answers}
        given = self.settings.answers.get(self.source.flow.name, ())
        return (*self.plan.answers, *(answer for answer in given if answer.state not in said))

    def _load(self, used: list[Function], sources: Sources) -> None:
        """Open the transports, set the project up, and import the handlers, all inside the world."""
        install(Gate(self.hub, self.world, self.functions, sources, self.settings.lease), self.world.knows)
        self.hub.switched = self._switched
        self._inside(lambda: self.world.set_up(self.settings.prepare, self.plan.input))
        for function in used:
            self._inside(lambda function=function: self.functions.prepare(function))  # type: ignore[misc]
            sources.handlers.add(_handler_code(function))
        redirect(self.hub)

    def _invariants(self) -> list[tuple[str, Check]]:
        found: list[list[tuple[str, Check]]] = []
        self._inside(lambda: found.append(load_invariants(self.settings.invariants)))
        return found[0]

    def _inside(self, work: Callable[[], object]) -> None:
        """Do something in a process of its own, which is forgotten afterwards. Raises what it raises."""
        errors: list[BaseException] = []

        def guarded() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - carried out of the fiber
                errors.append(error)

        instance = Instance(-1, "setup", self._shared)
        fiber = self.hub.spawn(instance, guarded)
        while not fiber.done:
            if not self.hub.run(None):
                raise Hung("the setup waits for something that never comes")
        instance.idle = True
        if errors:
            raise errors[0]

    def _switched(self, fiber: Fiber) -> None:
        """Another fiber goes on: give it its process's environment and memory."""
        instance = fiber.instance
        if instance.function:
            set_environment(instance.variables)
            self._modules.enter(instance)

    def begin(self) -> Baseline:
        """Run the flow once without faults, begin anew, and return what that run came to.

        Whatever is imported or made at the first use only is there afterwards, and no copy has to make it again.
        """
        for name in self._imported():
            self._inside(lambda name=name: _import(name))  # type: ignore[misc]
        self._modules.learn()
        result, hung = self._drive()
        if hung:
            raise BadPlan(self.plan.flow, f"the run without faults does not end: {hung}")
        baseline = Baseline.of(self._run(result, {}), self.people.visits)
        self._anew()
        return baseline

    def _imported(self) -> list[str]:
        """Return the modules that a run imports as it goes. It is run in a copy, so that they can be imported clean."""
        reader, descriptor = os.pipe()
        child = os.fork()
        if child == 0:
            before = set(sys.modules)
            try:
                self._drive()
                writer(descriptor)({"modules": sorted(set(sys.modules) - before)})
            finally:
                os._exit(0)
        os.close(descriptor)
        with open(reader, "rb") as pipe:
            told = pipe.read()
        os.waitpid(child, 0)
        names: list[str] = json.loads(told)["modules"] if told else []
        return names

    def _anew(self) -> None:
        """Make the world as it was before anything ran."""
        self.hub.reset(START_MS, self.plan.seed)
        self.functions.reset()
        self.people.visits.clear()
        self._services.enter(Instance(-1, "services"))
        self.world.begin()
        self._chance.reseed(self.plan.seed)
        self._inside(lambda: self.world.set_up(self.settings.prepare, self.plan.input))
        self._chance.reseed(f"run {self.plan.seed}")
        self.explorer.reset()

    def explore(self, baseline: Baseline, share: Share, over: Callable[[], bool]) -> None:
        """Run the flow, copying the process for each fault; each copy emits its run and ends here."""
        freeze()
        self.explorer.depth, self.explorer.share, self.explorer.over = self.plan.depth, share, over
        self.tell(baseline, *self._drive())

    def replay(self, baseline: Baseline, faults: Mapping[int, str]) -> None:
        """Run the flow once with the faults given, by boundary number."""
        self.explorer.forced = faults
        result, hung = self._drive()
        for number, fault in faults.items():
            if number >= len(self.explorer.passed):
                raise BadPlan("--replay", f"the run has no boundary {number}; it has {len(self.explorer.passed)}")
            here = self.explorer.passed[number]
            if fault not in self.explorer.catalogue.applicable(here):
                raise BadPlan("--replay", f"boundary {number} ({here.text}) has no fault {fault!r}")
        self.tell(baseline, result, hung)

    def _drive(self) -> tuple[RunResult | None, str]:
        try:
            result = drive(
                self.project,
                self.source,
                self.plan.input,
                self.hub,
                self.functions,
                self.people,
                self.settings.versions,
            )
        except Hung as error:
            return None, str(error)
        return result, ""

    def tell(self, baseline: Baseline, result: RunResult | None, hung: str) -> None:
        """Judge the run that has ended and emit it; a copied process ends here."""
        run = self._run(result, baseline.visits)
        set_environment(self._shared)
        self._modules.enter(Instance(-2, "judge", self._shared))
        violations = [*self.judge.violations(run, baseline, hung), *ask_invariants(self._checks, run)]
        verdict = verdict_of(run, baseline, violations)
        self.emit(self._told(run, verdict, violations))
        if self.explorer.copied:
            os._exit(0)

    def _run(self, result: RunResult | None, visits: Mapping[str, int]) -> Run:
        explorer = self.explorer
        asked = [state for state, count in self.people.visits.items() if count > visits.get(state, 0)]
        path = () if result is None else result.path
        return Run(
            id="+".join(placed.id for placed in explorer.taken),
            flow=self.source.flow.name,
            input=self.plan.input,
            schedule=tuple(explorer.taken),
            status="Running" if result is None else result.status.value,
            end=path[-1] if path else "",
            error="" if result is None else result.error,
            output=None if result is None else result.output,
            path=path,
            asked=tuple(asked),
            overwrites=tuple(self.world.overwrites),
            effects=effects_of(self.world, self.settings.effects),
            history=[] if result is None else [_event(event) for event in result.history],
            boundaries=tuple(explorer.passed),
            now_ms=self.hub.clock.now_ms(),
        )

    def _told(self, run: Run, verdict: Verdict, violations: list[Violation]) -> dict[str, Any]:
        explorer = self.explorer
        told: dict[str, Any] = {
            "id": run.id,
            "verdict": verdict.value,
            "status": run.status,
            "end": run.end,
            "error": run.error,
            "asked": list(run.asked),
            "path": list(run.path),
            "schedule": [{"boundary": placed.boundary.number, "fault": placed.fault} for placed in run.schedule],
            "states": [placed.boundary.state for placed in run.schedule],
            "at": [placed.boundary.text for placed in run.schedule],
            "irreversible": [effect.text for effect in run.effects if not effect.reversible],
            "violations": [
                {
                    "rule": one.rule,
                    "text": self._without_folder(one.text),
                    "line": one.line or self._line(run),
                    "stack": list(one.stack),
                }
                for one in violations
            ],
            "known": explorer.known,
            "tried": explorer.tried,
        }
        if verdict is Verdict.BROKEN or self.plan.replay or not run.schedule:
            told |= self._in_full(run)
        return told

    def _line(self, run: Run) -> str:
        """The line of the handler whose request met the last fault."""
        return next((placed.boundary.line for placed in reversed(run.schedule) if placed.boundary.line), "")

    def _in_full(self, run: Run) -> dict[str, Any]:
        return {
            "boundaries": [
                {"number": one.number, "kind": one.kind.value, "text": one.text, "line": one.line}
                for one in run.boundaries
            ],
            "history": [self._clean(event) for event in run.history],
            "logs": self._without_folder("".join(self.functions.logs)).splitlines(),
            "effects": [effect.text for effect in run.effects],
            "tables": self._clean(dict(self._tables())),
        }

    def _tables(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        for (_, name), table in self.world.tables.catalog.items():
            yield name, rows_as_json(self.world.tables.rows_of(table)[:_MOST_ROWS])

    def _clean(self, value: Any) -> Any:
        return json.loads(self._without_folder(json.dumps(value, ensure_ascii=False)))

    def _without_folder(self, text: str) -> str:
        """Leave out what differs from process to process: where the world's files happen to lie."""
        return text.replace(str(self.folder), "{data}")


def _folders(used: list[Function]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(folder for function in used for folder in (function.code, *function.beside)))


def _handler_code(function: Function) -> Code:
    """Return where a handler is really defined, under whatever wraps it."""
    module, _, name = function.handler.replace("/", ".").rpartition(".")
    handler = inspect.unwrap(getattr(sys.modules[module], name))
    code = getattr(handler, "__code__", None)
    return (str(sys.modules[module].__file__), 0) if code is None else (code.co_filename, code.co_firstlineno)


def _shown(file: str, root: Path) -> str:
    return file.removeprefix(f"{root}/")


def _import(name: str) -> None:
    with contextlib.suppress(Exception):  # it was imported in passing; each run imports it again and sees why not
        import_module(name)


def _event(event: HistoryEvent) -> dict[str, Any]:
    return {
        "id": event.event_id,
        "schedule": event.schedule_event_id,
        "type": event.type,
        "state": event.step_name,
        "at_ms": event.time_ms,
        "detail": event.detail,
    }
