"""Hooks of one module: how they are registered (methods of Module)."""

from collections import OrderedDict

from torch.utils.hooks import RemovableHandle

from . import _global_hooks


def _put(hooks, hook, prepend, marks):
    handle = RemovableHandle(hooks, extra_dict=marks)
    hooks[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    if prepend:
        for dictionary in (hooks, *marks):
            dictionary.move_to_end(handle.id, last=False)
    return handle


def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
    """Call hook(module, args) before forward; what it returns replaces args."""
    return _put(self._forward_pre_hooks, hook, prepend, [self._forward_pre_hooks_with_kwargs] if with_kwargs else [])


def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
    """Call hook(module, args, output) after forward; what it returns replaces the output."""
    handle = _put(self._forward_hooks, hook, prepend, [self._forward_hooks_with_kwargs] if with_kwargs else [])
    if always_call:
        self._forward_hooks_always_called[handle.id] = True
    return handle


def register_full_backward_pre_hook(self, hook, prepend=False):
    """Call hook(module, grad_output) before the gradients of the module are computed."""
    return _put(self._backward_pre_hooks, hook, prepend, [])


def register_full_backward_hook(self, hook, prepend=False):
    """Call hook(module, grad_input, grad_output) when the gradients of the inputs are there."""
    if self._is_full_backward_hook is False:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
        )
    self._is_full_backward_hook = True
    return _put(self._backward_hooks, hook, prepend, [])


def register_backward_hook(self, hook):
    """The old kind of backward hook: it sits on the last node of the output."""
    if self._is_full_backward_hook is True:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
        )
    self._is_full_backward_hook = False
    return _put(self._backward_hooks, hook, False, [])


def _get_backward_hooks(self):
    """Two lists: the full backward hooks, and the others."""
    full, other = [], []
    for kind, hooks in ((_global_hooks.is_full_backward_hook, _global_hooks.backward_hooks),
                        (self._is_full_backward_hook, self._backward_hooks)):
        if kind is True:
            full += hooks.values()
        elif kind is False:
            other += hooks.values()
    return full, other


def _get_backward_pre_hooks(self):
    return [*_global_hooks.backward_pre_hooks.values(), *self._backward_pre_hooks.values()]


def _register_state_dict_hook(self, hook):
    if getattr(hook, "_from_public_api", False):
        raise RuntimeError(
            "Cannot register the same function as the state dict post hook that was previously registered via "
            "register_state_dict_post_hook"
        )
    return _put(self._state_dict_hooks, hook, False, [])


def register_state_dict_post_hook(self, hook):
    """Call hook(module, state_dict, prefix, local_metadata) after state_dict()."""
    hook._from_public_api = True
    return _put(self._state_dict_hooks, hook, False, [])


def register_state_dict_pre_hook(self, hook):
    """Call hook(module, prefix, keep_vars) before state_dict()."""
    return _put(self._state_dict_pre_hooks, hook, False, [])


class _WrappedHook:
    """A hook that gets its module as first argument if one was given."""

    def __init__(self, hook, module=None):
        self.hook = hook
        self.module = module

    def __call__(self, *args, **kwargs):
        return self.hook(*args, **kwargs) if self.module is None else self.hook(self.module, *args, **kwargs)


def _register_load_state_dict_pre_hook(self, hook, with_module=False):
    return _put(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None), False, [])


def register_load_state_dict_pre_hook(self, hook):
    """Call hook(module, state_dict, prefix, ...) before load_state_dict() fills the module."""
    return _register_load_state_dict_pre_hook(self, hook, with_module=True)


def register_load_state_dict_post_hook(self, hook):
    """Call hook(module, incompatible_keys) after load_state_dict() filled the module."""
    return _put(self._load_state_dict_post_hooks, hook, False, [])


__all__ = ["OrderedDict"]
