"""Changes of dtype, device and mode over a module's tree (methods of Module)."""

import torch
from torch.nn.parameter import Parameter


def _apply(self, fn, recurse=True):
    """Replace every parameter, gradient and buffer by what fn makes of it."""
    if recurse:
        for module in self.children():
            module._apply(fn)
    for param in self._parameters.values():
        if param is None:
            continue
        with torch.no_grad():
            applied = fn(param)
        grad = param.grad
        param.data = applied
        if grad is not None:
            with torch.no_grad():
                new_grad = fn(grad)
            param.grad = None
            param.grad = new_grad.requires_grad_(grad.requires_grad)
    for key, buf in self._buffers.items():
        if buf is not None:
            self._buffers[key] = fn(buf)
    return self


def apply(self, fn):
    """Call fn on every submodule, then on the module itself."""
    for module in self.children():
        module.apply(fn)
    fn(self)
    return self


def cuda(self, device=None):
    """Move to the device with that label."""
    return self._apply(lambda t: t.cuda(device))


def cpu(self):
    """Move to the CPU."""
    return self._apply(lambda t: t.cpu())


def type(self, dst_type):  # noqa: A001
    """Cast all parameters and buffers."""
    return self._apply(lambda t: t.type(dst_type))


def _cast_floating(self, name):
    return self._apply(lambda t: getattr(t, name)() if t.is_floating_point() else t)


def float(self):  # noqa: A001
    """Cast floating-point parameters and buffers to float32."""
    return _cast_floating(self, "float")


def double(self):
    """Cast floating-point parameters and buffers to float64."""
    return _cast_floating(self, "double")


def half(self):
    """Cast floating-point parameters and buffers to float16."""
    return _cast_floating(self, "half")


def bfloat16(self):
    """Cast floating-point parameters and buffers to bfloat16."""
    return _cast_floating(self, "bfloat16")


def to_empty(self, *, device, recurse=True):
    """Move to a device without copying values."""
    return self._apply(lambda t: torch.empty_like(t, device=device), recurse=recurse)


def _parse_to(args, kwargs):
    """Device, dtype, non_blocking and memory format of the arguments of to()."""
    device, dtype = kwargs.get("device"), kwargs.get("dtype")
    non_blocking, memory_format = kwargs.get("non_blocking", False), kwargs.get("memory_format")
    tensor = kwargs.get("tensor")
    rest = list(args)
    if rest and isinstance(rest[0], torch.Tensor):
        tensor = rest.pop(0)
    elif rest and isinstance(rest[0], torch.dtype):
        dtype = rest.pop(0)
    elif rest:
        device = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], torch.dtype)):
            dtype = rest.pop(0)
    if rest:
        non_blocking = rest.pop(0)
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    return None if device is None else torch.device(device), dtype, non_blocking, memory_format


def to(self, *args, **kwargs):
    """Move and cast floating-point and complex parameters and buffers."""
    device, dtype, non_blocking, memory_format = _parse_to(args, kwargs)
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(
            f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
        )

    def convert(t):
        cast = dtype if t.is_floating_point() or t.is_complex() else None
        made = t
        if device is not None:
            made = made.to(device)
        if cast is not None:
            made = made.to(cast)
        if memory_format is not None and t.dim() in (4, 5):
            made = made.contiguous(memory_format=memory_format)
        return made

    return self._apply(convert)


def train(self, mode=True):
    """Set training mode here and in all submodules."""
    if not isinstance(mode, bool):
        raise ValueError("training mode is expected to be boolean")
    self.training = mode
    for module in self.children():
        module.train(mode)
    return self


def eval(self):  # noqa: A001
    """Set evaluation mode."""
    return self.train(False)


def requires_grad_(self, requires_grad=True):
    """Say whether gradients of the parameters are recorded."""
    for p in self.parameters():
        p.requires_grad_(requires_grad)
    return self


def zero_grad(self, set_to_none=True):
    """Reset the gradients of all parameters."""
    for p in self.parameters():
        if p.grad is None:
            continue
        if set_to_none:
            p.grad = None
        else:
            if p.grad.grad_fn is not None:
                p.grad.detach_()
            else:
                p.grad.requires_grad_(False)
            p.grad.zero_()


def share_memory(self):
    """Keep the module as it is: there is one process."""
    return self


__all__ = ["Parameter"]
