// A builtin's call as values: what Python's arguments become, what torch's factories add, and what comes back.
#pragma once

#include "engine/ir/op_caller.h"
#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// Whether an operator of a tensor takes the other operand: tensors and numbers.
bool takesOperand(PyObject* object);

/// UnsupportedOp for keywords whose values would be ignored: names of dimensions, layouts that are not strided.
Result<void> refuseKeywords(PyObject* kwargs);

/// torch.get_default_dtype().
DType& defaultDtype();

}  // namespace kerf::inline torch_api
