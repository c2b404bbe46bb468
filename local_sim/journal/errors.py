"""What can be wrong with a journal.

JournalError                    catch it for: anything wrong with the data folder
├── JournalInUse                another process drives executions in this data folder
├── JournalUnusable             the folder cannot be written, or the file is no journal
├── JournalVersionError         made by another version of local_sim
├── ExecutionNotFound           no execution of that name
└── ExecutionStored             the flow has an execution of that name already
"""

from __future__ import annotations

from pathlib import Path

from local_sim.errors import LocalSimError


class JournalError(LocalSimError):
    """Something is wrong with the data folder."""


class JournalInUse(JournalError):
    """Another process, `pid` when known, has the journal in `folder` open for writing."""

    def __init__(self, folder: Path, pid: int | None) -> None:
        self.folder = folder
        self.pid = pid
        who = f"process {pid}" if pid else "another process"
        super().__init__(
            f"the data folder {folder} is in use by {who}; wait for it, end it, or give another with --data"
        )


class JournalUnusable(JournalError):
    """`folder` cannot hold a journal; `reason` says why."""

    def __init__(self, folder: Path, reason: str) -> None:
        self.folder = folder
        self.reason = reason
        super().__init__(f"the data folder {folder} cannot be used: {reason}")


class JournalVersionError(JournalError):
    """The journal has schema `found`; this program knows `expected`."""

    def __init__(self, folder: Path, found: int, expected: int) -> None:
        self.folder = folder
        self.found = found
        self.expected = expected
        super().__init__(
            f"the journal in {folder} has schema version {found}, this local_sim knows version {expected}; "
            "use another data folder, or remove this one to start afresh"
        )


class ExecutionNotFound(JournalError):
    """No execution is called `name`; empty means that there is none to take up."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        self.name = name
        self.known = known
        if name:
            listed = f"; there are: {', '.join(known)}" if known else "; there are none yet"
            super().__init__(f"no execution {name!r} in this data folder{listed}")
        else:
            super().__init__("no unfinished execution in this data folder")


class ExecutionStored(JournalError):
    """Flow `flow` has an execution called `name` already."""

    def __init__(self, flow: str, name: str) -> None:
        self.flow = flow
        self.name = name
        super().__init__(f"flow {flow!r} already has an execution {name!r}")
