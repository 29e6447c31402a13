// torch._C._distributed_c10d: what torch.distributed is made of in Python.
#pragma once

#include "engine/python/reference.h"

namespace kerf::inline torch_distributed {

/// A new module; null with an exception set.
PyObject* makeRankModule();

}  // namespace kerf::inline torch_distributed
