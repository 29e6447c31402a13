"""Averages of models."""

import copy
import math

import torch


def get_ema_multi_avg_fn(decay=0.999):
    """An exponential average."""

    @torch.no_grad()
    def update(averaged, current, _):
        for a, c in zip(averaged, current):
            a.lerp_(c, 1 - decay)

    return update


class AveragedModel(torch.nn.Module):
    """A copy of a model with the mean of its parameters."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        """Take another state of the model into the mean."""
        own, new = list(self.module.parameters()), list(model.parameters())
        if self.use_buffers:
            own += list(self.module.buffers())
            new += list(model.buffers())
        with torch.no_grad():
            if self.n_averaged == 0:
                for a, b in zip(own, new):
                    a.copy_(b)
            elif self.multi_avg_fn is not None:
                self.multi_avg_fn(own, new, self.n_averaged)
            else:
                for a, b in zip(own, new):
                    if self.avg_fn is not None:
                        a.copy_(self.avg_fn(a, b, self.n_averaged))
                    else:
                        a.copy_(a + (b - a) / (self.n_averaged + 1))
            self.n_averaged += 1


def get_swa_multi_avg_fn():
    """The plain mean."""

    @torch.no_grad()
    def update(averaged, current, count):
        for a, c in zip(averaged, current):
            a.lerp_(c, 1 / (count.item() + 1))

    return update


@torch.no_grad()
def update_bn(loader, model, device=None):
    """Statistics of batch norms over a whole data set."""
    norms = [m for m in model.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    was_training, momenta = model.training, {m: m.momentum for m in norms}
    model.train()
    for m in norms:
        m.reset_running_stats()
        m.momentum = None
    for batch in loader:
        batch = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(batch if device is None else batch.to(device))
    for m in norms:
        m.momentum = momenta[m]
    model.train(was_training)


class SWALR(torch.optim.lr_scheduler.LRScheduler):
    """The rate goes to a fixed one."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(optimizer.param_groups)
        for group, rate in zip(optimizer.param_groups, rates):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.anneal_func = {"cos": lambda t: (1 - math.cos(math.pi * t)) / 2, "linear": lambda t: t}[anneal_strategy]
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.anneal_epochs == 0:
            return [group["swa_lr"] for group in self.optimizer.param_groups]
        before = self.anneal_func(max(0, min(1, (self._step_count - 2) / max(1, self.anneal_epochs))))
        now = self.anneal_func(max(0, min(1, (self._step_count - 1) / max(1, self.anneal_epochs))))
        made = []
        for group in self.optimizer.param_groups:
            start = group["swa_lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            made.append(group["swa_lr"] * now + start * (1 - now))
        return made
