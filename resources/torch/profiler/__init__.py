"""torch.profiler: names for regions; nothing is measured, and its tables are empty."""

import enum

from torch import _absent
from torch.autograd.profiler import record_function  # noqa: F401


class ProfilerActivity(enum.Enum):
    """What a profiler would watch."""

    CPU = 0
    CUDA = 1
    XPU = 2


class ProfilerAction(enum.Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class _Averages(list):
    """No rows."""

    def table(self, sort_by=None, row_limit=100, **options):
        """A table without rows."""
        return "Kerf's sandbox measures nothing"

    def total_average(self):
        """No rows, no average."""
        return None


class profile:
    """A profiler that records nothing."""

    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
                 with_stack=False, with_flops=False, with_modules=False, **options):
        self.on_trace_ready, self.step_num = on_trace_ready, 0

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()

    def start(self):
        """Begins."""

    def stop(self):
        """Ends."""

    def step(self):
        """The next step."""
        self.step_num += 1

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        """No rows."""
        return _Averages()

    def events(self):
        """No events."""
        return _Averages()

    def export_chrome_trace(self, path):
        """The sandbox has no files."""
        raise PermissionError("the sandbox has no files: export_chrome_trace is refused")


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, **options):
    """What a profiler would do by step."""

    def action(step):
        step -= skip_first
        length = wait + warmup + active
        if step < 0 or repeat and step >= repeat * length:
            return ProfilerAction.NONE
        at = step % length
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == length - 1 else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """Nothing is written."""
    return lambda prof: None


def supported_activities():
    """The CPU."""
    return {ProfilerActivity.CPU}

__getattr__ = _absent.getter(__name__)

