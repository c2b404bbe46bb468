"""What can go wrong with the cloud-side jobs.

::

    CloudError              catch it for: the job cannot go on, and the message says what to do
    ├── NotConfigured       a setting or credential is missing; `variable` names it
    ├── NotThere            something the job needs does not exist; `what` names it, `mend` says how to make it
    ├── Refused             the job would do harm; `reasons` say which, `option` overrides it, if there is one
    └── ServiceFault        the cloud answered an error or not at all; `service`, `code`, `status`, `request_id`
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CloudError", "NotConfigured", "NotThere", "Refused", "ServiceFault"]


class CloudError(Exception):
    """Root of the errors of cloud-side jobs."""


class NotConfigured(CloudError):
    """`variable` has to be set."""

    def __init__(self, variable: str, purpose: str) -> None:
        super().__init__(f"{variable} is not set: {purpose}")
        self.variable = variable


class NotThere(CloudError):
    """`what` does not exist; `mend` says how to make it."""

    def __init__(self, what: str, mend: str) -> None:
        super().__init__(f"{what} does not exist; {mend}")
        self.what = what
        self.mend = mend


class Refused(CloudError):
    """Nothing was done because of `reasons`; `option`, if there is one, says it is meant."""

    def __init__(self, reasons: Sequence[str], option: str = "") -> None:
        super().__init__("; ".join(reasons) + (f". Say {option} if that is meant" if option else ""))
        self.reasons = tuple(reasons)
        self.option = option


class ServiceFault(CloudError):
    """`service` answered `code` (HTTP `status`, 0 without an answer). The call may have taken effect all the same."""

    def __init__(self, service: str, action: str, code: str, status: int, message: str, request_id: str = "") -> None:
        shown = f"{status} {code}" if status else code or "no answer"
        super().__init__(f"{service} {action}: {shown}: {message}" + (f" (request {request_id})" if request_id else ""))
        self.service = service
        self.action = action
        self.code = code
        self.status = status
        self.request_id = request_id

    @property
    def missing(self) -> bool:
        """True when the thing asked about does not exist."""
        return self.status == 404

    @property
    def throttled(self) -> bool:
        """True when the call was turned away unread and may simply be sent again."""
        return self.status == 429 or self.code in ("ResourceThrottled", "ResourceExhausted", "Throttling")
