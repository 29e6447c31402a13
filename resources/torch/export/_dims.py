"""Sizes that may differ: what dynamic_shapes says of each input."""

import dataclasses
import inspect

import torch
from torch.utils import _pytree as pytree

int_oo = (1 << 63) - 1


class _DimHint:
    """Dim.AUTO, Dim.DYNAMIC, Dim.STATIC; called, with bounds."""

    def __init__(self, kind, min=None, max=None):
        self.kind, self.min, self.max = kind, min, max

    def __call__(self, min=None, max=None):
        if not (min is None or isinstance(min, int)) or not (max is None or isinstance(max, int)):
            raise TypeError(f"min and max must be ints, got {min} and {max}")
        return _DimHint(self.kind, min, max)

    def __eq__(self, other):
        return isinstance(other, _DimHint) and (self.kind, self.min, self.max) == (other.kind, other.min, other.max)

    def __hash__(self):
        return hash((self.kind, self.min, self.max))

    def __repr__(self):
        return f"DimHint({self.kind})"


class Dim:
    """A size that may differ, by name: the same name is the same size. Sums with ints and products of it are derived."""

    AUTO = _DimHint("AUTO")
    DYNAMIC = _DimHint("DYNAMIC")
    STATIC = _DimHint("STATIC")

    def __init__(self, name, *, min=None, max=None):
        low, high = 0 if min is None else min, int_oo if max is None else max
        if not high > low:
            raise AssertionError(f"Cannot create Dim with inconsistent min={min}, max={max}")
        if not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        self.__name__, self.min, self.max = name, low, high
        self.root, self.factor, self.offset = self, 1, 0

    def _derived(self, factor, offset):
        made = object.__new__(Dim)
        made.root, made.factor, made.offset = self.root, factor, offset
        made.min = self.root.min * factor + offset
        made.max = int_oo if self.root.max == int_oo else self.root.max * factor + offset
        made.__name__ = made.text(self.root.__name__)
        return made

    def text(self, root):
        """The size as an expression of its root's."""
        product = root if self.factor == 1 else f"{self.factor}*{root}"
        return product if self.offset == 0 else f"{product} {'+' if self.offset > 0 else '-'} {abs(self.offset)}"

    def _int(self, other, what):
        if type(other) is not int:
            raise NotImplementedError(f"Attempted to {what} {other} to {self.__name__}, where an integer was expected. "
                                      "(Only increasing linear operations with integer coefficients are supported.)")
        return other

    def __add__(self, other):
        return self._derived(self.factor, self.offset + self._int(other, "add"))

    __radd__ = __add__

    def __sub__(self, other):
        return self._derived(self.factor, self.offset - self._int(other, "subtract"))

    def __rsub__(self, other):
        raise NotImplementedError(f"Attempted to negate {self.__name__}. (Only increasing linear operations with integer "
                                  "coefficients are supported.)")

    def __mul__(self, other):
        if type(other) is not int or other <= 0:
            raise NotImplementedError(f"Attempted to multiply {other} with {self.__name__}, where a positive integer was "
                                      "expected. (Only increasing linear operations with integer coefficients are "
                                      "supported.)")
        return self._derived(self.factor * other, self.offset * other)

    __rmul__ = __mul__

    def __repr__(self):
        return f"Dim('{self.__name__}', min={self.min}, max={self.max})"


def _refuse(message):
    from torch._dynamo.exc import UserError, UserErrorType

    raise UserError(UserErrorType.INVALID_INPUT, message)


def _bound(mod, args, kwargs):
    """The inputs by the names of forward's parameters."""
    try:
        bound = inspect.signature(mod.forward).bind(*args, **kwargs)
    except TypeError:
        return {**{f"arg{k}": a for k, a in enumerate(args)}, **kwargs}
    made = {}
    for name, value in bound.arguments.items():
        kind = inspect.signature(mod.forward).parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            made.update(value)
        else:
            made[name] = value
    return made


def _parts(value):
    """What a container holds, each with how Dynamo names it there."""
    if isinstance(value, dict):
        return [(f"[{key!r}]", child) for key, child in value.items()]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{name}", getattr(value, name)) for name in value._fields]
    if isinstance(value, (tuple, list)):
        return [(f"[{k}]", child) for k, child in enumerate(value)]
    if dataclasses.is_dataclass(value):
        return [(f".{f.name}", getattr(value, f.name, None)) for f in dataclasses.fields(value)]
    return []


def sources_of(mod, args, kwargs):
    """Dynamo's names of the tensors among the inputs ("L['ys'][1]", "L['pair'].a"), by identity."""
    found, seen = {}, set()

    def walk(value, source):
        if isinstance(value, torch.Tensor):
            found.setdefault(id(value), source)
        elif id(value) not in seen:
            seen.add(id(value))
            for part, child in _parts(value):
                walk(child, source + part)

    try:
        bound = inspect.signature(mod.forward).bind(*args, **kwargs)
    except TypeError:
        return found
    for name, value in bound.arguments.items():
        walk(value, f"L[{name!r}]")
    return found


def _is_spec(value):
    return value is None or isinstance(value, (int, Dim, _DimHint))


def _of_tensor(tensor, spec, where):
    if spec is None:
        return {}
    if isinstance(spec, dict):
        rows = spec
    elif isinstance(spec, (tuple, list)):
        if len(spec) != tensor.dim():
            _refuse(f"Expected dynamic shape spec {spec} specified at `dynamic_shapes{where}` to have the same length as "
                    f"the actual tensor shape {tensor.shape} (expected {tensor.dim()}, but got {len(spec)} instead)")
        rows = dict(enumerate(spec))
    else:
        _refuse(f"Unexpected dynamic_shape {spec} of Tensor, try None instead")
    made = {}
    for dim, row in rows.items():
        if not isinstance(dim, int):
            _refuse(f"Unexpected dynamic shape index {dim} of type {type(dim)} for a tensor at `dynamic_shapes{where}`")
        if not _is_spec(row):
            _refuse(f"Unexpected input tensor shape element {row} specified at `dynamic_shapes{where}[{dim}]`")
        dim = dim % tensor.dim() if tensor.dim() else dim
        if isinstance(row, int) and not isinstance(row, bool) and tensor.shape[dim] != row:
            _refuse(f"Static shape constraint of {row} does not match input size of {tensor.shape[dim]}, for "
                    f"inputs{where}.shape[{dim}]")
        made[dim] = row
    return made


def _walk(value, spec, where, found):
    """Specs of the tensors in a value, by identity of the tensor's place."""
    if isinstance(value, torch.Tensor):
        found.append(_of_tensor(value, spec, where))
        return
    children = None
    if isinstance(value, dict):
        children = [(f"['{k}']", v, k) for k, v in value.items()]
    elif isinstance(value, (tuple, list)):
        children = [(f"[{k}]", v, k) for k, v in enumerate(value)]
    else:
        leaves, tree = pytree.tree_flatten(value)
        if len(leaves) != 1 or leaves[0] is not value:
            children = [(f"[{k}]", v, k) for k, v in enumerate(leaves)]
    if children is None:
        if spec is not None and not isinstance(spec, _DimHint):
            _refuse(f"Cannot associate shape {spec} specified at `dynamic_shapes{where}` to non-tensor type "
                    f"{type(value)} at `inputs{where}` (expected None)")
        found.append({})
        return
    if spec is not None and (isinstance(spec, dict) != isinstance(value, dict) or len(spec) != len(children)):
        _refuse("Detected mismatch between the structure of `inputs` and `dynamic_shapes`: "
                + (f"`inputs{where}` has {len(children)} elements, but `dynamic_shapes{where}` has {len(spec)} elements"
                   if isinstance(spec, dict) == isinstance(value, dict)
                   else f"`inputs{where}` is a {type(value)}, but `dynamic_shapes{where}` is a {type(spec)}"))
    for text, child, key in children:
        if spec is not None and isinstance(spec, dict) and key not in spec:
            _refuse("Detected mismatch between the structure of `inputs` and `dynamic_shapes`: "
                    f"`inputs{where}` has keys {list(value)}, but `dynamic_shapes{where}` has keys {list(spec)}")
        _walk(child, None if spec is None else spec[key], where + text, found)


def specs_of(mod, args, kwargs, dynamic_shapes):
    """By leaf of (args, kwargs): {dim: None, an int, a Dim or a hint}; none differ for None. UserError for what does not
    fit the inputs."""
    if dynamic_shapes is None:
        return [{} for _ in pytree.tree_leaves((args, kwargs))]
    inputs = _bound(mod, args, kwargs)
    if isinstance(dynamic_shapes, ShapesCollection):
        dynamic_shapes = dynamic_shapes.dynamic_shapes(mod, args, kwargs)
    if isinstance(dynamic_shapes, dict):
        names = list(inputs)
        if set(dynamic_shapes) != set(names):
            _refuse(f"When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names {names} of "
                    f"`inputs`, but here they are {list(dynamic_shapes)}. Alternatively, you could also ignore arg names "
                    "entirely and specify `dynamic_shapes` as a list/tuple matching `inputs`.")
        by_name = dynamic_shapes
    elif isinstance(dynamic_shapes, (tuple, list)):
        if len(dynamic_shapes) != len(inputs):
            _refuse("Detected mismatch between the structure of `inputs` and `dynamic_shapes`: `inputs` has "
                    f"{len(inputs)} elements, but `dynamic_shapes` has {len(dynamic_shapes)} elements")
        by_name = dict(zip(inputs, dynamic_shapes))
    else:
        _refuse(f"Unexpected dynamic_shapes of type {type(dynamic_shapes)}: a dict, tuple or list is expected")
    found = []
    for name in [*(n for n in inputs if n not in kwargs), *(k for k in kwargs if k in inputs)]:  # as the leaves go
        _walk(inputs[name], by_name[name], f"['{name}']", found)
    return found


class ShapesCollection:
    """What dynamic_shapes says, by tensor."""

    def __init__(self):
        self._shapes, self._kept = {}, []

    def __setitem__(self, t, shape):
        if not isinstance(t, torch.Tensor):
            raise AssertionError(f"Cannot assign shape to non-tensor type {type(t)}")
        if id(t) in self._shapes and self._shapes[id(t)] != shape:
            raise AssertionError(f"Shapes assigned to tensor do not match: expected {self._shapes[id(t)]}, got {shape}")
        self._shapes[id(t)] = shape
        self._kept.append(t)

    def __getitem__(self, t):
        return self._shapes.setdefault(id(t), {})

    def __len__(self):
        return len(self._shapes)

    def dynamic_shapes(self, m, args, kwargs=None):
        """The same as a tree like the inputs."""
        return pytree.tree_map(lambda t: self._shapes.get(id(t)), dict(_bound(m, args, kwargs or {})))
