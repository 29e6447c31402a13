"""Modules of settings whose names are fixed, as PyTorch's ConfigModule."""

import copy
import types


class Group:
    """Settings of one subject: `config.triton.cudagraphs`."""

    def __init__(self, **values):
        vars(self).update(values)

    def __setattr__(self, name, value):
        if name not in vars(self):
            raise AttributeError(f"{name} does not exist")
        vars(self)[name] = value


class Settings(types.ModuleType):
    """A module of settings; `_begin` notes which there are, and their first values."""

    def _begin(self):
        vars(self)["_defaults"] = self.get_config_copy()

    def __getattr__(self, name):
        raise AttributeError(f"{self.__name__}.{name} does not exist")

    def __setattr__(self, name, value):
        if not name.startswith("__") and name not in vars(self):
            raise AttributeError(f"{self.__name__}.{name} does not exist")
        super().__setattr__(name, value)

    def get_config_copy(self):
        """The values now, those of groups by dotted names."""
        made = {}
        for name, value in vars(self).items():
            if isinstance(value, Group):
                made.update({f"{name}.{key}": copy.copy(item) for key, item in vars(value).items()})
            elif not name.startswith("__") and name not in ("patch", "_sys", "_patcher", "_Group", "_Settings", "_defaults"):
                made[name] = copy.copy(value)
        return made

    def shallow_copy_dict(self):
        """get_config_copy, whose values are the settings' own."""
        return self.get_config_copy()

    def save_config_portable(self, *, ignore_private_configs=True):
        """The values that another process can read: numbers, truths, texts and containers of them."""
        return {name: value for name, value in self.get_config_copy().items()
                if not callable(value) and not (ignore_private_configs and name.startswith("_"))}

    def load_config(self, values):
        """Put values of get_config_copy back."""
        for name, value in values.items():
            *path, leaf = name.split(".")
            setattr(getattr(self, path[0]) if path else self, leaf, value)

    def get_type(self, name):
        """The type that a setting's value must have; `object` where a setting takes several."""
        value = self._defaults[name]
        return type(value) if isinstance(value, (bool, int, float, str)) else object

    def changed(self):
        """The settings that differ from their first values."""
        return {name: value for name, value in self.get_config_copy().items() if value != self._defaults[name]}
