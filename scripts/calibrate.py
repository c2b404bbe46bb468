"""Asks a cloud what the documentation leaves open: a tiny flow for each assumption, and how it answers.

    python -m scripts.calibrate --write
    python -m scripts.calibrate --only A08 --only A09

On an account it costs a function and two dozen short executions, and deletes both. The answers are compared with those
of local_sim (scripts/calibration/local_sim.json); pointed at the local cloud it must agree with itself.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer

from scripts.calibration import Difference, Laboratory, Outcome, Probe, compared, read_probes
from scripts.cloud import (
    CloudSettings,
    Flows,
    Functions,
    NotThere,
    command_app,
    reported,
    say,
    show_json,
    show_table,
)

__all__ = ["app", "known_answers"]

_KNOWN = Path(__file__).resolve().parent / "calibration" / "local_sim.json"
_DOCS = Path(__file__).resolve().parent.parent / "docs"

app = command_app()


@app.command(
    epilog="Examples:  python -m scripts.calibrate | python -m scripts.calibrate --only A08 --json | "
    "python -m scripts.calibrate --write.   "
    "Exit status: 0 the service does what local_sim does, 1 it does not, 2 the probes could not run."
)
@reported("calibrate")
def main(
    only: Annotated[list[str] | None, typer.Option(help="Ids of probes; all without it.")] = None,
    write: Annotated[bool, typer.Option("--write", help="Write docs/calibration-<date>.json.")] = False,
    learn: Annotated[
        bool, typer.Option("--learn", help="Keep the answers as those of local_sim; for its developers.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Probe the assumptions on the cloud that the endpoints name."""
    probes = _chosen(read_probes(), only or [])
    settings = CloudSettings()
    laboratory = Laboratory(settings, Flows(settings), Functions(settings))
    with laboratory.opened() as function:
        found = {probe.id: laboratory.run(probe, function) for probe in probes}
    if learn:
        _KNOWN.write_text(_text({id_: asdict(outcome) for id_, outcome in found.items()}), encoding="utf-8")
    differences = compared(probes, found, known_answers())
    report = _report(settings, probes, found, differences)
    if write:
        file = _DOCS / f"calibration-{report['date']}.json"
        file.write_text(_text(report), encoding="utf-8")
    if as_json:
        show_json(report)
    else:
        _show(probes, found, differences)
    raise typer.Exit(1 if differences else 0)


def known_answers() -> dict[str, Outcome]:
    """What local_sim answers, by the probe's id."""
    return {id_: Outcome(**one) for id_, one in json.loads(_KNOWN.read_text(encoding="utf-8")).items()}


def _chosen(probes: list[Probe], only: list[str]) -> list[Probe]:
    ids = [probe.id for probe in probes]
    for id_ in only:
        if id_ not in ids:
            raise NotThere(f"a probe {id_}", f"there are {', '.join(ids)}")
    return [probe for probe in probes if not only or probe.id in only]


def _report(
    settings: CloudSettings, probes: list[Probe], found: dict[str, Outcome], differences: list[Difference]
) -> dict[str, object]:
    differing = {difference.id for difference in differences}
    return {
        "date": f"{datetime.now(timezone.utc):%Y-%m-%d}",
        "service": settings.fnf if "aliyuncs.com" in settings.fnf else "local cloud",
        "probes": [
            {"id": probe.id, "point": probe.point, "agrees": probe.id not in differing, **asdict(found[probe.id])}
            for probe in probes
        ],
    }


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _show(probes: list[Probe], found: dict[str, Outcome], differences: list[Difference]) -> None:
    differing = {difference.id: difference for difference in differences}
    rows = [
        (
            probe.id,
            probe.point,
            _said(found[probe.id]),
            _said(differing[probe.id].local_sim) if probe.id in differing else "",
        )
        for probe in probes
    ]
    show_table(("id", "point", "the service", "local_sim, where it differs"), rows)
    say(f"{len(probes)} probes, {len(differences)} differ from local_sim")


def _said(outcome: Outcome) -> str:
    if outcome.refused:
        return f"refused: {outcome.refused}"
    output = "" if outcome.output is None else f" {json.dumps(outcome.output, ensure_ascii=False)}"
    return f"{outcome.status}{f' {outcome.error}' if outcome.error else ''}{output}"


if __name__ == "__main__":
    app()
