"""Numbers as tuples, for sizes of kernels."""

from itertools import repeat

from torch.nn._functional._common import list_with_default as _list_with_default  # noqa: F401
from torch.nn._functional._common import pair as _pair  # noqa: F401
from torch.nn._functional._common import single as _single  # noqa: F401
from torch.nn._functional._common import triple as _triple  # noqa: F401
from torch.nn._functional._common import tuple_of

_quadruple = tuple_of(4, "_quadruple")


def _ntuple(n, name="parse"):
    return tuple_of(n, name)


def _reverse_repeat_tuple(t, n):
    """The elements from the last on, each n times."""
    return tuple(x for x in reversed(t) for _ in repeat(None, n))


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Take a prefix off the keys of a state dict, in place."""
    for key in list(state_dict.keys()):
        if key.startswith(prefix):
            state_dict[key[len(prefix):]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    for key in list(metadata or ()):
        if key == prefix.replace(".", ""):
            metadata.pop(key)
        elif key.startswith(prefix):
            metadata[key[len(prefix):]] = metadata.pop(key)
