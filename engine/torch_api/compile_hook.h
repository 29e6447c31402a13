// The door by which torch.compile asks Dynamo: whoever captures programs sets it; nobody set means eager.
#pragma once

#include <vector>

#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// An extension module that becomes an attribute of torch._C: `_dynamo`.
struct SubModule {
  const char* name;     ///< "_dynamo"
  PyObject* (*make)();  ///< a new module; null with an exception set
};

/// torch/_dynamo (Python) calls torch._C._dynamo.compile(fn, *, backend, dynamic, fullgraph, options, mode) where that
/// module has one. Call before the interpreter starts; applies to children that are forked afterwards.
void addSubModule(SubModule module);
const std::vector<SubModule>& subModules();

}  // namespace kerf::inline torch_api
