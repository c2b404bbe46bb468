"""The interpreter, sans-I/O: (state of an execution, event) -> (new state, history events, commands).

    execution = Execution(flow, name="run-1", secret=b"...")
    commands = execution.handle(Started(at_ms=0, input={"order": 7}, seed="run-1"))
    for command in commands: ...        # InvokeTask, StartTimer, ...; answer with events

An execution is rebuilt by handing the same events to a new `Execution`; `pending()` then says what to carry out again.
"""

from .codec import decode_command, decode_event, encode_command, encode_event
from .commands import (
    CancelChild,
    CancelTask,
    CancelTimer,
    Command,
    FinishExecution,
    Ignored,
    InvokeTask,
    ReadItems,
    Reason,
    RunChild,
    StartTimer,
    WriteResults,
)
from .errors import BadEventError, BadTokenError, EngineError
from .events import (
    CallbackFailed,
    CallbackSucceeded,
    ChildFinished,
    Event,
    ItemsRead,
    Json,
    MapIoFailed,
    MapRunUpdated,
    ResultsWritten,
    Started,
    Status,
    StopRequested,
    TaskFailed,
    TaskSubmitted,
    TaskSucceeded,
    TimerFired,
)
from .execution import Execution, WaitingTask
from .history import History, HistoryEvent, iso_time, to_api
from .limits import Limits
from .maprun import ItemCounts, MapRunInfo
from .tokens import Token, make_token, parse_token, verify_token
from .trace import Part, Point, Trace

__all__ = [
    "BadEventError",
    "BadTokenError",
    "CallbackFailed",
    "CallbackSucceeded",
    "CancelChild",
    "CancelTask",
    "CancelTimer",
    "ChildFinished",
    "Command",
    "EngineError",
    "Event",
    "Execution",
    "FinishExecution",
    "History",
    "HistoryEvent",
    "Ignored",
    "InvokeTask",
    "ItemCounts",
    "ItemsRead",
    "Json",
    "Limits",
    "MapIoFailed",
    "MapRunInfo",
    "MapRunUpdated",
    "Part",
    "Point",
    "ReadItems",
    "Reason",
    "ResultsWritten",
    "RunChild",
    "StartTimer",
    "Started",
    "Status",
    "StopRequested",
    "TaskFailed",
    "TaskSubmitted",
    "TaskSucceeded",
    "TimerFired",
    "Token",
    "Trace",
    "WaitingTask",
    "WriteResults",
    "decode_command",
    "decode_event",
    "encode_command",
    "encode_event",
    "iso_time",
    "make_token",
    "parse_token",
    "to_api",
    "verify_token",
]
