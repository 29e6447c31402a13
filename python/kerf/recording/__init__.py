"""Records a real run: what the compiler did, and the values of nodes in compiled and eager code."""
from .recorder import record

__all__ = ["record"]
