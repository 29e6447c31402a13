"""Walks over a module's tree: parameters, buffers, submodules (methods of Module)."""

import torch


def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
    """Name and member of every module, each member once."""
    seen = set()
    modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
    for module_prefix, module in modules:
        for k, v in get_members_fn(module):
            if v is None or v in seen:
                continue
            if remove_duplicate:
                seen.add(v)
            yield module_prefix + ("." if module_prefix else "") + k, v


def parameters(self, recurse=True):
    """The parameters of this module and its submodules."""
    for _name, param in self.named_parameters(recurse=recurse):
        yield param


def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
    """Name and parameter of this module and its submodules."""
    yield from self._named_members(lambda module: module._parameters.items(), prefix=prefix, recurse=recurse,
                                   remove_duplicate=remove_duplicate)


def buffers(self, recurse=True):
    """The buffers of this module and its submodules."""
    for _, buf in self.named_buffers(recurse=recurse):
        yield buf


def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
    """Name and buffer of this module and its submodules."""
    yield from self._named_members(lambda module: module._buffers.items(), prefix=prefix, recurse=recurse,
                                   remove_duplicate=remove_duplicate)


def children(self):
    """The direct submodules."""
    for _name, module in self.named_children():
        yield module


def named_children(self):
    """Name and module of the direct submodules, each once."""
    memo = set()
    for name, module in self._modules.items():
        if module is not None and module not in memo:
            memo.add(module)
            yield name, module


def modules(self, remove_duplicate=True):
    """This module and all below it."""
    for _, module in self.named_modules(remove_duplicate=remove_duplicate):
        yield module


def named_modules(self, memo=None, prefix="", remove_duplicate=True):
    """Name and module of this module and all below it, depth first."""
    if memo is None:
        memo = set()
    if self in memo:
        return
    if remove_duplicate:
        memo.add(self)
    yield prefix, self
    for name, module in self._modules.items():
        if module is not None:
            yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)


def get_submodule(self, target):
    """The submodule that a dotted name says."""
    module = self
    for item in target.split(".") if target else ():
        if not hasattr(module, item):
            raise AttributeError(module._get_name() + " has no attribute `" + item + "`")
        module = getattr(module, item)
        if not isinstance(module, torch.nn.Module):
            raise AttributeError("`" + item + "` is not an nn.Module")
    return module


def set_submodule(self, target, module, strict=False):
    """Put a module in the place that a dotted name says."""
    if target == "":
        raise ValueError("Cannot set the submodule without a target name!")
    if not isinstance(module, torch.nn.Module):
        raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
    path, _, name = target.rpartition(".")
    parent = self.get_submodule(path)
    if strict and not hasattr(parent, name):
        raise AttributeError(parent._get_name() + " has no attribute `" + name + "`")
    if hasattr(parent, name) and not isinstance(getattr(parent, name), torch.nn.Module):
        raise AttributeError("`" + name + "` is not an nn.Module")
    setattr(parent, name, module)


def _leaf(self, target, table, kind):
    path, _, name = target.rpartition(".")
    module = self.get_submodule(path)
    if not hasattr(module, name):
        raise AttributeError(module._get_name() + " has no attribute `" + name + "`")
    if name not in getattr(module, table):
        raise AttributeError("`" + name + "` is not " + kind)
    return getattr(module, name)


def get_parameter(self, target):
    """The parameter that a dotted name says."""
    return _leaf(self, target, "_parameters", "an nn.Parameter")


def get_buffer(self, target):
    """The buffer that a dotted name says."""
    return _leaf(self, target, "_buffers", "a buffer")
