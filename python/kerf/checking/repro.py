"""A program as a script that imports torch alone, and fails in a process of its own."""
import ast
import contextlib
import os
import signal
import subprocess
import sys

from .culprit import own_settings

COMPARE = '''

def run(compiled):
    """What a call leaves behind: results, changed arguments, gradients."""
    torch._dynamo.reset()
    fn, args = build()
    call = torch.compile(fn, {options}) if compiled else fn
    left = []
    for args in [args{more}]:
        torch.manual_seed(1)
        out = call(*args)
        flat = torch.utils._pytree.tree_leaves(out)
        given = [t for t in torch.utils._pytree.tree_leaves(args) if isinstance(t, torch.Tensor)]
{backward}        for name, value in [("result", t) for t in flat] + [("argument", t) for t in given]:
            if isinstance(value, torch.Tensor):
                shared = [n for n, t in enumerate(given) if name == "result" and t.numel() and
                          t.untyped_storage().data_ptr() == value.untyped_storage().data_ptr()]
                about = tuple(value.shape), value.dtype, value.requires_grad, shared
                left.append((name, about, value.detach().clone()))
                if value.is_leaf and value.grad is not None:
                    left.append(("gradient", (), value.grad.detach().clone()))
            else:
                left.append((name, (), value))
{state}    return left


if __name__ == "__main__":
    expected, actual = run(False), run(True)
    wrong = len(expected) != len(actual)
    for (name, about, want), (_, found, got) in zip(expected, actual):
        try:
            assert about == found, "%s became %s" % (about, found)
            torch.testing.assert_close(got, want, equal_nan=True)
        except AssertionError as problem:
            wrong = True
            print("FAILS:", name, "differs:", str(problem).strip())
            print("  eager   ", want)
            print("  compiled", got)
    raise SystemExit(1 if wrong else 0)
'''

BACKWARD = '''        total = sum(t.sum() for t in flat if isinstance(t, torch.Tensor) and t.requires_grad)
        if isinstance(total, torch.Tensor):
            total.backward()
'''
STATE = '''    held = fn if isinstance(fn, torch.nn.Module) else torch.nn.Module()
    for name, value in list(held.named_buffers()) + list(held.named_parameters()):
        left.append((name, (), value.detach().clone()))
        if value.grad is not None:
            left.append(("gradient of " + name, (), value.grad.detach().clone()))
'''

CALL = '''

if __name__ == "__main__":
    fn, args = build(){eager}
    call = torch.compile(fn, {options})
    for args in [args{more}]:
        torch.manual_seed(1)
        out = call(*args)
{backward}'''
CALL_BACKWARD = '''        total = sum(t.sum() for t in torch.utils._pytree.tree_leaves(out) if isinstance(t, torch.Tensor) and t.requires_grad)
        if isinstance(total, torch.Tensor):
            total.backward()
'''


def options_text(kwargs, backend):
    kwargs = {k: v for k, v in kwargs.items() if backend == "inductor" or k not in ("mode", "options")}
    return ", ".join(["backend=%r" % backend] + ["%s=%r" % item for item in kwargs.items()])


def config_lines(config):
    lines = []
    for name, value in config.items():
        owner = name.rpartition(".")[0]
        module = owner if owner.endswith("config") else owner.rpartition(".")[0]
        lines += ["import %s" % module, "%s = %r" % (name, value)]
    return list(dict.fromkeys(lines))


def stripped(source):
    """The program without what only Kerf reads. Returns (text, what was read)."""
    tree = ast.parse(source)
    about = dict(own_settings(source), BACKWARD=False, calls=False, module=False)
    body = []
    for node in tree.body:
        name = getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else ""
        if name == "BACKWARD":
            about["BACKWARD"] = bool(getattr(node.value, "value", False))
        elif name not in ("CONFIG", "KWARGS", "FP64", "EAGER_RAISES"):
            body.append(node)
        about["calls"] |= getattr(node, "name", "") == "calls"
        about["module"] |= isinstance(node, ast.ClassDef) and "Module" in ast.unparse(ast.Tuple(node.bases, ast.Load()))
    tree.body = body
    text = ""
    for node in body:
        gap = "\n\n" if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ""
        text += gap + ast.unparse(node) + "\n"
    return text, about


def script_of(source, backend, verdict, told, draws=False, values=""):
    """The whole script. `told`: lines of what it shows; `values`: a file of tensors beside it."""
    text, about = stripped(source)
    config = dict(about["CONFIG"])
    if draws and backend == "inductor":
        config.setdefault("torch._inductor.config.fallback_random", True)
    head = "".join("# %s\n" % line for line in told)
    lines = config_lines(config)
    body = text if "import torch" in text else "import torch\n" + text
    if lines:
        body = body.replace("import torch\n", "import torch\n" + "\n".join(lines) + "\n", 1)
    if "KERF_VALUES" in body:
        loader = ('import os\n\nVALUES = torch.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "%s"))\n\n\n'
                  'class Stored:\n    def __getitem__(self, about):\n        return lambda: VALUES[about[0]].clone()\n\n\n'
                  'KERF_VALUES = Stored()\n' % os.path.basename(values))
        body = body.replace("import torch\n", "import torch\n" + loader, 1)
    more = ", *calls()" if about["calls"] else ""
    fill = {"options": options_text(about["KWARGS"], backend), "more": more}
    if verdict["status"] == "different":
        tail = COMPARE.format(backward=BACKWARD if about["BACKWARD"] else "", state=STATE if about["module"] else "", **fill)
    else:
        tail = CALL.format(backward=CALL_BACKWARD if about["BACKWARD"] else "", eager="", **fill)
    return head + body + tail


class Alone:
    """The script in a fresh process, which knows of this one only what compilers made once for all of them."""

    def __init__(self, path, verdict, torch, caches=False):
        self.verdict = verdict
        self.log = path + ".log"
        env = dict(os.environ)
        if not caches:
            env.update(TORCHINDUCTOR_FX_GRAPH_CACHE="0", TORCHINDUCTOR_AUTOGRAD_CACHE="0")
        if torch.best_instructions:  # what they are was tried out already; each new process would try again
            env["TORCHINDUCTOR_VEC_ISA_OK"] = "1"
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen([sys.executable, path], env=env, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.STDOUT, start_new_session=True)

    def wait(self, limit):
        """Whether it fails as it should, and the end of its output."""
        late = False
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        with open(self.log, "rb") as file:
            text = file.read().decode("utf-8", "replace")
        os.unlink(self.log)
        return self.judged(self.process.returncode, late, text), text[-4000:]

    def judged(self, code, late, text):
        verdict = self.verdict
        if late or verdict["status"] == "hang":
            return late and verdict["status"] == "hang"
        if verdict["status"] == "different":
            raises = any(d["group"] == "raises" for d in verdict["differences"])
            return code == 1 and ("FAILS:" in text or raises and "Error" in text)
        if verdict["status"] == "error":
            return code != 0 and verdict["error"]["root"] in text
        return code < 0
