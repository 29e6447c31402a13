"""Containers of parameters."""

import operator
from collections import OrderedDict
from collections import abc

import torch
from torch.nn.parameter import Parameter

from .module import Module


def _as_parameter(value):
    return Parameter(value) if isinstance(value, torch.Tensor) and not isinstance(value, Parameter) else value


def _lines(pairs, describe):
    made = []
    for k, p in pairs:
        if isinstance(p, torch.Tensor):
            size = "x".join(str(s) for s in p.size())
            device = f" ({p.device})" if p.device.type == "cuda" else ""
            kind = "Parameter" if isinstance(p, Parameter) else "Tensor"
            made.append(f"  ({k}): {kind} containing: [{describe(p)} of size {size}{device}]")
        else:
            made.append(f"  ({k}): Object of type: {type(p).__name__}")
    return "\n".join(made)


class ParameterList(Module):
    """A list of parameters and other values."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _get_abs_string_index(self, idx):
        idx = operator.index(idx)
        if not (-len(self) <= idx < len(self)):
            raise IndexError(f"index {idx} is out of range")
        if idx < 0:
            idx += len(self)
        return str(idx)

    def __getitem__(self, idx):
        if not isinstance(idx, slice):
            return getattr(self, self._get_abs_string_index(idx))
        out = self.__class__()
        for i in range(*idx.indices(len(self))):
            out.append(self[i])
        return out

    def __setitem__(self, idx, param):
        return setattr(self, self._get_abs_string_index(idx), _as_parameter(param))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self[i] for i in range(len(self)))

    def __iadd__(self, parameters):
        return self.extend(parameters)

    def __dir__(self):
        return [key for key in super().__dir__() if not key.isdigit()]

    def append(self, value):
        """Add a value at the end."""
        new_idx = len(self)
        self._size += 1
        self[new_idx] = value
        return self

    def extend(self, values):
        """Add values at the end."""
        if not isinstance(values, abc.Iterable) or isinstance(values, torch.Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got " + type(values).__name__)
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        return _lines(enumerate(self), lambda p: p.dtype)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters and other values by name."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key):
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}'). Open an issue on github if you need non-string keys."
            )
        return key

    def __getitem__(self, key):
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, self._key_to_attr(key), _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def copy(self):
        """A new dict with the same values."""
        return ParameterDict(OrderedDict((k, self[k]) for k in self._keys))

    def setdefault(self, key, default=None):
        """The value of key, which is set to default if there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        """Take all values out."""
        for k in self._keys.copy():
            del self[k]

    def pop(self, key):
        """Take a value out."""
        taken = self[key]
        del self[key]
        return taken

    def popitem(self):
        """Take the last pair out."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key, default=None):
        """The value of key, or default."""
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        """A new dict of keys with one value."""
        return ParameterDict((k, default) for k in keys)

    def keys(self):
        """The names."""
        return self._keys.keys()

    def items(self):
        """Pairs of name and value."""
        return ((k, self[k]) for k in self._keys)

    def values(self):
        """The values."""
        return (self[k] for k in self._keys)

    def update(self, parameters):
        """Set values from a mapping or from pairs."""
        if not isinstance(parameters, abc.Iterable):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, but got "
                + type(parameters).__name__
            )
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            pairs = list(parameters.items())
        elif isinstance(parameters, abc.Mapping):
            pairs = sorted(parameters.items())
        else:
            pairs = list(parameters)
        for j, p in enumerate(pairs):
            if not isinstance(p, abc.Iterable):
                raise TypeError(f"ParameterDict update sequence element #{j} should be Iterable; is{type(p).__name__}")
            if not len(p) == 2:
                raise ValueError(f"ParameterDict update sequence element #{j} has length {len(p)}; 2 is required")
            self[p[0]] = p[1]

    def extra_repr(self):
        return _lines(self.items(), torch.typename)

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other):
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other):
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other):
        self.update(other)
        return self
