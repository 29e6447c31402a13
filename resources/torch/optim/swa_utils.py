"""Averages of models."""

import copy

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
