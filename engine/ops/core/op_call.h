// BoundArguments: one call after binding to its schema, with typed access by position; and tensors without data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline ops {

/// Values have been checked against the schema: an "int" argument holds an int64, a "Tensor" one a tensor (or, in rows
/// marked Pointwise, a Python number), a "float" one a double, a list argument a list. Optional ones may be none.
struct BoundArguments {
  const OpInfo* op = nullptr;
  ValueList values;

  bool none(std::size_t i) const { return values[i].isNone(); }
  const Tensor& tensor(std::size_t i) const { return values[i].tensor(); }
  /// Null when the argument is none.
  const Tensor* tensorIf(std::size_t i) const { return values[i].as<Tensor>(); }
  std::vector<Tensor> tensors(std::size_t i) const;
  std::int64_t integer(std::size_t i) const;
  std::optional<std::int64_t> integerIf(std::size_t i) const;
  /// The same for shape rules: symbolic ones stay so.
  SymInt symInteger(std::size_t i) const;
  std::optional<SymInt> symIntegerIf(std::size_t i) const;
  SymSizes symSizes(std::size_t i) const;
  /// A Scalar or float as double; bool counts as 0 or 1.
  double number(std::size_t i) const;
  std::optional<double> numberIf(std::size_t i) const;
  bool boolean(std::size_t i) const;
  /// An int list; empty when none.
  Sizes sizes(std::size_t i) const;
  std::optional<DType> dtypeIf(std::size_t i) const;
  std::string text(std::size_t i) const;
  /// Position of the argument of that name; the schema must have one.
  std::size_t position(std::string_view name) const;
  std::string opName() const;
};

/// What mismatch() returns.
std::unexpected<Error> formatMismatch(const BoundArguments& args, fmt::string_view format, fmt::format_args items);

/// ShapeMismatch error that starts with the op's name.
template <class... Args>
[[nodiscard]] std::unexpected<Error> mismatch(const BoundArguments& args, fmt::format_string<Args...> format,
                                              Args&&... items) {
  return formatMismatch(args, format, fmt::make_format_args(items...));
}

/// Tensor without storage.
Tensor metaTensor(DType dtype, SymSizes sizes, SymSizes strides, SymInt offset = 0);
/// Tensor without storage, row-major.
Tensor metaTensor(DType dtype, const SymSizes& sizes);
/// Zero-filled tensor with the meta tensor's sizes, strides and dtype.
Result<Tensor> allocate(const Tensor& meta);
/// The op's shape rule, then allocate(): one output, or all of them.
Result<Tensor> makeOutput(const BoundArguments& args);
Result<std::vector<Tensor>> makeOutputs(const BoundArguments& args);
/// Runs the row's shape rule and checks that the sizes it gives can exist.
Result<Value> runShapeRule(const BoundArguments& args);
/// Binds and runs another op of the table on these values (defaults fill the rest).
Result<Value> callOp(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs = {});
Result<Tensor> callTensorOp(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs = {});

/// Positional and keyword values → one value per schema argument. Errors name op and argument.
Result<BoundArguments> bindArguments(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs);

/// A dimension in [-rank, rank) as one in [0, rank); rank 0 counts as 1. ShapeMismatch otherwise.
Result<std::int64_t> wrapDim(const BoundArguments& args, std::int64_t dim, std::int64_t rank);
/// As wrapDim for several, which must differ.
Result<Sizes> wrapDims(const BoundArguments& args, const Sizes& dims, std::int64_t rank);

/// A tensor as a list item, several as a list Value.
Value tensorList(std::vector<Tensor> tensors);
/// Sizes as a list Value.
Value intList(const SymSizes& values);
/// Whether a value is a Python number, symbolic or not.
bool isNumber(const Value& value);

}  // namespace kerf::inline ops
