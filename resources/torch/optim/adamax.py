"""Adamax: Adam with the largest gradient in the place of the root."""

import torch

from .optimizer import Optimizer, check, number


class Adamax(Optimizer):
    """Steps by the running mean of gradients over the largest of them."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):
        check("learning rate", lr >= 0.0, lr)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, capturable=capturable))

    @torch.no_grad()
    def step(self, closure=None):
        """Change the parameters once."""
        loss = self._prepared(closure)
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p, grad in self._with_grads(group):
                state = self.state[p]
                if not state:
                    state["step"] = torch.tensor(0.0, dtype=torch.float32)
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_inf"] = torch.zeros_like(p)
                state["step"] += 1
                if group["weight_decay"] != 0:
                    grad = grad.add(p, alpha=group["weight_decay"])
                state["exp_avg"].lerp_(grad, 1 - beta1)
                state["exp_inf"].copy_(torch.maximum(state["exp_inf"].mul(beta2), grad.abs().add_(group["eps"])))
                p.addcdiv_(state["exp_avg"], state["exp_inf"],
                           value=-number(group["lr"]) / (1 - beta1 ** number(state["step"])))
        return loss
