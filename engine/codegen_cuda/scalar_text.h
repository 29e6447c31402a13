// ScalarText: one scalar operation of loop IR as a CUDA C++ expression.
//
//   Maximum of float32 v1, v2      →   kerf_max(v1, v2)
//   Convert of float16 v3          →   kerf_from_half(v3)
#pragma once

#include <string>
#include <string_view>

#include "engine/loops/loop_ir.h"

namespace kerf::inline codegen_cuda {

/// "float", "long long"; 16-bit floats are their bits ("unsigned short"), Bool is "unsigned char" in memory.
std::string_view memoryType(DType dtype);
/// The same, but "bool" for Bool.
std::string_view registerType(DType dtype);

/// float16 and bfloat16.
bool isHalfType(DType dtype);
/// A literal of exactly this value, NaN and infinities too.
std::string constantText(const Expr& e);
/// As torch converts on x86: truncation of what does not fit gives the lowest value; floats round to nearest even.
std::string convertText(const std::string& value, DType from, DType to);
/// `dtype` is that of the operands. Empty for an operation that has no text.
std::string unaryText(ExprOp op, const std::string& a, DType dtype);
std::string binaryText(ExprOp op, const std::string& a, const std::string& b, DType dtype);
/// Two values of a reduction as one.
std::string combineText(const Expr& reduction, const std::string& a, const std::string& b);
/// Where a reduction begins.
std::string identityText(const Expr& reduction);

/// Functions that the texts above call, for the top of every source.
std::string_view preamble();

}  // namespace kerf::inline codegen_cuda
