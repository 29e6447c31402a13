"""Which level it is, what makes two failures one, what is said of them; journal and times."""
import os
import tempfile
import unittest

from . import package  # noqa: F401
from kerf.checking.culprit import calls_in, culprit_of, questions, telling
from kerf.checking.detect import first_failing, is_same, signature_of, verdict_of
from kerf.checking.errors import describe, normal
from kerf.checking.journal import Journal, key_of
from kerf.checking.progress import Progress, seconds_of
from kerf.checking.report import issue, page, summary
from kerf.checking.repro import script_of

OK = {"status": "ok", "differences": [], "notes": []}
WRONG = {"status": "different", "notes": [], "differences": [
    {"what": "out0", "group": "value", "detail": "", "max_abs_diff": 2.0, "relative": 0.5, "elements": "1 of 4", "fp64": True}]}


def error(message="size 3 of 4", frames=("torch/_inductor/lowering.py:mm", "torch/_inductor/graph.py:run"), root="ValueError"):
    return {"status": "error", "differences": [], "notes": [], "error": {
        "type": "InductorError", "root": root, "message": message, "root_message": message, "raised_in": frames[0],
        "frames": list(frames), "user_line": "", "ops": [], "phase": "call"}}


class NamedOpTest(unittest.TestCase):
    def test_what_makes_inputs_is_no_op_of_the_program(self):
        source = ("import torch\ndef inputs(n):\n    return torch.rand(n)\ndef f(x):\n    return torch.exp(x @ x)[0]\n"
                  "def build():\n    return f, (inputs(3),)\ndef calls():\n    yield (inputs(4),)\n")
        self.assertEqual(sorted(calls_in(source)), ["matmul", "torch.exp"])

    def test_methods_of_results_are_named_by_their_last_word(self):
        source = "import torch\ndef f(x):\n    return torch.func.hessian(g)(x).reshape(4)\ndef build():\n    return f, ()\n"
        self.assertIn("reshape", calls_in(source))

    def test_the_op_that_says_most(self):
        for ops, named in ((["torch.cond", "torch.ones", "torch.tensor"], "torch.cond"), (["sub", "max"], "max"), (["add"], "add"),
                           (["argmin", "t"], "argmin"), (["aten.sub.Tensor", "aten.max.dim"], "aten.max.dim"), ([], "")):
            self.assertEqual(telling(ops), named)


class LevelTest(unittest.TestCase):
    def test_the_first_that_fails_counts(self):
        verdicts = {"eager": OK, "aot_eager": OK, "aot_eager_decomp_partition": WRONG, "inductor": WRONG}
        self.assertEqual(first_failing(verdicts)[0], "aot_eager_decomp_partition")
        self.assertEqual(first_failing({"eager": OK, "inductor": {"status": "hang"}})[0], "inductor")
        self.assertEqual(first_failing({"eager": OK, "aot_eager": {"status": "untestable"}}), (None, None))

    def test_a_process_that_dies_before_the_compiler_is_no_fault_of_its(self):
        self.assertEqual(verdict_of({"status": "crash", "stage": "reference"}, "inductor")["status"], "untestable")
        self.assertEqual(verdict_of({"status": "crash", "stage": "inductor", "signal": "SIGABRT"}, "inductor")["status"], "crash")
        self.assertEqual(verdict_of(None, "inductor")["status"], "not reached")


class SignatureTest(unittest.TestCase):
    def test_other_sizes_are_the_same_error(self):
        self.assertTrue(is_same(signature_of(error("size 3 of 4")), error("size 17 of 2", frames=("torch/a.py:b",))))
        self.assertEqual(normal("u0 + s27 = [1, 2]"), "N + N = [N]")

    def test_another_exception_or_another_place_is_another_error(self):
        self.assertFalse(is_same(signature_of(error()), error(root="TypeError")))
        self.assertFalse(is_same(signature_of(error()), error("no such thing", frames=("torch/x.py:y", "torch/z.py:w"))))

    def test_rounding_is_not_the_failure_that_was(self):
        small = {"status": "different", "notes": [], "differences": [dict(WRONG["differences"][0], relative=1e-4)]}
        self.assertFalse(is_same(signature_of(WRONG), small))
        self.assertTrue(is_same(signature_of(WRONG), WRONG))
        self.assertFalse(is_same(signature_of(WRONG), OK))

    def test_a_shape_is_not_a_value(self):
        shape = {"status": "different", "notes": [], "differences": [{"what": "out0", "group": "shape", "detail": "a"}]}
        self.assertFalse(is_same(signature_of(WRONG), shape))


class CulpritTest(unittest.TestCase):
    SOURCE = "import torch\nKWARGS = {'dynamic': True}\ndef f(x):\n    return torch.sin(x).amax()\ndef build():\n    return f, (torch.ones(2),)\n"

    def test_calls_of_the_functions_alone_are_counted(self):
        self.assertEqual(len(calls_in(self.SOURCE)), 2)

    def test_each_step_and_each_setting_is_a_question(self):
        asked = questions(self.SOURCE, "inductor", ["decomposition|aten.frac.default", "lowerings|sin", "pre_grad_graph|"])
        names = [name for _, name, _ in asked]
        self.assertIn("aten.frac.default", names)
        self.assertIn("torch.compile(dynamic=True)", names)
        self.assertFalse(any(changes.get("off") == ["pre_grad_graph|"] for _, _, changes in asked))
        self.assertEqual([q for q in questions(self.SOURCE, "eager", []) if q[0] != "configuration"], [])

    def test_a_decomposition_says_more_than_a_lowering(self):
        fixes = [("lowering", "%sin : aten.sin.default", {}), ("decomposition", "aten.frac.default", {})]
        found = culprit_of("inductor", WRONG, fixes, self.SOURCE)
        self.assertEqual((found["subsystem"], found["part"], found["op"]), ("decomposition", "aten.frac.default", "aten.frac.default"))

    def test_an_exception_names_its_place(self):
        found = culprit_of("inductor", error(frames=("torch/_inductor/fx_passes/reinplace.py:f",)), [], self.SOURCE)
        self.assertEqual(found["subsystem"], "pass reinplace")
        self.assertEqual(found["where"], "torch/_inductor/fx_passes/reinplace.py:f")

    def test_the_exception_that_was_wrapped_is_described(self):
        class InductorError(Exception):
            pass

        try:
            try:
                raise KeyError("inner")
            except KeyError as inner:
                raise InductorError("outer") from inner
        except InductorError as problem:
            self.assertEqual(describe(problem)["root"], "KeyError")


class JournalTest(unittest.TestCase):
    def test_goes_on_after_half_a_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "journal.jsonl")
            Journal(path).put("a", {"status": "tested"})
            with open(path, "a") as file:
                file.write('{"key": "b", "resu')
            again = Journal(path)
            self.assertEqual(again.get("a"), {"status": "tested"})
            self.assertIsNone(again.get("b"))

    def test_another_torch_or_text_is_another_question(self):
        job = {"path": "p", "source": "x", "backends": ["eager"]}
        self.assertEqual(key_of(job, "2.11"), key_of(dict(job, path="q", name="n"), "2.11"))
        self.assertNotEqual(key_of(job, "2.11"), key_of(job, "2.12"))
        self.assertNotEqual(key_of(job, "2.11"), key_of(dict(job, source="y"), "2.11"))


class TextTest(unittest.TestCase):
    REPORT = {"status": "found", "program": "<b>p.py", "backends": {"eager": OK, "inductor": WRONG}, "level": "inductor", "verdict": WRONG,
              "notes": [], "seconds": 3.0, "tests": 9, "fp64": True, "calls": 1, "outputs": 1, "grads": 0,
              "culprit": {"level": "inductor", "subsystem": "lowering", "part": "aten.sin", "op": "aten.sin", "where": "", "evidence": []},
              "minimal": {"repro": "repro.py", "calls": 1, "fails_alone": True, "script": "</pre><script>alert(1)</script>", "output": "FAILS"}}

    def test_page_escapes_everything_and_loads_nothing(self):
        text = page(self.REPORT)
        self.assertNotIn("<script>", text)
        self.assertNotIn("<b>p.py", text)
        self.assertIn("default-src 'none'", text)

    def test_issue_has_the_parts_of_the_form(self):
        text = issue(self.REPORT)
        parts = [text.index(p) for p in ("### Describe the bug", "### Minimal script", "### Error logs", "### Versions")]
        self.assertEqual(parts, sorted(parts))

    def test_summary_names_level_part_and_script(self):
        text = summary(self.REPORT, "out")
        for word in ("inductor", "aten.sin", "repro.py, 1 calls, fails", "9 trials"):
            self.assertIn(word, text)

    def test_script_imports_torch_alone(self):
        text = script_of(CulpritTest.SOURCE, "inductor", WRONG, ["told"])
        compile(text, "repro", "exec")
        self.assertEqual([l for l in text.splitlines() if l.startswith(("import", "from"))], ["import torch"])
        self.assertIn("backend='inductor', dynamic=True", text)

    def test_times(self):
        self.assertEqual([seconds_of(t) for t in ("90", "90s", "10m", "1h")], [90, 90, 600, 3600])
        for wrong in ("", "x", "0", "-3s", "3d"):
            with self.assertRaises(ValueError):
                seconds_of(wrong)
        self.assertFalse(Progress(100, quiet=True).is_over())
        self.assertTrue(Progress(-1, quiet=True).is_over())


if __name__ == "__main__":
    unittest.main()
