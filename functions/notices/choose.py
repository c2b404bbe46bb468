"""Which sender the settings ask for, and how its effect is declared."""

from __future__ import annotations

from pathlib import Path

from functions.notices.base import Sender
from functions.settings import Settings
from ledger import EffectKind

__all__ = ["kind_of_sender", "sender"]


def sender(settings: Settings) -> Sender:
    """The sender named by STEPKEEPER_NOTICE_SENDER."""
    if settings.notice_sender == "outbox":
        from functions.notices.outbox import Outbox

        return Outbox(Path(settings.outbox))
    from functions.notices.webhooks import DingTalk, Feishu, PlainJson, WeCom

    made: dict[str, type[PlainJson | DingTalk | WeCom | Feishu]] = {
        "json": PlainJson,
        "dingtalk": DingTalk,
        "wecom": WeCom,
        "feishu": Feishu,
    }
    return made[settings.notice_sender](settings)


def kind_of_sender(settings: Settings) -> EffectKind:
    """How the chosen sender's effect is made exactly-once; the step that sends declares the same."""
    return sender(settings).kind
