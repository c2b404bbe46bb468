"""Which errors are transient, business, uncertain or systemic, how grave they are, and what is done about them."""

from functions.classification.model import Classification, ErrorClass, Facts, Rule, Severity, facts_of
from functions.classification.table import ErrorTable, Unclassified, load_table

__all__ = [
    "Classification",
    "ErrorClass",
    "ErrorTable",
    "Facts",
    "Rule",
    "Severity",
    "Unclassified",
    "facts_of",
    "load_table",
]
