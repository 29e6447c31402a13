// Rows that are read by index lie anywhere: the lines of the next one are asked for while this one is read. So are
// those of rows that are added side by side, some columns at a time (kernel_columns.cpp).
//
//   before: for i0: for i1: y[i0, i1] = w[i1 + 1024*i[i0]]
//   after:  for i0: { for lines of the row 1024*i[i0 + 1]: prefetch;  for i1: y[i0, i1] = w[i1 + 1024*i[i0]] }
#include <algorithm>

#include "engine/codegen_llvm/kernel_emitter.h"
#include "engine/codegen_llvm/streams.h"

namespace kerf::inline codegen_llvm {

namespace {

constexpr std::int64_t fewestBytes = 512, mostBytes = 4096;  ///< of a row: what is asked for at once

}  // namespace

/// Whether an expression has one value for all iterations of the loop.
bool KernelEmitter::isFixedIn(std::size_t variable, int expr) const {
  const Expr& e = m_kernel.exprs[std::size_t(expr)];
  if (e.op == ExprOp::Carry || isReduction(e.op) || !isZero(e.index.coefficient(variable))) return false;
  for (std::size_t a = 0; a < exprOpInfo(e.op).arity; ++a)
    if (!isFixedIn(variable, e.args[a])) return false;
  return true;
}

/// Bytes of the row that a load by index reads along the loop; 0: it reads none, or a short one.
std::int64_t KernelEmitter::indexedRow(std::size_t variable, std::size_t expr) const {
  const Expr& e = m_kernel.exprs[expr];
  const SymInt size = m_kernel.variables[variable].size;
  if (!m_needed[expr] || e.op != ExprOp::LoadAt || size.isSymbolic()) return 0;
  if (!e.index.coefficient(variable).isIdentical(1) || !isFixedIn(variable, e.args[0])) return 0;
  const std::int64_t bytes = size.bits() * itemSize(e.dtype);
  return bytes >= fewestBytes ? bytes : 0;
}

/// Before the innermost loop of elements. The last row asks for itself.
void KernelEmitter::prefetchNextRows(std::size_t variable) {
  if (!m_inner.empty() || m_outer.size() < 2 || variable != m_outer.back() || m_kernel.writesAtPlaces()) return;
  const std::size_t around = m_outer[m_outer.size() - 2];
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    const std::int64_t row = indexedRow(variable, e);
    if (row == 0) continue;
    const auto index = m_index, outer = m_outerValues, inner = m_innerValues;
    std::ranges::fill(m_outerValues, nullptr);
    std::ranges::fill(m_innerValues, nullptr);
    llvm::Value* last = m_b.CreateNSWSub(number(m_kernel.variables[around].size), m_b.getInt64(1));
    llvm::Value* next = m_b.CreateNSWAdd(m_index[around], m_b.getInt64(1));
    m_index[around] = m_b.CreateSelect(m_b.CreateICmpSLT(next, last), next, last);
    m_index[variable] = m_b.getInt64(0);
    const Expr& load = m_kernel.exprs[e];
    llvm::Value* begin = address(load.buffer, load.index, load.args[0]);
    m_index = index, m_outerValues = outer, m_innerValues = inner;
    const std::int64_t bytes = std::min(row, mostBytes);
    emitSteps(m_b.getInt64(0), m_b.getInt64(std::uint64_t(bytes)), lineBytes, false,
              [&](llvm::Value* at) { prefetch(m_b.CreateInBoundsGEP(m_b.getInt8Ty(), begin, {at})); });
  }
}

/// Loads that have a line of memory for neighbouring columns, another one in each row.
std::vector<std::size_t> KernelEmitter::readsOfColumns(std::size_t row) const {
  std::vector<std::size_t> loads;
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    const Expr& expr = m_kernel.exprs[e];
    if (m_needed[e] && expr.op == ExprOp::Load && expr.index.coefficient(*m_columns).isIdentical(1) &&
        !isZero(expr.index.coefficient(row)))
      loads.push_back(e);
  }
  return loads;
}

/// The lines of some columns in the current row.
void KernelEmitter::prefetchColumns(const std::vector<std::size_t>& loads, llvm::Value* start, llvm::Value* first,
                                    llvm::Value* last) {
  for (const std::size_t e : loads) {
    const Expr& expr = m_kernel.exprs[e];
    emitSteps(first, last, lineBytes / itemSize(expr.dtype), false, [&](llvm::Value* column) {
      m_index[*m_columns] = m_b.CreateNSWAdd(start, column);
      prefetch(address(expr.buffer, expr.index));
    });
  }
}

}  // namespace kerf::inline codegen_llvm
