"""The structured log of the compiler (TORCH_TRACE), into the recording's folder."""
import logging


def handler_for(folder):
    """`folder()`: where to, asked when the first record is written. None where this PyTorch has no such log."""
    from torch._logging import _internal

    base = getattr(_internal, "LazyTraceHandler", None)
    if base is None:
        return None

    class Handler(base):
        def emit(self, record):
            if self.stream is None:
                self.root_dir = folder()
            super().emit(record)

    handler = Handler("")
    handler.setFormatter(_internal.TorchLogsFormatter(trace=True))
    handler.setLevel(logging.DEBUG)
    return handler


class Trace:
    """Between begin() and end() records go to the folder, beside where else they went."""

    def __init__(self, folder):
        self.folder, self.handler, self.level = folder, None, None

    def begin(self):
        from torch._logging import _internal

        self.handler = handler_for(self.folder)
        if self.handler is None:
            return False
        self.level = _internal.trace_log.level
        _internal.trace_log.addHandler(self.handler)
        _internal.trace_log.setLevel(logging.DEBUG)
        return True

    def end(self):
        from torch._logging import _internal

        if self.handler is not None:
            _internal.trace_log.removeHandler(self.handler)
            _internal.trace_log.setLevel(self.level)
            self.handler.close()
            self.handler = None
