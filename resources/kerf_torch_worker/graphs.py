# A candidate: its module and inputs, and how it is compiled and run.
import ast
import contextlib
import copy
import linecache

from .shared import STORAGES
from .start import fix_config


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
