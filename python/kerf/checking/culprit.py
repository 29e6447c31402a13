"""Which part of the compiler it is: what makes the failure go away when it is turned off."""
import ast
import re

from .switches import SETTINGS, SUBSYSTEM_OF

# Where an exception is raised, and what that part is called. The first that fits counts.
PLACES = [
    ("torch/_inductor/fx_passes/", "pass"), ("torch/_inductor/pattern_matcher", "pattern matcher"),
    ("torch/_inductor/codegen/cpp", "C++ code generation"), ("torch/_inductor/codegen/triton", "Triton code generation"),
    ("torch/_inductor/codegen/wrapper", "wrapper code generation"), ("torch/_inductor/codegen/", "code generation"),
    ("torch/_inductor/lowering", "lowering"), ("torch/_inductor/kernel/", "lowering to templates"),
    ("torch/_inductor/decomposition", "decomposition"), ("torch/_inductor/scheduler", "fusion and scheduling"),
    ("torch/_inductor/ir", "Inductor IR"), ("torch/_inductor/runtime", "Inductor runtime"),
    ("torch/_inductor/select_algorithm", "autotuning"), ("torch/_inductor/", "Inductor"),
    ("torch/_functorch/partitioners", "partitioner"), ("torch/_functorch/_aot_autograd", "AOTAutograd"),
    ("torch/_functorch/", "AOTAutograd"), ("torch/_decomp/", "decomposition"), ("torch/_refs/", "decomposition"),
    ("torch/_prims", "decomposition"), ("torch/_meta_registrations", "meta function"), ("torch/_higher_order_ops/", "higher-order op"),
    ("torch/_subclasses/", "fake tensors"), ("torch/nested/", "nested tensors"), ("torch/fx/experimental/symbolic_shapes", "symbolic shapes"),
    ("torch/_dynamo/", "Dynamo"),
]
LEVELS = {"eager": "Dynamo", "aot_eager": "AOTAutograd", "aot_eager_decomp_partition": "decompositions and partitioner",
          "inductor": "Inductor"}


def place_of(error):
    """(part of the compiler, file and function) where an exception comes from."""
    for frame in error.get("frames", []):
        for start, name in PLACES:
            if frame.startswith(start):
                if name == "pass":
                    name = "pass " + frame[len(start):].split(".py")[0]
                return name, frame
    return "", error.get("raised_in", "")


def calls_in(source):
    """The calls of the program's functions, as their text names them: what is computed, in its order."""
    found = []
    tree = ast.parse(source)
    makers = inputs_makers(tree)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name not in makers | {"__init__"}]
    inner = {id(n) for f in functions for n in ast.walk(f) if isinstance(n, ast.FunctionDef) and n is not f}
    own = {f.name for f in functions}
    for function in functions:
        if id(function) in inner:
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                name = call_name(node.func)
                if name.split(".")[-1] not in own and name != "super":
                    found.append(name)
            elif isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)) and not is_constant(node):
                found.append(operator_name(node.ops[0] if isinstance(node, ast.Compare) else node.op))
    return found


def inputs_makers(tree):
    """build(), calls(), and functions that only they call."""
    makers = {"build", "calls"}
    callers = {}
    for function in (n for n in tree.body if isinstance(n, ast.FunctionDef)):
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                callers.setdefault(node.id, set()).add(function.name)
    called = {node.func.id for f in tree.body if getattr(f, "name", "") in makers for node in ast.walk(f)
              if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return makers | {name for name in called if callers.get(name, set()) <= makers}


def call_name(func):
    """torch.cat, or the last name: of a method it is what the op is called."""
    text = ast.unparse(func)
    return text if re.fullmatch(r"torch(\.\w+)+", text) else text.split(".")[-1] if isinstance(func, (ast.Name, ast.Attribute)) else "call"


OPERATORS = {"Mult": "mul", "MatMult": "matmul", "USub": "neg", "UAdd": "pos", "FloorDiv": "floor_divide", "Mod": "remainder",
             "LShift": "bitwise_left_shift", "RShift": "bitwise_right_shift", "BitAnd": "bitwise_and", "BitOr": "bitwise_or",
             "BitXor": "bitwise_xor", "Invert": "bitwise_not", "Lt": "lt", "Gt": "gt", "LtE": "le", "GtE": "ge", "Eq": "eq",
             "NotEq": "ne"}


def operator_name(operator):
    """An operator as the op that it calls."""
    name = type(operator).__name__
    return OPERATORS.get(name, name.lower())


def is_constant(node):
    """-1 is a number, not a call."""
    return all(isinstance(n, (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)) for n in ast.walk(node))


def own_settings(source):
    """CONFIG and KWARGS of a program, as its text has them."""
    found = {"CONFIG": {}, "KWARGS": {}}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in found:
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                pass
    return found


WHOLE = ("pre_grad_graph",)  # steps that stand for a whole level


def questions(source, level, items, caches=False):
    """[(kind, name, changes of the trial's job)]: each asks for the failure without one thing."""
    asked = []
    if caches:
        asked.append(("cache", "FX graph cache", {"config": {"torch._inductor.config.fx_graph_cache": False}}))
        asked.append(("cache", "AOTAutograd cache", {"config": {"torch._functorch.config.enable_autograd_cache": False}}))
    own = own_settings(source)
    for name in own["CONFIG"]:
        asked.append(("configuration", name, {"drop_config": [name]}))
    for name, value in own["KWARGS"].items():
        if name != "fullgraph":
            asked.append(("configuration", "torch.compile(%s=%r)" % (name, value), {"drop_kwargs": [name]}))
    if level in ("aot_eager_decomp_partition", "inductor"):
        items = [i for i in items if i.split("|")[0] not in WHOLE]
        groups = sorted({item.split("|")[0] for item in items})
        asked += [(SUBSYSTEM_OF.get(g, g), "*", {"off": [g + "|*"]}) for g in groups]
        asked += [(SUBSYSTEM_OF.get(i.split("|")[0], i), i.split("|", 1)[1], {"off": [i]}) for i in items[:80]]
    for subsystem, setting, value, about in SETTINGS:
        if level == "inductor" and "_inductor" in setting or level != "eager" and "_functorch" in setting:
            asked.append((subsystem, about, {"config": {setting: value}}))
    return asked


# What explains most comes first. A lowering that is replaced by the eager kernel explains nearly every failure.
RANK = ["cache", "decomposition", "pre-grad pass", "joint-graph pass", "post-grad pass", "configuration", "autotuning", "pattern matcher",
        "constant folding", "random numbers", "partitioner", "layout", "buffers", "split and cat", "reductions", "C++ vectorization",
        "C++ loops", "C++ compiler", "fusion", "schedule", "precision", "lowering"]


def op_of(item):
    """The op in the text of a step: `aten.frac.default` of a decomposition, the target of a lowered node."""
    found = re.search(r"\b((?:aten|prims|higher_order|quantized|_c10d_functional)\.[\w.]+)", item)
    return found[1].strip(".") if found else item if re.fullmatch(r"[a-z_]\w*", item) else ""


def culprit_of(level, verdict, fixes, source):
    """{level, subsystem, part, ops, where, evidence}. `fixes`: the questions without whose thing the failure is gone."""
    where = ""
    part = LEVELS[level]
    if verdict["status"] == "error":
        found, where = place_of(verdict["error"])
        part = found or part
    named = [f for f in fixes if f[1] != "*"]
    named.sort(key=lambda f: RANK.index(f[0]) if f[0] in RANK else 99)
    ops = list(dict.fromkeys(calls_in(source)))
    answer = {"level": level, "subsystem": part, "part": "", "ops": ops[:8], "where": where,
              "evidence": ["%s %s" % f[:2] for f in named][:12]}
    if named:
        kind, name, _ = named[0]
        answer["part"] = op_of(name) if kind in ("decomposition", "lowering") and op_of(name) else name
        if verdict["status"] != "error" or not where:
            answer["subsystem"] = kind
    elif fixes and not where:
        answer["subsystem"], answer["part"] = fixes[0][0], "several together"
    lowered = [op_of(f[1]) for f in named if f[0] in ("decomposition", "lowering") and op_of(f[1])]
    describe_part(answer, level, verdict, source)
    raising = verdict["error"].get("ops") if verdict["status"] == "error" else None
    op = telling(lowered) or (raising[0] if raising else telling(ops))
    if op:
        answer["op"] = op if "." in op else re.sub(r"(?<=[a-z])_\d+$", "", op)
    return answer


def telling(ops):
    """The op of several that says most: one that holds graphs, else the last that is neither arithmetic nor makes a tensor."""
    last = {op: op.split(".")[-1] if not op.startswith(("aten.", "prims.")) else op.split(".")[1] for op in ops}
    nested = [op for op in ops if last[op] in HIGHER_ORDER]
    named = [op for op in ops if last[op] not in TRANSFORMS]
    for some in (nested, [o for o in named if last[o] not in ARITHMETIC + FACTORIES], [o for o in named if last[o] not in ARITHMETIC],
                 named, ops):
        if some:
            return some[0] if some is nested or ops[0].startswith("aten.") else some[-1]
    return ""


HIGHER_ORDER = ("cond", "while_loop", "scan", "associative_scan", "map", "flex_attention")
ARITHMETIC = ("neg", "pos", "not", "add", "sub", "is", "isnot", "eq", "ne", "lt", "gt", "le", "ge")
FACTORIES = ("tensor", "ones", "zeros", "arange", "full", "empty", "eye", "ones_like", "zeros_like", "empty_like", "full_like", "item",
             "detach", "clone", "reshape", "view", "contiguous", "t", "transpose", "permute", "unsqueeze", "squeeze")
TRANSFORMS = ("vmap", "grad", "grad_and_value", "hessian", "jacrev", "jacfwd", "vjp", "jvp", "sum", "mean", "checkpoint", "call")


def describe_part(answer, level, verdict, source):
    """What the kind of the failure says where no part was found."""
    if answer["part"] or verdict["status"] != "different":
        return
    if all(d["what"].startswith("call") for d in verdict["differences"]):
        answer["part"] = "guards: a later call runs code that was made for an earlier one"
    elif level == "aot_eager" and re.search(r"\w_\(|\] [-+*/]?= |__setitem__|__i\w+__\(", source):
        answer["part"] = "functionalization of changed arguments and views"
