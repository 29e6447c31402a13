// Tensors out of Python's data, and data out of tensors: torch.tensor(), torch.Tensor(), item(), tolist().
#pragma once

#include "engine/python/reference.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline torch_api {

/// A tensor of numbers in lists; without a dtype int64, bool, the default dtype or complex64, as the numbers are.
Result<Tensor> tensorOfData(PyObject* data, std::optional<DType> dtype);
/// What torch.Tensor(*args) makes.
Result<Tensor> legacyTensor(PyObject* args, PyObject* kwargs);
/// One element as a Python number.
Ref elementObject(const Tensor& tensor, std::int64_t index);
/// Nested lists of a tensor's elements; the number itself where it has no dimensions.
Ref listOf(const Tensor& tensor);

}  // namespace kerf::inline torch_api
