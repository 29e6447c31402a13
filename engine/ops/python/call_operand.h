// One operand of a call as the argument parser looks at it: what kind of Python object it is; of tensors, as far as it is
// known, dtype and number of dimensions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/ir/argument.h"
#include "engine/tensor/value.h"

namespace kerf::inline ops {

enum class OperandKind : std::uint8_t {
  None,
  Bool,
  Int,
  Float,
  Complex,
  String,
  Dtype,
  Layout,
  Device,
  MemoryFormat,
  Tensor,
  List,
  Slice,
  Ellipsis,
  SymInt,
  SymFloat,
  SymBool,
  Unknown,  ///< a node of which nothing is known: may be anything
};

struct CallOperand {
  OperandKind kind = OperandKind::None;
  std::optional<DType> dtype;                ///< of a tensor
  std::optional<std::int64_t> dim;           ///< of a tensor
  std::optional<std::int64_t> elementCount;  ///< of a tensor
  bool requiresGrad = false;
  std::string text;                ///< of a string
  std::vector<CallOperand> items;  ///< of a list or tuple
};

/// A tensor of which nothing else is known.
CallOperand tensorOperand();
CallOperand operandOf(const Value& value);
/// `nodes` says what a node's result is.
CallOperand operandOf(const Argument& argument, const std::function<CallOperand(NodeId)>& nodes);
/// As PyTorch's messages write its type: "Tensor", "tuple of (int, int)".
std::string typeText(const CallOperand& operand);

}  // namespace kerf::inline ops
