"""The entry points of all functions: FC wants `file.function` with the file at the root of the ZIP (assumption K02).

This file is copied to the root of the code package (scripts/build.py). Nothing else happens here; a handler imports
what is dear (SDKs, parsers) when it is first called.
"""

from functions.handlers.accept_order import handler as accept_order
from functions.handlers.charge import handler as charge
from functions.handlers.check_existing_result import handler as check_existing_result
from functions.handlers.compensate import handler as compensate
from functions.handlers.create_shipment import handler as create_shipment
from functions.handlers.generate_draft import handler as generate_draft
from functions.handlers.hand_over import handler as hand_over
from functions.handlers.notify import handler as notify
from functions.handlers.prepare_material import handler as prepare_material
from functions.handlers.record_decision import handler as record_decision
from functions.handlers.request_correction import handler as request_correction
from functions.handlers.request_review import handler as request_review
from functions.handlers.reserve_stock import handler as reserve_stock
from functions.handlers.review_page import handler as review_page
from functions.handlers.review_sweep import handler as review_sweep
from functions.handlers.save_result import handler as save_result
from functions.handlers.validate_input import handler as validate_input

__all__ = [
    "accept_order",
    "charge",
    "check_existing_result",
    "compensate",
    "create_shipment",
    "generate_draft",
    "hand_over",
    "notify",
    "prepare_material",
    "record_decision",
    "request_correction",
    "request_review",
    "reserve_stock",
    "review_page",
    "review_sweep",
    "save_result",
    "validate_input",
]
