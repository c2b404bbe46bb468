"""The journal: what is written is there after a kill, and every fault of a data folder has its message."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from local_sim.engine import Event, Started, Status, TaskFailed, TaskSucceeded, TimerFired
from local_sim.journal import (
    SCHEMA_VERSION,
    BackgroundCall,
    ExecutionNotFound,
    ExecutionRecord,
    ExecutionStored,
    Journal,
    JournalInUse,
    JournalUnusable,
    JournalVersionError,
)
from local_sim.journal.served import ServedJournal

ROOT = Path(__file__).resolve().parents[2]
EVENTS: list[Event] = [
    Started(1, {"名": [1, None, 2.5, "\ud800"]}, "seed"),
    TaskFailed(2, 3, "CardDeclined", '{"errorMessage": "no"}'),
    TimerFired(1002, 1),
    TaskSucceeded(1003, 9, {"Body": {"big": 10**30}}),
]


def create(journal: Journal, name: str = "run-1", **more: object) -> ExecutionRecord:
    fields: dict[str, object] = {
        "flow": "f",
        "source": "f.yaml",
        "definition": "Type: x\n",
        "secret": b"\x00s",
        "at_ms": 5,
    }
    return journal.create(name=name, **{**fields, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize("durable", [True, False])
def test_events_come_back_as_they_were(tmp_path: Path, durable: bool) -> None:
    with Journal(tmp_path / "data" if durable else None) as journal:
        record = create(journal)
        for number, event in enumerate(EVENTS):
            journal.append(record.id, number, event)
        assert journal.events(record.id) == EVENTS


def test_a_record_keeps_everything(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        record = create(journal, virtual=True)
        journal.set_status(record.id, Status.FAILED, error="E", cause="why")
    with Journal(tmp_path, read_only=True) as journal:
        found = journal.find("run-1")
        assert (found.flow, found.definition, found.secret, found.virtual) == ("f", "Type: x\n", b"\x00s", True)
        assert (found.status, found.error, found.cause, found.created_ms) == (Status.FAILED, "E", "why", 5)


def test_an_event_number_is_written_once(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        record = create(journal)
        journal.append(record.id, 0, EVENTS[0])
        with pytest.raises(sqlite3.IntegrityError):
            journal.append(record.id, 0, EVENTS[1])


def test_a_name_is_used_once_in_a_flow() -> None:
    with Journal() as journal:
        create(journal)
        assert create(journal, flow="g").name == "run-1"
        with pytest.raises(ExecutionStored) as caught:
            create(journal)
        assert (caught.value.flow, caught.value.name) == ("f", "run-1")


def test_the_newest_unfinished_execution_is_found() -> None:
    with Journal() as journal:
        first, second = create(journal, "a"), create(journal, "b")
        create(journal, "child", parent=first.id, parent_task=4)
        journal.set_status(second.id, Status.SUCCEEDED, {"x": 1})
        assert journal.find().name == "b"
        assert journal.find(unfinished=True).name == "a"
        assert [child.name for child in journal.children(first.id)] == ["child"]
        assert journal.get(second.id).output == {"x": 1}
        journal.set_status(first.id, Status.STOPPED)
        with pytest.raises(ExecutionNotFound, match="no unfinished execution"):
            journal.find(unfinished=True)
        with pytest.raises(ExecutionNotFound, match="no execution 'zz' in this data folder; there are: a, b"):
            journal.find("zz")


def test_asynchronous_calls_are_remembered_until_they_end() -> None:
    with Journal() as journal:
        record = create(journal)
        call = BackgroundCall("1-0-a", record.id, "mail", b"\xff")
        journal.add_background(call)
        journal.add_background(call)
        assert journal.background(record.id) == [call]
        journal.end_background("1-0-a")
        assert journal.background(record.id) == []


def test_a_journal_in_use_names_the_process(tmp_path: Path) -> None:
    with Journal(tmp_path), pytest.raises(JournalInUse) as caught:
        Journal(tmp_path)
    assert caught.value.pid == os.getpid()
    assert f"in use by process {os.getpid()}" in str(caught.value)
    Journal(tmp_path).close()


def test_readers_need_no_lock(tmp_path: Path) -> None:
    with Journal(tmp_path) as writer:
        record = create(writer)
        with Journal(tmp_path, read_only=True) as reader:
            writer.append(record.id, 0, EVENTS[0])
            assert reader.events(record.id) == EVENTS[:1]


def test_another_schema_version_is_refused(tmp_path: Path) -> None:
    Journal(tmp_path).close()
    with sqlite3.connect(tmp_path / "journal.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(JournalVersionError) as caught:
        Journal(tmp_path)
    assert (caught.value.found, caught.value.expected) == (99, SCHEMA_VERSION)


def test_a_journal_of_the_first_version_goes_on_where_it_was(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        record = create(journal)
        journal.append(record.id, 0, EVENTS[0])
    with contextlib.closing(sqlite3.connect(tmp_path / "journal.sqlite")) as database:
        database.executescript("DROP TABLE served; PRAGMA user_version = 1;")
    with Journal(tmp_path, read_only=True) as reader:  # which may not change it
        assert reader.events(record.id) == EVENTS[:1]
    with ServedJournal(tmp_path) as journal:
        assert journal.events(record.id) == EVENTS[:1]
        assert journal.unfinished() == []
    with contextlib.closing(sqlite3.connect(tmp_path / "journal.sqlite")) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


def test_an_empty_file_is_no_journal_for_a_reader(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite").touch()
    with pytest.raises(JournalUnusable, match="still empty"):
        Journal(tmp_path, read_only=True)


def test_a_file_that_is_no_journal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite").write_bytes(b"not a database, certainly not one" * 100)
    with pytest.raises(JournalUnusable, match="not a database"):
        Journal(tmp_path)


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("", encoding="ascii")
    with pytest.raises(JournalUnusable, match="cannot be used"):
        Journal(tmp_path / "f" / "data")


def test_reading_a_folder_without_journal_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalUnusable, match="there is no journal in it"):
        Journal(tmp_path, read_only=True)


def test_what_was_appended_survives_kill_9(tmp_path: Path) -> None:
    script = f"""
import os, signal, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from local_sim.engine import Started, TimerFired
from local_sim.journal import Journal
journal = Journal(Path({str(tmp_path)!r}))
record = journal.create(flow="f", name="n", source="", definition="", secret=b"s", at_ms=1)
journal.append(record.id, 0, Started(1, {{}}, "s"))
journal.append(record.id, 1, TimerFired(2, 1))
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert done.returncode == -signal.SIGKILL
    with Journal(tmp_path) as journal:
        assert journal.events(journal.find("n").id) == [Started(1, {}, "s"), TimerFired(2, 1)]
