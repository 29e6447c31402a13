"""The command `kerf` of an installed wheel: becomes the program, for whose `--python` this Python stands."""
import os
import shutil
import sys


def main():
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "kerf")
    if not os.access(own, os.X_OK):
        print("kerf: error: this package was installed without its program: python -m kerf check and record work", file=sys.stderr)
        return 3
    folder = os.path.dirname(sys.executable)
    if shutil.which("python3") != os.path.join(folder, "python3"):
        os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])
    os.execv(own, ["kerf"] + sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
