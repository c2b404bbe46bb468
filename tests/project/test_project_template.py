"""s.yaml to functions, and the message for every fault in it (cases C47 to C50)."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import make_project, write_project

from local_sim.project import ProjectNotFound, TemplateError, UnknownFunction, find_project, load_project
from local_sim.project.errors import ProjectError

GOOD = """\
edition: 3.0.0
name: shop
vars:
  region: cn-shanghai
template:
  base:
    region: ${vars.region}
    runtime: python3.12
    code: ./code
    environmentVariables:
      SHARED: one
      BOTH: base
resources:
  pay:
    component: fc3
    extend: {name: base}
    props:
      functionName: shop-pay
      handler: main.pay
      timeout: 20
      memorySize: 256
      environmentVariables:
        BOTH: own
        OTHER: "${resources.pay.props.functionName}-x"
      instanceLifecycleConfig:
        initializer: {handler: main.start, timeout: 9}
      asyncInvokeConfig: {maxAsyncRetryAttempts: 1}
  table:
    component: ./deploy/table
    props: {anything: goes}
"""


def write(folder: Path, text: str) -> Path:
    (folder / "s.yaml").write_text(text, encoding="utf-8")
    return folder


def fault(folder: Path, text: str) -> TemplateError:
    with pytest.raises(TemplateError) as caught:
        load_project(write(folder, text))
    return caught.value


def test_functions_are_read_with_the_template_they_extend(tmp_path: Path) -> None:
    project = load_project(write(tmp_path, GOOD))
    assert list(project.functions) == ["shop-pay"]
    pay = project.function("shop-pay")
    assert (pay.handler, pay.runtime, pay.region, pay.timeout, pay.memory) == (
        "main.pay",
        "python3.12",
        "cn-shanghai",
        20,
        256,
    )
    assert pay.environment == {"SHARED": "one", "BOTH": "own", "OTHER": "shop-pay-x"}
    assert pay.code == tmp_path / "code"
    assert (pay.initializer, pay.initializer_timeout, pay.max_async_retries) == ("main.start", 9, 1)


def test_defaults_are_those_of_the_component(tmp_path: Path) -> None:
    only = make_project(tmp_path, functions=["f"]).function("f")
    assert (only.timeout, only.memory, only.max_async_retries, only.initializer) == (3, 512, 3, None)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("edition: 3.0.0", "edition: 1.0.0", 1, "edition must be 3.0.0"),
        ("        BOTH: own", "        BOTH: own\n        BOTH: again", 24, "'BOTH' is given twice; first in line 23"),
        ("    component: fc3\n", "", 15, "'pay' lacks its component"),
        ("    component: fc3\n", '    component: ""\n', 15, "component of resource 'pay' must be text"),
        ("    component: fc3\n", "    component: [a]\n", 15, "component of resource 'pay' must be text"),
        (
            "      timeout: 20",
            "      Timeout: 20",
            20,
            "unknown key 'Timeout' in props of resource 'pay'; did you mean",
        ),
        ("      timeout: 20", "      timeout: soon", 20, "timeout of resource 'pay' must be a number, not a text"),
        ("      timeout: 20", "      timeout: 0", 20, "timeout must be a whole number from 1 to 86400, not 0"),
        ("      timeout: 20", "      layers: text", 20, "layers of resource 'pay' must be a list, not a text"),
        ("        BOTH: own", "        BOTH: 5", 23, "'BOTH' of resource 'pay' must be text, not a number; quote it"),
        ("        BOTH: own", "        FC_X: own", 23, "the prefix FC_ is reserved"),
        ("functionName: shop-pay", "functionName: 9pay", 18, "letters, digits, _ and - only"),
        ("python3.12", "python3.11", 8, "'python3.11' does not exist"),
        ("      handler: main.pay\n", "", 18, "lack handler"),
        ("{name: base}", "{name: bse}", 16, "extend must name an entry"),
        ("resources:\n", "resources: []\nrest:\n", 13, "resources must be a map"),
        ("  region: cn-shanghai", "\tregion: cn-shanghai", 4, "line 4 is indented with a tab"),
    ],
)
def test_a_fault_names_file_line_and_field(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    assert old in GOOD
    error = fault(tmp_path, GOOD.replace(old, new, 1))
    assert words in str(error)
    assert (error.place.line, Path(error.place.file).name) == (line, "s.yaml")


def test_a_function_given_twice_names_both_lines(tmp_path: Path) -> None:
    again = GOOD + GOOD.split("resources:\n")[1].split("  table:")[0].replace("  pay:", "  pay2:")
    error = fault(tmp_path, again)
    assert "'shop-pay' is given twice, first at line 18" in str(error)


def test_an_empty_template_says_so(tmp_path: Path) -> None:
    assert "the file is empty" in str(fault(tmp_path, "# nothing\n"))


def test_words_of_yaml_1_1_stay_text(tmp_path: Path) -> None:
    text = GOOD.replace("BOTH: own", "BOTH: on").replace("name: shop", "name: no")
    assert load_project(write(tmp_path, text)).function("shop-pay").environment["BOTH"] == "on"


def test_only_s_yaml_counts_as_the_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "template.yml").write_text(GOOD, encoding="utf-8")
    # Whatever lies above the test's folder is no part of it.
    monkeypatch.setattr(type(tmp_path), "parents", property(lambda _: ()))
    with pytest.raises(ProjectNotFound) as caught:
        find_project(tmp_path)
    assert caught.value.start == tmp_path
    assert "s.yaml" in str(caught.value)


BOMB = "b0: &b0 x\n" + "".join(f"b{n}: &b{n} [{', '.join([f'*b{n - 1}'] * 9)}]\n" for n in range(1, 10))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "aliases expand"),
        ("a: " + "[" * 5000, "nested"),
        ("a: " + "[" * 300 + "]" * 300, "nested deeper than 100 levels"),
        ("a: &x [*x]\n", "contains itself"),
        ("a: 1\n---\nb: 2\n", "a second document"),
        ("? [a]\n: 1\n", "cannot be a key"),
    ],
)  # fmt: skip
def test_a_template_beyond_all_measure_is_one_error(tmp_path: Path, text: str, says: str) -> None:
    assert says in str(fault(tmp_path, text))


def test_what_is_written_wins_over_what_is_merged(tmp_path: Path) -> None:
    text = GOOD.replace("environmentVariables:\n      SHARED", "environmentVariables: &shared\n      SHARED")
    merged = text.replace("        BOTH: own", "        <<: *shared\n        BOTH: own")
    assert load_project(write(tmp_path, merged)).function("shop-pay").environment["BOTH"] == "own"


def test_the_project_is_found_upwards(tmp_path: Path) -> None:
    write_project(tmp_path)
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert find_project(deep) == tmp_path


def test_settings_come_from_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.local-sim]\nflows = "f"\nsetup = "m:f"\n[tool.local-sim.environment]\nBOX = "{data}/box"\n',
        encoding="utf-8",
    )
    project = load_project(tmp_path)
    assert project.functions == {}
    assert project.flows == tmp_path / "f"
    assert (project.settings.setup, project.settings.environment) == ("m:f", {"BOX": "{data}/box"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.local-sim]\nflows = 3\n", "flows must be text"),
        ("[tool.local-sim]\nenvironment = 3\n", "environment must be a table of texts"),
        ("[tool.local-sim\n", "not TOML"),
    ],
)
def test_bad_settings_name_the_file(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ProjectError, match=words) as caught:
        load_project(tmp_path)
    assert "pyproject.toml" in str(caught.value)


def test_an_unknown_function_lists_what_there_is(tmp_path: Path) -> None:
    project = make_project(tmp_path, functions=["charge", "refund"])
    with pytest.raises(UnknownFunction) as caught:
        project.function("chrage")
    assert caught.value.known == ("charge", "refund")
    assert "did you mean 'charge'?" in str(caught.value)


def test_flows_are_found_by_name(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (project.flows / "a.yaml").write_text("", encoding="utf-8")
    assert project.find_flow("a") == project.flows / "a.yaml"
    assert project.find_flow("b") is None
