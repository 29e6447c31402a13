"""Storages: the memory of tensors, as far as programs look at it."""

import torch


class UntypedStorage:
    """Bytes."""

    @classmethod
    def _of(cls, tensor):
        made = cls.__new__(cls)
        made._tensor = tensor
        return made

    @property
    def device(self):
        """Where it is."""
        return self._tensor.device

    def data_ptr(self):
        """Its address."""
        return self._tensor.data_ptr() - self._tensor.storage_offset() * self._tensor.itemsize

    def nbytes(self):
        """How many bytes the tensor's elements reach over."""
        t = self._tensor
        if t.numel() == 0:
            return 0
        last = t.storage_offset() + sum((n - 1) * s for n, s in zip(t.shape, t.stride()))
        return (last + 1) * t.itemsize

    size = __len__ = nbytes

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self.data_ptr() == other.data_ptr()

    def __hash__(self):
        return hash(self.data_ptr())

    @property
    def _cdata(self):
        return self.data_ptr()


class TypedStorage(UntypedStorage):
    """Elements of one dtype."""

    @property
    def dtype(self):
        """Of the elements."""
        return self._tensor.dtype

    def size(self):
        """How many elements."""
        return self.nbytes() // self._tensor.itemsize

    __len__ = size

    def tolist(self):
        """The elements."""
        return torch.as_strided(self._tensor, (self.size(),), (1,), 0).tolist()

    def __getitem__(self, idx):
        return self.tolist()[idx]

    def untyped(self):
        """The bytes."""
        return UntypedStorage._of(self._tensor)
