// kernelBits(): which kernels of a compilation can give the bits that eager mode gives op by op, which need not, and why.
//
//   triton_poi_fused_add_mul_0: mul, add      →      need not: fused multiply-add (mul, add)
//   triton_poi_fused_relu_1: relu             →      can
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/accuracy/kernel_bits.h"
#include "engine/capture/common/details.h"
#include "engine/ir/graph.h"
#include "engine/pipeline/bit_rules.h"

namespace kerf::inline pipeline {

/// Why a kernel's values need not have eager's bits.
enum class BitCause : unsigned char {
  KeptWide,       ///< 16-bit values that are not rounded between the ops
  MultiplyAdd,    ///< a product and a sum that are rounded once
  Sums,           ///< the order of sums
  Functions,      ///< elementary functions of another library
  Products,       ///< another algorithm of a product of matrices, or of a convolution
  JoinedOps,      ///< one op in the place of several of eager mode, which rounds between them
  OtherOp,        ///< eager mode computes all of it in one kernel of its own
  Approximation,  ///< division and square root that are not correctly rounded
  Several,        ///< an op that rounds several times
  Atomics,        ///< atomic additions
  Random,         ///< random numbers
  Unknown,        ///< an op of which nothing is known
};
constexpr BitCause lastOf(BitCause) { return BitCause::Unknown; }
/// "rounding between fused ops", "fused multiply-add", "order of sums", …
std::string_view bitCauseName(BitCause cause);

/// An op of eager mode: "layer_norm (torch.nn.functional.layer_norm)", and whether its result is rounded.
struct EagerOp {
  std::string name;
  bool rounds = true;
};
/// Ops of eager mode that nodes are parts of, or stand for, by node: one of "rsqrt", two of an addmm that a pass made of a
/// product and a sum. A node that has none is an op of eager mode itself.
using EagerOps = std::map<std::string, std::vector<EagerOp>, std::less<>>;

/// One row a group, in their order. `graph` has the nodes that the groups name; a group of no such node is not `known`.
/// `own`: the groups are those of Kerf's compiled side.
std::vector<KernelBits> kernelBits(const Graph& graph, std::span<const RecordedFusionGroup> groups,
                                   const EagerOps& eager = {}, bool own = false);

}  // namespace kerf::inline pipeline
