"""compile_fx: a GraphModule of a program, compiled by Kerf's own compiler.

The ATen graphs of AOTAutograd, forward and backward, go to compile_fx_inner as in PyTorch. What Kerf's compiler does not
take runs op by op; `ran_by` of the compiled graph says which, and why.
"""

import itertools
import json
import math

import torch
from torch import _C
from torch._functorch.aot_autograd import aot_module_simplified
from torch.fx import Graph, GraphModule
from torch.utils import _pytree as pytree

from . import config

_graph_numbers = itertools.count()
#: Settings that are functions on an FX graph, and run in Python.
_CUSTOM_PASSES = ("pre_grad_custom_pass", "joint_custom_pre_pass", "joint_custom_post_pass", "post_grad_custom_pre_pass",
                  "post_grad_custom_post_pass")


def get_patched_config_dict(config_patches=None):
    """All settings, with some of them changed."""
    with config.patch(config_patches or {}):
        return config.get_config_copy()


def has_custom_pass():
    """Whether torch._inductor.config names a pass of the program."""
    return any(getattr(config, name) is not None for name in _CUSTOM_PASSES)


def _run_pass(name, gm):
    """A pass of the program on a graph, which it changes."""
    custom = getattr(config, name)
    if custom is None:
        return
    custom(gm.graph)
    gm.graph.lint()
    gm.recompile()


class CompiledFxGraph:
    """What compile_fx_inner makes: called with one list of the graph's inputs, it gives the list of its outputs."""

    _boxed_call = True

    def __init__(self, run, ran_by, checks_numbers):
        self._run, self.ran_by, self._checks_numbers = run, ran_by, checks_numbers

    def __call__(self, inputs):
        if self._checks_numbers:
            _assert_numbers(inputs)
        made = self._run(inputs)
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        if self._checks_numbers:
            _assert_numbers(made)
        return made


def _assert_numbers(values):
    """config.nan_asserts: neither NaN nor infinity goes in or comes out."""
    for value in values:
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            assert not value.isnan().any().item()
            assert not value.isinf().any().item()


def _without_attributes(gm):
    """The graph with its tensors as further inputs behind the others, and these tensors. None where it holds modules."""
    made, nodes, more = Graph(), {}, []
    placeholders = [n for n in gm.graph.nodes if n.op == "placeholder"]
    for node in placeholders:
        nodes[node] = made.node_copy(node, lambda n: nodes[n])
    for node in gm.graph.nodes:
        if node.op == "get_attr":
            value = gm
            for part in node.target.split("."):
                value = getattr(value, part)
            if not isinstance(value, torch.Tensor):
                return None
            nodes[node] = made.placeholder(node.name)
            nodes[node].meta["val"] = value.detach()
            more.append(value)
    for node in gm.graph.nodes:
        if node.op == "call_module":
            return None
        if node.op not in ("placeholder", "get_attr"):
            nodes[node] = made.node_copy(node, lambda n: nodes[n])
    return GraphModule(torch.nn.Module(), made), more


def _computed_outputs(graph):
    """Leaves the graph only outputs that it computes. For each output before: ("input", place) or ("output", place), or
    ("value", what it is)."""
    output = next(n for n in graph.nodes if n.op == "output")
    placeholders = [n for n in graph.nodes if n.op == "placeholder"]
    items = output.args[0] if isinstance(output.args[0], (tuple, list)) else [output.args[0]]
    plan, computed = [], []
    for item in items:
        if item in placeholders:
            plan.append(("input", placeholders.index(item)))
        elif hasattr(item, "op"):
            plan.append(("output", len(computed)))
            computed.append(item)
        else:
            plan.append(("value", item))
    output.args = (tuple(computed),)
    return plan


def _is_finite(value):
    return isinstance(value, float) and math.isfinite(value)


def _settings_text():
    """The settings that are numbers, truths or texts, as JSON."""
    settings = config.get_config_copy().items()
    return json.dumps({k: v for k, v in settings if isinstance(v, (bool, int, str)) or _is_finite(v)})


def _annotate(gm, example_inputs):
    """Gives placeholders without a value that of their example."""
    for node, example in zip([n for n in gm.graph.nodes if n.op == "placeholder"], example_inputs):
        if isinstance(example, torch.Tensor) and not {"val", "example_value", "tensor_meta"} & node.meta.keys():
            node.meta["val"] = example.detach()


def compile_fx_inner(gm, example_inputs, **unused):
    """Compiles one ATen graph. Called with a list of inputs, the result gives a list of outputs."""
    _run_pass("post_grad_custom_pre_pass", gm)
    _run_pass("post_grad_custom_post_pass", gm)
    checks = config.nan_asserts

    def by_op(inputs):
        return gm.forward(*inputs)

    if not any(n.op in ("call_function", "call_method", "call_module") for n in gm.graph.nodes):
        return CompiledFxGraph(by_op, "eager (the graph computes nothing)", checks)
    _annotate(gm, example_inputs)
    plain = _without_attributes(gm)
    if plain is None:
        return CompiledFxGraph(by_op, "eager (the graph holds modules)", checks)
    if not all(isinstance(t, torch.Tensor) for t in example_inputs):
        return CompiledFxGraph(by_op, "eager (an input is no tensor)", checks)
    module, more = plain
    plan = _computed_outputs(module.graph)
    text = module.print_readable(print_output=False, include_stride=True, include_device=True)
    made = _C._dynamo.compile_graph(text, _settings_text())
    if isinstance(made, str):
        return CompiledFxGraph(by_op, f"eager ({made})", checks)

    def compiled(inputs):
        if any(isinstance(t, torch.Tensor) and t.requires_grad for t in inputs) and torch.is_grad_enabled():
            return by_op(inputs)
        given = [*inputs, *more]
        from_place = {"input": given, "output": made(given)}
        return [from_place[kind][at] if kind in from_place else at for kind, at in plan]

    return CompiledFxGraph(compiled, "inductor", checks)


def _as_function(model, inputs):
    """(fn, inputs): a function of flat inputs with the parameters and buffers of the model before the others; they are
    inputs, so that they get gradients."""
    if not isinstance(model, torch.nn.Module):
        return model, list(inputs)
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    if not state:
        return model, list(inputs)
    names = list(state)

    def function(*given):
        own = dict(zip(names, given))
        return torch.func.functional_call(model, own, tuple(given[len(names):]))

    return function, [*state.values(), *inputs]


#: Calls whose results, or their sizes, are known when the graph runs.
_DATA_DEPENDENT = {"item", "tolist", "nonzero", "argwhere", "masked_select", "unique", "unique_consecutive"}


def _is_traceable(model):
    """Whether one run shows all that the graph does: it has no graphs inside, and no numbers of data."""
    if not isinstance(model, GraphModule):
        return True
    names = {getattr(n.target, "__name__", n.target) for n in model.graph.nodes if n.op.startswith("call_")}
    if any(isinstance(a, torch.Generator) for n in model.graph.nodes for a in (*n.args, *n.kwargs.values())):
        return False
    nested = any(isinstance(child, GraphModule) for child in model.children())
    return not nested and not _DATA_DEPENDENT & {str(name).partition(".")[0] for name in names}


def compile_fx(model_, example_inputs_, inner_compile=compile_fx_inner, config_patches=None, decompositions=None,
               ignore_shape_env=False):
    """A function that computes what `model_` (a GraphModule, or a function of tensors) does on inputs like the examples.
    `config_patches`: settings of torch._inductor.config for this compilation; AttributeError for one that does not
    exist. `inner_compile` gets each ATen graph, as compile_fx_inner does."""
    if config_patches:
        with config.patch(config_patches):
            return compile_fx(model_, example_inputs_, config.patch(config_patches)(inner_compile),
                              decompositions=decompositions, ignore_shape_env=ignore_shape_env)
    if isinstance(model_, GraphModule):
        _run_pass("pre_grad_custom_pass", model_)
    if not all(isinstance(t, torch.Tensor) for t in example_inputs_) or not _is_traceable(model_):
        return model_  # op by op
    function, inputs = _as_function(model_, example_inputs_)
    state, number = inputs[:len(inputs) - len(example_inputs_)], next(_graph_numbers)
    spec = []

    def flat(*given):
        leaves, made = pytree.tree_flatten(function(*given))
        spec[:] = [made]
        return leaves

    def compiler(is_backward, is_inference):
        options = {"is_backward": True} if is_backward else {"is_inference": is_inference}

        def compile_part(gm, examples):
            if is_inference:
                _run_pass("joint_custom_pre_pass", gm)
                _run_pass("joint_custom_post_pass", gm)
            return inner_compile(gm, examples, static_input_idxs=range(len(state)), cudagraphs=False, graph_id=number,
                                 boxed_forward_device_index=None, **options)

        return compile_part

    run = aot_module_simplified(flat, inputs, compiler(False, False), compiler(True, False), partition,
                                decompositions, inference_compiler=compiler(False, True))

    def call(*given):
        return pytree.tree_unflatten(list(run(*state, *given)), spec[0])

    return call


def partition(joint_module, joint_inputs, **kwargs):
    """The joint graph in two, after the program's own passes on it."""
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    _run_pass("joint_custom_pre_pass", joint_module)
    _run_pass("joint_custom_post_pass", joint_module)
    return min_cut_rematerialization_partition(joint_module, joint_inputs, compiler="inductor", **kwargs)


def count_bytes_inner(gm, example_inputs, num_fixed=0, **kwargs):
    """Runs the graph op by op."""
    from torch._functorch.aot_autograd import make_boxed_func

    return make_boxed_func(gm.forward)
