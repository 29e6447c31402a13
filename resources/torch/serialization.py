"""Saving and loading, to memory only: the sandbox has no files."""

import copy

import torch

_KEPT = {}


def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True,
         _disable_byteorder_record=False):
    """Keep obj for load() behind a buffer in memory."""
    if isinstance(f, str) or not hasattr(f, "write"):
        raise PermissionError("the sandbox has no files: torch.save takes a buffer in memory here")
    _KEPT[len(_KEPT)] = copy.deepcopy(_plain(obj))
    f.write(b"kerf-object:%d\n" % (len(_KEPT) - 1))


def _plain(obj):
    """Tensors without their graph."""
    if isinstance(obj, torch.Tensor) and not obj.is_leaf:
        return obj.detach().requires_grad_(obj.requires_grad)
    if type(obj) is dict:
        return {k: _plain(v) for k, v in obj.items()}
    if type(obj) in (list, tuple):
        return type(obj)(_plain(v) for v in obj)
    return obj


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """What save() wrote to a buffer."""
    if isinstance(f, str) or not hasattr(f, "read"):
        raise PermissionError("the sandbox has no files: torch.load takes a buffer in memory here")
    head, _, number = f.readline().partition(b":")
    if head != b"kerf-object" or int(number) not in _KEPT:
        raise RuntimeError("torch.load: the buffer holds nothing that torch.save wrote in this program")
    return copy.deepcopy(_KEPT[int(number)])
