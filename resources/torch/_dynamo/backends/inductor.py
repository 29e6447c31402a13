"""The backend "inductor" for programs that call it, and torch.compile's options for it."""

import sys


def inductor(*args, **kwargs):
    """See torch._inductor.compile_fx.compile_fx."""
    from torch._inductor.compile_fx import compile_fx

    return compile_fx(*args, **kwargs)


def _type_names(value, known):
    return type(value).__name__, type(known).__name__


class InductorOptions:
    """Settings that torch.compile(mode=..., options=...) gives Inductor. RuntimeError for a mode or a setting that does
    not exist, and for a value of another type."""

    compiler_name = __name__ = "inductor"

    def __init__(self, mode, options, dynamic):
        self.config, self.dynamic = {}, dynamic
        if mode and mode != "default":
            from torch._inductor import list_mode_options

            self._apply(list_mode_options(mode, dynamic))
        self.is_plain = not options
        self._apply(options or {})

    def _apply(self, options):
        from torch._inductor import config

        known = config.get_config_copy()
        for key, value in options.items():
            name = key.replace("-", "_")
            if name not in known:
                raise RuntimeError(f"Unexpected optimization option {key}, known options are {list(known)}")
            if not isinstance(value, config.get_type(name)):
                got, wanted = _type_names(value, known[name])
                raise RuntimeError(f"Unexpected type of attr {key}, got {got} should be {wanted}")
            self.config[name] = value

    def acts(self):
        """Whether graphs must go to compile_fx: there are options, or passes of the program. Asked for each graph, so that
        passes that come after torch.compile() count."""
        if not self.is_plain:
            return True
        if "torch._inductor.config" not in sys.modules:  # nobody set anything
            return False
        from torch._inductor.compile_fx import has_custom_pass

        return has_custom_pass()

    def __eq__(self, other):
        return isinstance(other, InductorOptions) and (self.config, self.dynamic) == (other.config, other.dynamic)

    __hash__ = None

    def __call__(self, model_, inputs_):
        from torch._inductor.compile_fx import compile_fx

        return compile_fx(model_, inputs_, config_patches=self.config)

    def get_compiler_config(self):
        """All settings, with these."""
        from torch._inductor.compile_fx import get_patched_config_dict

        return get_patched_config_dict(config_patches=self.config)


class BackendWithOptions:
    """A backend of the program that gets the mode and the options of torch.compile."""

    def __init__(self, compiler_fn, mode, options):
        self.compiler_fn, self.kwargs = compiler_fn, {}
        self.__name__ = getattr(compiler_fn, "__name__", str(compiler_fn))
        if mode and mode != "default":
            self.kwargs["mode"] = mode
        if options:
            self.kwargs["options"] = options

    def __eq__(self, other):
        return isinstance(other, BackendWithOptions) and (self.compiler_fn, self.kwargs) == (other.compiler_fn, other.kwargs)

    __hash__ = None

    def __call__(self, model_, inputs_):
        return self.compiler_fn(model_, inputs_, **self.kwargs)


def with_options(backend, mode, options, dynamic):
    """What compiles the graphs of torch.compile(backend=..., mode=..., options=...): a name or a function."""
    if isinstance(backend, str) and backend == "inductor":
        return InductorOptions(mode, options, dynamic)
    if isinstance(backend, str) or not (options or (mode and mode != "default")):
        return backend
    return BackendWithOptions(backend, mode, options)
