"""What a program calls: kerf.compare(fn, *args), kerf.check(script or fn, *args), kerf.minify(fn, *args)."""
import copy
import json
import os
import subprocess
import sys
import tempfile

BACKENDS = ("eager", "aot_eager", "aot_eager_decomp_partition", "inductor")


class Given:
    """A function and its arguments as a program: a copy of both at each call."""

    def __init__(self, fn, args, backward, options):
        self.fn, self.args, self.options = fn, args, options
        self.settings = {"BACKWARD": backward, "KWARGS": options}

    def value(self, name, other):
        return self.settings.get(name, other)

    def build(self):
        import torch
        from torch.utils import _pytree

        from .checking.snapshot import as_it_lies

        def fresh(leaf):
            if not isinstance(leaf, torch.Tensor):
                return leaf
            return as_it_lies(leaf.detach()).requires_grad_(leaf.requires_grad)

        fn = copy.deepcopy(self.fn) if isinstance(self.fn, torch.nn.Module) else self.fn
        return fn, tuple(_pytree.tree_map(fresh, self.args))

    def calls(self):
        return ()

    def compile(self, fn, backend):
        import torch

        return torch.compile(fn, backend=backend, **self.options)


def compare(fn, *args, backends=BACKENDS, backward=False, **options):
    """Calls a function or module eagerly and under backends of torch.compile, each on copies of the arguments. Returns
    {backend: {"status": "ok" | "different" | "error", "differences": [...], "notes": [...], "error": {...}}}; values beyond
    assert_close are judged by a float64 run. `backward`: gradients of the sum of the results, too; `options`: of torch.compile.
    Runs in this process: code that crashes or hangs takes it along, which check() does not."""
    from .checking.trial import reference, under

    program = Given(fn, args, backward, options)
    ref = reference(program, True)
    return {backend: under(program, backend, ref) for backend in backends}


def check(script, *args, time="10m", output=None, python=sys.executable, backward=False, **options):
    """What `python -m kerf check` finds in a script or a file with build(), or in a function or module called with `args`, as the
    dict of its report.json; "folder" is where report.html, issue.md and repro.py are. `args` of a script are its command line.
    `backward` and `options` (of torch.compile) belong to a function. RuntimeError where it cannot be asked."""
    folder = output or tempfile.mkdtemp(prefix="kerf_check_")
    if callable(script):
        from .given import write

        script, args = write(script, args, folder, backward, options), ()
    elif options or backward:
        raise TypeError("backward and options of torch.compile belong to a function; a script says them itself")
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")
    command = [python, here, "check", os.fspath(script), "--json", "--quiet", "--time", str(time), "-o", os.fspath(folder)]
    done = subprocess.run(command + (["--", *args] if args else []), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        report = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        report = {"error": {"message": done.stderr.strip()[-500:]}}
    if "error" in report:
        raise RuntimeError("kerf check: " + report["error"]["message"])
    return dict(report, folder=os.fspath(folder))


def minify(fn, *args, time="10m", output=None, backward=False, **options):
    """The shortest program that shows what compiled code does otherwise in fn(*args): (path of repro.py, report of check()).
    The path is None where no difference was found, or no script of it fails alone."""
    report = check(fn, *args, time=time, output=output, backward=backward, **options)
    repro = report.get("minimal", {}).get("repro")
    path = os.path.join(report["folder"], repro) if repro else None
    return (path if path and os.path.exists(path) else None), report
