"""Makes what a project needs before its first run."""


def bucket():
    from client import bucket

    bucket().create_bucket()
    bucket().put_object("in/o-1", b"a page")


def rows():
    from rows import make_table

    make_table()


def ledger():
    from ledger import provision

    provision()
