"""FlopCounterMode: how many floating point operations matrix products, convolutions and attention take, by module."""

import math
from collections import defaultdict

import torch
from torch import _absent
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

aten = torch.ops.aten


def mm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs):
    """2·m·k·n of [m, k] and [k, n]."""
    return 2 * a_shape[0] * a_shape[1] * b_shape[1]


def addmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    """As mm_flop: what is added does not count."""
    return mm_flop(a_shape, b_shape)


def bmm_flop(a_shape, b_shape, out_shape=None, **kwargs):
    """2·b·m·k·n of [b, m, k] and [b, k, n]."""
    return a_shape[0] * mm_flop(a_shape[1:], b_shape[1:])


def baddbmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs):
    """As bmm_flop."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape, w_shape, out_shape, transposed=False):
    """2 · batch · places · channels of the weight: places of the output, or of the input of a transposed one."""
    places = (x_shape if transposed else out_shape)[2:]
    return 2 * math.prod(places) * x_shape[0] * math.prod(w_shape)


def conv_flop(x_shape, w_shape, _bias, _stride, _padding, _dilation, transposed, *args, out_shape=None, **kwargs):
    """Of a convolution."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed)


def conv_backward_flop(grad_out_shape, x_shape, w_shape, _bias, _stride, _padding, _dilation, transposed, _output_padding,
                       _groups, output_mask, out_shape):
    """Of the gradients of input and weight that are asked for."""
    once = conv_flop_count(x_shape, w_shape, grad_out_shape, transposed)
    return once * (bool(output_mask[0]) + bool(output_mask[1]))


def sdpa_flop(query_shape, key_shape, value_shape, *args, out_shape=None, **kwargs):
    """Of the two products of attention: [b, h, q, d], [b, h, k, d], [b, h, k, v]."""
    b, h, q, d = query_shape
    k, v = key_shape[-2], value_shape[-1]
    return bmm_flop((b * h, q, d), (b * h, d, k)) + bmm_flop((b * h, q, k), (b * h, k, v))


flop_registry = {aten.mm: mm_flop, aten.addmm: addmm_flop, aten.bmm: bmm_flop, aten.baddbmm: baddbmm_flop,
                 aten.convolution: conv_flop, aten.convolution_backward: conv_backward_flop,
                 aten.scaled_dot_product_attention: sdpa_flop}


def register_flop_formula(targets, get_raw=False):
    """A formula for operators: it gets shapes in place of tensors, and out_shape; a raw one the tensors, and out_val."""

    def register(formula):
        formula._get_raw = get_raw
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            flop_registry[target] = formula
        return formula

    return register


def _shapes(value):
    return tree_map(lambda t: t.shape if isinstance(t, torch.Tensor) else t, value)


class FlopCounterMode(TorchDispatchMode):
    """Counts while it is on; shows a table at the end, unless display=False."""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        super().__init__()
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self.depth, self.display = depth, display
        self.flop_registry = {**flop_registry, **(custom_mapping or {})}
        self._parents, self._names, self._handles = ["Global"], {}, []

    def __enter__(self):
        self.flop_counts.clear()
        module = torch.nn.modules.module
        self._handles = [module.register_module_forward_pre_hook(self._enter_module),
                         module.register_module_forward_hook(self._leave_module, always_call=True)]
        return super().__enter__()

    def __exit__(self, *args):
        for handle in self._handles:
            handle.remove()
        super().__exit__(*args)
        if self.display:
            print(self.get_table(self.depth))

    def _enter_module(self, module, inputs):
        name = self._names.get(id(module), type(module).__name__)
        self._names.update((id(child), f"{name}.{attribute}") for attribute, child in module.named_children())
        self._parents.append(name)

    def _leave_module(self, module, inputs, output):
        self._parents.pop()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        formula = self.flop_registry.get(func._overloadpacket)
        if formula is not None:
            if getattr(formula, "_get_raw", False):
                count = formula(*args, **kwargs, out_val=out)
            else:
                count = formula(*_shapes(tuple(args)), **_shapes(kwargs), out_shape=_shapes(out))
            for parent in dict.fromkeys(self._parents):
                self.flop_counts[parent][func._overloadpacket] += count
        return out

    def get_total_flops(self):
        """All of them."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self):
        """By module and operator."""
        return {k: dict(v) for k, v in self.flop_counts.items()}

    def get_table(self, depth=None):
        """Module, number and share, a row each."""
        depth = self.depth if depth is None else depth
        total = max(1, self.get_total_flops())
        rows = []
        for module in sorted(self.flop_counts, key=lambda name: (name != "Global", name)):
            level = 0 if module == "Global" else module.count(".") + 1
            if level > depth:
                continue
            rows.append((" " * level + module, sum(self.flop_counts[module].values())))
            rows += [(" " * level + " - " + str(op), n) for op, n in self.flop_counts[module].items()]
        width = max([len(name) for name, _ in rows], default=6)
        lines = [f"{'Module':<{width}}  {'FLOP':>12}  {'% Total':>8}", f"{'-' * width}  {'-' * 12}  {'-' * 8}"]
        lines += [f"{name:<{width}}  {count:>12}  {count / total:>8.2%}" for name, count in rows]
        return "\n".join(lines)


__getattr__ = _absent.getter(__name__)
