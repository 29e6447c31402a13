// How the loops of a kernel are written, by layout.
#include <algorithm>

#include <fmt/format.h>

#include "engine/codegen_cuda/kernel_writer.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline codegen_cuda {

/// A thread for every element, or for every pack of them; each goes on by the size of the grid.
void KernelWriter::writeElements() {
  if (m_shape.unroll > 1) return writeUnrolled();
  const bool vectors = m_shape.vectorVariable.has_value();
  line("const Index step = (Index)gridDim.x * blockDim.x;");
  open(fmt::format("for (Index t = (Index)blockIdx.x * blockDim.x + threadIdx.x; t < {}{}; t += step)",
                   count(m_shape.outer), vectors ? " / V" : ""));
  writeIndices(m_shape.outer, "t");
  writeLoopElements(0, usedInLoop(0));
  close();
}

/// Several packs of a thread, which lie a block's width apart, in three steps: what is read at known places, all else, and the
/// stores. So every step's loads are under way together. Threads behind the end read the last pack again and store nothing.
void KernelWriter::writeUnrolled() {
  const std::string all = count(m_shape.outer) + (m_shape.vectorVariable ? " / V" : "");
  const int together = m_shape.threads * m_shape.unroll;
  const std::vector<bool> used = usedInLoop(0);
  const StoreFilter isAny = [](const LoopStore&) { return true; };
  const auto inEach = [&](const std::function<void()>& write) {
    line("#pragma unroll");
    open(fmt::format("for (int u = 0; u < {}; ++u)", m_shape.unroll));
    line(fmt::format("const Index own = base + u * {} + threadIdx.x;", m_shape.threads));
    line(fmt::format("const bool active = own < {};", all));
    line(fmt::format("const Index t = active ? own : {} - 1;", all));
    writeIndices(m_shape.outer, "t");
    write();
    close();
  };
  open(fmt::format("for (Index base = (Index)blockIdx.x * {0}; base < {1}; base += (Index)gridDim.x * {0})", together,
                   all));
  const auto array = [&](char kind, std::size_t number, DType dtype) {
    line(fmt::format("KerfPack<{}, V> {}{}[{}];", memoryType(dtype), kind, number, m_shape.unroll));
  };
  for (std::size_t e = 0; e < used.size(); ++e)
    if (readsAhead(e, used)) array('p', e, m_kernel.exprs[e].dtype);
  for (std::size_t s = 0; s < m_kernel.stores.size(); ++s)
    if (isPacked(m_kernel.stores[s].index))
      array('s', s, m_kernel.buffers[std::size_t(m_kernel.stores[s].buffer)].dtype);
  inEach([&] {
    for (std::size_t e = 0; e < used.size(); ++e)
      if (readsAhead(e, used))
        line(fmt::format(
            "p{}[u] = kerf_load{}<{}, V>(b{} + {});", e, storesTo(m_kernel, m_kernel.exprs[e].buffer) ? "" : "_once",
            memoryType(m_kernel.exprs[e].dtype), m_kernel.exprs[e].buffer, affine(m_kernel.exprs[e].index)));
  });
  inEach([&] { writeLoopElements(0, used); });
  inEach([&] { storePacks(isAny); });
  close();
}

/// Packs of the first step: loads at places that no other load tells.
bool KernelWriter::readsAhead(std::size_t expr, const std::vector<bool>& used) const {
  return m_shape.unroll > 1 && used[expr] && m_kernel.exprs[expr].op == ExprOp::Load && readsPack(expr);
}

/// A pack of loads or stores; with several of a thread, that of round u.
std::string KernelWriter::packName(char kind, std::size_t number, bool inRounds) const {
  return fmt::format("{}{}{}", kind, number, inRounds ? "[u]" : "");
}

/// Several blocks for a row at the same time: what each has gathered they read in each other's shared memory.
void KernelWriter::writeClusterRows() {
  line(fmt::format("const int lane = threadIdx.x + blockIdx.x % {} * {};", m_shape.cluster, m_shape.threads));
  line(fmt::format("__shared__ KerfMeeting<{}> meeting;", m_shape.cluster));
  line("kerf_begin(meeting);");
  line("int turn = 0;");
  planKept();
  open(fmt::format("for (Index o = (Index)blockIdx.x / {0}; o < {1}; o += gridDim.x / {0})", m_shape.cluster,
                   count(m_shape.outer)));
  writeIndices(m_shape.outer, "o");
  writePhases();
  close();
}

void KernelWriter::writeRows() {
  if (m_shape.splits > 1) return writeSharedRows();
  if (m_shape.cluster > 1) return writeClusterRows();
  const int teams = m_shape.threads / m_shape.team;
  line(fmt::format("const int lane = threadIdx.x % {};", m_shape.team));
  line(fmt::format("const Index step = (Index)gridDim.x * {};", teams));
  std::string first = fmt::format("(Index)blockIdx.x * {} + threadIdx.x / {}", teams, m_shape.team);
  planKept();
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

void KernelWriter::writePhases() {
  for (auto* list : {&m_outerValues, &m_inverses}) std::ranges::fill(*list, std::string());
  m_hasHalves.assign(m_hasHalves.size(), false);
  writeShift();
  for (int phase = 0; phase <= m_lastPhase; ++phase) {
    writeOuterValues(phase);
    if (phase == 0) writeKept();
    if (loopHasWork(phase)) writeLoop(phase);
  }
  writeOuterStores();
}

/// What is known before the reduced loop of this phase.
void KernelWriter::writeOuterValues(int phase) {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (m_needed[e] && m_place.level[e] < 2 && m_place.phase[e] <= phase) value(int(e));
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (m_quotients[e] != Quotient::Divided && m_inverses[e].empty()) writeInverse(e);
  writeHalves();
}

void KernelWriter::writeInverse(std::size_t quotient) {
  const auto divisor = std::size_t(m_kernel.exprs[quotient].args[1]);
  const std::string& by = m_outerValues[divisor];
  if (by.empty()) return;
  const bool corrected = m_quotients[quotient] == Quotient::Corrected;
  const std::string name = fmt::format("{}{}", corrected ? "near" : "inverse", divisor);
  const bool known = std::ranges::find(m_inverses, name) != m_inverses.end();
  m_inverses[quotient] = name;
  if (known) return;
  if (corrected) return line(fmt::format("const KerfDivisor {} = kerf_divisor({});", name, by));
  line(fmt::format("const float scale{} = kerf_scale({});", divisor, by));
  line(fmt::format("const float {} = 1.0f / ({} * scale{});", name, by, divisor));
}

/// Rounds over the row with `k` as their number where values are kept; else as many as there are.
void KernelWriter::writeLoopHead(bool counted) {
  const std::string most = count(m_shape.inner) + (packsInside() ? " / V" : ""), all = isShifted() ? "packs" : most;
  const int across = m_shape.layout == KernelLayout::Columns ? m_shape.rows : m_shape.team;
  if (!counted) {
    const bool shared = m_shape.splits > 1;
    if (m_shape.team > 1 || m_shape.layout == KernelLayout::Columns) line("#pragma unroll 4");
    const std::string first = shared ? fmt::format("lane + split * (Index){}", across) : "lane";
    return open(fmt::format("for (Index r = {}; r < {}; r += {})", first, all, across * m_shape.splits));
  }
  line("#pragma unroll");
  open(fmt::format("for (int k = 0; k < ({} + {}) / {}; ++k)", most, across - 1, across));
  line(fmt::format("const Index r = lane + k * {};", across));
  line(fmt::format("if (r >= {}) break;", all));
}

void KernelWriter::writeLoop(int phase) {
  m_phase = phase;
  writeIdentities(phase);
  const std::vector<bool> used = usedInLoop(phase);
  bool counted = false;
  for (std::size_t e = 0; e < used.size(); ++e) counted = counted || (used[e] && (m_cached[e] || m_keptFrom[e] >= 0));
  const bool inBatches = !counted && sumsRowsNarrow(phase);
  if (inBatches) writeBatches(phase, used);
  if (inBatches)
    open(fmt::format("for (Index r = base; r < {}; r += {})", count(m_shape.inner), m_shape.rows * m_shape.splits));
  else
    writeLoopHead(counted);
  writeIndices(m_shape.inner, "r");
  writeLoopElements(phase, used);
  close();
  inEdges([&] { writeLoopElements(phase, used); });
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
    if (!used[e] || m_cached[e] || !readsPack(e)) continue;
    if (readsAhead(e, used)) {
      m_packed[e] = true;
      continue;
    }
    if (!m_shape.inner.empty() && m_place.level[e] < 2 && packsInside()) continue;
    const std::string at = expr.op == ExprOp::LoadAt
                               ? fmt::format("(long long)({}) + {}", affine(expr.index), value(expr.args[0]))
                               : affine(expr.index);
    origin(e);
    line(fmt::format("const auto p{} = kerf_load<{}, V>(b{} + {});", e, memoryType(expr.dtype), expr.buffer, at));
    m_packed[e] = true;
  }
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (reduces(e, phase) && sumsNarrow(e) && !m_inBatch) line(fmt::format("float sum{} = 0.0f;", e));
  openPacks(isOf);
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (reduces(e, phase) && !m_shape.inner.empty()) writeGathered(e);
  storeElements(isOf);
  closePacks(isOf);
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (reduces(e, phase) && sumsNarrow(e) && !m_inBatch)
      line(fmt::format("{0} = {0} + (double)sum{1};", totalName(e), e));
  m_inside = false;
}

/// An element joins what the thread has gathered.
void KernelWriter::writeGathered(std::size_t reduction) {
  const Expr& expr = m_kernel.exprs[reduction];
  const bool narrow = sumsNarrow(reduction);
  const std::string element = narrow ? narrowElement(reduction) : value(expr.args[0]);
  origin(reduction);
  if (narrow) return line(fmt::format("sum{0}{2} = sum{0}{2} + {1};", reduction, element, m_inBatch ? "[q]" : ""));
  const std::string total = totalName(reduction);
  line(fmt::format("{} = {};", total, combineText(expr, total, element)));
}

/// Packs for the stores that `isOf` names, and the loop over their elements.
void KernelWriter::openPacks(const StoreFilter& isOf) {
  for (std::size_t s = 0; s < m_kernel.stores.size(); ++s)
    if (m_shape.unroll == 1 && isOf(m_kernel.stores[s]) && isPacked(m_kernel.stores[s].index))
      line(fmt::format("KerfPack<{}, V> s{};",
                       memoryType(m_kernel.buffers[std::size_t(m_kernel.stores[s].buffer)].dtype), s));
  const auto x = m_shape.vectorVariable;
  if (!x || m_atEdge) return;
  line("#pragma unroll");
  open("for (int q = 0; q < V; ++q)");
  line(fmt::format("const Index i{0} = x{0} + q;", *x));
  m_index[*x] = fmt::format("i{}", *x);
}

void KernelWriter::closePacks(const StoreFilter& isOf) {
  const auto x = m_shape.vectorVariable;
  if (!x || m_atEdge) return;
  close();
  m_index[*x] = fmt::format("x{}", *x);
  if (m_shape.unroll == 1) storePacks(isOf);
}

void KernelWriter::storePacks(const StoreFilter& isOf) {
  for (std::size_t s = 0; s < m_kernel.stores.size(); ++s) {
    const LoopStore& store = m_kernel.stores[s];
    if (isOf(store) && isPacked(store.index))
      line(fmt::format("{}kerf_store{}(b{} + {}, {});", ifActive(), isShifted() ? "_whole" : "", store.buffer,
                       affine(store.index), packName('s', s, m_shape.unroll > 1)));
  }
}

/// Whether some threads compute what others store.
bool KernelWriter::mayBeIdle() const {
  return m_shape.layout == KernelLayout::Columns || (m_shape.team > 1 && m_shape.team <= 32) || m_shape.unroll > 1;
}
std::string_view KernelWriter::ifActive() const { return mayBeIdle() ? "if (active) " : ""; }

/// Of a kernel that stores what it loads, all values come first.
void KernelWriter::storeElements(const StoreFilter& isOf) {
  if (storesWhatItLoads())
    for (const LoopStore& store : m_kernel.stores)
      if (isOf(store)) value(store.value);
  for (std::size_t s = 0; s < m_kernel.stores.size(); ++s) {
    const LoopStore& store = m_kernel.stores[s];
    if (!isOf(store)) continue;
    const LoopBuffer& buffer = m_kernel.buffers[std::size_t(store.buffer)];
    const std::string stored = toMemory(value(store.value), buffer.dtype);
    if (isPacked(store.index))
      line(fmt::format("{}.at[q] = {};  // {}", packName('s', s, m_shape.unroll > 1), stored, buffer.name));
    else
      line(fmt::format("{}b{}[{}] = {};  // {}", ifActive(), store.buffer, affine(store.index), stored, buffer.name));
  }
}

void KernelWriter::writeOuterStores() {
  if (std::ranges::all_of(m_kernel.stores, &LoopStore::inner)) return;
  if (storesWhatItLoads()) line(m_shape.team > 32 ? "__syncthreads();" : "__syncwarp();");
  const bool alone = m_shape.team == 1;
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
