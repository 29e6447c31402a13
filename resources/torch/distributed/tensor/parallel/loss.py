"""loss_parallel: cross entropy of logits whose classes are sharded, without gathering them."""

import contextlib

import torch
from torch.distributed import _functional_collectives as funcol
from torch.distributed.tensor import DTensor, Replicate
from torch.nn._functional import loss as losses


@contextlib.contextmanager
def loss_parallel():
    """Cross entropy within does not gather logits that are sharded along their classes."""
    before, losses._sharded_cross_entropy = losses._sharded_cross_entropy, cross_entropy
    try:
        yield
    finally:
        losses._sharded_cross_entropy = before


class _ShardedLoss(torch.autograd.Function):
    """Three reductions forward (largest logit, sum of exponentials, logit of the target), none backward."""

    @staticmethod
    def forward(ctx, local, target, group, first, classes, ignored):
        top = funcol.all_reduce(local.amax(1, keepdim=True), "max", group)
        shifted = local - top
        total = funcol.all_reduce(shifted.exp().sum(1, keepdim=True), "sum", group)
        kept = target != ignored
        inside = kept & (target >= first) & (target < first + local.shape[1])
        place = torch.where(inside, target - first, torch.zeros_like(target)).unsqueeze(1)
        chosen = shifted.gather(1, place) * inside.unsqueeze(1).to(local.dtype)
        chosen = funcol.all_reduce(chosen, "sum", group)
        loss = (total.log() - chosen).squeeze(1)
        ctx.save_for_backward(shifted, total, place, inside, kept)
        return torch.where(kept, loss, torch.zeros_like(loss))

    @staticmethod
    def backward(ctx, grad):
        shifted, total, place, inside, kept = ctx.saved_tensors
        each = (grad * kept.to(grad.dtype)).unsqueeze(1)
        flow = shifted.exp() / total * each
        hit = torch.zeros_like(flow).scatter(1, place, inside.unsqueeze(1).to(flow.dtype))
        return flow - hit * each, None, None, None, None, None


def cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing):
    """The loss of such logits; None where they are not of that kind."""
    if not isinstance(input, DTensor) or input.ndim < 2 or not input.placements[0].is_shard(1):
        return None
    if input.device_mesh.ndim != 1:
        raise ValueError("loss_parallel: the logits are on a mesh of more than one dimension")
    if weight is not None or label_smoothing > 0:
        raise NotImplementedError("loss_parallel with weights of classes or label smoothing")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    mesh, classes = input.device_mesh, input.shape[1]
    local = input.to_local()
    whole = target.full_tensor() if isinstance(target, DTensor) else target
    chunk = -(-classes // mesh.size())
    first = min(mesh.get_local_rank() * chunk, classes)
    each = _ShardedLoss.apply(local, whole, mesh.get_group(), first, classes, ignore_index)
    if reduction == "none":
        made = each
    else:
        made = each.sum()
        if reduction == "mean":
            made = made / (whole != ignore_index).sum().to(made.dtype)
    return DTensor.from_local(made, mesh, [Replicate()], run_check=False)
