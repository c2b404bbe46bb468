"""What lies at the root of the code package. `scripts/build.py` copies it there."""
