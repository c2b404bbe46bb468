"""The parts of `scripts/provision.py`: the data, the roles and what they may do."""

from __future__ import annotations

from scripts.provisioning.data import RULES, Data
from scripts.provisioning.policies import Names, Role, roles_of
from scripts.provisioning.ram import Ram

__all__ = ["RULES", "Data", "Names", "Ram", "Role", "roles_of"]
