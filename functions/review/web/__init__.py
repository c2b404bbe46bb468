"""The review page: an HTTP request in FC's envelope in, an HTTP response in FC's form out. No framework, no script."""

from functions.review.web.app import Pages, respond

__all__ = ["Pages", "respond"]
