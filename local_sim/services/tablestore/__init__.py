"""Tablestore on one machine: the real wire protocol over one SQLite file.

Built from the published facts in `tablestore.md`.
"""

from local_sim.services.tablestore.app import create_app, fault_dialect
from local_sim.services.tablestore.auth import LOCAL_KEY_ID, LOCAL_SECRET, Credentials
from local_sim.services.tablestore.errors import TablestoreError
from local_sim.services.tablestore.store import TablestoreStore

__all__ = [
    "LOCAL_KEY_ID",
    "LOCAL_SECRET",
    "Credentials",
    "TablestoreError",
    "TablestoreStore",
    "create_app",
    "fault_dialect",
]
