// Columns of the op table by name, for `kerf ops` and for the test that holds their counts.
#pragma once

#include <span>
#include <string_view>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// Where an op has a column from.
enum class ColumnSource {
  Missing,
  Own,      ///< its own rule
  Program,  ///< follows from the op's program: run, shaped, lowered, differentiated step by step
  Base,     ///< from the op that it is another form of (in-place and _copy forms, second names)
  Trait,    ///< follows from a trait (pointwise ops shard alike, views cost nothing)
};

struct OpColumn {
  std::string_view name;
  std::string_view description;  ///< one sentence
  ColumnSource (*source)(const OpInfo&);
};

/// kernel, shape, decomposition, lowering, gradient, jvp, flops, sharding.
std::span<const OpColumn> opColumns();
/// Null for unknown names.
const OpColumn* findOpColumn(std::string_view name);
std::span<const ColumnSource> opColumnSources();
/// "own", "program", "base", "trait"; empty for Missing.
std::string_view columnSourceName(ColumnSource source);

}  // namespace kerf::inline ops
