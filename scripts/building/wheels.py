"""From the lock to wheels for the target: pip fetches what the lock's hashes allow, sources are built here.

pip reads markers for the Python it runs on, whatever `--python-version` says; so the markers are read here, and pip is
given only the lines that hold for the target.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

from scripts.building.errors import CannotFetch, NotPure, Unusable
from scripts.building.model import BuildSettings, Target

__all__ = ["fetch", "wanted"]

_COMPILED = (".so", ".pyd", ".dylib", ".dll")
_STAMP = "requirements.txt"


def wanted(lock: Path, target: Target, drop: Sequence[str] = ()) -> list[str]:
    """The lock's requirements that hold for the target, with their hashes, without those in `drop`.

    Raises `Unusable` for a lock that cannot be read, a line without a hash, or a name in `drop` that is not locked.
    """
    try:
        text = lock.read_text(encoding="utf-8")
    except OSError as error:
        raise Unusable(str(lock), f"{error.strerror}; run scripts/lock") from error
    dropped = {canonicalize_name(name) for name in drop}
    seen: set[str] = set()
    chosen: list[str] = []
    for entry in re.sub(r"\\\n", " ", text).splitlines():
        line = entry.split(" #", 1)[0].strip()
        if not line or line.startswith("#"):
            continue
        requirement, hashes = _parsed(line, lock)
        name = canonicalize_name(requirement.name)
        seen.add(name)
        if name not in dropped and (requirement.marker is None or requirement.marker.evaluate(target.markers)):
            chosen.append(f"{requirement.name}{requirement.specifier} {hashes}")
    if dropped - seen:
        raise Unusable(str(lock), f"{', '.join(sorted(dropped - seen))} is to be dropped but is not locked")
    return sorted(chosen, key=str.lower)


def _parsed(line: str, lock: Path) -> tuple[Requirement, str]:
    text, *hashes = re.split(r"\s+(?=--hash=)", line)
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        raise Unusable(str(lock), f"{text!r} is no requirement") from error
    if not hashes:
        raise Unusable(str(lock), f"{text!r} has no hash; run scripts/lock")
    return requirement, " ".join(hashes)


def fetch(requirements: Sequence[str], target: Target, cache: Path, settings: BuildSettings) -> list[Path]:
    """The wheels of the requirements, in `cache`. What was fetched before for the same requirements is used again.

    Raises `CannotFetch` with pip's own words, and `NotPure` for a source that needs a compiler.
    """
    text = "\n".join([*requirements, f"# pure: {' '.join(settings.pure)}", ""])
    folder = cache / f"py{target.python}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    stamp = folder / _STAMP
    if not (stamp.is_file() and stamp.read_text(encoding="utf-8") == text):
        _download(text, target, folder)
        for source in sorted(folder.glob("*.tar.gz")) + sorted(folder.glob("*.zip")):
            _build(source, folder, target, settings)
        stamp.write_text(text, encoding="utf-8")  # last: an interrupted fetch is taken up again
    return sorted(folder.glob("*.whl"))


def _download(text: str, target: Target, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    listed = folder / "wanted.txt"
    listed.write_text(text, encoding="utf-8")
    tags = [f"--platform={platform}" for platform in target.platforms] + [f"--abi={abi}" for abi in target.abis]
    # The newest patch release, as in the markers: a bare 3.11 means 3.11.0 to pip.
    version = target.markers["python_full_version"]
    options = ["--no-deps", "--require-hashes", f"--python-version={version}", "--implementation=cp", *tags]
    _pip(f"packages for {target.name} could not be fetched", "download", *options, "-r", listed, "-d", folder)


def _build(source: Path, folder: Path, target: Target, settings: BuildSettings) -> None:
    """Build one source package; `pip wheel` takes no tags, so what is compiled would be for this machine's Python."""
    name = str(parse_sdist_filename(source.name)[0])
    if any(parse_wheel_filename(wheel.name)[0] == name for wheel in folder.glob("*.whl")):
        return
    made = folder / "made"
    _pip(f"{source.name} could not be built", "wheel", "--no-deps", "--no-build-isolation", "-w", made, source)
    (wheel,) = made.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        compiled = [entry for entry in archive.namelist() if entry.endswith(_COMPILED)]
    if compiled and canonicalize_name(name) not in {canonicalize_name(one) for one in settings.pure}:
        raise NotPure(name, compiled, target.name)
    _without(wheel, compiled, folder / wheel.name)
    wheel.unlink()


def _without(wheel: Path, left_out: Sequence[str], copy: Path) -> None:
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as made:
        for entry in source.infolist():
            if entry.filename not in left_out:
                made.writestr(entry, source.read(entry))


def _pip(problem: str, *arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (our own interpreter)
    if done.returncode != 0:
        lines = [line for line in done.stderr.strip().splitlines() if not line.startswith("WARNING")]
        raise CannotFetch(problem, "\n".join(lines[-8:]))
