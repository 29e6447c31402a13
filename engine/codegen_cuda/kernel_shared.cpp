// Reductions whose elements several threads or blocks gather: their parts become one value, in an order that no run changes.
#include <algorithm>

#include <fmt/format.h>

#include "engine/codegen_cuda/kernel_writer.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline codegen_cuda {

/// Columns: each thread has a total for each of its columns.
std::string KernelWriter::totalName(std::size_t expr) const {
  if (m_shape.layout != KernelLayout::Columns) return fmt::format("v{}", expr);
  return fmt::format("v{}[{}]", expr, m_shape.vectorVariable ? "q" : "0");
}

void KernelWriter::writeIdentities(int phase) {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    if (!reduces(e, phase)) continue;
    const Expr& expr = m_kernel.exprs[e];
    origin(e);
    const std::string_view type = registerType(expr.dtype);
    if (m_shape.layout != KernelLayout::Columns) {
      line(fmt::format("{} v{} = {};", type, e, identityText(expr)));
      continue;
    }
    line(fmt::format("{} v{}[{}];", type, e, m_shape.vectorVariable ? "V" : "1"));
    line(fmt::format("for (auto& total : v{}) total = {};", e, identityText(expr)));
  }
}

/// What the threads of a team, or of a column, have gathered of one reduction becomes one value.
void KernelWriter::writeCombined(std::size_t expr) {
  const std::string combine = combineFunction(m_kernel.exprs[expr]);
  if (m_shape.layout == KernelLayout::Columns)
    line(fmt::format("kerf_columns<{}, {}>(v{}, {}, space);", m_shape.columns, m_shape.rows, expr, combine));
  else if (m_shape.cluster > 1)
    line(fmt::format("v{0} = kerf_cluster<{1}, {2}>(v{0}, {3}, meeting, turn);", expr, m_shape.threads, m_shape.cluster,
                     combine));
  else if (m_shape.team > 1)
    line(fmt::format("v{0} = kerf_team<{1}>(v{0}, {2});", expr, m_shape.team, combine));
}

/// What the threads of a team, or of a column, have gathered becomes one value: all of the team know it, of a column
/// those of the first row.
void KernelWriter::writeTotals(int phase) {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    if (!reduces(e, phase)) continue;
    writeCombined(e);
    if (m_shape.layout != KernelLayout::Columns) m_outerValues[e] = fmt::format("v{}", e);
  }
  if (m_shape.splits > 1) writeParts(phase);
}

/// This block's totals go to memory; the block that is done last goes on with those of all.
void KernelWriter::writeParts(int phase) {
  const bool columns = m_shape.layout == KernelLayout::Columns;
  const std::string each = columns ? (m_shape.vectorVariable ? "V" : "1") : "";
  const auto place = [&](int number, std::string_view split) {
    const std::string place = columns ? "place + q" : "o";
    return fmt::format("({} * (Index){} + {}) * (Index){} + {}", number, m_shape.splits, split, m_shape.results, place);
  };
  const auto perTotal = [&](const std::string& text) {
    if (!columns) return line(text);
    line("#pragma unroll");
    line(fmt::format("for (int q = 0; q < {}; ++q) {}", each, text));
  };
  const auto forTotals = [&](auto&& visit) {
    int number = 0;
    for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
      if (reduces(e, phase)) visit(e, number++);
  };
  const auto total = [&](std::size_t e) { return columns ? fmt::format("v{}[q]", e) : fmt::format("v{}", e); };
  open(columns ? "if (lane == 0 && active)" : "if (lane == 0)");
  forTotals([&](std::size_t e, int number) {
    perTotal(fmt::format("kerf_put_part(parts, {}, {});", place(number, "split"), total(e)));
  });
  close();
  line(fmt::format("if (!kerf_is_last(counters + {}, {})) continue;", columns ? "piece" : "o", m_shape.splits));
  forTotals([&](std::size_t e, int number) {
    const Expr& expr = m_kernel.exprs[e];
    const std::string part = fmt::format("kerf_part<{}>(parts, {})", registerType(expr.dtype), place(number, "s"));
    perTotal(fmt::format("{} = {};", total(e), identityText(expr)));
    open(fmt::format("for (int s = {}; s < {}; s += {})",
                     columns ? fmt::format("active ? lane : {}", m_shape.splits) : "lane", m_shape.splits,
                     columns ? m_shape.rows : m_shape.team));  // behind the last column there are no parts
    perTotal(fmt::format("{} = {};", total(e), combineText(expr, total(e), part)));
    close();
    writeCombined(e);
  });
}

/// Rows of which each is the work of several blocks.
void KernelWriter::writeSharedRows() {
  line("const int lane = threadIdx.x;");
  open(fmt::format("for (Index t = blockIdx.x; t < {} * {}; t += gridDim.x)", count(m_shape.outer), m_shape.splits));
  line(fmt::format("const Index o = t / {0}, split = t % {0};", m_shape.splits));
  writeIndices(m_shape.outer, "o");
  writePhases();
  close();
}

/// Threads beside each other take columns beside each other; those across share a column.
void KernelWriter::writeColumns() {
  const std::size_t column = *m_shape.columnVariable;
  const std::string size = "(Index)" + number(m_kernel.variables[column].size);
  const std::string each = m_shape.vectorVariable ? "V" : "1";
  const char name = m_shape.vectorVariable ? 'x' : 'i';
  line(fmt::format("alignas(16) __shared__ unsigned char space[{} * {}];", m_shape.threads / 32 * m_shape.columns * 8,
                   each));
  line(fmt::format("const int lane = threadIdx.x / {};", m_shape.columns));
  line(fmt::format("const Index tiles = ({0} + {1} * {2} - 1) / ({1} * {2});", size, m_shape.columns, each));
  line(fmt::format("const Index pieces = {} * tiles;", count(m_shape.outer)));
  open(fmt::format("for (Index t = blockIdx.x; t < pieces * {}; t += gridDim.x)", m_shape.splits));
  line("const Index piece = t % pieces, split = t / pieces;");
  line(fmt::format("const Index own = (piece % tiles * {0} + threadIdx.x % {0}) * {1};", m_shape.columns, each));
  line(fmt::format("const bool active = own < {};", size));
  line(fmt::format("const Index {}{} = active ? own : {} - {};", name, column, size, each));
  m_index[column] = fmt::format("{}{}", name, column);
  if (m_shape.splits > 1) line(fmt::format("const Index place = piece / tiles * {} + own;", size));
  writeIndices(m_shape.outer, "(piece / tiles)");
  for (auto* list : {&m_outerValues, &m_inverses}) std::ranges::fill(*list, std::string());
  writeLoop(0);
  writeColumnStores();
  close();
}

/// What follows the sums, for each column of the threads of the first row.
void KernelWriter::writeColumnStores() {
  const StoreFilter isOuter = [](const LoopStore& store) { return !store.inner; };
  m_inside = true;
  std::ranges::fill(m_values, std::string());
  m_packed.assign(m_kernel.exprs.size(), false);
  open("if (lane == 0)");
  openPacks(isOuter);
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (reduces(e, 0)) m_values[e] = totalName(e);
  storeElements(isOuter);
  closePacks(isOuter);
  close();
  m_inside = false;
}

}  // namespace kerf::inline codegen_cuda
