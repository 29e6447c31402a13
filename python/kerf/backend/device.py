"""Memory of a CUDA device that PyTorch's process and Kerf's both see."""
import ctypes
import threading

from .worker import ALIGNMENT, KerfError

LARGE = 2 << 20  # the driver hands smaller pieces out of one block, which would be shared as a whole
_driver = None
_lock = threading.Lock()


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]


def driver():
    """libcuda, which PyTorch has loaded."""
    global _driver
    with _lock:
        if _driver is None:
            try:
                _driver = ctypes.CDLL("libcuda.so.1")
            except OSError as problem:
                raise KerfError("no CUDA driver: %s" % problem)
        return _driver


def asked(name, *arguments):
    status = getattr(driver(), name)(*arguments)
    if status != 0:
        raise KerfError("%s: CUDA's error %d" % (name, status))


class Bytes:
    """What torch.as_tensor() looks at."""

    def __init__(self, address, count):
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": "|u1", "data": (address, False), "version": 3, "strides": None}


class DeviceMemory:
    """Places for tensors in one allocation on the first device. The same words as worker.Memory."""

    def __init__(self):
        self.bytes, self.address, self.file = 0, 0, None

    def place(self, bytes):
        at = self.bytes
        self.bytes += (bytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        return at

    def open(self):
        import torch

        self.bytes = max(1, (self.bytes + LARGE - 1) // LARGE) * LARGE
        with torch.cuda.device(0):
            torch.cuda.synchronize()  # makes the device's context this thread's
            address, handle = ctypes.c_uint64(), Handle()
            asked("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(self.bytes))
            self.address = address.value
            asked("cuIpcGetMemHandle", ctypes.byref(handle), address)
        self.handle = bytes(handle.bytes).hex()
        self.all = torch.as_tensor(Bytes(self.address, self.bytes), device="cuda:0")

    def told(self):
        """What the worker's message says of it."""
        return {"bytes": self.bytes, "device": {"handle": self.handle}}

    def tensor(self, at, like_dtype, sizes, strides):
        """A tensor that looks at the place."""
        import torch

        if 0 in sizes:
            return torch.empty_strided(sizes, strides, dtype=like_dtype, device="cuda:0")
        count = sum((n - 1) * s for n, s in zip(sizes, strides)) + 1
        item = torch.empty(0, dtype=like_dtype).element_size()
        return torch.as_strided(self.all[at:at + count * item].view(like_dtype), sizes, strides)

    def close(self):
        """After the worker has let go of it, by whatever thread."""
        if not self.address:
            return
        import torch

        address, self.address, self.all = self.address, 0, None
        try:
            with torch.cuda.device(0):
                torch.cuda.synchronize()  # makes the device's context this thread's
                asked("cuMemFree_v2", ctypes.c_uint64(address))
        except (KerfError, RuntimeError):
            pass  # the device is gone, or this is a fork of the process that had it


class DeviceCalls:
    """Copies of one graph's inputs and outputs, ordered after each other on whatever streams they are."""

    def __init__(self, memory, places):
        import torch

        self.memory, self.positions = memory, [at for at, _ in places]
        self.places = [place for _, place in places]
        self.event = torch.cuda.Event()

    def give(self, inputs):
        """Returns when all inputs are there."""
        import torch

        stream = torch.cuda.current_stream(0)
        stream.wait_event(self.event)  # the results of the call before have been read
        flat = [inputs[at].as_strided(place.shape, (1,)) for at, place in zip(self.positions, self.places)]
        if flat:
            torch._foreach_copy_(self.places, flat)
        stream.synchronize()

    def take(self, views):
        """The results, as tensors of their own."""
        import torch

        results = [None if view is None else view.clone() for view in views]
        self.event.record(torch.cuda.current_stream(0))
        return results
