"""Drafts made of the document's own sentences: embedded, no download, Chinese and English, deterministic. The default
offline.
"""

from __future__ import annotations

from functions.drafting.base import Draft, DraftRequest
from functions.drafting.ranking import pick, rank
from functions.drafting.sentences import Sentence, is_chinese, sentences, terms
from functions.errors import InvalidInput

__all__ = ["Extractive"]

SUMMARY_SENTENCES = 4
POINTS = 8
NOTE_SENTENCES = 4
FRAME = 150
"""Characters of the headings and of the blank lines between them, at most."""
_WORDS = {
    True: ("摘要", "要点", "审阅意见", "审阅意见相关内容", "原文未提及审阅意见所说的内容，请人工补充。"),
    False: (
        "Summary",
        "Key points",
        "Reviewer's note",
        "On the reviewer's note",
        "The document says nothing about this; please add it by hand.",
    ),
}


class Extractive:
    """Picks the sentences that matter and sets them under headings."""

    name = "extractive"

    def write(self, request: DraftRequest) -> Draft:
        """The draft. Raises `InvalidInput` when the material holds no sentence."""
        found = sentences(request.material)
        if not found:
            raise InvalidInput("the material holds no sentence", path="task.material", reason="empty")
        text = _draft(request, found)
        return Draft(text, self.name)


def _draft(request: DraftRequest, found: list[Sentence]) -> str:
    summary_word, points_word, note_word, about_word, nothing_word = _WORDS[is_chinese(request.material)]
    rated = rank(found, request.note)
    title = _shortened(request.title, request.limit // 5)
    quoted = _shortened(" ".join(request.note.split()), min(200, request.limit // 10))
    room = max(request.limit - len(title) - len(quoted) - FRAME, 0)
    summary = pick(rated, SUMMARY_SENTENCES, room // 3) or [_cut(found[0], max(room // 3, 10))]
    points = pick([pair for pair in rated if pair[1] not in summary], POINTS, room // 4)
    parts = [f"# {title}", f"## {summary_word}", _prose(summary)]
    if quoted:
        answers = _answers(found, request.note, room // 4) or nothing_word
        parts += [f"## {about_word}", f"> {note_word}: {quoted}", answers]
    # The list comes last in making, as headings make its lines longer: what does not fit is left out whole.
    return _with_points(parts, points_word, points, request.limit)


def _with_points(parts: list[str], word: str, points: list[Sentence], limit: int) -> str:
    for count in range(len(points), 0, -1):
        text = "\n\n".join([*parts[:3], f"## {word}", "\n".join(_points(points[:count])), *parts[3:]]) + "\n"
        if len(text) <= limit:
            return text
    return "\n\n".join(parts) + "\n"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(most - 1, 1)] + "…"


def _prose(chosen: list[Sentence]) -> str:
    """One paragraph; Han sentences follow each other without a blank."""
    text = ""
    for sentence in chosen:
        glue = "" if not text or text[-1] in "。！？；" else " "
        text += glue + sentence.text
    return text


def _points(chosen: list[Sentence]) -> list[str]:
    """A list, with each heading of the document named once."""
    lines: list[str] = []
    heading = ""
    for sentence in chosen:
        named = f"**{sentence.heading}** " if sentence.heading and sentence.heading != heading else ""
        heading = sentence.heading
        lines.append(f"- {named}{sentence.text}")
    return lines


def _answers(found: list[Sentence], note: str, chars: int) -> str:
    """The sentences that speak of what the note asks about."""
    wanted = set(terms(note))
    near = [(float(len(wanted & set(terms(one.text)))), one) for one in found]
    best = sorted((pair for pair in near if pair[0] > 0), key=lambda pair: (-pair[0], pair[1].place))
    return "\n".join(f"- {one.text}" for one in pick(best, NOTE_SENTENCES, chars))


def _cut(sentence: Sentence, chars: int) -> Sentence:
    """A single endless sentence still gives a draft."""
    return Sentence(_shortened(sentence.text, chars), sentence.heading, sentence.place)
