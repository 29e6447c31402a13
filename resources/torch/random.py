"""The seeds and states of random numbers."""

import contextlib

from torch import _C

default_generator = _C.default_generator


def manual_seed(seed):
    """Seed the default generator and give it back."""
    seed = int(seed)
    from torch import cuda

    cuda._remember_seed(seed)
    return default_generator.manual_seed(seed)


def seed():
    """Seed the default generator with a number that is not chosen, and give the number back."""
    return default_generator.seed()


def initial_seed():
    """The last seed."""
    return default_generator.initial_seed()


def get_rng_state():
    """The state of the default generator as a byte tensor."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Put a state back."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
    """Leave the state of random numbers as it was before the block."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


def thread_safe_generator():
    """The generator of this thread, where a data loader set one: none here."""
    return None
