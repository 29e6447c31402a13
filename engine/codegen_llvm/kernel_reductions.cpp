// Totals of reductions: where they begin, how elements are added to them, what they are in the end.
#include <algorithm>

#include "engine/codegen_llvm/kernel_emitter.h"
#include "engine/codegen_llvm/target.h"

namespace kerf::inline codegen_llvm {

/// A maximum that hands on NaN takes five instructions, one that is undefined for it one, and knowing of a NaN two.
bool KernelEmitter::tracksNan(std::size_t expr) const {
  const Expr& e = m_kernel.exprs[expr];
  return !m_columns && isFloating(e.dtype) && (e.op == ExprOp::ReduceMax || e.op == ExprOp::ReduceMin);
}

void KernelEmitter::emitIdentity(std::size_t expr) {
  const Expr& e = m_kernel.exprs[expr];
  m_b.CreateStore(m_scalar.toMemory(identity(e), e.dtype), accumulator(expr));
  if (m_sawNan[expr]) m_b.CreateStore(m_b.getFalse(), m_sawNan[expr]);
}

void KernelEmitter::emitAccumulation(std::size_t expr, llvm::Value* element) {
  const Expr& e = m_kernel.exprs[expr];
  llvm::Value* stored = m_b.CreateLoad(m_scalar.memoryType(e.dtype), accumulator(expr));
  llvm::Value* total = m_scalar.fromMemory(stored, e.dtype);
  if (llvm::AllocaInst* const sawNan = m_sawNan[expr]) {
    llvm::Value* before = m_b.CreateLoad(m_b.getInt1Ty(), sawNan);
    m_b.CreateStore(m_b.CreateOr(before, m_b.CreateFCmpUNO(element, element)), sawNan);
    llvm::FastMathFlags flags;
    flags.setNoNaNs();
    flags.setNoSignedZeros();
    llvm::IRBuilder<>::FastMathFlagGuard guard(m_b);
    m_b.setFastMathFlags(flags);
    total = m_b.CreateBinaryIntrinsic(e.op == ExprOp::ReduceMax ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum,
                                      total, element);
  } else {
    total = accumulate(e, total, element);
  }
  m_b.CreateStore(m_scalar.toMemory(total, e.dtype), accumulator(expr));
}

llvm::Value* KernelEmitter::totalOf(std::size_t expr) {
  const Expr& e = m_kernel.exprs[expr];
  llvm::Value* total = m_scalar.fromMemory(m_b.CreateLoad(m_scalar.memoryType(e.dtype), accumulator(expr)), e.dtype);
  if (!m_sawNan[expr]) return total;
  return m_b.CreateSelect(m_b.CreateLoad(m_b.getInt1Ty(), m_sawNan[expr]), llvm::ConstantFP::getNaN(total->getType()),
                          total);
}

/// LLVM takes as many elements at once as a register has of the widest type, float64 where sums are formed: half of
/// what exponentials of float32 could be computed at once.
bool KernelEmitter::isWorthWideVectors(int phase) const {
  return !m_columns && isWorthWideVectors(usedInLoop(phase), m_inner.back());
}

bool KernelEmitter::isWorthWideVectors(const std::vector<bool>& used, std::size_t variable) const {
  bool any = false;
  for (std::size_t e = 0; e < used.size(); ++e) {
    if (!used[e] || m_place.level[e] < 2) continue;
    const Expr& expr = m_kernel.exprs[e];
    any = any || isWideWork(expr);
    const SymInt step = expr.index.coefficient(variable);
    if (isLoad(expr.op) && (expr.op != ExprOp::Load || !(isZero(step) || step.isIdentical(1)))) return false;
  }
  return any;
}

void KernelEmitter::hintWidth(llvm::Instruction* branch, int width) {
  auto* name = llvm::MDString::get(m_context, "llvm.loop.vectorize.width");
  auto* count = llvm::ConstantAsMetadata::get(m_b.getInt32(std::uint32_t(width)));
  auto* loop = llvm::MDNode::getDistinct(m_context, {nullptr, llvm::MDNode::get(m_context, {name, count})});
  loop->replaceOperandWith(0, loop);
  branch->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

/// Where a piece leaves its part of a reduction: 8 bytes for each column, reduction by reduction, piece by piece.
llvm::Value* KernelEmitter::part(std::size_t expr, llvm::Value* piece) {
  std::uint64_t before = 0;
  for (std::size_t e = 0; e < expr; ++e) before += isReduction(m_kernel.exprs[e].op);
  llvm::Value* place = m_b.CreateNSWMul(piece, m_b.getInt64(std::uint64_t(m_shared->reductions)));
  place = m_b.CreateNSWAdd(place, m_b.getInt64(before));
  place = m_b.CreateNSWMul(place, m_b.getInt64(std::uint64_t(m_shared->columns)));
  if (m_columns) place = m_b.CreateNSWAdd(place, m_index[*m_columns]);
  return m_b.CreateInBoundsGEP(m_b.getInt64Ty(), m_parts, {place});
}

void KernelEmitter::keepParts(llvm::Value* piece) {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (m_accumulators[e]) m_b.CreateStore(m_scalar.toMemory(totalOf(e), m_kernel.exprs[e].dtype), part(e, piece));
}

void KernelEmitter::addParts(llvm::Value* piece) {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    if (!m_accumulators[e]) continue;
    const DType dtype = m_kernel.exprs[e].dtype;
    emitAccumulation(e, m_scalar.fromMemory(m_b.CreateLoad(m_scalar.memoryType(dtype), part(e, piece)), dtype));
  }
}

/// Pieces gather parts; then, in one more call, they become totals in their order.
void KernelEmitter::emitShared(const Body& gather, const Body& finish) {
  auto* gathering = llvm::BasicBlock::Create(m_context, "gather", m_function);
  auto* finishing = llvm::BasicBlock::Create(m_context, "finish", m_function);
  llvm::Value* slot = m_b.CreateConstInBoundsGEP1_64(m_b.getPtrTy(), m_function->getArg(0), m_kernel.buffers.size());
  m_parts = m_b.CreateLoad(m_b.getPtrTy(), slot);
  m_b.CreateCondBr(m_b.CreateICmpSLT(m_function->getArg(1), m_b.getInt64(0)), finishing, gathering);
  m_b.SetInsertPoint(gathering);
  gather();
  m_b.CreateRetVoid();
  finishing->moveAfter(m_b.GetInsertBlock());
  m_b.SetInsertPoint(finishing);
  std::ranges::fill(m_outerValues, nullptr);
  finish();
  m_b.CreateRetVoid();
}

void KernelEmitter::emitSharedValues() {
  emitShared(
      [&] {
        emitOuterValues(0);
        emitInnerLoop(0);
        keepParts(m_b.CreateSDiv(m_function->getArg(1), m_b.getInt64(std::uint64_t(m_shared->chunk))));
      },
      [&] {
        for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
          if (m_accumulators[e]) emitIdentity(e);
        emitSteps(m_b.getInt64(0), m_function->getArg(2), 1, false, [&](llvm::Value* piece) { addParts(piece); });
        emitOuterValues(1);
        emitStores(false, 0);
      });
}

/// Float sums may be reordered: vector lanes and unrolled copies then hold partial sums.
llvm::Value* KernelEmitter::accumulate(const Expr& e, llvm::Value* total, llvm::Value* element) {
  llvm::FastMathFlags reorder;
  reorder.setAllowReassoc();
  llvm::IRBuilder<>::FastMathFlagGuard guard(m_b);
  const bool floating = isFloating(e.dtype);
  if (floating) m_b.setFastMathFlags(reorder);
  switch (e.op) {
    case ExprOp::ReduceSum:
      return floating ? m_b.CreateFAdd(total, element) : m_scalar.binary(ExprOp::Add, total, element, e.dtype);
    case ExprOp::ReduceProd:
      return floating ? m_b.CreateFMul(total, element) : m_scalar.binary(ExprOp::Mul, total, element, e.dtype);
    case ExprOp::ReduceAny:
      return m_b.CreateOr(total, element);
    case ExprOp::ReduceAll:
      return m_b.CreateAnd(total, element);
    default:
      break;
  }
  m_b.clearFastMathFlags();
  const bool maximum = e.op == ExprOp::ReduceMax;
  if (!floating) return m_scalar.binary(maximum ? ExprOp::Maximum : ExprOp::Minimum, total, element, e.dtype);
  return m_b.CreateIntrinsic(maximum ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, {total->getType()},
                             {total, element});
}

llvm::Value* KernelEmitter::identity(const Expr& e) {
  llvm::Type* type = m_scalar.registerType(e.dtype);
  const bool maximum = e.op == ExprOp::ReduceMax;
  if (e.op == ExprOp::ReduceSum || e.op == ExprOp::ReduceAny) return llvm::Constant::getNullValue(type);
  if (e.op == ExprOp::ReduceAll) return m_b.getTrue();
  if (e.op == ExprOp::ReduceProd)
    return type->isFloatingPointTy() ? llvm::ConstantFP::get(type, 1.0)
                                     : static_cast<llvm::Value*>(llvm::ConstantInt::get(type, 1));
  if (type->isFloatingPointTy()) return llvm::ConstantFP::getInfinity(type, maximum);
  const unsigned bits = type->getIntegerBitWidth();
  const bool isUnsigned = e.dtype >= DType::UInt64 && e.dtype <= DType::UInt8;
  if (isUnsigned)
    return llvm::ConstantInt::get(type, maximum ? llvm::APInt::getMinValue(bits) : llvm::APInt::getMaxValue(bits));
  return llvm::ConstantInt::get(type,
                                maximum ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getSignedMaxValue(bits));
}

}  // namespace kerf::inline codegen_llvm
