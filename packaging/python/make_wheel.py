"""Packs a wheel of the package kerf: python3 make_wheel.py STAGE TARGET. STAGE has kerf/bin, kerf/lib and licences."""
import base64
import hashlib
import os
import re
import sys
import tomllib
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TAG = "py3-none-manylinux_2_36_x86_64"
MOST = 60 << 20  # bytes
RECORD_HOOK = "import os; os.environ.get('KERF_RECORD') and __import__('kerf.recording.hook', fromlist=['begin']).begin()\n"


def project():
    with open(os.path.join(ROOT, "python", "pyproject.toml"), "rb") as file:
        return tomllib.load(file)["project"]


def version():
    """The one of CMakeLists.txt, which the package must agree with."""
    with open(os.path.join(ROOT, "CMakeLists.txt")) as file:
        return re.search(r"project\(kerf VERSION ([\d.]+)", file.read())[1]


def python_files():
    """(name in the wheel, path)."""
    for package, folder in (("kerf", "python/kerf"), ("kerf_torch_worker", "resources/kerf_torch_worker")):
        for base, folders, names in os.walk(os.path.join(ROOT, folder)):
            folders[:] = sorted(f for f in folders if f != "__pycache__")
            for name in sorted(names):
                if name.endswith((".py", ".pyi", "py.typed")):
                    path = os.path.join(base, name)
                    yield os.path.join(package, os.path.relpath(path, os.path.join(ROOT, folder))), path


def staged_files(stage, about):
    for base, folders, names in os.walk(stage):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(base, name)
            inside = os.path.relpath(path, stage)
            yield inside if inside.startswith("kerf") else os.path.join(about, inside), path


def texts(about, told, number):
    """The files that say what the wheel is."""
    points = "[console_scripts]\nkerf = kerf.program:main\n" + "".join(
        "\n[%s]\n%s\n" % (group, "\n".join("%s = %s" % item for item in entries.items()))
        for group, entries in told["entry-points"].items())
    with open(os.path.join(ROOT, "README.md")) as file:
        readme = file.read()
    metadata = "Metadata-Version: 2.1\nName: kerf\nVersion: %s\nSummary: %s\nRequires-Python: %s\nDescription-Content-Type: text/markdown\n\n%s" % (
        number, told["description"], told["requires-python"], readme)
    return {about + "/METADATA": metadata, about + "/entry_points.txt": points, "kerf_record.pth": RECORD_HOOK,
            about + "/WHEEL": "Wheel-Version: 1.0\nGenerator: kerf\nRoot-Is-Purelib: false\nTag: %s\n" % TAG}


def put(wheel, name, data, mode, record):
    entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes for the same files
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, data, compresslevel=9)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record.append("%s,sha256=%s,%d" % (name, digest, len(data)))


def main():
    stage, target = sys.argv[1:3]
    told, number = project(), version()
    if told["version"] != number:
        raise SystemExit("pyproject.toml has version %s, CMakeLists.txt %s" % (told["version"], number))
    about, record = "kerf-%s.dist-info" % number, []
    path = os.path.join(target, "kerf-%s-%s.whl" % (number, TAG))
    with zipfile.ZipFile(path, "w") as wheel:
        for name, file in [*python_files(), *staged_files(stage, about)]:
            with open(file, "rb") as opened:
                put(wheel, name, opened.read(), 0o755 if os.access(file, os.X_OK) else 0o644, record)
        for name, text in texts(about, told, number).items():
            put(wheel, name, text.encode(), 0o644, record)
        record.append(about + "/RECORD,,")
        put(wheel, about + "/RECORD", ("\n".join(record) + "\n").encode(), 0o644, record)
    size = os.path.getsize(path)
    print("%s, %.1f MB" % (path, size / (1 << 20)))
    if size > MOST:
        raise SystemExit("that is more than %d MB" % (MOST >> 20))


if __name__ == "__main__":
    main()
