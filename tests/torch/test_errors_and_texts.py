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


def test_indices_that_do_not_fit_are_told_in_pytorchs_words():
    x = torch.ones(2, 3)
    plain = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got float)"
    assert message_of(lambda: x[torch.tensor([7])], IndexError) == "index 7 is out of bounds for dimension 0 with size 2"
    assert message_of(lambda: x[1.5], IndexError) == plain
    assert message_of(lambda: x["a"], TypeError) == "new(): invalid data type 'str'"
    assert message_of(lambda: x[::-1], ValueError) == "step must be greater than zero"
    assert message_of(lambda: x[:, torch.tensor([True, False])], IndexError) == (
        "The shape of the mask [2] at index 0 does not match the shape of the indexed tensor [2, 3] at index 1")
    assert message_of(lambda: torch.dot(torch.ones(2), torch.ones(3))) == (
        "inconsistent tensor size, expected tensor [2] and src [3] to have the same number of elements, but got 2 and 3 "
        "elements respectively")


def test_inference_tensors_cannot_require_gradients_outside():
    with torch.inference_mode():
        x = torch.ones(1).requires_grad_()
    assert message_of(lambda: x.requires_grad_(False).requires_grad_()) == (
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")


def test_modules_that_torch_does_not_have_are_named():
    def load():
        import torch.utils.cpp_extension

    assert message_of(load, ModuleNotFoundError).startswith(
        "No module named 'torch.utils.cpp_extension': Kerf's torch does not have it (test_errors_and_texts.py, line ")
    import functorch.compile

    assert functorch.vmap is torch.func.vmap and functorch.compile.make_boxed_func


def test_a_new_seed_is_the_first_of_its_numbers():
    seed = torch.seed()
    first = torch.rand(2)
    assert torch.initial_seed() == seed and seed >= 0
    torch.manual_seed(seed)
    assert torch.equal(first, torch.rand(2))


def test_temporary_files_are_refused_by_name():
    import tempfile

    assert "the sandbox refuses" in message_of(tempfile.mkdtemp, PermissionError)


def test_common_errors_are_told_in_pytorchs_words():
    one, long = torch.ones, torch.tensor
    for call, kind, text in (
        (lambda: nn.Embedding(5, 3)(long([7])), IndexError, "index out of range in self"),
        (lambda: one(2).index_select(0, long([5])), IndexError, "index out of range in self"),
        (lambda: nn.functional.cross_entropy(one(2, 3), long([0, 5])), IndexError, "Target 5 is out of bounds."),
        (lambda: nn.functional.nll_loss(one(2, 3), long([0, 1, 1])), ValueError,
         "Expected input batch_size (2) to match target batch_size (3)."),
        (lambda: one(2).gather(0, long([5])), RuntimeError, "index 5 is out of bounds for dimension 0 with size 2"),
        (lambda: torch.stack([one(2), one(3)]), RuntimeError,
         "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1"),
        (lambda: one(2, 3).squeeze(5), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 5)"),
        (lambda: torch.cat([]), RuntimeError, "torch.cat(): expected a non-empty list of Tensors"),
        (lambda: torch.arange(0, 5, -1), RuntimeError, "upper bound and lower bound inconsistent with step sign"),
        (lambda: one(2, 2).view(-1, -1), RuntimeError, "only one dimension can be inferred"),
        (lambda: one(3).expand(4, 2), RuntimeError,
         "The expanded size of the tensor (2) must match the existing size (3) at non-singleton dimension 1.  Target sizes: "
         "[4, 2].  Tensor sizes: [3]"),
        (lambda: torch.mm(one(2, 2), one(2, 2).double()), RuntimeError,
         "expected m1 and m2 to have the same dtype, but got: float != double"),
        (lambda: nn.Linear(2, 2)(long([[1, 2]])), RuntimeError,
         "mat1 and mat2 must have the same dtype, but got Long and Float"),
        (lambda: torch.zeros(2, -1), RuntimeError, "Trying to create tensor with negative dimension -1: [2, -1]"),
        (lambda: torch.multinomial(torch.zeros(2), 1), RuntimeError,
         "invalid multinomial distribution (sum of probabilities <= 0)"),
    ):
        assert message_of(call, kind) == text, message_of(call, kind)
