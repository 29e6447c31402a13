"""Gradients: functions of one's own, modes, hooks, checkpoints, transforms."""

import torch
from torch.autograd import Function
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from torch.utils.checkpoint import checkpoint


class Cube(Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return factor * x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return ctx.factor * 3 * x**2 * g, None


def test_functions_with_their_own_backward():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Cube.apply(x, 2.0)
    assert type(y.grad_fn).__name__ == "CubeBackward", y.grad_fn
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 24.0]
    with torch.no_grad():
        assert Cube.apply(x, 1.0).grad_fn is None


def test_second_derivatives_through_a_function():
    x = torch.tensor(2.0, requires_grad=True)
    (g,) = torch.autograd.grad(Cube.apply(x, 1.0), x, create_graph=True)
    (gg,) = torch.autograd.grad(g, x)
    assert g.item() == 12.0 and gg.item() == 12.0


def test_a_wrong_number_of_gradients_is_an_error():
    class Bad(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            return g

    x = torch.ones(1, requires_grad=True)
    try:
        Bad.apply(x, x).backward()
        raise SystemExit("no error")
    except RuntimeError as error:
        assert "returned an incorrect number of gradients (expected 2, got 1)" in str(error), error


def test_grad_modes_nest_and_decorate():
    @torch.no_grad()
    def plain(x):
        return x * 2

    x = torch.ones(1, requires_grad=True)
    assert not plain(x).requires_grad
    with torch.no_grad():
        with torch.enable_grad():
            assert (x * 2).requires_grad
        assert not torch.is_grad_enabled()
    with torch.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert torch.is_grad_enabled()
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()


def test_grad_of_unused_inputs():
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    assert torch.autograd.grad(x * 2, [x, y], allow_unused=True)[1] is None
    made = torch.autograd.grad(x * 2, [x, y], materialize_grads=True)
    assert made[1].item() == 0.0
    try:
        torch.autograd.grad(torch.ones(2, requires_grad=True) * 2, x)
        raise SystemExit("no error")
    except RuntimeError as error:
        assert str(error) == "grad can be implicitly created only for scalar outputs", error


def test_checkpoint_gives_the_same_gradients():
    torch.manual_seed(0)
    layer = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5), torch.nn.Tanh())
    x = torch.randn(4, 3, requires_grad=True)
    torch.manual_seed(1)
    layer(x).sum().backward()
    want, x.grad = x.grad, None
    for reentrant in (False, True):
        torch.manual_seed(1)
        checkpoint(layer, x, use_reentrant=reentrant).sum().backward()
        assert torch.allclose(x.grad, want), reentrant
        x.grad = None


def test_saved_tensors_hooks_pack_and_unpack():
    packed = []

    def pack(t):
        packed.append(t.shape)
        return t * 1

    x = torch.tensor([2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = x * x
    y.backward()
    assert packed and x.grad.item() == 4.0


def test_transforms_of_functions():
    x = torch.tensor([1.0, 2.0])
    f = lambda t: (t**3).sum()  # noqa: E731
    assert grad(f)(x).tolist() == [3.0, 12.0]
    assert grad(lambda t: grad(f)(t).sum())(x).tolist() == [6.0, 12.0]
    assert not grad(f)(x).requires_grad
    assert hessian(f)(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    out, tangent = jvp(torch.exp, (x,), (torch.ones(2),))
    assert torch.allclose(out, tangent)
    out, pull = vjp(lambda a, b: a * b, x, x)
    assert [t.tolist() for t in pull(torch.ones(2))] == [[1.0, 2.0], [1.0, 2.0]]
    assert torch.equal(jacrev(torch.sin)(x), torch.diag(x.cos()))
    assert torch.allclose(jacfwd(torch.sin)(x), jacrev(torch.sin)(x))
    outer = torch.tensor(2.0, requires_grad=True)
    assert grad(lambda t: (t * outer).sum())(x).requires_grad


def test_vmap():
    a, b = torch.randn(4, 3), torch.randn(4, 3)
    assert torch.allclose(vmap(torch.dot)(a, b), (a * b).sum(1), atol=1e-6)
    assert vmap(lambda t: t * 2, in_dims=1, out_dims=1)(a).shape == (4, 3)
    per_example = vmap(grad(lambda w, x: (w * x).sum()), in_dims=(None, 0))(a[0], b)
    assert torch.equal(per_example, b)
    try:
        vmap(torch.dot)(a, torch.randn(5, 3))
        raise SystemExit("no error")
    except ValueError as error:
        assert "Expected all tensors to have the same size in the mapped dimension" in str(error), error


def test_functional_call_uses_other_parameters():
    lin = torch.nn.Linear(2, 1)
    x = torch.ones(1, 2)
    made = functional_call(lin, {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}, x)
    assert made.tolist() == [[2.0]]
    assert lin.weight.requires_grad and not torch.equal(lin.weight, torch.ones(1, 2))


def test_dual_tensors_carry_directions():
    import torch.autograd.forward_ad as forward_ad

    x, direction = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, direction)
        primal, tangent = forward_ad.unpack_dual(dual ** 3)
        assert primal.tolist() == [1.0, 8.0] and tangent.tolist() == [3.0, 120.0]
        assert forward_ad.unpack_dual(dual).tangent.tolist() == [1.0, 10.0]
        assert forward_ad.unpack_dual(x).tangent is None
    assert forward_ad.unpack_dual(x).tangent is None
    try:
        forward_ad.make_dual(x, direction)
    except RuntimeError as error:
        assert "outside of a dual level" in str(error)
    else:
        raise AssertionError("no error")


def test_backward_hooks_run_without_gradients_of_inputs():
    import warnings

    m, seen = torch.nn.Linear(2, 1), []
    m.register_full_backward_hook(lambda module, into, out: seen.append((into, out[0].tolist())))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m(torch.ones(1, 2)).backward()
    assert seen == [((None,), [[1.0]])] and "no inputs require gradients" in str(caught[0].message)


def _refused(text, f, *args):
    try:
        f(*args)
    except RuntimeError as error:
        assert text in str(error), error
    else:
        raise AssertionError("no error")


def test_inference_tensors_are_not_saved_for_backward():
    with torch.inference_mode():
        r = torch.tensor([2.0, 3.0])
    w = torch.ones(2, requires_grad=True)
    text = ("Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd.")
    _refused(text, lambda: r * w)
    _refused(text, lambda: torch.nn.functional.linear(r, w[None]))
    for made, wanted in ((r + w, [1.0, 1.0]), (w - r, [1.0, 1.0]), (r.clone() * w, [2.0, 3.0]), (w * 3 + r.sum(), [3.0, 3.0]),
                         (torch.cat([r, w]), [1.0, 1.0])):
        assert torch.autograd.grad(made.sum(), w)[0].tolist() == wanted

    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, other):
            ctx.save_for_backward(other)
            return x * other

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0], None

    _refused(text, Times.apply, w, r)
    with torch.no_grad():
        assert Times.apply(w, r).tolist() == [2.0, 3.0]


def test_vmapped_functions_do_not_ask_for_numbers():
    item = ("vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
            "please try to rewrite what you're doing with other operations.")
    branch = "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow."
    x, outside = torch.tensor([1.0, -2.0]), torch.tensor(3.0)
    for asks in (lambda t: t.item(), lambda t: t * float(t), lambda t: (t + 1).tolist(), lambda t: [t, t][int(t > 0)]):
        _refused(item, torch.vmap(asks), x)
    _refused(branch, torch.vmap(lambda t: t if t > 0 else -t), x)
    _refused(item, torch.vmap(torch.vmap(lambda t: t.sum().item())), x[None])
    assert torch.vmap(lambda t: t * outside.item())(x).tolist() == [3.0, -6.0]
    assert torch.vmap(lambda t: t * (2 if torch.arange(3).sum() > 1 else 1))(x).tolist() == [2.0, -4.0]
    kept = []
    torch.vmap(lambda t: kept.append(t) or t)(x)
    assert kept[0].item() == 1.0 and x.sum().item() == -1.0
    assert torch.vmap(lambda t: torch.where(t > 0, t, -t))(x).tolist() == [1.0, 2.0]
