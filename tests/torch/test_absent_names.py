import importlib

import torch
from torch._absent import NAMES


def _exists(module, name):
    at = torch
    for part in [*module.split(".")[1:], name]:
        try:
            at = getattr(at, part)
        except (AttributeError, ImportError):
            return False
    return True


def test_names_that_are_listed_as_absent_are_absent():
    for module in NAMES:
        try:
            importlib.import_module(module)
        except ImportError:
            pass
    there = [f"{module}.{name}" for module, names in NAMES.items() for name in names if _exists(module, name)]
    assert not there, there


def _refused(error_type, f, text):
    try:
        f()
    except error_type as error:
        assert text in str(error), error
    else:
        raise AssertionError("it is there")


def test_an_absent_name_says_so():
    said = "Kerf's torch does not"
    _refused(AttributeError, lambda: torch.sparse_coo_tensor, said)
    _refused(AttributeError, lambda: torch.ones(2).to_sparse(), said)
    _refused(AttributeError, lambda: torch.library.get_ctx, said)
    _refused(AttributeError, lambda: torch.optim.SparseAdam, said)
    assert not hasattr(torch.ones(1), "to_sparse") and not hasattr(torch.nn, "no_such")
    assert str(torch._dynamo.testing).startswith("<module 'torch._dynamo.testing'")


def test_keywords_that_would_be_ignored_are_refused():
    names = "Kerf's torch has no named tensors"
    for make in (torch.ones, torch.empty, torch.randn):
        _refused(NotImplementedError, lambda: make(2, names=("a",)), names)
    _refused(NotImplementedError, lambda: torch.tensor([1.0], names=("a",)), names)
    assert torch.ones(2, names=None).tolist() == [1.0, 1.0]
