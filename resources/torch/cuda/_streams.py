"""Streams, events and devices of a GPU that is not there: everything runs at once, in order."""

import time

import torch


class Stream:
    """A queue of work; nothing waits in it."""

    def __init__(self, device=None, priority=0, **kwargs):
        self.device, self.priority = torch.device("cuda", 0) if device is None else torch.device(device), priority

    def synchronize(self):
        """Nothing to wait for."""

    def wait_stream(self, stream):
        """Nothing to wait for."""

    def wait_event(self, event):
        """Nothing to wait for."""

    def query(self):
        """All work is done."""
        return True

    def record_event(self, event=None):
        """An event that has happened."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class Event:
    """A moment."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        self._at = None

    def record(self, stream=None):
        """Now."""
        self._at = time.perf_counter()

    def wait(self, stream=None):
        """Nothing to wait for."""

    def synchronize(self):
        """Nothing to wait for."""

    def query(self):
        """It has happened."""
        return True

    def elapsed_time(self, end_event):
        """Milliseconds from this event to another."""
        if self._at is None or end_event._at is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return (end_event._at - self._at) * 1000


class device:
    """A context that changes nothing."""

    def __init__(self, device):
        self.idx = device

    def __enter__(self):
        pass

    def __exit__(self, *error):
        return False


device_of = device
_current = Stream()


def current_stream(device=None):
    """The one stream."""
    return _current


default_stream = current_stream


def stream(stream):
    """A context that changes nothing."""
    import contextlib

    return contextlib.nullcontext(stream) if stream is None else stream


def set_stream(stream):
    """Nothing changes."""


def set_device(device):
    """Nothing changes."""
