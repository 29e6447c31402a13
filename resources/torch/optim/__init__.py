"""torch.optim: optimizers."""

from torch import _absent
from . import lr_scheduler, swa_utils  # noqa: F401
from .adadelta import Adadelta  # noqa: F401
from .adafactor import Adafactor, Muon  # noqa: F401
from .adagrad import Adagrad  # noqa: F401
from .adam import Adam, AdamW, NAdam, RAdam  # noqa: F401
from .adamax import Adamax  # noqa: F401
from .asgd import ASGD  # noqa: F401
from .lbfgs import LBFGS  # noqa: F401
from .optimizer import Optimizer  # noqa: F401
from .rmsprop import RMSprop  # noqa: F401
from .rprop import Rprop  # noqa: F401
from .sgd import SGD  # noqa: F401

__getattr__ = _absent.getter(__name__)

