"""The tables of the journal's file, as steps from one version of it to the next."""

from __future__ import annotations

_EXECUTIONS = """
CREATE TABLE executions (
    id INTEGER PRIMARY KEY,
    flow TEXT NOT NULL,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    definition TEXT NOT NULL,
    secret BLOB NOT NULL,
    virtual INTEGER NOT NULL,
    parent INTEGER REFERENCES executions(id),
    parent_task INTEGER,
    status TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    output TEXT,
    error TEXT NOT NULL DEFAULT '',
    cause TEXT NOT NULL DEFAULT '',
    UNIQUE (flow, name)
);
CREATE TABLE events (
    execution INTEGER NOT NULL REFERENCES executions(id),
    number INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (execution, number)
) WITHOUT ROWID;
CREATE TABLE background (
    request_id TEXT PRIMARY KEY,
    execution INTEGER NOT NULL REFERENCES executions(id),
    function TEXT NOT NULL,
    event BLOB NOT NULL
) WITHOUT ROWID;
"""
# Files of version 1 that a server used have these tables already.
_SERVED = """
CREATE TABLE IF NOT EXISTS served (
    execution INTEGER PRIMARY KEY REFERENCES executions(id),
    flow_id TEXT NOT NULL,
    express INTEGER NOT NULL,
    input TEXT NOT NULL,
    qualifier TEXT NOT NULL,
    environment TEXT NOT NULL,
    role_arn TEXT NOT NULL,
    callback_token TEXT NOT NULL,
    child_of TEXT NOT NULL,
    child_path TEXT NOT NULL,
    stopped_ms INTEGER,
    history BLOB
);
CREATE INDEX IF NOT EXISTS served_by_flow ON served (flow_id, execution);
CREATE INDEX IF NOT EXISTS executions_open ON executions (status) WHERE status IN ('Starting', 'Running');
CREATE INDEX IF NOT EXISTS executions_recent ON executions (created_ms, id, status, flow, name);
CREATE INDEX IF NOT EXISTS executions_by_status ON executions (status);
CREATE INDEX IF NOT EXISTS served_callbacks ON served (execution) WHERE callback_token != '';
"""

MIGRATIONS = (_EXECUTIONS, _SERVED)
"""MIGRATIONS[n] leads from version n to n + 1; only ever add one at the end, and take nothing away."""
