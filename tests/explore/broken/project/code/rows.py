"""What is kept in a table, one row a thing, without any ledger."""

import functools
import json
import os
import uuid

import tablestore
from client import Busy, Refused, given, post
from keys import DONE
from tablestore import Condition, Row, RowExistenceExpectation

TABLE = "things"


@functools.lru_cache(maxsize=1)
def table():
    return tablestore.OTSClient(
        os.environ["TABLESTORE_ENDPOINT"],
        os.environ["ALIBABA_CLOUD_ACCESS_KEY_ID"],
        os.environ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"],
        os.environ["TABLESTORE_INSTANCE"],
        socket_timeout=5,
        enable_native=False,
    )


def make_table():
    table().create_table(
        tablestore.TableMeta(TABLE, [("id", "STRING")]),
        tablestore.TableOptions(),
        tablestore.ReservedThroughput(tablestore.CapacityUnit(0, 0)),
    )


def read(name):
    """The columns of a row; {} when there is none."""
    try:
        row = table().get_row(TABLE, [("id", name)], max_version=1)[1]
    except (tablestore.OTSServiceError, tablestore.OTSClientError) as error:
        raise Busy(str(error)) from error
    return {} if row is None else {column[0]: column[1] for column in row.attribute_columns}


def write(name, columns, expected=RowExistenceExpectation.IGNORE):
    """Put a row; False when the condition does not hold."""
    try:
        table().put_row(TABLE, Row([("id", name)], list(columns.items())), Condition(expected))
    except (tablestore.OTSServiceError, tablestore.OTSClientError) as error:
        if getattr(error, "code", "") == "OTSConditionCheckFail":
            return False
        raise Busy(str(error)) from error
    return True


def change(name, columns):
    """Change columns of a row."""
    row = Row([("id", name)], {"PUT": list(columns.items())})
    try:
        table().update_row(TABLE, row, Condition(RowExistenceExpectation.IGNORE))
    except (tablestore.OTSServiceError, tablestore.OTSClientError) as error:
        raise Busy(str(error)) from error


NEW = RowExistenceExpectation.EXPECT_NOT_EXIST


def unconditional(event, context):
    order = given(event)["order"]
    number = uuid.uuid4().hex
    write(f"result/{order}", {"number": number})  # <- here
    return json.dumps({"number": number})


def reads_then_writes(event, context):
    order = given(event)["order"]
    number = read(f"result/{order}").get("number")
    if number is None:
        number = uuid.uuid4().hex
        write(f"result/{order}", {"number": number})  # <- here
    return json.dumps({"number": number})


def first_one_counts(event, context):
    order = given(event)["order"]
    number = uuid.uuid4().hex
    if not write(f"result/{order}", {"number": number}, NEW):
        number = read(f"result/{order}")["number"]
    return json.dumps({"number": number})


def counts_each_try(event, context):
    sold = read("sold").get("count", 0)  # <- here
    write("sold", {"count": sold + 1})  # <- here
    return DONE


def counts_each_order(event, context):
    write(f"sold/{given(event)['order']}", {"count": 1}, NEW)
    return DONE


def joins_the_list(event, context):
    asked = given(event)
    name = f"parts/{asked['order']}"
    parts = json.loads(read(name).get("parts", "[]"))
    write(name, {"parts": json.dumps(sorted({*parts, asked["part"]}))})  # <- here
    return DONE


def has_a_column(event, context):
    asked = given(event)
    change(f"parts/{asked['order']}", {asked["part"]: True})
    return DONE


def notes_it_afterwards(event, context):
    order = given(event)
    post("do/pay", order["order"], f"pay-{order['order']}", order["amount"])  # <- here
    write(f"todo/{order['order']}", {"undo": "pay"}, NEW)
    return DONE


def notes_it_before(event, context):
    order = given(event)
    if not write(f"todo/{order['order']}", {"undo": "pay"}, NEW) and read(f"todo/{order['order']}")["undo"] == "none":
        raise Refused("given up")
    post("do/pay", order["order"], f"pay-{order['order']}", order["amount"])
    return DONE


def undoes_what_is_noted(event, context):
    order = given(event)["order"]
    if not write(f"todo/{order}", {"undo": "none"}, NEW) and read(f"todo/{order}")["undo"] == "pay":
        post("undo/pay", order, f"unpay-{order}")
    return DONE


def result_before_effect(event, context):
    order = given(event)
    if write(f"paid/{order['order']}", {"paid": True}, NEW):  # <- here
        post("do/pay", order["order"], f"pay-{order['order']}", order["amount"])  # <- here
    return DONE


def effect_before_result(event, context):
    order = given(event)
    if not read(f"paid/{order['order']}"):
        post("do/pay", order["order"], f"pay-{order['order']}", order["amount"])
        write(f"paid/{order['order']}", {"paid": True})
    return DONE


def looks_in_the_table_first(event, context):
    order = given(event)
    if not read(f"paid/{order['order']}"):
        post("do/pay", order["order"], amount=order["amount"])  # <- here
        write(f"paid/{order['order']}", {"paid": True})
    return DONE
