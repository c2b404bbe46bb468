"""Who writes drafts: an interface and two providers."""

from functions.drafting.base import Draft, DraftProvider, DraftRequest
from functions.drafting.choose import provider

__all__ = ["Draft", "DraftProvider", "DraftRequest", "provider"]
