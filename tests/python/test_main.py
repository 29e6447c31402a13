"""The command as users call it, where there is no torch or the call is wrong."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from . import package

PROGRAM = "import torch\ndef build():\n    return torch.sin, (torch.ones(2),)\n"


class MainTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def check(self, *arguments, source=PROGRAM):
        with open(os.path.join(self.folder.name, "p.py"), "w") as file:
            file.write(source)
        with open(os.path.join(self.folder.name, "torch.py"), "w") as file:
            file.write("raise ImportError('no torch here')\n")
        command = [sys.executable, "-B", os.path.join(package.ROOT, "python", "kerf", "__main__.py"), "check"]
        env = dict(os.environ, PYTHONPATH=self.folder.name, XDG_CACHE_HOME=self.folder.name)
        return subprocess.run(command + list(arguments), cwd=self.folder.name, env=env, capture_output=True, text=True, timeout=60)

    def test_without_torch_the_environment_is_to_blame(self):
        done = self.check("p.py", "--json", "--quiet")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(json.loads(done.stdout)["error"]["code"], "environment")
        self.assertIn("cannot import torch", done.stderr)

    def test_wrong_calls(self):
        for arguments in (["absent.py"], ["p.py", "--time", "3x"], ["p.py", "--timeout", "-1s"], ["p.py", "--device", "tpu"], []):
            self.assertEqual(self.check(*arguments).returncode, 2, arguments)

    def test_a_script_that_is_no_python_is_named(self):
        done = self.check("p.py", source="def build(:\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn("p.py", done.stderr)

    def test_help_has_examples(self):
        done = self.check("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("kerf check train.py", done.stdout)

    def test_functions_of_the_package_are_no_modules(self):
        import kerf
        import kerf.checking.session  # noqa: F401

        self.assertTrue(callable(kerf.check) and callable(kerf.compare))
        with self.assertRaisesRegex(RuntimeError, "absent.py"):
            kerf.check(os.path.join(self.folder.name, "absent.py"))

    def test_nothing_stays_in_the_temporary_folder(self):
        before = set(os.listdir(tempfile.gettempdir()))
        self.check("p.py", "--quiet")
        left = {n for n in set(os.listdir(tempfile.gettempdir())) - before if n.startswith("kerf_check_")}
        self.assertEqual(left, set())


if __name__ == "__main__":
    unittest.main()
