"""torch.ops: operators by namespace, name and overload."""

from torch import _C

_custom = {}
_fakes = {}


shapes_only = False


def node_of(op):
    """What a graph calls for an operator of the program: its name there, and the object."""
    overload = not isinstance(op, OpOverloadPacket)
    qualified = op._qualname if overload else op._qualified_op_name
    if qualified not in _custom:
        return None
    namespace, _, name = qualified.partition("::")
    packet = getattr(getattr(ops, namespace), name)
    return f"torch.ops.{namespace}.{name}" + (".default" if overload else ""), packet.default if overload else packet


def _run_custom(qualified, call):
    """Calls an operator of the program, or what gives its shapes."""
    fake = _fakes.get(qualified) if shapes_only else None
    return call if fake is None else fake


class OpOverload:
    """One overload of an operator."""

    def __init__(self, packet, call, name, overload):
        self._overloadpacket = packet
        self._op = call
        self._qualname = name
        self._overloadname = overload or "default"
        self.__name__ = f"{name.partition('::')[2]}.{self._overloadname}"
        self.__qualname__ = self.__name__
        self.__module__ = packet.__module__
        self.namespace = name.partition("::")[0]

    def __call__(self, /, *args, **kwargs):
        return self._op(*args, **kwargs)

    def __repr__(self):
        return f"<OpOverload(op='{self._qualname.replace('::', '.')}', overload='{self._overloadname}')>"

    def __str__(self):
        return f"{self._qualname.replace('::', '.')}.{self._overloadname}"

    def __hash__(self):
        return hash(self.__module__ + self.__name__)

    def __deepcopy__(self, memo):
        return self

    def name(self):
        """Namespace, name and overload as the dispatcher says them."""
        return self._qualname + ("" if self._overloadname == "default" else "." + self._overloadname)

    @property
    def overloadpacket(self):
        """The operator with all its overloads."""
        return self._overloadpacket

    @property
    def _schema(self):
        from torch._schema import FunctionSchema

        text = _C._get_schema(self._qualname, "" if self._overloadname == "default" else self._overloadname)
        return None if text is None else FunctionSchema(text)

    @property
    def is_view(self):
        """Whether its result looks at an argument's memory."""
        infos = [a.alias_info for a in self._schema.returns] if self._schema is not None else []
        return any(info is not None and not info.is_write for info in infos)


class OpOverloadPacket:
    """An operator with all its overloads."""

    def __init__(self, name, call, overloads):
        self._qualified_op_name = name
        self._op = call
        self._overload_names = ["default" if o in ("", "default") else o for o in overloads]
        self.__name__ = name.partition("::")[2]
        self.__module__ = f"torch._ops.{name.partition('::')[0]}"

    def __call__(self, /, *args, **kwargs):
        return self._op(*args, **kwargs)

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self._qualified_op_name.replace('::', '.')}')>"

    def __str__(self):
        return self._qualified_op_name.replace("::", ".")

    def __hash__(self):
        return hash(self._qualified_op_name)

    def __deepcopy__(self, memo):
        return self

    def overloads(self):
        """The names of the overloads."""
        return list(self._overload_names)

    def __iter__(self):
        return iter(self._overload_names)

    def __getattr__(self, key):
        if key.startswith("__"):
            raise AttributeError(f"'{self}' object has no attribute '{key}'")
        plain = "" if key == "default" else key
        call = _C._get_operation_overload(self._qualified_op_name, plain)
        if call is None:
            raise AttributeError(
                f"The underlying op of '{self}' has no overload name '{key}'"
            )
        made = OpOverload(self, call, self._qualified_op_name, plain)
        setattr(self, key, made)
        return made


class _CustomPacket(OpOverloadPacket):
    """An operator that the program defined."""

    def __init__(self, name, call):
        def run(*args, **kwargs):
            return _run_custom(name, call)(*args, **kwargs)

        super().__init__(name, run, [""])
        self.default = OpOverload(self, run, name, "")


class _OpNamespace:
    """The operators of one namespace."""

    def __init__(self, name):
        self.name = name
        self.__name__ = name

    def __getattr__(self, op_name):
        if op_name in ("__file__", "__origin__", "__self__", "__path__"):
            raise AttributeError(f"Invalid attribute '{op_name}' for '_OpNamespace' '{self.name}'")
        qualified = f"{self.name}::{op_name}"
        if qualified in _custom:
            made = _CustomPacket(qualified, _custom[qualified])
        else:
            found = _C._get_operation(qualified)
            if found is None:
                raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{op_name}'")
            made = OpOverloadPacket(qualified, found[0], found[1])
        made.__module__ = "torch._ops." + self.name
        setattr(self, op_name, made)
        return made

    def __repr__(self):
        return f"<_OpNamespace '{self.name}'>"


class _Ops:
    """torch.ops."""

    def __init__(self):
        self.__name__ = "torch.ops"

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if name == "higher_order":
            from torch._higher_order_ops._operators import operators as made
        else:
            made = _OpNamespace(name)
        setattr(self, name, made)
        return made

    def load_library(self, path):
        """Not allowed: the sandbox loads no libraries."""
        raise PermissionError("the sandbox loads no libraries: torch.ops.load_library is refused")


ops = _Ops()


def register_custom(qualified, call):
    """Make a function of the program an operator."""
    _custom[qualified] = call
    namespace, _, name = qualified.partition("::")
    getattr(ops, namespace).__dict__.pop(name, None)


class HigherOrderOperator:
    """An operator that takes functions."""

    def __init__(self, name, *, cacheable=False):
        self._name = name
        self.__name__ = name
        self.__module__ = "torch.ops.higher_order"
        self.namespace = "higher_order"

    def name(self):
        """Its name."""
        return self._name

    def __str__(self):
        return self._name

    def __repr__(self):
        return self._name
