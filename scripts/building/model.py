"""What a build is told and what it tells."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["BuildSettings", "Built", "Problem", "Size", "Target"]

# Debian 10 (python3.10) has glibc 2.28, Debian 11 (python3.12) 2.31 (serverless-devs.md section 8: the runtimes' OS).
_GLIBC = {"3.10": 28, "3.12": 31}


@dataclass(frozen=True)
class Target:
    """The interpreter the package is for: `python` is "3.12" or "3.10", always CPython on x86_64 Linux."""

    python: str

    @property
    def name(self) -> str:
        """As people write it: `python3.12 (manylinux x86_64)`."""
        return f"python{self.python} (manylinux x86_64)"

    @property
    def version(self) -> tuple[int, int]:
        """(3, 12)."""
        major, minor = self.python.split(".")
        return int(major), int(minor)

    @property
    def platforms(self) -> list[str]:
        """The wheel platforms that run there, best first."""
        newest = _GLIBC.get(self.python, 28)
        return [
            *[f"manylinux_2_{minor}_x86_64" for minor in range(newest, 16, -1)],
            *["manylinux2014_x86_64", "manylinux_2_12_x86_64", "manylinux2010_x86_64"],
            *["manylinux_2_5_x86_64", "manylinux1_x86_64"],
        ]

    @property
    def abis(self) -> list[str]:
        """The wheel ABIs that run there, best first."""
        return [f"cp{self.python.replace('.', '')}", "abi3", "none"]

    @property
    def markers(self) -> dict[str, str]:
        """The environment that requirement markers are read in (PEP 508)."""
        return {
            "implementation_name": "cpython",
            "implementation_version": f"{self.python}.0",
            "os_name": "posix",
            "platform_machine": "x86_64",
            "platform_python_implementation": "CPython",
            "platform_system": "Linux",
            # The newest patch release: a marker such as `< '3.11.5'` is about old ones.
            "python_full_version": f"{self.python}.99",
            "python_version": self.python,
            "sys_platform": "linux",
        }


@dataclass(frozen=True)
class BuildSettings:
    """`[tool.stepkeeper.build]` of pyproject.toml.

    `drop`: locked packages that no function needs. `pure`: packages built here that do without their compiled part.
    `prune`: patterns, from the root of the code, of files that no function needs.
    """

    drop: tuple[str, ...] = ()
    pure: tuple[str, ...] = ()
    prune: tuple[str, ...] = ()


@dataclass(frozen=True)
class Size:
    """A package's share of the ZIP: bytes as they are and bytes zipped."""

    package: str
    bytes: int
    zipped: int


@dataclass(frozen=True)
class Problem:
    """What the preflight found: the `handler` or module that fails, its `function` ("" for a late import), and why."""

    handler: str
    reason: str
    function: str = ""

    def __str__(self) -> str:
        whose = f" (function {self.function})" if self.function else ""
        return f"{self.handler}{whose}: {self.reason}"


@dataclass(frozen=True)
class Built:
    """A finished build. Sizes in bytes; `largest` has at most ten packages, the largest first; `checked_with` is the
    interpreter of the preflight, "" when none of the target's version was found and it only looked.
    """

    folder: Path
    archive: Path
    python: str
    sha256: str
    zipped: int
    unpacked: int
    files: int
    packages: int
    largest: tuple[Size, ...]
    handlers: tuple[str, ...]
    checked_with: str
    problems: tuple[Problem, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The build as a JSON object."""
        return {**asdict(self), "folder": str(self.folder), "archive": str(self.archive)}
