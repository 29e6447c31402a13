// What only the innermost loop decides, computed once before the loops: 1 / sqrt(variance + epsilon) of every channel
// where channels lie side by side.
//
//   before: for pixel: for c: y = (x - m[c]) * (1 / sqrt(v[c] + e))
//   after:  for c: h[c] = 1 / sqrt(v[c] + e)      for pixel: for c: y = (x - m[c]) * h[c]
#include <algorithm>

#include "engine/codegen_llvm/kernel_emitter.h"

using namespace llvm;

namespace kerf::inline codegen_llvm {
namespace {

constexpr int worthKeeping = 8;               // additions
constexpr std::int64_t mostKept = 1 << 15;    // bytes on the stack
constexpr std::int64_t fewestIterations = 4;  // of the loops around, where they are known

/// Whether an index moves with no other loop than `variable`.
bool onlyMovesWith(const Affine& index, std::size_t variable) {
  if (index.constant.isSymbolic() || index.coefficients.isSymbolic()) return false;
  for (std::size_t v = 0; v < index.coefficients.size(); ++v)
    if (v != variable && !isZero(index.coefficients[v])) return false;
  return true;
}

class HoistPlan {
 public:
  HoistPlan(const LoopKernel& kernel, std::size_t variable) : m_kernel(kernel), m_variable(variable) {
    for (const Expr& e : kernel.exprs) {
      m_own.push_back(isOwn(e));
      m_cost.push_back(costOf(e));
    }
  }

  /// Expensive ones that something else than such expressions needs.
  std::vector<std::size_t> chosen(const std::vector<bool>& needed) const {
    std::vector<bool> wanted(m_own.size(), false);
    for (std::size_t e = 0; e < m_own.size(); ++e)
      if (needed[e] && !m_own[e])
        for (std::size_t a = 0; a < exprOpInfo(m_kernel.exprs[e].op).arity; ++a)
          wanted[std::size_t(m_kernel.exprs[e].args[a])] = true;
    std::vector<std::size_t> result;
    for (std::size_t e = 0; e < m_own.size(); ++e)
      if (wanted[e] && m_own[e] && m_cost[e] >= worthKeeping) result.push_back(e);
    return result;
  }

 private:
  bool isOwn(const Expr& e) const {
    if (e.op == ExprOp::Constant) return true;
    if (e.op == ExprOp::Index) return onlyMovesWith(e.index, m_variable);
    if (e.op == ExprOp::Load) return onlyMovesWith(e.index, m_variable) && !isStored(e.buffer);
    if (isLoad(e.op) || isReduction(e.op) || e.op == ExprOp::Carry || e.op == ExprOp::Philox) return false;
    for (std::size_t a = 0; a < exprOpInfo(e.op).arity; ++a)
      if (!m_own[std::size_t(e.args[a])]) return false;
    return true;
  }

  int costOf(const Expr& e) const {
    int cost = exprOpInfo(e.op).cost;
    for (std::size_t a = 0; a < exprOpInfo(e.op).arity; ++a) cost += m_cost[std::size_t(e.args[a])];
    return std::min(cost, 1 << 20);
  }

  bool isStored(int buffer) const {
    return std::ranges::any_of(m_kernel.stores, [&](const LoopStore& s) { return s.buffer == buffer; });
  }

  const LoopKernel& m_kernel;
  const std::size_t m_variable;
  std::vector<bool> m_own;
  std::vector<int> m_cost;
};

}  // namespace

/// Kernels without reductions, whose innermost loop is short and not divided among threads.
std::vector<std::size_t> KernelEmitter::hoistedExprs() const {
  if (!m_inner.empty() || m_outer.size() < 2 || std::size_t(dividedLoops(m_kernel)) >= m_outer.size()) return {};
  const SymInt size = m_kernel.variables[m_outer.back()].size;
  if (size.isSymbolic() || size.bits() < 1) return {};
  for (std::size_t v = 0; v + 1 < m_outer.size(); ++v) {
    const SymInt around = m_kernel.variables[m_outer[v]].size;
    if (!around.isSymbolic() && around.bits() == 0) return {};
  }
  const SymInt around = m_kernel.variables[m_outer[m_outer.size() - 2]].size;
  if (!around.isSymbolic() && around.bits() < fewestIterations) return {};
  std::vector<std::size_t> chosen = HoistPlan(m_kernel, m_outer.back()).chosen(m_needed);
  std::int64_t bytes = 0;
  for (const std::size_t e : chosen) bytes += size.bits() * itemSize(m_kernel.exprs[e].dtype);
  return bytes <= mostKept ? chosen : std::vector<std::size_t>{};
}

/// Room for so many values of each on the stack, from the function's entry on, where they have none yet.
void KernelEmitter::makeHoistRoom(const std::vector<std::size_t>& chosen, std::int64_t count) {
  BasicBlock& entry = m_function->getEntryBlock();
  IRBuilder<> top(&entry, entry.begin());
  m_hoistRoom.resize(m_kernel.exprs.size(), nullptr);
  for (const std::size_t e : chosen) {
    Type* const values = ArrayType::get(m_scalar.memoryType(m_kernel.exprs[e].dtype), std::uint64_t(count));
    if (!m_hoistRoom[e]) m_hoistRoom[e] = alignedRoom(top, values);
  }
}

/// Computes them at the current index and keeps them at `place`.
void KernelEmitter::keepHoists(const std::vector<std::size_t>& chosen, llvm::Value* place) {
  for (const std::size_t e : chosen) {
    const DType dtype = m_kernel.exprs[e].dtype;
    llvm::Value* slot = m_b.CreateInBoundsGEP(m_scalar.memoryType(dtype), m_hoistRoom[e], {place});
    m_b.CreateStore(m_scalar.toMemory(value(int(e)), dtype), slot);
  }
}

/// From now on these are read where they are kept.
void KernelEmitter::takeHoists(const std::vector<std::size_t>& chosen) {
  if (chosen.empty()) return;
  m_hoisted.resize(m_kernel.exprs.size(), nullptr);
  for (const std::size_t e : chosen) m_hoisted[e] = m_hoistRoom[e];
}

void KernelEmitter::emitHoists() {
  const std::vector<std::size_t> chosen = hoistedExprs();
  if (chosen.empty()) return;
  const std::size_t variable = m_outer.back();
  const SymInt size = m_kernel.variables[variable].size;
  makeHoistRoom(chosen, size.bits());
  emitSteps(m_b.getInt64(0), number(size), 1, false, [&](llvm::Value* index) {
    m_index[variable] = index;
    std::ranges::fill(m_outerValues, nullptr);
    std::ranges::fill(m_innerValues, nullptr);
    m_inside = true;
    keepHoists(chosen, index);
    m_inside = false;
  });
  std::ranges::fill(m_innerValues, nullptr);
  m_hoisted = m_hoistRoom;
}

/// Of columns that are reduced side by side: what only the column decides.
std::vector<std::size_t> KernelEmitter::hoistedOfColumns(std::int64_t columns) {
  const SymInt rows = m_kernel.variables[m_inner.back()].size;
  if (rows.isSymbolic() || rows.bits() < fewestIterations) return {};
  std::vector<std::size_t> chosen = HoistPlan(m_kernel, *m_columns).chosen(m_needed);
  std::int64_t bytes = 0;
  for (const std::size_t e : chosen) bytes += columns * itemSize(m_kernel.exprs[e].dtype);
  if (bytes > mostKept) return {};
  makeHoistRoom(chosen, columns);
  return chosen;
}

/// Null where the expression is computed where it is needed.
llvm::Value* KernelEmitter::loadHoisted(std::size_t expr) {
  if (m_hoisted.empty() || !m_hoisted[expr]) return nullptr;
  const DType dtype = m_kernel.exprs[expr].dtype;
  Type* type = m_scalar.memoryType(dtype);
  llvm::Value* slot = m_b.CreateInBoundsGEP(type, m_hoisted[expr], {m_column ? m_column : m_index[m_outer.back()]});
  return m_scalar.fromMemory(m_b.CreateLoad(type, slot), dtype);
}

}  // namespace kerf::inline codegen_llvm
