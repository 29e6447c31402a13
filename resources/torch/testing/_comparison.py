"""assert_close: two results are equal within a tolerance."""

import cmath

import torch

_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5),
               "float64": (1e-7, 1e-7), "complex32": (1e-3, 1e-5), "complex64": (1.3e-6, 1e-5),
               "complex128": (1e-7, 1e-7)}


def default_tolerances(*inputs):
    """Relative and absolute tolerance that a dtype gets; the widest of several."""
    names = [str(i.dtype if isinstance(i, torch.Tensor) else i).rpartition(".")[2] for i in inputs]
    pairs = [_TOLERANCES.get(n, (0.0, 0.0)) for n in names]
    return max(p[0] for p in pairs), max(p[1] for p in pairs)


def _tolerances(a, b, rtol, atol):
    if (rtol is None) != (atol is None):
        raise ValueError(
            f"rtol and atol must both be specified or both be unspecified, but got rtol={rtol} and atol={atol}"
        )
    return default_tolerances(a, b) if rtol is None else (rtol, atol)


class _Checks:
    """The options of one comparison."""

    def __init__(self, rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride, allow_subclasses):
        self.rtol, self.atol, self.equal_nan = rtol, atol, equal_nan
        self.device, self.dtype, self.layout, self.stride = check_device, check_dtype, check_layout, check_stride
        self.subclasses = allow_subclasses


def _fail(text, place, msg, kind=AssertionError):
    if place:
        text += f"\n\nThe failure occurred for item {''.join(f'[{p!r}]' for p in place)}"
    if msg is not None:
        text = msg(text) if callable(msg) else msg
    raise kind(text)


def _mismatch_text(a, b, wrong, rtol, atol):
    """How many elements differ, and the largest differences."""
    diff = (a - b).abs()
    diff = torch.where(wrong, diff, torch.zeros_like(diff))
    relative = diff / b.abs()
    relative = torch.where(wrong, relative, torch.zeros_like(relative))
    count, total = int(wrong.sum().item()), wrong.numel()

    def worst(t):
        flat = t.reshape(-1)
        i = int(flat.argmax().item())
        place = []
        for size in reversed(t.shape):
            place.insert(0, i % size)
            i //= size
        return flat.max().item(), tuple(place)

    if rtol == 0 and atol == 0:
        head = "Tensor-likes are not equal!"
        allowed = ("", "")
    else:
        head = "Tensor-likes are not close!"
        allowed = (f" (up to {atol} allowed)", f" (up to {rtol} allowed)")
    first, second = worst(diff), worst(relative)
    return (f"{head}\n\nMismatched elements: {count} / {total} ({count / total:.1%})\n"
            f"Greatest absolute difference: {first[0]} at index {first[1]}{allowed[0]}\n"
            f"Greatest relative difference: {second[0]} at index {second[1]}{allowed[1]}")


def _common(a, b):
    kind = torch.promote_types(a.dtype, b.dtype) if a.dtype != b.dtype else a.dtype
    if not (kind.is_floating_point or kind.is_complex):
        kind = torch.int64
    elif kind.itemsize < 4:
        kind = torch.float32
    return a.detach().to("cpu").to(kind), b.detach().to("cpu").to(kind)


def _compare_tensors(a, b, checks, place, msg):
    if a.shape != b.shape:
        _fail(f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}.", place, msg)
    pairs = [("layout", checks.layout, a.layout, b.layout), ("device", checks.device, a.device, b.device),
             ("dtype", checks.dtype, a.dtype, b.dtype)]
    if checks.stride:
        pairs.append(("stride()", True, a.stride(), b.stride()))
    for name, wanted, x, y in pairs:
        if wanted and x != y:
            _fail(f"The values for attribute '{name}' do not match: {x} != {y}.", place, msg)
    rtol, atol = _tolerances(a, b, checks.rtol, checks.atol)
    a, b = _common(a, b)
    close = torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=checks.equal_nan)
    if bool(close.all()):
        return
    if a.numel() == 1 and a.dim() == 0:
        _compare_numbers(a.item(), b.item(), rtol, atol, checks.equal_nan, place, msg)
        return
    _fail(_mismatch_text(a, b, torch.logical_not(close), rtol, atol), place, msg)


def _close(a, b, rtol, atol, equal_nan):
    if a == b:
        return True
    if equal_nan and cmath.isnan(a) and cmath.isnan(b):
        return True
    diff = abs(a - b)
    return cmath.isfinite(diff) and diff <= atol + rtol * abs(b)


def _compare_numbers(a, b, rtol, atol, equal_nan, place, msg):
    if _close(a, b, rtol, atol, equal_nan):
        return
    exact = rtol == 0 and atol == 0
    text = f"Scalars are not {'equal' if exact else 'close'}!\n\nExpected {b} but got {a}.\n"
    diff = abs(a - b)
    relative = diff / abs(b) if b != 0 else float("inf")
    up = ("", "") if exact else (f" (up to {atol} allowed)", f" (up to {rtol} allowed)")
    text += f"Absolute difference: {diff}{up[0]}\nRelative difference: {relative}{up[1]}"
    _fail(text, place, msg)


_NUMBER_KINDS = {int: "int64", float: "float64", complex: "complex128", bool: "bool"}


def _compare(actual, expected, checks, place, msg):
    if actual is None or expected is None:
        if actual is not expected:
            _fail(f"None mismatch: {actual} is not {expected}", place, msg)
        return
    if isinstance(actual, dict) and isinstance(expected, dict):
        _compare_dicts(actual, expected, checks, place, msg)
        return
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            _fail(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", place, msg)
        for i, (x, y) in enumerate(zip(actual, expected)):
            _compare(x, y, checks, (*place, i), msg)
        return
    if isinstance(actual, torch.Tensor) and isinstance(expected, torch.Tensor):
        if not checks.subclasses and type(actual) is not type(expected):
            _fail(f"Except for scalars, type equality is required if allow_subclasses=False, but got {type(actual)} and "
                  f"{type(expected)} instead.", place, msg, TypeError)
        _compare_tensors(actual, expected, checks, place, msg)
        return
    if type(actual) in _NUMBER_KINDS and type(expected) in _NUMBER_KINDS:
        _compare_plain(actual, expected, checks, place, msg)
        return
    if isinstance(actual, torch.Tensor) or isinstance(expected, torch.Tensor):
        tensors = [t if isinstance(t, torch.Tensor) else torch.tensor(t) for t in (actual, expected)]
        _compare_tensors(*tensors, checks, place, msg)
        return
    _fail(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.", place, msg,
          TypeError)


def _compare_plain(actual, expected, checks, place, msg):
    if bool in (type(actual), type(expected)):
        if actual is not expected:
            _fail(f"Booleans mismatch: {actual} is not {expected}", place, msg)
        return
    if checks.dtype and type(actual) is not type(expected):
        _fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.", place, msg)
    kinds = [getattr(torch, _NUMBER_KINDS[type(v)]) for v in (actual, expected)]
    rtol, atol = _tolerances(*kinds, checks.rtol, checks.atol)
    _compare_numbers(actual, expected, rtol, atol, checks.equal_nan, place, msg)


def _compare_dicts(actual, expected, checks, place, msg):
    if actual.keys() != expected.keys():
        missing, extra = set(expected) - set(actual), set(actual) - set(expected)
        _fail("The keys of the mappings do not match:\n"
              f"Missing keys in the actual mapping: {sorted(missing)}\n"
              f"Additional keys in the actual mapping: {sorted(extra)}", place, msg)
    for key in sorted(actual, key=str):
        _compare(actual[key], expected[key], checks, (*place, key), msg)


def _is_sequence(x):
    return isinstance(x, (list, tuple)) and not isinstance(x, str)


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, msg=None):
    """Raise AssertionError where actual and expected are not close."""
    checks = _Checks(rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride, allow_subclasses)
    _compare(actual, expected, checks, (), msg)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The old name of assert_close, without checks of dtype and device."""
    as_tensor = [t if isinstance(t, torch.Tensor) else torch.tensor(t) for t in (actual, expected)]
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(*as_tensor)
    assert_close(*as_tensor, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False,
                 check_stride=False, msg=msg or None)
