"""The shape of fc3 props (serverless-devs page, section 8), derived from the schema's rules and the API's."""

from __future__ import annotations

from scripts.checking.shapes import Shape

__all__ = ["FUNCTION", "RUNTIMES"]

RUNTIMES = ("python3", "python3.9", "python3.10", "python3.12")
_NAME_RULE = "letters, digits, _ and - only, not starting with a digit or -, 1 to 64 characters"
_TEXT = Shape(("text",))
_BOOLEAN = Shape(("boolean",))
_ANY_MAP = Shape(("map",))
_TEXTS = Shape(("list",), item=_TEXT)
_SECONDS = Shape(("number",), 1, 86400, whole=True)
_HOOK = Shape(
    ("map",), fields={"handler": _TEXT, "command": _TEXTS, "timeout": _SECONDS}, exclusive=(("handler", "command"),)
)
_TARGET = Shape(("map",), fields={"destination": _TEXT}, required=("destination",))
# The fc3 schema allows 2592000 s, the service's own text 604800 s (serverless-devs page, section 14): the stricter.
_ASYNC = Shape(
    ("map",),
    fields={
        "maxAsyncRetryAttempts": Shape(("number",), 0, 8, whole=True),
        "maxAsyncEventAgeInSeconds": Shape(("number",), 1, 604800, whole=True),
        "asyncTask": _BOOLEAN,
        "destinationConfig": Shape(("map",), fields={"onSuccess": _TARGET, "onFailure": _TARGET}),
        "qualifier": _TEXT,
    },
)
_LOGS = Shape(
    ("text", "map"),
    values=("auto",),
    fields={
        "project": _TEXT,
        "logstore": _TEXT,
        "enableRequestMetrics": _BOOLEAN,
        "enableInstanceMetrics": _BOOLEAN,
        "enableLlmMetrics": _BOOLEAN,
        "logBeginRule": Shape(("text",), values=("None", "DefaultRegex")),
    },
    required=("project", "logstore"),
)
_VPC = Shape(
    ("text", "map"),
    values=("auto",),
    fields={"vpcId": _TEXT, "securityGroupId": _TEXT, "vSwitchIds": Shape(("list", "text"), values=("auto",))},
    required=("vpcId",),
)
_TRIGGER = Shape(
    ("map",),
    fields={
        "triggerName": Shape(("text",), pattern=r"[A-Za-z_][A-Za-z0-9_-]{0,127}", rule="a letter or _ first"),
        "triggerType": Shape(
            ("text",), values=("oss", "log", "timer", "eventbridge", "http", "mns_topic", "cdn_events", "tablestore")
        ),
        "triggerConfig": _ANY_MAP,
        "description": _TEXT,
        "qualifier": _TEXT,
        "sourceArn": _TEXT,
        "invocationRole": _TEXT,
    },
    required=("triggerName", "triggerType", "triggerConfig"),
)
_CODE = Shape(
    ("text", "map"),
    fields={"src": _TEXT, "ossBucketName": _TEXT, "ossObjectName": _TEXT},
    required=("ossBucketName", "ossObjectName"),
)

FUNCTION = Shape(
    ("map",),
    required=("region", "functionName", "runtime"),
    exclusive=(("provisionConfig", "scalingConfig"),),
    fields={
        "region": Shape(("text",), pattern=r"[a-z]{2}-[a-z0-9-]+", rule="a region's id, such as cn-hangzhou"),
        "functionName": Shape(("text",), pattern=r"[A-Za-z_][A-Za-z0-9_-]{0,63}", rule=_NAME_RULE),
        "runtime": _TEXT,
        "handler": _TEXT,
        "description": _TEXT,
        "code": _CODE,
        "timeout": _SECONDS,
        "memorySize": Shape(("number",), 128, 32768, 64, whole=True),
        "cpu": Shape(("number",), 0.05, 16, 0.05),
        "diskSize": Shape(("number",), values=(512, 10240)),
        "instanceConcurrency": Shape(("number",), 1, 200, whole=True),
        "role": _TEXT,
        "environmentVariables": _ANY_MAP,
        "layers": _TEXTS,
        "tags": Shape(("list",), item=Shape(("map",), fields={"key": _TEXT, "value": _TEXT}, required=("key",))),
        "triggers": Shape(("list",), item=_TRIGGER),
        "logConfig": _LOGS,
        "vpcConfig": _VPC,
        "nasConfig": Shape(("text", "map"), values=("auto",)),
        "ossMountConfig": Shape(("text", "map"), values=("auto",)),
        "instanceLifecycleConfig": Shape(("map",), fields={"initializer": _HOOK, "preStop": _HOOK}),
        "asyncInvokeConfig": _ASYNC,
        "provisionConfig": _ANY_MAP,
        "scalingConfig": _ANY_MAP,
        "concurrencyConfig": Shape(
            ("map",), fields={"reservedConcurrency": Shape(("number",), 0, 1_000_000, whole=True)}
        ),
        "customDNS": _ANY_MAP,
        "tracingConfig": Shape(("text", "map")),
        "internetAccess": _BOOLEAN,
        "customRuntimeConfig": _ANY_MAP,
        "customContainerConfig": _ANY_MAP,
        "customDomain": _ANY_MAP,
        "sessionAffinity": _TEXT,
        "sessionAffinityConfig": Shape(("text", "map")),
        "instanceIsolationMode": _TEXT,
        "resourceGroupId": _TEXT,
        "vpcBinding": _ANY_MAP,
        "endpoint": _TEXT,
        "annotations": _ANY_MAP,
        "gpuConfig": _ANY_MAP,
        "disableOndemand": _BOOLEAN,
        "disableInjectCredentials": Shape(("text",), values=("None", "Env", "Request", "All")),
        "idleTimeout": Shape(("number",), 1, 86400, whole=True),
    },
)
