// What a .pt2 for other people's machines may hold: torch.export.load evaluates some of its texts, and calls what its
// nodes name.
//
// model.json, read again as text: no object has a key twice. "target" and "as_operator" are functions of the tables in
// allowed_calls.h, or torch.ops.NS.OP.OVERLOAD. "expr_str", which sympy evaluates, is arithmetic over symbols, plain or
// as srepr writes it. Names (which become Python code when the program is called) have no other characters than names
// and paths have. The specs of pytrees import nothing: no enums, no default factory that is not a builtin type. Each of
// "guards_code" only reads sizes and properties of L, with arithmetic, math's functions, min and max. Fields of the
// program are those of schema 8. Pickles, copied as they lie, hold tensors and plain containers alone, and no member
// that makes torch.load run code.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "engine/capture/audit/allowed_calls.h"

namespace kerf::inline capture::pt2 {

/// BadInput naming key and value for what the rules forbid in model.json.
Result<void> auditProgramJson(std::string_view json, const ExtraCalls& extra);
/// The same for the config of weights or constants: `{"config": {…}}`.
Result<void> auditConfigJson(std::string_view json);

/// Whether these bytes are a torch.save file that can be copied: Kerf's reader knows every name in its pickle, and the
/// archive has no other members than torch.save writes, each once.
bool isPlainTorchFile(std::span<const std::byte> bytes);

/// Fields that a program and its graph_module may have.
bool isProgramField(std::string_view name);

}  // namespace kerf::inline capture::pt2
