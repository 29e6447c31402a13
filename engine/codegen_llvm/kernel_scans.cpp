// What is carried from iteration to iteration, and scans along rows, several rows side by side: each addition waits for
// the one before it in its own row only.
//
//   before: for r: s = 0; for i (reduced): s = s + x[1024*r + i]
//   after:  for r in fours: s[0..3] = 0; for i (reduced): for k < 4, written out: s[k] = s[k] + x[1024*(r + k) + i]
#include <algorithm>

#include "engine/codegen_llvm/kernel_emitter.h"

namespace kerf::inline codegen_llvm {

/// Whether a value is carried along rows, and nothing is reduced.
bool KernelEmitter::scansRows() const {
  bool carries = false, reduces = false;
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    carries = carries || (m_needed[e] && m_kernel.exprs[e].op == ExprOp::Carry);
    reduces = reduces || (m_needed[e] && isReduction(m_kernel.exprs[e].op));
  }
  return carries && !reduces && !m_columns && !m_outer.empty() && dividedLoops(m_kernel) < 2;
}

void KernelEmitter::emitScans() {
  std::vector<std::size_t> others = m_outer;
  const std::size_t rows = others.back();
  others.pop_back();
  emitLoops(others, 0, true, [&] {
    const bool isDivided = others.empty();
    llvm::Value* begin = isDivided ? static_cast<llvm::Value*>(m_function->getArg(1)) : m_b.getInt64(0);
    llvm::Value* end =
        isDivided ? static_cast<llvm::Value*>(m_function->getArg(2)) : number(m_kernel.variables[rows].size);
    llvm::Value* whole = m_b.CreateAnd(m_b.CreateNSWSub(end, begin), m_b.getInt64(~std::uint64_t(scansAtOnce - 1)));
    whole = m_b.CreateNSWAdd(begin, whole);
    emitSteps(begin, whole, scansAtOnce, true, [&](llvm::Value* row) { emitScannedRows(rows, row, scansAtOnce); });
    emitSteps(whole, end, 1, true, [&](llvm::Value* row) { emitScannedRows(rows, row, 1); });
  });
  m_column = nullptr;
  m_b.CreateRetVoid();
}

/// `count` rows from `first` on.
void KernelEmitter::emitScannedRows(std::size_t rows, llvm::Value* first, int count) {
  const auto forEachRow = [&](const Body& body) {
    for (int k = 0; k < count; ++k) {
      m_index[rows] = m_b.CreateNSWAdd(first, m_b.getInt64(std::uint64_t(k)));
      m_column = m_b.getInt64(std::uint64_t(k));
      std::ranges::fill(m_outerValues, nullptr);
      std::ranges::fill(m_innerValues, nullptr);
      body();
    }
  };
  m_phase = 0;
  for (std::size_t e = 0; e < m_carriedHere.size(); ++e)
    m_carriedHere[e] = m_needed[e] && m_kernel.exprs[e].op == ExprOp::Carry;
  forEachRow([&] { beginCarried(); });
  emitLoops(m_inner, 0, false, [&] {
    m_inside = true;
    forEachRow([&] {
      emitStores(true, 0);
      takeCarried();
      keepCarried();
    });
    m_inside = false;
  });
  forEachRow([&] { emitStores(false, 0); });
}

/// In front of a loop: what is carried into its first iteration.
void KernelEmitter::beginCarried() {
  for (std::size_t e = 0; e < m_carriedHere.size(); ++e) {
    if (!m_carriedHere[e]) continue;
    const Expr& expr = m_kernel.exprs[e];
    m_b.CreateStore(m_scalar.toMemory(value(expr.args[0]), expr.dtype), accumulator(e));
  }
}

/// At the end of an iteration: what is carried out of it. All are known before any is replaced.
void KernelEmitter::takeCarried() {
  std::vector<llvm::Value*> next(m_carried.size(), nullptr);
  for (std::size_t e = 0; e < next.size(); ++e)
    if (m_carriedHere[e]) next[e] = value(int(m_kernel.exprs[e].integer));
  m_carried = std::move(next);
}

void KernelEmitter::keepCarried() {
  for (std::size_t e = 0; e < m_carried.size(); ++e)
    if (m_carried[e]) m_b.CreateStore(m_scalar.toMemory(m_carried[e], m_kernel.exprs[e].dtype), accumulator(e));
  std::ranges::fill(m_carried, nullptr);
}

}  // namespace kerf::inline codegen_llvm
