"""[tool.local-sim.explore]: what it means, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from local_sim.explore import Answer, BadPlan
from local_sim.explore.model import EffectRule
from local_sim.explore.settings import read_explore_settings

WHOLE = """
[tool.local-sim]
invariants = ["shop.rules"]
[tool.local-sim.explore]
lease = 30
prepare = "shop.testing:fill"
versions = { V = "2" }
[tool.local-sim.explore.answers]
buy = { Review = ["yes", { decision = "no" }] }
[tool.local-sim.explore.ends.buy]
Later = "open"
[tool.local-sim.explore.effects.bank]
"POST /payments" = { name = "pay", identity = ["order"] }
"POST /refunds" = { name = "refund", undoes = "pay", repeatable = true }
"POST /letters" = "letter"
"""


def read(folder: Path, text: str) -> object:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return read_explore_settings(folder)


def test_a_project_without_settings_has_the_defaults(tmp_path: Path) -> None:
    found = read_explore_settings(tmp_path)
    assert found.lease == 60
    assert found.invariants == ()
    assert dict(found.versions) == {}


def test_everything_is_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(WHOLE, encoding="utf-8")
    found = read_explore_settings(tmp_path)
    assert found.invariants == ("shop.rules",)
    assert found.lease == 30
    assert found.prepare == "shop.testing:fill"
    assert found.answers["buy"] == (Answer("Review", "yes"), Answer("Review", {"decision": "no"}))
    assert found.ends == {"buy": {"Later": "open"}}
    assert found.effects["bank"]["POST /payments"] == EffectRule("pay", ("order",))
    assert found.effects["bank"]["POST /refunds"] == EffectRule("refund", undoes="pay", repeatable=True)
    assert found.effects["bank"]["POST /letters"] == EffectRule("letter")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.local-sim]\ninvariants = 'x'", "list of module names"),
        ("[tool.local-sim.explore]\nleese = 3", "has no setting 'leese'"),
        ("[tool.local-sim.explore]\nlease = 0", "seconds above 0"),
        ("[tool.local-sim.explore]\nlease = true", "seconds above 0"),
        ("[tool.local-sim.explore]\nversions = { A = 1 }", "must be text"),
        ("[tool.local-sim.explore]\nprepare = 'x'", "module:function"),
        ("[tool.local-sim.explore]\nanswers = { f = { S = 'yes' } }", "list of answers"),
        ("[tool.local-sim.explore]\nends = { f = { S = 'fine' } }", "one of done, undone, open"),
        ("[tool.local-sim.explore]\neffects = { s = { 'POST /' = { nam = 'x' } } }", "a table of"),
        ("[tool.local-sim.explore]\neffects = { s = { 'POST /' = { name = 'x', identity = 'o' } } }", "list of texts"),
        ("[tool.local-sim.explore]\neffects = { s = { 'POST /' = { name = 'x', ignore = 1 } } }", "true or false"),
        ("[tool.local-sim.explore]\neffects = { s = 'x' }", "must be a table"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadPlan, match=r"tool\.local-sim") as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
