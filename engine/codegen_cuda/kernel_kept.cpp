// What a thread keeps in registers between two loops over a row, and quotients by a row's value.
#include <algorithm>

#include <fmt/format.h>

#include "engine/codegen_cuda/kernel_writer.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline codegen_cuda {
namespace {

/// Registers of four bytes that one thread keeps over several loops; where blocks of a cluster may use 64 in all.
constexpr std::int64_t mostAlone = 64, mostInCluster = 40;

}  // namespace

/// In how many loops over the row each expression is used.
std::vector<int> KernelWriter::loopsThatUse() const {
  std::vector<int> uses(m_kernel.exprs.size(), 0);
  for (int phase = 0; phase <= m_lastPhase; ++phase) {
    if (!loopHasWork(phase)) continue;
    const std::vector<bool> used = usedInLoop(phase);
    for (std::size_t e = 0; e < used.size(); ++e) uses[e] += used[e];
  }
  return uses;
}

void KernelWriter::planKept() {
  const auto inner = countOf(m_kernel, m_shape.inner);
  if (!inner || *inner == 0) return;
  const std::int64_t each = (*inner + m_shape.team - 1) / m_shape.team;
  planKeptLoads(each);
  planKeptValues(each);
}

/// Registers of four bytes that one thread may keep over several loops.
std::int64_t KernelWriter::mostKept() const {
  if (m_shape.cluster > 1) return mostInCluster;
  return m_shape.threads > 512 ? mostAlone / 2 : mostAlone;
}

std::int64_t KernelWriter::registersOf(std::size_t expr, std::int64_t each) const {
  const Expr& e = m_kernel.exprs[expr];
  const std::int64_t bytes = itemSize(e.dtype);
  return packsInside() || !m_cached[expr] ? (each * bytes + 3) / 4 : each * std::max<std::int64_t>(1, bytes / 4);
}

/// The most that are kept at one time: what no later loop reads makes room for what its last loop computes.
std::int64_t KernelWriter::keptAtOnce(std::int64_t each) const {
  std::vector<int> last(m_kernel.exprs.size(), -1);
  for (int phase = 0; phase <= m_lastPhase; ++phase) {
    if (!loopHasWork(phase)) continue;
    const std::vector<bool> used = usedInLoop(phase);
    for (std::size_t e = 0; e < used.size(); ++e)
      if (used[e]) last[e] = phase;
  }
  std::int64_t most = 0;
  for (int phase = 0; phase <= m_lastPhase; ++phase) {
    std::int64_t before = 0, behind = 0;
    for (std::size_t e = 0; e < last.size(); ++e) {
      if (!m_cached[e] && m_keptFrom[e] < 0) continue;
      const std::int64_t registers = registersOf(e, each);
      if (last[e] >= phase && m_keptFrom[e] < phase) before += registers;
      if (last[e] > phase && m_keptFrom[e] <= phase) behind += registers;
    }
    most = std::max({most, before, behind});
  }
  return most;
}

/// Elements that several loops read are read once, where a thread has few of them.
void KernelWriter::planKeptLoads(std::int64_t each) {
  const std::vector<int> uses = loopsThatUse();
  std::int64_t kept = 0;
  for (std::size_t e = 0; e < uses.size(); ++e) {
    const Expr& expr = m_kernel.exprs[e];
    if (uses[e] < 2 || expr.op != ExprOp::Load || m_place.level[e] < 2 || storesTo(m_kernel, expr.buffer)) continue;
    if (m_shape.vectorVariable && !isPacked(expr.index)) continue;
    m_cached[e] = true;
    kept += registersOf(e, each);
    if (kept <= mostKept()) continue;
    m_cached[e] = false;
    break;
  }
}

/// The same for what is expensive to compute: exp(x - maximum) of softmax. Of a chain the last that several loops use
/// is kept, but its 16-bit form where it has one.
void KernelWriter::planKeptValues(std::int64_t each) {
  const std::vector<int> uses = loopsThatUse(), cost = costsInRow(m_kernel, m_place);
  std::vector<int> users(uses.size(), 0);
  for (std::size_t e = 0; e < uses.size(); ++e)
    if (m_needed[e] && uses[e] < 2)
      for (std::size_t a = 0; a < exprOpInfo(m_kernel.exprs[e].op).arity; ++a)
        ++users[std::size_t(m_kernel.exprs[e].args[a])];
  for (const LoopStore& store : m_kernel.stores) ++users[std::size_t(store.value)];
  for (std::size_t e = 0; e < uses.size(); ++e) {
    if (uses[e] < 2 || cost[e] < expensiveCost || users[e] == 0) continue;
    std::size_t kept = e;
    const Expr& expr = m_kernel.exprs[e];
    if (expr.op == ExprOp::Convert && isHalfType(m_kernel.exprs[std::size_t(expr.args[0])].dtype))
      kept = std::size_t(expr.args[0]);
    if (m_keptFrom[kept] >= 0) continue;
    int first = 0;
    while (!loopHasWork(first) || !usedInLoop(first)[kept]) ++first;
    m_keptFrom[kept] = first;
    if (keptAtOnce(each) > mostKept()) m_keptFrom[kept] = -1;
  }
}

std::string KernelWriter::keptPlace(std::size_t expr) const {
  if (m_atEdge) return fmt::format("d{}", expr);
  return fmt::format("c{}[k]{}", expr, packsInside() ? ".at[q]" : "");
}

/// Places for all that is kept; the loads are done at once.
void KernelWriter::writeKept() {
  const std::string all = count(m_shape.inner) + (packsInside() ? " / V" : "");
  for (std::size_t e = 0; e < m_cached.size(); ++e) {
    if (!m_cached[e] && m_keptFrom[e] < 0) continue;
    const DType dtype = m_kernel.exprs[e].dtype;
    const std::string_view type = m_cached[e] ? memoryType(dtype) : registerType(dtype);
    const std::string element = packsInside() ? fmt::format("KerfPack<{}, V>", type) : std::string(type);
    line(fmt::format("{} c{}[({} + {}) / {}];", element, e, all, m_shape.team - 1, m_shape.team));
    if (isShifted()) line(fmt::format("{} d{};", type, e));
  }
  if (std::ranges::none_of(m_cached, [](bool cached) { return cached; })) return;
  writeLoopHead(true);
  writeIndices(m_shape.inner, "r");
  writeKeptLoads();
  close();
  inEdges([&] { writeKeptLoads(); });
}

void KernelWriter::writeKeptLoads() {
  for (std::size_t e = 0; e < m_cached.size(); ++e) {
    if (!m_cached[e]) continue;
    const Expr& expr = m_kernel.exprs[e];
    origin(e);
    const std::string place = m_atEdge ? fmt::format("d{}", e) : fmt::format("c{}[k]", e);
    if (packsInside())
      line(fmt::format("{} = kerf_load<{}, V>(b{} + {});", place, memoryType(expr.dtype), expr.buffer,
                       affine(expr.index)));
    else
      line(fmt::format("{} = b{}[{}];", place, expr.buffer, affine(expr.index)));
  }
}

/// x / y, where y is one value for the whole row, is x · (1 / y), corrected by what is left of x: the same bits as a
/// division's. Where nothing but the quotient's 16-bit form is used it is the product alone: at most two units in float32's
/// last place off before it is rounded to 8 or 11 bits.
void KernelWriter::planInverses() {
  std::vector<bool> shortened(m_kernel.exprs.size(), true);
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    const Expr& expr = m_kernel.exprs[e];
    if (!m_needed[e] || (expr.op == ExprOp::Convert && isHalfType(expr.dtype))) continue;
    for (std::size_t a = 0; a < exprOpInfo(expr.op).arity; ++a) shortened[std::size_t(expr.args[a])] = false;
  }
  for (const LoopStore& store : m_kernel.stores) shortened[std::size_t(store.value)] = false;
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    const Expr& expr = m_kernel.exprs[e];
    if (m_needed[e] && expr.op == ExprOp::Div && expr.dtype == DType::Float32 && m_place.level[e] == 2 &&
        m_place.level[std::size_t(expr.args[1])] == 1)
      m_quotients[e] = shortened[e] ? Quotient::Product : Quotient::Corrected;
  }
}

}  // namespace kerf::inline codegen_cuda
