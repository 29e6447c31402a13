// Composite ops as programs over other rows: written once, they serve as kernel and as shape rule.
#pragma once

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

/// Calls another op: callOp when the program computes, inferShapes when it only asks for shapes.
using OpCall = Result<Value> (*)(std::string_view target, const ValueList& args, const KeywordValues& kwargs);
using OpProgram = Result<Value> (*)(const BoundArguments& args, OpCall call);

template <OpProgram program>
Result<Value> programKernel(const BoundArguments& args) {
  return program(args, [](std::string_view target, const ValueList& values, const KeywordValues& kwargs) {
    return callOp(target, values, kwargs);
  });
}

template <OpProgram program>
Result<Value> programShape(const BoundArguments& args) {
  return program(args, inferShapes);
}

/// A row whose kernel and shape rule are the program.
template <OpProgram program>
constexpr OpRow programRow(const char* schema, OpTrait traits = OpTrait::None) {
  return {schema, traits, programShape<program>, programKernel<program>};
}

/// The first of a call's results.
inline Result<Value> firstOf(Result<Value> results) {
  if (!results) return results;
  return Value(results->list().at(0));
}

OpRows layerOps();
OpRows reshapeOps();
OpRows nameAliasOps();
OpRows contractionOps();
OpRows functionOps();

}  // namespace kerf::inline ops
