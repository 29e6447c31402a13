"""What a collective or a message gives that is waited for."""


class Work:
    """What a collective gives that was asked for with async_op. It has been done already, or is done by wait()."""

    def __init__(self, finish=None, result=None):
        self._finish = finish
        self._result = result if result is not None else []

    def wait(self, timeout=None):
        """True when it is done."""
        finish, self._finish = self._finish, None
        if finish is not None:
            finish()
        return True

    def is_completed(self):
        return self._finish is None

    def is_success(self):
        return self._finish is None

    def exception(self):
        return None

    def result(self):
        return self._result

    def get_future(self):
        self.wait()
        return _Future(self._result)


class _Future:
    """A finished result."""

    def __init__(self, value):
        self._value = value

    def wait(self):
        return self._value

    def value(self):
        return self._value

    def done(self):
        return True

    def then(self, callback):
        return _Future(callback(self))


def _done(async_op, result=None):
    return Work(result=result) if async_op else None


class GradBucket:
    """Gradients that a hook of DistributedDataParallel reduces: here one for each parameter."""

    def __init__(self, parameter, place, last):
        self._parameter, self._place, self._last = parameter, place, last

    def index(self):
        """Place of the bucket."""
        return self._place

    def is_last(self):
        """Whether no other follows."""
        return self._last

    def buffer(self):
        """The gradients, one behind the other."""
        return self._parameter.grad.detach().view(-1)

    def gradients(self):
        """The gradients."""
        return [self._parameter.grad]

    def parameters(self):
        """Whose they are."""
        return [self._parameter]

    def set_buffer(self, buffer):
        """Other gradients."""
        self._parameter.grad.detach().copy_(buffer.view_as(self._parameter))
