"""Traces the sample inputs of torch's op database with symbolic sizes.

python3 record_symbolic.py OUT.jsonl writes a line per sample: the graph as print_readable prints it, the symbols' values
and ranges, guards, runtime asserts and replacements. symbolic_op_samples.jsonl.gz beside this script came from PyTorch
2.11 on the CPU.
"""
import json
import sys
import types
import unittest
import warnings

warnings.filterwarnings("ignore")
if "expecttest" not in sys.modules:  # a package of PyTorch's own tests that users need not have
    stub = types.ModuleType("expecttest")
    stub.TestCase, stub.assert_expected_inline = unittest.TestCase, lambda *args, **kwargs: None
    sys.modules["expecttest"] = stub

import torch
import torch.utils._pytree as pytree
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db

MOST_SAMPLES, MOST_ELEMENTS = 42, 200_000


def trace(function, flat, spec):
    tensors = [i for i, value in enumerate(flat) if isinstance(value, torch.Tensor)]

    def call(*values):
        arguments = list(flat)
        for i, value in zip(tensors, values):
            arguments[i] = value
        args, kwargs = pytree.tree_unflatten(arguments, spec)
        return function(*args, **kwargs)

    return make_fx(call, tracing_mode="symbolic", _allow_non_fake_inputs=True)(*[flat[i].detach() for i in tensors])


def row(name, module):
    env = module.shape_env
    return {
        "name": name,
        "text": module.print_readable(print_output=False, include_stride=True, include_device=True),
        "hints": {str(k): int(v) for k, v in getattr(env, "var_to_val", env.backed_var_to_val).items()},
        "ranges": {str(k): [str(v.lower), str(v.upper)] for k, v in env.var_to_range.items()},
        "guards": [str(guard.expr) for guard in env.guards],
        "asserts": [str(a.expr) for some in env.deferred_runtime_asserts.values() for a in some],
        "replacements": {str(k): str(v) for k, v in env.replacements.items()},
    }


def samples_of(op):
    """The two samples with the most dimensions above 1, and one from the middle."""
    dtype = torch.float32 if torch.float32 in op.dtypes else next(iter(op.dtypes))
    samples = []
    for sample in op.sample_inputs("cpu", dtype, requires_grad=False):
        samples.append(sample)
        if len(samples) == MOST_SAMPLES:
            break

    def spread(i):
        leaves = pytree.tree_leaves((samples[i].input, samples[i].args, samples[i].kwargs))
        return sum(size > 1 for leaf in leaves if isinstance(leaf, torch.Tensor) for size in leaf.shape)

    order = sorted(range(len(samples)), key=lambda i: -spread(i))
    picked = order[:2] + ([order[len(order) // 2]] if len(order) > 3 else [])
    return [(i, samples[i]) for i in picked]


def main(path):
    with open(path, "w") as out:
        for op in op_db:
            variant = f".{op.variant_test_name}" if op.variant_test_name else ""
            try:
                samples = samples_of(op)
            except Exception:  # an op without samples for this dtype or device
                continue
            for i, sample in samples:
                flat, spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
                tensors = [value for value in flat if isinstance(value, torch.Tensor)]
                if not tensors or sum(value.numel() for value in tensors) > MOST_ELEMENTS:
                    continue
                try:
                    out.write(json.dumps(row(f"{op.name}{variant}#{i}", trace(op.op, flat, spec))) + "\n")
                except Exception as error:  # what PyTorch cannot trace with symbols
                    print(f"{op.name}{variant}#{i}: {error!r}"[:200], file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
