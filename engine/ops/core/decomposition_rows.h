// Rows of decompositions: what may be written in place of an op, and what only one of PyTorch's tables writes.
#pragma once

#include <span>

#include "engine/ops/core/op_facts.h"

namespace kerf::inline ops {

enum class DecompositionTable {
  None,      ///< only what PyTorch's dispatcher itself writes as other ops (CompositeImplicitAutograd)
  Core,      ///< torch._decomp.core_aten_decompositions()
  Inductor,  ///< torch._inductor's select_decomp_table(), for CPU tensors
};
constexpr DecompositionTable lastOf(DecompositionTable) { return DecompositionTable::Inductor; }

/// Another program for an op than its own decomposition, for the calls that `applies` (null: to all) says.
struct TableProgram {
  const char* op;  ///< "aten::silu": every overload; "aten::lerp.Scalar": that one
  Composite program;
  bool (*applies)(const BoundArguments&) = nullptr;
  DecompositionTable from = DecompositionTable::Inductor;  ///< Core: of both tables
};
using TablePrograms = std::span<const TableProgram>;

/// A row of decompositions.
constexpr OpFacts decomposes(const char* op, Composite program) { return {.op = op, .decomposition = program}; }

}  // namespace kerf::inline ops
