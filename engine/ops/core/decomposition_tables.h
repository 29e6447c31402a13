// Decomposition tables: which ops PyTorch 2.11 replaces by others while it traces (torch._decomp and
// torch._inductor.decomposition).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/ops/core/decomposition_rows.h"
#include "engine/ops/core/op_tracer.h"

namespace kerf::inline ops {

/// "none", "core", "inductor".
std::string_view decompositionTableName(DecompositionTable table);
/// None for other texts.
std::optional<DecompositionTable> parseDecompositionTable(std::string_view text);

/// What a trace replaces under a table.
Decomposes decomposesBy(DecompositionTable table);

/// The programs of every file, file by file.
std::vector<TablePrograms> tableProgramTables();

}  // namespace kerf::inline ops
