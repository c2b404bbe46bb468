"""Which sentences of a text matter: TextRank (R. Mihalcea, P. Tarau, 2004) on shared terms, with fixed rounds.

Pure and deterministic: same sentences in, same ranks out, on any machine.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from functions.drafting.sentences import Sentence, terms

__all__ = ["pick", "rank"]

DAMPING = 0.85
ROUNDS = 30
MOST = 600
"""Sentences that are ranked; of a longer text the first ones and every n-th of the rest."""


def rank(found: list[Sentence], wish: str = "") -> list[tuple[float, Sentence]]:
    """(score, sentence) of each candidate, best first. Sentences that share terms with `wish` count more."""
    chosen = _thinned(found)
    bags = [Counter(terms(sentence.text)) for sentence in chosen]
    scores = _text_rank(_links(bags))
    wanted = set(terms(wish))
    rated = []
    for at, sentence in enumerate(chosen):
        score = scores[at] * _shape(sentence, bags[at])
        score *= 1.0 + 2.0 * _share(wanted, bags[at])
        rated.append((round(score, 12), sentence))
    return sorted(rated, key=lambda pair: (-pair[0], pair[1].place))


def pick(rated: list[tuple[float, Sentence]], count: int, chars: int) -> list[Sentence]:
    """The best `count` sentences within `chars` characters, none much like another, in the order of the text."""
    kept: list[Sentence] = []
    used = 0
    for _, sentence in rated:
        if len(kept) == count:
            break
        if used + len(sentence.text) <= chars and not any(_alike(sentence, other) for other in kept):
            kept.append(sentence)
            used += len(sentence.text)
    return sorted(kept, key=lambda sentence: sentence.place)


def _thinned(found: list[Sentence]) -> list[Sentence]:
    if len(found) <= MOST:
        return found
    head, rest = found[: MOST // 3], found[MOST // 3 :]
    every = math.ceil(len(rest) / (MOST - len(head)))
    return head + rest[::every]


def _links(bags: list[Counter[str]]) -> list[dict[int, float]]:
    """Similarity of each pair that shares a term, weighed by how rare the term is."""
    places: dict[str, list[int]] = defaultdict(list)
    for at, bag in enumerate(bags):
        for term in bag:
            places[term].append(at)
    links: list[dict[int, float]] = [defaultdict(float) for _ in bags]
    for owners in places.values():
        # A term that is everywhere tells nothing and would cost a pair for each two sentences.
        if not 2 <= len(owners) <= max(4, len(bags) // 2):
            continue
        weight = math.log(1 + len(bags) / len(owners))
        for first in owners:
            for second in owners:
                if first != second:
                    links[first][second] += weight
    sizes = [math.log(2 + len(bag)) for bag in bags]
    return [{to: weight / (sizes[at] + sizes[to]) for to, weight in row.items()} for at, row in enumerate(links)]


def _text_rank(links: list[dict[int, float]]) -> list[float]:
    out = [sum(row.values()) or 1.0 for row in links]
    scores = [1.0] * len(links)
    for _ in range(ROUNDS):
        scores = [
            (1 - DAMPING) + DAMPING * sum(weight / out[to] * scores[to] for to, weight in sorted(row.items()))
            for row in links
        ]
    return scores


def _shape(sentence: Sentence, bag: Counter[str]) -> float:
    """Very short and very long sentences summarise badly; early ones and ones with figures summarise well."""
    size = sum(bag.values())
    length = 0.3 if size < 4 else 1.0 if size <= 60 else 0.6
    early = 1.25 if sentence.place < 3 else 1.0
    figures = 1.15 if any(char.isdigit() for char in sentence.text) else 1.0
    return length * early * figures


def _share(wanted: set[str], bag: Counter[str]) -> float:
    return len(wanted & bag.keys()) / len(wanted) if wanted else 0.0


def _alike(one: Sentence, other: Sentence) -> bool:
    mine, theirs = set(terms(one.text)), set(terms(other.text))
    return len(mine & theirs) > 0.6 * max(1, min(len(mine), len(theirs)))
