"""Pruning: weights masked to zero."""

import torch
from torch import _absent
from torch.nn.parameter import Parameter


class _Pruned:
    """The hook that multiplies the weight with its mask."""

    def __init__(self, name):
        self.name = name

    def __call__(self, module, inputs):
        setattr(module, self.name, _masked(module, self.name))


def _masked(module, name):
    mask = getattr(module, name + "_mask")
    original = getattr(module, name + "_orig")
    return mask.to(dtype=original.dtype) * original


def custom_from_mask(module, name, mask):
    """Prune by a mask."""
    if not hasattr(module, name + "_mask"):
        original = getattr(module, name)
        module.register_parameter(name + "_orig", original)
        del module._parameters[name]
        module.register_buffer(name + "_mask", torch.ones_like(original))
        module.register_forward_pre_hook(_Pruned(name))
    held = getattr(module, name + "_mask")
    module._buffers[name + "_mask"] = held * mask.to(held.dtype)
    setattr(module, name, _masked(module, name))
    return module


def _count(amount, total):
    return round(amount * total) if isinstance(amount, float) else min(amount, total)


def identity(module, name):
    """Prune nothing."""
    return custom_from_mask(module, name, torch.ones_like(getattr(module, name)))


def random_unstructured(module, name, amount):
    """Prune elements at random."""
    t = getattr(module, name)
    mask = torch.ones_like(t).view(-1)
    count = _count(amount, t.nelement())
    if count:
        mask[torch.topk(torch.rand_like(t).view(-1), k=count).indices] = 0
    return custom_from_mask(module, name, mask.view(t.shape))


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prune the elements that are nearest to zero."""
    t = getattr(module, name)
    scores = t if importance_scores is None else importance_scores
    mask = torch.ones_like(t).view(-1)
    count = _count(amount, t.nelement())
    if count:
        mask[torch.topk(scores.detach().abs().reshape(-1), k=count, largest=False).indices] = 0
    return custom_from_mask(module, name, mask.view(t.shape))


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prune the slices along dim with the smallest norms."""
    t = getattr(module, name)
    scores = (t if importance_scores is None else importance_scores).detach()
    others = [d for d in range(t.dim()) if d != dim % t.dim()]
    norms = torch.norm(scores, p=n, dim=others)
    mask = torch.ones_like(t)
    count = _count(amount, t.size(dim))
    if count:
        mask.index_fill_(dim, torch.topk(norms, k=count, largest=False).indices, 0)
    return custom_from_mask(module, name, mask)


def is_pruned(module):
    """Whether a module or one below it is pruned."""
    return any(isinstance(h, _Pruned) for m in module.modules() for h in m._forward_pre_hooks.values())


def remove(module, name):
    """Make the pruned weight an ordinary one."""
    for k, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, _Pruned) and hook.name == name:
            value = _masked(module, name)
            if hasattr(module, name):
                delattr(module, name)
            original = module._parameters.pop(name + "_orig")
            del module._buffers[name + "_mask"]
            original.data = value.data
            module.register_parameter(name, original if isinstance(original, Parameter) else Parameter(original))
            del module._forward_pre_hooks[k]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")

__getattr__ = _absent.getter(__name__)

