// Functions and tensor methods as Dynamo's graphs name them (torch.nn.functional.relu, x.view), on the ATen table.
// Private to engine/ops, but for runsAsPython and tensorOperator.
#pragma once

#include <span>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// One call of a Python-level function; `ops` runs the ATen ops it is made of. Of functions that the table of signatures
/// has, every parameter is in `kwargs` under its own name, defaults too, and `args` holds what "*args" took.
struct PythonCall {
  std::string_view name;  ///< without its module: "relu", "view"
  const ValueList& args;
  const KeywordValues& kwargs;
  const OpCaller& ops;
  std::size_t positional = 0;  ///< how many parameters were given by position

  /// Argument `i` or keyword `key`; null when absent. "self" and "input" are one.
  const Value* find(std::size_t i, std::string_view key) const;
  Value get(std::size_t i, std::string_view key, Value fallback = {}) const;
  /// ShapeMismatch when it is no tensor.
  Result<Tensor> tensor(std::size_t i, std::string_view key) const;
  /// ShapeMismatch when one of these keywords is something else than a tensor or None.
  Result<void> checkTensors(std::initializer_list<std::string_view> keys) const;
  /// A symbolic one is specialised.
  std::int64_t integer(std::size_t i, std::string_view key, std::int64_t fallback) const;
  SymInt symInteger(std::size_t i, std::string_view key, SymInt fallback) const;
  double number(std::size_t i, std::string_view key, double fallback) const;
  bool flag(std::size_t i, std::string_view key, bool fallback) const;  ///< None is false, a number refused
  /// What Python's `if` makes of an argument: numbers other than 0, lists and texts that are not empty. For functions
  /// that PyTorch wrote in Python; its argument parser takes bools alone, as flag() does.
  bool truth(std::size_t i, std::string_view key, bool fallback) const;
  Result<Value> aten(std::string_view op, const ValueList& operands, const KeywordValues& keywords = {}) const;
  Result<Tensor> atenTensor(std::string_view op, const ValueList& operands, const KeywordValues& keywords = {}) const;
};

struct PythonRow {
  std::string_view name;
  Result<Value> (*run)(const PythonCall&);
};
using PythonRows = std::span<const PythonRow>;

// Rows are found by the name in the table of signatures ("torch.nn.functional.unfold"), else by the name alone.
PythonRows nnFunctionRows();       ///< torch.nn.functional where arguments differ from ATen's
PythonRows functionalLossRows();   ///< losses of torch.nn.functional
PythonRows functionalLayerRows();  ///< layers of torch.nn.functional that are small programs
PythonRows resamplingRows();       ///< torch.nn.functional.interpolate, unfold, pools with indices
PythonRows torchFunctionRows();    ///< torch.functional: einsum, meshgrid, norm
PythonRows signalWindowRows();     ///< torch.signal.windows
PythonRows shapeFunctionRows();    ///< broadcast_shapes, unravel_index, dim_order, lu
PythonRows constructorRows();      ///< torch.tensor and its relatives
PythonRows tensorMethodRows();     ///< methods and functions of tensors: to, size, float, contiguous
PythonRows pythonOperatorRows();   ///< operator.* on tensors: indexing, matmul, in-place arithmetic

struct BoundForm;
/// Calls the ATen overload that the form is, with the arguments that PyTorch would record.
Result<Value> callBoundForm(const BoundForm& bound, const ValueList& args, const KeywordValues& kwargs,
                            const OpCaller& ops);
/// An op with its parameters by name, recorded as PyTorch does: positions, and no defaults at the end.
Result<Value> callNamed(const OpInfo& op, const KeywordValues& named, const OpCaller& ops);
/// `out=`: the result is written there, into a tensor of its sizes; what the tensors of `out` are then.
Result<Value> writeInto(std::string_view name, const Value& result, const Value& out, const OpCaller& ops);
/// A function written in Python that is the ATen op of its name; `inplace` is its form with an underscore.
Result<Value> callSameNamed(const PythonCall& call, std::string_view atenName);
/// The default that a signature shows: "None", "'mean'", "1e-05", "torch.preserve_format".
Value defaultValue(std::string_view text);

/// Whether a name that the table has no row of may be one of Python's: "method.view", "torch.conv2d".
bool runsAsPython(std::string_view target);
/// The target for an operator of Python that has a tensor among its operands: "operator.tensor.add" of "operator.add".
/// Empty for others.
std::string tensorOperator(std::string_view target);
/// Runs such a target; none for others.
std::optional<Result<Value>> callTensorOperator(std::string_view target, const ValueList& args, const OpCaller& ops);
/// Runs it: a row above, else the first ATen overload of that name whose schema takes the arguments. UnsupportedOp when
/// there is none.
Result<Value> callPythonLevel(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                              const OpCaller& ops);

/// getattr(x, name): of tensors, and the fields of what ops return.
Result<Value> getAttribute(const PythonCall& call);
/// x.__radd__(y): none where no operator is called so.
std::optional<Result<Value>> callDunder(std::string_view name, const ValueList& args, const OpCaller& ops);
/// range(end), range(begin, end[, step]) as a list.
Result<Value> rangeOf(const ValueList& args);
/// len(x)
Result<Value> lengthOf(const Value& value);
/// self[index] of a tensor, and self[index] = value.
Result<Value> indexTensor(const PythonCall& call, const Tensor& self, const Value& index);

}  // namespace kerf::inline ops
