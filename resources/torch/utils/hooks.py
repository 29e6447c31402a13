"""Handles that remove a hook, and the hooks of whole modules in the backward graph."""

import warnings
import weakref
from collections import OrderedDict

import torch


class RemovableHandle:
    """Removes a hook from the dict that it was registered in."""

    next_id = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extras = [] if extra_dict is None else extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extras)

    def remove(self):
        """Take the hook away; a second call does nothing."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None and self.id in hooks:
                del hooks[self.id]

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.remove()

    def __deepcopy__(self, memo):
        return self


def unserializable_hook(f):
    """Mark a hook that must not be serialized with its tensor."""
    f.__torch_unserializable__ = True
    return f


class BackwardHook:
    """Runs a module's full backward hooks around the backward of what its forward computed."""

    def __init__(self, module, user_hooks, user_pre_hooks):
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs = None
        self.n_inputs = self.n_outputs = -1
        self.input_index = self.output_index = None

    def setup_input_hook(self, args):
        """Pass the tensor arguments through a node whose hook sees the gradients of the inputs."""
        args, node, index, count = _through_identity(args)
        self.input_index, self.n_inputs = index, count
        if node is not None:
            node.register_hook(self._on_input_grads)
        return args

    def setup_output_hook(self, result):
        """Pass the tensor results through a node whose pre-hook sees the gradients of the outputs."""
        single = not isinstance(result, tuple)
        values, node, index, count = _through_identity((result,) if single else result)
        self.output_index, self.n_outputs = index, count
        if node is not None:
            node.register_prehook(self._on_output_grads)
        return values[0] if single else values

    def _on_output_grads(self, grads):
        full = _spread(self.n_outputs, self.output_index, grads)
        for hook in self.user_pre_hooks:
            result = hook(self.module, full)
            if result is not None:
                full = result if isinstance(result, tuple) else (result,)
        self.grad_outputs = full
        if not self.input_index:
            self._call_without_input_grads()
        return tuple(full[i] for i in self.output_index)

    def _on_input_grads(self, grads, _):
        if self.grad_outputs is None:
            return None
        full = _spread(self.n_inputs, self.input_index, grads)
        result = self._call_user_hooks(full)
        self.grad_outputs = None
        return None if result is full else tuple(result[i] for i in self.input_index)

    def _call_without_input_grads(self):
        warnings.warn("Full backward hook is firing when gradients are computed with respect to module outputs since no "
                      "inputs require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
                      "#torch.nn.Module.register_full_backward_hook for more details.", stacklevel=5)
        for hook in self.user_hooks:
            result = hook(self.module, (None,) * self.n_inputs, self.grad_outputs)
            if result is not None and not (isinstance(result, tuple) and all(grad is None for grad in result)):
                raise RuntimeError("Backward hook for Modules where no input requires gradient should always return None "
                                   "or None for all gradients.")
        self.grad_outputs = None

    def _call_user_hooks(self, grads):
        for hook in self.user_hooks:
            result = hook(self.module, grads, self.grad_outputs)
            if result is None:
                continue
            if len(result) != len(grads):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(result)}, but expected {len(grads)}"
                )
            grads = result
        return grads


def _through_identity(args):
    """The tensors of args as results of one node, with that node and the places that they have."""
    index = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
    needs = torch.is_grad_enabled() and any(args[i].requires_grad for i in index)
    if not needs:
        return args, None, [], len(args)
    made = torch.autograd.function.BackwardHookFunction.apply(*[args[i] for i in index])
    made = made if isinstance(made, tuple) else (made,)
    node = next(t.grad_fn for t in made if t.grad_fn is not None)
    values = list(args)
    for i, t in zip(index, made):
        values[i] = t
    rebuilt = type(args)(*values) if hasattr(args, "_fields") else tuple(values)
    return rebuilt, node, index, len(args)


def _spread(count, index, grads):
    values = [None] * count
    for i, g in zip(index, grads):
        values[i] = g
    return tuple(values)


__all__ = ["RemovableHandle", "BackwardHook", "unserializable_hook", "OrderedDict"]
