"""Module: the base class of neural network modules."""

import warnings
from collections import OrderedDict

import torch
import torch.utils.hooks as hooks
from torch.nn.parameter import Buffer, Parameter

from . import _convert, _hooks, _state, _walk
from . import _global_hooks as _global
from ._global_hooks import (  # noqa: F401
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._state import _EXTRA_STATE_KEY_SUFFIX, _IncompatibleKeys  # noqa: F401

_OWN_DICTS = ("_parameters", "_buffers", "_modules")


def _addindent(text, count):
    """Indent all lines but the first."""
    first, *rest = text.split("\n")
    return "\n".join([first] + [" " * count + line for line in rest])


def _forward_unimplemented(self, *input):
    """What a module without forward does when it is called."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


def _check_name(self, kind, name, table):
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {torch.typename(name)}")
    if kind == "module":
        if hasattr(self, name) and name not in table:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        return
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
    if hasattr(self, name) and name not in table:
        raise KeyError(f"attribute '{name}' already exists")


def _filtered(registration_hooks, module, name, value):
    for hook in registration_hooks.values():
        output = hook(module, name, value)
        if output is not None:
            value = output
    return value


class Module:
    """Holds parameters, buffers and submodules by name, and computes with them in forward()."""

    dump_patches = False
    _version = 1
    training: bool
    call_super_init = False
    _compiled_call_impl = None

    def __init__(self, *args, **kwargs):
        if self.call_super_init is False and kwargs:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        if self.call_super_init is False and args:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        torch._C._log_api_usage_once("python.nn_module")
        put = super().__setattr__
        put("training", True)
        put("_parameters", {})
        put("_buffers", {})
        put("_non_persistent_buffers_set", set())
        put("_backward_pre_hooks", OrderedDict())
        put("_backward_hooks", OrderedDict())
        put("_is_full_backward_hook", None)
        put("_forward_hooks", OrderedDict())
        put("_forward_hooks_with_kwargs", OrderedDict())
        put("_forward_hooks_always_called", OrderedDict())
        put("_forward_pre_hooks", OrderedDict())
        put("_forward_pre_hooks_with_kwargs", OrderedDict())
        put("_state_dict_hooks", OrderedDict())
        put("_state_dict_pre_hooks", OrderedDict())
        put("_load_state_dict_pre_hooks", OrderedDict())
        put("_load_state_dict_post_hooks", OrderedDict())
        put("_modules", {})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    forward = _forward_unimplemented

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that belongs to the module's state and is no parameter."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        _check_name(self, "buffer", name, self._buffers)
        if tensor is not None and not (isinstance(tensor, torch.Tensor) or hasattr(tensor, "__torch_function__")):
            raise TypeError(
                f"cannot assign '{torch.typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = _filtered(_global.buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name, param):
        """Add a parameter under a name."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        _check_name(self, "parameter", name, self._parameters)
        if param is None:
            self._parameters[name] = None
        elif not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{torch.typename(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        elif param.grad_fn:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        else:
            self._parameters[name] = _filtered(_global.parameter_registration_hooks, self, name, param)

    def add_module(self, name, module):
        """Add a submodule under a name."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{torch.typename(module)} is not a Module subclass")
        _check_name(self, "module", name, self._modules)
        self._modules[name] = _filtered(_global.module_registration_hooks, self, name, module)

    def register_module(self, name, module):
        """The same as add_module."""
        self.add_module(name, module)

    def _wrapped_call_impl(self, *args, **kwargs):
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        else:
            return self._call_impl(*args, **kwargs)

    def _call_impl(self, *args, **kwargs):
        if not (self._backward_hooks or self._backward_pre_hooks or self._forward_hooks or self._forward_pre_hooks
                or _global.backward_pre_hooks or _global.backward_hooks
                or _global.forward_hooks or _global.forward_pre_hooks):
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    def _call_with_hooks(self, args, kwargs):
        called = set()
        if torch.compiler.is_compiling():
            return self._run_hooks_and_forward(args, kwargs, called)
        try:
            return self._run_hooks_and_forward(args, kwargs, called)
        except Exception:
            self._run_always_called_hooks(args, kwargs, called)
            raise

    def _run_hooks_and_forward(self, args, kwargs, called):
        full, other, pre = [], [], []
        if self._backward_pre_hooks or _global.backward_pre_hooks:
            pre = self._get_backward_pre_hooks()
        if self._backward_hooks or _global.backward_hooks:
            full, other = self._get_backward_hooks()
        if _global.forward_pre_hooks or self._forward_pre_hooks:
            args, kwargs = self._run_forward_pre_hooks(args, kwargs)
        bw_hook = None
        if full or pre:
            bw_hook = hooks.BackwardHook(self, full, pre)
            args = bw_hook.setup_input_hook(args)
        result = self.forward(*args, **kwargs)
        if _global.forward_hooks or self._forward_hooks:
            result = self._run_forward_hooks(args, kwargs, result, called)
        if bw_hook:
            if not isinstance(result, (torch.Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors"
                    f" but received {type(result)}",
                    stacklevel=2,
                )
            result = bw_hook.setup_output_hook(result)
        if other:
            self._attach_old_backward_hooks(result, other)
        return result

    def _run_forward_pre_hooks(self, args, kwargs):
        for hook_id, hook in (*_global.forward_pre_hooks.items(), *self._forward_pre_hooks.items()):
            if hook_id in self._forward_pre_hooks_with_kwargs:
                changed = hook(self, args, kwargs)
                if changed is not None:
                    if not (isinstance(changed, tuple) and len(changed) == 2):
                        raise RuntimeError(
                            f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                        )
                    args, kwargs = changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        return args, kwargs

    def _run_forward_hooks(self, args, kwargs, result, called):
        for hook_id, hook in (*_global.forward_hooks.items(), *self._forward_hooks.items()):
            if hook_id in self._forward_hooks_always_called or hook_id in _global.forward_hooks_always_called:
                called.add(hook_id)
            if hook_id in self._forward_hooks_with_kwargs or hook_id in _global.forward_hooks_with_kwargs:
                changed = hook(self, args, kwargs, result)
            else:
                changed = hook(self, args, result)
            if changed is not None:
                result = changed
        return result

    def _run_always_called_hooks(self, args, kwargs, called):
        result = None
        tables = ((_global.forward_hooks, _global.forward_hooks_always_called, _global.forward_hooks_with_kwargs),
                  (self._forward_hooks, self._forward_hooks_always_called, self._forward_hooks_with_kwargs))
        for table, always, with_kwargs in tables:
            for hook_id, hook in table.items():
                if hook_id not in always or hook_id in called:
                    continue
                try:
                    changed = hook(self, args, kwargs, result) if hook_id in with_kwargs else hook(self, args, result)
                    result = result if changed is None else changed
                except Exception as error:
                    warnings.warn(
                        "module forward hook with ``always_call=True`` raised an exception that was silenced as "
                        f"another error was raised in forward: {error}",
                        stacklevel=2,
                    )

    def _attach_old_backward_hooks(self, result, other):
        var = result
        while not isinstance(var, torch.Tensor):
            var = next(v for v in var.values() if isinstance(v, torch.Tensor)) if isinstance(var, dict) else var[0]
        if var.grad_fn is not None:
            for hook in other:
                var.grad_fn.register_hook(_hooks._WrappedHook(hook, self))

    __call__ = _wrapped_call_impl

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __getattr__(self, name):
        if "_parameters" in self.__dict__:
            _parameters = self.__dict__["_parameters"]
            if name in _parameters:
                return _parameters[name]
        if "_buffers" in self.__dict__:
            _buffers = self.__dict__["_buffers"]
            if name in _buffers:
                return _buffers[name]
        if "_modules" in self.__dict__:
            modules = self.__dict__["_modules"]
            if name in modules:
                return modules[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _forget(self, name, keep):
        """Take a name out of where it may stand, but for one table."""
        for table in ("__dict__", "_parameters", "_buffers", "_modules"):
            if table == keep:
                continue
            held = self.__dict__ if table == "__dict__" else self.__dict__.get(table)
            if held is not None and name in held:
                del held[name]
        if keep != "_buffers":
            self.__dict__.get("_non_persistent_buffers_set", set()).discard(name)

    def __setattr__(self, name, value):
        params = self.__dict__.get("_parameters")
        if isinstance(value, Parameter):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif params is not None and name in params:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{torch.typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        else:
            self._set_module_or_buffer(name, value)

    def _set_module_or_buffer(self, name, value):
        modules, buffers = self.__dict__.get("_modules"), self.__dict__.get("_buffers")
        if isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_modules")
            modules[name] = _filtered(_global.module_registration_hooks, self, name, value)
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{torch.typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            modules[name] = _filtered(_global.module_registration_hooks, self, name, value)
        elif isinstance(value, Buffer) or (buffers is not None and name in buffers):
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def _set_buffer(self, name, value):
        buffers = self.__dict__.get("_buffers")
        if value is not None and not isinstance(value, torch.Tensor):
            raise TypeError(
                f"cannot assign '{torch.typename(value)}' as buffer '{name}' "
                "(torch.nn.Buffer, torch.Tensor or None expected)"
            )
        persistent = value.persistent if isinstance(value, Buffer) else name not in self._non_persistent_buffers_set
        if getattr(self.register_buffer, "__func__", None) is Module.register_buffer:
            if name not in buffers:
                self._forget(name, "_buffers")
            self.register_buffer(name, value, persistent)
        else:
            buffers[name] = value

    def __delattr__(self, name):
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def _get_name(self):
        return self.__class__.__name__

    def extra_repr(self):
        """What the printed module shows between its parentheses."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({key}): " + _addindent(repr(module), 2) for key, module in self._modules.items()]
        lines = extra_lines + child_lines
        text = self._get_name() + "("
        if lines:
            if len(extra_lines) == 1 and not child_lines:
                text += extra_lines[0]
            else:
                text += "\n  " + "\n  ".join(lines) + "\n"
        return text + ")"

    def __dir__(self):
        names = [*dir(self.__class__), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(n for n in names if not n[0].isdigit())

    def compile(self, *args, **kwargs):
        """Compile this module's call in place."""
        self._compiled_call_impl = torch.compile(self._call_impl, *args, **kwargs)


def _adopt(source):
    """Make the functions of a file methods of Module."""
    for name, value in vars(source).items():
        if callable(value) and getattr(value, "__module__", None) == source.__name__ and not isinstance(value, type):
            if name not in ("_put", "_has_own", "_load_one", "_load_extra_state", "_unknown_keys", "_leaf",
                            "_cast_floating", "_parse_to"):
                value.__qualname__ = "Module." + name
                setattr(Module, name, value)


for _source in (_hooks, _state, _walk, _convert):
    _adopt(_source)
