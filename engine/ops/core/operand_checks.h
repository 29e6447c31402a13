// Operand checks: what PyTorch refuses of an op's arguments, beside what the shape rules say of sizes. They run before the
// shape rule and before the kernel, so that every backend refuses the same calls with the same words.
#pragma once

#include <span>
#include <string_view>

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

using OperandCheck = Result<void> (*)(const BoundArguments&);

/// A check for all overloads of ops ("aten::roll aten::div_"), or for single ones ("aten::div.Tensor_mode").
struct OperandRule {
  std::string_view ops;  ///< names with spaces between
  OperandCheck check;
};

/// Dtypes that PyTorch has no kernel for, on CPUs and on GPUs, as bits; `names` without namespace, and for the in-place
/// forms too: "celu frac pow.Tensor_Tensor".
struct RefusedDtypes {
  std::string_view names;
  std::uint32_t dtypes;
};

constexpr std::uint32_t bitOf(DType dtype) { return 1u << std::uint32_t(dtype); }

/// What one file has.
struct OperandTables {
  std::span<const OperandRule> rules = {};
  std::span<const RefusedDtypes> dtypes = {};
};

/// An object of namespace scope, in the file that has the tables.
class OperandChecks {
 public:
  explicit OperandChecks(const OperandTables& tables);
  OperandChecks(const OperandChecks&) = delete;
  OperandChecks& operator=(const OperandChecks&) = delete;

  const OperandTables& tables() const { return m_tables; }
  const OperandChecks* next() const { return m_next; }

 private:
  OperandTables m_tables;
  const OperandChecks* m_next;  ///< the one before it
};

/// Every check that the op of the call has. ShapeMismatch names op and argument.
Result<void> checkOperands(const BoundArguments& args);

// For checks

/// The tensor of that name; null where the overload has no such argument, or it is none.
const Tensor* operandNamed(const BoundArguments& args, std::string_view name);
/// The text of that name; empty where there is none.
std::string textNamed(const BoundArguments& args, std::string_view name);
std::string_view nameOf(DType dtype);

}  // namespace kerf::inline ops
