// The partitioner's classes of ops: what fuses, what may be computed again in the backward graph, what is too heavy.
#pragma once

#include <cstdint>

#include "engine/ir/node.h"

namespace kerf::inline partition {

/// Bit set; formats A.6, torch/_functorch/partitioners.py of PyTorch 2.11 (get_default_op_list). All overloads of an op
/// are of one class.
enum class OpClass : std::uint8_t {
  None = 0,
  Recomputable = 1u << 0,  ///< on the allow-list: cheap enough to compute again
  Random = 1u << 1,        ///< draws random numbers
  View = 1u << 2,          ///< of the views that the partitioner knows: never banned
  Heavy = 1u << 3,         ///< compute-intensive: GEMM, convolution, attention
  Concat = 1u << 4,        ///< memory fusion: anything fuses into it, it fuses into nothing
  Collective = 1u << 5,    ///< never computed again, whatever the budget
  Getitem = 1u << 6,       ///< element of a tuple: never banned
  Lift = 1u << 7,          ///< copy of a constant: never banned
};
constexpr OpClass operator|(OpClass a, OpClass b) { return OpClass(std::uint8_t(a) | std::uint8_t(b)); }
constexpr bool has(OpClass set, OpClass one) { return (std::uint8_t(set) & std::uint8_t(one)) != 0; }

/// Of a call_function node; None for others.
OpClass opClassOf(const Node& node);
/// Whether Inductor fuses the op with its neighbours.
constexpr bool isFusibleOp(OpClass set) { return has(set, OpClass::Recomputable | OpClass::Random); }

/// "aten.add" of a call of aten.add.Tensor; other targets as opName() has them.
std::string_view packetName(const Node& node);

}  // namespace kerf::inline partition
