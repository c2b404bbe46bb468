"""After kill -9 every acknowledged change is there, and what was not acknowledged is whole or absent, never a mix."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import oss2
import pytest
from oss_clients import CREDENTIALS, oss2_bucket

from local_sim.services.oss import OssStore
from local_sim.services.oss.checksums import crc64
from local_sim.services.oss.index import live_blobs

SERVER = """
import sys, threading
from local_sim.clock import RealClock
from local_sim.services import ServiceHost
from local_sim.services.oss import OssStore, create_app
store = OssStore(sys.argv[1])
host = ServiceHost(create_app(store, credentials={sys.argv[2]: sys.argv[3]}, clock=RealClock())).start()
print(host.endpoint, flush=True)
threading.Event().wait()
"""


@contextlib.contextmanager
def server(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    pair = next(iter(CREDENTIALS.items()))
    command = [sys.executable, "-c", SERVER, str(folder), *pair]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": "."}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root, env=environment)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def body(key: int, turn: int) -> bytes:
    """Return bytes that tell which write they are of, of a size between nothing and 300 KB."""
    size = random.Random(f"{key}/{turn}").choice([0, 10, 5_000, 20_000, 300_000])
    return (b"%d/%d " % (key, turn)) * (size // 6) + b"%d/%d" % (key, turn)


class Writer(threading.Thread):
    """Writes its own keys over and over until the server dies; remembers what was begun and what was acknowledged."""

    def __init__(self, endpoint: str, number: int) -> None:
        super().__init__()
        self.bucket = oss2_bucket(endpoint, "v1", name="kill-bucket")
        self.number = number
        self.acknowledged: dict[int, int] = {}
        self.begun: dict[int, int] = {}
        self.appended = 0

    def run(self) -> None:
        with contextlib.suppress(oss2.exceptions.RequestError):
            for turn in range(1, 100_000):
                key = self.number * 10 + turn % 5
                self.begun[key] = turn
                self.bucket.put_object(f"key-{key}", body(key, turn))
                self.acknowledged[key] = turn
                if turn % 7 == 0:
                    self.bucket.copy_object("kill-bucket", f"key-{key}", f"copy-{key}")
                self.bucket.append_object(f"log-{self.number}", self.appended, b"0123456789")
                self.appended += 10


def check(folder: Path, writers: list[Writer]) -> None:
    with OssStore(folder) as store:
        for writer in writers:
            for key, turn in writer.acknowledged.items():
                with store.open("kill-bucket", f"key-{key}") as reader:
                    data = b"".join(reader.chunks())
                    assert crc64(data) == reader.info.crc64
                assert data in {body(key, turn), body(key, writer.begun[key])}
            if writer.appended:
                with store.open("kill-bucket", f"log-{writer.number}") as reader:
                    data = b"".join(reader.chunks())
                assert data == b"0123456789" * (len(data) // 10)
                assert len(data) - writer.appended in {0, 10}
        files = {path.name for path in (folder / "blobs").rglob("*") if path.is_file()}
        assert files == live_blobs(store.connection())
        assert list((folder / "incoming").iterdir()) == []


def test_kill_at_random_moments_loses_nothing_acknowledged(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    acknowledged = 0
    for _ in range(5):
        with server(tmp_path) as (endpoint, process):
            bucket = oss2_bucket(endpoint, "v1", name="kill-bucket")
            bucket.create_bucket()
            for row in oss2.ObjectIterator(bucket, "log-"):
                bucket.delete_object(row.key)
            writers = [Writer(endpoint, number) for number in range(3)]
            for writer in writers:
                writer.start()
            threading.Event().wait(chance.uniform(0.05, 0.5))
            process.send_signal(signal.SIGKILL)
            for writer in writers:
                writer.join(30)
                assert not writer.is_alive()
        check(tmp_path, writers)
        acknowledged += sum(len(writer.acknowledged) for writer in writers)
    assert acknowledged > 0


def test_a_restart_keeps_objects_uploads_and_tags(tmp_path: Path) -> None:
    with server(tmp_path) as (endpoint, _):
        bucket = oss2_bucket(endpoint, "v4", name="kill-bucket")
        bucket.create_bucket()
        bucket.put_object("kept", b"content", headers={"x-oss-meta-a": "b", "x-oss-tagging": "c=d"})
        upload = bucket.init_multipart_upload("large").upload_id
        etag = bucket.upload_part("large", upload, 1, b"part").etag
    with server(tmp_path) as (endpoint, _):
        bucket = oss2_bucket(endpoint, "v4", name="kill-bucket")
        assert bucket.get_object("kept").read() == b"content"
        assert bucket.head_object("kept").headers["x-oss-meta-a"] == "b"
        assert bucket.get_object_tagging("kept").tag_set.tagging_rule == {"c": "d"}
        bucket.complete_multipart_upload("large", upload, [oss2.models.PartInfo(1, etag)])
        assert bucket.get_object("large").read() == b"part"


POINTS = [
    "BlobWriter.write",
    "os.fsync",
    "Path.replace",
    "flush_directory",
    "Committer.run",
    "index.put_object",
    "BlobFolder.discard",
]


CASES = [(point, 20_000) for point in POINTS] + [(point, 10) for point in ("Committer.run", "index.put_object")]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("point", "times"), CASES)
def test_death_at_each_step_of_a_put_leaves_old_or_new(tmp_path: Path, point: str, times: int, when: str) -> None:
    script = """
import os, sys
from pathlib import Path
from local_sim.services.oss import OssStore, blobs, committer, index
from local_sim.services.oss.blobs import BlobFolder, BlobWriter
from local_sim.services.oss.committer import Committer
from local_sim.services.oss.model import Attributes, Bucket
folder, point, when = sys.argv[1:4]
times = int(sys.argv[4])
def put(store, data):
    writer = store.write(); writer.write(data)
    store.put("kill-bucket", "key", writer.seal(), Attributes(), now_ms=0)
store = OssStore(folder)
store.create_bucket(Bucket("kill-bucket", 0))
put(store, b"old" * times)
owner = {"os": os, "index": index}
owner |= {each.__name__: each for each in (BlobWriter, Path, Committer, BlobFolder)}
head, _, name = point.rpartition(".")
target = owner.get(head, blobs)
real = getattr(target, name)
def deadly(*arguments, **named):
    if when == "before": os._exit(9)
    real(*arguments, **named)
    os._exit(9)
setattr(target, name, deadly)
put(store, b"new" * times)
"""
    command = [sys.executable, "-c", script, str(tmp_path), point, when, str(times)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, env={**os.environ, "PYTHONPATH": "."}, timeout=60, check=False)
    assert done.returncode == 9
    with OssStore(tmp_path) as store:
        with store.open("kill-bucket", "key") as reader:
            data, info = b"".join(reader.chunks()), reader.info
        committed = point == "BlobFolder.discard" or (point == "Committer.run" and when == "after")
        assert data == (b"new" * times if committed else b"old" * times)
        assert (info.size, info.crc64) == (len(data), crc64(data))
        files = {path.name for path in (tmp_path / "blobs").rglob("*") if path.is_file()}
        assert files == live_blobs(store.connection())
