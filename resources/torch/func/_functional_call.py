"""Calls of a module with other parameters."""

import contextlib

import torch


def _tied(module):
    """Groups of names that are one tensor."""
    names = {}
    for name, t in (*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)):
        names.setdefault(t, []).append(name)
    return [group for group in names.values() if len(group) > 1]


def _with_tied(module, given):
    """Give every name of a tied tensor the one value that was given."""
    made = dict(given)
    for group in _tied(module):
        values = [(n, given[n]) for n in group if n in given]
        if not values:
            continue
        if any(v is not values[0][1] for _, v in values):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(n for n, _ in values)}, which are tied. Consider "
                "using tie_weights=False"
            )
        for name in group:
            made[name] = values[0][1]
    return made


def _table(module, name):
    for table in (module._parameters, module._buffers):
        if name in table:
            return table
    return module.__dict__ if name in module.__dict__ else None


@contextlib.contextmanager
def _swapped(module, values, tie_weights, strict):
    values = _with_tied(module, values) if tie_weights else values
    known = {n for n, _ in (*module.named_parameters(remove_duplicate=False),
                            *module.named_buffers(remove_duplicate=False))}
    if strict and known != set(values):
        missing, extra = known - set(values), set(values) - known
        parts = []
        if extra:
            parts.append("Unexpected key(s): " + ", ".join(map(repr, sorted(extra))) + ".")
        if missing:
            parts.append("Missing key(s): " + ", ".join(map(repr, sorted(missing))) + ".")
        raise RuntimeError("Error(s) in loading state_dict for {}:\n\t{}".format(module._get_name(), "\n\t".join(parts)))
    saved = []
    try:
        for name, value in values.items():
            path, _, leaf = name.rpartition(".")
            owner = module
            for part in path.split(".") if path else ():
                owner = getattr(owner, part)
            table = _table(owner, leaf)
            if table is None:
                raise AttributeError(f"{owner._get_name()} has no attribute `{leaf}`")
            if not isinstance(value, torch.Tensor) and value is not None:
                raise TypeError(f"{value} is not an instance of torch.Tensor")
            saved.append((table, leaf, table[leaf]))
            table[leaf] = value
        yield
    finally:
        for table, leaf, old in reversed(saved):
            table[leaf] = old


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Call a module with tensors of dicts in the place of its own."""
    if isinstance(parameter_and_buffer_dicts, dict):
        values = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, (list, tuple)):
        if not all(isinstance(d, dict) for d in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        values, count = {}, {}
        for d in parameter_and_buffer_dicts:
            for k, v in d.items():
                count[k] = count.get(k, 0) + 1
                values[k] = v
        repeated = [k for k, c in count.items() if c > 1]
        if repeated:
            raise ValueError(
                f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
            )
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _swapped(module, values, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def stack_module_state(models):
    """Parameters and buffers of models of one kind, stacked by name."""
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    params = {k: _stack([dict(m.named_parameters())[k] for m in models]) for k in dict(models[0].named_parameters())}
    buffers = {k: _stack([dict(m.named_buffers())[k] for m in models]) for k in dict(models[0].named_buffers())}
    return params, buffers


def _stack(tensors):
    if not all(t.is_leaf for t in tensors):
        return torch.stack(tensors)
    return torch.stack([t.detach() for t in tensors]).requires_grad_(tensors[0].requires_grad)
