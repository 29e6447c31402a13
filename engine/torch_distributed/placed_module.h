// The half of torch._C._distributed_c10d that torch.distributed.tensor is made of.
#pragma once

#include "engine/python/reference.h"

namespace kerf::inline torch_distributed {

/// Adds it. False with an exception set.
bool addPlacedTensors(PyObject* module);

}  // namespace kerf::inline torch_distributed
