// OpProgram: an op written as a short composition of other ops, once for its shape rule and its kernel.
#pragma once

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

/// Runs the ops of a composition either on data or on metas.
struct OpRunner {
  bool metas = false;
  Result<Value> value(std::string_view op, const ValueList& args, const KeywordValues& kwargs = {}) const {
    return metas ? inferShapes(op, args, kwargs) : callOp(op, args, kwargs);
  }
  Result<Tensor> operator()(std::string_view op, const ValueList& args, const KeywordValues& kwargs = {}) const {
    KERF_TRY(const Value result, value(op, args, kwargs));
    if (!result.isTensor()) return fail(ErrorCode::Internal, "{} gave no tensor", op);
    return result.tensor();
  }
};

using OpProgram = Result<Value> (*)(const BoundArguments&, const OpRunner&);

namespace detail {
template <OpProgram program>
Result<Value> programShape(const BoundArguments& args) {
  return program(args, OpRunner{true});
}
template <OpProgram program>
Result<Value> programKernel(const BoundArguments& args) {
  return program(args, OpRunner{false});
}
}  // namespace detail

/// A row whose shape rule and kernel are the same program.
template <OpProgram program>
constexpr OpRow programRow(const char* schema, OpTrait traits = OpTrait::None) {
  return {schema, traits, detail::programShape<program>, detail::programKernel<program>};
}

}  // namespace kerf::inline ops
