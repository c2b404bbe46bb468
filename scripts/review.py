"""Reviews from a terminal: list them, read one, decide. The same code as the page's: one decision counts.

    python -m scripts.review list
    python -m scripts.review show t-1
    python -m scripts.review approve t-1 --comment "fine"
    python -m scripts.review more-info t-1 --comment "Which deadline?"

Works on whatever the endpoints of docs/architecture.md name; deciding needs STEPKEEPER_REVIEW_KEYS and FNF_ENDPOINT.
"""

from __future__ import annotations

import getpass
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from functions.errors import InvalidInput, StepkeeperError
from functions.review import (
    Decision,
    Desk,
    LinkSuperseded,
    Review,
    ReviewConflict,
    ReviewOver,
    ReviewUnknown,
    Seat,
    State,
    sweep,
)
from functions.review.messages import link_of, look_only
from functions.review.model import Delivery
from functions.review.web.diff import printable
from scripts.cloud import command_app, reported, say, show_json, show_table

if TYPE_CHECKING:
    from functions.review.store import Noted, Record

__all__ = ["app"]

_DAY_MS = 86_400_000
_CODES = "Exit status: 0 done, 1 refused (another decision counts, or the review is over), 2 not there or bad input, "
_CODES += "3 recorded but the flow could not be told yet (the sweep goes on trying)."

app = command_app()

Task = Annotated[str, typer.Argument(help="The task's id.")]
Round = Annotated[int, typer.Option("--round", min=0, help="The round; 0 for the newest.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
By = Annotated[str, typer.Option("--by", help="Who decides, as it is recorded (default: your user name).")]
Place = Annotated[int, typer.Option("--seat", min=0, help="For which seat; 0 for the first one that is yours or free.")]
Comment = Annotated[str, typer.Option("--comment", help="What the reviewer has to say.")]


@app.callback(epilog=f"Examples:  python -m scripts.review list | python -m scripts.review approve t-1.   {_CODES}")
def main() -> None:
    """List reviews, read one, decide."""


@app.command("list", epilog="Example:  python -m scripts.review list --all --json")
@reported("review")
def list_reviews(
    everything: Annotated[bool, typer.Option("--all", help="Those that are over too.")] = False,
    days: Annotated[float, typer.Option(min=0, help="Opened in the last so many days.")] = 31,
    as_json: Json = False,
) -> None:
    """List the reviews that wait for somebody."""
    desk = Desk.open()
    now = desk.clock_ms()
    found = [record.review for record in desk.reviews.since(now - int(days * _DAY_MS), now)]
    shown = sorted((one for one in found if everything or _open(one)), key=lambda one: one.expires_ms)
    if as_json:
        show_json([_as_json(review) for review in shown])
    elif not shown:
        say("no review waits")
    else:
        show_table(("task", "round", "state", "reviewers", "votes", "until", "document"), map(_row, shown))


@app.command(epilog="Example:  python -m scripts.review show t-1 --round 1 --json")
@reported("review")
def show(task: Task, number: Round = 0, as_json: Json = False) -> None:
    """Show a review with its draft, its trail and its views."""
    from functions.payloads import Payloads
    from functions.review.web.view import draft_text

    desk = Desk.open()
    record = _find(desk, task, number)
    review, views = record.review, desk.reviews.views(record.review.id)
    trail = sorted((*record.trail, *views), key=lambda noted: noted.at_ms)
    if as_json:
        show_json({**_as_json(review), "trail": trail})
        return
    say(printable(f"{review.title or review.name}   {task}, round {review.round}: {review.state.value}"))
    if review.decided is not None:
        vote = review.decided
        say(
            f"{vote.decision.value} by {printable(vote.by)}, {_time(vote.at_ms)}; report {review.report.delivery.value}"
        )
        say(f"  {printable(vote.comment)}" if vote.comment else "  no comment")
    show_table(("when", "what", "who", ""), [_noted(one) for one in trail])
    say("")
    say(printable(draft_text(Payloads.open(), review)))


@app.command(epilog=f"Example:  python -m scripts.review approve t-1 --by Lin.   {_CODES}")
@reported("review")
def approve(
    task: Task, comment: Comment = "", by: By = "", seat: Place = 0, number: Round = 0, as_json: Json = False
) -> None:
    """Approve the draft."""
    _decide(task, Decision.APPROVED, comment, by, seat, number, as_json=as_json)


@app.command(epilog=f'Example:  python -m scripts.review reject t-1 --comment "wrong client".   {_CODES}')
@reported("review")
def reject(
    task: Task, comment: Comment = "", by: By = "", seat: Place = 0, number: Round = 0, as_json: Json = False
) -> None:
    """Reject the draft; what was done is undone."""
    _decide(task, Decision.REJECTED, comment, by, seat, number, as_json=as_json)


@app.command(
    "more-info", epilog=f'Example:  python -m scripts.review more-info t-1 --comment "Which year?".   {_CODES}'
)
@reported("review")
def more_info(
    task: Task, comment: Comment, by: By = "", seat: Place = 0, number: Round = 0, as_json: Json = False
) -> None:
    """Send the draft back with a question; the next round answers it."""
    _decide(task, Decision.MORE_INFO, comment, by, seat, number, as_json=as_json)


@app.command(epilog="Example:  python -m scripts.review reassign t-1 Mei --seat 2")
@reported("review")
def reassign(
    task: Task,
    name: Annotated[str, typer.Argument(help="Name of the new reviewer.")],
    by: By = "",
    seat: Place = 0,
    number: Round = 0,
) -> None:
    """Hand a seat to somebody else; its older links only show from now on."""
    desk = Desk.open()
    review = _find(desk, task, number).review
    chosen = _seat(review, by or _user(), seat)
    try:
        desk.reassign(review.id, chosen.number, name, by or _user())
    except (ReviewConflict, ReviewOver) as error:
        _refused(error)
    say(f"seat {chosen.number} of {task}, round {review.round}: {name}")


@app.command(epilog="Example:  python -m scripts.review link t-1 --look-only")
@reported("review")
def link(
    task: Task,
    seat: Place = 0,
    number: Round = 0,
    only: Annotated[bool, typer.Option("--look-only", help="A link that shows and decides nothing.")] = False,
) -> None:
    """Print a signed link to the page. Whoever has it can decide for its seat."""
    desk = Desk.open()
    review = _find(desk, task, number).review
    text = look_only(desk.settings, review) if only else link_of(desk.settings, review, _seat(review, _user(), seat))
    if not text:
        raise InvalidInput("STEPKEEPER_REVIEW_BASE_URL is not set: there is no page to link to")
    say(text)


@app.command(
    epilog='Examples:  python -m scripts.review answer t-1 \'{"decision": "retry", "by": "Lin"}\' | '
    "python -m scripts.review answer t-1 - < input.json.   Exit status: 0 told, 1 it waits no longer, 2 bad input."
)
@reported("review")
def answer(
    task: Task,
    output: Annotated[
        str, typer.Argument(help="JSON: a decision (ManualReview), a whole input (NeedInput); - is stdin.")
    ],
    state: Annotated[str, typer.Option(help="The state that waits, when there are several.")] = "",
) -> None:
    """Answer a state that waits for a person and is no review: ManualReview, NeedInput."""
    from functions.cloudflow import CloudFlow, ReportRefused
    from functions.events import read_json
    from functions.payloads import Payloads
    from functions.people import tokens
    from functions.settings import current

    value = read_json(sys.stdin.read() if output == "-" else output)
    if not isinstance(value, dict):
        raise InvalidInput("the answer has to be a JSON object", path="output", reason="not an object")
    kept = [one for one in tokens(Payloads.open(), task) if state in ("", one.step.split("@")[0])]
    if not kept:
        raise ReviewUnknown(f"no state of task {task} waits for an answer" + (f" named {state}" if state else ""))
    try:
        CloudFlow.of(current()).succeed(kept[0].token, value)
    except ReportRefused as error:
        _refused(error)
    say(f"{task}: {kept[0].step} is answered")


@app.command("sweep", epilog="Example:  python -m scripts.review sweep --json")
@reported("review")
def sweep_now(as_json: Json = False) -> None:
    """Do what the timer does: deliver what is due, remind, escalate, expire."""
    done = sweep(Desk.open())
    if as_json:
        show_json(done)
        return
    say(", ".join(f"{count} {kind}" for kind, count in sorted(done.done.items())) or "nothing to do")
    for problem in done.problems:
        typer.echo(f"review: {problem}", err=True)


def _decide(task: str, decision: Decision, comment: str, by: str, seat: int, number: int, *, as_json: bool) -> None:
    desk = Desk.open()
    review = _find(desk, task, number).review
    who = by or _user()
    chosen = _seat(review, who, seat)
    try:
        answer = desk.decide(review.id, chosen.number, decision, who, comment, "terminal")
    except (ReviewConflict, ReviewOver, LinkSuperseded) as error:
        _refused(error)
    if as_json:
        show_json({**_as_json(answer.review), "fresh": answer.fresh})
    else:
        say(_said(answer.review, fresh=answer.fresh))
    if answer.review.report.delivery in (Delivery.DUE, Delivery.REFUSED):
        typer.echo(f"review: the flow was not told: {answer.review.report.detail}", err=True)
        raise typer.Exit(3 if answer.review.report.delivery is Delivery.DUE else 1)


def _refused(error: StepkeeperError) -> NoReturn:
    when = f", {_time(error.at_ms)}" if isinstance(error, ReviewConflict) else ""
    typer.echo(printable(f"review: refused: {error.message}{when}"), err=True)
    raise typer.Exit(1)


def _find(desk: Desk, task: str, number: int) -> Record:
    rounds = [one for one in desk.reviews.of_task(task) if number in (0, one.review.round)]
    if not rounds:
        raise ReviewUnknown(f"there is no review of task {task}" + (f" in round {number}" if number else ""))
    return rounds[-1]


def _seat(review: Review, who: str, number: int) -> Seat:
    if number:
        found = review.seat(number)
        if found is None:
            raise InvalidInput(f"the review has {len(review.seats)} seats, there is no {number}", path="seat")
        return found
    own = [seat for seat in review.seats if seat.name == who]
    free = [seat for seat in review.seats if review.voted(seat.number) is None]
    return (own or free or list(review.seats))[0]


def _said(review: Review, *, fresh: bool) -> str:
    where = f"{review.task_id}, round {review.round}"
    if review.state is State.PENDING:
        return f"{where}: {len(review.votes)} of {review.approvals} approvals"
    return f"{where}: {review.state.value}" + ("" if fresh else " (as it was)")


def _open(review: Review) -> bool:
    return review.pending or review.report.delivery is Delivery.DUE


def _row(review: Review) -> tuple[object, ...]:
    names = printable(", ".join(seat.name or f"seat {seat.number}" for seat in review.seats))
    votes = f"{len(review.votes)}/{review.approvals}"
    return (
        review.task_id,
        review.round,
        review.state.value,
        names,
        votes,
        _time(review.expires_ms),
        printable(review.title or review.name),
    )


def _noted(one: Noted) -> tuple[str, ...]:
    return _time(one.at_ms), one.kind, printable(one.by), printable(one.text)


def _as_json(review: Review) -> dict[str, Any]:
    return review.model_dump(mode="json")


def _time(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000).astimezone():%Y-%m-%d %H:%M}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        return "terminal"


if __name__ == "__main__":
    sys.exit(app(prog_name="python -m scripts.review"))
