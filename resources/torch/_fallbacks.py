"""Functions of torch that are made of others; each is used only where the bound one is missing."""

import builtins
import itertools

import torch


def adjoint(input):
    """The conjugate transpose of matrices."""
    return input.transpose(-2, -1).conj() if input.is_complex() else input.transpose(-2, -1)


def moveaxis(input, source, destination):
    """See movedim."""
    return torch.movedim(input, source, destination)


def row_stack(tensors, *, out=None):
    """See vstack."""
    return torch.vstack(tensors, out=out) if out is not None else torch.vstack(tensors)


def broadcast_tensors(tensors):
    """Tensors expanded to their common shape."""
    shape = torch.broadcast_shapes(*(t.shape for t in tensors))
    return tuple(t.expand(shape) for t in tensors)


def _splits(name, dim_of):
    def fn(input, indices_or_sections):
        return torch.tensor_split(input, indices_or_sections, dim_of(input))

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = "Parts along one dimension."
    return fn


hsplit = _splits("hsplit", lambda t: 0 if t.dim() == 1 else 1)
vsplit = _splits("vsplit", lambda t: 0)
dsplit = _splits("dsplit", lambda t: 2)


def unsafe_chunk(input, chunks, dim=0):
    """See chunk."""
    return torch.chunk(input, chunks, dim)


def isreal(input):
    """Where the imaginary part is zero."""
    if not input.is_complex():
        return torch.ones_like(input, dtype=torch.bool)
    return input.imag == 0


def range(start=0, end=None, step=1, **options):  # noqa: A001
    """arange with the end included."""
    start, end = (0, start) if end is None else (start, end)
    options.setdefault("dtype", torch.get_default_dtype())
    return torch.arange(start, end + step * 0.5, step, **options)


def combinations(input, r=2, with_replacement=False):
    """Tuples of r elements of a vector."""
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(pick([*builtin_range(input.numel())], r))
    if not rows:
        return input.new_empty(0, r) if r else input.new_empty(0)
    return input[torch.tensor(rows, dtype=torch.int64, device=input.device)]


def builtin_range(n):
    """The builtin range, whose name is taken here."""
    return builtins.range(n)


def kaiser_window(window_length, periodic=True, beta=12.0, **options):
    """The Kaiser window."""
    if window_length <= 1:
        return torch.ones(window_length, **options)
    count = window_length + 1 if periodic else window_length
    x = torch.arange(count, **options)
    ratio = 2 * x / (count - 1) - 1
    made = torch.i0(beta * torch.sqrt(1 - ratio * ratio)) / torch.i0(torch.tensor(beta, dtype=x.dtype))
    return made[:-1] if periodic else made


def norm_except_dim(v, pow=2, dim=0):
    """The norms of slices along dim, with the other dimensions kept as 1."""
    if dim == -1:
        return v.norm(pow)
    others = [d for d in builtin_range(v.dim()) if d != dim]
    return torch.linalg.vector_norm(v, pow, others, keepdim=True)


def _weight_norm(v, g, dim=0):
    """v times g over the norms of v."""
    return v * (g / torch.norm_except_dim(v, 2, dim))


def get_device(input):
    """The number of the GPU; -1 for the CPU."""
    return input.device.index or 0 if input.device.type == "cuda" else -1


def is_inference(input):
    """Whether a tensor was made in inference mode."""
    return input._is_inference


def is_neg(input):
    """Whether negation waits: never here."""
    return False


def is_distributed(input):
    """Always False."""
    return False


def is_nonzero(input):
    """Whether the one element is not zero."""
    if input.numel() != 1:
        raise RuntimeError(
            "Boolean value of Tensor with no values is ambiguous" if input.numel() == 0
            else "Boolean value of Tensor with more than one value is ambiguous"
        )
    return bool(input.item())


def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Differences of neighbours as derivatives."""
    dims = list(builtin_range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    steps = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    return tuple(_derivative(input, d, h, edge_order) for d, h in zip(dims, steps))


def _derivative(t, dim, h, edge_order):
    n = t.size(dim)
    x = h if isinstance(h, torch.Tensor) else torch.arange(n, dtype=t.dtype) * h
    shape = [1] * t.dim()
    shape[dim] = -1
    steps = (x[1:] - x[:-1]).to(t.dtype)
    left, right = steps[:-1].reshape(shape), steps[1:].reshape(shape)
    a, b, c = t.narrow(dim, 0, n - 2), t.narrow(dim, 1, n - 2), t.narrow(dim, 2, n - 2)
    inner = (-right / (left * (left + right))) * a + ((right - left) / (left * right)) * b
    inner = inner + (left / (right * (left + right))) * c
    slope = t.diff(dim=dim) / steps.reshape(shape)
    first, last = slope.narrow(dim, 0, 1), slope.narrow(dim, n - 2, 1)
    if edge_order == 2:
        second = slope.narrow(dim, 1, 1), slope.narrow(dim, n - 3, 1)
        first = first + (first - second[0]) * (steps[0] / (steps[0] + steps[1]))
        last = last + (last - second[1]) * (steps[-1] / (steps[-1] + steps[-2]))
    return torch.cat([first, inner, last], dim)


def max_pool1d_with_indices(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    """Maxima over windows, and where they were."""
    one = [v[0] if isinstance(v, (tuple, list)) and v else v for v in (kernel_size, stride, padding, dilation)]
    size, step, pad, dil = one
    step = size if step in ((), [], None) else step
    out, where = torch._C._nn.max_pool2d_with_indices(input.unsqueeze(-2), [1, size], [1, step], [0, pad], [1, dil],
                                                      ceil_mode)
    return out.squeeze(-2), where.squeeze(-2)


def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):
    """Sums (0), means (1) or maxima (2) over bags of rows; then the bag of each index, bag sizes and maxima's rows."""
    count = offsets.numel() - (1 if include_last_offset else 0)
    starts = offsets[:count]
    place = torch.arange(indices.numel(), device=indices.device)
    bags = (place.unsqueeze(1) >= starts.unsqueeze(0)).sum(1) - 1
    keep = torch.ones_like(indices, dtype=torch.bool)
    if padding_idx is not None and padding_idx >= 0:
        keep = indices != padding_idx
    used, at = indices[keep], bags[keep]
    rows = torch.nn.functional.embedding(used, weight)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[keep].unsqueeze(1)
    sizes = torch.zeros_like(starts).index_add_(0, at, torch.ones_like(at).to(starts.dtype))
    zeros = torch.zeros(count, weight.size(1), dtype=rows.dtype, device=weight.device)
    if mode == 2:
        index = at.unsqueeze(1).expand_as(rows)
        out = zeros.scatter_reduce(0, index, rows, "amax", include_self=False)
    else:
        out = zeros.index_add(0, at, rows)
        if mode == 1:
            out = out / sizes.clamp(min=1).unsqueeze(1).to(out.dtype)
    return out, bags, sizes, sizes


def _inplace(name):
    """An in-place form out of the function that gives a new tensor."""
    plain = name[:-1]

    def fn(input, *args, **kwargs):
        return input.copy_(getattr(torch, plain)(input, *args, **kwargs))

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"{plain} in place."
    return fn


_INPLACE = ("arccos_", "arccosh_", "arcsin_", "arcsinh_", "arctan_", "arctanh_", "clip_", "conj_physical_", "fix_",
            "negative_", "selu_", "alpha_dropout_", "feature_dropout_", "feature_alpha_dropout_", "rrelu_",
            "absolute_", "divide_", "multiply_", "subtract_", "arctan2_", "float_power_", "greater_",
            "greater_equal_", "less_", "less_equal_", "not_equal_", "polygamma_")
for _name in _INPLACE:
    globals()[_name] = _inplace(_name)


def where(self, condition, other):
    """self where condition holds, else other (method)."""
    return torch.where(condition, self, other)


def polygamma(self, n):
    """Derivatives of digamma (method)."""
    return torch.polygamma(n, self)


def sum_to_size(self, *size):
    """The sum down to a size that broadcasts to this one (method)."""
    size = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    made = self
    while made.dim() > len(size):
        made = made.sum(0)
    for d, s in enumerate(size):
        if s == 1 and made.size(d) != 1:
            made = made.sum(d, keepdim=True)
    return made


def new(self, *args, **kwargs):
    """A tensor of the same dtype (method)."""
    if args and isinstance(args[0], (list, tuple)) and not isinstance(args[0], torch.Size):
        return torch.tensor(args[0], dtype=self.dtype, device=self.device)
    return torch.empty(*args, dtype=self.dtype, device=self.device)


def numpy(self, *, force=False):
    """Not available (method)."""
    raise RuntimeError("Numpy is not available")


def apply_(self, callable):
    """Every element replaced by what callable makes of it (method)."""
    flat = [callable(v) for v in self.reshape(-1).tolist()]
    return self.copy_(torch.tensor(flat, dtype=self.dtype).reshape(self.shape))


def map_(self, other, callable):
    """Every element replaced by what callable makes of it and the other's (method)."""
    wide = other.expand_as(self)
    flat = [callable(a, b) for a, b in zip(self.reshape(-1).tolist(), wide.reshape(-1).tolist())]
    return self.copy_(torch.tensor(flat, dtype=self.dtype).reshape(self.shape))


def pin_memory(self, device=None):
    """The tensor (method)."""
    return self


def is_set_to(self, tensor):
    """Whether two tensors are one part of one storage (method)."""
    return (self.data_ptr() == tensor.data_ptr() and self.shape == tensor.shape and self.stride() == tensor.stride())


def lu(self, pivot=True, get_infos=False):
    """See torch.lu (method)."""
    return torch.lu(self, pivot, get_infos)


def to_dense(self, dtype=None, *, masked_grad=True):
    """The tensor: all are dense (method)."""
    return self if dtype is None else self.to(dtype)


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A tensor of the bytes of a buffer. Its memory is its own."""
    data = bytes(memoryview(buffer))[offset:]
    size = dtype.itemsize
    if count < 0 and len(data) % size:
        raise ValueError(f"buffer length ({len(data)} bytes) after offset ({offset} bytes) must be a multiple of element size "
                         f"({size})")
    count = len(data) // size if count < 0 else count
    made = torch.tensor(list(data[:count * size]), dtype=torch.uint8).view(dtype)
    return made.requires_grad_(requires_grad)


def chalf(self, memory_format=None):
    """As complex32 (method)."""
    return self.to(torch.complex32)


def untyped_storage(self):
    """What holds the elements (method)."""
    from torch.storage import UntypedStorage

    return UntypedStorage._of(self)


def storage(self):
    """What holds the elements, with their dtype (method)."""
    from torch.storage import TypedStorage

    return TypedStorage._of(self)


def record_stream(self, stream):
    """Nothing to wait for (method)."""


_METHODS = ("adjoint", "moveaxis", "hsplit", "vsplit", "dsplit", "unsafe_chunk", "isreal", "get_device", "is_inference",
            "is_neg", "is_distributed", "is_nonzero", "where", "polygamma", "sum_to_size", "new", "numpy", "apply_",
            "map_", "chalf", "untyped_storage", "storage", "record_stream", "pin_memory", "is_set_to", "lu", "to_dense", *_INPLACE)
_FUNCTIONS = ("adjoint", "frombuffer", "moveaxis", "row_stack", "hsplit", "vsplit", "dsplit", "unsafe_chunk", "isreal", "range",
              "combinations", "kaiser_window", "norm_except_dim", "_weight_norm", "get_device", "is_inference", "is_neg",
              "is_distributed", "is_nonzero", "gradient", "max_pool1d_with_indices", "embedding_bag",
              *_INPLACE[: _INPLACE.index("absolute_")])


def install(namespace, tensor_type):
    """Give torch and Tensor what they do not have."""
    for name in _FUNCTIONS:
        namespace.setdefault(name, globals()[name])
    for name in _METHODS:
        if not hasattr(tensor_type, name):
            setattr(tensor_type, name, globals()[name])

