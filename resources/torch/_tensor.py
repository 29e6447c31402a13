"""Tensor: the C type with the methods that are Python."""

from copy import deepcopy

import torch
from torch import _C, _absent
from torch.overrides import get_default_nowrap_functions, handle_torch_function, has_torch_function


def _overridable(fn):
    """Let subclasses with __torch_function__ take a method over."""
    from functools import wraps

    @wraps(fn)
    def call(self, *args, **kwargs):
        if has_torch_function((self,)):
            return handle_torch_function(call, (self,), self, *args, **kwargs)
        return fn(self, *args, **kwargs)

    return call


def _not_implemented_for_others(fn):
    """Binary operators say NotImplemented to operands that are no numbers or tensors."""
    from functools import wraps

    @wraps(fn)
    def call(self, other):
        if has_torch_function((self, other)):
            return handle_torch_function(call, (self, other), self, other)
        try:
            return fn(self, other)
        except TypeError:
            return NotImplemented

    return call


def _convert(result, cls):
    """Tensors of a result as cls."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        parts = [_convert(r, cls) for r in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


class Tensor(_C.TensorBase):
    """An array of numbers that can record what was computed with it."""

    _is_param = False
    __torch_dispatch__ = _C._disabled_torch_dispatch_impl

    @staticmethod
    def _make_wrapper_subclass(cls, size, strides=None, storage_offset=None, memory_format=None, dtype=None,
                               layout=torch.strided, device=None, pin_memory=False, requires_grad=False,
                               dispatch_sizes_strides_policy=None, dispatch_device=False, dispatch_layout=False,
                               _extra_dispatch_keys=None, storage_size=None):
        """A tensor of a class with __torch_dispatch__ that has sizes, dtype and device, and no elements of its own."""
        if not hasattr(cls, "__torch_dispatch__") or cls.__torch_dispatch__ is _C._disabled_torch_dispatch_impl:
            raise RuntimeError("cls.__torch_dispatch__ must be defined as a class method on the tensor subclass")
        if dispatch_sizes_strides_policy is not None:
            raise NotImplementedError("_make_wrapper_subclass(dispatch_sizes_strides_policy=...): Kerf's tensors have sizes")
        dtype = torch.get_default_dtype() if dtype is None else dtype
        device = torch.device("cpu" if device is None else device)
        with _C._DisableTorchDispatch(), torch.utils._python_dispatch._disable_current_modes():
            if strides is not None:
                data = torch.empty_strided(size, strides, dtype=dtype, device="meta")
            else:
                data = torch.empty(size, dtype=dtype, device="meta",
                                   memory_format=memory_format or torch.contiguous_format)
        return _C._make_wrapper(cls, data, device, bool(requires_grad))

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Call func without overrides and give tensors back as cls."""
        if not all(issubclass(cls, t) for t in types):
            return NotImplemented
        with _C.DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
            if func in get_default_nowrap_functions():
                return result
            return _convert(result, cls)

    def __deepcopy__(self, memo):
        if has_torch_function((self,)):
            return handle_torch_function(Tensor.__deepcopy__, (self,), self, memo)
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
                "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
                "see https://github.com/pytorch/pytorch/pull/103001"
            )
        if id(self) in memo:
            return memo[id(self)]
        with torch.no_grad():
            made = self.detach().clone()
            if type(self) is not Tensor:
                made = made.as_subclass(type(self))
            if self.requires_grad:
                made.requires_grad_()
            if self.grad is not None:
                made.grad = self.grad.__deepcopy__(memo)
            for key, value in getattr(self, "__dict__", {}).items():
                setattr(made, key, deepcopy(value, memo))
            memo[id(self)] = made
        return made

    def __copy__(self):
        made = self.data.as_subclass(type(self)) if type(self) is not Tensor else self.data
        made.requires_grad_(self.requires_grad and self.is_leaf)
        return made

    def __reduce_ex__(self, proto):
        return _rebuild, (type(self), self.detach().tolist(), self.dtype, tuple(self.shape), self.requires_grad)

    def __repr__(self, *, tensor_contents=None):
        if has_torch_function((self,)):
            return handle_torch_function(Tensor.__repr__, (self,), self, tensor_contents=tensor_contents)
        return torch._tensor_str._str(self, tensor_contents=tensor_contents)

    def __str__(self):
        return self.__repr__()

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Add the gradients of this tensor to the leaves that it depends on."""
        if has_torch_function((self,)):
            return handle_torch_function(Tensor.backward, (self,), self, gradient=gradient, retain_graph=retain_graph,
                                         create_graph=create_graph, inputs=inputs)
        torch.autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def __hash__(self):
        return id(self)

    def __len__(self):
        if has_torch_function((self,)):
            return handle_torch_function(Tensor.__len__, (self,), self)
        if self.dim() == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self):
        if self.dim() == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self):
        if has_torch_function((self,)):
            return handle_torch_function(Tensor.__reversed__, (self,), self)
        return self if self.dim() == 0 else self.flip(0)

    def __contains__(self, element, /):
        if has_torch_function((self,)):
            return handle_torch_function(Tensor.__contains__, (self,), self, element)
        if isinstance(element, (Tensor, int, float, complex, bool)):
            return bool((element == self).any().item())
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
        )

    def __format__(self, format_spec):
        if has_torch_function((self,)):
            return handle_torch_function(Tensor.__format__, (self,), self, format_spec)
        if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
            return self.item().__format__(format_spec)
        return object.__format__(self, format_spec)

    def __dir__(self):
        names = [*dir(self.__class__), *getattr(self, "__dict__", {})]
        return sorted(n for n in names if n != "volatile")

    @_not_implemented_for_others
    def __rsub__(self, other):
        return _C._VariableFunctions.rsub(self, other)

    @_not_implemented_for_others
    def __rdiv__(self, other):
        return self.reciprocal() * other

    __rtruediv__ = __rdiv__

    @_not_implemented_for_others
    def __pow__(self, other):
        return torch.pow(self, other)

    @_not_implemented_for_others
    def __rpow__(self, other):
        return torch.pow(other, self)

    @_not_implemented_for_others
    def __floordiv__(self, other):
        return torch.floor_divide(self, other)

    @_not_implemented_for_others
    def __rfloordiv__(self, other):
        return torch.floor_divide(other, self)

    @_not_implemented_for_others
    def __rmod__(self, other):
        return torch.remainder(other, self)

    @_not_implemented_for_others
    def __rlshift__(self, other):
        return torch.bitwise_left_shift(other, self)

    @_not_implemented_for_others
    def __rrshift__(self, other):
        return torch.bitwise_right_shift(other, self)

    @_not_implemented_for_others
    def __rmatmul__(self, other):
        return torch.matmul(other, self)

    def __array__(self, dtype=None):
        raise TypeError("numpy is not available in this interpreter: tensors cannot become arrays")

    __array_priority__ = 1000

    def __setstate__(self, state):
        self.__dict__.update(state)

    @_overridable
    def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
        """The p-norm; see torch.norm."""
        return torch.norm(self, p, dim, keepdim, dtype=dtype)

    @_overridable
    def split(self, split_size, dim=0):
        """Parts of one size, or of the given sizes; see torch.split."""
        if isinstance(split_size, (int, torch.SymInt)):
            return _C._VariableFunctions.split(self, split_size, dim)
        return _C._VariableFunctions.split_with_sizes(self, list(split_size), dim)

    @_overridable
    def unique(self, sorted=True, return_inverse=False, return_counts=False, dim=None):
        """The values without repetition; see torch.unique."""
        return torch.unique(self, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts, dim=dim)

    @_overridable
    def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
        """The values without neighbours that are equal; see torch.unique_consecutive."""
        return torch.unique_consecutive(self, return_inverse=return_inverse, return_counts=return_counts, dim=dim)

    @_overridable
    def unflatten(self, dim, sizes):
        """One dimension as several."""
        if not sizes:
            raise RuntimeError("unflatten: sizes must be non-empty")
        return _C.TensorBase.unflatten(self, dim, tuple(sizes))

    @_overridable
    def stft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect",
             normalized=False, onesided=None, return_complex=None, align_to_window=None):
        """The short-time Fourier transform; see torch.stft."""
        return torch.stft(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
                          return_complex=return_complex, align_to_window=align_to_window)

    @_overridable
    def istft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None,
              length=None, return_complex=False):
        """The inverse of stft."""
        return torch.istft(self, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
                           return_complex=return_complex)

    @_overridable
    def module_load(self, other, assign=False):
        """What load_state_dict puts in this tensor's place."""
        return other.detach() if assign else self.copy_(other).detach()

    @_overridable
    def dim_order(self, *, ambiguity_check=False):
        """Dimensions from the largest stride to the smallest."""
        strides = self.stride()
        return tuple(sorted(range(self.dim()), key=lambda d: -strides[d]))

    def is_shared(self):
        """Whether other processes see the memory: never here."""
        return False

    def share_memory_(self):
        """Keep the tensor as it is: there is one process."""
        return self

    def reinforce(self, reward):
        """Removed from PyTorch."""
        raise RuntimeError("reinforce() was removed.")

    __module__ = "torch"


_absent.install(Tensor, "torch.Tensor")


def _rebuild(cls, values, dtype, shape, requires_grad):
    made = torch.tensor(values, dtype=dtype).reshape(shape)
    if cls is not Tensor:
        made = made.as_subclass(cls)
    return made.requires_grad_(requires_grad)
