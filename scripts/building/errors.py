"""What can go wrong while the code package is built.

::

    BuildError          catch it for: there is no package, and the message says what to do
    ├── Unusable        a file of the project cannot be used; `file` names it
    ├── CannotFetch     pip could not get a package; `output` is what it said
    └── NotPure         a source package would have to be compiled; `package` names it
"""

from __future__ import annotations

__all__ = ["BuildError", "CannotFetch", "NotPure", "Unusable"]


class BuildError(Exception):
    """Root of the errors of a build."""


class Unusable(BuildError):
    """`file` cannot be used; `problem` says why."""

    def __init__(self, file: str, problem: str) -> None:
        super().__init__(f"{file}: {problem}")
        self.file = file
        self.problem = problem


class CannotFetch(BuildError):
    """pip failed; `output` are its last lines."""

    def __init__(self, what: str, output: str) -> None:
        super().__init__(f"{what}\n{output}")
        self.output = output


class NotPure(BuildError):
    """`package` has no wheel for the target and its source holds compiled parts (`files`)."""

    def __init__(self, package: str, files: list[str], target: str) -> None:
        super().__init__(
            f"{package} has no wheel for {target} and building it here compiles {', '.join(files)}; "
            "choose a version with a wheel, or, if it works without them, name it in "
            "[tool.stepkeeper.build] pure of pyproject.toml"
        )
        self.package = package
        self.files = files
