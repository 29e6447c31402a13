// ExprBuilder: adds scalar expressions to a loop kernel; equal expressions are made once.
#pragma once

#include <unordered_map>

#include "engine/loops/loop_ir.h"

namespace kerf::inline loops {

class ExprBuilder {
 public:
  explicit ExprBuilder(LoopKernel& kernel) : m_kernel(kernel) {}

  int load(int buffer, Affine index);
  int loadWhere(int buffer, Affine index, int condition);
  int loadAt(int buffer, Affine index, int offset);
  /// `value` as a constant of `dtype` (float32 for half types).
  int constant(double value, DType dtype);
  int integer(std::int64_t value, DType dtype);
  /// A size as a number: an argument of the kernel where it is an expression.
  int size(SymInt value, DType dtype);
  int index(Affine value) { return add({ExprOp::Index, DType::Int64, {-1, -1, -1}, 0, 0, -1, std::move(value)}); }
  /// To `dtype` by torch's rules; nothing when it has that type already.
  int convert(int value, DType dtype);
  int unary(ExprOp op, int a);
  int binary(ExprOp op, int a, int b);
  int select(int condition, int yes, int no);
  int fma(int a, int b, int c);
  int reduce(ExprOp op, int value);
  /// The value of the iteration before, `initial` in the first one; setNext() tells what it is after this one.
  int carry(int initial);
  void setNext(int carry, int next) { m_kernel.exprs[std::size_t(carry)].integer = next; }
  /// Word 0 to 3 of Philox-4x32-10.
  int philox(int key, int counter, int word);

  DType dtype(int value) const { return m_kernel.exprs[std::size_t(value)].dtype; }
  LoopKernel& kernel() { return m_kernel; }

 private:
  int add(Expr expr);

  LoopKernel& m_kernel;
  std::unordered_multimap<std::size_t, int> m_known;
};

/// The type in which values of `dtype` are computed: float32 for float16 and bfloat16, else itself.
inline DType computeType(DType dtype) {
  return dtype == DType::Float16 || dtype == DType::BFloat16 ? DType::Float32 : dtype;
}
/// Whether generated code can hold this type.
bool isGeneratable(DType dtype);

}  // namespace kerf::inline loops
