"""Sizes and bounds of the CloudFlow API (cloudflow-api page, sections 4.1, 5). Bytes unless the name says otherwise."""

from __future__ import annotations

REQUEST_BYTES = 1024 * 1024
PAYLOAD_BYTES = 64 * 1024
"""Input of an execution, Output of a report, Payload of a schedule."""
ERROR_CHARACTERS = 128
CAUSE_CHARACTERS = 4096
DESCRIPTION_CHARACTERS = 4096
"""Ours: no page gives one (S03)."""
WAIT_SECONDS = 60
"""Longest long poll of DescribeExecution."""
EXPRESS_SECONDS = 300
STANDARD_SECONDS = 365 * 24 * 3600
RUNNING_EXECUTIONS = 10_000
FLOWS = 10_000
SKEW_MS = 15 * 60 * 1000
"""How far a signed request's Timestamp may be off. Ours: no page gives one (S03)."""
