"""Helpers for tests of projects that run on the local cloud; `local_cloud` holds the pytest fixture of that name."""
