"""Kerf for Python: finds where torch.compile goes wrong, and the fewest calls that show it.

    python -m kerf check program.py      what differs, from which level on, by which part of the compiler
"""
__version__ = "0.1.0"
