"""Contexts that are decorators."""

import functools
import inspect


def _wrap_generator(ctx_factory, func):
    """A generator that is in the context while it runs, and out of it while it waits."""

    @functools.wraps(func)
    def generator_context(*args, **kwargs):
        gen = func(*args, **kwargs)
        try:
            with ctx_factory():
                response = gen.send(None)
            while True:
                try:
                    request = yield response
                except GeneratorExit:
                    with ctx_factory():
                        gen.close()
                    raise
                except BaseException as error:
                    with ctx_factory():
                        response = gen.throw(error)
                else:
                    with ctx_factory():
                        response = gen.send(request)
        except StopIteration as e:
            return e.value

    return generator_context


def context_decorator(ctx, func):
    """func, run in a context each time."""
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise RuntimeError(
            f"Passed in {ctx} is both callable and also a valid context manager (has __enter__), making it ambiguous "
            "which interface to use."
        )
    ctx_factory = ctx if callable(ctx) else lambda: ctx
    if inspect.isclass(func):
        raise RuntimeError(
            "Cannot decorate classes; it is ambiguous whether or not only the constructor or all methods should have "
            "the context manager applied."
        )
    if inspect.isgeneratorfunction(func):
        return _wrap_generator(ctx_factory, func)

    @functools.wraps(func)
    def decorate_context(*args, **kwargs):
        with ctx_factory():
            return func(*args, **kwargs)

    return decorate_context


class _DecoratorContextManager:
    """A context that can stand before a function."""

    def __call__(self, orig_func):
        if inspect.isclass(orig_func):
            orig_func.__init__ = self(orig_func.__init__)
            return orig_func
        return context_decorator(self.clone, orig_func)

    def __enter__(self):
        raise NotImplementedError

    def __exit__(self, exc_type, exc_value, traceback):
        raise NotImplementedError

    def clone(self):
        """A new context of the same kind."""
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One that takes no arguments: @ctx works without parentheses."""

    def __new__(cls, orig_func=None):
        if orig_func is None:
            return super().__new__(cls)
        return cls()(orig_func)
