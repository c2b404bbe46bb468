"""Time, chance, threads and locks of a world, seen from inside; in a process of its own, since they stay in place."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json, sys
from local_sim.explore import patches
from local_sim.explore.fibers import Hub, Instance, WorldClock

hub = Hub(WorldClock(1_767_225_600_000), "7")
patches.apply(hub, patches.Chance("7"))

import asyncio, datetime, os, queue, random, secrets, threading, time, uuid
from concurrent.futures import ThreadPoolExecutor

said = {}

def inside():
    began = time.monotonic()
    said["time"] = time.time()
    said["now"] = datetime.datetime.now(datetime.timezone.utc).isoformat()
    said["today"] = datetime.date.today().isoformat()
    said["real is one of ours"] = isinstance(datetime.datetime(2026, 1, 1), datetime.datetime)
    time.sleep(3600)
    said["slept"] = time.monotonic() - began
    said["chance"] = [uuid.uuid4().hex, secrets.token_hex(4), os.urandom(3).hex(), random.Random().random()]
    with ThreadPoolExecutor(3) as pool:
        said["pool"] = list(pool.map(lambda number: (time.sleep(4 - number), number)[1], [1, 2, 3]))
    lock, order = threading.Lock(), []
    def worker(name):
        with lock:
            order.append(name)
            time.sleep(1)
    threads = [threading.Thread(target=worker, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    said["alive"] = threads[0].is_alive()
    for thread in threads:
        thread.join()
    said["order"] = sorted(order)
    said["names"] = threading.current_thread() is threading.current_thread()
    ready = threading.Event()
    threading.Timer(30, ready.set).start()
    said["event"] = [ready.wait(5), ready.wait(60)]
    box = queue.Queue()
    try:
        box.get(timeout=9)
    except queue.Empty:
        said["empty"] = True
    local = threading.local()
    local.mine = 1
    seen = []
    thread = threading.Thread(target=lambda: seen.append(hasattr(local, "mine")))
    thread.start()
    thread.join()
    said["local"] = seen
    async def later():
        await asyncio.sleep(7)
        return await asyncio.to_thread(lambda: "threaded")
    said["async"] = asyncio.run(later())
    said["whole"] = round(time.monotonic() - began)

def guarded():
    try:
        inside()
    except BaseException as error:
        import traceback
        traceback.print_exc()

hub.spawn(Instance(1, "f"), guarded)
while hub.run(None):
    pass
sys.stdout.write(json.dumps(said))
"""


def seen() -> dict[str, object]:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_world_has_its_own_time_chance_threads_and_locks() -> None:
    found = seen()
    assert found["time"] == 1_767_225_600.0
    assert found["now"] == "2026-01-01T00:00:00+00:00"
    assert found["today"] == "2026-01-01"
    assert found["real is one of ours"] is True
    assert found["slept"] == 3600
    assert found["pool"] == [1, 2, 3]
    assert found["alive"] is True
    assert found["order"] == ["a", "b"]
    assert found["names"] is True
    assert found["event"] == [False, True]
    assert found["empty"] is True
    assert found["local"] == [False]
    assert found["async"] == "threaded"
    assert found["whole"] == 3600 + 3 + 2 + 30 + 9 + 7


def test_the_same_seed_gives_the_same_chance() -> None:
    assert seen()["chance"] == seen()["chance"]
