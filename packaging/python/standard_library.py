"""Copies what captures need of Python's standard library: python3 standard_library.py TARGET, run by the Python of Kerf's libpython.

The files are those that are loaded once every module of resources/sandbox/start.py's ALLOWED is: programs find no others.
TARGET gets pythonX.Y, its lib-dynload, and, beside them, the libraries that those need. Prints the latter, one path a line.
"""
import ast
import os
import shutil
import subprocess
import sys
import sysconfig

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OF_THE_SYSTEM = ("libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux", "linux-vdso")


def allowed_modules():
    with open(os.path.join(ROOT, "resources", "sandbox", "start.py")) as file:
        tree = ast.parse(file.read())
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and statement.targets[0].id == "ALLOWED":
            return statement.value.func.value.value.split()
    raise SystemExit("%s: start.py has no ALLOWED" % sys.argv[0])


def loaded_files(names):
    """In an interpreter of its own, which has loaded nothing else."""
    script = ("import sys\nfor name in %r: __import__(name)\n"
              "print(*sorted({f for m in list(sys.modules.values()) if (f := getattr(m, '__file__', None))}), sep='\\n')" % (names,))
    return subprocess.run([sys.executable, "-I", "-S", "-B", "-c", script], check=True, capture_output=True, text=True).stdout.split("\n")


def needed_libraries(path):
    for line in subprocess.run(["ldd", path], check=True, capture_output=True, text=True).stdout.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if arrow and rest.startswith("/") and not name.startswith(OF_THE_SYSTEM):
            yield rest.split(" ")[0]


def main(target):
    library = os.path.realpath(sysconfig.get_path("stdlib"))
    libraries = set()
    for path in filter(None, map(os.path.realpath, filter(None, loaded_files(allowed_modules())))):
        if not path.startswith(library + os.sep):
            raise SystemExit("%s: %s is outside of %s" % (sys.argv[0], path, library))
        place = os.path.join(target, os.path.basename(library), os.path.relpath(path, library))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copyfile(path, place)
        if path.endswith(".so"):
            libraries.update(needed_libraries(path))
    print("\n".join(sorted(libraries)))


if __name__ == "__main__":
    main(sys.argv[1])
