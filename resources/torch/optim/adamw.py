"""AdamW."""

from .adam import AdamW  # noqa: F401
