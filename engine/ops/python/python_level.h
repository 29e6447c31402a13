// Functions and tensor methods as Dynamo's graphs name them (torch.nn.functional.relu, x.view), on the ATen table.
// Private to engine/ops, but for runsAsPython and tensorOperator.
#pragma once

#include <span>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// One call of a Python-level function; `ops` runs the ATen ops it is made of.
struct PythonCall {
  std::string_view name;  ///< without its module: "relu", "view"
  const ValueList& args;
  const KeywordValues& kwargs;
  const OpCaller& ops;

  /// Argument `i` or keyword `key`; null when absent.
  const Value* find(std::size_t i, std::string_view key) const;
  Value get(std::size_t i, std::string_view key, Value fallback = {}) const;
  /// ShapeMismatch when it is no tensor.
  Result<Tensor> tensor(std::size_t i, std::string_view key) const;
  /// A symbolic one is specialised.
  std::int64_t integer(std::size_t i, std::string_view key, std::int64_t fallback) const;
  SymInt symInteger(std::size_t i, std::string_view key, SymInt fallback) const;
  double number(std::size_t i, std::string_view key, double fallback) const;
  bool flag(std::size_t i, std::string_view key, bool fallback) const;
  Result<Value> aten(std::string_view op, const ValueList& operands, const KeywordValues& keywords = {}) const;
  Result<Tensor> atenTensor(std::string_view op, const ValueList& operands, const KeywordValues& keywords = {}) const;
};

struct PythonRow {
  std::string_view name;
  Result<Value> (*run)(const PythonCall&);
};
using PythonRows = std::span<const PythonRow>;

PythonRows nnFunctionRows();  ///< torch.nn.functional where arguments differ from ATen's
/// A loss of torch.nn.functional; without a function for other names.
PythonRow functionalLossRow(std::string_view name);
PythonRows tensorMethodRows();    ///< methods and functions of tensors: to, size, float, contiguous
PythonRows pythonOperatorRows();  ///< operator.* on tensors: indexing, matmul, in-place arithmetic

/// Whether a name that the table has no row of may be one of Python's: "method.view", "torch.conv2d".
bool runsAsPython(std::string_view target);
/// What an operator of Python is on tensors: "aten.add.Tensor" of "operator.add". Empty for others.
std::string_view tensorOperator(std::string_view target);
/// Runs it: a row above, else the first ATen overload of that name whose schema takes the arguments. UnsupportedOp when
/// there is none.
Result<Value> callPythonLevel(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                              const OpCaller& ops);

/// self[index] of a tensor, and self[index] = value.
Result<Value> indexTensor(const PythonCall& call, const Tensor& self, const Value& index);

}  // namespace kerf::inline ops
