"""Notices to people: an outbox folder, plain JSON webhooks, and the chat robots of DingTalk, WeCom and Feishu."""

from functions.notices.base import Notice, Receipt, Sender
from functions.notices.choose import kind_of_sender, sender

__all__ = ["Notice", "Receipt", "Sender", "kind_of_sender", "sender"]
