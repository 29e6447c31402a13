"""Errors of Dynamo."""


class TorchDynamoException(RuntimeError):
    """The base of all."""


class InternalTorchDynamoError(TorchDynamoException):
    """A fault in Dynamo itself."""


class RestartAnalysis(TorchDynamoException):
    """Trace the frame again."""


class SkipFrame(TorchDynamoException):
    """Leave the frame as it is."""


class TorchRuntimeError(TorchDynamoException):
    """An operator failed on the shapes of its inputs."""


class InvalidBackend(TorchDynamoException):
    """A backend of that name does not exist."""

    def __init__(self, name):
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")


class ResetRequired(TorchDynamoException):
    """The backend changed: call reset()."""


class BackendCompilerFailed(TorchDynamoException):
    """The backend raised."""

    def __init__(self, backend_fn=None, inner_exception=None, first_useful_frame=None):
        self.backend_name = getattr(backend_fn, "__name__", str(backend_fn))
        self.inner_exception = inner_exception
        super().__init__(f"backend={self.backend_name!r} raised:\n{type(inner_exception).__name__}: {inner_exception}")


class Unsupported(TorchDynamoException):
    """Something that is not traced."""

    def __init__(self, msg="", gb_type=None, *, case_name=None, **rest):
        super().__init__(msg)
        self.msg = msg
        self.gb_type = gb_type
        self.category = case_name


class UserError(Unsupported):
    """A program that cannot be captured as asked."""

    def __init__(self, error_type=None, msg="", case_name=None):
        super().__init__(msg, case_name=case_name)
        self.error_type = error_type


class RecompileError(TorchDynamoException):
    """A compilation again where none is allowed."""


class RecompileLimitExceeded(Unsupported):
    """Too many compilations of one function."""


class FailOnRecompileLimitHit(TorchDynamoException):
    """Too many compilations of one function, as an error."""


class CondOpArgsMismatchError(TorchDynamoException):
    """The branches of cond do not fit together."""


class UncapturedHigherOrderOpError(TorchDynamoException):
    """An operator that takes functions could not be captured."""


class UserErrorType:
    """Kinds of user errors."""

    DYNAMIC_CONTROL_FLOW = "dynamic control flow"
    ANTI_PATTERN = "anti-pattern"
    STANDARD_LIBRARY = "standard library"
    CONSTRAINT_VIOLATION = "constraint violation"
    DYNAMIC_DIM = "dynamic dim"
    INVALID_INPUT = "invalid input"
    INVALID_OUTPUT = "invalid output"
    UNSUPPORTED_ALIASED_MUTATED_DYNAMIC_INPUTS = "unsupported aliased mutated dynamic inputs"


def unimplemented(*, gb_type="", context="", explanation="", hints=(), **rest):
    """Raise Unsupported."""
    raise Unsupported(f"{gb_type}\n  Explanation: {explanation}", gb_type)
