// Readers of the small unions of torch.export's schema: symbolic numbers, tensor metas, devices, plain arguments.
#pragma once

#include "engine/capture/common/json.h"
#include "engine/ir/node.h"

namespace kerf::inline capture::pt2 {

/// {"as_int": 4} or {"as_expr": {"expr_str": "s0", "hint": {"as_int": 4}}}; of SymFloat and SymBool only the text and
/// integer hints are kept.
Result<SymExpr> readSymbol(JsonCursor& json);
Result<Device> readDevice(JsonCursor& json);
Result<DType> readDtype(JsonCursor& json);
/// `layout` receives the schema's number (7: strided).
Result<TensorMeta> readTensorMeta(JsonCursor& json, std::int64_t* layout = nullptr);
/// {"name": "relu"} → "relu".
Result<std::string> readName(JsonCursor& json);

/// Reads the value of an Argument's key that needs no graph: numbers, strings, enums, devices, lists of them. Returns
/// nullopt, with nothing consumed, for keys that name nodes or graphs.
Result<std::optional<Argument>> readPlainArgument(JsonCursor& json, std::string_view key);

}  // namespace kerf::inline capture::pt2
