"""See the package."""

from uuid import uuid4


def random_uuid():
    """A request's name."""
    return uuid4().hex
