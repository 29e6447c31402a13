"""One call of a compiled graph, beside the same graph node by node."""
import contextlib

from . import digest
from .calls import MOST_BYTES, save_tensors, size_of


class OneCall:
    def __init__(self, graph, number):
        self.graph, self.number, self.recording = graph, number, graph.recording
        self.settings = graph.recording.settings
        self.compiled, self.kept, self.eager, self.about = {}, {}, {}, {}
        self.whole, self.gaps, self.bytes = {}, {}, 0

    def run(self, call, inputs):
        """What the compiled graph returns. What goes wrong while it is recorded is a note."""
        import torch

        copies, random = None, None
        with self.quiet("its inputs"):
            copies = [self.copied(value) for value in inputs]
            self.before(copies)
            random = random_states()
        with compiled_nodes(self.seen):
            result = call(inputs)
        with self.quiet("its values"):
            self.outputs(result)
            if copies is not None and self.bytes <= MOST_BYTES:
                after = random_states()
                set_random_states(random)
                with torch.no_grad():
                    self.interpret(copies)
                set_random_states(after)
            self.write()
        return result

    @contextlib.contextmanager
    def quiet(self, what):
        try:
            yield
        except Exception as problem:
            self.recording.note("%s, call %d: %s are not recorded: %s: %s" % (
                self.graph.name, self.number, what, type(problem).__name__, str(problem).split("\n")[0]))

    # ---- inputs

    def copied(self, value):
        import torch

        if not isinstance(value, torch.Tensor):
            return value
        self.bytes += value.numel() * value.element_size()
        if self.bytes > MOST_BYTES:
            raise MemoryError("more than %d MB" % (MOST_BYTES >> 20))
        copy = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)
        return copy.copy_(value.detach())

    def before(self, copies):
        import torch

        tensors = {n: v for n, v in zip(self.graph.names, copies) if isinstance(v, torch.Tensor)}
        random = {"cpu": torch.get_rng_state()}
        if torch.cuda.is_initialized():
            random["cuda"] = torch.cuda.get_rng_state()
        row = {"graph": self.graph.name, "call": self.number,
               "inputs": {n: dict(digest.about(v), hash=hash_of(v)) for n, v in tensors.items()},
               "sizes": {n: int(v) for n, v in zip(self.graph.names, copies) if isinstance(v, (int, torch.SymInt))},
               "random": {n: hash_of(v) for n, v in random.items()}}
        self.recording.row(row)
        if self.settings.kind == "full":
            if self.number == 0:
                self.graph.save_program(copies)
            states = {"random." + n: v for n, v in random.items()}
            save_tensors(self.recording, "%s-call%d.inputs" % (self.graph.name, self.number), dict(tensors, **states))

    # ---- compiled and eager values

    def seen(self, name, value):
        """Compiled code has computed a node. Its memory is used again, so what is kept is a copy."""
        import torch

        if isinstance(value, torch.Tensor) and name not in self.compiled and self.settings.wants(name):
            with self.quiet(name):
                self.take(name, value)

    def take(self, name, value):
        value = digest.plain(value)
        if value is None:
            return
        self.about[name] = digest.about(value)
        self.compiled[name] = self.reduced(value)
        if self.settings.kind != "hash" and self.bytes <= MOST_BYTES:
            self.bytes += size_of([value])
            self.kept[name] = value.clone()

    def reduced(self, value):
        return digest.checksum(value) if self.settings.kind == "hash" else digest.figures(value)

    def outputs(self, result):
        import torch

        node = next(n for n in reversed(self.graph.gm.graph.nodes) if n.op == "output")
        given = node.args[0] if isinstance(node.args[0], (list, tuple)) else [node.args[0]]
        for source, value in zip(given, result if isinstance(result, (list, tuple)) else [result]):
            if isinstance(value, torch.Tensor) and getattr(source, "op", "placeholder") != "placeholder":
                self.seen(source.name, value)

    def interpret(self, copies):
        import torch

        call = self

        class Nodes(torch.fx.Interpreter):
            def run_node(self, node):
                value = super().run_node(node)
                if isinstance(value, torch.Tensor) and node.name in call.compiled:
                    call.beside(node.name, value)
                return value

        Nodes(self.graph.gm).run(*copies)

    def beside(self, name, value):
        value = digest.plain(value)
        if value is None:
            return
        self.eager[name] = self.reduced(value)
        other = self.kept.get(name)
        if other is not None and other.shape == value.shape:
            self.gaps[name] = digest.difference(other, value)
        if self.settings.kind == "full":
            self.whole[name] = value.clone()

    # ---- what is written

    def write(self):
        first = None
        for name in [n.name for n in self.graph.gm.graph.nodes if n.name in self.compiled]:
            row = {"graph": self.graph.name, "call": self.number, "node": name, **self.about[name],
                   "compiled": self.told(self.compiled[name])}
            if name in self.eager:
                row["eager"] = self.told(self.eager[name])
                row["same"], detail = self.same(name, row)
                row.update(detail)
                if not row["same"] and first is None and not self.graph.draws:
                    first = {"graph": self.graph.name, "call": self.number, "node": name, "detail": text_of(detail)}
            self.recording.row(row)
        if self.settings.kind == "full":
            for part, values in (("compiled", self.kept), ("eager", self.whole)):
                save_tensors(self.recording, "%s-call%d.%s" % (self.graph.name, self.number, part), values)
        if self.graph.draws:
            self.recording.note("%s draws random numbers, other ones in compiled code unless fallback_random is set" % self.graph.name)
        self.recording.call_ends(len(self.compiled), first)

    def same(self, name, row):
        if name in self.gaps:
            absolute, relative, beyond = self.gaps[name].tolist()
            return beyond == 0, {"max_abs": absolute, "max_rel": relative, "beyond": int(beyond)}
        return row["compiled"] == row["eager"], {}

    def told(self, value):
        if self.settings.kind == "hash":
            return "%016x" % (int(value.item()) & (1 << 64) - 1)
        return dict(zip(digest.NAMES, value.tolist()))


def text_of(detail):
    if "beyond" in detail:
        return " (%d elements, largest difference %.4g)" % (detail["beyond"], detail["max_abs"])
    return " (in its bits; record with --values stats to know by how much)"


def hash_of(tensor):
    value = digest.plain(tensor)
    return None if value is None else "%016x" % (int(digest.checksum(value).item()) & (1 << 64) - 1)


@contextlib.contextmanager
def compiled_nodes(seen):
    """While it lasts, compiled code tells of the nodes that it computes."""
    try:
        from torch._inductor.hooks import intermediate_hook
    except ImportError:
        yield
        return
    with intermediate_hook(seen):
        yield


def random_states():
    import torch

    return torch.get_rng_state(), torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None


def set_random_states(states):
    import torch

    torch.set_rng_state(states[0])
    if states[1] is not None:
        torch.cuda.set_rng_state(states[1])
