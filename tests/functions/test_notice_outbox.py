"""The outbox: one file a notice, whole or not at all."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from functions.errors import SystemFault
from functions.notices import Notice
from functions.notices.outbox import Outbox

NOTICE = Notice("result_saved", "任务-1", "已保存", ("结果: oss://b/k",), "sk-1")


def test_a_notice_becomes_a_readable_file(tmp_path: Path) -> None:
    receipt = Outbox(tmp_path / "new" / "outbox").send(NOTICE)
    (file,) = (tmp_path / "new" / "outbox").iterdir()
    assert receipt.reference == file.name
    assert json.loads(file.read_text(encoding="utf-8")) == NOTICE.as_json()
    assert "已保存" in file.read_text(encoding="utf-8")


def test_the_same_key_is_sent_once_and_the_first_one_stays(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path)
    first = outbox.send(NOTICE)
    second = outbox.send(Notice("result_saved", "任务-1", "another text", (), "sk-1"))
    assert first == second
    assert [json.loads(file.read_text(encoding="utf-8"))["title"] for file in tmp_path.iterdir()] == ["已保存"]


def test_other_keys_and_kinds_have_files_of_their_own(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path)
    for kind, key in (("result_saved", "a"), ("result_saved", "b"), ("handed_over", "a")):
        outbox.send(Notice(kind, "t", "x", (), key))  # type: ignore[arg-type]
    assert len(list(tmp_path.iterdir())) == 3


def test_eight_senders_of_one_key_leave_one_whole_file(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path)
    threads = [threading.Thread(target=outbox.send, args=(NOTICE,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (file,) = tmp_path.iterdir()
    assert json.loads(file.read_text(encoding="utf-8"))["task_id"] == "任务-1"


def test_a_folder_that_cannot_be_made_is_a_system_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SystemFault, match="outbox") as caught:
        Outbox(tmp_path / "file" / "outbox").send(NOTICE)
    assert caught.value.effect_applied is False
