"""The root of everything local_sim raises on purpose.

LocalSimError                     catch it for: any fault a person can put right (exit status 2 in the CLI)
├── project.ProjectError          s.yaml, pyproject.toml, function ARNs
├── workers.WorkerError           handlers that cannot be loaded
├── journal.JournalError          the data folder
├── runner.RunError               what a run was asked to do
├── explore.ExploreError          an exploration of faults that cannot be started or finished
├── cloud.CloudError              local services and the setup hook
└── services.ServiceError         a port that is taken, an address that cannot be listened on
"""

from __future__ import annotations


class LocalSimError(Exception):
    """A fault that a person can put right; its text says what is wrong, where, and what to do next."""
