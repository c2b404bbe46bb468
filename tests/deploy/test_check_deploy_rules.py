"""Each rule of the deployment's check, by changing one thing of a good template."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from template_kit import GOOD, found, with_props, write

from scripts.checking import check
from scripts.template import TemplateError, plain, read_template

ROOT = Path(__file__).resolve().parents[2]


def test_a_good_template_has_no_findings(tmp_path: Path) -> None:
    assert found(tmp_path, code=True) == []


@pytest.mark.parametrize("name", ["s.yaml", "s.dev.yaml", "s.prod.yaml"])
def test_the_shipped_templates_have_no_findings(name: str) -> None:
    whole = name == "s.yaml"  # the others deploy the same code and flows
    assert check(ROOT / name, os.environ, code=whole, flows=whole) == []


@pytest.mark.parametrize(
    ("old", "new", "rule", "message"),
    [
        ("edition: 3.0.0", "edition: 2.0.0", "SD03", "edition must be 3.0.0, not '2.0.0'"),
        ("access: default", "access: ${vars.region}", "SD16", "access takes no variable"),
        ("access: default", "acess: default", "SD04", "did you mean 'access'?"),
        ("runtime: python3.12", "runtime: python3.11", "SD13", "runtime 'python3.11' is refused"),
        ("runtime: python3.12", "runtime: python3.9", "SD13", "needs Python 3.10"),
        ("memorySize: 512", "memorySize: 500", "SD08", "must be a multiple of 64"),
        ("memorySize: 512", "memorySize: 64", "SD08", "must be from 128 to 32768"),
        ("cpu: 0.5", "cpu: 0.51", "SD08", "must be a multiple of 0.05"),
        ("cpu: 0.5", "cpu: 1", "SD09", "1:0.50; from 1:1 to 1:4 is allowed, that is cpu 0.15 to 0.5"),
        ("    cpu: 0.5\n", "", "SD09", "gives memorySize without cpu"),
        ("timeout: 10", "timeout: 86401", "SD08", "must be from 1 to 86400"),
        ("timeout: 10", "timeout: 1.5", "SD08", "must be a whole number"),
        ("demo-one", "1demo", "SD08", "not starting with a digit"),
        ("demo-one", "d" * 65, "SD08", "1 to 64 characters"),
        ("GREETING: hello", "FC_REGION: x", "SD11", "the prefix FC_ is reserved"),
        ("GREETING: hello", "2ND: x", "SD11", "a letter first"),
        ("GREETING: hello", "GREETING: " + "é" * 2045, "SD11", "has 4098 bytes; 4096 are allowed"),
        ("GREETING: hello", "API_KEY: abc", "SD22", "looks like a secret"),
        ("${vars.region}", "${vars.regio}", "SD16", "${vars.regio}: not found in the template"),
        ("${vars.region}", "${env('X','cn-${vars.region}')}", "SD16", "a ${...} inside a ${...}"),
        ("${vars.region}", "${env('NOWHERE')}", "SD16", "NOWHERE is not set"),
        ("${vars.region}", "${nothing('x')}", "SD16", "unknown function nothing()"),
        ("region: cn-hangzhou", "region: ${vars.region}", "SD16", "refers to itself"),
        ("      name: function", "      name: functoin", "SD16", "extend names no entry"),
        ("region: cn-hangzhou", "region: Hangzhou 1", "SD08", "a region's id"),
        ("./code", "./cod", "SD14", "has it been built?"),
    ],
)
def test_one_wrong_thing_is_one_finding(old: str, new: str, rule: str, message: str, tmp_path: Path) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    findings = [finding for finding in found(tmp_path, text, code=rule == "SD14") if finding.rule == rule]
    assert len(findings) == 1
    assert message in findings[0].message


@pytest.mark.parametrize(
    ("props", "rule", "message"),
    [
        ("diskSize: 1024", "SD08", "must be 512 or 10240"),
        ("instanceConcurrency: 0", "SD08", "must be from 1 to 200"),
        ("logConfig: yes-please", "SD08", "cannot be 'yes-please'"),
        ("logConfig: {project: p}", "SD06", "lacks logstore"),
        ("asyncInvokeConfig: {maxAsyncRetryAttempts: 9}", "SD08", "must be from 0 to 8"),
        ("asyncInvokeConfig: {maxAsyncEventAgeInSeconds: 700000}", "SD08", "must be from 1 to 604800"),
        ("provisionConfig: {}\nscalingConfig: {}", "SD06", "exclude each other"),
        ("instanceLifecycleConfig: {initializer: {handler: a.b, command: [x]}}", "SD06", "exclude each other"),
        ("code: {ossBucketName: b}", "SD06", "lacks ossObjectName"),
        ("triggers: [{triggerName: t, triggerType: tmer, triggerConfig: {}}]", "SD08", "did you mean 'timer'?"),
        ("triggers: [{triggerName: t, triggerType: timer, triggerConfig: {}}]", "SD15", "lacks cronExpression"),
        (
            "triggers: [{triggerName: t, triggerType: timer, triggerConfig: {cronExpression: '0 0 * * *'}}]",
            "SD15",
            "six fields",
        ),
        (
            "triggers: [{triggerName: t, triggerType: http, triggerConfig: {authType: anonymus, methods: [GET]}}]",
            "SD15",
            "did you mean 'anonymous'?",
        ),
        (
            "triggers: [{triggerName: t, triggerType: http, triggerConfig: {authType: function, methods: [LOOK]}}]",
            "SD15",
            "'LOOK' is no HTTP method",
        ),
    ],
)
def test_props_are_held_to_their_shape(props: str, rule: str, message: str, tmp_path: Path) -> None:
    (finding,) = found(tmp_path, with_props(props))
    assert finding.rule == rule
    assert message in finding.message


@pytest.mark.parametrize(
    "props",
    [
        "triggers: [{triggerName: t, triggerType: timer, triggerConfig: {cronExpression: '@every 5m', enable: true}}]",
        "triggers: [{triggerName: t, triggerType: timer, triggerConfig: {cronExpression: CRON_TZ=UTC 0 0 4 * * *}}]",
        "triggers: [{triggerName: t, triggerType: http, triggerConfig: {authType: anonymous, methods: [GET, POST]}}]",
        "asyncInvokeConfig: {maxAsyncRetryAttempts: 0, maxAsyncEventAgeInSeconds: 604800}",
        "logConfig: auto",
        "vpcConfig: auto",
        "role: ${config('AccountID')}",
    ],
)
def test_allowed_props_pass(props: str, tmp_path: Path) -> None:
    assert found(tmp_path, with_props(props)) == []


def test_a_secret_that_comes_from_the_environment_stands_in_no_file(tmp_path: Path) -> None:
    text = with_props("environmentVariables: {API_KEY: \"${env('KEY','')}\"}")
    assert found(tmp_path, text, env={"KEY": "k" * 20}) == []


def test_two_resources_of_one_function_name_are_an_error(tmp_path: Path) -> None:
    second = GOOD[GOOD.index("  one:") :].replace("one:", "two:")
    (finding,) = found(tmp_path, GOOD + second)
    assert finding.rule == "SD10"
    assert "first at line 22" in finding.message


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ("post-deploy: [{run: ls, path: ./}]", "runs after a failure too"),
        ("sucess-deploy: [{run: ls, path: ./}]", "did you mean 'success-'?"),
        ("pre-deploy: [{run: ls, path: ./nowhere}]", "there is no folder ./nowhere"),
        ("pre-deploy: [{run: ./nowhere}]", "./nowhere, which is not there"),
        ("pre-deploy: [{component: fc3 version publish}]", "belongs to a resource"),
        ("pre-deploy: [{path: ./}]", "one of run, component, plugin"),
        ("pre-deploy: {run: ls}", "must be a list"),
    ],
)
def test_hooks_are_checked(actions: str, message: str, tmp_path: Path) -> None:
    findings = found(tmp_path, GOOD + f"actions:\n  {actions}\n")
    assert [finding.rule for finding in findings] == ["SD18"]
    assert message in findings[0].message


def test_a_flow_that_skips_a_resource_is_a_warning(tmp_path: Path) -> None:
    findings = found(tmp_path, GOOD + "flow:\n  deploy: [[on]]\n")
    assert [(finding.severity, finding.message) for finding in findings] == [
        ("warning", "flow 'deploy' skips one"),
        ("error", "flow 'deploy' names no resource: 'on'; did you mean 'one'?"),
    ]


def test_a_flow_that_calls_a_function_nobody_makes_is_an_error(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "flows").mkdir()
    text = (ROOT / "flows" / "opc_minimal.yaml").read_text(encoding="utf-8")
    (tmp_path / "flows" / "opc_minimal.yaml").write_text(text, encoding="utf-8")
    messages = {finding.message for finding in check(tmp_path / "s.yaml", {}, code=False)}
    assert any("the flow calls 'stepkeeper-validate-input', which no resource makes" in one for one in messages)


def test_extend_merges_maps_deeply_and_replaces_lists(tmp_path: Path) -> None:
    write(tmp_path, with_props("layers: [a, b]\nenvironmentVariables: {STAGE: base}"))
    (tmp_path / "s.prod.yaml").write_text(
        "extend: ./s.yaml\nresources:\n  one:\n    props:\n      timeout: 99\n      layers: [c]\n", encoding="utf-8"
    )
    (one,) = read_template(tmp_path / "s.prod.yaml", {}).functions()
    props = plain(one.props)
    assert isinstance(props, dict)
    assert (props["timeout"], props["layers"]) == (99, ["c"])
    assert props["environmentVariables"] == {"GREETING": "hello", "STAGE": "base"}
    assert props["region"] == "cn-hangzhou"


def test_a_circle_of_extends_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("extend: ./s.yaml\n", encoding="utf-8")
    with pytest.raises(TemplateError, match="in a circle") as caught:
        read_template(tmp_path / "s.yaml", {})
    assert caught.value.place.line == 1


def test_what_only_a_deploy_knows_stays_as_it_is_written(tmp_path: Path) -> None:
    text = with_props("role: acs:ram::${config('AccountID')}:role/${vars.region}")
    (one,) = read_template(write(tmp_path, text), {}).functions()
    assert one.props.fields["role"].text == "acs:ram::${config('AccountID')}:role/cn-hangzhou"
    assert one.props.fields["role"].open


def test_files_and_json_are_read_relative_to_the_template(tmp_path: Path) -> None:
    (tmp_path / "size.json").write_text("384", encoding="utf-8")
    text = GOOD.replace("memorySize: 512", "memorySize: ${json(file('./size.json'))}")
    assert found(tmp_path, text.replace("cpu: 0.5", "cpu: 0.3")) == []
    (tmp_path / "size.json").write_text("385", encoding="utf-8")
    (finding,) = found(tmp_path, text.replace("cpu: 0.5", "cpu: 0.3"))
    assert "multiple of 64, not 385" in finding.message
