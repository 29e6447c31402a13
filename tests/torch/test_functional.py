"""torch.nn.functional and torch.functional against small formulas."""

import torch
import torch.nn.functional as F


def test_losses():
    x = torch.tensor([[1.0, 2.0, 0.5], [0.1, 0.2, 0.3]])
    y = torch.tensor([1, 2])
    log = x - x.exp().sum(1, keepdim=True).log()
    assert torch.allclose(F.cross_entropy(x, y), -(log[0, 1] + log[1, 2]) / 2)
    assert torch.allclose(F.nll_loss(log, y, reduction="sum"), -(log[0, 1] + log[1, 2]))
    a, b = torch.tensor([1.0, 3.0]), torch.tensor([0.0, 5.0])
    assert F.mse_loss(a, b).item() == 2.5 and F.l1_loss(a, b, reduction="sum").item() == 3.0
    assert F.smooth_l1_loss(a, b).item() == (0.5 + 1.5) / 2
    assert F.huber_loss(a, b, delta=1.0).item() == (0.5 + 1.5) / 2


def test_errors_are_those_of_pytorch():
    try:
        F.binary_cross_entropy(torch.rand(2), torch.rand(3))
        raise SystemExit("no error")
    except ValueError as error:
        assert str(error).startswith("Using a target size (torch.Size([3])) that is different to the input size"), error
    try:
        F.dropout(torch.ones(2), p=2)
        raise SystemExit("no error")
    except ValueError as error:
        assert str(error) == "dropout probability has to be between 0 and 1, but got 2", error


def test_pooling_finds_places():
    x = torch.tensor([[[1.0, 4.0, 2.0, 3.0]]])
    out, where = F.max_pool1d(x, 2, return_indices=True)
    assert out.tolist() == [[[4.0, 3.0]]] and where.tolist() == [[[1, 3]]]
    assert F.max_unpool1d(out, where, 2).tolist() == [[[0.0, 4.0, 0.0, 3.0]]]
    assert F.avg_pool1d(x, 2).tolist() == [[[2.5, 2.5]]]
    assert F.adaptive_avg_pool1d(x, 1).tolist() == [[[2.5]]]
    assert torch.allclose(F.lp_pool1d(x, 2.0, 2), torch.tensor([[[17.0**0.5, 13.0**0.5]]]))


def test_padding_and_resizing():
    x = torch.arange(4.0).reshape(1, 1, 4)
    assert F.pad(x, (1, 1), mode="reflect").tolist() == [[[1.0, 0.0, 1.0, 2.0, 3.0, 2.0]]]
    assert F.interpolate(x, scale_factor=2).tolist() == [[[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]]]
    assert F.interpolate(x, size=2, mode="area").tolist() == [[[0.5, 2.5]]]


def test_attention_with_and_without_weights_agree():
    torch.manual_seed(0)
    mha = torch.nn.MultiheadAttention(4, 2)
    q, k = torch.randn(3, 1, 4), torch.randn(5, 1, 4)
    with_weights, weights = mha(q, k, k)
    without, none = mha(q, k, k, need_weights=False)
    assert none is None and weights.shape == (1, 3, 5)
    assert torch.allclose(weights.sum(-1), torch.ones(1, 3))
    assert torch.allclose(with_weights, without, atol=1e-6)


def test_functions_of_torch():
    assert torch.broadcast_shapes((2, 1), (3,)) == (2, 3)
    assert torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 4)).tolist() == [[3.0] * 4] * 2
    values, counts = torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    assert values.tolist() == [1, 3] and counts.tolist() == [1, 2]
    assert torch.norm(torch.tensor([3.0, 4.0])).item() == 5.0
    assert [t.tolist() for t in torch.split(torch.arange(5), [2, 3])] == [[0, 1], [2, 3, 4]]
    assert torch.tensordot(torch.ones(2, 3), torch.ones(3, 2), 1).tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_recurrent_layers_agree_with_their_cells():
    torch.manual_seed(0)
    layer, cell = torch.nn.LSTM(3, 4), torch.nn.LSTMCell(3, 4)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(cell, name).data.copy_(getattr(layer, name + "_l0").data)
    x = torch.randn(5, 2, 3)
    out, (h, c) = layer(x)
    state = None
    for t in range(5):
        state = cell(x[t], state)
        assert torch.allclose(out[t], state[0], atol=1e-6)
    assert torch.allclose(h[0], state[0], atol=1e-6) and torch.allclose(c[0], state[1], atol=1e-6)


def test_packed_sequences_are_their_examples():
    from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

    torch.manual_seed(0)
    long, short = torch.randn(4, 3), torch.randn(2, 3)
    for layer in (torch.nn.LSTM(3, 5), torch.nn.GRU(3, 5, bidirectional=True), torch.nn.RNN(3, 5)):
        packed, state = layer(pack_sequence([short, long], enforce_sorted=False))
        out, lengths = pad_packed_sequence(packed)
        assert lengths.tolist() == [2, 4]
        alone, last = layer(short)
        assert torch.allclose(out[:2, 0], alone, atol=1e-6)
        first = state[0] if isinstance(state, tuple) else state
        assert torch.allclose(first[:, 0], last[0] if isinstance(last, tuple) else last, atol=1e-6)


def test_flex_attention_is_attention_with_changed_scores():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 2, 4, 8) for _ in range(3))
    causal = create_block_mask(lambda b, h, i, j: i >= j, None, None, 4, 4)
    want = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(flex_attention(q, k, v, block_mask=causal), want, atol=1e-6)
    bias = torch.randn(2)
    made = flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + bias[h] * (i - j))
    places = torch.arange(4)
    wide = bias[:, None, None] * (places[:, None] - places[None, :])
    assert torch.allclose(made, F.scaled_dot_product_attention(q, k, v, attn_mask=wide), atol=1e-5)


def test_functions_around_operators_of_other_arguments():
    rows, inverse = torch.unique(torch.tensor([[2, 1], [1, 2], [2, 1]]), dim=0, return_inverse=True)
    assert rows.tolist() == [[1, 2], [2, 1]] and inverse.tolist() == [1, 0, 1]
    values, counts = torch.unique_consecutive(torch.tensor([1, 1, 2, 1]), return_counts=True)
    assert values.tolist() == [1, 2, 1] and counts.tolist() == [2, 1, 1]
    assert torch.cdist(torch.ones(1, 4), torch.zeros(1, 4)).item() == 2.0
    made = torch.stft(torch.arange(8.0), 4, hop_length=2, window=torch.ones(4), center=False, return_complex=True)
    assert torch.allclose(made.real[0], torch.tensor([6.0, 14.0, 22.0]))


def test_a_view_of_another_element_size_has_another_last_dimension():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.view(torch.int16).tolist() == [[0, 16256, 0, 16384], [0, 16448, 0, 16512]]
    bytes = x[1].view(torch.uint8)
    assert bytes.tolist() == [0, 0, 64, 64, 0, 0, 128, 64] and bytes.view(torch.float32).tolist() == [3.0, 4.0]
    bytes[3] = 65  # the same memory: 3 * 2 ** 2
    assert x.tolist() == [[1.0, 2.0], [12.0, 4.0]]
    for wrong in (lambda: x.t().view(torch.int16), lambda: bytes[:6].view(torch.float32), lambda: x[0, 0].view(torch.int16)):
        try:
            wrong()
        except RuntimeError as error:
            assert "different element sizes" in str(error)
        else:
            raise AssertionError("no error")
