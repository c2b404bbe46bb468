"""What the services ask the world for: the time, fresh ids, draws. One object, so that tests can choose all of it."""

from __future__ import annotations

import random
import uuid

from local_sim.clock import Clock

from .definitions import Definitions


class World:
    """The time of a clock, ids and draws of a generator; with a `seed` all of them repeat."""

    def __init__(self, clock: Clock, definitions: Definitions, seed: int | None = None) -> None:
        self._clock = clock
        self._definitions = definitions
        self._random = random.SystemRandom() if seed is None else random.Random(seed)  # noqa: S311 - chosen by a test

    def now_ms(self) -> int:
        """Return milliseconds since the epoch."""
        return self._clock.now_ms()

    def new_id(self) -> str:
        """Return a fresh UUID."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def draw(self, below: int) -> int:
        """Return a random whole number from 0 to `below` - 1."""
        return self._random.randrange(below)

    def fraction(self) -> float:
        """Return a random number from 0 up to 1."""
        return self._random.random()

    def check_definition(self, definition: str, name: str, mode: str) -> None:
        """Raise InvalidArgument when a text is no definition of a flow of this name and mode."""
        self._definitions.check(definition, name, mode)
