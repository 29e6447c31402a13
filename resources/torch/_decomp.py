"""torch._decomp: which operators a recording replaces by others."""


class CustomDecompTable(dict):
    """What run_decompositions() replaces: PyTorch's core ATen decompositions, but for operators that were taken out, and
    functions of the program by operator."""

    def __init__(self):
        super().__init__()
        self.kept = set()

    def __delitem__(self, op):
        if op in self:
            super().__delitem__(op)
        self.kept.add(str(op))

    def pop(self, op, *default):
        """Take an operator out: its calls stay as they are."""
        found = self.get(op, default[0] if default else None)
        del self[op]
        return found

    def copy(self):
        """Another table of the same."""
        made = CustomDecompTable()
        made.update(self)
        made.kept |= self.kept
        return made


def core_aten_decompositions():
    """A CustomDecompTable of the core ATen decompositions."""
    return CustomDecompTable()
