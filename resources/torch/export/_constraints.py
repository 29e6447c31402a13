"""What holds of the sizes that may differ: ranges, and what tracing found out, in PyTorch's words."""

import itertools
import math
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
        self.lower = spec.min or (0 if named else 2)
        self.upper = spec.max if spec.max is not None else int_oo
        self.fixed = None

    is_auto = property(lambda self: isinstance(self.spec, _DimHint) and self.spec.kind == "AUTO")


_FUNCTIONS = {"Mod": lambda a, b: a % b, "PythonMod": lambda a, b: a % b, "FloorDiv": lambda a, b: a // b,
              "Max": max, "Min": min, "Ne": lambda a, b: a != b, "Eq": lambda a, b: a == b, "Not": lambda a: not a,
              "And": lambda *a: all(a), "Or": lambda *a: any(a), "Ge": lambda a, b: a >= b, "Abs": abs,
              "ToFloat": float, "TruncToInt": math.trunc, "FloorToInt": math.floor, "CeilToInt": math.ceil,
              "RoundToInt": round, "IntTrueDiv": lambda a, b: a / b, "FloatTrueDiv": lambda a, b: a / b}
_MOST_EXACT = 1 << 53  # of whole numbers that go through a float


_UNCHECKABLE = (SyntaxError, NameError, TypeError, AttributeError, ValueError, OverflowError)


class _Guard:
    """A condition on sizes."""

    def __init__(self, text, sizes):
        self.text = text
        self.sizes = [s for s in sizes if s.source in text]
        for k, size in enumerate(self.sizes):
            text = text.replace(size.source, f"_v{k}")
        try:
            self._code = compile(text, "<guard>", "eval")
            self._value({s.source: s.hint for s in self.sizes})
        except ZeroDivisionError:
            pass  # it does not hold
        except _UNCHECKABLE as error:
            raise RuntimeError(f"torch.export: the guard {self.text} cannot be checked: {error}") from None

    def _value(self, values):
        most = _MOST_EXACT if "ToFloat(" in self.text or "TrueDiv(" in self.text else int_oo
        scope = {f"_v{k}": min(values[s.source], most) for k, s in enumerate(self.sizes)}
        return bool(eval(self._code, {"__builtins__": {}}, {**_FUNCTIONS, **scope}))

    def holds(self, values):
        """Whether sizes, by their sources, meet it."""
        try:
            return self._value(values)
        except (ZeroDivisionError, OverflowError, ValueError, TypeError):
            return False


_GREATEST = int_oo - 1  # what sizes without a greatest one may be
_MOST_COMBINATIONS = 1000
_ENDS = {1: (256, 8), 2: (6, 4), 3: (6, 2)}  # by number of Dims: how many of the least and of the greatest are tried


def _ends(low, high, step, least, greatest):
    """The least and the greatest values of a range."""
    return sorted({*range(low, min(high, low + step * (least - 1)) + 1, step),
                   *range(max(low, high - step * (greatest - 1)), high + 1, step)})


def _changed_at_one(tried):
    """All least and all greatest; then those with another value at one place."""
    bases = [[values[0] for values in tried], [values[-1] for values in tried]]
    yield from bases
    for base in bases:
        for k, values in enumerate(tried):
            for value in values:
                yield [*base[:k], value, *base[k + 1:]]


def _combinations(tried):
    """All of them where they are few."""
    if math.prod(len(values) for values in tried) <= _MOST_COMBINATIONS:
        return itertools.product(*tried)
    return itertools.islice(_changed_at_one(tried), _MOST_COMBINATIONS)


class Checks:
    """What the inputs of a call must meet: the ranges of their sizes, and what guards say of several of them."""

    def __init__(self, given, free=(), guards=()):
        self._given, self._guards = given, guards
        self._free = {(s.leaf, s.dim): s for s in free}

    def run(self, leaves, names):
        """AssertionError for the first that these leaves, with the names of their inputs, do not meet."""
        for k, (wanted, leaf) in enumerate(zip(self._given, leaves)):
            if isinstance(wanted, torch.Tensor):
                self._check_tensor(k, wanted, leaf, names[k])
            elif leaf is not wanted and (type(leaf) is not type(wanted) or leaf != wanted):
                raise AssertionError(f"Expected input at {names[k]} to be equal to {wanted}, but got {leaf}")
        values = {s.source: leaves[s.leaf].shape[s.dim] for s in self._free.values()}
        for guard in self._guards:
            if not guard.holds(values):
                text = guard.text
                for size in guard.sizes:
                    text = text.replace(size.source, f"{names[size.leaf]}.size()[{size.dim}]")
                raise AssertionError(f"Guard failed: {text}")

    def _check_tensor(self, k, wanted, leaf, name):
        if not isinstance(leaf, torch.Tensor):
            raise AssertionError(f"Expected input at {name} to be a tensor, but got {type(leaf)}")
        if leaf.dim() != wanted.dim():
            raise AssertionError(f"Guard failed: {name}.dim() == {wanted.dim()}")
        for dim, size in enumerate(leaf.shape):
            free, where = self._free.get((k, dim)), f"{name}.size()[{dim}]"
            if free is None and size != wanted.shape[dim]:
                raise AssertionError(f"Guard failed: {where} == {wanted.shape[dim]}")
            if free is not None and size < free.lower:
                raise AssertionError(f"Guard failed: {where} >= {free.lower}")
            if free is not None and size > free.upper:
                raise AssertionError(f"Guard failed: {where} <= {free.upper}")


class Constraints:
    """The sizes that may differ, against the guards of the trace."""

    def __init__(self, trace, given, specs, sources):
        self.guards, self.sizes = [], []
        # Inputs of which the graph takes the sizes alone are no inputs of it, and guards name them all the same.
        names = {**sources, **{id(value): source for (_, value), source in zip(trace.inputs, trace.sources)}}
        symbols = {source: name for (name, _), source in zip(trace.inputs, trace.sources)}
        for k, (leaf, rows) in enumerate(zip(given, specs)):
            source = names.get(id(leaf))
            for dim, spec in rows.items():
                if spec is None or isinstance(spec, int) or spec == Dim.STATIC or source is None:
                    continue
                where = f"{source}.size()[{dim}]"
                self.sizes.append(_Size(symbols.get(where), where, k, dim, spec, leaf.shape[dim]))
        self.given, self.specs = given, specs
        self.guards = [_Guard(g, self.sizes) for g in trace.guards
                       if not re.match(r"2 <= [^<>=]*\.size\(\)\[\d+\]$", g)]
        self._settle()

    def _settle(self):
        """Sizes that a guard fixed, bounds that one gave, and sizes that are the same one."""
        self.same = []
        for guard in self.guards:
            among = guard.sizes
            equal = guard.text.split(" == ")
            if len(among) == 1 and len(equal) == 2 and among[0].source in equal and any(e.isdigit() for e in equal):
                among[0].fixed = int(next(e for e in equal if e.isdigit()))
            elif len(among) == 2 and len(equal) == 2 and {s.source for s in among} == set(equal):
                self.same.append(among)
            elif len(among) == 1 and not isinstance(among[0].spec, Dim):
                self._narrow(among[0], guard.text)

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
        among = guard.sizes
        if not among or any(not isinstance(s.spec, Dim) or s.fixed is not None for s in among):
            return
        if len(among) > 1:
            return self._check_several(guard, problems, names)
        size = among[0]
        if all(guard.holds({size.source: v}) for v in self._tried(size)):
            return
        bounds = (f"{size.lower} <= " if size.lower > 0 else "") + size.name + (
            f" <= {size.upper}" if size.upper < int_oo else "")
        where = f" {bounds}" if bounds != size.name else ""
        names.append(size.name)
        problems.append(f"Not all values of {size.name} = {size.source} in the specified range{where} satisfy the "
                        f"generated guard {guard.text}.")
        probe = _Size(None, size.source, 0, 0, Dim.AUTO, size.hint)
        self._narrow(probe, guard.text)
        if (probe.lower, probe.upper) != (2, int_oo):
            parts = [f"min={max(probe.lower, size.lower)}"] if max(probe.lower, size.lower) > 2 else []
            parts += [f"max={min(probe.upper, size.upper)}"] if min(probe.upper, size.upper) < int_oo else []
            root = size.spec.root.__name__
            fixes.append(f"{root} = Dim('{root}', {', '.join(parts)})")

    @staticmethod
    def _tried(size):
        """Sizes from the ends of the range that are of the Dim's form, for roots of 2 and more."""
        factor, offset = size.spec.factor, size.spec.offset
        low = factor * max(2, -((offset - size.lower) // factor)) + offset
        high = min(size.upper, _GREATEST)
        return _ends(low, high - (high - offset) % factor, factor, *_ENDS[1])

    @staticmethod
    def _root_range(sizes):
        """The least and the greatest root with which these sizes of it are in their ranges, from 2 up."""
        low = max(2, *(-((s.spec.offset - s.lower) // s.spec.factor) for s in sizes))
        high = min((min(s.upper, _GREATEST) - s.spec.offset) // s.spec.factor for s in sizes)
        return low, high

    def _check_several(self, guard, problems, names):
        """Sizes of one Dim go together; others take combinations of values from the ends of their ranges."""
        roots = {}
        for size in guard.sizes:
            roots.setdefault(size.spec.root.__name__, []).append(size)
        ends = _ENDS.get(len(roots), (2, 1))
        for values in _combinations([_ends(*self._root_range(sizes), 1, *ends) for sizes in roots.values()]):
            by_root = dict(zip(roots, values))
            sizes = {s.source: s.spec.factor * by_root[s.spec.root.__name__] + s.spec.offset for s in guard.sizes}
            if not guard.holds(sizes):
                if any(s.source in p for p in problems for s in guard.sizes):
                    return
                names += [s.name for s in guard.sizes]
                told = ", ".join(f"{s.name} = {s.source}" for s in guard.sizes)
                problems.append(f"Not all values of {told} satisfy the generated guard {guard.text}.")
                return

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

    def _relations(self):
        """Sizes of one Dim: the later ones by the first."""
        first = {}
        for size in self.sizes:
            if not isinstance(size.spec, Dim) or size.fixed is not None:
                continue
            root, (factor, offset) = size.spec.root.__name__, (size.spec.factor, size.spec.offset)
            if factor > 1:
                yield f"Mod({size.source} - {offset}, {factor}) == 0" if offset else f"Mod({size.source}, {factor}) == 0"
            base = first.setdefault(root, size)
            if base is size:
                continue
            origin = base.source if base.spec.offset == 0 else f"({base.source} - {base.spec.offset})"
            if base.spec.factor > 1:
                origin = f"({origin} // {base.spec.factor})"
            yield f"{size.source} == {size.spec.text(origin)}"

    def checks(self):
        """What calls of the exported program must meet."""
        free = [s for s in self.sizes if s.fixed is None]
        known = {g.text for g in self.guards}
        known |= {" == ".join(reversed(t.split(" == "))) for t in known}
        guards = self.guards + [_Guard(t, self.sizes) for t in self._relations() if t not in known]
        return Checks(self.given, free, [g for g in guards if g.sizes and all(s.fixed is None for s in g.sizes)])
