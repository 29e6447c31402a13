from contextlib import AbstractContextManager
from typing import Any, Callable, Sequence

from .recording.recorder import Recording

__version__: str

def check(script: str, *args: str, time: str = "10m", output: str | None = None, python: str = ...) -> dict[str, Any]: ...
def compare(fn: Callable[..., Any], *args: Any, backends: Sequence[str] = ..., backward: bool = False, **options: Any) -> dict[str, dict[str, Any]]: ...
def record(folder: str = "kerf-record", values: str = "none", calls: int = 2) -> AbstractContextManager[Recording]: ...
