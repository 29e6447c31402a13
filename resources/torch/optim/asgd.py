"""Averaged stochastic gradient descent."""

import torch

from .optimizer import Optimizer, check, number


class ASGD(Optimizer):
    """SGD that keeps the mean of its parameters."""

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        check("learning rate", lr >= 0.0, lr)
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay,
                                      foreach=foreach, maximize=maximize, differentiable=differentiable,
                                      capturable=capturable))

    @torch.no_grad()
    def step(self, closure=None):
        """Change the parameters once."""
        loss = self._prepared(closure)
        for group in self.param_groups:
            lr, lambd = number(group["lr"]), group["lambd"]
            for p, grad in self._with_grads(group):
                state = self.state[p]
                if not state:
                    state["step"] = torch.zeros((), dtype=torch.float32)
                    state["eta"] = torch.tensor(lr, dtype=torch.float32)
                    state["mu"] = torch.ones((), dtype=torch.float32)
                    state["ax"] = torch.zeros_like(p)
                state["step"] += 1
                step, eta = number(state["step"]), number(state["eta"])
                if group["weight_decay"] != 0:
                    grad = grad.add(p, alpha=group["weight_decay"])
                p.mul_(1 - lambd * eta)
                p.add_(grad, alpha=-eta)
                if number(state["mu"]) != 1:
                    state["ax"].add_(p.sub(state["ax"]).mul_(state["mu"]))
                else:
                    state["ax"].copy_(p)
                state["eta"].fill_(lr / ((1 + lambd * lr * step) ** group["alpha"]))
                state["mu"].fill_(1 / max(1, step - group["t0"]))
        return loss
