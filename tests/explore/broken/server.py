"""`python server.py`: explores one plan after the other, each in a copy of this process, which has imported all it can.

A line of JSON names a file with what `local_sim.explore.process` reads, and the files for runs and for what it says.
The answer is a line with its exit status.
"""

import contextlib
import io
import json
import os
import sys
from importlib import import_module

from local_sim.explore import session  # noqa: F401 - imported here, so that no copy has to
from local_sim.explore.process import main

# What the SDKs are slow to import and that knows neither time nor threads; the SDKs themselves belong into a world.
for name in ("Crypto.Cipher.AES", "Crypto.PublicKey.RSA", "attr", "crc32c", "multidict", "numpy"):
    with contextlib.suppress(ImportError):
        import_module(name)


def explore(order):
    """Explore in a copy of this process; return its exit status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            said = os.open(order["said"], os.O_WRONLY | os.O_CREAT)
            os.dup2(said, 1)
            os.dup2(said, 2)
            out = os.open(order["runs"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.set_inheritable(out, True)
            sys.stdin = io.StringIO(json.dumps({**order["given"], "out": out}))
            status = main()
            sys.stderr.flush()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


for line in sys.stdin:
    sys.stdout.write(f"{explore(json.loads(line))}\n")
    sys.stdout.flush()
