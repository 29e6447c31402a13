"""Schemas of operators, as programs read them."""

import re


class AliasInfo:
    """What an argument or a result shares memory with."""

    def __init__(self, names, is_write):
        self.before_set = self.after_set = set(names.split("|"))
        self.is_write = is_write


class Argument:
    """An argument, or a result."""

    def __init__(self, text, kwarg_only=False):
        found = re.match(r"(?P<type>\w+(?P<alias>\([^)]*\))?(\[[^\]]*\])?\??(\[\])?)\s*(?P<name>\w*)\s*(=(?P<value>.*))?$",
                         text.strip())
        self.type = re.sub(r"\(.*?\)", "", found["type"]) if found else text.strip()
        self.name = found["name"] if found else ""
        self.default_value = found["value"] if found else None
        self.kwarg_only = kwarg_only
        alias = found["alias"] if found else None
        self.alias_info = None if alias is None else AliasInfo(alias.strip("()!").split(" ")[0].rstrip("!"), "!" in alias)
        self.is_out = self.name == "out" and kwarg_only

    def has_default_value(self):
        """Whether a call may leave it out."""
        return self.default_value is not None

    def __repr__(self):
        return f"Argument({self.type} {self.name})"


def _parts(text):
    depth, part = 0, ""
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            yield part
            part = ""
        else:
            part += c
    if part.strip():
        yield part


class FunctionSchema(str):
    """aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor, and what it says."""

    @property
    def name(self):
        """aten::add"""
        return self.partition("(")[0].partition(".")[0]

    @property
    def overload_name(self):
        """Tensor"""
        return self.partition("(")[0].partition(".")[2]

    @property
    def arguments(self):
        """The arguments in order."""
        made, only = [], False
        head = self.rpartition(" -> ")[0]
        for part in _parts(head[head.index("(") + 1:head.rindex(")")]):
            if part.strip() == "*":
                only = True
            else:
                made.append(Argument(part, only))
        return made

    @property
    def returns(self):
        """The results in order."""
        text = self.rpartition(" -> ")[2].strip()
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1]
        return [Argument(part) for part in _parts(text)]

    @property
    def is_mutable(self):
        """Whether it writes into an argument."""
        return any(a.alias_info is not None and a.alias_info.is_write for a in self.arguments)
