"""What an expression can see while it is evaluated (language page 4.1), and where random values come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from .errors import EvaluationError
from .values import Json


class Missing:
    """The type of MISSING: a root that has no value now, as opposed to null."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


class RandomSource(Protocol):
    """Where `uuid()` and `randomInt()` draw from."""

    def uuid(self) -> str:
        """Return a fresh UUID in its usual text form."""
        ...

    def randint(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included (A38)."""
        ...


class SeededRandom:
    """Values derived from a seed and a counter, so a replay draws the same ones on every Python."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._drawn = 0

    def _bytes(self, count: int) -> bytes:
        import hashlib  # only flows that draw need it

        self._drawn += 1
        return hashlib.shake_256(f"{self._seed}\n{self._drawn}".encode()).digest(count)

    def uuid(self) -> str:
        """Return a version 4 UUID."""
        raw = bytearray(self._bytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        digits = raw.hex()
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def randint(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included; the bias is below 2**-128."""
        span = high - low + 1
        return low + int.from_bytes(self._bytes(span.bit_length() // 8 + 17), "big") % span


@dataclass(frozen=True, slots=True)
class ExecutionInfo:
    """`$Context.Execution`: the same for the whole execution."""

    name: str
    input: Json
    role_arn: str = ""


class Scope:
    """The values of the roots while one state is in progress.

    Plain attributes, set freely between evaluations: `execution`; `state` (its name); `input`, `output`, `item`
    (MISSING when there is none); `globals`; `error_code` and `error_detail` (None unless an error is handled);
    `retry_count` (from 0, A15); `task_token` (None outside the callback modes); `random`.

    Evaluation never changes a value and never copies one: results share structure with the scope and with the
    definition's constants, so nobody may change them in place.
    """

    __slots__ = (
        "error_code",
        "error_detail",
        "execution",
        "globals",
        "input",
        "item",
        "output",
        "random",
        "retry_count",
        "state",
        "task_token",
    )

    def __init__(
        self,
        execution: ExecutionInfo,
        *,
        state: str = "",
        input: Json = MISSING,  # noqa: A002 - the root is called $Input
        output: Json = MISSING,
        item: Json = MISSING,
        globals: Json = None,  # noqa: A002 - the root is called $Global
        random: RandomSource | None = None,
    ) -> None:
        self.execution = execution
        self.state = state
        self.input = input
        self.output = output
        self.item = item
        self.globals = {} if globals is None else globals
        self.error_code: str | None = None
        self.error_detail: str | None = None
        self.retry_count = 0
        self.task_token: str | None = None
        self.random = random

    def current(self) -> dict[str, Json]:
        """Return the whole of `$Context.Current`; what has no value now is left out."""
        values: dict[str, Json] = {"Name": self.state, "RetryCount": self.retry_count}
        maybe = {"Input": self.input, "Output": self.output, "TaskToken": self.task_token or MISSING}
        values.update((key, value) for key, value in maybe.items() if value is not MISSING)
        if self.error_code is not None:
            values["Error"] = self.error()
        return values

    def error(self) -> dict[str, Json]:
        """Return `$Context.Current.Error`. Raises EvaluationError when no error is handled."""
        if self.error_code is None:
            raise EvaluationError("no error is being handled here")
        return {"Code": self.error_code, "Detail": self.error_detail}

    def execution_values(self) -> dict[str, Json]:
        """Return the whole of `$Context.Execution`."""
        execution = self.execution
        return {"Name": execution.name, "Input": execution.input, "RoleArn": execution.role_arn}
