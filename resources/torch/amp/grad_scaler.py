"""GradScaler: keeps small gradients out of the reach of zero."""

import torch


class GradScaler:
    """Scales losses up and gradients down, and skips steps with infinite gradients."""

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        self._device = device
        self._enabled = enabled and not (device == "cuda" and not torch.cuda.is_available())
        self._scale_value = float(init_scale)
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._found_inf = {}

    def scale(self, outputs):
        """outputs times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, torch.Tensor):
            return outputs * self._scale_value
        return type(outputs)(self.scale(o) for o in outputs)

    def unscale_(self, optimizer):
        """Divide the gradients of an optimizer's parameters by the scale."""
        if not self._enabled or id(optimizer) in self._found_inf:
            return
        found = False
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.mul_(1.0 / self._scale_value)
                    found = found or not bool(torch.isfinite(p.grad).all())
        self._found_inf[id(optimizer)] = found

    def step(self, optimizer, *args, **kwargs):
        """optimizer.step(), unless a gradient is infinite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        self.unscale_(optimizer)
        return None if self._found_inf[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """Change the scale by what was found."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale_value = float(new_scale)
        elif any(self._found_inf.values()):
            self._scale_value *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale_value *= self._growth_factor
                self._growth_tracker = 0
        self._found_inf = {}

    def get_scale(self):
        """The scale; 1 if the scaler is off."""
        return self._scale_value if self._enabled else 1.0

    def is_enabled(self):
        """Whether the scaler is on."""
        return self._enabled

    def state_dict(self):
        """What load_state_dict takes."""
        if not self._enabled:
            return {}
        return {"scale": self._scale_value, "growth_factor": self._growth_factor,
                "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
                "_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state_dict):
        """Take over what state_dict gave."""
        if self._enabled:
            self._scale_value = state_dict["scale"]
            self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
            self._growth_interval = state_dict["growth_interval"]
            self._growth_tracker = state_dict["_growth_tracker"]
