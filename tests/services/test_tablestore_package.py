"""The package as its users see it: its exports, and what it costs to load."""

from __future__ import annotations

import inspect
import subprocess
import sys
from types import ModuleType

import pytest

import local_sim.services
import local_sim.services.tablestore as package
from local_sim.services.tablestore import errors, messages

from tablestore.protobuf import table_store_pb2  # isort: skip


@pytest.mark.parametrize("module", [package, local_sim.services])
def test_everything_public_is_exported(module: ModuleType) -> None:
    public = {
        name for name, value in vars(module).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert set(module.__all__) == public
    # Python 3.10 takes an alias such as Callable[...] for a class, so its own type is asked.
    classes = [value for name in module.__all__ if issubclass(type(value := getattr(module, name)), type)]
    assert all(inspect.getdoc(value) for value in classes)


def test_serving_needs_neither_the_sdk_nor_its_warnings() -> None:
    code = (
        "import sys, tempfile, pathlib\n"
        "from local_sim.services import ServiceHost\n"
        "from local_sim.services.tablestore import TablestoreStore, create_app, messages\n"
        "folder = tempfile.TemporaryDirectory()\n"
        "with TablestoreStore(pathlib.Path(folder.name) / 'o.db') as store:\n"
        "    with ServiceHost(create_app(store)):\n"
        "        messages.table_pb2()\n"
        "print(sorted({'tablestore', 'numpy', 'aiohttp'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_messages_are_the_sdks_own_classes() -> None:
    assert messages.table_pb2().PutRowRequest is table_store_pb2.PutRowRequest


def test_every_error_says_what_goes_on_the_wire() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) == 16
    drawn = errors.__doc__ or ""
    for kind in kinds:
        assert kind.__name__ in drawn
        assert f"{kind.status} {kind.code}" in drawn or kind is errors.TablestoreError
