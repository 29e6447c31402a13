"""state_dict and load_state_dict (methods of Module)."""

from collections import OrderedDict, namedtuple

import torch
from torch.nn.parameter import Parameter, is_lazy

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


def get_extra_state(self):
    """What state_dict() stores beside tensors; subclasses define it."""
    raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")


def set_extra_state(self, state):
    """Take what get_extra_state() gave; subclasses define it."""
    raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")


def _has_own(self, name):
    return getattr(type(self), name) is not getattr(torch.nn.Module, name)


def _save_to_state_dict(self, destination, prefix, keep_vars):
    """Put the module's own parameters and persistent buffers into destination."""
    for name, param in self._parameters.items():
        if param is not None:
            destination[prefix + name] = param if keep_vars else param.detach()
    for name, buf in self._buffers.items():
        if buf is not None and name not in self._non_persistent_buffers_set:
            destination[prefix + name] = buf if keep_vars else buf.detach()
    if _has_own(self, "get_extra_state"):
        destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()


def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
    """All parameters and persistent buffers by name, in the order of the modules."""
    if args:
        destination = args[0] if destination is None else destination
        prefix = args[1] if len(args) > 1 and prefix == "" else prefix
        keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    local_metadata = dict(version=self._version)
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local_metadata
    for hook in self._state_dict_pre_hooks.values():
        hook(self, prefix, keep_vars)
    self._save_to_state_dict(destination, prefix, keep_vars)
    for name, module in self._modules.items():
        if module is not None:
            module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
    for hook in self._state_dict_hooks.values():
        result = hook(self, destination, prefix, local_metadata)
        if getattr(hook, "_from_public_api", False):
            if result is not None:
                raise RuntimeError("state_dict post-hook must return None")
        elif result is not None:
            destination = result
    return destination


def _load_one(self, name, param, state, key, assign, errors):
    """Fill one parameter or buffer from the state."""
    value = state[key]
    if not isinstance(value, torch.Tensor):
        errors.append(
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint '
            f"but received {type(value)}"
        )
        return
    lazy = is_lazy(param)
    if not lazy and len(param.shape) == 0 and len(value.shape) == 1:
        value = value[0]
    if not lazy and value.shape != param.shape:
        errors.append(
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {param.shape}."
        )
        return
    try:
        with torch.no_grad():
            if assign:
                if isinstance(param, Parameter):
                    value = value if isinstance(value, Parameter) else Parameter(value, requires_grad=param.requires_grad)
                setattr(self, name, value)
            else:
                param.copy_(value)
    except Exception as error:
        errors.append(
            f'While copying the parameter named "{key}", whose dimensions in the model are {param.size()} and whose '
            f"dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}."
        )


def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
    """Fill the module's own parameters and buffers from state_dict."""
    for hook in self._load_state_dict_pre_hooks.values():
        hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
    persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
    assign = local_metadata.get("assign_to_params_buffers", False)
    for name, param in {**self._parameters, **persistent}.items():
        if param is None:
            continue
        key = prefix + name
        if key in state_dict:
            _load_one(self, name, param, state_dict, key, assign, error_msgs)
        elif strict:
            missing_keys.append(key)
    _load_extra_state(self, state_dict, prefix, strict, missing_keys, unexpected_keys)
    if strict:
        unexpected_keys.extend(_unknown_keys(self, state_dict, prefix, persistent))


def _load_extra_state(self, state_dict, prefix, strict, missing_keys, unexpected_keys):
    key = prefix + _EXTRA_STATE_KEY_SUFFIX
    if _has_own(self, "set_extra_state"):
        if key in state_dict:
            self.set_extra_state(state_dict[key])
        elif strict:
            missing_keys.append(key)
    elif strict and key in state_dict:
        unexpected_keys.append(key)


def _unknown_keys(self, state_dict, prefix, persistent):
    known = {k for k, v in {**self._parameters, **persistent}.items() if v is not None}
    for key in state_dict:
        if not key.startswith(prefix) or key == prefix + _EXTRA_STATE_KEY_SUFFIX:
            continue
        parts = key[len(prefix):].split(".", 1)
        if len(parts) > 1:
            if parts[0] not in self._modules:
                yield key
        elif parts[0] not in known:
            yield key


def load_state_dict(self, state_dict, strict=True, assign=False):
    """Fill parameters and buffers of this module and its submodules; say which keys did not fit."""
    if not hasattr(state_dict, "keys"):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    missing, unexpected, errors = [], [], []
    metadata = getattr(state_dict, "_metadata", None)
    state_dict = OrderedDict(state_dict)
    if metadata is not None:
        state_dict._metadata = metadata

    def load(module, state, prefix=""):
        local = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            local["assign_to_params_buffers"] = assign
        module._load_from_state_dict(state, prefix, local, True, missing, unexpected, errors)
        for name, child in module._modules.items():
            if child is not None:
                inner = prefix + name + "."
                load(child, {k: v for k, v in state.items() if k.startswith(inner)}, inner)
        incompatible = _IncompatibleKeys(missing, unexpected)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, incompatible) is not None:
                raise AssertionError("Hooks registered with register_load_state_dict_post_hook must return None")

    load(self, state_dict)
    if strict:
        if unexpected:
            errors.insert(0, "Unexpected key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in unexpected)))
        if missing:
            errors.insert(0, "Missing key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in missing)))
    if errors:
        raise RuntimeError(
            "Error(s) in loading state_dict for {}:\n\t{}".format(self.__class__.__name__, "\n\t".join(errors))
        )
    return _IncompatibleKeys(missing, unexpected)
