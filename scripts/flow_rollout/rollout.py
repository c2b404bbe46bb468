"""Planning and doing: from a flow's file to a version that an alias points at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from scripts.cloud import CloudSettings, FlowAlias, Flows, Functions, NotThere, Route
from scripts.cloud.deployment import role_arn
from scripts.flow_rollout.arns import fill, functions_in
from scripts.flow_rollout.model import FlowPlan, routes_of
from scripts.flow_rollout.stranding import stranded, waiting_tasks

__all__ = ["Deployer", "Qualifiers"]

Qualifiers = Literal["version", "alias", "latest"]


@dataclass(frozen=True)
class Deployer:
    """Deploys flows. `qualifiers` says what ARNs name: the newest version of a function, its alias, or LATEST."""

    settings: CloudSettings
    flows: Flows
    functions: Functions
    qualifiers: Qualifiers = "version"

    def plan(self, file: Path, canary: int | None = None) -> FlowPlan:
        """What `apply` would do for a flow's file. Raises `NotThere` for a function that is not deployed."""
        text = file.read_text(encoding="utf-8-sig")
        document = yaml.safe_load(text)
        name = str(document["Name"])
        arns = self._arns(text)
        account = next(iter(arns.values()), "::::").split(":")[3]
        definition = fill(text, arns.__getitem__, self.settings.region, account)
        present = self.flows.find(name)
        version, published = self._newest(name)
        alias = self.flows.alias(name, self.settings.alias)
        same = published == definition
        target = version if same else str(int(version or 0) + 1)
        return FlowPlan(
            name=name,
            description=str(document.get("Description", "")),
            definition=definition,
            present=present.definition if present else "",
            present_role=present.role if present else "",
            version=version,
            published=published,
            alias=alias,
            wanted=routes_of(alias, target, canary),
            role=self._role(account),
            functions=arns,
            stranded=tuple(stranded(waiting_tasks(self.flows, name), definition)) if present and not same else (),
        )

    def apply(self, plan: FlowPlan, canary: int | None = None) -> FlowAlias:
        """Do what the plan says, and nothing that is done already; returns the alias as it is then.

        Cut off after any request it can be planned and applied again.
        """
        if not plan.present:
            self.flows.create(plan.name, plan.definition, plan.description, plan.role)
        elif plan.to_write:
            self.flows.update(plan.name, plan.definition, plan.description, plan.role)
        version = plan.version
        if plan.to_publish:
            note = f"workflow {plan.workflow or '-'}, sha256 {plan.digest}"
            version = self.flows.publish(plan.name, note)
        routes = routes_of(plan.alias, version, canary)
        if plan.alias is None or plan.alias.routes != routes:
            self.flows.put_alias(plan.name, self.settings.alias, routes, f"workflow {plan.workflow or '-'}")
        return FlowAlias(self.settings.alias, routes)

    def roll_back(self, name: str) -> tuple[FlowAlias, FlowAlias]:
        """Take a canary back; without one point the alias at the version before. Returns it before and after."""
        before = self.flows.alias(name, self.settings.alias)
        if before is None or not before.routes:
            raise NotThere(f"alias {self.settings.alias} of flow {name}", "deploy it first")
        main = max(before.routes, key=lambda route: route.weight).version
        if len(before.routes) > 1:
            target = min((route.version for route in before.routes), key=int)
        else:
            older = [one.number for one in self.flows.versions(name) if int(one.number) < int(main)]
            if not older:
                raise NotThere(f"a version of flow {name} before {main}", "there is nothing to go back to")
            target = older[0]
        after = FlowAlias(self.settings.alias, (Route(target, 100),))
        self.flows.put_alias(name, self.settings.alias, after.routes, f"rolled back from {main}")
        return before, after

    def _newest(self, name: str) -> tuple[str, str]:
        versions = self.flows.versions(name)
        if not versions:
            return "", ""
        found = self.flows.find(name, versions[0].number)
        return versions[0].number, found.definition if found else ""

    def _arns(self, text: str) -> Mapping[str, str]:
        return {name: self._arn(name) for name in functions_in(text)}

    def _arn(self, name: str) -> str:
        state = self.functions.find(name)
        if state is None:
            raise NotThere(f"function {name}", "deploy it first: s deploy, or python -m scripts.deploy_functions")
        base = state.arn.split(f"functions/{name}")[0] + f"functions/{name}"
        if self.qualifiers == "latest":
            return f"{base}/LATEST"
        if self.qualifiers == "alias":
            return f"{base}/{self.settings.alias}"
        versions = self.functions.versions(name)
        if not versions:
            raise NotThere(f"a published version of function {name}", "run python -m scripts.publish first")
        return f"{base}/{versions[0].number}"

    def _role(self, account: str) -> str:
        settings = self.settings if self.settings.account else self.settings.model_copy(update={"account": account})
        return role_arn(settings.flow_role, settings)
