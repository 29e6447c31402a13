"""Gradients of what was computed."""

import torch
from torch import _C, _absent

from . import anomaly_mode, forward_ad, function, functional, grad_mode, graph, profiler  # noqa: F401
from .anomaly_mode import detect_anomaly, set_detect_anomaly  # noqa: F401
from .function import Function, NestedIOFunction  # noqa: F401
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: F401
from .gradcheck import gradcheck, gradgradcheck  # noqa: F401

Variable = torch.Tensor


class _ExecutionEngine:
    """What is to be done at the end of the backward that runs."""

    def __init__(self):
        self._depth = 0
        self._callbacks = []

    def queue_callback(self, callback):
        """Call it when the backward that runs now has ended."""
        if self._depth == 0:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        self._callbacks.append(callback)

    def run(self, *call):
        """A backward, and what it leaves to do."""
        self._depth += 1
        try:
            result = _C._run_backward(*call)
            while self._depth == 1 and self._callbacks:
                self._callbacks.pop(0)()
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._callbacks.clear()
        return result


_engine = _ExecutionEngine()
Variable._execution_engine = _engine


def _as_tuple(x):
    return (x,) if isinstance(x, torch.Tensor) or not isinstance(x, (tuple, list)) else tuple(x)


def _make_grads(outputs, grads):
    """The gradients to start with: ones for scalars where none is given."""
    made = []
    for out, grad in zip(outputs, grads):
        if isinstance(grad, torch.Tensor):
            if grad.shape != out.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{len(made)}] has a shape of {grad.shape} and output[{len(made)}] "
                    f"has a shape of {out.shape}."
                )
            if out.dtype.is_complex != grad.dtype.is_complex:
                raise RuntimeError(
                    "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
                    f"dtype: grad_output[{len(made)}] has a dtype of {grad.dtype} and output[{len(made)}] has a dtype "
                    f"of {out.dtype}."
                )
            made.append(grad)
        elif grad is None:
            if not out.requires_grad:
                made.append(None)
                continue
            if out.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if not out.dtype.is_floating_point:
                raise RuntimeError(
                    f"grad can be implicitly created only for real scalar outputs but got {out.dtype}"
                )
            made.append(torch.ones_like(out, memory_format=torch.preserve_format))
        else:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
    return tuple(made)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Add gradients of tensors to the leaves that they depend on."""
    if grad_variables is not None:
        grad_tensors = grad_variables if grad_tensors is None else grad_tensors
    inputs = () if inputs is None else _as_tuple(inputs)
    tensors = _as_tuple(tensors)
    given = (None,) * len(tensors) if grad_tensors is None else _as_tuple(grad_tensors)
    grads = _make_grads(tensors, given)
    retain_graph = create_graph if retain_graph is None else retain_graph
    _engine.run(tensors, grads, retain_graph, create_graph, inputs, True, True)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """The gradients of outputs with respect to inputs, as a tuple."""
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    outputs, inputs = _as_tuple(outputs), _as_tuple(inputs)
    given = (None,) * len(outputs) if grad_outputs is None else _as_tuple(grad_outputs)
    if not inputs:
        raise ValueError("grad requires non-empty inputs.")
    retain_graph = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        result = _batched(outputs, given, inputs, create_graph, allow_unused)
    else:
        grads = _make_grads(outputs, given)
        result = _C._run_backward(outputs, grads, retain_graph, create_graph, inputs, allow_unused, False)
    if materialize_grads:
        result = tuple(torch.zeros_like(i, requires_grad=create_graph) if r is None else r
                       for r, i in zip(result, inputs))
    return tuple(result)


def _batched(outputs, given, inputs, create_graph, allow_unused):
    """Gradients for each of several vectors, stacked."""
    count = next(g.shape[0] for g in given if g is not None)
    rows = []
    for i in range(count):
        one = tuple(None if g is None else g[i] for g in given)
        rows.append(_C._run_backward(outputs, one, True, create_graph, inputs, allow_unused, False))
    return tuple(None if col[0] is None else torch.stack(col) for col in zip(*rows))


def _calculate_shape(output, grad, is_grads_batched):
    return output.shape, grad.shape[1:] if is_grads_batched else grad.shape


def variable(*args, **kwargs):
    """Removed: tensors are variables."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")

__getattr__ = _absent.getter(__name__)

