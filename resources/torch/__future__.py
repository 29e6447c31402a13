"""Switches of torch.nn.Module."""

_state = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value):
    """Only remembered."""
    _state["overwrite"] = value


def get_overwrite_module_params_on_conversion():
    """What was set."""
    return _state["overwrite"]


def set_swap_module_params_on_conversion(value):
    """Only remembered."""
    _state["swap"] = value


def get_swap_module_params_on_conversion():
    """What was set."""
    return _state["swap"]
