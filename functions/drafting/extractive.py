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
    room = request.limit - len(request.title) - 200
    summary = pick(rated, SUMMARY_SENTENCES, room // 3)
    left = [pair for pair in rated if pair[1] not in summary]
    points = pick(left, POINTS, room // 3)
    parts = [f"# {request.title}", f"## {summary_word}", _prose(summary or [_cut(found[0], room // 3)])]
    if points:
        parts += [f"## {points_word}", "\n".join(_points(points))]
    if request.note:
        answers = _answers(found, request.note, room // 4) or nothing_word
        quoted = " ".join(request.note.split())[:200]
        parts += [f"## {about_word}", f"> {note_word}: {quoted}", answers]
    return "\n\n".join(parts) + "\n"


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
    short = sentence.text if len(sentence.text) <= chars else sentence.text[: max(chars - 1, 1)] + "…"
    return Sentence(short, sentence.heading, sentence.place)
