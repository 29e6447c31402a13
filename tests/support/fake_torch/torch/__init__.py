"""A stand-in for PyTorch, as far as resources/torch_worker.py touches it: graphs are lists of op names, and what compiling
and running them does is decided by the ops in them.

    relu   Inductor refuses: CppCompileError            sin    the compiled result differs (accuracy)
    tanh   compiling never ends                         cos    a NaN that eager does not have
    exp    compiling dies of SIGSEGV                    log    running raises
    sqrt   takes memory without end                     erf    two runs differ
    abs    prints garbage on standard output            ceil   leaves a process behind

$FAKE_TORCH_VERSION is another version, $FAKE_TORCH_MENDED ops of the table that it has no fault in ("relu,sin").

Every import is written to $FAKE_TORCH_LOG, one line each, so that tests can count what happened. What is left behind sleeps
for $FAKE_TORCH_SLEEP seconds, by which a test finds it.
"""
import builtins
import contextlib
import functools
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
import types

__version__ = os.environ.get("FAKE_TORCH_VERSION", "2.11.0+fake")


def log(text):
    path = os.environ.get("FAKE_TORCH_LOG")
    if path:
        with open(path, "a") as file:
            file.write("%s %d\n" % (text, os.getpid()))


log("import")
if os.environ.get("FAKE_TORCH_BROKEN"):
    raise ImportError("libtorch.so: cannot open shared object file")


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    parent, _, last = name.rpartition(".")
    setattr(sys.modules[parent], last, made)
    return made


class Tensor:
    is_cuda = requires_grad = False
    shape = ()

    def __init__(self, data=b"", history=()):
        self.data, self.history = data, tuple(history)

    def clone(self):
        return Tensor(self.data, self.history)

    def requires_grad_(self, value=True):
        return self

    def to(self, *_, **__):
        return self

    def untyped_storage(self):
        return self.data

    def is_floating_point(self):
        return True

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self

    def __add__(self, other):
        return self

    __mul__ = __matmul__ = __radd__ = __add__


class Ops:
    """torch.ops.aten.relu.default(x): a tensor that remembers how it was made."""

    def __init__(self, path=()):
        self.path = path

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Ops(self.path + (name,))

    def __call__(self, *args, **kwargs):
        op = self.path[1]
        history = [h for a in args if isinstance(a, Tensor) for h in a.history]
        return Tensor(b"", history + [op])


class UntypedStorage(bytearray):
    pass


def empty(count, dtype=None, device=None):
    raise NotImplementedError


def frombuffer(data, dtype=None):
    return Tensor(bytes(data))


ops = Ops()
uint8, float32, float16, bfloat16, float64, int64, int32, bool = "uint8 float32 float16 bfloat16 float64 int64 int32 bool".split()
strided, contiguous_format, preserve_format = "strided", "contiguous_format", "preserve_format"
threads = [int(os.environ.get("OMP_NUM_THREADS", "4"))]
get_num_threads = lambda: threads[0]  # noqa: E731
set_num_threads = lambda count: threads.__setitem__(0, count)  # noqa: E731
manual_seed = lambda seed: None  # noqa: E731
no_grad = contextlib.nullcontext
ones = lambda *sizes: Tensor()  # noqa: E731
relu = softmax = lambda x, *rest: x  # noqa: E731
tensor = lambda value, **how: Tensor()  # noqa: E731
Size = tuple
isnan = nan_to_num = lambda x: x  # noqa: E731


class device:
    def __init__(self, type, index=None):
        self.type = type

    def __str__(self):
        return self.type


def equal(a, b):
    return a.data == b.data


class CppCompileError(RuntimeError):
    pass


def ops_of(graph):
    return graph.ops


def mended(names):
    """Without the ops in which this version has no fault."""
    whole = os.environ.get("FAKE_TORCH_MENDED", "").split(",")
    return [name for name in names if name not in whole]


def compile_of(names):
    """What compiling a graph with these ops does."""
    log("compile " + ",".join(names))
    names = mended(names)
    if "relu" in names:
        raise CppCompileError(
            "C++ compile error\n\nCommand:\ng++ /tmp/x/c%d.cpp -o c.so\n\nOutput:\n/tmp/x/c.cpp:%d:12: error: decltype evaluates "
            "to 'float'\n" % (os.getpid(), os.getpid())
        )
    if "tanh" in names:
        time.sleep(1000)
    if "exp" in names:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "sqrt" in names:
        hog = []
        while True:
            hog.append(bytearray(os.urandom(1 << 20)) * 16)
    if "abs" in names:
        print('{"verdict": "fails"}', flush=True)
        os.write(1, b"\xff\xfe garbage" * 1000)
    if "ceil" in names:
        seconds = os.environ.get("FAKE_TORCH_SLEEP", "987")
        subprocess.Popen(["sleep", seconds])
        log("leaves " + seconds)


def run_of(names, count=[0]):
    names = mended(names)
    if "log" in names:
        raise AssertionError("expected size %d==6, stride 1==4 at dim=0" % os.getpid())
    count[0] += 1
    return tuple([Tensor(b"%d" % count[0] if "erf" in names else b"", names)])


class Graph:
    def __init__(self, names):
        self.ops = names

    def __call__(self, *args):
        return tuple([Tensor(b"", self.ops)])

    def parameters(self):
        return []


def make_fx(mod, tracing_mode="real"):
    def trace(*args):
        result = mod.forward(*args)
        result = result if isinstance(result, (list, tuple)) else [result]
        return Graph([h for r in result if isinstance(r, Tensor) for h in r.history])

    return trace


def compile_fx_inner(graph, args):
    names = ops_of(graph)
    compile_of(names)
    made = lambda inputs: run_of(names)  # noqa: E731
    boxed = types.SimpleNamespace(_boxed_call=True)
    return type("Compiled", (), {"_boxed_call": True, "__call__": lambda self, inputs: made(inputs), "ops": names})() or boxed


class Compiled:
    def __init__(self, mod):
        self.mod = mod

    def __call__(self, *args):
        if not hasattr(self.mod, "forward"):
            return None
        names = make_fx(self.mod)(*args).ops
        compile_of(names)
        return run_of(names)


def compile(mod, backend="inductor"):
    return Compiled(mod)


def same_two_models(graph, compiled, args, only_fwd=False, *, ignore_non_fp=False, require_fp64=False):
    names = getattr(compiled, "ops", None) or make_fx(compiled.mod)(*args).ops
    if "sin" not in mended(names):
        return True
    logging.getLogger("torch._dynamo.utils").error(
        "RMSE (res-fp64): %s, (ref-fp64): %s and shape=torch.Size([2, 3]). res.dtype: torch.float32, multiplier: 3.0",
        "0.25000",
        "0.00000",
    )
    return False


class InputReader:
    def __init__(self, save_dir=None, *, pbar=None):
        self.args = []

    def storage(self, storage_hash, nbytes, *, device=None, dtype_hint=None):
        return UntypedStorage(nbytes)

    def tensor(self, storage, shape, stride=None, **how):
        log("tensor %d" % len(storage))
        made = Tensor(builtins.bytes(storage))
        self.args.append(made)
        return made

    def symint(self, value, expr=None):
        self.args.append(value)

    def const(self, name):
        self.args.append(None)

    unsupported = opaque = const


class Module:
    def __init__(self):
        pass

    def __call__(self, *args):
        return self.forward(*args)

    def parameters(self):
        return []


class VecISA:
    """Can be used if a library can be loaded in another Python; $FAKE_TORCH_BROKEN_ISA cannot."""

    _avx_code, _arch_flags = "code", ""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name

    def check_build(self, code):
        log("isa " + self.name)
        library = "libnone.so" if os.environ.get("FAKE_TORCH_BROKEN_ISA") == self.name else "libc.so.6"
        text = 'import torch\nfrom ctypes import cdll\ncdll.LoadLibrary("%s")\n' % library
        try:
            me._inductor.cpu_vec_isa.subprocess.check_call([sys.executable, "-c", text], stderr=subprocess.DEVNULL)
        except subprocess.CalledProcessError:
            return False
        return True


me = sys.modules[__name__]
for name in ("nn", "fx", "fx.experimental", "_dynamo", "_inductor", "_functorch", "amp", "cuda"):
    module("torch." + name)
module("torch.nn.functional")
me.nn.Module = Module
me.nn.__all__ = ["Module"]
me.amp.autocast = lambda *args, **kwargs: contextlib.nullcontext()
me.cuda.synchronize = me.cuda.empty_cache = lambda: None
for name in ("_inductor", "_dynamo", "_functorch"):
    module("torch.%s.config" % name, compile_threads=8, fx_graph_cache=True, repro_ignore_non_fp=False)
module("torch.fx.experimental._config")
module("torch.fx.experimental.proxy_tensor", make_fx=make_fx)
module("torch._inductor.compile_fx", compile_fx_inner=compile_fx_inner)
module("torch._inductor.inductor_prims")
module("torch._inductor.cpp_builder", subprocess=subprocess)


class CppPythonBindingsCodeCache:
    """Precompiles a header where there is none, as Inductor does before the first kernel."""

    @staticmethod
    def load_pybinding(types, source):
        folder = os.path.join(tempfile.gettempdir(), "torchinductor_fake", "precompiled_headers")
        target = os.path.join(folder, "chash.h.gch")
        if os.path.exists(target):
            return
        log("precompile")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "chash.h"), "w") as file:
            file.write("#include <header>")
        me._inductor.cpp_builder.subprocess.run(["sh", "-c", 'printf header > "$1"', "-o", target])


module("torch._inductor.codecache", CppPythonBindingsCodeCache=CppPythonBindingsCodeCache)
isas = [VecISA("avx512"), VecISA("avx2"), VecISA("neon")]
module(
    "torch._inductor.cpu_vec_isa",
    subprocess=subprocess,
    supported_vec_isa_list=isas,
    x86_isa_checker=lambda: ["avx2", "avx512"],
    valid_vec_isa_list=functools.cache(lambda: [isa for isa in isas[:2] if isa.check_build(isa._avx_code)]),
)
module("torch._dynamo.testing", rand_strided=None)
module("torch._dynamo.utils", clone_inputs=lambda args: [a.clone() if isinstance(a, Tensor) else a for a in args])
module(
    "torch._dynamo.debug_utils",
    InputReader=InputReader,
    same_two_models=same_two_models,
    run_fwd_maybe_bwd=lambda mod, args, only_fwd=False, disable_clone=False: mod(*args),
)
me._dynamo.reset = lambda: None
me._dynamo.lookup_backend = lambda backend: lambda graph, args: compile_fx_inner(graph, args)
