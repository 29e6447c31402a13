// Loops in parts, in which comparisons of their variable with numbers have one truth each:
//
//   before: for i < 192: y[i] = i < 96 ? a[i] : b[i - 96]      after: for i < 96: y[i] = a[i]
//                                                                     for 96 <= i < 192: y[i] = b[i - 96]
#include <algorithm>

#include "engine/codegen_llvm/kernel_emitter.h"

namespace kerf::inline codegen_llvm {

namespace {

constexpr std::size_t mostParts = 6;
constexpr std::int64_t fewestBytes = 64;      ///< that a part stores each time, on an average: a vector
constexpr std::size_t mostExpressions = 256;  ///< of all parts

/// A comparison that is decided by whether a loop's variable is before `first`, and that of an equality by whether it
/// is before `second`, too.
struct Threshold {
  std::size_t variable;
  std::int64_t first, second;
};

bool isWhole(const Expr& e) { return e.op == ExprOp::Constant && e.dtype == DType::Int64; }

std::optional<Threshold> thresholdOf(const LoopKernel& kernel, const Expr& e) {
  if (e.op < ExprOp::Eq || e.op > ExprOp::Ge) return {};
  const Expr &left = kernel.exprs[std::size_t(e.args[0])], &right = kernel.exprs[std::size_t(e.args[1])];
  if (left.op != ExprOp::Index || !isWhole(right) || left.index.constant.isSymbolic()) return {};
  std::optional<std::size_t> variable;
  for (std::size_t v = 0; v < left.index.coefficients.size(); ++v) {
    if (left.index.coefficients[v].isIdentical(0)) continue;
    if (variable || !left.index.coefficients[v].isIdentical(1)) return {};
    variable = v;
  }
  std::int64_t at = 0, next = 0;
  if (!variable || __builtin_sub_overflow(right.integer, left.index.constant.bits(), &at) ||
      __builtin_add_overflow(at, std::int64_t{1}, &next))
    return {};
  if (e.op == ExprOp::Lt || e.op == ExprOp::Ge) return Threshold{*variable, at, at};
  if (e.op == ExprOp::Le || e.op == ExprOp::Gt) return Threshold{*variable, next, next};
  return Threshold{*variable, at, next};
}

}  // namespace

/// Where comparisons change along the innermost loop; none where that is not worth loops of their own.
std::vector<std::int64_t> KernelEmitter::cutsOf(std::size_t variable) const {
  if (variable != (m_inner.empty() ? m_outer : m_inner).back()) return {};
  const SymInt size = m_kernel.variables[variable].size;
  if (size.isSymbolic()) return {};
  std::vector<std::int64_t> cuts;
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    const auto threshold = m_needed[e] ? thresholdOf(m_kernel, m_kernel.exprs[e]) : std::nullopt;
    if (!threshold || threshold->variable != variable) continue;
    for (const std::int64_t cut : {threshold->first, threshold->second})
      if (cut > 0 && cut < size.bits()) cuts.push_back(cut);
  }
  std::ranges::sort(cuts);
  cuts.erase(std::ranges::unique(cuts).begin(), cuts.end());
  const std::size_t parts = cuts.size() + 1;
  if (parts > mostParts || m_kernel.exprs.size() * parts > mostExpressions) return {};
  std::int64_t narrowest = 8;
  for (const LoopStore& s : m_kernel.stores)
    narrowest = std::min<std::int64_t>(narrowest, itemSize(m_kernel.buffers[std::size_t(s.buffer)].dtype));
  return size.bits() >= std::int64_t(parts) * (fewestBytes / narrowest) ? cuts : std::vector<std::int64_t>();
}

void KernelEmitter::emitRanges(std::size_t variable, llvm::Value* begin, llvm::Value* end, const Body& body) {
  std::vector<std::int64_t> ends = cutsOf(variable);
  ends.push_back(m_kernel.variables[variable].size.bits());
  std::int64_t from = 0;
  for (const std::int64_t to : ends) {
    m_range = Range{variable, from, to};
    llvm::Value *low = m_b.getInt64(std::uint64_t(from)), *high = m_b.getInt64(std::uint64_t(to));
    llvm::Value* first = m_b.CreateSelect(m_b.CreateICmpSGT(begin, low), begin, low);
    llvm::Value* last = m_b.CreateSelect(m_b.CreateICmpSLT(end, high), end, high);
    emitLoop(variable, first, last, true, body);
    from = to;
  }
  m_range.reset();
}

/// The truth of a comparison in the part of the loop that is written; null where it has none.
llvm::Value* KernelEmitter::decided(const Expr& e) {
  if (!m_range) return nullptr;
  const auto threshold = thresholdOf(m_kernel, e);
  if (!threshold || threshold->variable != m_range->variable) return nullptr;
  const bool isBefore = m_range->to <= threshold->first, isBehind = m_range->from >= threshold->second;
  const bool isEquality = e.op == ExprOp::Eq || e.op == ExprOp::Ne;
  const bool isAt = isEquality && m_range->from == threshold->first && m_range->to == threshold->second;
  if (!isBefore && !isBehind && !isAt) return nullptr;
  const bool truth = isEquality ? isAt == (e.op == ExprOp::Eq) : isBefore == (e.op == ExprOp::Lt || e.op == ExprOp::Le);
  return m_b.getInt1(truth);
}

}  // namespace kerf::inline codegen_llvm
