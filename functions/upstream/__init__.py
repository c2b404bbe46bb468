"""Calls to what is outside: budget, retries, breaker, bulkhead, load feedback, fallback."""

from functions.upstream.breaker import Breaker, BreakerPolicy, BreakerState
from functions.upstream.budget import Budget
from functions.upstream.client import Policy, Upstream, UpstreamResult
from functions.upstream.feedback import LoadFeedback

__all__ = ["Breaker", "BreakerPolicy", "BreakerState", "Budget", "LoadFeedback", "Policy", "Upstream", "UpstreamResult"]
