"""What can be wrong with an expression.

ExpressionError                      catch it for anything below
├── ExpressionSyntaxError            the text is refused before anything runs; has the column
│   ├── UnknownNameError             a root, a `$Context` path or a function that does not exist
│   ├── ArityError                   a function with too few or too many arguments
│   ├── NotAllowedHereError          a root that exists but not in this place, for example `$Output` in Parameters
│   └── TooDeepError                 nested deeper than the limit
└── EvaluationError                  the text is fine, the data was not: the state fails with `FnF.RuntimeError`
"""

from __future__ import annotations

from .position import Position


class ExpressionError(Exception):
    """Root of the errors of this package."""


class ExpressionSyntaxError(ExpressionError):
    """An expression that is refused before the run.

    Attributes: `message` (without place), `text` (the whole expression), `column` (from 1, in code points of `text`),
    `fix` (a proposal, may be empty), and once placed in a definition `key` and `position` (of the expression's start).
    """

    def __init__(self, message: str, text: str, column: int, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.column = column
        self.fix = fix
        self.key = ""
        self.position: Position | None = None

    def __str__(self) -> str:
        where = f"{self.key}: " if self.key else ""
        return f"{where}{self.message} (column {self.column} of {shorten(self.text)})"


class UnknownNameError(ExpressionSyntaxError):
    """A root, a `$Context` path or a function nobody defines."""


class ArityError(ExpressionSyntaxError):
    """A function called with a number of arguments it does not take."""


class NotAllowedHereError(ExpressionSyntaxError):
    """A root that exists but cannot be read in this place (language page 4.1)."""


class TooDeepError(ExpressionSyntaxError):
    """Nested deeper than the limit: 10 function calls (STATED), 64 parentheses, brackets or prefixes (A42)."""


class EvaluationError(ExpressionError):
    """Data an expression cannot work with (A08, A09). Never a silent null.

    Attributes: `name` (the error name Retry and Catch match), `reason`, `expression` (its text), `key` (dotted path of
    the constructor's key, or the field's name), `position` (of the expression in the flow's text, or None).
    """

    name = "FnF.RuntimeError"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.expression = ""
        self.key = ""
        self.position: Position | None = None

    def prefix(self, key: str) -> None:
        """Put the key of the enclosing map before the key known so far."""
        self.key = f"{key}.{self.key}" if self.key else key

    def place(self, expression: str, position: Position | None) -> None:
        """Say which expression failed; the innermost place stays."""
        if not self.expression:
            self.expression, self.position = expression, position

    def __str__(self) -> str:
        key = f"{self.key}: " if self.key else ""
        expression = f"{shorten(self.expression)}: " if self.expression else ""
        place = f" (line {self.position.line}, column {self.position.column})" if self.position else ""
        return f"{key}{expression}{self.reason}{place}"


def shorten(text: str, limit: int = 120) -> str:
    """Return `text` on one line and at most `limit` characters long, for a message."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 3]}..."
