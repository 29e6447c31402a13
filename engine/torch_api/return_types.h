// torch.return_types: the named tuples of ops that give several tensors.
#pragma once

#include "engine/python/reference.h"
#include "engine/tensor/value.h"

namespace kerf::inline torch_api {

/// The object of what eager mode's last call gave: a named tuple where the op names its results, else as objectOf().
Ref resultObject(const Value& result);

}  // namespace kerf::inline torch_api
