"""The two SDKs behind one small face, so that every probe runs with each of them and with each signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import alibabacloud_oss_v2 as v2
import oss2
import oss2.models

KEY_ID, SECRET, REGION, BUCKET = "local-key", "local-secret", "cn-hangzhou", "probe-bucket"
CREDENTIALS = {KEY_ID: SECRET}
FLAVOURS = ("oss2-v1", "oss2-v4", "ossv2-v1", "ossv2-v4")

Parts = list[tuple[int, str]]


class Refused(Exception):
    """What the service answered, as either SDK reports it."""

    def __init__(self, code: str, status: int, request_id: str, ec: str) -> None:
        super().__init__(code, status)
        self.code, self.status, self.request_id, self.ec = code, status, request_id, ec


def oss2_bucket(endpoint: str, version: str, *, name: str = BUCKET, secret: str = SECRET, key_id: str = KEY_ID) -> Any:
    auth = oss2.make_auth(key_id, secret, version)
    return oss2.Bucket(auth, endpoint, name, region=REGION)


def v2_client(
    endpoint: str, version: str, *, secret: str = SECRET, key_id: str = KEY_ID, token: str | None = None
) -> Any:
    config = v2.config.load_default()
    config.credentials_provider = v2.credentials.StaticCredentialsProvider(key_id, secret, token)
    config.region, config.endpoint, config.signature_version = REGION, endpoint, version
    return v2.Client(config)


class Oss2Face:
    """`oss2`."""

    def __init__(self, endpoint: str, version: str, **credentials: str) -> None:
        self.version, self.endpoint = version, endpoint
        self.bucket = oss2_bucket(endpoint, version, **credentials)
        self.service = oss2.Service(self.bucket.auth, endpoint, region=REGION)

    def _call(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except oss2.exceptions.ServerError as error:
            code = error.code or {304: "NotModified"}.get(error.status, "")
            raise Refused(code, error.status, error.request_id, error.ec) from error

    def put(self, key: str, data: bytes, headers: dict[str, str] | None = None) -> int:
        return int(self._call(self.bucket.put_object, key, data, headers=headers).crc)

    def get(self, key: str, headers: dict[str, str] | None = None) -> bytes:
        return bytes(self._call(self.bucket.get_object, key, headers=headers).read())

    def head(self, key: str) -> dict[str, str]:
        return {name.lower(): value for name, value in self._call(self.bucket.head_object, key).headers.items()}

    def exists(self, key: str) -> bool:
        return bool(self._call(self.bucket.object_exists, key))

    def delete(self, key: str) -> None:
        self._call(self.bucket.delete_object, key)

    def copy(self, source: str, target: str, headers: dict[str, str] | None = None) -> None:
        self._call(self.bucket.copy_object, BUCKET, source, target, headers=headers)

    def append(self, key: str, position: int, data: bytes) -> int:
        return int(self._call(self.bucket.append_object, key, position, data).next_position)

    def keys_v1(self, prefix: str = "", delimiter: str = "", page: int = 2) -> list[str]:
        return [row.key for row in oss2.ObjectIterator(self.bucket, prefix, delimiter, max_keys=page)]

    def keys_v2(self, prefix: str = "", delimiter: str = "", page: int = 2) -> list[str]:
        return [row.key for row in oss2.ObjectIteratorV2(self.bucket, prefix, delimiter, max_keys=page)]

    def buckets(self) -> list[str]:
        return [row.name for row in self._call(self.service.list_buckets).buckets]

    def batch_delete(self, keys: list[str]) -> list[str]:
        return list(self._call(self.bucket.batch_delete_objects, keys).deleted_keys)

    def start_upload(self, key: str, headers: dict[str, str] | None = None) -> str:
        return str(self._call(self.bucket.init_multipart_upload, key, headers=headers).upload_id)

    def upload_part(self, key: str, upload: str, number: int, data: bytes) -> str:
        return str(self._call(self.bucket.upload_part, key, upload, number, data).etag)

    def complete(self, key: str, upload: str, parts: Parts, headers: dict[str, str] | None = None) -> None:
        infos = [oss2.models.PartInfo(number, etag) for number, etag in parts]
        self._call(self.bucket.complete_multipart_upload, key, upload, infos, headers=headers)

    def abort(self, key: str, upload: str) -> None:
        self._call(self.bucket.abort_multipart_upload, key, upload)

    def parts(self, key: str, upload: str) -> list[tuple[int, int]]:
        return [(part.part_number, part.size) for part in self._call(self.bucket.list_parts, key, upload).parts]

    def uploads(self) -> list[tuple[str, str]]:
        found = self._call(self.bucket.list_multipart_uploads).upload_list
        return [(upload.key, upload.upload_id) for upload in found]

    def set_tags(self, key: str, tags: dict[str, str]) -> None:
        rule = oss2.models.TaggingRule()
        for name, value in tags.items():
            rule.add(name, value)
        self._call(self.bucket.put_object_tagging, key, oss2.models.Tagging(rule))

    def tags(self, key: str) -> dict[str, str]:
        return dict(self._call(self.bucket.get_object_tagging, key).tag_set.tagging_rule)

    def delete_tags(self, key: str) -> None:
        self._call(self.bucket.delete_object_tagging, key)

    def presign(self, method: str, key: str, seconds: int) -> str:
        return str(self.bucket.sign_url(method, key, seconds, slash_safe=True))

    def delete_bucket(self) -> None:
        self._call(self.bucket.delete_bucket)

    def in_bucket(self, name: str) -> Oss2Face:
        other = Oss2Face(self.endpoint, self.version)
        other.bucket = oss2_bucket(self.endpoint, self.version, name=name)
        return other

    def info(self) -> tuple[str, str, str]:
        info = self._call(self.bucket.get_bucket_info)
        return info.name, info.acl.grant, info.location

    def object_acl(self, key: str, acl: str = "") -> str:
        if acl:
            self._call(self.bucket.put_object_acl, key, acl)
        return str(self._call(self.bucket.get_object_acl, key).acl)

    def symlink(self, key: str, target: str = "") -> str:
        if target:
            self._call(self.bucket.put_symlink, target, key)
        return str(self._call(self.bucket.get_symlink, key).target_key)


class V2Face:
    """`alibabacloud-oss-v2`."""

    def __init__(self, endpoint: str, version: str, **credentials: str) -> None:
        self.version, self.endpoint, self.name = version, endpoint, BUCKET
        self.client = v2_client(endpoint, version, **credentials)

    def _call(self, operation: str, request: str, **fields: Any) -> Any:
        model = getattr(v2, request + "Request")
        headers = fields.pop("headers", None)
        try:
            made = model(bucket=self.name, **fields) if request != "ListBuckets" else model(**fields)
            if headers:
                made.headers = headers
            return getattr(self.client, operation)(made)
        except v2.exceptions.OperationError as error:
            cause = error.unwrap()
            if not isinstance(cause, v2.exceptions.ServiceError):
                raise
            code = "NotModified" if cause.status_code == 304 else cause.code
            raise Refused(code, cause.status_code, cause.request_id, cause.ec) from error

    def put(self, key: str, data: bytes, headers: dict[str, str] | None = None) -> int:
        return int(self._call("put_object", "PutObject", key=key, body=data, headers=headers).hash_crc64)

    def get(self, key: str, headers: dict[str, str] | None = None) -> bytes:
        return bytes(self._call("get_object", "GetObject", key=key, headers=headers).body.read())

    def head(self, key: str) -> dict[str, str]:
        result = self._call("head_object", "HeadObject", key=key)
        return {name.lower(): value for name, value in result.headers.items()}

    def exists(self, key: str) -> bool:
        return bool(self.client.is_object_exist(self.name, key))

    def delete(self, key: str) -> None:
        self._call("delete_object", "DeleteObject", key=key)

    def copy(self, source: str, target: str, headers: dict[str, str] | None = None) -> None:
        self._call("copy_object", "CopyObject", key=target, source_key=source, headers=headers)

    def append(self, key: str, position: int, data: bytes) -> int:
        return int(self._call("append_object", "AppendObject", key=key, position=position, body=data).next_position)

    def _keys(self, pager: Any, request: Any) -> list[str]:
        found: list[str] = []
        for page in pager.iter_page(request):
            rows = [row.key for row in page.contents or ()]
            found += sorted(rows + [group.prefix for group in page.common_prefixes or ()])
        return found

    def keys_v1(self, prefix: str = "", delimiter: str = "", page: int = 2) -> list[str]:
        request = v2.ListObjectsRequest(self.name, prefix=prefix, delimiter=delimiter, max_keys=page)
        return self._keys(self.client.list_objects_paginator(), request)

    def keys_v2(self, prefix: str = "", delimiter: str = "", page: int = 2) -> list[str]:
        request = v2.ListObjectsV2Request(self.name, prefix=prefix, delimiter=delimiter, max_keys=page)
        return self._keys(self.client.list_objects_v2_paginator(), request)

    def buckets(self) -> list[str]:
        return [row.name for row in self._call("list_buckets", "ListBuckets").buckets or ()]

    def batch_delete(self, keys: list[str]) -> list[str]:
        objects = [v2.DeleteObject(key) for key in keys]
        found = self._call("delete_multiple_objects", "DeleteMultipleObjects", objects=objects)
        return [row.key for row in found.deleted_objects]

    def start_upload(self, key: str, headers: dict[str, str] | None = None) -> str:
        made = self._call("initiate_multipart_upload", "InitiateMultipartUpload", key=key, headers=headers)
        return str(made.upload_id)

    def upload_part(self, key: str, upload: str, number: int, data: bytes) -> str:
        sent = self._call("upload_part", "UploadPart", key=key, upload_id=upload, part_number=number, body=data)
        return str(sent.etag)

    def complete(self, key: str, upload: str, parts: Parts, headers: dict[str, str] | None = None) -> None:
        listed = v2.CompleteMultipartUpload(
            parts=[v2.UploadPart(part_number=number, etag=etag) for number, etag in parts]
        )
        fields = {"key": key, "upload_id": upload, "complete_multipart_upload": listed, "headers": headers}
        self._call("complete_multipart_upload", "CompleteMultipartUpload", **fields)

    def abort(self, key: str, upload: str) -> None:
        self._call("abort_multipart_upload", "AbortMultipartUpload", key=key, upload_id=upload)

    def parts(self, key: str, upload: str) -> list[tuple[int, int]]:
        found = self._call("list_parts", "ListParts", key=key, upload_id=upload)
        return [(part.part_number, part.size) for part in found.parts]

    def uploads(self) -> list[tuple[str, str]]:
        found = self._call("list_multipart_uploads", "ListMultipartUploads")
        return [(upload.key, upload.upload_id) for upload in found.uploads or ()]

    def set_tags(self, key: str, tags: dict[str, str]) -> None:
        tag_set = v2.TagSet(tags=[v2.Tag(key=name, value=value) for name, value in tags.items()])
        self._call("put_object_tagging", "PutObjectTagging", key=key, tagging=v2.Tagging(tag_set=tag_set))

    def tags(self, key: str) -> dict[str, str]:
        found = self._call("get_object_tagging", "GetObjectTagging", key=key)
        return {tag.key: tag.value or "" for tag in found.tag_set.tags or ()}

    def delete_tags(self, key: str) -> None:
        self._call("delete_object_tagging", "DeleteObjectTagging", key=key)

    def presign(self, method: str, key: str, seconds: int) -> str:
        import datetime

        model = {"GET": v2.GetObjectRequest, "PUT": v2.PutObjectRequest}[method]
        return str(self.client.presign(model(self.name, key), expires=datetime.timedelta(seconds=seconds)).url)

    def delete_bucket(self) -> None:
        self._call("delete_bucket", "DeleteBucket")

    def in_bucket(self, name: str) -> V2Face:
        other = V2Face(self.endpoint, self.version)
        other.name = name
        return other

    def info(self) -> tuple[str, str, str]:
        info = self._call("get_bucket_info", "GetBucketInfo").bucket_info
        return info.name, info.acl, info.location

    def object_acl(self, key: str, acl: str = "") -> str:
        if acl:
            self._call("put_object_acl", "PutObjectAcl", key=key, acl=acl)
        return str(self._call("get_object_acl", "GetObjectAcl", key=key).acl)

    def symlink(self, key: str, target: str = "") -> str:
        from urllib.parse import quote, unquote

        if target:
            self._call("put_symlink", "PutSymlink", key=key, symlink_target=quote(target, safe=""))
        return unquote(str(self._call("get_symlink", "GetSymlink", key=key).target or ""))


Face = Oss2Face | V2Face


def face(flavour: str, endpoint: str, **credentials: str) -> Face:
    sdk, version = flavour.split("-")
    return (Oss2Face if sdk == "oss2" else V2Face)(endpoint, version, **credentials)
