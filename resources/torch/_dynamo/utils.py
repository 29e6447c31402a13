"""Counts of what was compiled."""

from collections import Counter, defaultdict

import torch

counters = defaultdict(Counter)
compilation_time_metrics = {}
guard_failures = defaultdict(list)
graph_break_reasons = []


def clear_compilation_metrics():
    """Forget times."""
    compilation_time_metrics.clear()


def compile_times(repr="str", aggregate=False):
    """Times of compilation: none are kept."""
    return "" if repr == "str" else ([], [])


def same(a, b, tol=1e-4, equal_nan=True):
    """Whether two results are equal within a tolerance."""
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(same(x, y, tol) for x, y in zip(a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k], tol) for k in a)
    if isinstance(a, torch.Tensor):
        return a.shape == b.shape and torch.allclose(a.double() if a.is_floating_point() else a,
                                                     b.double() if b.is_floating_point() else b, rtol=tol, atol=tol,
                                                     equal_nan=equal_nan)
    return a == b


def is_compile_supported(device_type):
    """Whether a device can be compiled for."""
    return device_type == "cpu"
