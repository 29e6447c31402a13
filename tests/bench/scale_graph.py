#!/usr/bin/env python3
"""Graphs of any size as readable text: scale_graph.py SHAPE CALLS > graph.txt; then kerf compare graph.txt.

What grows faster than the number of calls shows when one shape is timed at n and at 4 n.
"""
import sys

VECTOR = '"f32[8][1]cpu"'
MATRIX = '"f32[8, 8][8, 1]cpu"'
ATEN = "torch.ops.aten."


class Text:
    """A function of one graph; each call gets a name of its own."""

    def __init__(self, *inputs):
        self.inputs, self.lines = inputs, []

    def call(self, type_, target, arguments):
        name = f"v{len(self.lines)}"
        self.lines.append(f"    {name}: {type_} = {target}({arguments})")
        return name

    def show(self, outputs):
        inputs = ", ".join(f"{name}: {type_}" for name, type_ in self.inputs)
        print(f"def forward(self, {inputs}):", *self.lines, f"    return ({', '.join(outputs)},)", sep="\n")


def chain(calls):
    """Element-wise calls one after another."""
    text, last = Text(("x", VECTOR)), "x"
    for i in range(calls):
        last = text.call(VECTOR, f"{ATEN}{('relu', 'sin', 'neg', 'tanh')[i % 4]}.default", last)
    text.show([last])


def layers(calls):
    """Products with one weight, each with arithmetic behind it."""
    text, last = Text(("x", MATRIX), ("w", MATRIX)), "x"
    for _ in range(calls // 3):
        last = text.call(MATRIX, ATEN + "mm.default", f"{last}, w")
        last = text.call(MATRIX, ATEN + "mul.Tensor", f"{last}, 0.125")
        last = text.call(MATRIX, ATEN + "tanh.default", last)
    text.show([last])


def torch(calls):
    """The same as Dynamo writes it: functions and operators of Python."""
    text, last = Text(("x", VECTOR)), "x"
    for i in range(calls):
        last = text.call(VECTOR, "torch.relu", last) if i % 2 else text.call(VECTOR, "torch.add", f"{last}, 1.5")
    text.show([last])


def views(calls):
    """Views of views."""
    text, last = Text(("x", VECTOR)), "x"
    for i in range(calls):
        type_, sizes = (VECTOR, "[8]") if i % 2 else ('"f32[2, 4][4, 1]cpu"', "[2, 4]")
        last = text.call(type_, ATEN + "view.default", f"{last}, {sizes}")
    text.show([last])


def writes(calls):
    """Calls that write into their argument."""
    text, last = Text(("x", VECTOR)), "x"
    for _ in range(calls):
        last = text.call(VECTOR, ATEN + "add_.Tensor", f"{last}, 1.0")
    text.show([last])


def users(calls):
    """One value with half as many users, and their sum as a tree."""
    text = Text(("x", VECTOR))
    shared = text.call(VECTOR, ATEN + "sin.default", "x")
    values = [text.call(VECTOR, ATEN + "mul.Tensor", f"{shared}, {1 + i / 65536}") for i in range(calls // 2)]
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2])
        rest = values[len(values) // 2 * 2:]
        values = [text.call(VECTOR, ATEN + "add.Tensor", f"{a}, {b}") for a, b in pairs] + rest
    text.show(values)


def outputs(calls):
    """As many outputs as calls."""
    text = Text(("x", VECTOR))
    text.show([text.call(VECTOR, ATEN + "mul.Tensor", f"x, {1 + i / 65536}") for i in range(calls)])


def inputs(calls):
    """As many inputs as calls, all in one list."""
    names = [f"x{i}" for i in range(calls)]
    text = Text(*((name, VECTOR) for name in names))
    text.show([text.call(f'"f32[{8 * calls}][1]cpu"', ATEN + "cat.default", f"[{', '.join(names)}]")])


def parts(calls):
    """A split, each part of it used, and all in one list."""
    count = calls // 2
    text = Text(("x", f'"f32[{count}][1]cpu"'))
    text.lines.append(f"    split = {ATEN}split.Tensor(x, 1)")
    values = []
    for i in range(count):
        text.lines.append(f'    part{i}: "f32[1][1]cpu" = split[{i}]')
        values.append(text.call('"f32[1][1]cpu"', ATEN + "neg.default", f"part{i}"))
    text.show([text.call(f'"f32[{count}][1]cpu"', ATEN + "cat.default", f"[{', '.join(values)}]")])


SHAPES = {shape.__name__: shape for shape in (chain, layers, torch, views, writes, users, outputs, inputs, parts)}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in SHAPES:
        sys.exit(f"{__doc__}\nSHAPE is one of:\n" + "\n".join(f"  {n}: {s.__doc__}" for n, s in SHAPES.items()))
    SHAPES[sys.argv[1]](int(sys.argv[2]))
