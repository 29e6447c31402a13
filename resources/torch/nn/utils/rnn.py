"""Sequences of different lengths as one tensor."""

from collections import namedtuple

import torch


class PackedSequence(namedtuple("PackedSequence_", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])):
    """The steps of all sequences behind each other, without padding."""

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if isinstance(data, (list, tuple)) and batch_sizes is None:
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """The sequence in another dtype or on another device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    @property
    def is_cuda(self):
        """Whether the data has the label cuda."""
        return self.data.is_cuda


def invert_permutation(permutation):
    """The permutation that undoes another."""
    if permutation is None:
        return None
    made = torch.empty_like(permutation)
    made.scatter_(0, permutation, torch.arange(0, permutation.numel(), device=permutation.device))
    return made


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """A padded tensor as a packed sequence."""
    lengths = lengths if isinstance(lengths, torch.Tensor) else torch.as_tensor(lengths, dtype=torch.int64)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = torch.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    steps = input.transpose(0, 1) if batch_first else input
    counts = lengths.tolist()
    if any(c <= 0 for c in counts):
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any(a < b for a, b in zip(counts, counts[1:])):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do "
            "not need ONNX exportability."
        )
    sizes = [sum(1 for c in counts if c > t) for t in range(counts[0])]
    data = torch.cat([steps[t, :n] for t, n in enumerate(sizes)])
    return PackedSequence(data, torch.tensor(sizes, dtype=torch.int64), sorted_indices, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """A packed sequence as a padded tensor, and the lengths."""
    sizes = sequence.batch_sizes.tolist()
    length = len(sizes)
    if total_length is not None:
        if total_length < length:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {length}"
            )
        length = total_length
    rest = sequence.data.shape[1:]
    rows = []
    for part, n in zip(torch.split(sequence.data, sizes), sizes):
        if n < sizes[0]:
            part = torch.cat([part, part.new_full((sizes[0] - n, *rest), padding_value)])
        rows.append(part)
    rows += [sequence.data.new_full((sizes[0], *rest), padding_value)] * (length - len(sizes))
    padded = torch.stack(rows)
    lengths = torch.tensor([sum(1 for n in sizes if n > i) for i in range(sizes[0])], dtype=torch.int64)
    if batch_first:
        padded = padded.transpose(0, 1)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return padded, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Tensors of different lengths as one padded tensor."""
    sequences = sequences.unbind(0) if isinstance(sequences, torch.Tensor) else list(sequences)
    length = max(s.size(0) for s in sequences)
    rows = []
    for s in sequences:
        fill = s.new_full((length - s.size(0), *s.shape[1:]), padding_value)
        rows.append(torch.cat([s, fill] if padding_side == "right" else [fill, s]))
    return torch.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The tensors of a padded one."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(rows, lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    """Tensors of different lengths as a packed sequence."""
    lengths = torch.as_tensor([v.size(0) for v in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The tensors of a packed sequence."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
