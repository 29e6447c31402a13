"""Parameter and Buffer: tensors that a module registers by itself."""

from collections import OrderedDict

import torch


class _ParameterMeta(type(torch.Tensor)):
    """isinstance(t, Parameter) also holds for subclass tensors that carry the parameter mark."""

    def __instancecheck__(self, instance):
        if self is Parameter and isinstance(instance, torch.Tensor) and getattr(instance, "_is_param", False):
            return True
        return super().__instancecheck__(instance)


class Parameter(torch.Tensor, metaclass=_ParameterMeta):
    """A tensor that becomes a parameter when it is set as attribute of a module."""

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = torch.empty(0)
        if type(data) is torch.Tensor or type(data) is Parameter:
            return torch.Tensor._make_subclass(cls, data, requires_grad)
        marked = data.detach().requires_grad_(requires_grad)
        if type(marked) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() "
                f"returns an instance of the same type, but got {type(marked).__name__}."
            )
        marked._is_param = True
        return marked

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        made = type(self)(self.data.clone(memory_format=torch.preserve_format), self.requires_grad)
        memo[id(self)] = made
        return made

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    __torch_function__ = torch._C._disabled_torch_function_impl


class UninitializedTensorMixin:
    """What parameters and buffers without a shape share."""

    _allowed = ("__hash__", "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char",
                "short", "int", "long", "cuda", "cpu", "to", "get_device", "_has_compatible_shallow_copy_type")

    def materialize(self, shape, device=None, dtype=None):
        """Give the tensor a shape, and the class of an ordinary parameter or buffer."""
        device = self.data.device if device is None else device
        dtype = self.data.dtype if dtype is None else dtype
        self.data = torch.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
            "`forward` to initialize the parameters before accessing their attributes."
        )

    def __repr__(self):
        return f"<{self.__class__.__name__}>"


def is_lazy(param):
    """Whether a parameter or buffer has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        data = torch.empty(0, device=device, dtype=dtype)
        return torch.Tensor._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        made = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        memo[id(self)] = made
        return made


class _BufferMeta(type(torch.Tensor)):
    def __instancecheck__(self, instance):
        if self is Buffer and isinstance(instance, torch.Tensor) and getattr(instance, "_is_buffer", False):
            return True
        return super().__instancecheck__(instance)


class Buffer(torch.Tensor, metaclass=_BufferMeta):
    """A tensor that becomes a buffer when it is set as attribute of a module."""

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = torch.empty(0)
        made = data.detach().requires_grad_(data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl


class UninitializedBuffer(UninitializedTensorMixin, torch.Tensor):
    """A buffer whose shape is not known yet."""

    cls_to_become = torch.Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        data = torch.empty(0, device=device, dtype=dtype)
        made = torch.Tensor._make_subclass(cls, data, requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


__all__ = ["Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer", "is_lazy", "OrderedDict"]
