"""Finding where a backward goes wrong."""

from torch import _C


class set_detect_anomaly:
    """Say whether NaN in a backward raises: from here on, or in the block."""

    def __init__(self, mode, check_nan=True):
        self.prev = _C.is_anomaly_enabled()
        _C.set_anomaly_enabled(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *args):
        _C.set_anomaly_enabled(self.prev, True)


class detect_anomaly:
    """Raise where a backward makes NaN, in the block."""

    def __init__(self, check_nan=True):
        self.check_nan = check_nan

    def __enter__(self):
        self.prev = _C.is_anomaly_enabled()
        _C.set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *args):
        _C.set_anomaly_enabled(self.prev, True)
