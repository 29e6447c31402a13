"""The graph of what was computed, and hooks in it."""

import contextlib

import torch
from torch import _C
from torch.utils.hooks import RemovableHandle

Node = getattr(_C, "_Node", object)


class GradientEdge(tuple):
    """A place in the graph: a node and which of its outputs."""

    def __new__(cls, node, output_nr, ownership_token=None):
        return super().__new__(cls, (node, output_nr, ownership_token))

    node = property(lambda self: self[0])
    output_nr = property(lambda self: self[1])


def get_gradient_edge(tensor):
    """The place that a tensor has in the graph."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn if tensor.grad_fn is not None else tensor.view_as(tensor).grad_fn.next_functions[0][0]
    return GradientEdge(node, tensor.output_nr)


class saved_tensors_hooks:
    """In the block, tensors that backward needs pass through pack, and through unpack when it runs."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        _C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *args):
        _C._pop_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Keep what backward needs on the CPU."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda t: (t.device, t.detach().cpu()), lambda packed: packed[1].to(packed[0]))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """In the block, hooks on saved tensors raise."""
    yield


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """In the block, what backward needs is kept as copies."""
    with saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        yield


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call fn when the gradients of all tensors (or any of them) are there."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    needed = [t for t in tensors if t.requires_grad]
    have, done = {}, [False]

    def hook(i):
        def inner(grad):
            if mode == "any":
                if not done[0]:
                    done[0] = True
                    fn(grad)
                return
            have[i] = grad
            if len(have) == len(needed):
                fn([have.get(i) for i in range(len(needed))])
                have.clear()

        return inner

    return _Handles([t.register_hook(hook(i)) for i, t in enumerate(needed)])


class _Handles(RemovableHandle):
    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        """Take all hooks away."""
        for handle in self.handles:
            handle.remove()


def increment_version(tensor):
    """Count a change of a tensor that torch did not see."""
    with torch.no_grad():
        for t in [tensor] if isinstance(tensor, torch.Tensor) else tensor:
            t.add_(0)
