"""Bodies of the API's requests, read by pydantic: what local_sim uses is typed, everything else is kept as it came.

Rules: serverless-devs page, section 8, and function-compute page, section 6.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from .errors import InvalidArgument

_ENVIRONMENT_BYTES = 4096
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_Model = TypeVar("_Model", bound="Body")

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
ItemName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,127}$")]


class Body(BaseModel):
    """A JSON body; unknown fields are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=False)


class Code(Body):
    """Where a function's code is: a ZIP in base64, or an object in OSS."""

    zipFile: str | None = None  # noqa: N815  (the wire's spelling)
    ossBucketName: str | None = None  # noqa: N815
    ossObjectName: str | None = None  # noqa: N815
    checksum: str | None = None


class Hook(Body):
    """One lifecycle hook; seconds."""

    handler: str | None = None
    timeout: int = Field(default=3, ge=1, le=86400)


class Lifecycle(Body):
    """The two hooks local_sim runs."""

    initializer: Hook | None = None
    preStop: Hook | None = None  # noqa: N815


class FunctionFields(Body):
    """What create and update share; None means not given."""

    handler: str | None = Field(default=None, max_length=128)
    runtime: str | None = None
    description: str | None = Field(default=None, max_length=256)
    memorySize: int | None = Field(default=None, ge=128, le=32768, multiple_of=64)  # noqa: N815
    timeout: int | None = Field(default=None, ge=1, le=86400)
    cpu: float | None = Field(default=None, ge=0.05, le=16)
    diskSize: int | None = None  # noqa: N815
    instanceConcurrency: int | None = Field(default=None, ge=1, le=200)  # noqa: N815
    environmentVariables: dict[str, str] | None = None  # noqa: N815
    instanceLifecycleConfig: Lifecycle | None = None  # noqa: N815
    code: Code | None = None

    @field_validator("environmentVariables")
    @classmethod
    def _variables(cls, value: dict[str, str] | None) -> dict[str, str] | None:
        for key in value or {}:
            if not _KEY.fullmatch(key) or key.upper().startswith("FC_"):
                raise ValueError(f"{key!r} is no name for a variable: letters, digits and '_', not beginning FC_")
        size = sum(len(key.encode()) + len(text.encode()) for key, text in (value or {}).items())
        if size > _ENVIRONMENT_BYTES:
            raise ValueError(f"the variables have {size} bytes, the limit is {_ENVIRONMENT_BYTES} bytes")
        return value


class CreateFunction(FunctionFields):
    """A new function."""

    functionName: Name  # noqa: N815
    runtime: str


class PublishVersion(Body):
    """A new version."""

    description: str = Field(default="", max_length=256)


class AliasFields(Body):
    """What an alias points at; `additionalVersionWeight` is the share of one other version, 0 to 1."""

    versionId: str | None = None  # noqa: N815
    description: str | None = Field(default=None, max_length=256)
    additionalVersionWeight: dict[str, Annotated[float, Field(ge=0, le=1)]] | None = Field(  # noqa: N815
        default=None, max_length=1
    )


class CreateAlias(AliasFields):
    """A new alias."""

    aliasName: ItemName  # noqa: N815
    versionId: str  # noqa: N815


class TriggerFields(Body):
    """What may change of a trigger; `triggerConfig` is JSON text, or an object where a client sends one."""

    description: str | None = None
    invocationRole: str | None = None  # noqa: N815
    qualifier: str | None = None
    triggerConfig: str | dict[str, Any] | None = None  # noqa: N815


class CreateTrigger(TriggerFields):
    """A new trigger."""

    triggerName: ItemName  # noqa: N815
    triggerType: str  # noqa: N815


class TimerConfig(Body):
    """triggerConfig of type timer."""

    cronExpression: str  # noqa: N815
    enable: bool = False
    payload: str = ""


class HttpConfig(Body):
    """triggerConfig of type http."""

    authType: str = "function"  # noqa: N815
    methods: list[str] = Field(default_factory=lambda: ["GET"])


class Destination(Body):
    """Where a result goes: an ARN, or nothing."""

    destination: str | None = None


class Destinations(Body):
    """Where results of async invocations go."""

    onSuccess: Destination | None = None  # noqa: N815
    onFailure: Destination | None = None  # noqa: N815


class AsyncConfig(Body):
    """How async invocations are treated (function-compute page, sections 8 and 9)."""

    maxAsyncRetryAttempts: int = Field(default=3, ge=0, le=8)  # noqa: N815
    maxAsyncEventAgeInSeconds: int = Field(default=86400, ge=1, le=2592000)  # noqa: N815
    asyncTask: bool = False  # noqa: N815
    destinationConfig: Destinations | None = None  # noqa: N815


class Concurrency(Body):
    """How many requests a function may run at once."""

    reservedConcurrency: int = Field(ge=0, le=100_000)  # noqa: N815


class Provision(Body):
    """Provisioned instances: kept and shown, without effect here (S12)."""

    target: int | None = Field(default=None, ge=0)
    defaultTarget: int | None = Field(default=None, ge=0)  # noqa: N815


class VpcBinding(Body):
    """A VPC bound to a function: kept and shown, without effect here (S12)."""

    vpcId: str  # noqa: N815


def read_body(kind: type[_Model], body: bytes) -> _Model:
    """Return the body as a `kind`. Raises InvalidArgument with the path of the field at fault."""
    return check(kind, read_object(body))


def read_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in `body`. Raises InvalidArgument."""
    try:
        value = json.loads(body) if body else {}
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"the request body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidArgument("the request body must be a JSON object")
    return value


def check(kind: type[_Model], value: object, where: str = "") -> _Model:
    """Return `value` as a `kind`; `where` goes before the field's path in the message. Raises InvalidArgument."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(part) for part in (where, *first["loc"]) if part != "")
        raise InvalidArgument(f"{field or 'body'}: {first['msg']}", field) from error
