"""Which provider the settings ask for."""

from __future__ import annotations

from functions.drafting.base import DraftProvider
from functions.settings import Settings

__all__ = ["provider"]


def provider(settings: Settings) -> DraftProvider:
    """The provider named by STEPKEEPER_DRAFT_PROVIDER. Only the one that is used is imported."""
    if settings.draft_provider == "openai":
        from functions.drafting.openai_compatible import OpenAiCompatible

        return OpenAiCompatible(settings)
    from functions.drafting.extractive import Extractive

    return Extractive()
