"""torch.accelerator: there is none."""


def is_available():
    """Always False."""
    return False


def current_accelerator(check_available=False):
    """None."""
    return None


def device_count():
    """Always 0."""
    return 0


def synchronize(device=None):
    """Nothing runs beside the program."""
