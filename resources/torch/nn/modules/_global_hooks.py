"""Hooks that hold for all modules."""

from collections import OrderedDict

from torch.utils.hooks import RemovableHandle

forward_pre_hooks = OrderedDict()
forward_hooks = OrderedDict()
forward_hooks_always_called = OrderedDict()
forward_hooks_with_kwargs = OrderedDict()
backward_pre_hooks = OrderedDict()
backward_hooks = OrderedDict()
buffer_registration_hooks = OrderedDict()
module_registration_hooks = OrderedDict()
parameter_registration_hooks = OrderedDict()
is_full_backward_hook = None


def _add(hooks, hook, *marks):
    handle = RemovableHandle(hooks, extra_dict=list(marks))
    hooks[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    return handle


def register_module_buffer_registration_hook(hook):
    """Call hook(module, name, buffer) whenever a buffer is registered."""
    return _add(buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook):
    """Call hook(module, name, submodule) whenever a submodule is registered."""
    return _add(module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook):
    """Call hook(module, name, parameter) whenever a parameter is registered."""
    return _add(parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook):
    """Call hook(module, args) before every module's forward."""
    return _add(forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Call hook(module, args, output) after every module's forward."""
    marks = ([forward_hooks_with_kwargs] if with_kwargs else []) + ([forward_hooks_always_called] if always_call else [])
    return _add(forward_hooks, hook, *marks)


def register_module_backward_hook(hook):
    """The old kind of backward hook, for all modules."""
    return _register_backward(hook, False)


def register_module_full_backward_hook(hook):
    """Call hook(module, grad_input, grad_output) in the backward of every module."""
    return _register_backward(hook, True)


def register_module_full_backward_pre_hook(hook):
    """Call hook(module, grad_output) before the backward of every module."""
    return _add(backward_pre_hooks, hook)


def _register_backward(hook, full):
    global is_full_backward_hook
    if is_full_backward_hook is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
            "Please use only one of them."
        )
    is_full_backward_hook = full
    return _add(backward_hooks, hook)
