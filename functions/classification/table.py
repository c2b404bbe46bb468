"""The table that classifies errors: YAML, one a function or one for all; the first rule that fits decides.

rules:
  - {type: TemporaryUpstreamError, class: transient, severity: P3, retry: true}
  - {code: insufficient_balance, business: [payout], class: business, severity: P0, notify: [finance], hand_over: true}
  - {code: insufficient_balance, class: business, severity: P2, hand_over: true}
  - {status: [401, 403], class: systemic, severity: P1, notify: [operators]}
  - {text: "余额不足|not enough", class: business, severity: P2}
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from functions.classification.model import Classification, ErrorClass, Facts, Rule, Severity
from functions.errors import SystemFault

__all__ = ["ErrorTable", "RuleModel", "TableModel", "Unclassified", "load_table"]


class Unclassified(Exception):
    """No rule of a strict table fits; `facts` is what was known. In tests every error is to have its rule."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        super().__init__(f"no rule fits {facts}")


def _listed(value: Any) -> Any:
    return value if value is None or isinstance(value, list) else [value]


_Texts = Annotated[list[str] | None, BeforeValidator(_listed)]
_Numbers = Annotated[list[int] | None, BeforeValidator(_listed)]


class RuleModel(BaseModel):
    """One line of the table. Conditions that are given must all hold; of a list one is enough."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: _Texts = None
    status: _Numbers = None
    code: _Texts = None
    text: str | None = None
    business: _Texts = None
    error_class: ErrorClass = Field(alias="class")
    severity: Severity
    retry: bool = False
    record: bool = True
    notify: list[str] = []
    hand_over: bool = False

    @model_validator(mode="after")
    def _has_a_condition(self) -> RuleModel:
        if all(one is None for one in (self.type, self.status, self.code, self.text, self.business)):
            raise ValueError("a rule needs a condition: type, status, code, text or business")
        if self.retry and self.error_class is not ErrorClass.TRANSIENT:
            raise ValueError(f"only transient errors are retried, not {self.error_class.value} ones")
        try:
            re.compile(self.text or "")
        except re.error as error:
            raise ValueError(f"text is no pattern: {error}") from None
        return self

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """The compiled text pattern."""
        return None if self.text is None else re.compile(self.text, re.IGNORECASE)

    def fits(self, facts: Facts) -> bool:
        """Say whether all conditions hold."""
        return (
            (self.type is None or any(name in facts.types for name in self.type))
            and (self.status is None or facts.status in self.status)
            and (self.code is None or facts.code in self.code)
            and (self.business is None or facts.business in self.business)
            and (self.pattern is None or self.pattern.search(facts.text) is not None)
        )


class TableModel(BaseModel):
    """A whole table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rules: list[RuleModel] = Field(min_length=1)


@dataclass(frozen=True)
class ErrorTable:
    """A loaded table. A strict one raises `Unclassified` where a lenient one says systemic, P1, hand over."""

    source: str
    model: TableModel
    strict: bool = False

    def classify(self, facts: Facts) -> Classification:
        """Return what the first fitting rule says."""
        for number, rule in enumerate(self.model.rules, 1):
            if rule.fits(facts):
                done = Rule(rule.retry, rule.record, tuple(rule.notify), rule.hand_over or rule.severity is Severity.P0)
                return Classification(rule.error_class, rule.severity, done, f"{self.source}: rule {number}")
        if self.strict:
            raise Unclassified(facts)
        return Classification(ErrorClass.SYSTEMIC, Severity.P1, Rule(notify=("operators",), hand_over=True))


def load_table(path: Path, *, strict: bool = False) -> ErrorTable:
    """Read a table. Raises `SystemFault` that names the file and the rule when it cannot be used."""
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
        return ErrorTable(path.name, TableModel.model_validate(given), strict)
    except OSError as error:
        raise SystemFault(f"{path}: {error.strerror or error}", effect_applied=False) from error
    except yaml.YAMLError as error:
        raise SystemFault(f"{path} is not YAML: {error}", effect_applied=False) from error
    except ValidationError as error:
        raise SystemFault(f"{path}: {_first(error)}", effect_applied=False) from error


def _first(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    steps = list(fault["loc"])
    where = f"rule {int(steps[1]) + 1}: " if len(steps) > 1 and steps[0] == "rules" else ""
    named = ".".join(map(str, steps[2:] if where else steps))
    return f"{where}{named + ': ' if named else ''}{fault['msg'].removeprefix('Value error, ')}"
