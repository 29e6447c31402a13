"""The program kerf as a process that compiles and calls graphs, over memory that both processes see."""
import array
import atexit
import ctypes
import json
import mmap
import os
import shutil
import socket
import struct
import subprocess
import threading

ALIGNMENT = 64
STARTED = 60.0  # seconds for an answer about ops


class KerfError(RuntimeError):
    """What Kerf says of a graph. `node`: the node that it names, or ""."""

    def __init__(self, text, node=""):
        super().__init__(text)
        self.node = node


def program():
    """kerf: what KERF_PROGRAM names, the one in the wheel, or the first on the path."""
    named = os.environ.get("KERF_PROGRAM", "")
    own = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "kerf")
    found = named or (own if os.access(own, os.X_OK) else shutil.which("kerf"))
    if not found:
        raise KerfError("the program kerf is not there: install the wheel of kerf, or name the program by KERF_PROGRAM")
    return found


LOOKED, WAITED = 200_000, 100_000_000  # nanoseconds: looking before sleeping, and until the process is looked after
DONE, STILL_WAITING = 0, -1


def library():
    """What calls graphs without a system call, or None: the wheel's, or what KERF_CALL_LIBRARY names."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for path in (os.environ.get("KERF_CALL_LIBRARY"), os.path.join(folder, "lib", "libkerf_call.so"),
                 os.path.join(os.path.dirname(os.path.realpath(program())), "libkerf_call.so")):
        if path and os.path.exists(path):
            try:
                loaded = ctypes.CDLL(path)
            except OSError:
                continue
            pointer, number = ctypes.c_void_p, ctypes.c_int64
            loaded.kerf_call.argtypes = [pointer, ctypes.c_uint32, pointer, number, pointer, pointer, pointer, number, number]
            loaded.kerf_wait.argtypes = [pointer, number, number]
            loaded.kerf_copy.argtypes = [pointer, number, pointer, pointer, pointer]
            loaded.kerf_copy.restype = None
            return loaded
    return None


class Mailbox:
    """Calls by words in memory that both processes see."""

    BYTES = 4096

    def __init__(self, worker, loaded):
        self.worker, self.loaded = worker, loaded
        self.file = os.memfd_create("kerf-mailbox", os.MFD_CLOEXEC)
        os.ftruncate(self.file, self.BYTES)
        self.map = mmap.mmap(self.file, self.BYTES)
        self.box = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        worker.ask({"mailbox": True}, self.file)

    def call(self, graph, memory, inputs, sources, places, sizes):
        """The status. KerfError where the process died."""
        with self.worker.lock:
            status = self.loaded.kerf_call(self.box, graph, memory, inputs, sources, places, sizes, LOOKED, WAITED)
            while status == STILL_WAITING:
                if self.worker.process.poll() is not None:
                    raise KerfError("kerf is gone: its process has ended with code %s" % self.worker.process.poll())
                status = self.loaded.kerf_wait(self.box, LOOKED, WAITED)
            return status


class Worker:
    """One process of kerf. It ends with this one; after a fork the child starts its own."""

    def __init__(self):
        self.pid, self.lock = os.getpid(), threading.Lock()
        self.freed = []  # graphs that nobody has any more, with their memory: the next question says so
        name = program()
        self.socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        command = [name, "graphs", "--fd", str(other.fileno())]
        try:
            self.process = subprocess.Popen(command, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL)
        except OSError as problem:
            self.socket.close()
            raise KerfError("cannot start %s: %s" % (command[0], problem.strerror))
        finally:
            other.close()
        self.ops = frozenset(self.ask({"ops": True})["ops"])
        loaded = library()
        self.mailbox = Mailbox(self, loaded) if loaded is not None else None
        atexit.register(self.end)

    def ask(self, message, file=None):
        """The answer. KerfError for an error, and where the process died."""
        return json.loads(self.ask_bytes(json.dumps(message).encode(), file))

    def ask_bytes(self, text, file=None):
        with self.lock:
            try:
                while self.freed:
                    graph, memory = self.freed.pop()
                    try:
                        self.exchange(json.dumps({"free": graph}).encode())
                    finally:
                        memory.close()
                answer = self.exchange(text, file)
            except OSError as problem:
                raise KerfError("kerf is gone: %s" % problem)
        if answer.startswith(b'{"error"'):
            told = json.loads(answer)
            raise KerfError(told["error"], told.get("node", ""))
        return answer

    def exchange(self, text, file=None):
        frame = struct.pack("=I", len(text)) + text
        if file is None:
            self.socket.sendall(frame)
        else:
            self.send_with(frame, file)
        return self.read(struct.unpack("=I", self.read(4))[0])

    def send_with(self, frame, file):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))]
        sent = self.socket.sendmsg([frame], rights)
        if sent < len(frame):
            self.socket.sendall(frame[sent:])

    def read(self, count):
        parts = []
        while count:
            part = self.socket.recv(min(count, 1 << 20))
            if not part:
                raise OSError("its process has ended with code %s" % self.process.poll())
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def is_mine(self):
        return self.pid == os.getpid() and self.process.poll() is None

    def end(self):
        if self.pid == os.getpid():
            self.socket.close()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()


_lock = threading.Lock()
_worker = None


def worker():
    """This process's worker, started when it is first needed. KerfError where kerf is missing."""
    global _worker
    with _lock:
        if _worker is None or not _worker.is_mine():
            _worker = Worker()
        return _worker


def dtypes():
    """Those of tensors that travel."""
    import torch

    return (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
            torch.bool, torch.complex64, torch.complex128)


def extent(value):
    """Bytes from the first element to the end of the last."""
    if value.numel() == 0:
        return 0
    return (sum((n - 1) * s for n, s in zip(value.shape, value.stride())) + 1) * value.element_size()


class Memory:
    """Places for tensors in one piece of shared memory."""

    def __init__(self):
        self.bytes, self.map, self.file = 0, None, -1

    def place(self, bytes):
        at = self.bytes
        self.bytes += (bytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        return at

    def open(self):
        self.file = os.memfd_create("kerf", os.MFD_CLOEXEC)
        os.ftruncate(self.file, max(self.bytes, 1))
        self.map = mmap.mmap(self.file, max(self.bytes, 1))
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))

    def told(self):
        """What the worker's message says of it."""
        return {"bytes": self.bytes}

    def close(self):
        """Views of it that are still there keep it mapped."""
        if self.file >= 0:
            os.close(self.file)
        self.file = -1

    def tensor(self, at, like_dtype, sizes, strides):
        """A tensor that looks at the place."""
        import torch

        item = torch.empty(0, dtype=like_dtype).element_size()
        if 0 in sizes:
            return torch.empty_strided(sizes, strides, dtype=like_dtype)
        count = sum((n - 1) * s for n, s in zip(sizes, strides)) + 1
        flat = torch.frombuffer(self.map, dtype=torch.uint8, count=count * item, offset=at).view(like_dtype)
        return torch.as_strided(flat, sizes, strides)


def memory_of(on_device):
    if not on_device:
        return Memory()
    from .device import DeviceMemory

    return DeviceMemory()


class Compiled:
    """One graph in Kerf's machine code, for inputs of the sizes, strides and dtypes of `examples`; `results`: its outputs'."""

    def __init__(self, text, examples, results):
        import torch

        self.on_device = any(isinstance(v, torch.Tensor) and v.device.type == "cuda" for v in (*examples, *results))
        self.worker, self.memory, self.lock = worker(), memory_of(self.on_device), threading.Lock()
        inputs, places = [], []
        for value in examples:
            if isinstance(value, torch.Tensor):
                places.append(self.memory.place(extent(value)))
                inputs.append({"offset": places[-1], "dtype": str(value.dtype), "sizes": list(value.shape), "strides": list(value.stride())})
            else:
                places.append(None)
                inputs.append({"integer": int(value)})
        outputs = [{"offset": self.memory.place(size), "bytes": size} for size in (room(value) for value in results)]
        self.memory.open()
        message = dict(self.memory.told(), compile=text, inputs=inputs, outputs=outputs)
        self.graph = self.worker.ask(message, self.memory.file)["graph"]
        self.question = json.dumps({"call": self.graph}).encode()
        self.places = [(at, self.memory.tensor(place, v.dtype, (extent(v) // v.element_size(),), (1,)))
                       for at, (place, v) in enumerate(zip(places, examples)) if place is not None]
        self.offsets, self.told, self.views = [o["offset"] for o in outputs], None, []
        self.calls = None
        if self.on_device:
            from .device import DeviceCalls

            self.calls = DeviceCalls(self.memory, self.places)
        self.prepare([(at, place, extent(v)) for at, (place, v) in enumerate(zip(places, examples)) if place is not None])

    def prepare(self, given):
        """What a call by the mailbox takes: where inputs go, and, after the first call, where outputs come from."""
        self.tensors, count = [at for at, _, _ in given], len(given)
        self.sources = (ctypes.c_void_p * count)()
        self.input_places = (ctypes.c_int64 * count)(*[place for _, place, _ in given])
        self.input_sizes = (ctypes.c_int64 * count)(*[size for _, _, size in given])
        self.forms = None
        import torch

        self.empty = torch.empty_strided

    def remember(self):
        """The form of outputs, after they were told."""
        outputs = [(at, view) for at, view in zip(self.offsets, self.views) if view is not None]
        self.forms = [None if v is None else (tuple(v.shape), v.stride(), v.dtype) for v in self.views]
        self.targets = (ctypes.c_void_p * len(outputs))()
        self.output_places = (ctypes.c_int64 * len(outputs))(*[at for at, _ in outputs])
        self.output_sizes = (ctypes.c_int64 * len(outputs))(*[extent(view) for _, view in outputs])

    def by_mailbox(self, inputs):
        """The outputs, or None where the socket must be asked."""
        for i, at in enumerate(self.tensors):
            self.sources[i] = inputs[at].data_ptr()
        box = self.worker.mailbox
        if box.call(self.graph, self.memory.address, len(self.tensors), self.sources, self.input_places, self.input_sizes) != DONE:
            return None
        results = [None if form is None else self.empty(form[0], form[1], dtype=form[2]) for form in self.forms]
        for i, result in enumerate([r for r in results if r is not None]):
            self.targets[i] = result.data_ptr()
        box.loaded.kerf_copy(self.memory.address, len(self.targets), self.targets, self.output_places, self.output_sizes)
        return results

    def called_on_device(self, inputs):
        self.calls.give(inputs)
        box = self.worker.mailbox
        known = self.forms is not None and box is not None and not self.worker.freed
        if not known or box.call(self.graph, 0, 0, None, None, None) != DONE:
            self.ask()
        return self.calls.take(self.views)

    def ask(self):
        """A call by the socket, after which the form of the outputs is known."""
        told = self.worker.ask_bytes(self.question)
        if told != self.told:
            self.views, self.told = self.looks(json.loads(told)["outputs"]), told
            self.remember()

    def __call__(self, *inputs):
        with self.lock:
            if self.on_device:
                return self.called_on_device(inputs)
            if self.forms is not None and self.worker.mailbox is not None and not self.worker.freed:
                results = self.by_mailbox(inputs)
                if results is not None:
                    return results
            for at, place in self.places:
                place.copy_(inputs[at].as_strided(place.shape, (1,)))  # all bytes: expanded tensors hold elements several times
            self.ask()
            return [None if view is None else view.clone() for view in self.views]

    def looks(self, outputs):
        import torch

        return [None if o is None else self.memory.tensor(at, getattr(torch, o["dtype"].rpartition(".")[2]), o["sizes"], o["strides"])
                for at, o in zip(self.offsets, outputs)]

    def __del__(self):
        if getattr(self, "graph", None) is not None and self.worker.is_mine():
            self.worker.freed.append((self.graph, self.memory))
        elif getattr(self, "memory", None) is not None:
            self.memory.close()


def room(value):
    """Bytes that an output may take: Kerf's strides may differ, but hold no more than a dense tensor or the given ones."""
    return 0 if value is None else max(extent(value), value.numel() * value.element_size())
