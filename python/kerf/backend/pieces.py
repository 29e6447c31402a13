"""A graph cut into pieces that Kerf compiles, and nodes between them that PyTorch runs."""
import operator

from .worker import Compiled, KerfError, dtypes, worker

OWN_FORM = ("_scaled_dot_product", "_flash_attention", "_efficient_attention", "_cudnn", "mkldnn", "_fused_sdp")  # forward and backward
# share values whose form is PyTorch's own: both run there
MOST_TRIES = 20  # to leave out nodes that Kerf refuses


def concrete(module, inputs):
    """The same graph for these inputs: sizes are numbers, and every node knows its value's shape."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        fakes = [mode.from_tensor(v, static_shapes=True) if isinstance(v, torch.Tensor) else v for v in inputs]
        with torch.no_grad():
            return make_fx(torch.fx.Interpreter(module).run, tracing_mode="real", _allow_non_fake_inputs=True)(*fakes)


def name_of(target):
    import torch

    if target is operator.getitem:
        return "operator.getitem"
    return str(target) if isinstance(target, torch._ops.OpOverload) else getattr(target, "__name__", str(target))


class Pieces:
    """`call(*inputs)` gives the outputs. `reasons`: what keeps nodes in PyTorch."""

    def __init__(self, module, inputs):
        import torch

        self.reasons, self.refused = {}, set()
        self.nodes = sum(n.op == "call_function" for n in module.graph.nodes)
        self.in_kerf = self.pieces = 0
        self.call = module
        on_device = any(isinstance(v, torch.Tensor) and v.device.type == "cuda" for v in inputs)
        self.device = torch.device("cuda", 0) if on_device else torch.device("cpu")
        try:
            graph = concrete(module, inputs)
        except Exception as problem:
            self.because("sizes that depend on values: %s" % type(problem).__name__, self.nodes)
            return
        self.nodes = sum(n.op == "call_function" for n in graph.graph.nodes)
        self.cut(graph)

    def because(self, reason, count=1):
        self.reasons[reason] = self.reasons.get(reason, 0) + count

    # ---- which nodes

    def fits(self, node):
        """Whether Kerf may compute a node."""
        if node.op != "call_function" or node.name in self.refused:
            return False
        if name_of(node.target) != "operator.getitem" and name_of(node.target) not in worker().ops:
            self.refuse(node, "no kernel for %s" % name_of(node.target))
            return False
        if name_of(node.target).startswith(tuple("aten." + start for start in OWN_FORM)):
            self.refuse(node, "%s keeps values in a form of PyTorch's own" % name_of(node.target))
            return False
        if not all(plain(n) for n in [node, *node.all_input_nodes]):
            self.refuse(node, "values that are no dense tensors")
            return False
        if not all(self.is_here(n) for n in [node, *node.all_input_nodes]):
            self.refuse(node, "values on another device than %s" % self.device)
            return False
        return True

    def is_here(self, node):
        """Whether a node's tensors are all on the device of the graph: the CPU, or the first CUDA device."""
        import torch

        value = node.meta.get("val")
        values = value if isinstance(value, (list, tuple)) else [value]
        return all(v.device == self.device for v in values if isinstance(v, torch.Tensor))

    def refuse(self, node, reason):
        self.refused.add(node.name)
        self.because(reason)

    def cut(self, graph):
        """Cuts and compiles; where Kerf refuses a node, again without it."""
        for _ in range(MOST_TRIES):
            whole = self.partitioned(graph)
            refused = self.compiled(whole)
            if not refused:
                self.call = whole.forward  # without the hooks of a module
                return
        self.because("refused too often")

    def partitioned(self, graph):
        import copy

        from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
        from torch.fx.passes.operator_support import OperatorSupportBase

        pieces = self

        class Support(OperatorSupportBase):
            def is_node_supported(self, submodules, node):
                return pieces.fits(node)

        work = copy.deepcopy(graph)
        return CapabilityBasedPartitioner(work, Support(), allows_single_node_partition=True).partition_and_fuse()

    # ---- code

    def compiled(self, whole):
        """Puts machine code in the place of each piece. Returns whether one was refused."""
        self.pieces = self.in_kerf = 0
        ready = {}
        for node in whole.graph.nodes:
            if node.op != "call_module" or not node.name.startswith("fused_"):
                continue
            part = getattr(whole, node.target)
            names = [n.name for n in part.graph.nodes if n.op == "call_function"]
            try:
                ready[node.target] = Piece(part, self.because)
            except KerfError as problem:
                self.blame(part, names, problem)
                return True
            self.pieces += 1
            self.in_kerf += len(names)
        for name, piece in ready.items():
            node = next(n for n in whole.graph.nodes if n.op == "call_module" and n.target == name)
            delattr(whole, name)
            node.op, node.target = "call_function", piece.function()
        whole.recompile()
        return False

    def blame(self, part, names, problem):
        """The node that Kerf names, or the whole piece."""
        named = problem.node.lstrip("%")
        for name in [named] if named in names else names:
            self.refused.add(name)
            self.because(str(problem).split("\n")[0][:120])


def plain(node):
    """Whether a node's value is one dense tensor, or several, of a dtype that travels."""
    import torch

    value = node.meta.get("val")
    if isinstance(value, (list, tuple)):
        return all(v is None or fits_tensor(v) for v in value)
    return isinstance(value, (int, float, bool)) and not isinstance(value, torch.SymInt) or fits_tensor(value)


def fits_tensor(value):
    import torch

    return isinstance(value, torch.Tensor) and value.layout == torch.strided and value.dtype in dtypes()


class Piece:
    """One piece: compiled for the shapes of its placeholders. PyTorch runs it from the first call on that Kerf refuses."""

    def __init__(self, part, told):
        inputs = [n.meta["val"] for n in part.graph.nodes if n.op == "placeholder"]
        given = next(n for n in part.graph.nodes if n.op == "output").args[0]
        self.single = not isinstance(given, (list, tuple))
        results = [n.meta["val"] if hasattr(n, "meta") else None for n in ([given] if self.single else given)]
        self.part, self.told, self.refused = part, told, False
        self.compiled = Compiled(text_of(part), inputs, results)

    def run(self, inputs):
        if not self.refused:
            try:
                found = self.compiled(*inputs)
                return found[0] if self.single else tuple(found)
            except KerfError as problem:  # inputs are as they were: Kerf works on copies
                self.refused = True
                self.told("when called: " + str(problem).split("\n")[0][:120])
        return self.part(*inputs)

    def function(self):
        """What stands in the graph for the piece."""

        def kerf_piece(*inputs):
            return self.run(inputs)

        return kerf_piece


def text_of(part):
    """The graph as print_readable writes it, with dtypes, sizes and strides."""
    return part.print_readable(print_output=False, include_stride=True, include_device=True)
