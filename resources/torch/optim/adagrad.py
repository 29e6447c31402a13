"""Adagrad."""

import torch

from .optimizer import Optimizer, check, number


class Adagrad(Optimizer):
    """Steps by the gradient over the root of all squares so far."""

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10,
                 foreach=None, *, maximize=False, differentiable=False, fused=None):
        check("learning rate", lr >= 0.0, lr)
        check("lr_decay value", lr_decay >= 0.0, lr_decay)
        check("weight_decay value", weight_decay >= 0.0, weight_decay)
        check("epsilon value", eps >= 0.0, eps)
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
                                      initial_accumulator_value=initial_accumulator_value, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, fused=fused))
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["step"] = torch.tensor(0.0, dtype=torch.float32)
                state["sum"] = torch.full_like(p, initial_accumulator_value)

    @torch.no_grad()
    def step(self, closure=None):
        """Change the parameters once."""
        loss = self._prepared(closure)
        for group in self.param_groups:
            for p, grad in self._with_grads(group):
                state = self.state[p]
                state["step"] += 1
                if group["weight_decay"] != 0:
                    grad = grad.add(p, alpha=group["weight_decay"])
                rate = number(group["lr"]) / (1 + (number(state["step"]) - 1) * group["lr_decay"])
                state["sum"].addcmul_(grad, grad, value=1)
                p.addcdiv_(grad, state["sum"].sqrt().add_(group["eps"]), value=-rate)
        return loss
