// What a program finds: torch as a package with its extension module; and the way of its values to the parent.
#pragma once

#include "engine/python/program.h"
#include "engine/tensor/value.h"

namespace kerf::inline torch_api {

ProgramEnvironment torchEnvironment();

/// EncodeAnswer for Python values: numbers, texts, None, tensors, lists and tuples of them.
Result<std::string> encodeObject(void* object);
/// The parent's side of encodeObject(). Tensors are contiguous.
Result<Value> decodeObject(const std::string& bytes);

}  // namespace kerf::inline torch_api
