"""The delta loop and its moves, with stand-ins for the question whether a program still fails."""
import ast
import unittest

from . import package  # noqa: F401
from kerf.checking.cuts import unused
from kerf.checking.inputs import plainer
from kerf.checking.moves import is_plausible
from kerf.checking.reduce import Reduction, prepared, text_of, weight_of

PROGRAM = '''
"""About."""
import torch

def f(x, y):
    a = x + 1
    b = torch.sin(a)
    with torch.no_grad():
        c = torch.cos(b)
    d = torch.amax(torch.atan2(y, c), dim=-1)
    return d, a

def build():
    x = torch.randn(4, 5)
    return f, (x, torch.randn(4, 5))

if __name__ == "__main__":
    print(f(*build()[1]))
'''


def reduced(source, fails, **more):
    tests = []

    def ask(sources):
        for text in sources:
            compile(text, "candidate", "exec")  # every candidate is Python
        tests.append(len(sources))
        return next((at for at, text in enumerate(sources) if fails(text)), None)

    return Reduction(source, ask, **more).run(), sum(tests)


def calls(text):
    return [ast.unparse(n.func) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)]


class ReduceTest(unittest.TestCase):
    def test_keeps_only_the_call_that_fails(self):
        found, _ = reduced(prepared(PROGRAM), lambda text: "torch.atan2" in calls(text))
        self.assertEqual(calls(found), ["torch.atan2"])
        self.assertLess(len(found.splitlines()), 9)

    def test_two_calls_that_are_needed_together_stay(self):
        found, _ = reduced(prepared(PROGRAM), lambda text: {"torch.atan2", "torch.sin"} <= set(calls(text)))
        self.assertEqual(sorted(calls(found)), ["torch.atan2", "torch.sin"])

    def test_main_program_and_docstrings_go_first(self):
        text = prepared(PROGRAM)
        self.assertNotIn("__main__", text)
        self.assertNotIn("About", text)

    def test_never_tests_the_same_text_twice(self):
        seen = []
        reduced(prepared(PROGRAM), lambda text: seen.append(text) or "torch.sin" in text)
        self.assertEqual(len(seen), len(set(seen)))

    def test_stops_when_time_is_over(self):
        left = iter([False, False] + [True] * 1000)
        found, tests = reduced(prepared(PROGRAM), lambda text: True, batch=1, is_over=lambda: next(left))
        self.assertLessEqual(tests, 2)
        self.assertLessEqual(weight_of(found), weight_of(prepared(PROGRAM)))

    def test_nothing_smaller_fails(self):
        text = prepared(PROGRAM)
        self.assertEqual(reduced(text, lambda _: False)[0], text)

    def test_sizes_get_smaller(self):
        found, _ = reduced("import torch\n\ndef build():\n    return (torch.sin, (torch.ones(64, 32),))\n",
                           lambda text: "torch.ones(" in text and "," in text.split("torch.ones(")[1].split(")")[0])
        self.assertIn("torch.ones(1, 1)", found)


def long_program(count):
    lines = ["    v0 = torch.sin(x)"] + ["    v%d = torch.mul(v%d, x)" % (n, n - 1) for n in range(1, count)]
    lines[count // 2] = "    v%d = torch.cos(v%d)" % (count // 2, count // 2 - 1)
    lines.insert(3, "    check = torch.ops.aten._assert_scalar.default(v1.shape[0] >= 2, 'text')")
    return ("import torch\n\ndef f(x):\n%s\n    return (v%d,)\n\ndef build():\n    x = torch.randn(4)\n    return (f, (x,))\n"
            % ("\n".join(lines), count - 1))


class CutTest(unittest.TestCase):
    def test_a_long_function_is_cut_by_halves(self):
        source = prepared(long_program(200))
        about = {"v%d" % n: "torch.randn(4)" for n in range(200)}
        tests = []

        def ask(sources):
            tests.append(len(sources))
            return next((at for at, text in enumerate(sources) if "torch.cos" in calls(text)), None)

        reduction = Reduction(source, ask, batch=4)
        reduction.cut(lambda _: about)
        self.assertLess(len(calls(reduction.source)), 14)
        self.assertNotIn("_assert_scalar", reduction.source)
        self.assertLess(sum(tests), 150)
        self.assertEqual([c for c in calls(reduction.run()) if c.startswith("torch")], ["torch.cos"])

    def test_changes_are_not_swept_away(self):
        tree = ast.parse("def f(x):\n    a = x.fill_(1)\n    b = torch.sin(x)\n    return (x,)\ndef build():\n    return (f, (1,))\n")
        texts = [text_of(made) for made in unused(tree)]
        self.assertIn("fill_", texts[0])
        self.assertNotIn("sin", texts[0])


class PlausibleTest(unittest.TestCase):
    def test_name_of_another_function_is_refused(self):
        self.assertFalse(is_plausible(ast.parse("def f(x):\n    return y\ndef build():\n    y = 1\n    return f, (y,)\n")))

    def test_names_of_inner_functions_and_comprehensions_are_known(self):
        text = "def f(x):\n    def g(a):\n        return [a + b + x for b in range(3)]\n    return g(1)\ndef build():\n    return f, (1,)\n"
        self.assertTrue(is_plausible(ast.parse(text)))

    def test_build_returns_something(self):
        self.assertFalse(is_plausible(ast.parse("def build():\n    pass\n")))


class InputsTest(unittest.TestCase):
    def made(self, expression):
        tree = ast.parse("x = %s" % expression)
        return [text_of(t).strip() for t in plainer(tree)]

    def test_written_out_numbers_become_random_ones_of_their_shape(self):
        self.assertIn("x = torch.randn(2, 3)", self.made("torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=torch.float32)"))

    def test_stored_values_keep_strides_and_dtype(self):
        made = self.made("KERF_VALUES['a', (3, 2), (1, 3), 'torch.float64', 'cpu']()")
        self.assertEqual(made[0], "x = torch.randn(6, dtype=torch.float64).as_strided((3, 2), (1, 3))")

    def test_integers_stay_integers(self):
        self.assertIn("x = torch.randint(0, 8, (3,), dtype=torch.int64)", self.made("torch.tensor([5, 6, 7])"))

    def test_one_number_stays(self):
        self.assertEqual(self.made("torch.tensor([5.0])"), [])


if __name__ == "__main__":
    unittest.main()
