"""Optimizer: groups of parameters, their state, and hooks."""

import copy
import functools
from collections import OrderedDict, defaultdict

import torch
from torch.utils.hooks import RemovableHandle


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()
_pre_hooks = OrderedDict()
_post_hooks = OrderedDict()


def register_optimizer_step_pre_hook(hook):
    """Call hook(optimizer, args, kwargs) before every step of any optimizer."""
    handle = RemovableHandle(_pre_hooks)
    _pre_hooks[handle.id] = hook
    return handle


def register_optimizer_step_post_hook(hook):
    """Call hook(optimizer, args, kwargs) after every step of any optimizer."""
    handle = RemovableHandle(_post_hooks)
    _post_hooks[handle.id] = hook
    return handle


def _with_hooks(step):
    """step, with the hooks around it."""

    @functools.wraps(step)
    def wrapper(self, *args, **kwargs):
        for hook in (*_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
            changed = hook(self, args, kwargs)
            if changed is not None:
                args, kwargs = changed
        made = step(self, *args, **kwargs)
        for hook in (*self._optimizer_step_post_hooks.values(), *_post_hooks.values()):
            hook(self, args, kwargs)
        return made

    wrapper.hooked = True
    return wrapper


def check(name, ok, value):
    """Raise ValueError for an option that is out of its range."""
    if not ok:
        raise ValueError(f"Invalid {name}: {value}")


class Optimizer:
    """Changes parameters by their gradients."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__ and not hasattr(cls.step, "hooked"):
            cls.step = _with_hooks(cls.step)

    def __init__(self, params, defaults):
        self.defaults = defaults
        self._optimizer_step_pre_hooks = OrderedDict()
        self._optimizer_step_post_hooks = OrderedDict()
        self._optimizer_state_dict_pre_hooks = OrderedDict()
        self._optimizer_state_dict_post_hooks = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks = OrderedDict()
        self._optimizer_load_state_dict_post_hooks = OrderedDict()
        if isinstance(params, torch.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + torch.typename(params)
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if len(groups) == 0:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre",
                     "load_state_dict_post"):
            self.__dict__.setdefault(f"_optimizer_{name}_hooks", OrderedDict())

    def __repr__(self):
        text = self.__class__.__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            for key in sorted(group.keys()):
                if key != "params":
                    text += f"    {key}: {group[key]}\n"
        return text + ")"

    def _hook(self, table, hook, prepend=False):
        hooks = getattr(self, table)
        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_step_pre_hook(self, hook):
        """Call hook(optimizer, args, kwargs) before every step."""
        return self._hook("_optimizer_step_pre_hooks", hook)

    def register_step_post_hook(self, hook):
        """Call hook(optimizer, args, kwargs) after every step."""
        return self._hook("_optimizer_step_post_hooks", hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Call hook(optimizer) before state_dict()."""
        return self._hook("_optimizer_state_dict_pre_hooks", hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Call hook(optimizer, state_dict) after state_dict()."""
        return self._hook("_optimizer_state_dict_post_hooks", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Call hook(optimizer, state_dict) before load_state_dict()."""
        return self._hook("_optimizer_load_state_dict_pre_hooks", hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Call hook(optimizer) after load_state_dict()."""
        return self._hook("_optimizer_load_state_dict_post_hooks", hook, prepend)

    def state_dict(self):
        """State and groups, with numbers in the place of parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers, groups = {}, []
        for group in self.param_groups:
            packed = {k: v for k, v in group.items() if k != "params"}
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {numbers[id(k)] if isinstance(k, torch.Tensor) else k: v for k, v in self.state.items()}
        made = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, made)
            made = made if changed is None else changed
        return made

    def load_state_dict(self, state_dict):
        """Take over what state_dict() gave."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        groups, saved = self.param_groups, copy.deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, saved)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        by_number = {n: p for a, b in zip(groups, saved) for p, n in zip(a["params"], b["params"])}
        state = defaultdict(dict)
        for k, v in state_dict["state"].items():
            if k in by_number:
                state[by_number[k]] = _cast(by_number[k], v)
            else:
                state[k] = v
        made = []
        for group, new in zip(groups, saved):
            new["params"] = group["params"]
            made.append(new)
        self.__setstate__({"state": state, "param_groups": made})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def zero_grad(self, set_to_none=True):
        """Reset the gradients of all parameters."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    if p.grad.grad_fn is not None:
                        p.grad.detach_()
                    else:
                        p.grad.requires_grad_(False)
                    p.grad.zero_()

    def step(self, closure=None):
        """Change the parameters once; subclasses define it."""
        raise NotImplementedError

    def add_param_group(self, param_group):
        """Add a group of parameters with options of its own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, torch.Tensor):
            param_group["params"] = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        else:
            param_group["params"] = list(params)
        _split_names(param_group)
        for p in param_group["params"]:
            if not isinstance(p, torch.Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + torch.typename(p))
            if not self.defaults.get("differentiable", None) and not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in param_group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _prepared(self, closure):
        """The loss of the closure, computed with gradients."""
        if closure is None:
            return None
        with torch.enable_grad():
            return closure()

    def _with_grads(self, group):
        """The parameters of a group that have gradients, with these negated where the group maximizes."""
        for p in group["params"]:
            if p.grad is not None:
                yield p, -p.grad if group.get("maximize") else p.grad


def _split_names(group):
    """Parameters that came with names, as named_parameters() gives them."""
    params = group["params"]
    if params and isinstance(params[0], tuple):
        group["param_names"] = [n for n, _ in params]
        group["params"] = [p for _, p in params]


def _cast(param, value, key=None):
    if isinstance(value, torch.Tensor):
        if key == "step":
            return value.clone()
        return value.to(dtype=param.dtype, device=param.device) if param.is_floating_point() else value.clone()
    if isinstance(value, dict):
        return {k: _cast(param, v, k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(param, v) for v in value)
    return value


def number(x):
    """A number, also out of a tensor; compiled code goes on with the tensor."""
    return x.item() if isinstance(x, torch.Tensor) and not torch.compiler.is_compiling() else x
