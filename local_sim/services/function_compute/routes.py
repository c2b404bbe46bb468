"""Method and path -> the action and its names, as published clients build them (function-compute page, 10.3)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from .errors import InvalidArgument, PathNotSupported

PREFIX = "/2023-03-30/"
TEMP_TOKEN_PATH = "/2016-08-15/tempBucketToken"  # noqa: S105  (a path, no secret)
HTTP_PREFIX = "/http/"
"""Below it an HTTP trigger listens: `/http/<function>/<trigger>/...` (S14)."""

_TABLE = """
GET     regions                              DescribeRegions
GET     functions                            ListFunctions
POST    functions                            CreateFunction
GET     functions/{function}                 GetFunction
PUT     functions/{function}                 UpdateFunction
DELETE  functions/{function}                 DeleteFunction
GET     functions/{function}/code            GetFunctionCode
GET     functions/{function}/code/{item}     DownloadCode
POST    functions/{function}/invocations     InvokeFunction
POST    functions/{function}/invoke/enable   EnableFunctionInvocation
POST    functions/{function}/invoke/disable  DisableFunctionInvocation
GET     functions/{function}/versions        ListFunctionVersions
POST    functions/{function}/versions        PublishFunctionVersion
DELETE  functions/{function}/versions/{item} DeleteFunctionVersion
GET     functions/{function}/aliases         ListAliases
POST    functions/{function}/aliases         CreateAlias
GET     functions/{function}/aliases/{item}  GetAlias
PUT     functions/{function}/aliases/{item}  UpdateAlias
DELETE  functions/{function}/aliases/{item}  DeleteAlias
GET     functions/{function}/triggers        ListTriggers
POST    functions/{function}/triggers        CreateTrigger
GET     functions/{function}/triggers/{item} GetTrigger
PUT     functions/{function}/triggers/{item} UpdateTrigger
DELETE  functions/{function}/triggers/{item} DeleteTrigger
GET     functions/{function}/async-invoke-config     GetAsyncInvokeConfig
PUT     functions/{function}/async-invoke-config     PutAsyncInvokeConfig
DELETE  functions/{function}/async-invoke-config     DeleteAsyncInvokeConfig
GET     async-invoke-configs                         ListAsyncInvokeConfigs
GET     functions/{function}/async-tasks             ListAsyncTasks
GET     functions/{function}/async-tasks/{item}      GetAsyncTask
PUT     functions/{function}/async-tasks/{item}/stop StopAsyncTask
GET     functions/{function}/concurrency     GetConcurrencyConfig
PUT     functions/{function}/concurrency     PutConcurrencyConfig
DELETE  functions/{function}/concurrency     DeleteConcurrencyConfig
GET     concurrency-configs                  ListConcurrencyConfigs
GET     functions/{function}/provision-config    GetProvisionConfig
PUT     functions/{function}/provision-config    PutProvisionConfig
DELETE  functions/{function}/provision-config    DeleteProvisionConfig
GET     provision-configs                        ListProvisionConfigs
GET     functions/{function}/scaling-config      GetScalingConfig
PUT     functions/{function}/scaling-config      PutScalingConfig
DELETE  functions/{function}/scaling-config      DeleteScalingConfig
GET     scaling-configs                          ListScalingConfigs
GET     functions/{function}/vpc-bindings        ListVpcBindings
POST    functions/{function}/vpc-bindings        CreateVpcBinding
DELETE  functions/{function}/vpc-bindings/{item} DeleteVpcBinding
GET     functions/{function}/instances       ListInstances
GET     functions/{function}/sessions        ListSessions
GET     tags-v2                              ListTagResources
POST    tags-v2                              TagResources
DELETE  tags-v2                              UntagResources
GET     custom-domains                       ListCustomDomains
GET     custom-domains/{item}                GetCustomDomain
GET     layers                               ListLayers
GET     snapshots                            ListSnapshots
"""


@dataclass(frozen=True, slots=True)
class Match:
    """What a path asks for; `function` and `item` are decoded names, empty where the path has none."""

    action: str
    function: str = ""
    item: str = ""


ROUTES: dict[tuple[str, tuple[str, ...]], str] = {
    (method, tuple(path.split("/"))): action
    for method, path, action in (line.split() for line in _TABLE.strip().splitlines())
}
"""(method, segments) -> action; `{function}` and `{item}` stand for any one name."""

ACTIONS: tuple[str, ...] = tuple(sorted(set(ROUTES.values())))


def match(method: str, raw_path: str) -> Match:
    """Return what a raw (still percent-encoded) path below /2023-03-30/ asks for. Raises PathNotSupported."""
    given = raw_path.removeprefix(PREFIX).rstrip("/").split("/")
    for shape in _shapes(given):
        action = ROUTES.get((method, shape))
        if action is not None:
            names = {part[1:-1]: _decode(text) for part, text in zip(shape, given, strict=True) if part[:1] == "{"}
            return Match(action, names.get("function", ""), names.get("item", ""))
    raise PathNotSupported(f"{method} {raw_path[:200]} is not supported")


def _shapes(given: list[str]) -> list[tuple[str, ...]]:
    shape = list(given)
    if shape[0] == "functions" and len(shape) > 1:
        shape[1] = "{function}"
    fixed = tuple(shape)
    if len(shape) > 3:
        shape[3] = "{item}"
    elif len(shape) == 2 and shape[0] != "functions":
        shape[1] = "{item}"
    return [fixed, tuple(shape)]


def _decode(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError as error:
        raise InvalidArgument("the path is not percent-encoded UTF-8") from error
