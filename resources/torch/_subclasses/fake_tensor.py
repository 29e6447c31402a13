"""FakeTensorMode: operators on sizes, dtypes and devices alone, by the engine's shape rules."""

import torch
from torch import _C, _absent
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes


class UnsupportedFakeTensorException(RuntimeError):
    """There is no fake tensor of this."""


class DynamicOutputShapeException(RuntimeError):
    """The sizes of a result depend on elements."""

    def __init__(self, func):
        super().__init__(func)
        self.func = func


class DataDependentOutputException(RuntimeError):
    """A result that is no tensor depends on elements."""

    def __init__(self, func):
        super().__init__(func)
        self.func = func


class MetadataMismatchError(RuntimeError):
    """Two fake tensors that must be alike are not."""


#: Methods that ask for elements, and the operator that the exception names.
_ASKS = {name: "_local_scalar_dense" for name in ("item", "tolist", "__bool__", "__int__", "__float__", "__index__")}
_SIZES_FROM_DATA = ("nonzero", "masked_select", "unique_consecutive", "_unique2", "unique_dim", "bincount")


class FakeTensor(torch.Tensor):
    """A tensor that has sizes, strides, dtype and device, and no elements."""

    __torch_function__ = _C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, fake_mode, elem, device, constant=None):
        self = _C._make_wrapper(cls, elem, torch.device(device), elem.requires_grad)
        self.fake_mode, self.fake_device, self._elem, self.constant = fake_mode, torch.device(device), elem, constant
        return self

    def __init__(self, *args, **kwargs):
        super().__init__()

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        mode = next(t.fake_mode for t in pytree.tree_leaves((args, kwargs)) if isinstance(t, FakeTensor))
        with mode:
            return func(*args, **(kwargs or {}))

    def __repr__(self, *, tensor_contents=None):
        parts = ["..."]
        if self.fake_device.type != "cpu":
            parts.append(f"device='{self.fake_device}'")
        parts.append(f"size=({', '.join(map(str, self.shape))}{',' if self.dim() == 1 else ''})")
        if self.dtype not in (torch.get_default_dtype(), torch.int64, torch.bool):
            parts.append(f"dtype={self.dtype}")
        elif self.dtype in (torch.int64, torch.bool):
            parts.append(f"dtype={self.dtype}")
        if self.grad_fn is not None:
            parts.append(f"grad_fn=<{type(self.grad_fn).__name__}>")
        elif self.requires_grad:
            parts.append("requires_grad=True")
        return f"FakeTensor({', '.join(parts)})"

    __str__ = __repr__

    def __deepcopy__(self, memo):
        made = FakeTensor(self.fake_mode, self._elem, self.fake_device)
        return made.requires_grad_(self.requires_grad)

    @property
    def is_meta(self):
        """Whether the device that it stands for is "meta"."""
        return self.fake_device.type == "meta"

    def nonzero(self, *args, **kwargs):
        """Its sizes depend on elements."""
        raise DynamicOutputShapeException(torch.ops.aten.nonzero.default)


def _asking(name, operator):
    def asked(self, *args, **kwargs):
        raise DataDependentOutputException(getattr(torch.ops.aten, operator).default)

    asked.__name__ = name
    return asked


for _name, _operator in _ASKS.items():
    setattr(FakeTensor, _name, _asking(_name, _operator))
del _name, _operator


class FakeTensorMode(TorchDispatchMode):
    """Tensors that are made in the block are fake, and operators on fake tensors give fake ones."""

    def __init__(self, *, allow_fallback_kernels=True, allow_non_fake_inputs=False, shape_env=None, static_shapes=None,
                 export=False):
        super().__init__()
        if shape_env is not None:
            raise NotImplementedError("FakeTensorMode(shape_env=...): Kerf's fake tensors have sizes that are numbers")
        self.allow_non_fake_inputs, self.allow_fallback_kernels = allow_non_fake_inputs, allow_fallback_kernels
        self.shape_env, self.static_shapes, self.export = None, True, export
        self._known, self._makers = {}, []
        self.fake_tensor_converter = self

    def __enter__(self):
        self._makers.append(torch.tensor)
        make = torch.tensor

        def tensor(*args, **kwargs):
            device = kwargs.pop("device", None)
            with _disable_current_modes():
                made = make(*args, **kwargs)
            return self._fake(made, torch.device("cpu" if device is None else device), made.requires_grad)

        torch.tensor = tensor
        return super().__enter__()

    def __exit__(self, *args):
        torch.tensor = self._makers.pop()
        return super().__exit__(*args)

    def from_tensor(self, tensor, *, static_shapes=None, source=None, symbolic_context=None, trace=True):
        """The fake tensor that stands for a tensor: the same one each time."""
        if isinstance(tensor, FakeTensor):
            if tensor.fake_mode is not self:
                raise AssertionError("Mixing fake modes NYI")
            return tensor
        if id(tensor) not in self._known:
            made = self._fake(tensor, tensor.device, tensor.requires_grad)
            if isinstance(tensor, torch.nn.Parameter):
                made._is_param = True
            self._known[id(tensor)] = (tensor, made)
        return self._known[id(tensor)][1]

    def _fake(self, tensor, device, requires_grad=False):
        with _C._DisableTorchDispatch(), _disable_current_modes():
            elem = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
        made = FakeTensor(self, elem, device)
        return made.requires_grad_(True) if requires_grad else made

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = func.__name__.partition(".")[0]
        if name in _SIZES_FROM_DATA:
            raise DynamicOutputShapeException(func)
        if name in ("_local_scalar_dense", "equal"):
            raise DataDependentOutputException(func)
        fakes = [t for t in pytree.tree_leaves((args, kwargs)) if isinstance(t, FakeTensor)]
        if not fakes and pytree.tree_any(lambda t: isinstance(t, torch.Tensor), (args, kwargs)):
            if not self.allow_non_fake_inputs:
                return func(*args, **kwargs) if self._is_constant(args, kwargs) else self._refuse(func, args, kwargs)
        device = self._device(func, fakes, args, kwargs)
        given = {id(t._elem): t for t in fakes}

        def elem(value):
            if isinstance(value, FakeTensor):
                return value._elem
            if not isinstance(value, torch.Tensor):
                return value
            if value.dim() > 0 and not self.allow_non_fake_inputs and not value.is_meta:
                self._refuse(func, args, kwargs)
            return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")

        with torch.no_grad(), _C._DisableTorchDispatch(), _disable_current_modes():
            made = func(*pytree.tree_map(elem, tuple(args)), **pytree.tree_map(elem, kwargs))

        def fake(value):
            if not isinstance(value, torch.Tensor):
                return value
            return given[id(value)] if id(value) in given else FakeTensor(self, value.detach(), device)

        return tuple(map(fake, made)) if isinstance(made, tuple) else pytree.tree_map(fake, made)

    @staticmethod
    def _is_constant(args, kwargs):
        tensors = [t for t in pytree.tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        return all(t.dim() == 0 and t.device.type == "cpu" for t in tensors)

    @staticmethod
    def _refuse(func, args, kwargs):
        shown = ", ".join([repr(a) if not isinstance(a, torch.Tensor) else f"tensor({list(a.shape)})" for a in args])
        raise AssertionError("Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
                             f"'allow_non_fake_inputs'. Found in {func}({shown})")

    @staticmethod
    def _device(func, fakes, args, kwargs):
        """Where the result is; the call itself is made on "meta"."""
        takes = any(a.name == "device" for a in func._schema.arguments) if func._schema is not None else False
        if takes and (kwargs.get("device") is not None or not fakes):
            device = torch.device(kwargs["device"] if kwargs.get("device") is not None else "cpu")
            kwargs["device"] = torch.device("meta")
            return device
        found = None
        for t in fakes:
            if found is None or (found[1] and t.fake_device != found[0]):
                found = (t.fake_device, t.dim() == 0 and t.fake_device.type == "cpu")
            elif t.fake_device != found[0] and not (t.dim() == 0 and t.fake_device.type == "cpu"):
                raise RuntimeError(f"Unhandled FakeTensor Device Propagation for {func}, found two different devices "
                                   f"{found[0]}, {t.fake_device}")
        return found[0] if found else torch.device("cpu")


class FakeTensorConverter:
    """Makes the fake tensors of a mode."""

    def from_real_tensor(self, fake_mode, t, **options):
        """The mode's fake tensor of a tensor."""
        return fake_mode.from_tensor(t)


def is_fake(x):
    """Whether a value is a fake tensor."""
    return isinstance(x, FakeTensor)


__getattr__ = _absent.getter(__name__)
