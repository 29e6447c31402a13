// Python objects as runtime values of the engine, and back.
#pragma once

#include "engine/python/reference.h"
#include "engine/tensor/value.h"

namespace kerf::inline torch_api {

/// None, bool, int, float, str, torch.dtype, device, layout, memory_format, tensors; lists, tuples, torch.Size and ranges
/// as lists; a slice as {"slice", start, stop, step}, `...` as "...". BadInput, naming the type, for anything else.
Result<Value> valueOf(PyObject* object);
/// The other way; lists become tuples.
Ref objectOf(const Value& value);

}  // namespace kerf::inline torch_api
