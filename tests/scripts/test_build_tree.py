"""What goes into the code folder, and the ZIP made of it."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from build_kit import found, project, wheel

from scripts.building import Unusable, lay_out, make_zip, settle_times, sizes
from scripts.building.tree import needless


@pytest.mark.parametrize(
    ("path", "gone"),
    [
        ("pkg/tests/test_a.py", True),
        ("pkg/test/a.py", True),
        ("pkg/sub/docs/a.txt", True),
        ("tests/a.py", True),
        ("pkg/a.pyi", True),
        ("pkg/py.typed", True),
        ("pkg/fast.c", True),
        ("pkg/__pycache__/a.cpython-312.pyc", True),
        ("pkg-1.dist-info/RECORD", True),
        ("pkg-1.dist-info/WHEEL", True),
        ("pkg-1.dist-info/METADATA", False),
        ("pkg-1.dist-info/licenses/LICENSE.rst", False),
        ("pkg-1.dist-info/entry_points.txt", False),
        ("pkg/testing.py", False),
        ("pkg/tests.py", False),
        ("test_utils/a.py", False),
        ("pkg/fast.cpython-312-x86_64-linux-gnu.so", False),
        ("pkg/template.docx", False),
        ("single.py", False),
        ("LICENSE.rst", False),
    ],
)
def test_what_no_program_reads_is_left_out(path: str, gone: bool) -> None:
    assert needless(PurePosixPath(path)) is gone


def test_own_code_and_wheels_lie_side_by_side_with_the_entry_at_the_root(tmp_path: Path) -> None:
    root = project(tmp_path / "p", text="X = 1\n")
    given = wheel(tmp_path, "dep", {"dep/__init__.py": "Y = 2\n", "dep/tests/t.py": "", "dep-1.0.data/scripts/x": "#!"})
    folder = tmp_path / "code"
    assert lay_out(root, [given], folder) == 1
    assert sorted(found(folder)) == [
        *["dep-1.0.dist-info/METADATA", "dep/__init__.py", "fc_handlers.py"],
        *["functions/__init__.py", "functions/text.py", "ledger/__init__.py"],
    ]


def test_files_of_a_data_folder_go_to_the_root(tmp_path: Path) -> None:
    given = wheel(tmp_path, "dep", {"dep-1.0.data/purelib/dep.py": "Y = 2\n", "dep-1.0.data/headers/dep.h": ""})
    folder = tmp_path / "code"
    lay_out(project(tmp_path / "p"), [given], folder)
    assert found(folder)["dep.py"] == "Y = 2\n"
    assert "dep.h" not in found(folder)


def test_what_was_there_before_is_gone(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code/old.py").write_text("", encoding="utf-8")
    lay_out(project(tmp_path / "p"), [], tmp_path / "code")
    assert "old.py" not in found(tmp_path / "code")


def test_patterns_prune_and_one_that_matches_nothing_is_named(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    given = wheel(tmp_path, "dep", {"dep/__init__.py": "", "dep/big.so": "x"})
    lay_out(root, [given], tmp_path / "code", ["dep/*.so"])
    assert "dep/big.so" not in found(tmp_path / "code")
    with pytest.raises(Unusable, match=r"gone/\*\.so"):
        lay_out(root, [given], tmp_path / "code", ["dep/*.so", "gone/*.so"])


def test_two_packages_that_bring_one_file_differently_are_refused(tmp_path: Path) -> None:
    one, two = (wheel(tmp_path, name, {"shared.py": name}) for name in ("one", "two"))
    with pytest.raises(Unusable, match=r"shared\.py.*two"):
        lay_out(project(tmp_path / "p"), [one, two], tmp_path / "code")
    same = wheel(tmp_path, "three", {"shared.py": "one"})
    lay_out(project(tmp_path / "q"), [one, same], tmp_path / "code")


def test_a_wheel_cannot_write_outside_the_folder(tmp_path: Path) -> None:
    given = wheel(tmp_path, "dep", {"../evil.py": "x"})
    with pytest.raises(Unusable, match="outside"):
        lay_out(project(tmp_path / "p"), [given], tmp_path / "code")
    assert not (tmp_path / "evil.py").exists()


def test_the_same_files_give_the_same_bytes_whenever_and_in_whatever_order_they_came(tmp_path: Path) -> None:
    texts = {"b/y.py": "1\n" * 99, "a.py": "2\n", "b/x.so": "3", "B.py": "4"}
    made = []
    for number, names in enumerate((sorted(texts), sorted(texts, reverse=True))):
        folder = tmp_path / f"code{number}"
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(texts[name], encoding="utf-8")
            (folder / name).chmod(0o600 if number else 0o755)
            os.utime(folder / name, (number * 10**9, number * 10**9))
        if number:
            settle_times(folder)
        (folder / "__pycache__").mkdir(exist_ok=True)
        (folder / "__pycache__/a.pyc").write_bytes(bytes([number]))
        archive = tmp_path / f"{number}.zip"
        make_zip(folder, archive)
        made.append(archive.read_bytes())
    assert made[0] == made[1]
    with zipfile.ZipFile(tmp_path / "0.zip") as archive_:
        entries = archive_.infolist()
    assert [entry.filename for entry in entries] == sorted(texts)
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.external_attr >> 16 for entry in entries} == {0o100644}


def test_settled_files_have_one_time_and_an_ignore_list(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("", encoding="utf-8")
    settle_times(tmp_path)
    assert {path.stat().st_mtime for path in tmp_path.iterdir()} == {315_532_800}
    assert "__pycache__" in (tmp_path / ".fcignore").read_text(encoding="utf-8").splitlines()


def test_sizes_count_what_belongs_to_a_package_with_it(tmp_path: Path) -> None:
    texts = {"numpy/a.py": "x" * 9, "numpy.libs/b.so": "y" * 5, "six.py": "z", "six-1.dist-info/METADATA": "m"}
    for name, text in texts.items():
        (tmp_path / "code" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "code" / name).write_text(text, encoding="utf-8")
    make_zip(tmp_path / "code", tmp_path / "code.zip")
    shares = sizes(tmp_path / "code.zip")
    assert {one.package: one.bytes for one in shares} == {"numpy": 14, "six.py": 1, ".dist-info": 1}
    assert [one.zipped for one in shares] == sorted((one.zipped for one in shares), reverse=True)
