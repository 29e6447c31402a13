// Composite ops: ops that are programs over other ops. A program is written once and read three ways, by the OpCaller
// that it runs on: referenceOps() computes, shapeOps() tells shapes, an OpTracer writes the calls into a Graph.
#pragma once

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

/// Calls ops for a program. Tensors may have no storage: a program looks at sizes, strides and dtypes of what it is
/// given and of what it gets, never at data, and makes tensors only by calling ops.
class OpRunner {
 public:
  explicit OpRunner(const OpCaller& ops) : m_ops(ops) {}
  /// Any result; several results come as a list.
  Result<Value> value(const OpTarget& op, const ValueList& args, const KeywordValues& kwargs = {}) const {
    return m_ops.call(op, args, kwargs);
  }
  /// The one tensor that the op gives.
  Result<Tensor> operator()(const OpTarget& op, const ValueList& args, const KeywordValues& kwargs = {}) const;
  /// The first of several results.
  Result<Value> first(const OpTarget& op, const ValueList& args, const KeywordValues& kwargs = {}) const;

 private:
  const OpCaller& m_ops;
};

/// A row that is a program. `base` names the op that rows of one program differ in (BoundArguments::op->base).
constexpr OpRow compositeRow(Composite program, const char* schema, OpTrait traits = OpTrait::None,
                             const char* base = nullptr) {
  return {schema, traits, nullptr, nullptr, nullptr, base, program};
}

/// Calls `op` on values that were bound to another row of the same arguments: positional ones in order, keyword-only
/// ones by name.
Result<Value> callRow(const OpInfo& op, const BoundArguments& args, const OpRunner& run);

/// The row's base op on the same values. Errors start with the name that was called.
Result<Value> callBase(const BoundArguments& args, const OpRunner& run);

/// A second name of an op, or a form of it with a number in the place of a tensor.
constexpr OpRow aliasRow(const char* schema, const char* base, OpTrait traits = OpTrait::None) {
  return compositeRow(callBase, schema, traits, base);
}

/// Runs the steps of a program as plain expressions; the first error ends the program. After an error every step is
/// skipped and gives a tensor without dimensions: look at sizes of arguments only.
class CompositeSteps {
 public:
  explicit CompositeSteps(const OpRunner& run) : m_run(run) {}
  Tensor operator()(const OpTarget& op, const ValueList& args, const KeywordValues& kwargs = {});
  /// The program's result, or the error of the step that failed.
  Result<Value> done(Tensor result);

 private:
  const OpRunner& m_run;
  std::optional<Error> m_error;
};

}  // namespace kerf::inline ops
