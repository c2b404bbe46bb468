"""Tablestore and OSS beside the server: the same as `local_sim.cloud` starts, with secret, faults and chosen ports."""

from __future__ import annotations

from pathlib import Path

from local_sim.clock import RealClock
from local_sim.cloud import CloudError, LocalCloud
from local_sim.project import Project
from local_sim.services.faults import Faults
from local_sim.services.host import Services

KEY_ID = "local"


class DataServices(LocalCloud):
    """`environment` starts the services, as LocalCloud's does; `object` reads OSS without a request."""

    def __init__(
        self, project: Project, folder: Path, *, host: str, ports: tuple[int, int], secret: str | None, faults: Faults
    ) -> None:
        super().__init__(project, folder, tablestore_port=ports[0], oss_port=ports[1])
        self._host = host
        self._secret = secret
        self._faults = faults

    def object(self, bucket: str, key: str) -> bytes | None:
        """Return an object of OSS; None when there is none."""
        from local_sim.services.oss import ApiError, OssError

        try:
            with self._objects.open(bucket, key) as reader:
                return b"".join(reader.chunks())
        except (ApiError, OssError):
            return None

    def _start(self) -> dict[str, str]:
        from local_sim.services import oss, tablestore
        from local_sim.services.tablestore.auth import Credentials

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._objects = oss.OssStore(self.folder / "oss")
            self._stores.append(self._objects)
            tables = tablestore.TablestoreStore(self.folder / "tablestore.sqlite")
            self._stores.append(tables)
        except OSError as error:
            raise CloudError(f"the data folder {self.folder} cannot be used: {error.strerror or error}") from None
        keys = None if self._secret is None else {KEY_ID: self._secret}
        credentials = Credentials() if keys is None else Credentials(keys, strict=True)
        services = Services(host=self._host)
        table_app = tablestore.create_app(tables, credentials=credentials)
        services.add(
            "tablestore", self._faults.wrap(table_app, tablestore.fault_dialect()), port=self._ports["tablestore"]
        )
        object_app = oss.create_app(self._objects, credentials=keys, clock=RealClock())
        services.add("oss", self._faults.wrap(object_app, oss.DIALECT), port=self._ports["oss"])
        self._services = services.start()
        variables = self._variables(services["tablestore"].endpoint, services["oss"].endpoint)
        if self._secret is not None:
            variables["ALIBABA_CLOUD_ACCESS_KEY_SECRET"] = self._secret
        return variables
