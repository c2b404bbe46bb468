"""Text out of documents: .txt, .md, .html, .pdf and .docx, within limits of size, pages and text."""

from functions.material.extract import Extracted, Limits, extract
from functions.material.kinds import KINDS, Kind, kind_of

__all__ = ["KINDS", "Extracted", "Kind", "Limits", "extract", "kind_of"]
