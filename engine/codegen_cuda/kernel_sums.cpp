// Sums of packs: neighbours that a thread has at once are added in float32, and what they give in float64. A processor
// converts float32 to float64 at an eighth of the rate at which it adds. Not in kernels that store float64.
#include <algorithm>

#include <fmt/format.h>

#include "engine/codegen_cuda/kernel_writer.h"

namespace kerf::inline codegen_cuda {
namespace {

/// The float32 that a float64 is made of; -1 where it is no conversion of one.
int widened(const LoopKernel& kernel, int expr) {
  const Expr& e = kernel.exprs[std::size_t(expr)];
  const bool isWidened = e.op == ExprOp::Convert && e.dtype == DType::Float64 &&
                         kernel.exprs[std::size_t(e.args[0])].dtype == DType::Float32;
  return isWidened ? e.args[0] : -1;
}

}  // namespace

void KernelWriter::planNarrowSums() {
  m_narrowSums.assign(m_kernel.exprs.size(), NarrowSum::None);
  m_hasHalves.assign(m_kernel.exprs.size(), false);
  if (std::ranges::any_of(m_kernel.stores, [&](const LoopStore& store) {
        return m_kernel.buffers[std::size_t(store.buffer)].dtype == DType::Float64;
      }))
    return;  // somebody wants all the digits
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    const Expr& sum = m_kernel.exprs[e];
    if (!m_needed[e] || sum.op != ExprOp::ReduceSum || sum.dtype != DType::Float64) continue;
    if (widened(m_kernel, sum.args[0]) >= 0) m_narrowSums[e] = NarrowSum::Elements;
    const Expr& square = m_kernel.exprs[std::size_t(sum.args[0])];
    if (square.op != ExprOp::Mul || square.args[0] != square.args[1]) continue;
    const Expr& distance = m_kernel.exprs[std::size_t(square.args[0])];
    if (distance.op == ExprOp::Sub && widened(m_kernel, distance.args[0]) >= 0 &&
        m_place.level[std::size_t(distance.args[1])] == 1)
      m_narrowSums[e] = NarrowSum::Squares;
  }
}

/// Where a thread has several elements of a row at once, or some rows of the same columns.
bool KernelWriter::sumsNarrow(std::size_t expr) const {
  if (m_shape.layout == KernelLayout::Columns) return m_inBatch && m_narrowSums[expr] == NarrowSum::Elements;
  return m_narrowSums[expr] != NarrowSum::None && m_shape.layout == KernelLayout::Rows && packsInside() && !m_atEdge;
}

/// Whether columns of 16-bit values are summed: eight of them at once, whose conversions would take longer than memory does.
bool KernelWriter::sumsRowsNarrow(int phase) const {
  constexpr int leastPack = 8;
  if (m_shape.layout != KernelLayout::Columns || m_shape.vector < leastPack) return false;
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (reduces(e, phase) && m_narrowSums[e] == NarrowSum::Elements) return true;
  return false;
}

/// Rows of the same columns, four at a time; `base` is the first of those that are left.
void KernelWriter::writeBatches(int phase, const std::vector<bool>& used) {
  constexpr int together = 4;
  const std::string all = count(m_shape.inner);
  const int step = m_shape.rows * m_shape.splits;
  line(fmt::format("Index base = {};",
                   m_shape.splits > 1 ? fmt::format("lane + split * (Index){}", m_shape.rows) : "lane"));
  open(fmt::format("for (; base + {} < {}; base += {})", (together - 1) * step, all, together * step));
  m_inBatch = true;
  const auto forSums = [&](auto&& visit) {
    for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
      if (reduces(e, phase) && sumsNarrow(e)) visit(e);
  };
  forSums([&](std::size_t e) { line(fmt::format("float sum{}[V] = {{}};", e)); });
  line("#pragma unroll");
  open(fmt::format("for (int u = 0; u < {}; ++u)", together));
  line(fmt::format("const Index r = base + u * (Index){};", step));
  writeIndices(m_shape.inner, "r");
  writeLoopElements(phase, used);
  close();
  line("#pragma unroll");
  open("for (int q = 0; q < V; ++q)");
  forSums([&](std::size_t e) { line(fmt::format("{0} = {0} + (double)sum{1}[q];", totalName(e), e)); });
  close();
  close();
  m_inBatch = false;
}

/// The value that squares are taken from, as the sum of two float32.
void KernelWriter::writeHalves() {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    if (m_narrowSums[e] != NarrowSum::Squares || !packsInside()) continue;
    const auto square = std::size_t(m_kernel.exprs[e].args[0]), distance = std::size_t(m_kernel.exprs[square].args[0]);
    const std::string& from = m_outerValues[std::size_t(m_kernel.exprs[distance].args[1])];
    if (from.empty() || m_hasHalves[distance]) continue;
    m_hasHalves[distance] = true;
    line(fmt::format("const float high{0} = (float){1}, low{0} = (float)({1} - (double)high{0});", distance, from));
  }
}

std::string KernelWriter::narrowElement(std::size_t sum) {
  const auto arg = std::size_t(m_kernel.exprs[sum].args[0]);
  if (m_narrowSums[sum] == NarrowSum::Elements) return value(m_kernel.exprs[arg].args[0]);
  const auto distance = std::size_t(m_kernel.exprs[arg].args[0]);
  const std::string element = value(widened(m_kernel, m_kernel.exprs[distance].args[0]));
  line(fmt::format("const float far{0} = {1} - high{2} - low{2};", sum, element, distance));
  return fmt::format("far{0} * far{0}", sum);
}

}  // namespace kerf::inline codegen_cuda
