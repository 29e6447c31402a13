"""kerf.open(): captures and graphs as objects."""
import inspect
import os
import tempfile
import unittest

from . import package

KERF = os.environ.get("KERF_PROGRAM", os.path.join(package.ROOT, "build", "bin", "kerf"))
SAMPLE = os.path.join(package.ROOT, "resources", "samples", "mlp8", "minifier_launcher.py")

import kerf  # noqa: E402


class NamesTest(unittest.TestCase):
    def test_stubs_and_docstrings_say_all_names(self):
        with open(os.path.join(package.ROOT, "python", "kerf", "__init__.pyi")) as file:
            stub = file.read()
        for name in kerf.__all__:
            self.assertRegex(stub, r"(?m)^(class|def) %s\b" % name)
            self.assertTrue(inspect.getdoc(getattr(kerf, name)), name)
        for kind in (kerf.Graph, kerf.Capture):
            for name, member in vars(kind).items():
                if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                    self.assertIn("def %s(" % name, stub)


@unittest.skipUnless(os.access(KERF, os.X_OK), "no kerf")
class GraphsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        old = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(old)))
        os.environ.update(KERF_PROGRAM=KERF, KERF_STORE=os.path.join(self.folder.name, "kerf.db"))

    def test_a_capture_has_graphs_with_nodes(self):
        capture = kerf.open(SAMPLE)
        self.assertEqual(len(capture), 1)
        graph = capture["forward"]
        self.assertEqual(len(graph), 94)
        self.assertEqual(graph.node("arg0_1")["value"]["shape"], [32, 32])
        self.assertIn("torch.ops.aten.addmm.default", repr(graph))
        self.assertIn("forward", repr(capture))
        self.assertIn("<table>", capture._repr_html_())
        with self.assertRaises(KeyError):
            graph.node("absent")
        with self.assertRaises(KeyError):
            capture["backward"]

    def test_notebooks_get_markup_without_what_the_file_says(self):
        graph = kerf.Graph("x#y", {"name": "y"})
        graph._document = {"nodes": [{"name": "<b>", "target": "<script>", "value": None}]}
        self.assertIn("&lt;script&gt;", graph._repr_html_())
        self.assertNotIn("<script>", graph._repr_html_())

    def test_verdicts_and_reductions(self):
        graph = kerf.open(SAMPLE)[0]
        self.assertTrue(graph.compare()["same"])
        self.assertFalse(graph.compare(plant="relu=accuracy")["same"])
        small = graph.minify(os.path.join(self.folder.name, "small"), plant=["relu=accuracy"])
        self.assertLess(len(small), len(graph))
        page = os.path.join(self.folder.name, "page.html")
        small.share(page)
        self.assertEqual(len(kerf.open(page)[0]), len(small))

    def test_errors_are_kerfs_own_words(self):
        with self.assertRaisesRegex(kerf.KerfError, "absent.py"):
            kerf.open("absent.py")


if __name__ == "__main__":
    unittest.main()
