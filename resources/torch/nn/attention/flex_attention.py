"""flex_attention: attention whose scores a function changes."""

import torch


def _places(batch, heads, rows, columns, device=None):
    """Numbers of batch, head, query and key, shaped so that they broadcast to the scores."""
    sizes = (batch, heads, rows, columns)
    made = []
    for d, size in enumerate(sizes):
        shape = [1, 1, 1, 1]
        shape[d] = size
        made.append(torch.arange(size, device=device).view(shape))
    return made


class BlockMask:
    """Which keys a query sees: a function of batch, head, query and key."""

    def __init__(self, mask_mod, batch, heads, rows, columns, block_size):
        self.mask_mod = mask_mod
        self.shape = (batch, heads, rows, columns)
        self.BLOCK_SIZE = (block_size, block_size) if isinstance(block_size, int) else tuple(block_size)
        self.seq_lengths = (rows, columns)

    def dense(self, batch, heads, rows, columns, device=None):
        """The mask as a tensor of bools."""
        mask = self.mask_mod(*_places(batch, heads, rows, columns, device))
        return mask.expand(batch, heads, rows, columns)

    def _counts(self):
        """How many of each block's keys its queries see, and how many there are in a block; those past the end are unseen."""
        rows, columns = self.shape[2], self.shape[3]
        step_r, step_c = self.BLOCK_SIZE
        mask = self.dense(*self.shape).to(torch.int64)
        mask = torch.nn.functional.pad(mask, (0, -columns % step_c, 0, -rows % step_r))
        blocks = mask.reshape(*self.shape[:2], mask.size(2) // step_r, step_r, mask.size(3) // step_c, step_c)
        return blocks.sum((3, 5)), step_r * step_c

    def _blocks(self, full):
        """(numbers of blocks by row of blocks, their columns first): those that are seen whole, or those in part."""
        seen, whole = self._counts()
        chosen = (seen == whole if full else (seen > 0) & (seen < whole)).to(torch.int32)
        order = torch.argsort(chosen, dim=-1, descending=True, stable=True)
        return chosen.sum(-1).to(torch.int32), order.to(torch.int32)

    kv_num_blocks = property(lambda self: self._blocks(False)[0])
    kv_indices = property(lambda self: self._blocks(False)[1])
    full_kv_num_blocks = property(lambda self: self._blocks(True)[0])
    full_kv_indices = property(lambda self: self._blocks(True)[1])

    def numel(self):
        """How many pairs of query and key there are, unseen ones too."""
        return self.shape[0] * self.shape[1] * self.shape[2] * self.shape[3]

    def sparsity(self):
        """How much of the pairs lies in blocks that are skipped, in percent."""
        seen, whole = self._counts()
        return 100 * (1 - int((seen > 0).sum()) * whole / self.numel())

    def to_dense(self):
        """The mask as a tensor of 0 and 1, one number for each block."""
        return (self._counts()[0] > 0).to(torch.int32)


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=128, _compile=False):
    """A BlockMask of a function."""
    return BlockMask(mask_mod, B or 1, H or 1, Q_LEN, KV_LEN, BLOCK_SIZE)


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    """The mask of a function as a tensor of bools."""
    return mod_fn(*_places(B or 1, H or 1, Q_LEN, KV_LEN)).expand(B or 1, H or 1, Q_LEN, KV_LEN)


def and_masks(*mask_mods):
    """True where all masks are."""
    def combined(b, h, q_idx, kv_idx):
        made = mask_mods[0](b, h, q_idx, kv_idx)
        for mod in mask_mods[1:]:
            made = made & mod(b, h, q_idx, kv_idx)
        return made

    return combined


def or_masks(*mask_mods):
    """True where a mask is."""
    def combined(b, h, q_idx, kv_idx):
        made = mask_mods[0](b, h, q_idx, kv_idx)
        for mod in mask_mods[1:]:
            made = made | mod(b, h, q_idx, kv_idx)
        return made

    return combined


def noop_mask(batch, head, token_q, token_kv):
    """True everywhere."""
    return torch.ones((), dtype=torch.bool)


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False,
                   kernel_options=None, **unused):
    """softmax(score_mod(query @ key^T * scale)) @ value."""
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if enable_gqa:
        repeat = query.size(1) // key.size(1)
        key, value = key.repeat_interleave(repeat, 1), value.repeat_interleave(repeat, 1)
    scale = query.size(-1) ** -0.5 if scale is None else scale
    scores = (query @ key.transpose(-2, -1)) * scale
    if score_mod is not None:
        scores = score_mod(scores, *_places(*scores.shape, scores.device)).expand(scores.shape)
    if block_mask is not None:
        mask = block_mask.dense(*scores.shape, scores.device)
        scores = torch.where(mask, scores, -float("inf"))
    weights = torch.softmax(scores, -1)
    if block_mask is not None:
        weights = torch.where(mask.any(-1, keepdim=True), weights, 0.0)
    out = weights @ value
    return (out, scores.logsumexp(-1)) if return_lse else out
