"""Placements: how a tensor lies along one dimension of a device mesh."""


class Placement:
    """What all placements have."""

    def is_shard(self, dim=None):
        """Whether ranks have parts, of that dimension."""
        return False

    def is_replicate(self):
        """Whether every rank has it all."""
        return False

    def is_partial(self, reduce_op=None):
        """Whether the values of the ranks are yet to be reduced."""
        return False

    def _text(self, ndim):
        """As the engine writes it."""
        raise NotImplementedError(f"{type(self).__name__} is no placement that this torch knows")

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash((type(self).__name__, *sorted(vars(self).items())))


def _dim_text(dim, ndim):
    if not -ndim <= dim < ndim:
        raise IndexError(f"a shard of dimension {dim} of a tensor of {ndim} dimensions")
    return dim % ndim


class Shard(Placement):
    """Each rank has a part of a dimension, split as torch.chunk does."""

    def __init__(self, dim):
        self.dim = dim

    def is_shard(self, dim=None):
        return dim is None or self.dim == dim

    def _text(self, ndim):
        return f"S({_dim_text(self.dim, ndim)})"

    def __repr__(self):
        return f"Shard(dim={self.dim})"

    def __str__(self):
        return f"S({self.dim})"


class _StridedShard(Shard):
    """A part of each of several equal stretches of a dimension."""

    def __init__(self, dim, *, split_factor):
        super().__init__(dim)
        self.split_factor = split_factor

    def _text(self, ndim):
        return f"_S({_dim_text(self.dim, ndim)}, {self.split_factor})"

    def __repr__(self):
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"

    def __str__(self):
        return f"_S({self.dim}, {self.split_factor})"


class Replicate(Placement):
    """Every rank has it all."""

    def is_replicate(self):
        return True

    def _text(self, ndim):
        return "R"

    def __repr__(self):
        return "Replicate()"

    def __str__(self):
        return "R"


class Partial(Placement):
    """The value is the reduction of what the ranks have."""

    def __init__(self, reduce_op="sum"):
        self.reduce_op = reduce_op

    def is_partial(self, reduce_op=None):
        return reduce_op is None or self.reduce_op == reduce_op

    def _text(self, ndim):
        return f"P({self.reduce_op})"

    def __repr__(self):
        return f"Partial({self.reduce_op})"

    def __str__(self):
        return f"P({self.reduce_op})"


_Partial = Partial


class _OtherPartial(Partial):
    """A Partial that only the engine makes: of a masked lookup, or of a norm."""

    def __init__(self, text):
        super().__init__("sum")
        self.text = text

    def _text(self, ndim):
        raise NotImplementedError(f"{self.text} is made by operators only")

    def __repr__(self):
        return self.text

    __str__ = __repr__


def _of_text(text):
    """The placement that the engine wrote."""
    if text == "R":
        return Replicate()
    kind, _, rest = text.partition("(")
    inner = rest.rstrip(")")
    if kind == "S":
        return Shard(int(inner))
    if kind == "_S":
        dim, factor = inner.split(",")
        return _StridedShard(int(dim), split_factor=int(factor))
    if kind == "P" and inner in ("sum", "avg", "max", "min", "product"):
        return Partial(inner)
    return _OtherPartial(text)


def _texts(placements, mesh, ndim):
    """Placements for the engine; the missing ones of None are replicated."""
    given = [Replicate()] * mesh.ndim if placements is None else list(placements)
    if len(given) != mesh.ndim:
        raise ValueError(f"`placements` must have the same length as `device_mesh.ndim`! Found placements length: "
                         f"{len(given)}, and device_mesh.ndim: {mesh.ndim}.")
    return [one._text(ndim) for one in given]
