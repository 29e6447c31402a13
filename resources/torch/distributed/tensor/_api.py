"""DTensor: a tensor of several ranks, of which each has a part."""

import inspect
import warnings

import torch
from torch._C import _distributed_c10d as _link
from torch.distributed import distributed_c10d as c10d
from torch.distributed.device_mesh import _mesh_resources
from torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta
from torch.distributed.tensor.placement_types import Replicate, _of_text, _texts

_meshes = {}  # by the engine's number
_numbers = {}  # of meshes of one world: equal ones are one


def _number_of(mesh):
    """The engine's number of a mesh."""
    number = getattr(mesh, "_number", None)
    if number is None:
        key = mesh, c10d._world.number
        number = _numbers.get(key)
        if number is None:
            number = _numbers[key] = _link._make_mesh(list(mesh.shape), mesh.mesh.flatten().tolist())
            _meshes[number] = mesh
        mesh._number = number
    return number


def _whole_stride(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return list(reversed(strides))


class _FromLocal(torch.autograd.Function):
    """Gradients come back as the part was placed, replicated where it was partial."""

    @staticmethod
    def forward(ctx, local, number, texts, run_check, shape, stride):
        ctx.texts = texts
        return _link._from_local(local.contiguous() if stride is None else local, number, texts, run_check, shape, stride)

    @staticmethod
    def backward(ctx, grad):
        return _link._local(_link._redistribute_back(grad, ctx.texts)), None, None, None, None, None


class _ToLocal(torch.autograd.Function):
    """Gradients of the part become a DTensor again."""

    @staticmethod
    def forward(ctx, tensor, grad_texts):
        number, texts = _link._spec(tensor)
        ctx.number, ctx.shape, ctx.stride = number, list(tensor.shape), list(tensor.stride())
        ctx.texts = grad_texts or ["R" if text.startswith(("P", "_M", "_N")) else text for text in texts]
        local = _link._local(tensor)
        return local.view_as(local)

    @staticmethod
    def backward(ctx, grad):
        return _link._from_local(grad.contiguous(), ctx.number, ctx.texts, False, ctx.shape, ctx.stride), None


class _Redistribute(torch.autograd.Function):
    """Gradients go back to where the tensor was."""

    @staticmethod
    def forward(ctx, tensor, texts):
        ctx.texts = ["R" if text.startswith(("_M", "_N")) else text for text in _link._spec(tensor)[1]]
        return _link._redistribute(tensor, texts)

    @staticmethod
    def backward(ctx, grad):
        return _link._redistribute_back(grad, ctx.texts), None


class DTensor(torch.Tensor):
    """A tensor of whole sizes whose values the ranks of a mesh have, as its placements say. Operators run on the parts."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __new__(cls, *args, **kwargs):
        raise TypeError("a DTensor is made by distribute_tensor or DTensor.from_local")

    @property
    def device_mesh(self):
        """The mesh."""
        return _meshes[_link._spec(self)[0]]

    @property
    def placements(self):
        """One placement for each dimension of the mesh."""
        return tuple(_of_text(text) for text in _link._spec(self)[1])

    @property
    def _local_tensor(self):
        return _link._local(self)

    @property
    def _spec(self):
        return DTensorSpec(self.device_mesh, self.placements, TensorMeta(self.shape, self.stride(), self.dtype))

    @staticmethod
    def from_local(local_tensor, device_mesh=None, placements=None, *, run_check=False, shape=None, stride=None,
                   grad_placements=None):
        """A DTensor of the parts that the ranks have."""
        mesh = device_mesh or _mesh_resources.get_current_mesh()
        if (shape is None) != (stride is None):
            raise RuntimeError("Found shape:{}, stride:{}. Please pass both shape and stride at the same time.".format(shape, stride))
        texts = _texts(placements, mesh, local_tensor.ndim)
        return _FromLocal.apply(local_tensor, _number_of(mesh), texts, run_check, list(shape) if shape is not None else None,
                                list(stride) if stride is not None else None)

    def to_local(self, *, grad_placements=None):
        """This rank's part: the same memory."""
        if not torch.is_grad_enabled() or not self.requires_grad:
            return _link._local(self)
        texts = _texts(grad_placements, self.device_mesh, self.ndim) if grad_placements is not None else None
        return _ToLocal.apply(self, texts)

    def redistribute(self, device_mesh=None, placements=None, *, async_op=False, forward_dtype=None, backward_dtype=None):
        """The same values under other placements."""
        mesh = self.device_mesh
        if device_mesh is not None and device_mesh != mesh:
            raise NotImplementedError("Cross device mesh comm not supported yet!")
        if placements is None:
            raise RuntimeError("placements is needed for redistribute!")
        for one in placements:
            if one.is_partial() and one not in self.placements:
                raise RuntimeError("Can not redistribute to Partial, redistributing to Partial is for internal use only!")
        source = self if forward_dtype is None else self.to(forward_dtype)
        return _Redistribute.apply(source, _texts(placements, mesh, self.ndim))

    def full_tensor(self, *, grad_placements=None):
        """The whole tensor, on every rank."""
        whole = self.redistribute(placements=[Replicate()] * self.device_mesh.ndim)
        return whole.to_local(grad_placements=grad_placements)

    def item(self):
        """The number of a tensor of one element."""
        return self.full_tensor().item()

    def tolist(self):
        """The whole tensor as lists."""
        return self.full_tensor().tolist()

    def __bool__(self):
        return bool(self.full_tensor())

    def __float__(self):
        return float(self.full_tensor())

    def __int__(self):
        return int(self.full_tensor())

    def __format__(self, spec):
        return format(self.item(), spec) if self.ndim == 0 else repr(self)

    def __repr__(self, *, tensor_contents=None):
        return (f"DTensor(local_tensor={_link._local(self)!r}, device_mesh={self.device_mesh!r}, "
                f"placements={self.placements})")

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        with torch.no_grad():
            made = self.detach().clone().requires_grad_(self.requires_grad)
        if getattr(self, "_is_param", False):
            made._is_param = True
        memo[id(self)] = made
        return made

    def __reduce_ex__(self, proto):
        part = _link._local(self)
        kept = (part.detach(), self.device_mesh, _link._spec(self)[1], list(self.shape), list(self.stride()),
                self.requires_grad, getattr(self, "_is_param", False), self.device_mesh.get_coordinate())
        return _rebuilt, kept


def _rebuilt(part, mesh, texts, shape, stride, requires_grad, is_parameter, place):
    """A DTensor that was pickled, on the rank whose part it is."""
    if mesh.get_coordinate() != place and any(text != "R" for text in texts):
        raise RuntimeError(f"a DTensor travels as the part of one rank: this one is that of place {place} of {mesh}, and this "
                           f"rank is at {mesh.get_coordinate()}; send its full_tensor(), or its to_local()")
    made = _link._from_local(part, _number_of(mesh), texts, False, shape, stride)
    return torch.nn.Parameter(made, requires_grad) if is_parameter else made.requires_grad_(requires_grad)


_link._set_placed_type(DTensor)


def distribute_tensor(tensor, device_mesh=None, placements=None, *, src_data_rank=0):
    """A DTensor of a tensor that the first rank of each dimension has; with src_data_rank=None of each rank's own."""
    mesh = device_mesh or _mesh_resources.get_current_mesh()
    if not tensor.is_leaf:
        raise RuntimeError("`distribute_tensor` should be used to distribute leaf tensors! but found non-leaf tensor!")
    texts = _texts(placements, mesh, tensor.ndim)
    if isinstance(tensor, DTensor):
        if tensor.device_mesh != mesh:
            raise ValueError(f"Cannot distribute a DTensor with device mesh {tensor.device_mesh} to a different device mesh "
                             f"{mesh}.")
        if [one._text(tensor.ndim) for one in tensor.placements] != texts:
            raise ValueError(f"Cannot distribute a DTensor with placements {tensor.placements} to a different placements "
                             f"{placements}. do you want to call `redistribute` instead?")
        return tensor
    made = _link._distribute(tensor.detach(), _number_of(mesh), texts, -1 if src_data_rank is None else src_data_rank)
    made.requires_grad_(tensor.requires_grad)
    return torch.nn.Parameter(made, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else made


def _replicate_module_params_buffers(module, mesh):
    """What the partition function has left alone is on every rank."""
    for key, parameter in list(module._parameters.items()):
        if parameter is not None and not isinstance(parameter, DTensor):
            whole = distribute_tensor(parameter.data, mesh, [Replicate()] * mesh.ndim)
            module.register_parameter(key, torch.nn.Parameter(whole, parameter.requires_grad))
    for key, buffer in list(module._buffers.items()):
        if buffer is not None and not isinstance(buffer, DTensor):
            module._buffers[key] = distribute_tensor(buffer, mesh, [Replicate()] * mesh.ndim)


def _with_module(fn, name):
    """A hook that gets the module; older ones get values and mesh alone."""
    count = len(inspect.signature(fn).parameters)
    if count == 3:
        return fn
    if count != 2:
        raise ValueError(f"{name} should take in 3 arguments, but got {count} arguments!")
    warnings.warn(f"Deprecating {name} that takes two arguments (inputs, device_mesh), please use {name} that takes in "
                  f"(module, inputs, device_mesh) instead!", FutureWarning, stacklevel=3)
    return lambda module, values, mesh: fn(values, mesh)


def distribute_module(module, device_mesh=None, partition_fn=None, input_fn=None, output_fn=None):
    """Make DTensors of a module's parameters and buffers: as partition_fn(name, module, mesh) says, else replicated. The
    hooks input_fn(module, inputs, mesh) and output_fn(module, outputs, mesh) stand around its forward."""
    mesh = device_mesh or _mesh_resources.get_current_mesh()
    if getattr(module, "_distribute_module_applied", False):
        raise RuntimeError("distribute_module should only be called once on a module, but it has already been called on this "
                           "module!")
    for name, part in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, part, mesh)
        _replicate_module_params_buffers(part, mesh)
    if input_fn is not None:
        enter = _with_module(input_fn, "input_fn")
        module.register_forward_pre_hook(lambda mod, inputs: enter(mod, inputs, mesh))
    if output_fn is not None:
        leave = _with_module(output_fn, "output_fn")
        module.register_forward_hook(lambda mod, inputs, outputs: leave(mod, outputs, mesh))
    module._distribute_module_applied = True
    return module


def _made(make, size, device_mesh, placements, dtype, requires_grad):
    """A DTensor of what `make` gives on the first rank."""
    sizes = size[0] if len(size) == 1 and isinstance(size[0], (list, tuple)) else size
    mesh = device_mesh or _mesh_resources.get_current_mesh()
    made = distribute_tensor(make(tuple(sizes), dtype=dtype), mesh, placements)
    return made.requires_grad_(requires_grad)


def zeros(*size, requires_grad=False, dtype=None, layout=None, device_mesh=None, placements=None):
    """Zeros."""
    return _made(torch.zeros, size, device_mesh, placements, dtype, requires_grad)


def ones(*size, requires_grad=False, dtype=None, layout=None, device_mesh=None, placements=None):
    """Ones."""
    return _made(torch.ones, size, device_mesh, placements, dtype, requires_grad)


def empty(*size, requires_grad=False, dtype=None, layout=None, device_mesh=None, placements=None):
    """Any values."""
    return _made(torch.empty, size, device_mesh, placements, dtype, requires_grad)


def rand(*size, requires_grad=False, dtype=None, layout=None, device_mesh=None, placements=None):
    """Uniform in [0, 1): the numbers that the first rank draws."""
    return _made(torch.rand, size, device_mesh, placements, dtype, requires_grad)


def randn(*size, requires_grad=False, dtype=None, layout=None, device_mesh=None, placements=None):
    """Normal: the numbers that the first rank draws."""
    return _made(torch.randn, size, device_mesh, placements, dtype, requires_grad)


def full(size, fill_value, *, dtype=None, layout=None, requires_grad=False, device_mesh=None, placements=None):
    """One value everywhere."""
    return _made(lambda sizes, dtype: torch.full(sizes, fill_value, dtype=dtype), (size,), device_mesh, placements, dtype,
                 requires_grad)
