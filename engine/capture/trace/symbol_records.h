// What a trace says of symbolic sizes: records of symbols, guards and specialisations, and the texts of compiled guards.
#pragma once

#include "engine/capture/common/details.h"
#include "engine/capture/trace/graph.h"
#include "engine/capture/trace/header.h"

namespace kerf::inline capture::trace {

struct SymbolRecord {
  const TraceHeader& header;
  const std::map<std::int64_t, std::string>& files;  ///< that frames refer to
  int line = 0;
};

/// create_symbol, create_unbacked_symbol, guard_added, guard_added_fast, symbolic_shape_specialization and the guesses
/// of propagate_real_tensors; other kinds are left alone.
void takeSymbolRecord(const SymbolRecord& record, CompileEntry& entry, SymbolHints& symbols);

/// dynamo_guards: a JSON list of {"code": "L['x'].size()[0] <= 4096"}. Sources become the symbols that were traced for
/// them; what then is no expression of symbols is no guard on sizes, and left out.
void takeGuardList(std::string_view rawPayload, int line, CompileEntry& entry);
/// dynamo_cpp_guards_str: lines "| +- LAMBDA_GUARD: 2 <= L['x'].size()[0]  # where".
void takeGuardTree(std::string_view rawPayload, int line, CompileEntry& entry);

}  // namespace kerf::inline capture::trace
