"""Stochastic gradient descent."""

import torch

from .optimizer import Optimizer, check


class SGD(Optimizer):
    """Steps against the gradient, with momentum."""

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        check("learning rate", lr >= 0.0, lr)
        check("momentum value", momentum >= 0.0, momentum)
        check("weight_decay value", weight_decay >= 0.0, weight_decay)
        defaults = dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov,
                        maximize=maximize, foreach=foreach, differentiable=differentiable, fused=fused)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        """Change the parameters once."""
        loss = self._prepared(closure)
        for group in self.param_groups:
            for p, grad in self._with_grads(group):
                p.add_(self._direction(group, p, grad), alpha=-group["lr"])
        return loss

    def _direction(self, group, p, grad):
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        momentum = group["momentum"]
        if momentum == 0:
            return grad
        state = self.state[p]
        buf = state.get("momentum_buffer")
        if buf is None:
            buf = state["momentum_buffer"] = grad.detach().clone()
        else:
            buf.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
        return grad.add(buf, alpha=momentum) if group["nesterov"] else buf
