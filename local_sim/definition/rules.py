"""The registry of the checker's rules: every code once. `examples.py` has a broken and a mended flow for each.

SK0xx text and YAML, SK1xx fields, SK2xx transitions, SK3xx expressions, SK4xx errors and retries, SK5xx tasks and maps,
SK6xx the older dialect. A code never changes its meaning.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

SeverityName: TypeAlias = Literal["error", "warning", "note"]


class Rule(NamedTuple):
    """One rule: its stable `code`, its name, how bad it is, one sentence, and the id of the assumption it leans on."""

    code: str
    slug: str
    severity: SeverityName
    summary: str
    assumption: str = ""


_E: SeverityName = "error"
_W: SeverityName = "warning"
_N: SeverityName = "note"

_TABLE = (
    Rule("SK001", "unreadable-text", _E, "The text is not UTF-8 or holds a control character."),
    Rule("SK002", "too-large", _E, "The definition is larger than a request may be (1,024 KiB)."),
    Rule("SK003", "yaml-syntax", _E, "The text is not YAML."),
    Rule("SK004", "tab-indentation", _E, "A tab indents a line; YAML wants blanks."),
    Rule("SK005", "missing-blank", _E, "A blank is missing after a field's colon, so YAML sees one text."),
    Rule("SK006", "duplicate-key", _E, "A key is given twice in one map, directly or through a merge.", "A27"),
    Rule("SK007", "too-deep", _E, "Maps and lists are nested deeper than the limit.", "A42"),
    Rule("SK008", "alias-expansion", _E, "An alias is unknown, contains itself, or expands to too many values.", "A53"),
    Rule("SK009", "unknown-tag", _E, "A YAML tag that is not of the core schema."),
    Rule("SK010", "several-documents", _E, "More than one YAML document in a text."),
    Rule("SK011", "empty-document", _E, "There is no definition in the text."),
    Rule("SK012", "yaml-versions-differ", _N, "YAML 1.1 and 1.2 read this value differently.", "A26"),
    Rule("SK013", "merge-key", _N, "The merge key << is no part of YAML 1.2.", "A49"),
    Rule("SK014", "not-json", _E, "A value that JSON cannot hold."),
    Rule("SK015", "json-syntax", _E, "The text starts like JSON and is not JSON."),
    Rule("SK016", "slash-comment", _E, "// starts no comment in YAML; it became part of the value."),
    Rule("SK017", "bad-key", _E, "A key that is no text."),
    Rule("SK101", "unknown-field", _E, "A field nobody knows."),
    Rule("SK102", "missing-field", _E, "A required field is not there."),
    Rule("SK103", "wrong-type", _E, "A value of the wrong type.", "A22"),
    Rule("SK104", "unknown-state-type", _E, "A state type that does not exist."),
    Rule("SK105", "out-of-range", _E, "A number or a list outside its documented limits."),
    Rule("SK106", "other-dialect", _E, "The text is written in another flow language."),
    Rule("SK107", "field-not-for-type", _E, "A field that exists, but not on this type of state."),
    Rule("SK108", "wrong-value", _E, "A text that is none of the allowed values."),
    Rule("SK109", "concurrency-twice", _E, "Both spellings of the Map's concurrency are given and differ.", "A21"),
    Rule(
        "SK110", "concurrency-spelling", _N, "MaxConcurrency is not the spelling of the documentation's table.", "A21"
    ),
    Rule("SK111", "missing-header", _W, "SpecVersion or Name is left out."),
    Rule("SK112", "fail-without-detail", _W, "Fail without Detail, which the documentation's table requires."),
    Rule("SK113", "fail-without-code", _N, "Fail without Code: the error's name is not documented.", "A50"),
    Rule("SK114", "constant-too-large", _W, "A constant is larger than a state's input or output may be (64 KiB)."),
    Rule("SK115", "inline-item-constructor", _N, "ItemConstructor is documented for the distributed Map only.", "A51"),
    Rule("SK116", "expression-on-field", _N, "'.$' is documented for Timeout and Seconds only.", "A39"),
    Rule("SK201", "unknown-target", _E, "A transition to a state that does not exist."),
    Rule("SK202", "target-in-other-scope", _E, "A transition to a state of another scope."),
    Rule("SK203", "unreachable-state", _W, "A state that no path from the start leads to."),
    Rule("SK204", "endless-loop", _W, "A loop that no path leaves."),
    Rule("SK205", "duplicate-state", _E, "Two states of one scope have the same name.", "A27"),
    Rule("SK206", "no-transition", _E, "A state with neither Next nor End.", "A01"),
    Rule("SK207", "next-and-end", _E, "A state with both Next and End.", "A01"),
    Rule("SK208", "name-in-two-scopes", _N, "Two states of different scopes have the same name.", "A52"),
    Rule("SK209", "unbounded-loop", _N, "A loop without a visible limit can exceed the 5,000 events.", "A35"),
    Rule("SK301", "expression-syntax", _E, "An expression or condition that cannot be parsed."),
    Rule("SK302", "unknown-path", _E, "A root or a $Context path that does not exist."),
    Rule("SK303", "unknown-function", _E, "A built-in function that is not documented."),
    Rule("SK304", "wrong-arity", _E, "A function with too few or too many arguments."),
    Rule("SK305", "root-not-allowed", _E, "$Output or $Item where it cannot be read."),
    Rule("SK306", "expression-too-deep", _E, "An expression nested deeper than the limit.", "A42"),
    Rule("SK307", "not-an-expression", _E, "A '.$' key whose value is no expression."),
    Rule("SK308", "expression-without-suffix", _W, "A text that looks like an expression under a key without '.$'."),
    Rule("SK309", "no-error-here", _W, "$Context.Current.Error where no error is being handled."),
    Rule("SK310", "no-token-here", _W, "$Context.Current.TaskToken outside a callback mode."),
    Rule("SK311", "types-never-equal", _W, "A comparison of two constants or results of different types.", "A09"),
    Rule("SK312", "mixed-logic", _N, "&& and || mixed without parentheses: precedence is not documented.", "A10"),
    Rule("SK313", "function-in-condition", _N, "A built-in function in a Condition.", "A11"),
    Rule("SK314", "condition-not-boolean", _W, "A Condition that can never be true or false.", "A09"),
    Rule("SK315", "undocumented-literal", _N, "A constant written in a way the page does not list.", "A45"),
    Rule("SK316", "undocumented-path", _N, "A path with quoted or hyphenated keys.", "A43"),
    Rule("SK317", "undocumented-bounds", _N, "randomInt's bounds or length of text beyond ASCII.", "A38"),
    Rule("SK318", "constant-expression", _N, "An expression that is a bare constant.", "A44"),
    Rule("SK319", "bad-argument", _W, "A constant argument the function cannot take.", "A08"),
    Rule("SK320", "placeholder", _W, "${...} is not replaced by anything."),
    Rule("SK401", "catch-all-first", _W, "FnF.ALL before a specific rule hides that rule."),
    Rule("SK402", "rule-never-used", _W, "An error name that an earlier rule takes already."),
    Rule("SK403", "unknown-error-name", _W, "An error name with the prefix FnF. or FC. that is not known."),
    Rule("SK404", "nothing-raises-it", _W, "A rule for an error that nothing in its reach raises."),
    Rule("SK405", "error-not-handled", _W, "An error a function declares and no rule takes."),
    Rule("SK406", "size-error-by-name", _N, "The names of the size errors are not documented.", "A24"),
    Rule("SK407", "retry-of-callback-timeout", _N, "Each retry of a callback task hands out a fresh token.", "A16"),
    Rule(
        "SK408", "catch-without-output", _N, "What the target gets without OutputConstructor is not documented.", "A07"
    ),
    Rule("SK409", "retry-exceeds-events", _W, "A retry rule that alone can exceed the 5,000 events.", "A35"),
    Rule("SK410", "reserved-error-name", _W, "An own error with a reserved or impossible name."),
    Rule("SK411", "fail-in-branch", _N, "Whether a Fail inside a branch can be caught is not documented.", "A13"),
    Rule("SK501", "callback-without-token", _N, "A callback task that does not hand its token out.", "A28"),
    Rule(
        "SK502", "callback-without-timeout", _N, "A callback task that waits for ever when the report is lost.", "A28"
    ),
    Rule("SK503", "unknown-deployed-function", _W, "A function that s.yaml does not deploy."),
    Rule("SK504", "bad-arn", _W, "A resource name that is none of the documented forms."),
    Rule("SK505", "mode-not-supported", _W, "A TaskMode or invocationType the service does not offer."),
    Rule("SK506", "missing-parameter", _W, "A parameter the action needs."),
    Rule("SK507", "unknown-parameter", _W, "A parameter the action does not know."),
    Rule("SK508", "unknown-action", _W, "An action that is misspelt."),
    Rule("SK509", "result-key", _N, "A key of a result that is not documented.", "A02"),
    Rule("SK510", "parsed-detail", _N, "The content of $Context.Current.Error.Detail is not documented.", "A06"),
    Rule("SK511", "items-not-objects", _N, "Items that are not objects.", "A19"),
    Rule("SK512", "async-result", _N, "The result of an asynchronous call is not documented.", "A23"),
    Rule(
        "SK513",
        "map-sub-fields",
        _N,
        "The sub-fields of ItemReader, ItemBatcher and ResultWriter are not documented.",
        "B40",
    ),
    Rule("SK514", "map-io-field", _W, "An ItemReader or ResultWriter that only a registered callable could carry out."),
    Rule("SK601", "older-dialect", _N, "A point of the older dialect (type: flow) that no page settles.", "B01"),
)

RULES: dict[str, Rule] = {rule.code: rule for rule in _TABLE}
"""Every rule by its code."""
