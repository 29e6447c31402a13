#!/usr/bin/env python3
"""A GPT of any depth as readable text, and Adam behind its joint graph, to see what grows faster than a graph.

    scale_gpt.py forward LAYERS > forward.txt        # the forward graph with its loss; every head is written out
    kerf joint forward.txt --format readable -o joint.txt
    scale_gpt.py adam joint.txt > step.txt           # the same with Adam's update of each parameter

48 layers make a training step of about 100,000 nodes.
"""
import re
import sys

ATEN = "torch.ops.aten."
TOKENS, WIDTH, HEADS, WORDS = 8, 176, 44, 64
HEAD = WIDTH // HEADS


def type_of(*sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    return f'"f32[{", ".join(map(str, sizes))}][{", ".join(map(str, strides))}]cpu"'


class Text:
    """The lines of one function."""

    def __init__(self):
        self.inputs, self.lines = [], []

    def input(self, name, type_):
        self.inputs.append(f"{name}: {type_}")
        return name

    def call(self, sizes, op, *arguments):
        name = f"v{len(self.lines)}"
        self.lines.append(f"    {name}: {type_of(*sizes)} = {ATEN}{op}({', '.join(map(str, arguments))})")
        return name

    def show(self, output):
        print(f"def forward(self, {', '.join(self.inputs)}):", *self.lines, f"    return ({output},)", sep="\n")


def linear(text, name, x, rows, inner, outer):
    weight = text.input(name + "_weight", type_of(outer, inner))
    bias = text.input(name + "_bias", type_of(outer))
    turned = text.call((inner, outer), "t.default", weight)
    return text.call((rows, outer), "addmm.default", bias, x, turned)


def norm(text, name, x):
    weight, bias = (text.input(f"{name}_{part}", type_of(WIDTH)) for part in ("weight", "bias"))
    return text.call((TOKENS, WIDTH), "layer_norm.default", x, f"[{WIDTH}]", weight, bias)


def head(text, packed, number, mask):
    """Attention of one head, call by call."""
    sizes, square = (TOKENS, HEAD), (TOKENS, TOKENS)
    part = []
    for which in range(3):
        begin = which * WIDTH + number * HEAD
        view = text.call(sizes, "slice.Tensor", packed, 1, begin, begin + HEAD)
        part.append(text.call(sizes, "clone.default", view))
    turned = text.call((HEAD, TOKENS), "t.default", part[1])
    scores = text.call(square, "mm.default", part[0], turned)
    scaled = text.call(square, "mul.Tensor", scores, HEAD ** -0.5)
    masked = text.call(square, "add.Tensor", scaled, mask)
    return text.call(sizes, "mm.default", text.call(square, "softmax.int", masked, -1), part[2])


def layer(text, number, x, mask):
    name, sizes = f"layer{number}", (TOKENS, WIDTH)
    packed = linear(text, name + "_packed", norm(text, name + "_first", x), TOKENS, WIDTH, 3 * WIDTH)
    heads = [head(text, packed, h, mask) for h in range(HEADS)]
    joined = text.call(sizes, "cat.default", f"[{', '.join(heads)}]", 1)
    x = text.call(sizes, "add.Tensor", x, linear(text, name + "_out", joined, TOKENS, WIDTH, WIDTH))
    wide = linear(text, name + "_wide", norm(text, name + "_second", x), TOKENS, WIDTH, 4 * WIDTH)
    wide = text.call((TOKENS, 4 * WIDTH), "gelu.default", wide)
    return text.call(sizes, "add.Tensor", x, linear(text, name + "_narrow", wide, TOKENS, 4 * WIDTH, WIDTH))


def forward(layers):
    text = Text()
    x, mask = text.input("x", type_of(TOKENS, WIDTH)), text.input("mask", type_of(TOKENS, TOKENS))
    for number in range(layers):
        x = layer(text, number, x, mask)
    scores = linear(text, "words", norm(text, "last", x), TOKENS, WIDTH, WORDS)
    chosen = text.call((TOKENS, WORDS), "log_softmax.int", scores, -1)
    text.show(text.call((), "mean.default", chosen))


def updated(text, sizes, name, gradient):
    """Adam's first step size, the square root's epsilon and both averages, as torch.optim writes them for one parameter."""
    first, second = (text.input(f"{name}_{which}", type_of(*sizes)) for which in ("average", "square"))
    mean = text.call(sizes, "add.Tensor", text.call(sizes, "mul.Tensor", first, 0.9),
                     text.call(sizes, "mul.Tensor", gradient, 0.1))
    product = text.call(sizes, "mul.Tensor", gradient, gradient)
    square = text.call(sizes, "add.Tensor", text.call(sizes, "mul.Tensor", second, 0.999),
                       text.call(sizes, "mul.Tensor", product, 0.001))
    root = text.call(sizes, "add.Tensor", text.call(sizes, "sqrt.default", square), 1e-08)
    step = text.call(sizes, "mul.Tensor", text.call(sizes, "div.Tensor", mean, root), 0.001)
    return [text.call(sizes, "sub.Tensor", name, step), mean, square]


def adam(path):
    """What `kerf joint` wrote, with the parameters' next values and Adam's as its outputs instead of the gradients."""
    text = Text()
    with open(path) as file:
        lines = file.read().splitlines()
    declared = next(line for line in lines if line.lstrip().startswith("primals_1:"))
    types = dict(re.findall(r'(\w+): ("[^"]*");', declared))
    for name, type_ in types.items():
        text.input(name, type_)
    for line in lines:
        call = re.match(r"\s+(\w+(?:: \"[^\"]*\")? = [^;]*)", line)
        if call and "tree_flatten_spec" not in line:
            text.lines.append("    " + call[1])
    returned = re.search(r"tree_unflatten\(\[(.*?)\]", lines[-1])[1].split(", ")
    primals = [name for name in types if name.startswith("primals")]
    outputs = returned[:len(returned) - len(primals)]
    for name, gradient in zip(primals, returned[len(outputs):]):
        if gradient != "None":
            sizes = [int(size) for size in re.match(r'"f32\[(.*?)\]', types[name])[1].split(", ")]
            outputs += updated(text, sizes, name, gradient)
    text.show(", ".join(outputs))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("forward", "adam"):
        sys.exit(__doc__)
    if sys.argv[1] == "forward":
        forward(int(sys.argv[2]))
    else:
        adam(sys.argv[2])
