import torch
from torch import nn


def message_of(call, kind=RuntimeError):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError("no error")


def test_shapes_that_do_not_fit_are_told_in_pytorchs_words():
    one = torch.ones
    assert message_of(lambda: one(2) + one(3)) == (
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0")
    assert message_of(lambda: one(2, 3) @ one(2, 3)) == "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"
    assert message_of(lambda: nn.Linear(3, 2)(one(2, 4))) == "mat1 and mat2 shapes cannot be multiplied (2x4 and 3x2)"
    assert message_of(lambda: one(2, 3).view(4)) == "shape '[4]' is invalid for input of size 6"
    assert message_of(lambda: one(2, 3).t().view(6)).startswith("view size is not compatible with input tensor's size")
    assert message_of(lambda: torch.cat([one(2, 3), one(3, 2)])) == (
        "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 2 for tensor number 1 in the list.")
    assert message_of(lambda: torch.tensor([1, 2]).mean()).endswith("Got: Long")


def test_wrong_arguments_are_type_errors():
    assert message_of(lambda: torch.relu(), TypeError).startswith("relu() received an invalid combination of arguments")


def test_writing_into_what_a_gradient_needs_is_an_error():
    a = torch.ones(2, requires_grad=True)
    c = (a * a).exp()
    c.mul_(2)
    assert "modified by an inplace operation: [torch.FloatTensor [2]], which is output 0 of" in message_of(
        lambda: c.sum().backward())


def test_writing_into_what_no_gradient_needs_is_none():
    a = torch.ones(2, requires_grad=True)
    b = a + 1
    b.mul_(2)
    c = a.sigmoid_() if False else b.clone().sigmoid_()
    c.sum().backward()
    assert a.grad is not None


def test_named_results_stand_on_lines_of_their_own():
    assert repr(torch.tensor([[1, 2]]).max(1)) == "torch.return_types.max(\nvalues=tensor([2]),\nindices=tensor([1]))"


def test_limits_print_as_pytorch_prints_them():
    assert repr(torch.iinfo(torch.int8)) == "iinfo(min=-128, max=127, dtype=int8)"
    assert repr(torch.finfo(torch.float32)) == (
        "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, smallest_normal=1.17549e-38, "
        "tiny=1.17549e-38, dtype=float32)")


def test_inference_tensors_say_so():
    with torch.inference_mode():
        x = torch.ones(1)
    assert x.is_inference() and not torch.ones(1).is_inference()


def test_one_hot_counts_classes():
    assert torch.nn.functional.one_hot(torch.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_distributions_of_distributions():
    from torch import distributions as d

    made = d.TransformedDistribution(d.Normal(0.0, 1.0), [d.ExpTransform()])
    assert abs(made.log_prob(torch.tensor(1.0)).item() - d.LogNormal(0.0, 1.0).log_prob(torch.tensor(1.0)).item()) < 1e-6
    mixed = d.MixtureSameFamily(d.Categorical(torch.ones(2)), d.Normal(torch.zeros(2), torch.ones(2)))
    assert abs(mixed.log_prob(torch.tensor(0.0)).item() + 0.9189385) < 1e-6


def test_cyclic_rates_cycle_the_momentum():
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1, momentum=0.9)
    torch.optim.lr_scheduler.CyclicLR(optimizer, 0.01, 0.1, step_size_up=2).step()
    assert abs(optimizer.param_groups[0]["momentum"] - 0.85) < 1e-9


def test_forced_notation_keeps_the_width():
    torch.set_printoptions(precision=2, sci_mode=False)
    text = str(torch.tensor([1e-5]))
    torch.set_printoptions(profile="default")
    assert text == "tensor([    0.00])", text


def test_events_and_streams_are_labels():
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    with torch.cuda.stream(torch.cuda.Stream()):
        pass
    assert event.query() and torch.cuda.amp.GradScaler(enabled=False).get_scale() == 1.0


def test_environment_variables_are_the_programs_own():
    import os

    os.environ["TORCH_LOGS"] = "+dynamo"
    assert os.environ["TORCH_LOGS"] == "+dynamo"
