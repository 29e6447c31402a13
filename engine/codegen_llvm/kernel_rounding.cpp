// Where a bfloat16 value is rounded without a look for NaN. Rounding adds at most half of the last place, which carries
// a NaN's bits into its sign only if there are bits below that place. What comes from bfloat16 by arithmetic has none
// there, so that a NaN stays one; the quiet NaN that rounding gives is put in its place when it is stored.
#include <algorithm>
#include <cmath>

#include "engine/codegen_llvm/kernel_emitter.h"
#include "engine/codegen_llvm/target.h"

namespace kerf::inline codegen_llvm {

namespace {

/// Operations that hand on a NaN of one of their operands, or make the processor's own.
constexpr ExprOp handsOnNan[] = {ExprOp::Neg,       ExprOp::Abs,        ExprOp::Sqrt,      ExprOp::Floor,
                                 ExprOp::Ceil,      ExprOp::Trunc,      ExprOp::RoundEven, ExprOp::Add,
                                 ExprOp::Sub,       ExprOp::Mul,        ExprOp::Div,       ExprOp::Maximum,
                                 ExprOp::Minimum,   ExprOp::Fma,        ExprOp::Select,    ExprOp::Convert,
                                 ExprOp::ReduceSum, ExprOp::ReduceProd, ExprOp::ReduceMax, ExprOp::ReduceMin};

bool isWide(DType dtype) { return dtype == DType::Float32 || dtype == DType::Float64; }

bool isNanHandedOn(const Expr& e) {
  return ScalarEmitter::isWrittenOut(e.op, e.dtype) || std::ranges::find(handsOnNan, e.op) != std::end(handsOnNan);
}

}  // namespace

/// Whether no NaN among its values has bits that bfloat16 cannot hold.
bool KernelEmitter::hasShortNan(const Expr& e) const {
  if (e.dtype == DType::BFloat16) return true;
  if (!isFloating(e.dtype)) return e.dtype != DType::Float16;
  if (e.op == ExprOp::Constant) return !std::isnan(e.real);
  if (!isWide(e.dtype) || !isNanHandedOn(e)) return false;
  for (std::size_t a = e.op == ExprOp::Select ? 1 : 0; a < exprOpInfo(e.op).arity; ++a)
    if (!m_shortNan[std::size_t(e.args[a])]) return false;
  return true;
}

void KernelEmitter::findShortNans() {
  const auto readsSigns = [](const Expr& e) { return e.op == ExprOp::CopySign; };
  m_shortNan.assign(m_kernel.exprs.size(), false);
  if (std::ranges::any_of(m_kernel.exprs, readsSigns)) return;
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) m_shortNan[e] = hasShortNan(m_kernel.exprs[e]);
}

/// Whether this rounds to bfloat16 and leaves a NaN as it is.
bool KernelEmitter::leavesNan(const Expr& e) const {
  if (e.op != ExprOp::Convert || e.dtype != DType::BFloat16) return false;
  const auto from = std::size_t(e.args[0]);
  return isWide(m_kernel.exprs[from].dtype) && m_shortNan[from];
}

/// Operations on float32 that take longer than the conversions of sums to float64 and back.
bool KernelEmitter::isWideWork(const Expr& e) const {
  if (e.op == ExprOp::Convert && e.dtype == DType::BFloat16) return true;
  return e.dtype == DType::Float32 &&
         (ScalarEmitter::isWrittenOut(e.op, e.dtype) || ScalarEmitter::isLibraryCall(e.op, e.dtype));
}

}  // namespace kerf::inline codegen_llvm
