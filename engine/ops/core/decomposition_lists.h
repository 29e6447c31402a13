// The ops that PyTorch 2.11's decomposition tables list, as names of aten: "addcmul" is every overload, "squeeze.dim"
// that one, "_foreach_*" every op that starts so.
#pragma once

#include <span>
#include <string_view>

#include "engine/ops/core/decomposition_rows.h"

namespace kerf::inline ops {

struct DecompositionList {
  DecompositionTable table;
  std::string_view name;                   ///< of the table, for people
  std::span<const std::string_view> ops;   ///< replaced, beside those of the tables before
  std::span<const std::string_view> kept;  ///< under this table alone: of the tables before, and of Kerf's programs
};

/// In the order of the tables.
std::span<const DecompositionList> decompositionLists();
/// Kerf's programs that are kernels of their own to PyTorch: no table replaces them.
std::span<const std::string_view> neverDecomposed();

}  // namespace kerf::inline ops
