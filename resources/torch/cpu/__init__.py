"""torch.cpu."""


def is_available():
    """Always True."""
    return True


def device_count():
    """Always 1."""
    return 1


def current_device():
    """The one device."""
    return "cpu"


def synchronize(device=None):
    """Nothing runs beside the program."""
