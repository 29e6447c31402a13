"""Tensors as text, as PyTorch prints them."""

import math

import torch


class _Options:
    precision = 4
    threshold = 1000
    edgeitems = 3
    linewidth = 80
    sci_mode = None


PRINT_OPTS = _Options()
_PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, math.inf, 3, 80)}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Say how tensors are printed."""
    names = ("precision", "threshold", "edgeitems", "linewidth")
    if profile is not None:
        for name, value in zip(names, _PROFILES[profile]):
            setattr(PRINT_OPTS, name, value)
    for name, value in zip(names, (precision, threshold, edgeitems, linewidth)):
        if value is not None:
            setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions():
    """The options of printing."""
    return {n: getattr(PRINT_OPTS, n) for n in ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")}


class _Formatter:
    """One width and notation for all numbers of a tensor."""

    def __init__(self, tensor):
        self.floating = tensor.dtype.is_floating_point
        self.int_mode = True
        self.sci_mode = False
        self.max_width = 1
        values = tensor.reshape(-1).tolist()
        if not self.floating:
            self.max_width = max([1] + [len(f"{v}") for v in values])
            return
        values = [v for v in values if math.isfinite(v) and v != 0]
        if not values:
            return
        largest, smallest = max(abs(v) for v in values), min(abs(v) for v in values)
        self.int_mode = all(v == math.ceil(v) for v in values)
        self.sci_mode = largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4
        # The width is that of the notation that the values ask for, also where another one is forced.
        dot = 1 if self.int_mode and not self.sci_mode else 0
        self.max_width = max(1, max(len(self._text(v)) + dot for v in values))
        if PRINT_OPTS.sci_mode is not None:
            self.sci_mode = PRINT_OPTS.sci_mode

    def _text(self, value):
        if self.sci_mode:
            return f"{value:.{PRINT_OPTS.precision}e}"
        if self.int_mode:
            return f"{value:.0f}"
        return f"{value:.{PRINT_OPTS.precision}f}"

    def width(self):
        """The width of every number."""
        return self.max_width

    def format(self, value):
        """A number as text of that width."""
        if not self.floating:
            return f"{value}".rjust(self.max_width)
        text = self._text(value)
        if self.int_mode and not self.sci_mode and math.isfinite(value):
            text += "."
        return text.rjust(self.max_width)


def _value_str(value, formatter, imag):
    if imag is None:
        return formatter.format(value)
    real = formatter.format(value.real)
    text = imag.format(value.imag).lstrip()
    return real + (text if text[0] in "+-" else "+" + text) + "j"


def _vector_str(tensor, indent, summarize, formatter, imag):
    width = formatter.width() + 2
    if imag is not None:
        width += imag.width() + 1
    per_line = max(1, math.floor((PRINT_OPTS.linewidth - indent) / width))
    edge = PRINT_OPTS.edgeitems
    if summarize and not edge:
        data = ["..."]
    elif summarize and tensor.size(0) > 2 * edge:
        head, tail = tensor[:edge].tolist(), tensor[-edge:].tolist()
        data = [_value_str(v, formatter, imag) for v in head] + [" ..."] + [_value_str(v, formatter, imag) for v in tail]
    else:
        data = [_value_str(v, formatter, imag) for v in tensor.tolist()]
    lines = [data[i : i + per_line] for i in range(0, len(data), per_line)]
    return "[" + ("," + "\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"


def _tensor_str_with(tensor, indent, summarize, formatter, imag=None):
    dim = tensor.dim()
    if dim == 0:
        return _value_str(tensor.item(), formatter, imag)
    if dim == 1:
        return _vector_str(tensor, indent, summarize, formatter, imag)
    edge = PRINT_OPTS.edgeitems
    if summarize and tensor.size(0) > 2 * edge:
        places = [*range(edge), None, *range(len(tensor) - edge, len(tensor))]
    else:
        places = range(tensor.size(0))
    parts = ["..." if i is None else _tensor_str_with(tensor[i], indent + 1, summarize, formatter, imag) for i in places]
    return "[" + ("," + "\n" * (dim - 1) + " " * (indent + 1)).join(parts) + "]"


def _summarized(tensor):
    """The corners of a tensor, whose numbers decide on the format."""
    edge = PRINT_OPTS.edgeitems
    if tensor.dim() == 0:
        return tensor
    if tensor.dim() == 1:
        if tensor.size(0) > 2 * edge:
            return torch.cat((tensor[:edge], tensor[-edge:])) if edge else tensor[:0]
        return tensor
    if not edge:
        return tensor.new_empty([0] * tensor.dim())
    if tensor.size(0) > 2 * edge:
        rows = [tensor[i] for i in (*range(edge), *range(len(tensor) - edge, len(tensor)))]
        return torch.stack([_summarized(x) for x in rows])
    return torch.stack([_summarized(x) for x in tensor])


def _tensor_str(tensor, indent):
    """The numbers of a tensor with their brackets."""
    if tensor.numel() == 0:
        return "[]"
    if tensor.dtype in (torch.float16, torch.bfloat16) or tensor.dtype.itemsize == 1 and tensor.dtype.is_floating_point:
        tensor = tensor.float()
    if tensor.dtype is getattr(torch, "complex32", None):
        tensor = tensor.to(torch.complex64)
    summarize = tensor.numel() > PRINT_OPTS.threshold
    shown = _summarized(tensor) if summarize else tensor
    if tensor.dtype.is_complex:
        return _tensor_str_with(tensor, indent, summarize, _Formatter(shown.real), _Formatter(shown.imag))
    return _tensor_str_with(tensor, indent, summarize, _Formatter(shown))


def _add_suffixes(text, suffixes, indent):
    """Put the suffixes behind the numbers, on new lines where the line is full."""
    parts = [text]
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        length = len(suffix)
        if last + length + 2 > PRINT_OPTS.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            last = indent + length
        else:
            parts.append(", " + suffix)
            last += length + 2
    return "".join(parts) + ")"


def _default_dtypes():
    default = torch.get_default_dtype()
    wide = torch.complex128 if default is torch.float64 else torch.complex64
    return default, wide, torch.int64, torch.bool


def _str_intern(tensor, tensor_contents=None):
    prefix = "tensor(" if type(tensor) in (torch.Tensor, torch.nn.Parameter) else f"{type(tensor).__name__}("
    indent = len(prefix)
    suffixes = []
    custom = tensor_contents is not None
    if tensor.device.type != "cpu":
        suffixes.append("device='" + str(tensor.device) + "'")
    plain = tensor.detach()
    if custom:
        text = tensor_contents
    elif tensor.is_meta:
        suffixes.append("size=" + str(tuple(tensor.shape)))
        if tensor.dtype != torch.get_default_dtype():
            suffixes.append("dtype=" + str(tensor.dtype))
        text = "..."
    else:
        if tensor.numel() == 0 and tensor.dim() != 1:
            suffixes.append("size=" + str(tuple(tensor.shape)))
        known = _default_dtypes()
        if tensor.numel() == 0:
            if tensor.dtype != torch.get_default_dtype():
                suffixes.append("dtype=" + str(tensor.dtype))
            text = "[]"
        else:
            if tensor.dtype not in known:
                suffixes.append("dtype=" + str(tensor.dtype))
            text = _tensor_str(plain, indent)
    if tensor.layout != torch.strided:
        suffixes.append("layout=" + str(tensor.layout))
    suffixes += _grad_suffix(tensor)
    return _add_suffixes(prefix + text, suffixes, indent)


def _grad_suffix(tensor):
    try:
        grad_fn = tensor.grad_fn
    except RuntimeError:
        return ["grad_fn=<Invalid>"]
    if grad_fn is not None:
        name = type(grad_fn).__name__ if type(grad_fn).__name__ != "Node" else grad_fn.name()
        return [f"grad_fn=<{name.rpartition('::')[2]}>"]
    return ["requires_grad=True"] if tensor.requires_grad else []


def _str(self, *, tensor_contents=None):
    """The text of a tensor."""
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        return _str_intern(self, tensor_contents=tensor_contents)
