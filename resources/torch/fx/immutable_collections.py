"""Lists and dicts that a node holds: reading them is free, changing them goes through the node."""

from torch.utils import _pytree as pytree

_HELP = "If you are attempting to modify the kwargs or args of a torch.fx.Node object, instead create a new copy of it " \
        "and assign the copy to the node."


def _refuse(self, *args, **kwargs):
    raise TypeError(f"'{type(self).__name__}' object does not support mutation. {_HELP}")


def _frozen(base, name, changing):
    body = {method: _refuse for method in changing}
    body["__reduce__"] = lambda self: (cls, (base(self),))
    body["__module__"] = __name__
    cls = type(name, (base,), body)
    return cls


immutable_list = _frozen(list, "immutable_list", (
    "__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert", "pop", "remove", "reverse",
    "sort"))
immutable_list.__hash__ = lambda self: hash(tuple(self))
immutable_dict = _frozen(dict, "immutable_dict", (
    "__delitem__", "__ior__", "__setitem__", "clear", "pop", "popitem", "setdefault", "update"))
immutable_dict.__hash__ = lambda self: hash(frozenset(self.items()))

pytree.register_pytree_node(immutable_list, lambda x: (list(x), None), lambda values, _: immutable_list(values))
pytree.register_pytree_node(immutable_dict, lambda x: (list(x.values()), list(x)),
                            lambda values, keys: immutable_dict(zip(keys, values)))
