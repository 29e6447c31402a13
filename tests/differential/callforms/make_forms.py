#!/usr/bin/env python3
"""Makes fresh forms of calls: make_forms.py TABLE RECORDED OUTPUT [--seed N] [--count N]

TABLE is resources/python/call_forms.txt, RECORDED the forms that were recorded with PyTorch (tests/conformance/data/
python_forms.jsonl.gz). One half of the forms are recorded calls with one or two arguments changed: another kind of value,
by keyword or by position, left out, one too many, under NumPy's name, a tensor for a number, a list for an int, a spread
list, `out=`. The other half calls each form of the table with drawn values. OUTPUT has the tensors in its first line, then
one form a line: {"n", "text", "graph"}.
"""
import argparse
import ast
import gzip
import json
import random
import re

OTHER_NAMES = {"dim": ["axis"], "keepdim": ["keepdims"], "input": ["x", "a", "x1", "self"], "other": ["x2"],
               "axis": ["dim"], "keepdims": ["keepdim"]}
CODES = {"float32": "f32", "int64": "i64", "bool": "b8", "complex64": "c64", "float64": "f64", "int32": "i32"}

# Tensors beside the recorded ones: numbers of every kind, of no and of one dimension, and empty ones.
MORE = {"si": ("int64", [], [1]), "s0": ("int64", [], [0]), "sb": ("bool", [], [True]), "sn": ("float32", [], [2.0]),
        "i1": ("int64", [1], [1]), "f1": ("float32", [1], [0.5]), "b1": ("bool", [1], [True]), "e0": ("float32", [0], []),
        "dd": ("float64", [3, 4], [0.25 * k - 1 for k in range(12)]), "ii": ("int32", [3, 4], [k % 5 for k in range(12)]),
        "o": ("float32", [0], []), "ix": ("int64", [2], [2, 0]), "bx": ("float32", [4], [-1.0, -0.25, 0.5, 1.5]),
        "sc": ("complex64", [], [1.0, 2.0]),
        "im": ("float32", [1, 2, 4, 4], [((k * 7) % 11 - 5) / 4 for k in range(32)])}
FIRST = ["a", "b", "v", "s", "i", "m", "c", "z", "cc", "x", "y", "ii", "dd", "p", "sn", "si", "j"]
ANYTHING = ["None", "True", "False", "1", "0", "-1", "2.5", "1.0", "'sum'", "'N'", "(0, 1)", "[1]", "[0]", "(1,)", "[]",
            "()", "s", "si", "sb", "i1", "f1", "b1", "a", "i", "m", "torch.float64", "[a, b]", "[True, False]", "[0.5]",
            "(1, 2.5)", "[si, 1]", "['N']", "sc", "(None,)", "[s]", "2"]

# What changes a state, needs what is not there, or draws numbers.
LEFT_OUT = re.compile(
    r"\.(set_\w+|seed|manual_seed|initial_seed|load|save|compile|from_\w+|frombuffer|share_memory_?|pin_memory|cuda|xpu|numpy|"
    r"data_ptr|storage\w*|untyped_storage|record_stream|register_\w+|requires_grad_|retain_grad|rename_?|refine_names|"
    r"align_\w+|map2?_|apply_|reinforce|module_load|prepare_\w+|profiler_\w+|use_determ\w+|get_\w+|init_num_threads|_\w*|"
    r"cudnn_\w+|mkldnn_\w+|fbgemm_\w+|quantize\w*|q_\w+|qscheme|choose_qp\w+|lobpcg|\w+_lowrank|vmap|cond|while_loop|sym_\w+|"
    r"handle_torch_function|boolean_dispatch|assert_int_or_pair|classproperty|compiled_with\w+|rand\w*|bernoulli_?|poisson|"
    r"normal_?|multinomial|binomial|uniform_?|random_|cauchy_|exponential_|geometric_|log_normal_|\w*dropout\w*|rrelu\w*|"
    r"gumbel\w*|\w*sparse\w*|dsmm|hsmm|hspmm|smm|sspaddmm|is_pinned|nested\w*|\w*empty\w*|new|resize\w*|tolist|type|"
    r"symeig|eig|solve|lstsq|matrix_rank|lu|svd|qr|geqrf|ormqr|orgqr|chain_matmul|\w*grouped_mm|scaled_mm|ctc_loss|i?stft|"
    r"fractional\w*|batch_norm_\w+|\w*lstm\w*|\w*gru\w*|\w*rnn\w*|multi_head\w+)$|^torch\.nn\.init\.")


def split_top(text):
    parts, depth, quote, start = [], 0, None, 0
    for at, c in enumerate(text):
        if quote:
            quote = None if c == quote else quote
            continue
        if c in "'\"":
            quote = c
        depth += c in "([{"
        depth -= c in ")]}"
        if c == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [p for p in parts + [text[start:].strip()] if p]


def parameters_of(text):
    """(name, type, default or None, by keyword alone) of each; "*tensors" keeps its star."""
    parameters, keyword = [], False
    for part in split_top(text):
        if part == "*":
            keyword = True
            continue
        left, _, default = part.partition("=")
        kind, _, name = left.rpartition(" ")
        if name.startswith("**"):
            continue
        parameters.append((name, kind, default or None, keyword))
        keyword = keyword or name.startswith("*")
    return parameters


def table_of(path):
    table = {}
    with open(path) as file:
        for line in file:
            name, _, rest = line.rstrip("\n").partition(" ")
            if name and name[0] != "#" and not LEFT_OUT.search(name):
                table[name] = [parameters_of(text[1:-1]) for text in forms_in(rest)]
    return table


def forms_in(text):
    forms, depth, quote = [], 0, None
    for at, c in enumerate(text):
        if quote:
            quote = None if c == quote else quote
            continue
        if c in "'\"":
            quote = c
        if c == "(":
            start = at if depth == 0 else start
        depth += c in "([{"
        depth -= c in ")]}"
        if c == ")" and depth == 0:
            forms.append(text[start:at + 1])
    return forms


class Call:
    """A call as texts. `name` is the table's; `self` the tensor of a method."""
    def __init__(self, name, self_, args, kwargs):
        self.name, self.self, self.args, self.kwargs = name, self_, list(args), list(kwargs)

    def first(self):
        return self.self or (self.args[0] if self.args else None)

    def text(self):
        items = ", ".join(self.args + [f"{name}={value}" for name, value in self.kwargs])
        return f"{self.name}({items})" if self.self is None else f"{self.self}.{self.name[len('Tensor.'):]}({items})"


def call_of(text, tensors):
    node = None if text.startswith("SET") else ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not is_plain(node, tensors):
        return None
    name = re.sub(r"^F\.", "torch.nn.functional.", ast.unparse(node.func))
    is_method = isinstance(node.func.value, ast.Name) and node.func.value.id in tensors
    if not is_method and not name.startswith("torch."):
        return None
    name = "Tensor." + node.func.attr if is_method else name
    return Call(name, node.func.value.id if is_method else None, map(ast.unparse, node.args),
                [(k.arg, ast.unparse(k.value)) for k in node.keywords])


def is_plain(node, tensors):
    """Of one call: its arguments are tensors by name, constants, lists of them, and names of torch."""
    if isinstance(node, ast.Call):
        return all(is_plain(item, tensors) for item in node.args + [k.value for k in node.keywords])
    if isinstance(node, ast.Constant):
        return node.value is not Ellipsis
    if isinstance(node, ast.Name):
        return node.id in tensors
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(is_plain(item, tensors) for item in node.elts)
    if isinstance(node, ast.UnaryOp):
        return is_plain(node.operand, tensors)
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torch"


# Values by type and, where that says more, by name.
BY_TYPE = {"Scalar": ["1", "2", "0.5", "-1", "True", "s", "si", "2.5"], "Scalar[]": ["[1, 2.5]", "(1,)"],
           "int": ["0", "1", "2", "-1", "1", "3"], "int[]": ["1", "2", "(2, 2)", "[1, 1]", "(1,)", "(0, 1)", "[2]"],
           "float": ["0.5", "1.0", "2", "s", "1e-3", "True"], "float[]": ["[0.5, 1.0]", "(1.0,)", "1.0"],
           "bool": ["True", "False"], "str": ["'sum'", "'linear'", "'reduced'", "'xy'", "'fro'"],
           "ScalarType": ["torch.float64", "torch.int64", "torch.float32", "torch.bool"], "Dimname": ["'N'"],
           "Dimname[]": ["'N'", "('N',)"], "Device": ["'cpu'", "None"], "Layout": ["torch.strided"],
           "MemoryFormat": ["torch.contiguous_format", "torch.preserve_format", "torch.channels_last"],
           "Generator": ["None"], "Tensor[]": ["(a, b)", "[a, b]", "[v, w]", "(v,)", "[ix]", "(i, j)", "[None, j]", "[]"]}
BY_NAME = {"dim": ["0", "1", "-1", "(0, 1)", "[1]", "(0,)", "None"], "axis": ["0", "1", "-1"], "dims": ["(0, 1)", "[1, 0]", "(1,)", "0"],
           "size": ["(3, 4)", "[4, 3]", "(2, -1)", "[12]"], "shape": ["(3, 4)", "[4, 3]", "(2, -1)"],
           "reduce": ["'add'", "'sum'", "'amax'", "'mean'", "'prod'"], "rounding_mode": ["'floor'", "'trunc'", "None"],
           "dtype": ["torch.float64", "torch.int64", "None"], "reduction": ["'mean'", "'sum'", "'none'"],
           "kernel_size": ["2", "(2, 2)", "[2, 3]"], "output_size": ["2", "(2, 2)"], "index": ["i", "ix", "j", "si"],
           "indices": ["i", "ix", "j", "i1"], "mask": ["m", "n", "sb"], "condition": ["m", "n"], "target": ["b", "ti", "i", "tb"],
           "weight": ["v", "w", "p1", "None"], "bias": ["v", "None"], "other": ["b", "b", "v", "s", "z", "i", "sn"],
           "out": ["o", "a", "dd"]}


class Maker:
    def __init__(self, seed, table, recorded, tensors):
        self.rng, self.table, self.tensors = random.Random(seed), table, tensors
        self.known = {row["text"] for row in recorded}
        self.calls = [c for c in (call_of(r["text"], tensors) for r in recorded if "error" not in r)
                      if c and not LEFT_OUT.search(c.name)]
        self.firsts = {}
        for call in self.calls:
            if call.first() in tensors:
                self.firsts.setdefault(call.name.rsplit(".", 1)[1], []).append(call.first())

    def value(self, name, kind, default, first):
        kind = re.sub(r"\[\d+\]", "[]", kind)
        if kind.endswith("?") and self.rng.random() < .12:
            return "None"
        kind = kind.rstrip("?").replace("?[]", "[]")
        if name in ("input", "self", "x", "a", "tensor") and first:
            return first
        if name in BY_NAME and (kind in ("", "Tensor", "str", "ScalarType") or kind.endswith("[]")):
            return self.rng.choice(BY_NAME[name])
        if kind in BY_TYPE:
            return self.rng.choice(BY_TYPE[kind])
        if kind == "Tensor":
            return self.rng.choice(FIRST)
        if default in ("True", "False"):
            return self.rng.choice(["True", "False"])
        return self.rng.choice([default or "1", "1", "2", "0.5", "s", "si", "b", "None", "(1, 2)"])

    def drawn(self, name, form):
        """A call of one form of the table."""
        is_method = name.startswith("Tensor.")
        first = self.rng.choice(self.firsts.get(name.rsplit(".", 1)[1]) or FIRST)
        call, by_position, chance = Call(name, first if is_method else None, [], []), True, self.rng.choice([0, .25, .5, .9])
        for parameter, kind, default, keyword in form:
            if parameter.startswith("*"):
                call.args.append(self.rng.choice(["a", "b", "v", "1"]) if call.args else first)
                continue
            if (default is not None or (keyword and kind.endswith("?"))) and self.rng.random() > chance:
                by_position = False
                continue
            value = self.value(parameter, kind, default, None if is_method else first)
            by_position = by_position and not keyword and self.rng.random() < .8
            if by_position:
                call.args.append(value)
            else:
                call.kwargs.append((parameter, value))
        return call

    def changed(self, call):
        call = Call(call.name, call.self, call.args, call.kwargs)
        changes = [self.swap] * 3 + [self.to_keyword] * 2 + [self.option] * 3 + [
            self.to_position, self.leave_out, self.one_more, self.other_name, self.twice, self.tensor_for_number,
            self.list_for_number, self.spread, self.other_self, self.into]
        for _ in range(self.rng.choice([1, 1, 1, 2])):
            forms = self.table.get(call.name)
            self.rng.choice(changes)(call, self.rng.choice(forms) if forms else [])
        return call

    def swap(self, call, form):
        if call.args:
            call.args[self.rng.randrange(len(call.args))] = self.rng.choice(ANYTHING)
        elif call.kwargs:
            at = self.rng.randrange(len(call.kwargs))
            call.kwargs[at] = (call.kwargs[at][0], self.rng.choice(ANYTHING))

    def to_keyword(self, call, form):
        names = [p[0] for p in form if not p[3] and not p[0].startswith("*")]
        if not call.args or len(names) < len(call.args):
            return
        count = self.rng.randrange(1, len(call.args) + 1)
        start = len(call.args) - count
        call.kwargs = list(zip(names[start:], call.args[start:])) + call.kwargs
        del call.args[start:]

    def option(self, call, form):
        taken = {name for name, _ in call.kwargs} | {p[0] for p in form[:len(call.args)]}
        free = [p for p in form if p[2] is not None and p[0] not in taken and not p[0].startswith("*")]
        if free:
            name, kind, default, _ = self.rng.choice(free)
            call.kwargs.append((name, self.value(name, kind, default, call.first())))

    def to_position(self, call, form):
        if call.kwargs:
            call.args.append(call.kwargs.pop(self.rng.randrange(len(call.kwargs)))[1])

    def leave_out(self, call, form):
        items = call.kwargs if call.kwargs and self.rng.random() < .5 else call.args
        if items:
            items.pop(self.rng.randrange(len(items)))

    def one_more(self, call, form):
        if self.rng.random() < .3:
            call.kwargs.append((self.rng.choice(["dims", "foo", "axes", "inplace"]), self.rng.choice(ANYTHING)))
        else:
            call.args.append(self.rng.choice(ANYTHING))

    def other_name(self, call, form):
        known = [at for at, (name, _) in enumerate(call.kwargs) if name in OTHER_NAMES]
        if known:
            at = self.rng.choice(known)
            call.kwargs[at] = (self.rng.choice(OTHER_NAMES[call.kwargs[at][0]]), call.kwargs[at][1])

    def twice(self, call, form):
        if call.args and form:
            call.kwargs.append((form[min(self.rng.randrange(len(call.args)), len(form) - 1)][0].lstrip("*"), self.rng.choice(ANYTHING)))

    def numbers_in(self, call):
        return [at for at, value in enumerate(call.args) if re.fullmatch(r"-?[\d.]+", value)]

    def tensor_for_number(self, call, form):
        if numbers := self.numbers_in(call):
            call.args[self.rng.choice(numbers)] = self.rng.choice(["si", "s", "s0", "sb", "i1", "sn", "b1", "f1"])

    def list_for_number(self, call, form):
        if numbers := self.numbers_in(call):
            at = self.rng.choice(numbers)
            call.args[at] = self.rng.choice([f"[{call.args[at]}]", f"({call.args[at]},)"])

    def spread(self, call, form):
        lists = [at for at, value in enumerate(call.args) if isinstance(ast.parse(value, mode="eval").body, (ast.List, ast.Tuple))]
        if lists:
            at = self.rng.choice(lists)
            call.args[at:at + 1] = [ast.unparse(item) for item in ast.parse(call.args[at], mode="eval").body.elts]

    def other_self(self, call, form):
        if call.self:
            call.self = self.rng.choice(FIRST)

    def into(self, call, form):
        if any(p[0] == "out" for p in form):
            call.kwargs.append(("out", self.rng.choice(["o", "o", "a", "dd", "(o, e0)", "None"])))

    def make(self, count):
        texts = []
        while len(texts) < count:
            if len(texts) % 2:
                call = self.changed(self.rng.choice(self.calls))
            else:
                name = self.rng.choice(list(self.table))
                if not self.table[name]:
                    continue
                call = self.drawn(name, self.rng.choice(self.table[name]))
            names = [name for name, _ in call.kwargs]
            if len(set(names)) == len(names) and call.text() not in self.known:
                self.known.add(call.text())
                texts.append(call.text())
        return texts


def graph_of(text, tensors):
    """The call as Dynamo writes it, with the tensors as inputs."""
    names = []

    class Renamed(ast.NodeTransformer):
        def visit_Name(self, node):
            if node.id not in tensors:
                return node
            if node.id not in names:
                names.append(node.id)
            return ast.Name(f"l_{node.id}_")

    is_put = text.startswith("SET ")
    body = ast.unparse(Renamed().visit(ast.parse(text[4:] if is_put else "result = " + text).body[0]))
    inputs = "".join(f', L_{name}_: "{CODES[tensors[name]["t"]]}{tensors[name]["s"]}"' for name in names)
    lines = ["class GraphModule(torch.nn.Module):", f"    def forward(self{inputs}):"]
    lines += [f"        l_{name}_ = L_{name}_" for name in names] + ["        " + body]
    return "\n".join(lines + [f"        return ({'l_a_' if is_put else 'result'},)"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("recorded")
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=3000)
    given = parser.parse_args()
    with gzip.open(given.recorded, "rt") as file:
        tensors = json.loads(next(file))["tensors"]
        recorded = [json.loads(line) for line in file]
    tensors.update({name: {"t": t, "s": s, "v": v} for name, (t, s, v) in MORE.items()})
    texts = Maker(given.seed, table_of(given.table), recorded, tensors).make(given.count)
    with open(given.output, "w") as file:
        file.write(json.dumps({"tensors": tensors}) + "\n")
        for number, text in enumerate(texts):
            file.write(json.dumps({"n": number, "text": text, "graph": graph_of(text, tensors)}) + "\n")


if __name__ == "__main__":
    main()
