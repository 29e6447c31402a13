// callNnModule: a torch.nn module that is known only by its repr. Private to engine/ops.
#pragma once

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// Builds the module as PyTorch's constructor does (in training mode; weights seeded by `path`) and calls it.
/// UnsupportedOp for reprs that are no Python call and for modules outside the table.
Result<Value> callNnModule(std::string_view path, std::string_view repr, const ValueList& inputs, const OpCaller& ops);

}  // namespace kerf::inline ops
