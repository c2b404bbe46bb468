"""Mappings and serviceParams to templates (legacy page, section 4)."""

from __future__ import annotations

from collections.abc import Callable

from local_sim.definition.collector import Collector
from local_sim.definition.nodes import ListNode, MapNode, Node, ScalarNode, plain_value
from local_sim.definition.readers import Reader, expression_place, report_expression
from local_sim.expression import EvaluationError, ExpressionSyntaxError, Scope, Template
from local_sim.expression.paths import Evaluator
from local_sim.expression.values import Json

from .paths import MAPPING_ROOTS, compile_path, parse_path

MAX_HEIGHT = 100
"""Levels of maps and lists in one constant (A42)."""
_ERRORS: dict[str, Callable[[Scope], Json]] = {
    "$local.error": lambda scope: scope.error_code,
    "$local.cause": lambda scope: scope.error_detail,
}
_NO_NAMES: tuple[()] = ()

Pair = tuple[str, "Evaluator | None", Json]
"""A target, and what computes it or its constant."""


def read_mappings(reader: Reader, field: str) -> Template | None:
    """Return the template of inputMappings or outputMappings, or None when the field is not there."""
    if reader.node.get(field) is None:
        return None
    return template_of(field, [pair for node in reader.maps(field, filled=False) for pair in _mapping(node, reader)])


def read_error_mappings(reader: Reader) -> Template:
    """Return what a caught error hands on: errorMappings, or nothing."""
    pairs: list[Pair] = []
    for node in reader.maps("errorMappings", filled=False):
        rule = Reader(node, f"an errorMapping of {reader.what}", reader.collector)
        rule.check_fields(("target", "source"))
        target, source = rule.text("target", required=True), rule.required("source")
        run = None
        if isinstance(source, ScalarNode) and isinstance(source.value, str) and source.value.startswith("$"):
            run = _ERRORS.get(source.value)
            if run is None:
                fix = "the sources are $local.error and $local.cause"
                reader.collector.add("SK302", source, f"{rule.what}: unknown path {source.value[:60]}", fix=fix)
        if target is not None and source is not None:
            pairs.append((target, run, None if run else constant(source, rule.what, reader.collector)))
    return template_of("errorMappings", pairs)


def template_of(name: str, pairs: list[Pair]) -> Template:
    """Return a template that builds an object from pairs; a later target of the same name wins."""
    base = {target: value for target, _, value in pairs}
    dynamic = tuple((target, run) for target, run in {pair[0]: pair[1] for pair in pairs}.items() if run is not None)
    if not dynamic:
        return Template(name, None, base, _NO_NAMES)

    def build(scope: Scope) -> Json:
        result = base.copy()
        target = ""
        try:
            for target, run in dynamic:
                result[target] = run(scope)
        except EvaluationError as error:
            error.prefix(target)
            raise
        return result

    return Template(name, build, base, _NO_NAMES)


def _mapping(node: MapNode, owner: Reader) -> list[Pair]:
    rule = Reader(node, f"a mapping of {owner.what}", owner.collector)
    rule.check_fields(("target", "source"))
    target = rule.text("target", required=True, fix="add 'target:' with the key to set")
    if "source" not in node.entries:
        rule.required("source", "add 'source:' with a path such as $input.x, or a constant")
    source = node.get("source")
    if target is None or source is None:
        return []
    run, value = source_of(source, rule.what, owner.collector)
    return [(target, run, value)]


def source_of(
    node: Node,
    what: str,
    collector: Collector,
    roots: tuple[str, ...] = MAPPING_ROOTS,
    *,
    deep: bool = False,
) -> tuple[Evaluator | None, Json]:
    """Return what computes a source, or None and its constant. `deep`: paths inside maps and lists count too (B10)."""
    if isinstance(node, ScalarNode) and isinstance(node.value, str) and node.value.startswith("$"):
        return _path(node, what, collector, roots), None
    if deep and node.height <= MAX_HEIGHT:
        if isinstance(node, MapNode):
            return _deep_map(node, what, collector, roots)
        if isinstance(node, ListNode):
            return _deep_list(node, what, collector, roots)
    return None, constant(node, what, collector)


def _path(node: ScalarNode, what: str, collector: Collector, roots: tuple[str, ...]) -> Evaluator | None:
    try:
        read = compile_path(parse_path(node.value, roots))
    except ExpressionSyntaxError as error:
        report_expression(error, node, what, collector)
        return None
    place = expression_place(node)

    def run(scope: Scope) -> Json:
        try:
            return read(scope)
        except EvaluationError as error:
            error.position = error.position or place
            raise

    return run


def _deep_map(node: MapNode, what: str, collector: Collector, roots: tuple[str, ...]) -> tuple[Evaluator | None, Json]:
    pairs = [(key, *source_of(value, what, collector, roots, deep=True)) for key, (_, value) in node.entries.items()]
    made = template_of("", pairs)
    return (None, made.constant) if made.is_constant else (made.evaluate, None)


def _deep_list(
    node: ListNode, what: str, collector: Collector, roots: tuple[str, ...]
) -> tuple[Evaluator | None, Json]:
    parts = [source_of(item, what, collector, roots, deep=True) for item in node.items]
    if all(run is None for run, _ in parts):
        return None, [value for _, value in parts]
    return (lambda scope: [value if run is None else run(scope) for run, value in parts]), None


def constant(node: Node, what: str, collector: Collector) -> Json:
    """Return a node as plain JSON; one nested too deep is a finding."""
    if node.height > MAX_HEIGHT:
        collector.add("SK007", node, f"{what} is nested deeper than {MAX_HEIGHT} levels", fix="hand it by reference")
        return None
    return plain_value(node)
