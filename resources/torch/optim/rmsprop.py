"""RMSprop."""

import torch

from .optimizer import Optimizer, check, number


class RMSprop(Optimizer):
    """Steps by the gradient over the root of the running mean of squares."""

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
                 capturable=False, foreach=None, maximize=False, differentiable=False):
        check("learning rate", lr >= 0.0, lr)
        check("epsilon value", eps >= 0.0, eps)
        check("momentum value", momentum >= 0.0, momentum)
        check("weight_decay value", weight_decay >= 0.0, weight_decay)
        check("alpha value", alpha >= 0.0, alpha)
        super().__init__(params, dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered,
                                      weight_decay=weight_decay, capturable=capturable, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable))

    @torch.no_grad()
    def step(self, closure=None):
        """Change the parameters once."""
        loss = self._prepared(closure)
        for group in self.param_groups:
            for p, grad in self._with_grads(group):
                self._update(group, p, grad)
        return loss

    def _update(self, group, p, grad):
        state = self.state[p]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32)
            state["square_avg"] = torch.zeros_like(p)
            if group["momentum"] > 0:
                state["momentum_buffer"] = torch.zeros_like(p)
            if group["centered"]:
                state["grad_avg"] = torch.zeros_like(p)
        state["step"] += 1
        alpha, rate = group["alpha"], number(group["lr"])
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        squares = state["square_avg"].mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"].lerp_(grad, 1 - alpha)
            root = squares.addcmul(mean, mean, value=-1).sqrt_()
        else:
            root = squares.sqrt()
        root = root.add_(group["eps"])
        if group["momentum"] > 0:
            buf = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, root)
            p.add_(buf, alpha=-rate)
        else:
            p.addcdiv_(grad, root, value=-rate)
