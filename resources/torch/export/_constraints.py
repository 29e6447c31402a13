"""What holds of the sizes that may differ: ranges, and what tracing found out, in PyTorch's words."""

import re

import torch

from ._dims import Dim, _DimHint, int_oo


class Symbol:
    """A size of the graph, or an expression of sizes, by its text."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name

    __str__ = __repr__

    def __eq__(self, other):
        return isinstance(other, Symbol) and self.name == other.name

    def __hash__(self):
        return hash(self.name)


class ValueRanges:
    """The least and the greatest value."""

    def __init__(self, lower, upper):
        self.lower, self.upper = lower, upper

    def __repr__(self):
        return f"VR[{self.lower}, {'int_oo' if self.upper >= int_oo else self.upper}]"

    def __eq__(self, other):
        return isinstance(other, ValueRanges) and (self.lower, self.upper) == (other.lower, other.upper)


class _Size:
    """One size of an input that may differ."""

    def __init__(self, symbol, source, leaf, dim, spec, hint):
        self.symbol, self.source, self.leaf, self.dim, self.spec, self.hint = symbol, source, leaf, dim, spec, hint
        named = isinstance(spec, Dim)
        self.name = spec.__name__ if named else source
        self.lower = (spec.min if named else spec.min) or (0 if named else 2)
        self.upper = spec.max if spec.max is not None else int_oo
        self.fixed = None

    is_auto = property(lambda self: isinstance(self.spec, _DimHint) and self.spec.kind == "AUTO")


_FUNCTIONS = {"Mod": lambda a, b: a % b, "PythonMod": lambda a, b: a % b, "FloorDiv": lambda a, b: a // b,
              "Max": max, "Min": min, "Ne": lambda a, b: a != b, "Eq": lambda a, b: a == b, "Not": lambda a: not a,
              "And": lambda *a: all(a), "Or": lambda *a: any(a), "Ge": lambda a, b: a >= b, "Abs": abs}


class Constraints:
    """The sizes that may differ, against the guards of the trace."""

    def __init__(self, trace, given, specs):
        self.guards, self.sizes = [], []
        names = {id(value): source for (_, value), source in zip(trace.inputs, trace.sources)}
        symbols = {source: name for (name, _), source in zip(trace.inputs, trace.sources)}
        for k, (leaf, rows) in enumerate(zip(given, specs)):
            source = names.get(id(leaf))
            for dim, spec in rows.items():
                if spec is None or isinstance(spec, int) or spec == Dim.STATIC or source is None:
                    continue
                where = f"{source}.size()[{dim}]"
                self.sizes.append(_Size(symbols.get(where), where, k, dim, spec, leaf.shape[dim]))
        self.given, self.specs = given, specs
        self.guards = [g for g in trace.guards if not re.match(r"2 <= [^<>=]*\.size\(\)\[\d+\]$", g)]
        self._settle()

    def _sizes_in(self, guard):
        return [s for s in self.sizes if s.source in guard]

    def _holds(self, guard, values):
        text = guard
        for k, size in enumerate(self.sizes):
            text = text.replace(size.source, f"_v{k}")
        scope = {**_FUNCTIONS, **{f"_v{k}": values[s.source] for k, s in enumerate(self.sizes) if s.source in values}}
        try:
            return bool(eval(text, {"__builtins__": {}}, scope))
        except Exception:
            return True

    def _settle(self):
        """Sizes that a guard fixed, bounds that one gave, and sizes that are the same one."""
        self.same = []
        for guard in self.guards:
            among = self._sizes_in(guard)
            equal = guard.split(" == ")
            if len(among) == 1 and len(equal) == 2 and among[0].source in equal and any(e.isdigit() for e in equal):
                among[0].fixed = int(next(e for e in equal if e.isdigit()))
            elif len(among) == 2 and len(equal) == 2 and {s.source for s in among} == set(equal):
                self.same.append(among)
            elif len(among) == 1 and not isinstance(among[0].spec, Dim):
                self._narrow(among[0], guard)

    @staticmethod
    def _narrow(size, guard):
        before, _, after = guard.partition(size.source)
        below = re.fullmatch(r" (<=?) (\d+)", after) if not before else None
        above = re.fullmatch(r"(\d+) (<=?) ", before) if not after else None
        less = re.fullmatch(r" (>=?) (\d+)", after) if not before else None
        if below:
            size.upper = min(size.upper, int(below[2]) - (below[1] == "<"))
        elif above:
            size.lower = max(size.lower, int(above[1]) + (above[2] == "<"))
        elif less:
            size.lower = max(size.lower, int(less[2]) + (less[1] == ">"))

    def check(self):
        """UserError where the trace holds for fewer sizes than the program asked for."""
        problems, fixes, names = [], [], []
        for size in self.sizes:
            if size.fixed is not None and not size.is_auto:
                names.append(size.name)
                problems.append(f"You marked {size.name} as dynamic but your code specialized it to be a constant "
                                f"({size.fixed}). If you're using mark_dynamic, either remove it or use "
                                "maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with either Dim.STATIC or "
                                "Dim.AUTO.")
                if isinstance(size.spec, Dim):
                    fixes.append(f"{size.spec.root.__name__} = {size.fixed}")
        for a, b in self.same:
            if isinstance(a.spec, Dim) and isinstance(b.spec, Dim) and a.name != b.name:
                names += [a.name, b.name]
                problems.append(f"The values of {a.name} = {a.source} and {b.name} = {b.source} must always be equal.")
                fixes.append(f"{a.name} = {b.name}")
        for guard in self.guards:
            self._check_range(guard, problems, fixes, names)
        if not problems:
            return
        from torch._dynamo.exc import UserError, UserErrorType

        text = (f"Constraints violated ({', '.join(dict.fromkeys(names))})! For more information, run with "
                'TORCH_LOGS="+dynamic".\n' + "\n".join(f"  - {p}" for p in problems))
        if fixes:
            text += "\n\nSuggested fixes:\n" + "\n".join(f"  {f}" for f in dict.fromkeys(fixes))
        raise UserError(UserErrorType.CONSTRAINT_VIOLATION, text)

    def _check_range(self, guard, problems, fixes, names):
        among = self._sizes_in(guard)
        if len(among) != 1 or not isinstance(among[0].spec, Dim) or among[0].fixed is not None:
            return
        size = among[0]
        low = max(size.lower, 2)
        tried = {*range(low, min(size.upper, low + 256) + 1), *range(max(low, size.upper - 8), size.upper + 1)}
        if all(self._holds(guard, {size.source: v}) for v in tried):
            return
        bounds = (f"{size.lower} <= " if size.lower > 0 else "") + size.name + (
            f" <= {size.upper}" if size.upper < int_oo else "")
        where = f" {bounds}" if bounds != size.name else ""
        names.append(size.name)
        problems.append(f"Not all values of {size.name} = {size.source} in the specified range{where} satisfy the "
                        f"generated guard {guard}.")
        probe = _Size(None, size.source, 0, 0, Dim.AUTO, size.hint)
        self._narrow(probe, guard)
        if (probe.lower, probe.upper) != (2, int_oo):
            parts = [f"min={max(probe.lower, size.lower)}"] if max(probe.lower, size.lower) > 2 else []
            parts += [f"max={min(probe.upper, size.upper)}"] if min(probe.upper, size.upper) < int_oo else []
            root = size.spec.root.__name__
            fixes.append(f"{root} = Dim('{root}', {', '.join(parts)})")

    def texts(self):
        """Symbols by what they are in the exported graph: equal sizes are one symbol, derived ones expressions."""
        made, roots = {}, {}
        for size in self.sizes:
            if size.symbol and isinstance(size.spec, Dim) and (size.spec.factor, size.spec.offset) == (1, 0):
                made[size.symbol] = roots.setdefault(size.spec.root.__name__, size.symbol)
        for size in self.sizes:
            if size.symbol and size.symbol not in made and isinstance(size.spec, Dim) and size.spec.root.__name__ in roots:
                made[size.symbol] = size.spec.text(roots[size.spec.root.__name__])
        for a, b in self.same:
            if a.symbol and b.symbol and a.symbol not in made:
                made[a.symbol] = made.get(b.symbol, b.symbol)
        return made

    def renamed(self, text):
        """The graph's text with these in its annotations."""
        for symbol, other in self.texts().items():
            if other != symbol:
                plain = other if re.fullmatch(r"\w+", other) else f"({other})"
                text = re.sub(r'"[^"\n]*"',
                              lambda m: re.sub(rf"\b{symbol}\b", other if "Sym(" in m[0] else plain, m[0]), text)
        return text

    def ranges(self):
        """By symbol: what it may be."""
        made, texts = {}, self.texts()
        for size in self.sizes:
            name = texts.get(size.symbol, size.symbol)
            if not name or size.fixed is not None or not re.fullmatch(r"\w+", name):
                continue
            before = made.get(Symbol(name))
            low, high = size.lower, size.upper
            if before is not None:
                low, high = max(low, before.lower), min(high, before.upper)
            made[Symbol(name)] = ValueRanges(low, high)
        return made

    def checks(self):
        """(leaf, dim, least, greatest, text of the check's failure) of every size of every input."""
        rows = []
        free = {(s.leaf, s.dim): s for s in self.sizes if s.fixed is None}
        for k, leaf in enumerate(self.given):
            for dim in range(leaf.dim()) if isinstance(leaf, torch.Tensor) else ():
                size = free.get((k, dim))
                if size is None:
                    rows.append((k, dim, leaf.shape[dim], leaf.shape[dim]))
                else:
                    rows.append((k, dim, size.lower, size.upper))
        return rows
