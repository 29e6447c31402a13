// Autograd's functions of torch._C.
#pragma once

#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// False with an exception set.
bool addAutograd(PyObject* module);

}  // namespace kerf::inline torch_api
