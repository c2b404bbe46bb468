"""Code packages: nothing in a ZIP leaves its folder or fills the disk."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_sim.services.function_compute.archive import CodeStore, pack_folder
from local_sim.services.function_compute.errors import EntityTooLarge, FunctionComputeError, InvalidArgument
from local_sim.services.function_compute.records import CodePackage


def zipped(entries: dict[str, bytes], mode: int = 0) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def test_a_package_is_unpacked_and_kept_once(tmp_path: Path) -> None:
    store = CodeStore(tmp_path)
    data = zipped({"index.py": b"x = 1", "lib/a.py": b""})
    first, second = store.add(data), store.add(data)
    assert first == second
    assert (first.folder / "index.py").read_bytes() == b"x = 1"
    assert (first.folder / "lib" / "a.py").is_file()
    assert first.size == len(data)
    assert store.zip_of(first) == data


@pytest.mark.parametrize(
    "name", ["../evil.py", "a/../../evil.py", "/etc/evil", "C:\\evil", "..\\evil", "a/..", "\\\\host\\share"]
)
def test_paths_outside_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArgument, match="outside"):
        CodeStore(tmp_path / "store").add(zipped({name: b"x"}))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_links_and_devices_are_refused(tmp_path: Path, kind: int) -> None:
    with pytest.raises(InvalidArgument, match="link or device"):
        CodeStore(tmp_path).add(zipped({"link": b"/etc/passwd"}, mode=kind | 0o777))


def test_a_bomb_is_stopped_while_it_unpacks(tmp_path: Path) -> None:
    with pytest.raises(EntityTooLarge) as caught:
        CodeStore(tmp_path, unpacked_limit=10_000_000).add(zipped({"zeros": b"\0" * 50_000_000}))
    assert caught.value.limit == 10_000_000
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_oversized_zip_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(EntityTooLarge):
        CodeStore(tmp_path, zip_limit=100).add(b"x" * 101)


@given(st.binary(max_size=300))
def test_anything_else_is_an_invalid_argument(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    with pytest.raises(FunctionComputeError):
        CodeStore(tmp_path_factory.mktemp("store")).add(data)


def test_a_truncated_zip_leaves_nothing_behind(tmp_path: Path) -> None:
    data = zipped({"index.py": b"hello" * 1000})
    broken = data[:20] + bytes(20) + data[40:]
    with pytest.raises(InvalidArgument):
        CodeStore(tmp_path).add(broken)
    assert list(tmp_path.iterdir()) == []


def test_packing_a_folder_depends_on_its_files_only(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "x.pyc").write_bytes(b"cache")
    (tmp_path / "index.py").write_text("x = 1")
    first = pack_folder(tmp_path)
    (tmp_path / "index.py").touch()
    assert pack_folder(tmp_path) == first
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert archive.namelist() == ["index.py"]


def test_what_builds_and_tools_leave_is_no_code(tmp_path: Path) -> None:
    left_out = ("build/old.py", "dist/x.whl", ".mypy_cache/a", "pkg/__pycache__/b.pyc")
    for name in ("index.py", "pkg/build/kept.py", *left_out):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    with zipfile.ZipFile(io.BytesIO(pack_folder(tmp_path))) as archive:
        assert sorted(archive.namelist()) == ["index.py", "pkg/build/kept.py"]


def test_a_snapshot_does_not_follow_the_project(tmp_path: Path) -> None:
    project = tmp_path / "code"
    project.mkdir()
    (project / "index.py").write_text("x = 1")
    taken = CodeStore(tmp_path / "store").snapshot(CodePackage(project, "0", 0))
    (project / "index.py").write_text("x = 2")
    assert (taken.folder / "index.py").read_text() == "x = 1"


def test_folders_are_packed_into_one_and_the_first_counts(tmp_path: Path) -> None:
    for folder, text in (("a", "1"), ("b", "2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.py").write_text(text, encoding="utf-8")
        (tmp_path / folder / f"{folder}.py").write_text(text, encoding="utf-8")
    taken = CodeStore(tmp_path / "store").snapshot(CodePackage(tmp_path / "a", "0", 0), [tmp_path / "b"])
    found = {path.name: path.read_text(encoding="utf-8") for path in taken.folder.iterdir()}
    assert found == {"a.py": "1", "b.py": "2", "same.py": "1"}
