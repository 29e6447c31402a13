// torch.return_types: the named tuples of ops that give several tensors.
#pragma once

#include <string>
#include <vector>

#include "engine/python/reference.h"
#include "engine/tensor/value.h"

namespace kerf::inline torch_api {

/// The object of what eager mode's last call gave: a named tuple where the op names its results, else as objectOf().
Ref resultObject(const Value& result);

/// torch.return_types.NAME with these fields, the same for every caller; null with an exception set.
PyTypeObject* returnType(const std::string& name, const std::vector<std::string>& fields);

}  // namespace kerf::inline torch_api
