"""What wheels and tarballs take along of Python's standard library is enough for captures."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from . import package

sys.path.insert(0, os.path.join(package.ROOT, "packaging", "python"))
import standard_library

PYTHON = shutil.which("python3.11")


@unittest.skipUnless(PYTHON, "there is no Python 3.11, which captures run on")
class StandardLibraryTest(unittest.TestCase):
    def test_all_that_programs_may_import_loads_from_the_copy(self):
        with tempfile.TemporaryDirectory() as home:
            script = os.path.join(package.ROOT, "packaging", "python", "standard_library.py")
            done = subprocess.run([PYTHON, script, os.path.join(home, "lib")], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            for path in done.stdout.split():
                self.assertTrue(os.path.isfile(path), path)
            names = standard_library.allowed_modules()
            self.assertIn("dataclasses", names)
            look = ("import sys\nfor name in %r: __import__(name)\n"
                    "print(*{f for m in list(sys.modules.values()) if (f := getattr(m, '__file__', None))}, sep='\\n')" % (names,))
            done = subprocess.run([PYTHON, "-S", "-B", "-c", look], capture_output=True, text=True, env={"PYTHONHOME": home})
            self.assertEqual(done.returncode, 0, done.stderr)
            files = done.stdout.split("\n")[:-1]
            self.assertGreater(len(files), 100)
            self.assertEqual([f for f in files if not f.startswith(home)], [])


if __name__ == "__main__":
    unittest.main()
