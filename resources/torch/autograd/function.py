"""Functions with a backward of one's own."""

import functools

import torch
from torch import _C
from torch.overrides import handle_torch_function, has_torch_function


class FunctionCtx:
    """What forward leaves for backward."""

    _saved = ()
    _materialize_grads = True
    _dirty = ()
    _non_differentiable = ()
    _forward_saved = None
    needs_input_grad = ()

    def save_for_backward(self, *tensors):
        """Keep tensors; backward finds them in saved_tensors."""
        for t in tensors:
            if t is not None and not isinstance(t, torch.Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument is of type {type(t).__name__}")
        self._to_save = tensors

    def save_for_forward(self, *tensors):
        """Keep tensors for jvp."""
        self._forward_saved = tensors

    def mark_dirty(self, *args):
        """Say which inputs forward changed in place."""
        self._dirty = args

    def mark_non_differentiable(self, *args):
        """Say which outputs have no gradient."""
        self._non_differentiable = args

    def mark_shared_storage(self, *pairs):
        """Nothing to do: views are found without it."""

    def set_materialize_grads(self, value):
        """Say whether missing gradients reach backward as zeros."""
        self._materialize_grads = value

    @property
    def saved_tensors(self):
        """The tensors that forward kept."""
        saved = self.__dict__.get("_packed")
        if saved is None:
            return tuple(self.__dict__.get("_to_save", ()))
        if self.__dict__.get("_released"):
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved tensors after they have "
                "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
                "if you need to access saved tensors after calling backward."
            )
        return tuple(None if s is None else s() for s in saved)


_ContextMethodMixin = FunctionCtx
_HookMixin = object


class FunctionMeta(type):
    """Gives each Function a name for its nodes."""

    def __init__(cls, name, bases, attrs):
        cls._backward_name = name + "Backward"
        super().__init__(name, bases, attrs)


class BackwardCFunction(FunctionCtx):
    """A context as the node of the graph shows it."""


def _flat(outputs):
    """Outputs as a tuple, and whether there was only one."""
    single = not isinstance(outputs, tuple)
    return ((outputs,) if single else outputs), single


class _Saver:
    """One kept tensor: unpacks by the hooks that were there, an output without its own graph."""

    def __init__(self, tensor, is_output):
        self.is_output = is_output
        if hasattr(_C, "_save_variable"):
            self.held = _C._save_variable(tensor, is_output)
        else:
            self.held = None
            self.tensor = tensor

    def bind(self, node_of):
        """Remember how to find the node that made an output."""
        self.node_of = node_of

    def __call__(self):
        if self.held is None:
            return self.tensor
        return self.held.unpack(self.node_of() if self.is_output else None)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """An operation with its own forward and backward; call it by apply()."""

    generate_vmap_rule = False

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future version "
            "of PyTorch."
        )

    @staticmethod
    def forward(*args, **kwargs):
        """Compute the outputs; subclasses define it."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Fill ctx, where forward has none."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Compute the gradients of the inputs; subclasses define it."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Compute forward-mode derivatives; subclasses define it."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info, in_dims, *args):
        """The batching rule; subclasses define it."""
        raise NotImplementedError("To use autograd.Function with vmap, you must override the vmap staticmethod.")

    @classmethod
    def apply(cls, *args, **kwargs):
        """Run forward and record its node."""
        tensors = tuple(a for a in args if isinstance(a, torch.Tensor))
        if has_torch_function(tensors):
            return handle_torch_function(cls.apply, tensors, *args, **kwargs)
        return _apply(cls, args, kwargs)


def _has_setup(cls):
    return cls.setup_context is not Function.setup_context


def _apply(cls, args, kwargs):
    ctx = object.__new__(type(cls.__name__ + "Backward", (BackwardCFunction,), {"__module__": cls.__module__,
                                                                                "_forward_cls": cls}))
    recording = _C.is_grad_enabled()
    ctx.needs_input_grad = tuple(
        isinstance(a, torch.Tensor) and a.requires_grad and recording for a in args)
    before = _C.is_grad_enabled()
    _C._set_grad_enabled(False)
    try:
        if _has_setup(cls):
            result = cls.forward(*args, **kwargs)
            cls.setup_context(ctx, args, result)
        else:
            result = cls.forward(ctx, *args, **kwargs)
    finally:
        _C._set_grad_enabled(before)
    outputs, single = _flat(result)
    outputs = _fresh(outputs, args, ctx)
    _record(cls, ctx, args, outputs)
    made = outputs[0] if single else outputs
    return made


def _fresh(outputs, args, ctx):
    """Outputs that are inputs which forward did not change become views of them."""
    given = {id(a) for a in args if isinstance(a, torch.Tensor)}
    dirty = {id(d) for d in ctx._dirty}
    made = []
    with torch.no_grad():
        for out in outputs:
            is_input = isinstance(out, torch.Tensor) and id(out) in given and id(out) not in dirty
            made.append(out.view_as(out) if is_input else out)
    return tuple(made)


def _record(cls, ctx, args, outputs):
    """Attach the node to the outputs, if an input needs gradients."""
    tensors = tuple(o for o in outputs if isinstance(o, torch.Tensor))
    if not any(ctx.needs_input_grad):
        _keep(ctx, (), None)
        return
    places = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
    plain = {id(t) for t in ctx._non_differentiable}
    dirty = {id(t) for t in ctx._dirty}
    meta = [(o.shape, o.dtype, o.device) for o in tensors]
    flags = tuple(id(o) not in plain and (o.dtype.is_floating_point or o.dtype.is_complex) for o in tensors)
    node = _C._attach_python_node(cls.__name__ + "Backward", tuple(args[i] for i in places), tensors, flags,
                                  tuple(id(o) in dirty for o in tensors),
                                  functools.partial(_run_backward, cls, ctx, args, places, outputs_meta(outputs, meta)),
                                  ctx)
    _keep(ctx, tensors, node)


def outputs_meta(outputs, meta):
    """For each output its shape, dtype and device, or None where it is no tensor."""
    known = iter(meta)
    return [next(known) if isinstance(o, torch.Tensor) else None for o in outputs]


_INFERENCE = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation "
    "tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use "
    "`torch.no_grad()` instead of `torch.inference_mode()`."
)


def _keep(ctx, outputs, node):
    """Pack what forward saved."""
    saved = ctx.__dict__.pop("_to_save", ())
    if node is not None and any(t is not None and t._is_inference for t in saved):
        raise RuntimeError(_INFERENCE)
    ids = {id(o) for o in outputs}
    packed = []
    for t in saved:
        saver = None if t is None else _Saver(t, id(t) in ids)
        if saver is not None:
            saver.bind(lambda node=node: node)
        packed.append(saver)
    ctx._packed = packed


def _run_backward(cls, ctx, args, places, meta, *grads):
    """Call the user's backward and order its gradients by the tensor inputs."""
    known = iter(grads)
    given = []
    for m in meta:
        grad = next(known) if m is not None else None
        if grad is None and m is not None and ctx._materialize_grads:
            grad = torch.zeros(m[0], dtype=m[1], device=m[2])
        given.append(grad)
    fn = cls.vjp if cls.backward is Function.backward and cls.vjp is not Function.vjp else cls.backward
    result = fn(ctx, *given)
    result = result if isinstance(result, tuple) else (result,)
    while len(result) > len(args) and result[-1] is None:
        result = result[:-1]
    if len(result) != len(args):
        raise RuntimeError(
            f"function {cls.__name__}Backward returned an incorrect number of gradients "
            f"(expected {len(args)}, got {len(result)})"
        )
    for i, r in enumerate(result):
        if r is not None and not isinstance(r, torch.Tensor):
            raise TypeError(f"{cls.__name__}Backward returned a {type(r).__name__} where a Tensor or None is expected")
        if r is not None and not isinstance(args[i], torch.Tensor):
            raise RuntimeError(
                f"function {cls.__name__}Backward returned a gradient different from None at position {i + 1}, but the "
                "corresponding forward input was not a Variable"
            )
    return tuple(result[i] for i in places)


class BackwardHookFunction(Function):
    """Gives its tensors back; its node carries the backward hooks of a module."""

    @staticmethod
    def forward(ctx, *args):
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx, *args):
        return args


class NestedIOFunction(Function):
    """The old base of functions with nested inputs."""


class InplaceFunction(Function):
    """The old base of functions that may work in place."""


def once_differentiable(fn):
    """Say that the gradients of a backward cannot be differentiated."""

    @functools.wraps(fn)
    def wrapper(ctx, *args):
        with torch.no_grad():
            outputs = fn(ctx, *args)
        if not torch.is_grad_enabled():
            return outputs
        needs = any(isinstance(a, torch.Tensor) and a.requires_grad for a in args)
        if not needs:
            return outputs
        single = not isinstance(outputs, tuple)
        made = tuple(_Once.apply(o, *[a for a in args if isinstance(a, torch.Tensor)])
                     if isinstance(o, torch.Tensor) else o for o in ((outputs,) if single else outputs))
        return made[0] if single else made

    return wrapper


class _Once(Function):
    @staticmethod
    def forward(ctx, value, *others):
        return value.clone()

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")
