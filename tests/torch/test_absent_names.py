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


def test_an_absent_name_says_so():
    try:
        torch.sparse_coo_tensor
    except AttributeError as error:
        assert "Kerf's torch does not" in str(error)
    else:
        raise AssertionError("it is there")
