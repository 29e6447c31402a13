// How the loops of a kernel are written, by layout.
#include <algorithm>

#include <fmt/format.h>

#include "engine/codegen_cuda/kernel_writer.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline codegen_cuda {
namespace {

/// Elements of rows that one thread keeps in registers between two loops over the row.
constexpr std::int64_t mostKept = 64;

}  // namespace

/// A thread for every element, or for every pack of them; each goes on by the size of the grid.
void KernelWriter::writeElements() {
  const bool vectors = m_shape.vectorVariable.has_value();
  line("const Index step = (Index)gridDim.x * blockDim.x;");
  open(fmt::format("for (Index t = (Index)blockIdx.x * blockDim.x + threadIdx.x; t < {}{}; t += step)",
                   count(m_shape.outer), vectors ? " / V" : ""));
  writeIndices(m_shape.outer, "t");
  writeLoopElements(0, usedInLoop(0));
  close();
}

void KernelWriter::writeRows() {
  const int teams = m_shape.threads / m_shape.team;
  line(fmt::format("const int lane = threadIdx.x % {};", m_shape.team));
  line(fmt::format("const Index step = (Index)gridDim.x * {};", teams));
  std::string first = fmt::format("(Index)blockIdx.x * {} + threadIdx.x / {}", teams, m_shape.team);
  planCached();
  if (m_shape.team > 1 && m_shape.team <= 32) {
    // all teams of a warp stay together: those without a row compute the last one again and store nothing
    open(
        fmt::format("for (Index base = (Index)blockIdx.x * {}; base < {}; base += step)", teams, count(m_shape.outer)));
    line(fmt::format("const Index own = base + threadIdx.x / {};", m_shape.team));
    line(fmt::format("const bool active = own < {};", count(m_shape.outer)));
    line(fmt::format("const Index o = active ? own : {} - 1;", count(m_shape.outer)));
  } else {
    open(fmt::format("for (Index o = {}; o < {}; o += step)", first, count(m_shape.outer)));
  }
  writeIndices(m_shape.outer, "o");
  writePhases();
  close();
}

/// Threads beside each other take columns beside each other; those across share a column.
void KernelWriter::writeColumns() {
  const std::size_t column = *m_shape.columnVariable;
  const std::string size = "(Index)" + number(m_kernel.variables[column].size);
  line(fmt::format("const int lane = threadIdx.x / {};", m_shape.columns));
  line(fmt::format("const Index tiles = ({} + {}) / {};", size, m_shape.columns - 1, m_shape.columns));
  open(fmt::format("for (Index t = blockIdx.x; t < {} * tiles; t += gridDim.x)", count(m_shape.outer)));
  line(fmt::format("const Index own = t % tiles * {0} + threadIdx.x % {0};", m_shape.columns));
  line(fmt::format("const bool active = own < {};", size));
  line(fmt::format("const Index i{} = active ? own : {} - 1;", column, size));
  writeIndices(m_shape.outer, "(t / tiles)");
  writePhases();
  close();
}

void KernelWriter::writePhases() {
  std::ranges::fill(m_outerValues, std::string());
  for (int phase = 0; phase <= m_lastPhase; ++phase) {
    writeOuterValues(phase);
    if (phase == 0) writeCachedLoads();
    if (loopHasWork(phase)) writeLoop(phase);
  }
  writeOuterStores();
}

/// What is known before the reduced loop of this phase.
void KernelWriter::writeOuterValues(int phase) {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (m_needed[e] && m_place.level[e] < 2 && m_place.phase[e] <= phase) value(int(e));
}

/// Elements that several loops over a row read are read once, where a thread has few of them.
void KernelWriter::planCached() {
  const auto inner = countOf(m_kernel, m_shape.inner);
  if (!inner || *inner == 0) return;
  std::vector<int> uses(m_kernel.exprs.size(), 0);
  for (int phase = 0; phase <= m_lastPhase; ++phase) {
    const std::vector<bool> used = usedInLoop(phase);
    for (std::size_t e = 0; e < used.size(); ++e) uses[e] += used[e] && loopHasWork(phase);
  }
  const std::int64_t most = m_shape.team > 512 ? mostKept / 2 : mostKept,
                     each = (*inner + m_shape.team - 1) / m_shape.team;
  std::int64_t kept = 0;
  for (std::size_t e = 0; e < uses.size(); ++e) {
    const Expr& expr = m_kernel.exprs[e];
    if (uses[e] < 2 || expr.op != ExprOp::Load || m_place.level[e] < 2 || storesTo(expr.buffer)) continue;
    if (m_shape.vectorVariable && !isPacked(expr.index)) continue;
    if (kept + each > most) break;
    kept += each;
    m_cached[e] = true;
  }
}

void KernelWriter::writeLoopHead(bool cached) {
  const std::string all = count(m_shape.inner) + (m_shape.vectorVariable ? " / V" : "");
  const int across = m_shape.layout == KernelLayout::Columns ? m_shape.rows : m_shape.team;
  if (!cached) return open(fmt::format("for (Index r = lane; r < {}; r += {})", all, across));
  line("#pragma unroll");
  open(fmt::format("for (int k = 0; k < ({} + {}) / {}; ++k)", all, across - 1, across));
  line(fmt::format("const Index r = lane + k * {};", across));
  line(fmt::format("if (r >= {}) break;", all));
}

void KernelWriter::writeCachedLoads() {
  if (std::ranges::none_of(m_cached, [](bool cached) { return cached; })) return;
  const std::string all = count(m_shape.inner) + (m_shape.vectorVariable ? " / V" : "");
  for (std::size_t e = 0; e < m_cached.size(); ++e) {
    if (!m_cached[e]) continue;
    const Expr& expr = m_kernel.exprs[e];
    const std::string_view type = memoryType(expr.dtype);
    const std::string element = isPacked(expr.index) ? fmt::format("KerfPack<{}, V>", type) : std::string(type);
    line(fmt::format("{} c{}[({} + {}) / {}];", element, e, all, m_shape.team - 1, m_shape.team));
  }
  writeLoopHead(true);
  writeIndices(m_shape.inner, "r");
  for (std::size_t e = 0; e < m_cached.size(); ++e) {
    if (!m_cached[e]) continue;
    const Expr& expr = m_kernel.exprs[e];
    origin(e);
    if (isPacked(expr.index))
      line(fmt::format("c{}[k] = kerf_load<{}, V>(b{} + {});", e, memoryType(expr.dtype), expr.buffer,
                       affine(expr.index)));
    else
      line(fmt::format("c{}[k] = b{}[{}];", e, expr.buffer, affine(expr.index)));
  }
  close();
}

void KernelWriter::writeLoop(int phase) {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    if (!reduces(e, phase)) continue;
    const Expr& expr = m_kernel.exprs[e];
    origin(e);
    line(fmt::format("{} v{} = {};", registerType(expr.dtype), e, identityText(expr)));
  }
  const std::vector<bool> used = usedInLoop(phase);
  bool cached = false;
  for (std::size_t e = 0; e < used.size(); ++e) cached = cached || (used[e] && m_cached[e]);
  writeLoopHead(cached);
  writeIndices(m_shape.inner, "r");
  writeLoopElements(phase, used);
  close();
  writeTotals(phase);
}

/// One iteration: packs are read, their elements computed one by one, and packs written.
void KernelWriter::writeLoopElements(int phase, const std::vector<bool>& used) {
  m_inside = true;
  std::ranges::fill(m_values, std::string());
  m_packed.assign(m_kernel.exprs.size(), false);
  const auto isOf = [&](const LoopStore& s) {
    return m_shape.inner.empty() || (s.inner && m_place.phase[std::size_t(s.value)] == phase);
  };
  for (std::size_t e = 0; e < used.size(); ++e) {
    const Expr& expr = m_kernel.exprs[e];
    if (!used[e] || expr.op != ExprOp::Load || m_cached[e] || !isPacked(expr.index)) continue;
    if (!m_shape.inner.empty() && m_place.level[e] < 2) continue;
    origin(e);
    line(fmt::format("const auto p{} = kerf_load<{}, V>(b{} + {});", e, memoryType(expr.dtype), expr.buffer,
                     affine(expr.index)));
    m_packed[e] = true;
  }
  for (std::size_t s = 0; s < m_kernel.stores.size(); ++s)
    if (isOf(m_kernel.stores[s]) && isPacked(m_kernel.stores[s].index))
      line(fmt::format("KerfPack<{}, V> s{};",
                       memoryType(m_kernel.buffers[std::size_t(m_kernel.stores[s].buffer)].dtype), s));
  const auto x = m_shape.vectorVariable;
  if (x) {
    line("#pragma unroll");
    open("for (int q = 0; q < V; ++q)");
    line(fmt::format("const Index i{0} = x{0} + q;", *x));
    m_index[*x] = fmt::format("i{}", *x);
  }
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    if (!reduces(e, phase) || m_shape.inner.empty()) continue;
    const Expr& expr = m_kernel.exprs[e];
    const std::string total = fmt::format("v{}", e), element = value(expr.args[0]);
    origin(e);
    line(fmt::format("{} = {};", total, combineText(expr, total, element)));
  }
  storeInner(phase);
  if (x) {
    close();
    m_index[*x] = fmt::format("x{}", *x);
    for (std::size_t s = 0; s < m_kernel.stores.size(); ++s) {
      const LoopStore& store = m_kernel.stores[s];
      if (isOf(store) && isPacked(store.index))
        line(fmt::format("{}kerf_store(b{} + {}, s{});", ifActive(), store.buffer, affine(store.index), s));
    }
  }
  m_inside = false;
}

/// Whether some threads compute what others store.
bool KernelWriter::mayBeIdle() const {
  return m_shape.layout == KernelLayout::Columns || (m_shape.team > 1 && m_shape.team <= 32);
}
std::string_view KernelWriter::ifActive() const { return mayBeIdle() ? "if (active) " : ""; }

void KernelWriter::storeInner(int phase) {
  for (std::size_t s = 0; s < m_kernel.stores.size(); ++s) {
    const LoopStore& store = m_kernel.stores[s];
    if (!m_shape.inner.empty() && (!store.inner || m_place.phase[std::size_t(store.value)] != phase)) continue;
    const LoopBuffer& buffer = m_kernel.buffers[std::size_t(store.buffer)];
    const std::string stored = toMemory(value(store.value), buffer.dtype);
    if (isPacked(store.index))
      line(fmt::format("s{}.at[q] = {};  // {}", s, stored, buffer.name));
    else
      line(fmt::format("{}b{}[{}] = {};  // {}", ifActive(), store.buffer, affine(store.index), stored, buffer.name));
  }
}

/// What the threads of a team, or of a column, have gathered becomes one value that all of them know.
void KernelWriter::writeTotals(int phase) {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    if (!reduces(e, phase)) continue;
    const Expr& expr = m_kernel.exprs[e];
    const std::string combine = combineFunction(expr);
    m_outerValues[e] = fmt::format("v{}", e);
    if (m_shape.layout == KernelLayout::Columns)
      line(fmt::format("v{0} = kerf_columns<{1}, {2}>(v{0}, {3});", e, m_shape.columns, m_shape.rows, combine));
    else if (m_shape.team > 1)
      line(fmt::format("v{0} = kerf_team<{1}>(v{0}, {2});", e, m_shape.team, combine));
  }
}

void KernelWriter::writeOuterStores() {
  if (std::ranges::all_of(m_kernel.stores, &LoopStore::inner)) return;
  const bool wholeBlock = m_shape.team > 32 || m_shape.layout == KernelLayout::Columns;
  if (storesWhatItLoads()) line(wholeBlock ? "__syncthreads();" : "__syncwarp();");
  const bool alone = m_shape.team == 1 && m_shape.layout != KernelLayout::Columns;
  if (!alone) open(mayBeIdle() ? "if (lane == 0 && active)" : "if (lane == 0)");
  for (const LoopStore& store : m_kernel.stores) {
    if (store.inner) continue;
    const LoopBuffer& buffer = m_kernel.buffers[std::size_t(store.buffer)];
    line(fmt::format("b{}[{}] = {};  // {}", store.buffer, affine(store.index),
                     toMemory(value(store.value), buffer.dtype), buffer.name));
  }
  if (!alone) close();
}

}  // namespace kerf::inline codegen_cuda
