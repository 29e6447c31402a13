"""Graphs of ATen operators for compilers that a program brings: forward, and backward where gradients are asked for."""

import torch
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import _Recorder, make_fx
from torch.utils import _pytree as pytree


def make_boxed_func(f):
    """f for a list of its arguments."""

    def g(args):
        return f(*args)

    g._boxed_call = True
    return g


def make_boxed_compiler(compiler):
    """A compiler whose functions take a list of arguments."""

    def f(fx_g, inps):
        return make_boxed_func(compiler(fx_g, inps))

    return f


@torch._dynamo.disable
def _call(compiled, args):
    made = compiled(list(args)) if getattr(compiled, "_boxed_call", False) else compiled(*args)
    return list(made) if isinstance(made, (tuple, list)) else [made]


def _own(tensor):
    """A copy to trace with: the program's tensor stays as it is whatever the graph writes."""
    if not isinstance(tensor, torch.Tensor):
        return tensor
    if 0 in tensor.stride():  # expanded: its elements have no places of their own
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return made.copy_(tensor.detach()).requires_grad_(tensor.requires_grad)


class _Joint:
    """The joint graph of a function: its outputs, and the gradients of its inputs."""

    def __init__(self, fn, args, decompositions):
        recorder = self.recorder = _Recorder(decompositions)
        self.inputs, self.tangents = [], []
        for k, leaf in enumerate(args):
            own = leaf
            node = recorder.graph.placeholder(f"primals_{k + 1}")
            if isinstance(leaf, torch.Tensor):
                own = _own(leaf)
                recorder.track(own, node)
            self.inputs.append(own)
        with recorder, torch.enable_grad():
            self.leaves, self.spec = pytree.tree_flatten(fn(*self.inputs))
        self.differentiable = [k for k, t in enumerate(self.leaves) if isinstance(t, torch.Tensor) and t.requires_grad]
        wanted = [k for k, t in enumerate(self.inputs) if isinstance(t, torch.Tensor) and t.requires_grad]
        for number, k in enumerate(self.differentiable):
            tangent = torch.ones_like(self.leaves[k].detach())
            recorder.track(tangent, recorder.graph.placeholder(f"tangents_{number + 1}"))
            self.tangents.append(tangent)
        with recorder:
            grads = torch.autograd.grad([self.leaves[k] for k in self.differentiable], [self.inputs[k] for k in wanted],
                                        self.tangents, allow_unused=True) if self.differentiable else ()
        self.grads = [None] * len(args)
        for k, grad in zip(wanted, grads):
            self.grads[k] = grad

    def module(self):
        """The GraphModule, whose placeholders come first."""
        graph = self.recorder.graph
        outputs = [self.recorder.output_of(t) for t in (*self.leaves, *self.grads)]
        graph.output(outputs)
        first = next((n for n in graph.nodes if n.op != "placeholder"), None)
        for node in [n for n in graph.nodes if n.op == "placeholder" and n.name.startswith("tangents")]:
            first.prepend(node)
        graph.eliminate_dead_code()
        return GraphModule(self.recorder.root, graph)


def _training(mod, args, fw_compiler, bw_compiler, partition_fn, decompositions):
    from .partitioners import default_partition

    with torch.random.fork_rng():
        joint = _Joint(mod, args, decompositions)
    count = len(joint.leaves)
    forward, backward = (partition_fn or default_partition)(joint.module(), [joint.inputs, joint.tangents],
                                                            num_fwd_outputs=count)
    with torch.no_grad(), torch.random.fork_rng():
        examples = [t.detach() if isinstance(t, torch.Tensor) else t for t in args]
        fw = fw_compiler(forward, examples)
        saved = list(forward(*[_own(t) for t in examples])[count:])
        bw = (bw_compiler or fw_compiler)(backward, saved + joint.tangents)
    differentiable, spec = joint.differentiable, joint.spec

    class CompiledFunctionBackward(torch.autograd.Function):
        """The backward graph as one operation. The first input only makes its results need gradients: a graph may save
        values whose own way back to the inputs is lost."""

        @staticmethod
        def forward(ctx, anchor, *given):
            return tuple(_call(bw, given))

        @staticmethod
        def backward(ctx, *grads):
            raise RuntimeError("torch.compile with aot_autograd does not currently support double backward")

    same = {}  # outputs of the last run that are inputs, by place

    class CompiledFunction(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *given):
            made = _call(fw, given)
            for k in set(range(count)) - set(differentiable):
                at = next((i for i, t in enumerate(given) if t is made[k] and t is not None), None)
                if at is not None:  # a buffer that was written into
                    same[k], made[k] = at, made[k].detach()
            ctx.others = [None if isinstance(t, torch.Tensor) else t for t in made[count:]]
            ctx.save_for_backward(*[t if isinstance(t, torch.Tensor) else None for t in made[count:]])
            ctx.mark_non_differentiable(*[t for k, t in enumerate(made[:count])
                                          if isinstance(t, torch.Tensor) and k not in differentiable])
            ctx.shapes = [t if isinstance(t, torch.Tensor) else None for t in made[:count]]
            return tuple(made[:count])

        @staticmethod
        def backward(ctx, *grads):
            saved = [o if t is None else t for t, o in zip(ctx.saved_tensors, ctx.others)]
            tangents = [torch.zeros_like(ctx.shapes[k]) if grads[k] is None else grads[k] for k in differentiable]
            given = [*saved, *tangents]
            if torch.is_grad_enabled():
                return CompiledFunctionBackward.apply(torch.empty(0, requires_grad=True), *given)
            return tuple(_call(bw, given))

    def run(*given):
        same.clear()
        outputs = list(CompiledFunction.apply(*given))
        for k, at in same.items():
            outputs[k] = given[at]
        return pytree.tree_unflatten(outputs, spec)

    return run


def aot_module_simplified(mod, args, fw_compiler, bw_compiler=None, partition_fn=None, decompositions=None,
                          inference_compiler=None, **options):
    """What the compilers make of the ATen operators of mod: a forward and a backward graph where an input requires a
    gradient, else one graph."""
    if torch.is_grad_enabled() and any(isinstance(t, torch.Tensor) and t.requires_grad for t in args):
        return _training(mod, args, fw_compiler, bw_compiler, partition_fn, decompositions)
    compiler = inference_compiler or fw_compiler
    with torch.no_grad():
        with torch.random.fork_rng():
            graph = make_fx(mod, decomposition_table=decompositions)(*[_own(t) for t in args])
        made = compiler(graph, list(args))
    if getattr(made, "_boxed_call", False):
        return lambda *given: made(list(given))
    return made


def aot_function(fn, fw_compiler, bw_compiler=None, partition_fn=None, decompositions=None, inference_compiler=None,
                 **options):
    """fn by way of aot_module_simplified, compiled at its first call. Its inputs may be nested."""
    compiled = []

    def call(*args, **kwargs):
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if not compiled:
            def flat(*given):
                own_args, own_kwargs = pytree.tree_unflatten(list(given), spec)
                return fn(*own_args, **own_kwargs)

            compiled.append(aot_module_simplified(flat, leaves, fw_compiler, bw_compiler, partition_fn, decompositions,
                                                  inference_compiler))
        return compiled[0](*leaves)

    return call


class _AOTModule(torch.nn.Module):
    """A module whose forward was compiled; its parameters are inputs of the graphs."""

    def __init__(self, mod, compilers):
        super().__init__()
        self.orig_module = mod
        names = [*dict(mod.named_parameters()), *dict(mod.named_buffers())]

        def functional(state, args, kwargs):
            return torch.func.functional_call(mod, dict(zip(names, state)), args, kwargs)

        self.__dict__["_call"] = aot_function(functional, **compilers)

    def forward(self, *args, **kwargs):
        state = [*self.orig_module.parameters(), *self.orig_module.buffers()]
        return self._call(state, args, kwargs)


def aot_module(mod, *args, **kwargs):
    """The same of a module."""
    names = ("fw_compiler", "bw_compiler", "partition_fn", "decompositions")
    return _AOTModule(mod, {**dict(zip(names, args)), **kwargs})
