"""The numbers of the ways to reduce a loss."""

import warnings

_CODES = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def get_enum(reduction):
    """The number that the C functions take for a reduction."""
    if reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2)
    if reduction not in _CODES:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _CODES[reduction]


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The reduction that the old flags size_average and reduce mean."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    made = "none" if not reduce else "mean" if size_average else "sum"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{made}' instead.", stacklevel=2
        )
    return made


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """The number of what the old flags mean."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
