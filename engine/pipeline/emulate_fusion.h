// emulateFusion: a graph as Inductor computes it: what a fused kernel holds in registers stays in float32, and is
// rounded to bfloat16 or float16 once, where the kernel stores it. Eager rounds after every op.
//
//   before: mul = mul(x, y); add = add(mul, z)      (bf16, one kernel)
//   after:  x32 = convert(x, f32) …; mul32 = mul(x32, y32); add32 = add(mul32, z32); add = convert(add32, bf16)
#pragma once

#include <span>

#include "engine/capture/common/details.h"
#include "engine/ir/graph_module.h"

namespace kerf::inline pipeline {

struct EmulatedGraph {
  GraphModule module;         ///< same inputs, same outputs
  std::size_t kernels = 0;    ///< fused kernels with nodes in the graph
  std::size_t fused = 0;      ///< calls of the graph that compute inside of one
  std::size_t missing = 0;    ///< names in groups that are no nodes of the graph
  std::size_t unrounded = 0;  ///< calls with a 16-bit result of which some kernel sees the unrounded value
};

/// The rules (Inductor's, with its default emulate_precision_casts = False):
/// - what a generated kernel loads is converted to float32 where it is bfloat16 or float16; its calls compute in
/// float32
///   with no rounding in between, reductions included;
/// - convert_element_type and dtype arguments that name a 16-bit type do not round inside of a kernel;
/// - what is used outside of the kernel, or returned, is rounded once to the type that the graph says. The kernel that
///   stores a value goes on with the unrounded one; every other kernel that loads it sees the rounded one;
/// - a value that several kernels compute for themselves (that none before them stores) is unrounded in each;
/// - kernels that exchange unnamed buffers (the halves of a split reduction) are one;
/// - calls of existing functions, random ops, calls that write into arguments or look at bits, and nodes in no group
///   stay as they are.
/// Nodes whose type is not known stay too. Metas of `module` must be set; those of the result are. BadInput where the
/// groups name no node of the graph.
Result<EmulatedGraph> emulateFusion(const GraphModule& module, std::span<const RecordedFusionGroup> groups);

}  // namespace kerf::inline pipeline
