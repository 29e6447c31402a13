"""Functions of torch that are Python around bound ones."""

import builtins
import itertools
import operator
import warnings

import torch
from torch import _C, _fallbacks
from torch.nn._functional._common import overridable

_VF = _C._VariableFunctions


def _aten(name, overload=""):
    """An operator by its ATen name: what torch calls by this name has other arguments."""
    found = _C._get_operation_overload("aten::" + name, overload)
    return getattr(_VF, name) if found is None else found


def _list_of(tensors):
    """The arguments, or the one list among them."""
    return list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)


@overridable
def broadcast_tensors(*tensors):
    """The tensors expanded to their common shape."""
    bound = getattr(_VF, "broadcast_tensors", _fallbacks.broadcast_tensors)
    return bound(_list_of(tensors))


def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes broadcast to."""
    made = []
    wide = [(s,) if isinstance(s, (int, torch.SymInt)) else tuple(s) for s in shapes]
    for places in range(1, max((len(s) for s in wide), default=0) + 1):
        size = 1
        for s in wide:
            if len(s) < places:
                continue
            if s[-places] < 0:
                raise RuntimeError(
                    f"Trying to create tensor with negative dimension ({s[-places]}): ({s[-places]})"
                )
            if s[-places] == 1 or s[-places] == size:
                continue
            if size != 1:
                raise RuntimeError(
                    "Shape mismatch: objects cannot be broadcast to a single shape"
                    if len(wide) < 2 else "shape mismatch: objects cannot be broadcast to a single shape"
                )
            size = s[-places]
        made.append(size)
    return torch.Size(reversed(made))


@overridable
def split(tensor, split_size_or_sections, dim=0):
    """Parts of one size, or of the given sizes."""
    return tensor.split(split_size_or_sections, dim)


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _letters(subscripts):
    """Numbers of the sublist form of einsum as letters."""
    text = ""
    for s in subscripts:
        if s is Ellipsis:
            text += "..."
            continue
        try:
            text += _LETTERS[operator.index(s)]
        except (TypeError, IndexError) as error:
            raise ValueError(
                "einsum() expected subscripts to be within range [0, 52) in the sublist format"
            ) from error
    return text


@overridable
def einsum(*args):
    """Sums of products, by Einstein's notation."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, "
            "or at least one operand and its subscripts list"
        )
    if isinstance(args[0], torch.Tensor):
        equation = ",".join(_letters(s) for s in args[1::2])
        operands = list(args[::2])
        if len(args) % 2 == 1:
            equation += "->" + _letters(args[-1])
            operands = operands[:-1]
            equation = ",".join(_letters(s) for s in args[1:-1:2]) + "->" + _letters(args[-1])
    else:
        equation, operands = args[0], list(args[1:])
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    return _VF.einsum(equation, operands)


@overridable
def meshgrid(*tensors, indexing=None):
    """Grids of coordinates."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.", stacklevel=3
        )
        return _VF.meshgrid(list(tensors))
    return _VF.meshgrid(list(tensors), indexing=indexing)


@overridable
def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect",
         normalized=False, onesided=None, return_complex=None, align_to_window=None):
    """The short-time Fourier transform."""
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        dim = input.dim()
        pad = n_fft // 2
        wide = input.view([1] * (3 - dim) + list(input.size()))
        wide = torch.nn.functional.pad(wide, [pad, pad], pad_mode)
        input = wide.view(wide.shape[-dim:])
    return _aten("stft")(input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex,
                         align_to_window)


@overridable
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The values without repetition; where each went, and how often it was there, if asked."""
    if dim is not None:
        values, inverse, counts = _unique_along(input, dim)
    else:
        values, inverse, counts = torch._unique2(input, sorted=sorted, return_inverse=return_inverse,
                                                 return_counts=return_counts)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def _unique_along(input, dim):
    """Slices along dim without repetition, in the order of their elements."""
    rows = [tuple(row) for row in input.movedim(dim, 0).reshape(input.size(dim), -1).tolist()]
    first = {}
    for i, row in enumerate(rows):
        first.setdefault(row, i)
    order = builtins.sorted(first)
    place = {row: i for i, row in enumerate(order)}

    def index(values):
        return torch.tensor(values, dtype=torch.int64, device=input.device)

    values = input.index_select(dim, index([first[row] for row in order]))
    return values, index([place[row] for row in rows]), index([rows.count(row) for row in order])


@overridable
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The values without neighbours that are equal."""
    values, inverse, counts = _aten("unique_consecutive")(input, return_inverse, return_counts, dim)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def _chosen(values, inverse, counts, return_inverse, return_counts):
    made = [values] + ([inverse] if return_inverse else []) + ([counts] if return_counts else [])
    return made[0] if len(made) == 1 else tuple(made)


@overridable
def tensordot(a, b, dims=2, out=None):
    """Products summed over several dimensions."""
    if isinstance(dims, torch.Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if isinstance(dims, (tuple, list)):
        if len(dims) != 2:
            raise RuntimeError("tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]]")
        first, second = ([d] if isinstance(d, int) else list(d) for d in dims)
    else:
        dims = operator.index(dims)
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        first, second = list(range(-dims, 0)), list(range(dims))
    if out is None:
        return _aten("tensordot")(a, b, first, second)
    return out.copy_(_aten("tensordot")(a, b, first, second))


@overridable
def cartesian_prod(*tensors):
    """All tuples of elements of vectors."""
    return _VF.cartesian_prod(_list_of(tensors))


@overridable
def block_diag(*tensors):
    """A matrix with the given ones along its diagonal."""
    return _VF.block_diag(list(tensors))


_CDIST_MODES = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1,
                "donot_use_mm_for_euclid_dist": 2}


@overridable
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The distances of all pairs of rows."""
    if compute_mode not in _CDIST_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _aten("cdist")(x1, x2, p, _CDIST_MODES[compute_mode])


def _at_least(name):
    bound = getattr(_VF, name, None)

    @overridable
    def fn(*tensors):
        if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
            return bound(tensors[0])
        return tuple(bound(_list_of(tensors)))

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"Tensors with at least {name[8]} dimension(s)."
    return fn


atleast_1d, atleast_2d, atleast_3d = (_at_least(f"atleast_{n}d") for n in (1, 2, 3))


@overridable
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm, of all elements or along dimensions."""
    keywords = {} if out is None else {"out": out}
    dims = [dim] if isinstance(dim, (int, torch.SymInt)) else None if dim is None else list(dim)
    if isinstance(p, str):
        if p == "fro" and (dims is None or len(dims) <= 2):
            return torch.linalg.vector_norm(input, 2, dims, keepdim, dtype=dtype, **keywords)
        if p == "nuc":
            return torch.linalg.matrix_norm(input, "nuc", dims if dims is not None else (-2, -1), keepdim, dtype=dtype,
                                            **keywords)
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    order = 2.0 if p is None else p
    return torch.linalg.vector_norm(input, order, dims, keepdim, dtype=dtype, **keywords)


@overridable
def unravel_index(indices, shape):
    """Places in a flat tensor as coordinates."""
    if isinstance(shape, (int, torch.SymInt)):
        shape = (shape,)
    if not indices.dtype.is_floating_point and indices.dtype not in (torch.bool,) and not indices.dtype.is_complex:
        pass
    else:
        raise ValueError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if any(not isinstance(s, int) or s < 0 for s in shape):
        raise ValueError("'shape' must be a sequence of non-negative ints")
    steps = list(itertools.accumulate(reversed(tuple(shape)[1:]), operator.mul, initial=1))[::-1]
    return tuple(indices.div(step, rounding_mode="floor") % size for step, size in zip(steps, shape))


@overridable
def chain_matmul(*matrices, out=None):
    """The product of matrices."""
    matrices = _list_of(matrices)
    made = _VF.chain_matmul(matrices) if hasattr(_VF, "chain_matmul") else torch.linalg.multi_dot(matrices)
    return made if out is None else out.copy_(made)


@overridable
def lu(A, pivot=True, get_infos=False, out=None):
    """The LU factorisation in one matrix, with its pivots."""
    factors, pivots, infos = torch.linalg.lu_factor_ex(A, pivot=pivot)
    return (factors, pivots, infos) if get_infos else (factors, pivots)


def align_tensors(*tensors):
    """Named tensors are not supported."""
    raise RuntimeError("align_tensors needs named tensors, which are not supported")
