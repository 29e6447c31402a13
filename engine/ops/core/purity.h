// Purity: the one answer to what a node does besides giving a value. By the op table; by name where it has no row.
#pragma once

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

enum class Purity {
  Pure,     ///< same arguments, same result, nothing else happens: may be removed, merged or computed ahead of time
  Impure,   ///< writes memory, draws random numbers (the generator moves on), asserts, prints, changes modes; also
            ///< placeholders and output
  Unknown,  ///< an op without a row, a submodule, a method: it may do anything
};

/// FX's Node.is_impure with three answers.
Purity purityOf(const Node& node);

}  // namespace kerf::inline ops
