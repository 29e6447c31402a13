import torch
from torch.library import opcheck


def _op(name, mutates=(), fake=True, backward=True, wrong_fake=False):
    @torch.library.custom_op(f"checked::{name}", mutates_args=mutates)
    def twice(x: torch.Tensor, scale: float) -> torch.Tensor:
        return x * 2 * scale

    if fake:
        twice.register_fake(lambda x, scale: torch.empty(x.shape + (1,) if wrong_fake else x.shape))
    if backward:
        twice.register_autograd(lambda ctx, grad: (grad * 2 * ctx.scale, None),
                                setup_context=lambda ctx, inputs, output: setattr(ctx, "scale", inputs[1]))
    return twice


def _failed(op, *args):
    outcome = opcheck(op, args, raise_exception=False)
    return [name for name, result in outcome.items() if result != "SUCCESS"]


def test_opcheck_passes_what_is_right():
    x = torch.ones(3, requires_grad=True)
    outcome = opcheck(_op("right"), (x, 3.0))
    assert list(outcome) == ["test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]
    assert set(outcome.values()) == {"SUCCESS"} and x.grad is None
    assert opcheck(_op("named"), (x,), {"scale": 2.0}, test_utils="test_schema") == {"test_schema": "SUCCESS"}


def test_opcheck_finds_what_is_wrong():
    x = torch.ones(3)
    assert "test_faketensor" in _failed(_op("no_fake", fake=False), x, 1.0)
    assert "test_faketensor" in _failed(_op("wrong_fake", wrong_fake=True), x, 1.0)

    @torch.library.custom_op("checked::writes", mutates_args=())
    def writes(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x.clone()

    @torch.library.custom_op("checked::gives", mutates_args=())
    def gives(x: torch.Tensor) -> torch.Tensor:
        return x

    assert _failed(writes, x)[0] == "test_schema" and x.tolist() == [1.0, 1.0, 1.0]
    assert _failed(gives, x)[0] == "test_schema"
    try:
        opcheck(writes, (x,))
    except Exception as error:
        assert type(error).__name__ == "OpCheckError" and "test_schema failed with Argument x is not defined" in str(error)
    else:
        raise AssertionError("no error")


def test_block_masks_tell_their_blocks():
    from torch.nn.attention.flex_attention import create_block_mask

    causal = create_block_mask(lambda b, h, q, k: q >= k, None, None, 8, 8, BLOCK_SIZE=2)
    assert causal.sparsity() == 37.5 and causal.numel() == 64
    assert causal.kv_num_blocks.tolist() == [[[1, 1, 1, 1]]] and causal.full_kv_num_blocks.tolist() == [[[0, 1, 2, 3]]]
    assert causal.kv_indices[0, 0].tolist() == [[0, 1, 2, 3], [1, 0, 2, 3], [2, 0, 1, 3], [3, 0, 1, 2]]
    assert causal.to_dense()[0, 0].tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    uneven = create_block_mask(lambda b, h, q, k: q >= 0, 1, 2, 3, 5, BLOCK_SIZE=(2, 4))
    assert uneven.to_dense().shape == (1, 2, 2, 2)
    assert uneven.full_kv_num_blocks.tolist() == [[[1, 0], [1, 0]]] and uneven.kv_num_blocks.tolist() == [[[1, 2], [1, 2]]]
