"""Results as they were at one moment: values, shapes, strides, dtypes, shared memory."""


def leaves_of(value):
    from torch.utils import _pytree

    return _pytree.tree_leaves(value)


def tensors_in(value):
    import torch

    return [leaf for leaf in leaves_of(value) if isinstance(leaf, torch.Tensor)]


def dense(tensor):
    """A plain strided copy of the values, or None where there are none."""
    value = tensor.detach()
    if type(value).__name__.startswith("Uninitialized"):
        return None
    if getattr(value, "is_nested", False):
        value = value.values()
    if value.layout != __import__("torch").strided:
        value = value.to_dense()
    if value.is_quantized:
        value = value.dequantize()
    return value.resolve_conj().resolve_neg().clone()


def shot_of(tensor):
    """{shape, stride, dtype, requires_grad, value} of a tensor."""
    value = dense(tensor)
    if value is None:
        return {"shape": None, "stride": None, "dtype": str(tensor.dtype), "requires_grad": bool(tensor.requires_grad),
                "value": None}
    try:
        stride = list(tensor.stride())
    except RuntimeError:
        stride = None
    return {"shape": list(value.shape), "stride": stride, "dtype": str(tensor.dtype),
            "requires_grad": bool(tensor.requires_grad), "value": value}


PLAIN = (bool, int, float, complex, str, type(None))


def shot_of_output(leaf, addresses):
    """Also of a result that is no tensor. `addresses`: of the arguments' storages."""
    import torch

    if isinstance(leaf, torch.Tensor):
        shot = shot_of(leaf)
        where = address_of(leaf)
        shot["alias"] = [i for i, a in enumerate(addresses) if where is not None and a == where]
        return shot
    if isinstance(leaf, PLAIN):
        return {"python": leaf}
    return {"python_type": type(leaf).__name__}


def address_of(tensor):
    """Where its storage lies, or None if it has none or an empty one."""
    try:
        storage = tensor.untyped_storage()
        return (str(tensor.device), storage.data_ptr()) if storage.nbytes() else None
    except Exception:
        return None


def state_of(fn):
    """(name, tensor) of parameters and buffers."""
    import torch

    fn = getattr(fn, "__self__", fn)
    if not isinstance(fn, torch.nn.Module):
        return []
    return [("param " + n, p) for n, p in fn.named_parameters()] + [("buffer " + n, b) for n, b in fn.named_buffers()]


def widened(value):
    """The same with float64 and complex128 instead of narrower types. Modules are changed, tensors copied."""
    import torch

    if isinstance(value, torch.nn.Module):
        return value if any(t.is_complex() for _, t in state_of(value)) else value.to(torch.float64)
    if isinstance(value, torch.Tensor) and (value.is_complex() or value.is_floating_point()):
        kind = torch.complex128 if value.is_complex() else torch.float64
        if value.dtype == kind:
            return value
        stretched = as_it_lies(value.detach(), kind)
        return stretched.requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(widened(item) for item in value)
    if type(value) is dict:
        return {key: widened(item) for key, item in value.items()}
    return value


def as_it_lies(tensor, kind=None):
    """A copy with the same strides, expanded dimensions too."""
    import torch

    kind = kind or tensor.dtype
    try:
        stride = tensor.stride()
        span = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, stride)) if tensor.numel() else 0
        base = torch.zeros(span, dtype=kind, device=tensor.device)
        base.as_strided(tensor.shape, stride).copy_(tensor)
        return base.as_strided(tensor.shape, stride)
    except Exception:
        return tensor.detach().clone().to(kind)
