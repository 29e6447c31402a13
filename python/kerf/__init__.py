"""Kerf for Python: finds where torch.compile goes wrong, and the fewest calls that show it.

    python -m kerf check program.py      what differs, from which level on, by which part of the compiler
    kerf.check("program.py")             the same as a dict
    kerf.compare(fn, *args)              one function under all backends, in this process
"""
from .api import check, compare

__all__ = ["check", "compare"]
__version__ = "0.1.0"
