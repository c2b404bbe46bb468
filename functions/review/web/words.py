"""What the page says, in English and in Chinese, and which of them a browser wants. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from types import MappingProxyType

__all__ = ["LANGUAGES", "Words", "choose"]

LANGUAGES = ("en", "zh")
_TAGS = {"en": "en", "zh": "zh-Hans"}
_ZONES = {"en": (0, "UTC"), "zh": (8, "北京时间")}

_TEXTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "review": ("Review", "审核"),
        "skip": ("Skip to the decision", "跳到审核决定"),
        "task": ("Task", "任务"),
        "round": ("Round {}", "第 {} 轮"),
        "until": ("Decide before {}", "请在 {} 前决定"),
        "left_days": ("{} days left", "还剩 {} 天"),
        "left_hours": ("{} hours left", "还剩 {} 小时"),
        "left_minutes": ("{} minutes left", "还剩 {} 分钟"),
        "left_none": ("time is up", "时间已到"),
        "draft": ("Draft", "草稿"),
        "draft_changes": ("Changes since round {} are marked", "已标出与第 {} 轮的差异"),
        "draft_same": ("Nothing has changed since round {}", "与第 {} 轮相同"),
        "document": ("Document", "原文"),
        "whole_text": ("Whole text", "查看全文"),
        "cut": ("Only the beginning is shown.", "此处只显示开头部分。"),
        "unreadable": ("The text cannot be shown: {}", "无法显示内容：{}"),
        "added": ("added", "新增"),
        "removed": ("removed", "删除"),
        "history": ("History", "历史"),
        "decision": ("Your decision", "您的决定"),
        "comment": ("Comment", "意见"),
        "comment_hint": ("needed to ask for more", "要求补充时必填"),
        "name": ("Your name", "您的姓名"),
        "approve": ("Approve", "通过"),
        "reject": ("Reject", "驳回"),
        "more_info": ("Ask for more", "要求补充"),
        "hand": ("Hand to someone else", "转交他人"),
        "hand_to": ("Name of the new reviewer", "新审核人的姓名"),
        "hand_do": ("Hand over", "转交"),
        "needed": ("{} of {} approvals", "已通过 {} / {}"),
        "as": ("You are reviewing as {}", "您的审核身份：{}"),
        "reviewer": ("reviewer", "审核人"),
        "reviewer_n": ("reviewer {}", "审核人 {}"),
        "state_pending_review": ("Waiting for review", "待审核"),
        "state_approved": ("Approved", "已通过"),
        "state_rejected": ("Rejected", "已驳回"),
        "state_more_info": ("More information wanted", "已要求补充"),
        "state_expired": ("Expired", "已过期"),
        "state_withdrawn": ("Withdrawn", "已撤回"),
        "decided_by": ("{} by {}, {}", "{}：{}，{}"),
        "you_voted": ("You have approved. {} more to come.", "您已通过，还差 {} 人。"),
        "delivery_due": ("Recorded. The flow will be told within minutes.", "决定已记录，几分钟内通知流程。"),
        "delivery_done": ("The flow has been told.", "流程已收到。"),
        "delivery_refused": ("Recorded, but the flow had moved on: {}", "决定已记录，但流程已不再等待：{}"),
        "later_round": ("Round {} has begun; this page is about round {}.", "第 {} 轮已开始；本页是第 {} 轮。"),
        "read_only": ("This link is for reading only.", "此链接仅供查看。"),
        "handed": (
            "This review was handed to {}; this link is for reading only now.",
            "此审核已转交给{}；本链接现在仅供查看。",
        ),
        "somebody": ("somebody else", "他人"),
        "error_conflict": (
            "Not counted: {} – “{}”, {}. The first decision stands.",
            "未计入：{0} 已于 {2} 决定“{1}”。以第一个决定为准。",
        ),
        "error_over": ("Not counted: the review is over ({}).", "未计入：审核已结束（{}）。"),
        "error_comment": ("Say in the comment what is missing.", "请在意见中说明需要补充什么。"),
        "error_long": ("The comment is too long: at most {} characters.", "意见过长：最多 {} 个字符。"),
        "error_name": ("That name cannot be used.", "此姓名无法使用。"),
        "error_second": (
            "You have approved already; somebody else has to approve too.",
            "您已通过；还需另一位审核人通过。",
        ),
        "error_form": ("The form had been open for too long. Please decide again.", "页面打开时间过长，请重新提交。"),
        "error_site": ("The form was sent from another site and does not count.", "表单来自其他网站，未计入。"),
        "error_busy": ("The record cannot be reached just now. Please try again.", "暂时无法访问记录，请稍后重试。"),
        "error_choice": ("Choose one of the three decisions.", "请选择三个决定之一。"),
        "gone_title": ("This link does not open anything", "此链接无效"),
        "gone_forged": (
            "It may have been cut off or changed on its way. Open it again from your message, or ask for a new one.",
            "链接可能在传递中被截断或改动。请从收到的消息中重新打开，或索取新链接。",
        ),
        "gone_expired_title": ("The time for this review is over", "审核时间已过"),
        "gone_expired": (
            "The link ended on {}. Nothing was decided with it now.",
            "链接已于 {} 失效，本次未作任何决定。",
        ),
        "gone_unknown": ("There is no such review any more.", "没有这个审核。"),
        "gone_slow_title": ("Too many requests", "请求过多"),
        "gone_slow": ("Please wait {} seconds and try again.", "请等待 {} 秒后重试。"),
        "gone_trouble_title": ("Something went wrong here", "服务出现问题"),
        "gone_trouble": ("Nothing was decided. Please try again in a moment.", "未作任何决定，请稍后重试。"),
        "gone_method": ("This page does not take such a request.", "本页不接受此类请求。"),
        "other_language": ("中文", "English"),
        "footer": ("Looking decides nothing; only a button does.", "查看不会作出任何决定，按下按钮才会。"),
        "event_opened": ("Round opened", "本轮开始"),
        "event_asked_again": ("Asked again", "再次请求"),
        "event_viewed": ("Viewed", "已查看"),
        "event_voted": ("Vote", "投票"),
        "event_decided": ("Decision", "决定"),
        "event_reassigned": ("Handed over", "转交"),
        "event_reminder": ("Reminded", "已提醒"),
        "event_escalated": ("Escalated", "已升级"),
        "event_report_done": ("Flow told", "已通知流程"),
        "event_report_due": ("Flow not reached yet", "流程暂未通知到"),
        "event_report_refused": ("Flow had moved on", "流程已不再等待"),
        "event_expired": ("Expired", "已过期"),
        "event_withdrawn": ("Withdrawn", "已撤回"),
        "step": ("Step {}", "步骤 {}"),
    }
)


class Words:
    """The texts of one language; `words("round", 2)` fills one in."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.tag = _TAGS[language]
        self.other = LANGUAGES[1 - LANGUAGES.index(language)]
        self._index = LANGUAGES.index(language)

    def __call__(self, name: str, *values: object) -> str:
        """The text `name` with `values` in it; a name that is none stands for itself."""
        pair = _TEXTS.get(name)
        return name if pair is None else pair[self._index].format(*values)

    def moment(self, at_ms: int) -> str:
        """A time (ms since 1970) as people write it, with its zone."""
        hours, zone = _ZONES[self.language]
        at = datetime.fromtimestamp(at_ms / 1000, tz=timezone(timedelta(hours=hours)))
        if self.language == "zh":
            return f"{at.year}年{at.month}月{at.day}日 {at:%H:%M}（{zone}）"
        return f"{at.day} {at:%b} {at.year}, {at:%H:%M} {zone}"

    def left(self, until_ms: int, now_ms: int) -> str:
        """How much time is left."""
        minutes = (until_ms - now_ms) // 60_000
        if minutes <= 0:
            return self("left_none")
        if minutes >= 2 * 1440:
            return self("left_days", minutes // 1440)
        return self("left_hours", minutes // 60) if minutes >= 120 else self("left_minutes", minutes)


def choose(asked: str, accept: str) -> Words:
    """The words for `?lang=` (`asked`), else for an Accept-Language header; English when neither says."""
    if asked in LANGUAGES:
        return Words(asked)
    best, weight = "en", 0.0
    for part in accept[:500].split(","):
        tag, _, quality = part.strip().partition(";")
        primary = tag.strip().lower().split("-")[0]
        worth = _quality(quality)
        if primary in LANGUAGES and worth > weight:
            best, weight = primary, worth
    return Words(best)


def _quality(text: str) -> float:
    name, _, value = text.strip().partition("=")
    try:
        return float(value) if name == "q" else 1.0
    except ValueError:
        return 0.0
