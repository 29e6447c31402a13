"""TestCase and run_tests as posted tests use them."""

import functools
import itertools
import unittest

import torch
from torch.testing import assert_close, make_tensor  # noqa: F401

TEST_WITH_ROCM = IS_WINDOWS = IS_MACOS = TEST_CUDA = HAS_GPU = False


class TestCase(unittest.TestCase):
    """unittest's, with assertEqual for tensors and numbers that are close."""

    def setUp(self):
        super().setUp()
        torch.manual_seed(1234)

    def assertEqual(self, first, second, msg=None, *, atol=None, rtol=None, exact_dtype=True, **unused):
        """Fail unless both are equal, tensors and floats within the tolerances of torch.testing.assert_close."""
        tensors = any(isinstance(leaf, (torch.Tensor, float)) for leaf in torch.utils._pytree.tree_leaves((first, second)))
        if not tensors:
            return super().assertEqual(first, second, msg)
        assert_close(first, second, atol=atol, rtol=rtol, check_dtype=exact_dtype, equal_nan=True,
                     msg=msg if callable(msg) or msg is None else str(msg))


def run_tests(argv=None):
    """Run the tests of __main__."""
    unittest.main(module="__main__", argv=["test"], exit=False)


class parametrize:
    """@parametrize("a,b", [(1, 2)]): a test for each row, made by instantiate_parametrized_tests."""

    def __init__(self, names, rows, **unused):
        self.names = [name.strip() for name in names.split(",")]
        self.rows = [row if len(self.names) > 1 else (row,) for row in rows]

    def __call__(self, fn):
        fn._parametrized = [*getattr(fn, "_parametrized", ()), self]
        return fn


def instantiate_parametrized_tests(cls):
    """The class with a test for each combination of its tests' parameters."""
    for name, fn in list(vars(cls).items()):
        tables = getattr(fn, "_parametrized", ())
        if not tables:
            continue
        delattr(cls, name)
        for rows in itertools.product(*(table.rows for table in tables)):
            given = {n: v for table, row in zip(tables, rows) for n, v in zip(table.names, row)}
            suffix = "_".join(f"{n}_{str(v).replace('.', '_')}" for n, v in given.items())
            setattr(cls, f"{name}_{suffix}", functools.partialmethod(fn, **given))
    return cls


def subtest(arg_values, **unused):
    """A row of parametrize."""
    return arg_values
