"""Rprop."""

import torch

from .optimizer import Optimizer, check, number


class Rprop(Optimizer):
    """Steps by the sign of the gradient, longer while it stays the same."""

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        check("learning rate", lr >= 0.0, lr)
        check("eta values", 0.0 < etas[0] < 1.0 < etas[1], etas)
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))

    @torch.no_grad()
    def step(self, closure=None):
        """Change the parameters once."""
        loss = self._prepared(closure)
        for group in self.param_groups:
            down, up = group["etas"]
            low, high = group["step_sizes"]
            for p, grad in self._with_grads(group):
                state = self.state[p]
                if not state:
                    state["step"] = torch.zeros((), dtype=torch.float32)
                    state["prev"] = torch.zeros_like(p)
                    state["step_size"] = torch.full_like(grad, number(group["lr"]))
                state["step"] += 1
                sign = grad.mul(state["prev"]).sign()
                factor = torch.where(sign > 0, up, torch.where(sign < 0, down, 1.0)).to(grad.dtype)
                state["step_size"].mul_(factor).clamp_(low, high)
                grad = torch.where(sign < 0, torch.zeros_like(grad), grad)
                p.addcmul_(grad.sign(), state["step_size"], value=-1)
                state["prev"].copy_(grad)
        return loss
