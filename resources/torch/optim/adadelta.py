"""Adadelta."""

import torch

from .optimizer import Optimizer, check, number


class Adadelta(Optimizer):
    """Steps whose size follows from earlier steps."""

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False,
                 maximize=False, differentiable=False):
        check("learning rate", lr >= 0.0, lr)
        check("rho value", 0.0 <= rho <= 1.0, rho)
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      capturable=capturable, foreach=foreach, differentiable=differentiable))

    @torch.no_grad()
    def step(self, closure=None):
        """Change the parameters once."""
        loss = self._prepared(closure)
        for group in self.param_groups:
            rho, eps = group["rho"], group["eps"]
            for p, grad in self._with_grads(group):
                state = self.state[p]
                if not state:
                    state["step"] = torch.zeros((), dtype=torch.float32)
                    state["square_avg"] = torch.zeros_like(p)
                    state["acc_delta"] = torch.zeros_like(p)
                state["step"] += 1
                if group["weight_decay"] != 0:
                    grad = grad.add(p, alpha=group["weight_decay"])
                state["square_avg"].mul_(rho).addcmul_(grad, grad, value=1 - rho)
                std = state["square_avg"].add(eps).sqrt_()
                delta = state["acc_delta"].add(eps).sqrt_().div_(std).mul_(grad)
                state["acc_delta"].mul_(rho).addcmul_(delta, delta, value=1 - rho)
                p.add_(delta, alpha=-number(group["lr"]))
        return loss
