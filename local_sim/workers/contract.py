"""The Python runtime of Function Compute as a handler sees it. Standard library only: child processes load just this.

Rules and their standing are in the function-compute reference, sections 2 to 5.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace, TracebackType
from typing import Any

UNHANDLED = "UnhandledInvocationError"
INITIALIZATION = "InitializationError"

Handler = Callable[[bytes, object], object]


@dataclass(frozen=True)
class Spec:
    """What a worker must know of a function; sent to child processes as JSON. Seconds and MB.

    `beside` are folders whose content lies at the root of the code too.
    """

    name: str
    handler: str
    runtime: str
    code: str
    memory: int
    timeout: int
    region: str = ""
    initializer: str | None = None
    pre_stop: str | None = None
    version: str = "LATEST"
    beside: tuple[str, ...] = ()
    debug_port: int = 0


class NotLoadable(Exception):
    """A handler cannot be imported; `file` is where it was looked for."""

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        self.reason = reason
        super().__init__(f"{file}: {reason}")


class Context:
    """The second argument of a handler (section 3). Runtime 3.12 has no credentials and no service; 3.10 has both."""

    def __init__(self, spec: Spec, request_id: str) -> None:
        self.request_id = request_id
        self.region = spec.region
        self.account_id = os.environ.get("FC_ACCOUNT_ID", "")
        facts: dict[str, object] = {"name": spec.name, "handler": spec.handler}
        facts |= {"memory": spec.memory, "timeout": spec.timeout}
        version = "" if spec.version == "LATEST" else spec.version
        if spec.runtime == "python3.12":
            self.function = SimpleNamespace(**facts, version_id=version, qualifier=spec.version)
            self.log_project = self.log_store = ""
            self.logger: logging.Logger | None = None
            return
        self.function = SimpleNamespace(**facts)
        self.service = SimpleNamespace(
            name="", log_project="", log_store="", qualifier=spec.version, version_id=version
        )
        self.credentials = SimpleNamespace(
            access_key_id=os.environ.get("ALIBABA_CLOUD_ACCESS_KEY_ID", ""),
            access_key_secret=os.environ.get("ALIBABA_CLOUD_ACCESS_KEY_SECRET", ""),
            security_token=os.environ.get("ALIBABA_CLOUD_SECURITY_TOKEN", ""),
        )

    def getLogger(self) -> logging.Logger:  # noqa: N802 - the runtime's spelling
        """Return the logger of the runtime (3.12: `logger` is None before)."""
        self.logger = logging.getLogger("fc")
        return self.logger

    def to_json(self) -> str:
        """Return the fields as JSON text, for handlers that print their context."""
        return json.dumps(vars(self), default=lambda value: getattr(value, "__dict__", str(value)))


def load_handler(code: str, handler: str, beside: Sequence[str] = ()) -> Handler:
    """Import `file.function` below the folder `code`, or below one of `beside`; `dir/file.function` and
    `dir.file.function` both work.

    The folders must be on sys.path already. Raises NotLoadable with the missing name.
    """
    module_name, _, function_name = handler.replace("/", ".").rpartition(".")
    if not module_name or not function_name:
        raise NotLoadable(code, "a handler is written file.function")
    folder = next((folder for folder in (code, *beside) if _holds(folder, module_name)), None)
    shown = str(Path(folder or code, *module_name.split(".")).with_suffix(".py"))
    if folder is None:
        raise NotLoadable(shown, "there is no such file")
    module = _import(module_name, folder, shown)
    function = getattr(module, function_name, None)
    if not callable(function):
        what = "is not callable" if hasattr(module, function_name) else "is not defined"
        raise NotLoadable(shown, f"{function_name!r} {what} there")
    return function  # type: ignore[no-any-return]


def _holds(folder: str, module_name: str) -> bool:
    file = Path(folder, *module_name.split("."))
    return file.with_suffix(".py").is_file() or (file / "__init__.py").is_file()


def _import(name: str, code: str, shown: str) -> ModuleType:
    try:
        module = importlib.import_module(name)
    except SyntaxError as error:
        raise NotLoadable(shown, f"syntax error at {error.filename}:{error.lineno}: {error.msg}") from None
    except SystemExit as error:
        raise NotLoadable(shown, f"it ends the process while it is being imported (exit {error.code})") from None
    except KeyboardInterrupt as error:
        if not _raised_by_code(error):
            raise  # somebody pressed Ctrl-C
        raise NotLoadable(shown, _import_reason(error)) from None
    except BaseException as error:
        raise NotLoadable(shown, _import_reason(error)) from error
    origin = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", [])), "")
    if not Path(origin).resolve().is_relative_to(Path(code).resolve()):
        raise NotLoadable(shown, f"another module of that name came first: {origin}; use --workers process")
    return module


def _raised_by_code(error: KeyboardInterrupt) -> bool:
    """Tell a `raise KeyboardInterrupt` from a signal's: a signal strikes at any line."""
    *_, last = traceback.extract_tb(error.__traceback__)
    return (last.line or "").lstrip().startswith("raise")


def _import_reason(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "importlib" not in frame.filename and frame.filename != __file__]
    where = f" (at {own[-1].filename}:{own[-1].lineno})" if own else ""
    return f"{type(error).__name__}: {error}{where}"


def encode_result(value: object) -> bytes:
    """Return the body for a handler's value: text as UTF-8, bytes as they are, anything else as JSON (A34).

    Raises TypeError when the value has no JSON form.
    """
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    return json.dumps(value, ensure_ascii=False).encode()


def error_body(error: BaseException, code: str) -> bytes:
    """Return the JSON that FC answers for an uncaught exception: errorMessage, errorType (the bare class name),
    stackTrace.

    Paths below the code folder are shown below /code, as in the cloud.
    """
    document = {
        "errorMessage": str(error),
        "errorType": type(error).__name__,
        "stackTrace": stack(error.__traceback__, code),
    }
    return json.dumps(document, ensure_ascii=False).encode(errors="replace")


def stack(trace: TracebackType | None, code: str) -> list[list[str]]:
    """Return frames as FC writes them: `File "/code/x.py"`, `line 3`, `in handler`, and the line of source."""
    prefix = code.rstrip("/") + "/"
    frames = [frame for frame in traceback.extract_tb(trace) if frame.filename != __file__]
    own = [index for index, frame in enumerate(frames) if frame.filename.startswith(prefix)]
    shown = frames[own[0] :] if own else frames
    return [
        [
            f'File "{re.sub("^" + re.escape(prefix), "/code/", frame.filename)}"',
            f"line {frame.lineno}",
            f"in {frame.name}",
            frame.line or "",
        ]
        for frame in shown
    ]


def import_error_body(handler: str) -> bytes:
    """Return FC's answer for a module that cannot be imported (third-party report, section 5.1)."""
    module = handler.rpartition(".")[0]
    document: dict[str, Any] = {"errorMessage": f"Unable to import module '{module}'"}
    document |= {"errorType": "ImportModuleError", "stackTrace": []}
    return json.dumps(document).encode()


def exit_body(duration_ms: int, memory_mb: int) -> bytes:
    """Return FC's answer for a process that ended before it answered: a message, no errorType."""
    message = "Process exited unexpectedly before completing request"
    return json.dumps(
        {"errorMessage": f"{message} (duration: {duration_ms}ms, maxMemoryUsage: {memory_mb}MB)"}
    ).encode()


def timeout_body(seconds: float, memory_mb: int) -> bytes:
    """Return FC's answer for a function that ran too long: a message, no errorType."""
    message = f"Function timed out after {seconds:g} seconds (maxMemoryUsage: {memory_mb} MB)"
    return json.dumps({"errorMessage": message}).encode()


def memory_mb() -> int:
    """Return this process's largest memory use so far in MB; 0 where the system does not tell."""
    return peak_memory_mb("self") or _rusage_mb()


def peak_memory_mb(process: int | str) -> int:
    """Return a process's largest memory use so far in MB, rounded up; 0 where the system does not tell."""
    try:
        status = Path("/proc", str(process), "status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return -(-int(found[1]) // 1024) if found else 0


def _rusage_mb() -> int:
    # On Linux this would count what the parent held while it started the process.
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak // (1 << 20 if sys.platform == "darwin" else 1 << 10))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler's run came to: the body, and FC's error type when it failed."""

    body: bytes
    error_type: str = ""


class Instance:
    """A loaded function: its handler, and its hooks (section 4): the initializer runs once before the first call."""

    def __init__(self, spec: Spec) -> None:
        """Import the handler and the hooks. Raises NotLoadable."""
        self.spec = spec
        self._handler = load_handler(spec.code, spec.handler, spec.beside)
        self._initializer = self._hook(spec.initializer)
        self._pre_stop = self._hook(spec.pre_stop)
        self._warned = False

    def initialize(self, request_id: str) -> Answer | None:
        """Run the initializer unless it has run; return an Answer when it fails."""
        if self._initializer is not None:
            try:
                self._initializer(Context(self.spec, request_id))
            except Exception as error:  # noqa: BLE001 - whatever a handler raises is its answer
                return Answer(error_body(error, self.spec.code), INITIALIZATION)
            self._initializer = None
        return None

    def call(self, event: bytes, request_id: str) -> Answer:
        """Run the handler on an event. SystemExit and KeyboardInterrupt pass through; everything else is an Answer."""
        failed = self.initialize(request_id)
        if failed is not None:
            return failed
        try:
            value = self._handler(event, Context(self.spec, request_id))
            self._warn(value)
            return Answer(encode_result(value))
        except Exception as error:  # noqa: BLE001 - whatever a handler raises is its answer
            return Answer(error_body(error, self.spec.code), UNHANDLED)

    def pre_stop(self, request_id: str) -> None:
        """Run the pre-stop hook, once; what it raises is only printed."""
        hook, self._pre_stop = self._pre_stop, None
        if hook is not None:
            try:
                hook(Context(self.spec, request_id))
            except Exception:  # noqa: BLE001 - nobody is left to be told
                traceback.print_exc()

    def _hook(self, handler: str | None) -> Any:
        return load_handler(self.spec.code, handler, self.spec.beside) if handler else None

    def _warn(self, value: object) -> None:
        """Say once, in the log, that a handler leans on what FC does not promise (A34)."""
        if self._warned or isinstance(value, (str, bytes)):
            return
        self._warned = True
        kind = type(value).__name__
        sys.stderr.write(
            f"{self.spec.handler} returned {kind}; FC promises only str and bytes: return json.dumps(...)\n"
        )
