"""Backends that run a graph without a compiler."""

from .common import aot_autograd


def eager(gm, fake_tensor_inputs, **kwargs):
    """The graph op by op."""
    return gm.forward


def eager_noexcept(gm, fake_tensor_inputs, **kwargs):
    """eager; what it raises names the graph."""

    def inner(*args):
        try:
            return gm(*args)
        except Exception as error:
            from torch._dynamo.exc import TorchDynamoException

            raise TorchDynamoException("Unexpected exception when running generated GraphModule") from error

    return inner


def boxed_nop(fx_g, example_inputs):
    """The ATen graph op by op; called with a list of its inputs."""

    def run(args):
        return fx_g(*args)

    run._boxed_call = True
    return run


def aot_eager(gm, fake_tensor_inputs, fw_compiler=None, bw_compiler=None, **kwargs):
    """The ATen graphs of AOTAutograd op by op."""
    return aot_autograd(fw_compiler=fw_compiler or boxed_nop, bw_compiler=bw_compiler or boxed_nop)(gm, fake_tensor_inputs)
