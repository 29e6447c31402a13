"""torch._inductor: compiling graphs of a program with Kerf's own compiler."""

from . import config  # noqa: F401

_MODES = {"default": {}, "reduce-overhead": {"triton.cudagraphs": True},
          "max-autotune-no-cudagraphs": {"max_autotune": True, "coordinate_descent_tuning": True},
          "max-autotune": {"max_autotune": True, "triton.cudagraphs": True, "coordinate_descent_tuning": True}}


def compile(gm, example_inputs, options=None):
    """Compile a GraphModule for inputs like the examples. `options`: settings of torch._inductor.config for this one."""
    from .compile_fx import compile_fx

    return compile_fx(gm, example_inputs, config_patches=options)


def list_mode_options(mode=None, dynamic=None):
    """The options that a mode of torch.compile sets."""
    try:
        return dict(_MODES[mode]) if mode else _MODES
    except KeyError:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}") from None


def list_options():
    """The names of the options that are known."""
    return list(config.get_config_copy())


def cudagraph_mark_step_begin():
    """There are no CUDA graphs."""


def aot_compile(gm, args, kwargs=None, *, options=None):
    """The sandbox has no files."""
    raise PermissionError("the sandbox has no files: torch._inductor.aot_compile is refused; `kerf export` writes code")


def aoti_compile_and_package(exported_program, *args, **kwargs):
    """The sandbox has no files."""
    raise PermissionError(
        "the sandbox has no files: torch._inductor.aoti_compile_and_package is refused; `kerf export` writes code")
