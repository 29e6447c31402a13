# Judges candidate graphs with the user's own PyTorch (2.1 or newer) for `kerf --oracle torch`.
#
#     python torch_worker.py SOCKET JOBS MEMORY_BYTES cpu|cuda [FOLDER of tools kept from one job to the next]
#
# Imports torch once, begins with the first query, and compiles one small graph, so that what every query needs is there:
# Inductor's modules, its list of vector instructions, its precompiled headers. Each query is a fork of this process:
# nothing of one is seen by another, and a crash, a hang or a leak ends with it. CUDA does not survive a fork, so graphs on a GPU are judged by
# processes that are forked before they touch it and stay for many queries.
#
# A query is one connection to the socket: a line of JSON, then the bytes that it announces. The answer is one line of
# JSON. Whoever closes the connection before that takes the query back. The text that is run was written by Kerf, which
# puts nothing into it but calls that it knows; the expression of a check is the user's own.
import ast
import contextlib
import copy
import ctypes
import faulthandler
import gc
import hashlib
import importlib.util
import json
import linecache
import logging
import os
import re
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import warnings

PRIVATE = {}  # environment variables that a candidate's own header must not change
STORAGES = {}  # by SHA-1: bytes, kept for all queries of the job
STATE = {"torch": "", "warm_seconds": 0.0, "notes": []}
MOST_COMPILERS = 4  # at the same time for one query: what they do behind a kernel that is refused is for nothing
SMALL_SHARE = 4  # a query about so much less text than another one that is worked at gives way to it: what is asked
YIELDING = 5  # beside it is asked ahead of its verdict. Not by much, since its time runs
MOST_TEXT = 20000  # characters of a message that are passed on
GREETING_SECONDS, FIRST_QUERY_SECONDS = 1.0, 5.0  # that are waited for each before warming
GARBAGE_OF_QUERY = 100000  # objects until it is looked for: most queries end before that is worth while
QUERIES_PER_PROCESS = 200  # of a process that stays
GROWTH_PER_PROCESS = 4 << 30  # bytes by which it may grow
SUM = ".sha1"  # of a kept file, beside it
MOST_KEPT = 3  # sets of tools: one for each PyTorch, Python and compiler that was used lately


def note(text):
    """Something that did not work here and could be done without."""
    if len(STATE["notes"]) < 20:
        STATE["notes"].append(text[:300])


# Start: everything that is the same for all queries.


def keep_apart(folder, device):
    """Caches and dumps of this job, away from the user's own. Dynamo looks after the random numbers of every GPU that it
    sees, and CUDA does not survive a fork: graphs on the CPU see none."""
    STATE["device"] = device
    if device == "cpu":
        PRIVATE["CUDA_VISIBLE_DEVICES"] = ""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads: a process with none forks safely
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that wait must not keep other queries from working
    warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
    PRIVATE.update(
        TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "inductor"),
        TRITON_CACHE_DIR=os.path.join(folder, "triton"),
        TORCHINDUCTOR_COMPILE_THREADS="1",
        TORCHINDUCTOR_FX_GRAPH_CACHE="0",
        TORCHINDUCTOR_AUTOGRAD_CACHE="0",
        PYTORCH_NVML_BASED_CUDA_CHECK="1",  # asking for GPUs must not initialise CUDA before a fork
    )
    for name in ("TORCH_TRACE", "TORCH_LOGS", "TORCH_COMPILE_DEBUG", "TORCHDYNAMO_REPRO_AFTER", "TORCHDYNAMO_REPRO_LEVEL"):
        os.environ.pop(name, None)
    os.environ.update(PRIVATE)


def fix_config():
    """Settings that a fork needs, put back after a candidate's header was run."""
    import torch._inductor.config as inductor

    for name in ("TORCH_TRACE", "TORCH_LOGS", "TORCH_COMPILE_DEBUG", "TORCHDYNAMO_REPRO_AFTER", "TORCHDYNAMO_REPRO_LEVEL"):
        os.environ.pop(name, None)
    os.environ.update(PRIVATE)
    threads = STATE.get("compile_threads", 1)
    for name, value in (("compile_threads", threads), ("fx_graph_cache", False), ("fx_graph_remote_cache", False)):
        if hasattr(inductor, name):
            setattr(inductor, name, value)
    with contextlib.suppress(AttributeError):  # code is written for as many threads as elsewhere
        if inductor.cpp.threads < 1 and "threads" in STATE:
            inductor.cpp.threads = STATE["threads"]
    with contextlib.suppress(Exception):
        import torch._functorch.config as functorch

        functorch.enable_autograd_cache = False
    with contextlib.suppress(Exception):
        import torch._dynamo.config as dynamo

        dynamo.repro_after = None
        dynamo.suppress_errors = False


class LoadsInForks:
    """Stands in for the module `subprocess` in Inductor's file about vector instructions. Whether a test library can be
    loaded is asked there in a fresh Python that imports torch, seconds for each of a dozen questions. A fork of this
    process has torch already; whatever does not end there as expected is asked as PyTorch asks it."""

    PATTERN = re.compile(r"""LoadLibrary\((["'])(.+)\1\)""")
    SECONDS = 30.0  # a library is loaded in milliseconds

    def __init__(self, original):
        self.original = original

    def __getattr__(self, name):
        return getattr(self.original, name)

    def check_call(self, command, *args, **kwargs):
        found = self.PATTERN.search(str(command[-1])) if "-c" in command else None
        if found and self.loads(found[2]):
            return 0
        return self.original.check_call(command, *args, **kwargs)

    @classmethod
    def loads(cls, path):
        pid = os.fork()
        if pid == 0:
            try:
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                os.dup2(null, 2)
                ctypes.CDLL(path)
                os._exit(0)
            finally:
                os._exit(1)
        deadline = time.monotonic() + cls.SECONDS
        while time.monotonic() < deadline:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return status == 0
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return False


MADE = []  # files that compilers made for this process; what its forks have made is theirs


class BuildsWhole:
    """Stands in for the module `subprocess` in Inductor's file that calls compilers. What they make gets its name when it
    is whole: a query that is ended takes its compilers with it, and half a library would fail all later queries about
    the same kernel ("file too short"), which is no failure of theirs."""

    def __init__(self, original):
        self.original = original

    def __getattr__(self, name):
        return getattr(self.original, name)

    def run(self, command, *args, **kwargs):
        target = self.target_of(command)
        if target is None:
            return self.original.run(command, *args, **kwargs)
        part = "%s.%d.%d.part" % (command[target], os.getpid(), threading.get_ident())
        hidden = list(command)
        hidden[target] = part
        folder = kwargs.get("cwd") or "."
        try:
            done = self.original.run(hidden, *args, **kwargs)
            if done.returncode == 0 and os.path.exists(os.path.join(folder, part)):
                os.replace(os.path.join(folder, part), os.path.join(folder, command[target]))
                MADE.append(os.path.join(folder, command[target]))
            return done
        except self.original.CalledProcessError as problem:
            problem.cmd = command
            raise
        finally:
            remove(os.path.join(folder, part))

    @staticmethod
    def target_of(command):
        """The place of the name in `-o NAME`."""
        if isinstance(command, (list, tuple)) and "-o" in command[:-1]:
            return command.index("-o") + 1
        return None


def import_torch(jobs):
    """Imports torch, on one thread: a pool of OpenMP threads does not survive a fork."""
    started = time.monotonic()
    import torch

    STATE["torch"] = str(torch.__version__)
    STATE["threads"] = torch.get_num_threads()
    STATE["query_threads"] = max(1, STATE["threads"] // jobs)  # queries at the same time share the processor
    torch.set_num_threads(1)
    import torch._dynamo  # noqa: F401
    import torch._inductor.compile_fx  # noqa: F401

    fix_config()
    unshare_locks()
    with contextlib.suppress(ImportError, AttributeError):
        from torch._inductor import cpu_vec_isa

        cpu_vec_isa.subprocess = LoadsInForks(cpu_vec_isa.subprocess)
    with contextlib.suppress(ImportError, AttributeError):
        from torch._inductor import cpp_builder

        cpp_builder.subprocess = BuildsWhole(cpp_builder.subprocess)
    STATE["import_seconds"] = time.monotonic() - started


def warm_up():
    """Compiles one small graph. Meanwhile a thread has the vector instructions tried and the headers precompiled, which
    are other processes' work. Forks find modules and answers in memory, libraries and headers on disk."""
    if STATE["device"] != "cpu":  # processes on a GPU are warm after their first query
        return
    started = time.monotonic()
    tools = threading.Thread(target=prepare_tools)
    with known_isa_awaited():
        tools.start()
        try:
            timed("a first compile", first_compile)
        finally:
            tools.join()
    with contextlib.suppress(Exception):
        import torch

        torch._dynamo.reset()
    STATE["warm_seconds"] = time.monotonic() - started


def timed(name, step):
    """A step that can be done without: each query then does it itself, or says why it cannot."""
    began = time.monotonic()
    try:
        step()
    except Exception as problem:
        note("%s: %s: %s" % (name, type(problem).__name__, problem))
    note("%s took %.1f s" % (name, time.monotonic() - began))


KNOWN_ISA = threading.Event()


@contextlib.contextmanager
def known_isa_awaited():
    """While the instructions are tried, nobody else may: Inductor changes the flags of what it tries on the way."""
    try:
        from torch._inductor import cpu_vec_isa

        original = cpu_vec_isa.valid_vec_isa_list
    except (ImportError, AttributeError):
        yield
        return
    main = threading.current_thread()

    def valid_vec_isa_list():
        if threading.current_thread() is main:
            KNOWN_ISA.wait()
        return original()

    cpu_vec_isa.valid_vec_isa_list = valid_vec_isa_list
    try:
        yield
    finally:
        cpu_vec_isa.valid_vec_isa_list = original


def prepare_tools():
    try:
        timed("test libraries", build_test_libraries)
        timed("vector instructions", know_vector_isa)
    finally:
        KNOWN_ISA.set()
    timed("precompiled headers", precompile_headers)


def know_vector_isa():
    from torch._inductor import cpu_vec_isa

    cpu_vec_isa.valid_vec_isa_list()


def build_test_libraries():
    """All libraries that Inductor tries instructions with, at the same time; it then finds them where it would have built
    them, one after the other. Copies are asked: an answer that counts is only that of Inductor itself."""
    from concurrent.futures import ThreadPoolExecutor

    from torch._inductor import cpu_vec_isa

    claimed = cpu_vec_isa.x86_isa_checker()
    with ThreadPoolExecutor(16) as pool:
        for isa in cpu_vec_isa.supported_vec_isa_list:
            if all(name in claimed for name in str(isa).split()):
                list(map(lambda question: pool.submit(ask_of_copy, *question), isa_questions(isa)))


def isa_questions(isa):
    """(a copy, the code that it is tried with), as the answers before lead to them where all are yes."""
    import torch

    extra = {"_avx512_bf16_code": " -mavx512bf16", "_amx_fp16_code": " -mamx-fp16"}
    supported = {"_avx512_bf16_code": "_is_avx512_bf16_supported", "_amx_fp16_code": "_is_amx_fp16_supported"}
    asked = copy.copy(isa)
    for name in ("_avx_code", "_avx512_bf16_code", "_avx512_vnni_code", "_amx_code", "_amx_fp16_code"):
        code = getattr(isa, name, None)
        if not isinstance(code, str) or name in supported and not getattr(torch.cpu, supported[name], bool)():
            continue
        one = copy.copy(asked)
        one._arch_flags += extra.get(name, "")
        yield one, code
        if name in supported:
            setattr(asked, supported[name], True)


def ask_of_copy(isa, code):
    with contextlib.suppress(Exception):
        isa.check_build(code)


def precompile_headers():
    """By a kernel that does nothing: what Inductor includes is precompiled when the first kernel is compiled."""
    from torch._inductor.codecache import CppPythonBindingsCodeCache

    CppPythonBindingsCodeCache.load_pybinding(["float*"], 'extern "C" void kernel(float* out) { out[0] = 1; }\n')


def unshare_locks():
    """tqdm, which Inductor's progress bars are, locks a semaphore that all forks have in common: one that is ended while
    it holds it would stop all others for ever."""
    with contextlib.suppress(ImportError, AttributeError):
        from tqdm import tqdm

        tqdm.set_lock(threading.RLock())


def first_compile():
    import torch

    def small(x, y):
        return (torch.relu(x @ y) + 1).sum(-1), torch.softmax(x * y, -1)

    with torch.no_grad():
        torch.compile(small)(torch.ones(8, 8), torch.ones(8, 8))


class KeptTools:
    """Libraries to try instructions with and precompiled headers are the same for every job with the same PyTorch, and
    take most of the time until a worker is warm. They are kept in a folder of the user's, and put where Inductor would
    make them. Its names for them are hashes of what goes in (of precompiled headers: of all text that they include), so
    one that no longer fits is not found, made anew and kept instead.

    Since these are machine code, what belongs to somebody else, or can be written by others, is not used."""

    def __init__(self, place, folder):
        self.place = place  # of all sets; empty: nothing is kept
        self.folder = folder  # of this job
        self.stored = set()  # by this job: several of the made files have the same source

    def set_place(self):
        """A folder per PyTorch, Python, compiler and processor, so that a set that is no longer used can go."""
        found = importlib.util.find_spec("torch")
        version = os.path.join(os.path.dirname(found.origin), "version.py")
        facts = [sys.executable, version, str(os.stat(version).st_mtime_ns if os.path.exists(version) else 0)]
        facts += [str(os.environ.get(name)) for name in ("CXX", "CXXFLAGS", "CPATH", "PATH")]
        with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
            facts += sorted({line for line in file if line.startswith(("flags", "model name"))})
        return os.path.join(self.place, hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32])

    @staticmethod
    def is_ours(path):
        about = os.lstat(path)
        return about.st_uid == os.getuid() and not about.st_mode & 0o022 and not os.path.islink(path)

    def fetch(self):
        if not self.place:
            return
        kept = self.set_place()
        if not os.path.isdir(kept) or not self.is_ours(self.place) or not self.is_ours(kept):
            return
        os.utime(kept)
        for folder, _, names in os.walk(kept):
            for name in names:
                path = os.path.join(folder, name)
                if self.is_ours(path) and not name.endswith((".part", SUM)):
                    self.copy(path, os.path.join(self.folder, os.path.relpath(path, kept)), self.sum_of(path))

    @staticmethod
    def sum_of(path):
        """The checksum that lies beside a kept file; none is no file's."""
        with contextlib.suppress(OSError), open(path + SUM) as file:
            return file.read()
        return "missing"

    @staticmethod
    def copy(path, to, expected=None):
        """Whole or not at all: another may be reading. Not what has another checksum than expected: a power cut can leave
        a name without its bytes, and half a test library would be taken for a processor that can do less. Returns the
        checksum."""
        os.makedirs(os.path.dirname(to), exist_ok=True)
        part = "%s.%d.part" % (to, os.getpid())
        try:
            with open(path, "rb") as source, open(part, "wb") as target:
                found = hashlib.sha1()
                while block := source.read(1 << 20):
                    found.update(block)
                    target.write(block)
            os.chmod(part, os.stat(path).st_mode & 0o755)
            if expected in (None, found.hexdigest()):
                os.replace(part, to)
            return found.hexdigest()
        finally:
            remove(part)

    def store(self):
        """What compilers made since fetch(), with the sources beside it, whose names lead to it."""
        if not self.place:
            return
        kept = self.set_place()
        os.makedirs(self.place, mode=0o700, exist_ok=True)
        if not self.is_ours(self.place):
            return
        if os.path.islink(kept):
            os.unlink(kept)
        elif os.path.isdir(kept) and not self.is_ours(kept):
            shutil.rmtree(kept)  # who knows what was put there
        os.makedirs(kept, mode=0o700, exist_ok=True)
        for made in map(os.path.abspath, list(MADE)):
            if made.startswith(self.folder + os.sep) and os.path.exists(made):
                self.store_with_sources(made, kept)
        self.forget_oldest()

    def store_with_sources(self, made, kept):
        beside, stem = os.path.dirname(made), os.path.basename(made).split(".")[0]
        for name in os.listdir(beside):
            path = os.path.join(kept, os.path.relpath(os.path.join(beside, name), self.folder))
            if name.split(".")[0] == stem and not name.endswith((".part", ".lock")) and path not in self.stored:
                remove(path + SUM)  # of what was there; without one a file is not used
                found = self.copy(os.path.join(beside, name), path)
                with open(path + SUM, "w") as file:
                    file.write(found)
                self.stored.add(path)

    def forget_oldest(self):
        """Sets only: what else lies there is not ours to remove."""
        names = [name for name in os.listdir(self.place) if re.fullmatch("[0-9a-f]{32}", name)]
        kept = [os.path.join(self.place, name) for name in names if not os.path.islink(os.path.join(self.place, name))]
        kept.sort(key=lambda path: os.stat(path).st_mtime, reverse=True)
        for path in kept[MOST_KEPT:]:
            shutil.rmtree(path, ignore_errors=True)


# One query: a graph, its inputs and what to look for.


class Untestable(Exception):
    """The reference itself fails, or the candidate cannot be set up."""


def run_source(query):
    """The candidate's module, as if imported from a file: what needs its source (Triton kernels) finds it."""
    path = query["path"]
    with open(path, "w") as file:
        file.write(query["source"])
    linecache.checkcache(path)
    space = {"__name__": "kerf_candidate", "__file__": path}
    exec(compile(query["source"], path, "exec"), space)
    fix_config()
    return space


def runner_options(source):
    """What the candidate's own `run_repro(...)` says, and of which level it is."""
    found = {"level": "aot"}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "torch._dynamo.repro.after_dynamo":
            found["level"] = "dynamo"
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "run_repro":
            for keyword in node.keywords:
                with contextlib.suppress(ValueError):
                    found[keyword.arg] = ast.literal_eval(keyword.value)
    return found


def input_reader():
    import torch
    from torch._dynamo.debug_utils import InputReader

    class Reader(InputReader):
        """Takes the bytes that came over the socket; what did not come is made up as PyTorch makes it up."""

        def __init__(self):
            super().__init__(save_dir=None, pbar=None)

        def storage(self, storage_hash, nbytes, *, device=None, dtype_hint=None):
            data = STORAGES.get(storage_hash)
            if data is None:
                return super().storage(None, nbytes, device=device, dtype_hint=dtype_hint)
            if len(data) == 0:
                return torch.UntypedStorage(0)
            tensor = torch.frombuffer(bytearray(data), dtype=torch.uint8)
            if device is not None and str(device) != "cpu":
                tensor = tensor.to(device)
            return tensor.untyped_storage()

    return Reader()


def arguments_of(space):
    load_args = space.get("load_args")
    if load_args is None:
        raise Untestable("the graph has no load_args")
    import torch

    torch.manual_seed(0)
    reader = input_reader()
    load_args(reader)
    return list(reader.args)


def cloned(args):
    """Copies as the originals lie in memory: Inductor's code counts on strides, of expanded tensors too, and on which
    arguments share a storage. Leaves stay leaves."""
    import torch

    storages = {}

    def copy(value):
        if not isinstance(value, torch.Tensor):
            return value
        try:
            storage = value.untyped_storage()
            if storage.data_ptr() not in storages:
                storages[storage.data_ptr()] = storage.clone()
            made = torch.empty(0, dtype=value.dtype, device=value.device)
            made.set_(storages[storage.data_ptr()], value.storage_offset(), value.size(), value.stride())
            if value.is_conj():
                made = torch._conj(made)
            return made.requires_grad_(value.requires_grad)
        except (RuntimeError, NotImplementedError, AttributeError):  # sparse, quantized, subclasses
            return value.detach().clone().requires_grad_(value.requires_grad)

    return [copy(value) for value in args]


def tensors_in(value):
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def synchronize(args):
    if any(t.is_cuda for t in tensors_in(args)):
        import torch

        torch.cuda.synchronize()


def backend_named(name):
    """A backend of torch.compile, or `package.module:function`."""
    if ":" not in name:
        return name
    import importlib

    module, function = name.split(":", 1)
    return getattr(importlib.import_module(module), function)


class AotGraph:
    """A graph of aten ops, as after_aot's run_repro judges it."""

    def __init__(self, module, args, options, backend):
        import torch
        from torch.fx.experimental.proxy_tensor import make_fx

        self.args, self.backend, self.trains = args, backend, False
        with torch.no_grad():
            self.module = make_fx(module, tracing_mode=options.get("tracing_mode", "real"))(*cloned(args))

    def scope(self):
        import torch

        return torch.no_grad()

    def eager(self):
        with self.scope():
            result = self.module(*cloned(self.args))
        if not isinstance(result, (list, tuple)):
            raise Untestable("the graph returns no tuple")
        return result

    def compile(self):
        import torch

        with self.scope():
            if self.backend == "bisector":  # the backend is the one that CompilerBisector is at
                self.compiled = torch.compile(self.module)
                self.compiled(*cloned(self.args))
            elif self.backend == "inductor":
                from torch._inductor.compile_fx import compile_fx_inner

                self.compiled = compile_fx_inner(self.module, self.args)
            else:
                self.compiled = torch._dynamo.lookup_backend(backend_named(self.backend))(self.module, self.args)
            if isinstance(self.compiled, str):
                raise Untestable("Inductor gave text instead of code")

    def run(self):
        with self.scope():
            args = cloned(self.args)
            boxed = getattr(self.compiled, "_boxed_call", False)
            return self.compiled(args) if boxed else self.compiled(*args)


class DynamoGraph:
    """A graph of torch calls and modules, as after_dynamo's run_repro judges it."""

    def __init__(self, module, args, options, backend):
        import torch

        self.module, self.args = module, args
        self.backend = "inductor" if backend == "bisector" else backend or options.get("backend") or "inductor"
        self.autocast = bool(options.get("autocast"))
        device = "cuda" if any(t.is_cuda for t in tensors_in(args)) else "cpu"
        self.device = device
        self.only_forward = bool(options.get("only_fwd"))
        self.trains = not self.only_forward and any(
            t.requires_grad for t in list(tensors_in(args)) + list(module.parameters())
        )
        torch._dynamo.reset()

    def scope(self):
        import torch

        return torch.amp.autocast(self.device, enabled=True) if self.autocast else contextlib.nullcontext()

    def call(self, module):
        from torch._dynamo.debug_utils import run_fwd_maybe_bwd

        with self.scope():
            return run_fwd_maybe_bwd(module, cloned(self.args), only_fwd=self.only_forward, disable_clone=True)

    def eager(self):
        return self.call(self.module)

    def compile(self):
        import torch

        self.compiled = torch.compile(self.module, backend=backend_named(self.backend))
        with self.scope():  # compiles on the first call, and with it the backward graph where there is one
            self.first = self.call(self.compiled)

    def run(self):
        return self.call(self.compiled)


COMPILE_ERRORS = ("BackendCompilerFailed", "InductorError", "LoweringException", "CppCompileError", "TorchRuntimeError")


def is_compile_error(problem):
    """Whether an exception of a first call came from compiling: Dynamo's own, or one that a compiler's frame raised."""
    names = {kind.__name__ for kind in type(problem).__mro__}
    if names & set(COMPILE_ERRORS) or type(problem).__module__.startswith("torch._dynamo.exc"):
        return True
    frames = traceback.extract_tb(problem.__traceback__)
    return any("_inductor/compile_fx" in frame.filename or "_inductor/codecache" in frame.filename for frame in frames)


WRAPPERS = ("BackendCompilerFailed", "InductorError", "InternalTorchDynamoError", "LoweringException", "TorchRuntimeError")


def root_of(problem):
    """The exception that a compiler wrapped, and the wrappers' names."""
    wrappers = []
    while True:
        inner = getattr(problem, "inner_exception", None)
        if inner is None and type(problem).__name__ in WRAPPERS:
            inner = problem.__cause__
        if inner is None or len(wrappers) > 8:
            return problem, wrappers
        wrappers.append(type(problem).__name__)
        problem = inner


def message_of(problem):
    """The lines that say what is wrong: of a compiler's output the errors, not its command line."""
    text = str(problem)
    errors = re.findall(r"^.*?: (?:fatal )?error: .*$", text, re.M)
    return "\n".join(dict.fromkeys(re.sub(r"^.*?: (?=(?:fatal )?error: )", "", line) for line in errors)) or text


def names_in(problem):
    """Ops and kernels that an exception's text names: "aten.mm.default", "cpp_fused_add_0"."""
    text = str(problem)
    found = re.findall(r"(?:target: |aten[:.]{1,2}|prims[:.]{1,2}|torch\.ops\.)([\w.:]+)", text)
    found += re.findall(r"\b((?:cpp|triton)_(?:\w+_)?fused_\w+)", text)
    return list(dict.fromkeys(name.strip(".") for name in found))[:8]


def frames_of(problem):
    """Functions that raised it, innermost first, as "torch/_inductor/lowering.py:mm"."""
    frames = []
    for frame in reversed(traceback.extract_tb(problem.__traceback__)):
        parts = frame.filename.replace("\\", "/").split("/")
        at = len(parts) - 1 - parts[::-1].index("torch") if "torch" in parts else len(parts) - 1
        frames.append("%s:%s" % ("/".join(parts[at:]), frame.name))
    return frames[:8]


def failure(phase, problem):
    root, wrappers = root_of(problem)
    if "Cannot re-initialize CUDA in forked subprocess" in str(problem):
        return {"verdict": "untestable", "message": "the worker: CUDA was used before a fork"}
    return {
        "verdict": "fails",
        "phase": phase,
        "exception": type(root).__name__,
        "wrappers": wrappers,
        "message": message_of(root)[:MOST_TEXT],
        "names": names_in(problem),
        "frames": frames_of(root) or frames_of(problem),
    }


class RmseLines(logging.Handler):
    """What same() says of the outputs that differ."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        with contextlib.suppress(Exception):
            text = record.getMessage()
            if "RMSE" in text or "ccuracy" in text or "dtype" in text:
                self.lines.append(text[:400])


@contextlib.contextmanager
def listening():
    handler = RmseLines()
    logger = logging.getLogger("torch._dynamo.utils")
    before = logger.disabled, logger.level
    logger.disabled = False
    logger.addHandler(handler)
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.disabled = before[0]


def accuracy_detail(lines):
    """Numbers of the first line that has them: "RMSE (res-fp64): 0.1, (ref-fp64): 0.0 and shape=torch.Size([3])…"."""
    for line in lines:
        found = re.search(
            r"RMSE \(res-fp64\): ([\d.einfa+-]+), \(ref-fp64\): ([\d.einfa+-]+) and shape=torch\.Size\((.*?)\)"
            r"(?:.*?res\.dtype: torch\.(\w+))?",
            line,
        )
        if found:
            return {
                "rmse_res": float(found[1]),
                "rmse_ref": float(found[2]),
                "shape": found[3],
                "dtype": found[4] or "",
                "line": line,
            }
    return {"line": lines[0] if lines else ""}


def accuracy_failure(graph, strict):
    """same_two_models as the minifiers of PyTorch ask it."""
    from torch._dynamo import config
    from torch._dynamo.debug_utils import same_two_models

    ignore = not strict and bool(getattr(config, "repro_ignore_non_fp", False))
    with listening() as heard:
        forward_only = getattr(graph, "only_forward", True)
        with graph.scope():
            same = same_two_models(graph.module, graph.compiled, graph.args, forward_only, ignore_non_fp=ignore)
    if same:
        return None
    return {"verdict": "fails", "phase": "accuracy", "accuracy": accuracy_detail(heard.lines)}


def has_nan(value):
    return any(t.is_floating_point() and bool(t.isnan().any()) for t in tensors_in(value))


def nan_failure(ref, res):
    if not has_nan(ref) and has_nan(res):
        return {"verdict": "fails", "phase": "nan", "message": "NaN where eager has none"}
    return None


def nondeterminism_failure(graph, first):
    import torch

    torch.manual_seed(0)
    first = graph.run()
    torch.manual_seed(0)
    second = graph.run()
    pairs = zip(tensors_in(first), tensors_in(second))
    for index, (a, b) in enumerate(pairs):
        if a.shape != b.shape or not torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)):
            return {"verdict": "fails", "phase": "nondeterminism", "message": "result %d of two runs differs" % index}
    return None


def expression_failure(text, graph, ref, res):
    import torch

    space = {"mod": graph.module, "args": graph.args, "compiled": graph.compiled, "ref": ref, "res": res, "torch": torch}
    try:
        fails = eval(text, space)
    except Exception as problem:
        raise Untestable("the expression raised %s: %s" % (type(problem).__name__, problem)) from problem
    return {"verdict": "fails", "phase": "expression", "message": text} if fails else None


def check_of(query, options):
    """What to look for: what the user said, else what the candidate's run_repro says."""
    if query["check"] != "auto":
        return query["check"]
    accuracy = options.get("accuracy")
    if accuracy in ("strict_accuracy",):
        return "strict_accuracy"
    return "accuracy" if accuracy in (True, "accuracy") else "exception"


def compare_results(check, graph, ref, res):
    if check in ("accuracy", "strict_accuracy"):
        return accuracy_failure(graph, check == "strict_accuracy")
    if check == "nan":
        return nan_failure(ref, res)
    if check == "nondeterminism":
        return nondeterminism_failure(graph, res)
    if check.startswith("expr:"):
        return expression_failure(check[5:], graph, ref, res)
    return None


def judge(query):
    """The answer to one query. Raises what only this process's end can tell."""
    import torch

    times = {}
    options = runner_options(query["source"])
    check = check_of(query, options)
    try:
        space = run_source(query)
        args = arguments_of(space)
        kind = DynamoGraph if options["level"] == "dynamo" else AotGraph
        backend = query["backend"] or ("inductor" if kind is AotGraph else "")
        torch.manual_seed(0)
        graph = kind(space["mod"], args, options, backend)
        ref = graph.eager()
        synchronize(args)
    except Exception as problem:
        return {"verdict": "untestable", "message": "eager: %s: %s" % (type(problem).__name__, str(problem)[:1000])}
    started = time.monotonic()
    torch.manual_seed(0)
    try:
        graph.compile()
        synchronize(args)
    except Untestable as problem:
        return {"verdict": "untestable", "message": str(problem)}
    except Exception as problem:
        late = kind is DynamoGraph and not is_compile_error(problem)
        return failure("run" if late else "compile", problem)
    times["compile_seconds"] = time.monotonic() - started
    started = time.monotonic()
    torch.manual_seed(0)
    try:
        res = graph.run()
        synchronize(args)
    except Exception as problem:
        return dict(failure("run", problem), **times)
    times["run_seconds"] = time.monotonic() - started
    try:
        found = compare_results(check, graph, ref, res)
    except Untestable as problem:
        return {"verdict": "untestable", "message": str(problem)}
    return dict(found or {"verdict": "passes"}, **times)


def forked(work, seconds):
    """What work() returns, computed in a fork of this process."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        lead_group(0)
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps(work()).encode("utf-8", "replace"))
        os._exit(0)
    lead_group(pid)
    os.close(writing)
    deadline, text = time.monotonic() + seconds, b""
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            piece = pipe.read(1 << 16)
            if not piece:
                break
            text += piece
    end_group(pid)
    os.waitpid(pid, 0)
    try:
        return json.loads(text)
    except ValueError:
        return {"verdict": "fails", "phase": "hang" if time.monotonic() >= deadline else "crash", "message": ""}


def bisect(query):
    """CompilerBisector over forks: which backend is the first to fail, which part of it, at which of its steps. A trial
    that crashes is a failure like any other."""
    from torch._inductor import compiler_bisector

    bisector, trials = compiler_bisector.CompilerBisector, []

    def trial():
        found = judge(dict(query, backend="bisector"))
        return dict(found, steps=[[at, str(text)] for at, text in compiler_bisector.call_counter_debug_info.items()])

    def passes():
        found = forked(trial, query["timeout_each"])
        compiler_bisector.call_counter_debug_info.update({at: text for at, text in found.pop("steps", [])})
        backend, part = bisector.get_backend(), bisector.get_subsystem() or ""
        state = bisector.get_run_state(backend, part) if part else None
        steps = bisector.get_bisect_range(backend, part) if state == "bisect" else None
        trials.append(
            {
                "backend": backend,
                "subsystem": part,
                "state": state or "",
                "steps": (steps[0] + steps[1]) // 2 if steps else -1,
                "same": found["verdict"] == "passes",
                "detail": "%s %s" % (found.get("exception", found.get("phase", "")), found.get("message", "")[:300]),
            }
        )
        return found["verdict"] == "passes"

    whole = forked(lambda: judge(query), query["timeout_each"])
    if whole["verdict"] != "fails":
        return dict(whole, trials=[])
    with contextlib.redirect_stdout(sys.stderr):
        result = bisector.do_bisect(passes)
    found = {"verdict": "fails", "phase": whole.get("phase", ""), "trials": trials}
    if result is not None:
        found["culprit"] = {
            "backend": result.backend,
            "subsystem": result.subsystem or "",
            "step": -1 if result.bisect_number is None else result.bisect_number,
            "info": str(result.debug_info or ""),
        }
    return found


def bare_seconds(query):
    """How long Inductor takes for the candidate when nothing else is done: what a query is measured against."""
    from torch._inductor.compile_fx import compile_fx_inner

    space = run_source(query)
    graph = AotGraph(space["mod"], arguments_of(space), runner_options(query["source"]), "inductor")
    started = time.monotonic()
    compile_fx_inner(graph.module, graph.args)
    return {"verdict": "passes", "bare_seconds": time.monotonic() - started}


def compile_side_by_side(compilers):
    """Several kernels at once where there are cores for it, by threads that wait for compilers. Inductor's pool of
    processes is for Triton, and would begin with an `import torch` of its own."""
    if compilers < 2:
        return
    with contextlib.suppress(Exception):
        from torch._inductor.async_compile import AsyncCompile

        AsyncCompile.use_process_pool = classmethod(lambda cls: False)
        STATE["compile_threads"] = compilers


OPERATIONS = {"judge": judge, "bisect": bisect, "bare": bare_seconds}


def answer_to(query):
    """Never raises, and never lets an answer's text break the protocol."""
    import torch

    torch.set_num_threads(STATE.get("query_threads", 1))
    compile_side_by_side(query.get("compilers", 1))
    started = time.monotonic()
    try:
        found = OPERATIONS[query["op"]](query)
    except MemoryError:
        found = {"verdict": "fails", "phase": "run", "exception": "MemoryError", "message": ""}
    except BaseException as problem:
        text = "".join(traceback.format_exception(type(problem), problem, problem.__traceback__))
        found = {"verdict": "untestable", "message": "the worker: " + text[-1500:]}
    found["seconds"] = time.monotonic() - started
    return found


# Processes.


def silence(path):
    """Standard output and error into a file of this query: neither the protocol nor the job's limit hears of them."""
    null = os.open(os.devnull, os.O_RDONLY)
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(null, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)


def send_line(connection, value):
    data = json.dumps(value, allow_nan=True).encode("utf-8", "replace") + b"\n"
    with contextlib.suppress(OSError):
        connection.setblocking(True)
        connection.sendall(data)


def tail_of(path, size=2000):
    with contextlib.suppress(OSError):
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - size))
            return file.read().decode("utf-8", "replace")
    return ""


def remove(path):
    with contextlib.suppress(OSError):
        os.unlink(path)


def lead_group(pid):
    """Asked on both sides of a fork: whoever comes first, the process can be ended together with what it starts."""
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)


def become_group():
    lead_group(0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Task:
    """One query and the process that works on it."""

    def __init__(self, connection, query, folder, number):
        self.connection, self.query = connection, query
        self.path = os.path.join(folder, "candidate_%d.py" % number)
        self.log = os.path.join(folder, "candidate_%d.log" % number)
        query["path"] = self.path
        self.pid = 0
        self.answers = None  # the end of a pipe that the answer comes through
        self.text = b""
        self.deadline = 0.0
        self.started = 0.0

    def is_small_beside(self, other):
        return SMALL_SHARE * len(self.query["source"]) < len(other.query["source"])

    def fork(self, others):
        reading, writing = os.pipe()
        self.started = time.monotonic()
        self.deadline = self.started + self.query["timeout"]
        pid = os.fork()
        if pid == 0:
            become_group()
            os.close(reading)
            for file in others:
                with contextlib.suppress(OSError):
                    os.close(file)
            silence(self.log)
            if self.query.get("yields"):
                os.nice(YIELDING)
            faulthandler.register(signal.SIGUSR1)  # where it is, should it hang
            gc.set_threshold(GARBAGE_OF_QUERY)
            data = json.dumps(answer_to(self.query)).encode("utf-8", "replace")
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(data)
            os._exit(0)
        lead_group(pid)
        os.close(writing)
        os.set_blocking(reading, False)
        self.pid, self.answers = pid, reading

    def read(self):
        """Whether the pipe has ended."""
        while True:
            try:
                data = os.read(self.answers, 1 << 16)
            except BlockingIOError:
                return False
            if not data:
                return True
            self.text += data

    def finish(self, found):
        found.setdefault("seconds", time.monotonic() - self.started)
        send_line(self.connection, found)
        self.close()

    def close(self):
        for path in (self.path, self.log):
            remove(path)
        if self.answers is not None:
            os.close(self.answers)
        self.connection.close()


def end_group(pid):
    """The process and what it started, compilers too."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "signal %d" % number


def private_bytes(pid):
    """Memory of a process, its share of what it has in common with others."""
    with contextlib.suppress(OSError, ValueError):
        with open("/proc/%d/smaps_rollup" % pid) as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    return 0


class Resident:
    """A process that stays between queries, for graphs on a GPU. It is sent a query as its parent was."""

    def __init__(self, others):
        near, far = socket.socketpair()
        self.known = set(STORAGES)
        self.pid = os.fork()
        if self.pid == 0:
            become_group()
            near.close()
            for file in others:
                with contextlib.suppress(OSError):
                    os.close(file)
            self.serve(far)
        lead_group(self.pid)
        far.close()
        self.near = near
        self.queries = 0
        self.task = None
        self.grown = 0

    @staticmethod
    def serve(far):
        import torch

        settings = []
        for name in ("torch._inductor.config", "torch._dynamo.config", "torch._functorch.config"):
            with contextlib.suppress(Exception):
                module = sys.modules[name]
                settings.append((module, module.get_config_copy() if hasattr(module, "get_config_copy") else None))
        while True:
            query = receive(far, STORAGES)
            if query is None:
                os._exit(0)
            silence(query["log"])
            for module, values in settings:
                with contextlib.suppress(Exception):
                    module.load_config(values)
            fix_config()
            with contextlib.suppress(Exception):
                torch._dynamo.reset()
            send_line(far, answer_to(query))
            gc.collect()
            with contextlib.suppress(Exception):
                torch.cuda.empty_cache()

    def take(self, task):
        self.task, self.queries = task, self.queries + 1
        task.started = time.monotonic()
        task.deadline = task.started + task.query["timeout"]
        task.pid = self.pid
        missing = [name for name in task.query["storages"] if name not in self.known and name in STORAGES]
        head = dict(task.query, log=task.log, sent=[[name, len(STORAGES[name])] for name in missing])
        source = head.pop("source").encode("utf-8")
        head["source_bytes"] = len(source)
        self.known.update(missing)
        self.near.setblocking(True)
        with contextlib.suppress(OSError):
            self.near.sendall(json.dumps(head).encode() + b"\n" + source + b"".join(STORAGES[n] for n in missing))

    def answer(self):
        """None if it died."""
        try:
            line = read_line(self.near)
        except OSError:
            return None
        return json.loads(line) if line else None

    def is_spent(self):
        if self.queries == 1:
            self.grown = private_bytes(self.pid)
        return self.queries >= QUERIES_PER_PROCESS or private_bytes(self.pid) > self.grown + GROWTH_PER_PROCESS

    def end(self):
        end_group(self.pid)
        with contextlib.suppress(OSError):
            os.waitpid(self.pid, 0)
        self.near.close()


# The protocol.


def read_exactly(connection, count):
    data = bytearray()
    while len(data) < count:
        piece = connection.recv(min(count - len(data), 1 << 20))
        if not piece:
            raise OSError("the other end is gone")
        data += piece
    return data


def read_line(connection):
    line = bytearray()
    while True:
        piece = connection.recv(1 << 16, socket.MSG_PEEK)
        if not piece:
            return b""
        end = piece.find(b"\n")
        taken = connection.recv(len(piece) if end < 0 else end + 1)
        line += taken
        if end >= 0:
            return bytes(line)


def receive(connection, storages):
    """A query with its source; storages that came along are kept. None at the end."""
    line = read_line(connection)
    if not line:
        return None
    query = json.loads(line)
    query["source"] = read_exactly(connection, query.pop("source_bytes", 0)).decode("utf-8")
    for name, size in query.pop("sent", []):
        data = read_exactly(connection, size)
        if hashlib.sha1(data).hexdigest() != name:
            raise ValueError("the bytes of %s are others" % name)
        storages[name] = bytes(data)
    return query


class Server:
    def __init__(self, path, jobs, memory):
        self.folder = os.path.dirname(path)
        self.jobs, self.memory = jobs, memory
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        self.waiting, self.working, self.residents = [], [], []
        self.count = 0
        self.is_greeted = False
        self.next_look = 0.0

    def files(self):
        """What a fork must not keep open: the other queries' connections would not end with them."""
        found = [self.listener.fileno()]
        for task in self.waiting + self.working:
            found.append(task.connection.fileno())
            if task.answers is not None:
                found.append(task.answers)
        found += [resident.near.fileno() for resident in self.residents]
        return found

    def start_first(self):
        """The first query is about the whole graph and takes longest: it begins in a fork of a process that is not warm
        yet. What warming writes to disk serves it, too."""
        if STATE["device"] != "cpu":
            return
        began = time.monotonic()
        while not self.working:
            wait = FIRST_QUERY_SECONDS if self.is_greeted else GREETING_SECONDS
            if time.monotonic() - began > wait:
                break
            self.wait()
            self.start_tasks()

    def serve(self):
        while True:
            self.start_tasks()
            self.wait()
            self.look_after()

    def wait(self):
        reading = [self.listener] + [t.answers for t in self.working if t.answers is not None]
        reading += [r.near for r in self.residents if r.task is not None]
        reading += [t.connection for t in self.waiting + self.working]
        ready, _, _ = select.select(reading, [], [], 0.05)
        for file in ready:
            if file is self.listener:
                self.accept()
        for task in list(self.working):
            if task.answers in ready and task.read():
                self.collect(task)
        for resident in list(self.residents):
            if resident.task is not None and resident.near in ready:
                self.collect_resident(resident)
        for task in list(self.waiting + self.working):
            if task.connection in ready:
                self.drop(task)

    def accept(self):
        connection, _ = self.listener.accept()
        try:
            query = receive(connection, STORAGES)
        except (OSError, ValueError, KeyError) as problem:
            send_line(connection, {"verdict": "untestable", "message": "the worker: %s" % problem})
            query = None
        if query is None:
            connection.close()
        elif query["op"] == "hello":
            send_line(connection, STATE)
            connection.close()
            self.is_greeted = True
        else:
            self.count += 1
            self.waiting.append(Task(connection, query, self.folder, self.count))

    def start_tasks(self):
        while self.waiting and len(self.working) < self.jobs:
            task = self.waiting.pop(0)
            if STATE["device"] == "cuda":
                self.start_resident(task)
            else:
                cores = STATE.get("threads", 1) // (len(self.working) + 1)
                task.query["compilers"] = max(1, min(MOST_COMPILERS, cores))
                task.query["yields"] = any(task.is_small_beside(other) for other in self.working)
                task.fork(self.files() + [task.connection.fileno()])
            self.working.append(task)

    def start_resident(self, task):
        free = [resident for resident in self.residents if resident.task is None]
        resident = free[0] if free else Resident(self.files() + [task.connection.fileno()])
        if not free:
            self.residents.append(resident)
        resident.take(task)

    def collect(self, task):
        _, status = os.waitpid(task.pid, 0)
        end_group(task.pid)  # what it left behind
        self.working.remove(task)
        try:
            found = json.loads(task.text)
        except ValueError:
            found = self.death(task, status)
        task.finish(found)

    def death(self, task, status):
        code = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        how = signal_name(code) if code else "exit %d" % os.WEXITSTATUS(status)
        return {"verdict": "fails", "phase": "crash", "exception": how, "message": tail_of(task.log)}

    def collect_resident(self, resident):
        task, found = resident.task, resident.answer()
        resident.task = None
        self.working.remove(task)
        if found is None:
            _, status = os.waitpid(resident.pid, 0)
            found = self.death(task, status)
            resident.near.close()
            self.residents.remove(resident)
        elif resident.is_spent():
            resident.end()
            self.residents.remove(resident)
        task.finish(found)

    def stop(self, task):
        """Ends the process of a task; a resident with it."""
        self.working.remove(task)
        end_group(task.pid)
        with contextlib.suppress(OSError):
            os.waitpid(task.pid, 0)
        for resident in list(self.residents):
            if resident.task is task:
                resident.near.close()
                self.residents.remove(resident)

    def drop(self, task):
        """Nobody waits for the answer any more: a query's connection only becomes readable by being closed."""
        if task in self.working:
            self.stop(task)
        elif task in self.waiting:
            self.waiting.remove(task)
        else:
            return
        task.close()

    def look_after(self):
        now = time.monotonic()
        for task in list(self.working):
            if now > task.deadline:
                self.ask_where(task)
                self.stop(task)
                task.finish({"verdict": "fails", "phase": "hang", "message": tail_of(task.log)})
        if self.memory > 0 and now > self.next_look and self.working:
            self.look_at_memory()
            self.next_look = time.monotonic() + 4 * (time.monotonic() - now) + 0.05

    @staticmethod
    def ask_where(task):
        """Has a query that hangs write its Python frames behind what it printed."""
        if STATE["device"] == "cpu":
            with contextlib.suppress(OSError):
                os.kill(task.pid, signal.SIGUSR1)
                time.sleep(0.1)

    def look_at_memory(self):
        used = {task.pid: private_bytes(task.pid) for task in self.working}
        if sum(used.values()) < self.memory:
            return
        largest = max(self.working, key=lambda task: used[task.pid])
        self.stop(largest)
        largest.finish({"verdict": "fails", "phase": "memory limit", "message": "%d bytes" % used[largest.pid]})


def main():
    path, jobs, memory = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.path.dirname(path))]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = os.path.dirname(path)
    tempfile.tempdir = folder
    keep_apart(folder, sys.argv[4])
    tools = KeptTools(sys.argv[5] if len(sys.argv) > 5 and sys.argv[4] == "cpu" else "", folder)
    timed("kept tools", tools.fetch)
    import_torch(jobs)
    server = Server(path, jobs, memory)
    gc.freeze()
    server.start_first()
    warm_up()
    timed("keeping tools", tools.store)
    gc.collect()
    gc.freeze()  # so that a collection in a fork does not touch, and copy, what all have in common
    server.serve()


if __name__ == "__main__":
    main()
