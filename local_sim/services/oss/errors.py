"""What can go wrong in the OSS service.

OssError                 root: catch it for anything this package raises on purpose
└── ApiError        a documented error, answered to the client as error XML
"""

from __future__ import annotations

from types import MappingProxyType


class OssError(Exception):
    """Root of the package's errors."""


class ApiError(OssError):
    """An error of the OSS API. Raise it by `ApiError("NoSuchKey", Key=key)`.

    Attributes: `code`, `status` (HTTP), `message`, `ec` (detailed code; O01 says which are ours), `details` (more
    elements of the error XML, in order) and `headers` (more response headers).
    """

    def __init__(
        self, code: str, message: str = "", *, headers: tuple[tuple[str, str], ...] = (), **details: str | int
    ) -> None:
        self.code = code
        self.status, self.ec, default = CATALOGUE[code]
        self.message = message or default
        self.details = {name: str(value) for name, value in details.items()}
        self.headers = headers
        super().__init__(f"{code}: {self.message}")


# code -> HTTP status, EC, default message. Codes and status: the OSS error pages and the error classes of oss2 2.19.1.
CATALOGUE = MappingProxyType(
    {
        "AccessDenied": (403, "0003-00000001", "You have no right to access this object."),
        "AuthorizationHeaderMalformed": (400, "0002-00000221", "The authorization header is malformed."),
        "AuthorizationQueryParametersError": (
            400,
            "0002-00000222",
            "The signing parameters of the query are malformed.",
        ),
        "BucketNotEmpty": (409, "0015-00000301", "The bucket has objects. Please delete them first."),
        "EntityTooLarge": (400, "0099-00000001", "Your proposed upload exceeds the maximum allowed object size."),
        "EntityTooSmall": (400, "0042-00000041", "Your proposed upload is smaller than the minimum allowed size."),
        "FileAlreadyExists": (
            409,
            "0026-00000051",
            "The object you specified already exists and can not be overwritten.",
        ),
        "InternalError": (500, "0099-00000002", "We encountered an internal error. Please try again."),
        "InvalidAccessKeyId": (
            403,
            "0002-00000902",
            "The OSS Access Key Id you provided does not exist in our records.",
        ),
        "InvalidArgument": (400, "0099-00000003", "An argument is not valid."),
        "InvalidBucketName": (400, "0015-00000001", "The specified bucket is not valid."),
        "InvalidDigest": (400, "0099-00000004", "The Content-MD5 you specified was invalid."),
        "InvalidObjectName": (400, "0099-00000005", "The specified object is not valid."),
        "InvalidPart": (400, "0042-00000202", "One or more of the specified parts could not be found."),
        "InvalidPartOrder": (400, "0042-00000203", "The list of parts was not in ascending order."),
        "InvalidRange": (416, "0099-00000006", "The requested range cannot be satisfied."),
        "InvalidRequest": (400, "0099-00000007", "The request is not valid."),
        "InvalidTag": (400, "0099-00000008", "The tags are not valid."),
        "InvalidTargetType": (400, "0099-00000009", "The symbolic link points to another symbolic link."),
        "MalformedXML": (400, "0099-00000010", "The XML you provided was not well-formed or did not validate."),
        "MethodNotAllowed": (405, "0099-00000011", "The specified method is not allowed against this resource."),
        "MissingArgument": (400, "0099-00000012", "A required argument is missing."),
        "MissingContentLength": (411, "0099-00000013", "You must provide the Content-Length HTTP header."),
        "NoSuchBucket": (404, "0015-00000101", "The specified bucket does not exist."),
        "NoSuchLifecycle": (404, "0013-00000001", "No Row found in Lifecycle Table."),
        "NoSuchKey": (404, "0026-00000001", "The specified key does not exist."),
        "NoSuchUpload": (404, "0042-00000001", "The specified upload does not exist."),
        "NotImplemented": (400, "0099-00000014", "local_sim does not offer this part of OSS."),
        "NotModified": (304, "0099-00000015", "Not Modified"),
        "NotSymlink": (400, "0099-00000016", "The object you specified is not a symbolic link."),
        "ObjectNotAppendable": (409, "0026-00000021", "The object is not appendable."),
        "PositionNotEqualToLength": (409, "0026-00000016", "Position is not equal to file length."),
        "PreconditionFailed": (412, "0099-00000017", "At least one of the pre-conditions you specified did not hold."),
        "RequestTimeTooSkewed": (403, "0002-00000504", "The request time and the current time differ too much."),
        "ServiceUnavailable": (503, "0099-00000019", "Please reduce your request rate."),
        "SignatureDoesNotMatch": (403, "0002-00000040", "The request signature we calculated does not match yours."),
        "SymlinkTargetNotExist": (404, "0099-00000018", "The target of the symbolic link does not exist."),
    }
)
