"""Trees of Python containers with leaves."""

import dataclasses
import functools
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import NamedTuple

NodeDef = namedtuple("NodeDef", ["type", "flatten_fn", "unflatten_fn", "flatten_with_keys_fn"])
SUPPORTED_NODES = {}
SUPPORTED_SERIALIZED_TYPES = {}
BUILTIN_TYPES = (tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque)


class MappingKey(NamedTuple):
    """A place in a mapping."""

    key: object

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        """What is there."""
        return mapping[self.key]


class SequenceKey(NamedTuple):
    """A place in a sequence."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        """What is there."""
        return sequence[self.idx]


class GetAttrKey(NamedTuple):
    """An attribute."""

    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        """What is there."""
        return getattr(obj, self.name)


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None,
                         from_dumpable_context=None, flatten_with_keys_fn=None):
    """Make a type a container: flatten_fn gives children and context, unflatten_fn takes them."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


_register_pytree_node = _private_register_pytree_node = register_pytree_node


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    """Make a dataclass a container of its fields."""
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"register_dataclass() must be called on a dataclass, got {cls}")
    names = field_names or [f.name for f in dataclasses.fields(cls) if f.name not in (drop_field_names or ())]

    def flatten(obj):
        present = [n for n in names if getattr(obj, n) is not None]
        absent = [n for n in names if getattr(obj, n) is None]
        return [getattr(obj, n) for n in present], [present, absent]

    def unflatten(values, context):
        present, absent = context
        return cls(**dict(zip(present, values)), **dict.fromkeys(absent))

    register_pytree_node(cls, flatten, unflatten, serialized_type_name=serialized_type_name)


def register_constant(cls):
    """Make a type a container without children."""
    register_pytree_node(cls, lambda x: ([], x), lambda _, x: x)


def _keys_by_index(values):
    return [SequenceKey(i) for i in range(len(values))]


def _dict_flatten(d):
    return list(d.values()), list(d.keys())


class _NamedResult:
    """The kind of torch.return_types.sort and its like."""


def _register_builtin():
    register_pytree_node(tuple, lambda d: (list(d), None), lambda v, c: tuple(v))
    register_pytree_node(list, lambda d: (d, None), lambda v, c: list(v))
    register_pytree_node(dict, _dict_flatten, lambda v, c: dict(zip(c, v)))
    register_pytree_node(OrderedDict, _dict_flatten, lambda v, c: OrderedDict(zip(c, v)))
    register_pytree_node(defaultdict, lambda d: (list(d.values()), [d.default_factory, list(d.keys())]),
                         lambda v, c: defaultdict(c[0], zip(c[1], v)))
    register_pytree_node(deque, lambda d: (list(d), d.maxlen), lambda v, c: deque(v, maxlen=c))
    register_pytree_node(_NamedResult, lambda d: (list(d), type(d)), lambda v, c: c(v))
    register_pytree_node(namedtuple, lambda d: (list(d), type(d)), lambda v, c: c(*v))


def is_namedtuple_class(cls):
    """Whether a class was made by namedtuple."""
    fields = getattr(cls, "_fields", None)
    return (isinstance(cls, type) and issubclass(cls, tuple) and isinstance(fields, tuple)
            and all(type(f) is str for f in fields) and callable(getattr(cls, "_make", None)))


def is_namedtuple(obj):
    """Whether an object is of a class that namedtuple made."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


_is_namedtuple_instance = is_namedtuple


def is_structseq(obj):
    """Whether an object is a named result of torch, such as that of max."""
    cls = obj if isinstance(obj, type) else type(obj)
    return issubclass(cls, tuple) and hasattr(cls, "n_fields") and cls is not tuple


def _get_node_type(tree):
    cls = type(tree)
    if cls in SUPPORTED_NODES:
        return cls
    if is_namedtuple(tree):
        return namedtuple
    return _NamedResult if is_structseq(cls) else cls


def _is_leaf(tree, is_leaf=None):
    return (is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


class TreeSpec:
    """The shape of a tree: type, context and shapes of the children."""

    def __init__(self, type, context, children_specs=()):
        self.type = type
        self.context = context
        self._children = list(children_specs)
        self.num_children = len(self._children)
        self.num_leaves = 1 if type is None else sum(c.num_leaves for c in self._children)
        self.num_nodes = 1 + sum(c.num_nodes for c in self._children)

    def children(self):
        """The shapes of the children."""
        return list(self._children)

    children_specs = property(children)

    def child(self, index):
        """The shape of one child."""
        return self._children[index]

    def is_leaf(self):
        """Whether this is a leaf."""
        return self.type is None

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type is other.type and self.context == other.context and self._children == other._children)

    def __hash__(self):
        context = self.context
        if isinstance(context, list):
            context = tuple(map(str, context))
        return hash((self.type, str(context), tuple(self._children)))

    def __repr__(self, indent=0):
        if self.type is None:
            return "*"
        children = ("," + "\n" + " " * (indent + 2)).join(c.__repr__(indent + 2) for c in self._children)
        inner = "[" + (f"{children}" if children else "") + "]"
        return f"TreeSpec({self.type.__name__}, {self.context}, {inner})"

    def flatten_up_to(self, tree):
        """The subtrees at the places of the leaves."""
        out = []
        self._up_to(tree, out)
        return out

    def _up_to(self, tree, out):
        if self.type is None:
            out.append(tree)
            return
        kind = _get_node_type(tree)
        same_dicts = self.type in (dict, OrderedDict, defaultdict) and kind in (dict, OrderedDict, defaultdict)
        if kind is not self.type and not same_dicts:
            raise ValueError(f"Type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        if same_dicts:
            keys = self.context[1] if self.type is defaultdict else self.context
            if set(keys) != set(tree):
                raise ValueError(f"Node keys mismatch; expected {list(keys)!r}, but got {list(tree)!r}.")
            values = [tree[k] for k in keys]
        else:
            values, _ = SUPPORTED_NODES[kind].flatten_fn(tree)
            values = list(values)
        if len(values) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(values)}.")
        for child, value in zip(self._children, values):
            child._up_to(value, out)

    def unflatten(self, leaves):
        """The tree with these leaves."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
                f"holds {self.num_leaves} items ({self})."
            )
        return self._unflatten(iter(leaves))

    def _unflatten(self, leaves):
        if self.type is None:
            return next(leaves)
        return SUPPORTED_NODES[self.type].unflatten_fn([c._unflatten(leaves) for c in self._children], self.context)


class LeafSpec(TreeSpec):
    """The shape of a leaf."""

    def __init__(self):
        super().__init__(None, None, [])


_LEAF_SPEC = LeafSpec()


def treespec_leaf():
    """The shape of a leaf."""
    return _LEAF_SPEC


def treespec_tuple(iterable=(), /):
    """The shape of a tuple."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping=(), /, **kwargs):
    """The shape of a dict."""
    d = dict(mapping, **kwargs)
    return TreeSpec(dict, list(d.keys()), list(d.values()))


def _flatten(tree, leaves, is_leaf):
    if _is_leaf(tree, is_leaf):
        leaves.append(tree)
        return _LEAF_SPEC
    kind = _get_node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(c, leaves, is_leaf) for c in children])


def tree_flatten(tree, is_leaf=None):
    """The leaves, and the shape of the tree."""
    leaves = []
    return leaves, _flatten(tree, leaves, is_leaf)


def tree_unflatten(leaves, treespec):
    """The tree of that shape with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree, is_leaf=None):
    """The leaves, one by one."""
    yield from tree_flatten(tree, is_leaf)[0]


def tree_leaves(tree, is_leaf=None):
    """The leaves."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    """The shape."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """A tree of the same shape with func of the leaves."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves] + [spec.flatten_up_to(r) for r in rests]
    return spec.unflatten(map(func, *columns))


def tree_map_(func, tree, *rests, is_leaf=None):
    """Call func with the leaves and give the tree back."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves] + [spec.flatten_up_to(r) for r in rests]
    deque(map(func, *columns), maxlen=0)
    return tree


def map_only(type_or_types_or_pred, /):
    """Make a function leave alone what is not of these types."""
    if isinstance(type_or_types_or_pred, (type, tuple)):
        def pred(x):
            return isinstance(x, type_or_types_or_pred)
    elif callable(type_or_types_or_pred):
        pred = type_or_types_or_pred
    else:
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")

    def wrapper(func):
        return functools.wraps(func)(lambda x: func(x) if pred(x) else x)

    return wrapper


def tree_map_only(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """tree_map for leaves of some types; the others stay."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """tree_map_ for leaves of some types."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    """Whether pred holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    """Whether pred holds for a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether pred holds for all leaves of some types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether pred holds for a leaf of some types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """Leaves of tree repeated where treespec has a subtree; None if the shapes do not fit."""
    if _is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf():
        return None
    kind = _get_node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    children = list(children)
    if kind is not treespec.type or context != treespec.context or len(children) != treespec.num_children:
        return None
    made = []
    for child, spec in zip(children, treespec.children()):
        flat = _broadcast_to_and_flatten(child, spec, is_leaf)
        if flat is None:
            return None
        made += flat
    return made


def _keyed_children(tree):
    kind = _get_node_type(tree)
    node = SUPPORTED_NODES[kind]
    if node.flatten_with_keys_fn is not None:
        return list(node.flatten_with_keys_fn(tree)[0])
    if kind in (dict, OrderedDict, defaultdict):
        return [(MappingKey(k), v) for k, v in tree.items()]
    children = list(node.flatten_fn(tree)[0])
    if kind is namedtuple:
        return list(zip([GetAttrKey(f) for f in tree._fields], children))
    if dataclasses.is_dataclass(tree):
        present = node.flatten_fn(tree)[1][0]
        return list(zip([GetAttrKey(f) for f in present], children))
    return list(zip(_keys_by_index(children), children))


def _leaves_with_path(tree, path, out, is_leaf):
    if _is_leaf(tree, is_leaf):
        out.append((path, tree))
        return
    for key, child in _keyed_children(tree):
        _leaves_with_path(child, (*path, key), out, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    """Pairs of path and leaf."""
    out = []
    _leaves_with_path(tree, (), out, is_leaf)
    return out


def tree_flatten_with_path(tree, is_leaf=None):
    """Pairs of path and leaf, and the shape of the tree."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """A tree of the same shape with func of paths and leaves."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [[p for p, _ in pairs], [v for _, v in pairs]] + [spec.flatten_up_to(r) for r in rests]
    return spec.unflatten(map(func, *columns))


def keystr(kp):
    """A path as text."""
    return "".join(str(k) for k in kp)


def key_get(obj, kp):
    """What is at a path."""
    for k in kp:
        obj = k.get(obj)
    return obj


def arg_tree_leaves(*args, **kwargs):
    """The leaves of arguments."""
    return tree_leaves((args, kwargs))


_register_builtin()
