// torch._C: the extension module.
#pragma once

#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// PyInit_torch._C: a new module; null with an exception set.
PyObject* makeTorchModule();

}  // namespace kerf::inline torch_api
