"""The ten faults of issue 3: each found, with line, column and the mend."""

from __future__ import annotations

import pytest
from definition_kit import check, one

HEADER = "Type: StateMachine\nSpecVersion: v1\nName: demo\n"

FAULTS: dict[str, tuple[str, str, int, int, str]] = {
    "target missing": (
        HEADER + "StartAt: a\nStates:\n  - Type: Pass\n    Name: a\n    Next: shp\n  - {Type: Succeed, Name: ship}\n",
        "SK201", 8, 11, "did you mean ship?",
    ),
    "unreachable state": (
        HEADER + "StartAt: a\nStates:\n  - {Type: Succeed, Name: a}\n  - {Type: Succeed, Name: lost}\n",
        "SK203", 7, 27, "lead a Next to it, or remove it; the flow starts at 'a'",
    ),
    "loop without end": (
        HEADER + "StartAt: a\nStates:\n  - {Type: Pass, Name: a, Next: b}\n  - {Type: Pass, Name: b, Next: a}\n",
        "SK204", 6, 24, "add a Choice that leaves it, or End: true",
    ),
    "wrong type in Retry": (
        HEADER + "StartAt: a\nStates:\n  - Type: Task\n    Name: a\n    Action: X:Y\n"
        '    Retry:\n      - Errors: [FnF.ALL]\n        MaxAttempts: "3"\n        IntervalSeconds: 1\n    End: true\n',
        "SK103", 11, 22, "write digits without quotes",
    ),
    "catch-all before a specific rule": (
        HEADER + "StartAt: a\nStates:\n  - Type: Task\n    Name: a\n    Action: X:Y\n"
        "    Catch:\n      - {Errors: [FnF.ALL], Next: z}\n      - {Errors: [Mine], Next: z}\n"
        "    Next: z\n  - {Type: Succeed, Name: z}\n",
        "SK401", 10, 19, "move the rule with FnF.ALL to the end",
    ),
    "misspelt field": (
        HEADER + "StartAt: a\nStates:\n  - Type: Pass\n    Name: a\n    OutputConstructr: {x: 1}\n    End: true\n",
        "SK101", 8, 5, "did you mean OutputConstructor?",
    ),
    "broken path": (
        HEADER + "StartAt: a\nStates:\n  - Type: Pass\n    Name: a\n    OutputConstructor:\n"
        "      x.$: $Input..y\n    End: true\n",
        "SK301", 9, 18, 'wildcards and filters do not exist; write ["key"] for other keys',
    ),
    "name twice": (
        HEADER + "StartAt: a\nStates:\n  - {Type: Pass, Name: a, End: true}\n  - {Type: Succeed, Name: a}\n",
        "SK205", 7, 27, "rename one of the two",
    ),
    "syntax error": (
        HEADER + "StartAt: a\nStates:\n  - {Type: Succeed, Name: a\n  - {Type: Succeed, Name: b}\n",
        "SK003", 7, 5, "check the indentation of this line and the one before, and that brackets and quotes are closed",
    ),
    "no start": (
        HEADER + "States:\n  - {Type: Succeed, Name: a}\n",
        "SK102", 1, 1, "add 'StartAt:' with one of a",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_found_with_its_place_and_its_mend(fault: str) -> None:
    text, code, line, column, fix = FAULTS[fault]
    finding = one(check(text), code)
    assert (finding.position.line, finding.position.column) == (line, column)
    assert finding.fix == fix
    assert finding.place == f"flow.yaml:{line}:{column}"
