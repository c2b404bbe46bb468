"""Real documents, made at test time."""

from __future__ import annotations

import io

import docx
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas


def pdf(pages: list[list[str]], *, password: str | None = None, owner: str | None = None) -> bytes:
    """A PDF with one line of text a list entry; Chinese works. `password` encrypts it, `owner` only restricts it."""
    from reportlab.lib.pdfencrypt import StandardEncryption

    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    buffer = io.BytesIO()
    encrypt = None
    if password is not None or owner is not None:
        encrypt = StandardEncryption(password or "", ownerPassword=owner or "owner", strength=128)
    drawing = canvas.Canvas(buffer, pagesize=A4, encrypt=encrypt, invariant=1)
    for lines in pages:
        drawing.setFont("STSong-Light", 12)
        for number, line in enumerate(lines):
            drawing.drawString(60, 780 - 20 * number, line)
        drawing.showPage()
    drawing.save()
    return buffer.getvalue()


def word(paragraphs: list[str], *, heading: str = "", table: list[list[str]] | None = None) -> bytes:
    """A DOCX with a heading, paragraphs and a table."""
    document = docx.Document()
    if heading:
        document.add_heading(heading, level=1)
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    if table:
        made = document.add_table(len(table), len(table[0]))
        for row, cells in enumerate(table):
            for column, text in enumerate(cells):
                made.cell(row, column).text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()
