// torch.finfo and torch.iinfo.
#pragma once

#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// Adds finfo() and iinfo() to torch._C. False with an exception set.
bool addNumberLimits(PyObject* module);

}  // namespace kerf::inline torch_api
