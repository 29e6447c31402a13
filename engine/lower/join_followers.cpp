// Kernels that take a convolution's result row by row, as it comes.
#include <algorithm>

#include "engine/lower/channels_last.h"
#include "engine/lower/lowered_graph.h"

namespace kerf::inline lower {
namespace {

/// Elements of a buffer that iteration after iteration of the divided loops takes; none where iterations take other
/// ones, or where sizes are not known.
class RowAccess {
 public:
  RowAccess(const LoopKernel& kernel, int buffer) : m_kernel(kernel), m_buffer(buffer) {
    m_divided = dividedLoops(kernel);
  }

  /// 0: none. `elements` are those of the buffer.
  std::int64_t perIteration(std::int64_t elements) const {
    if (m_divided == 0 || m_kernel.writesAtPlaces() || m_kernel.variableSizes().isSymbolic()) return 0;
    std::int64_t result = 0;
    for (const Expr& e : m_kernel.exprs) {
      if (!isLoad(e.op) || e.buffer != m_buffer) continue;
      const std::int64_t own = e.op == ExprOp::Load ? step(e.index) : 0;
      if (own <= 0 || (result != 0 && own != result)) return 0;
      result = own;
    }
    for (const LoopStore& store : m_kernel.stores)
      if (store.buffer == m_buffer) return 0;
    std::int64_t iterations = 1;
    for (std::size_t v = 0; v < m_divided; ++v) iterations *= m_kernel.variables[v].size.bits();
    return result * iterations == elements ? result : 0;
  }

 private:
  /// How far one iteration moves, where all that it reads lies within.
  std::int64_t step(const Affine& index) const {
    if (index.constant.isSymbolic() || index.coefficients.isSymbolic()) return 0;
    const std::int64_t step = index.coefficient(m_divided - 1).bits();
    if (m_divided == 2 && index.coefficient(0).bits() != step * m_kernel.variables[1].size.bits()) return 0;
    std::int64_t last = index.constant.bits();
    for (std::size_t v = m_divided; v < m_kernel.variables.size(); ++v) {
      if (index.coefficient(v).bits() < 0) return 0;
      last += index.coefficient(v).bits() * (m_kernel.variables[v].size.bits() - 1);
    }
    return index.constant.bits() >= 0 && last < step ? step : 0;
  }

  const LoopKernel& m_kernel;
  const int m_buffer;
  std::size_t m_divided = 0;
};

class Joiner {
 public:
  explicit Joiner(LoweredGraph& graph) : m_graph(graph), m_steps(graph.steps) {}

  void run() {
    // From the end, so that what moves back passes no convolution that is still to be looked at.
    for (std::size_t s = m_steps.size(); s-- > 0;) {
      if (!m_steps[s].isExtern || !isRowConvolution((*m_graph.values)[m_steps[s].node])) continue;
      if (const std::size_t reader = firstReader(s); reader < m_steps.size()) join(s, reader);
    }
  }

 private:
  bool reads(std::size_t step, int buffer) const {
    return std::ranges::find(m_steps[step].reads, buffer) != m_steps[step].reads.end();
  }

  std::size_t firstReader(std::size_t s) const {
    std::size_t reader = s + 1;
    while (reader < m_steps.size() && !reads(reader, m_steps[s].writes[0])) ++reader;
    return reader;
  }

  void join(std::size_t s, std::size_t reader) {
    const LoweredStep& kernel = m_steps[reader];
    const int result = m_steps[s].writes[0];
    if (kernel.isExtern || kernel.segment != m_steps[s].segment || follows(reader)) return;
    if (sharedReduction(kernel.kernel)) return;  // its pieces are no rows of the convolution
    if (leavesSegment(s, reader) || isWrittenBefore(s, reader)) return;
    int argument = -1;
    for (std::size_t a = 0; a < kernel.arguments.size(); ++a) {
      if (kernel.arguments[a].buffer != result) continue;
      if (argument >= 0 || !isZero(kernel.arguments[a].offset)) return;
      argument = int(a);
    }
    const BufferInfo& info = m_graph.buffers.buffers()[std::size_t(result)];
    std::int64_t elements = 1;
    for (const std::int64_t size : info.sizes.numbers()) elements *= size;
    const std::int64_t taken = RowAccess(kernel.kernel, argument).perIteration(elements);
    if (taken == 0) return;
    m_steps[s].followerElements = taken;
    m_steps[s].followerTakesAll = info.kind == BufferKind::Planned && countReaders(result) == 1;
    std::rotate(m_steps.begin() + std::ptrdiff_t(s), m_steps.begin() + std::ptrdiff_t(s) + 1,
                m_steps.begin() + std::ptrdiff_t(reader));
  }

  /// Whether a step between them is of another segment: a kernel that stores a copy may have been put behind a call that
  /// writes into what the convolution reads.
  bool leavesSegment(std::size_t s, std::size_t reader) const {
    for (std::size_t step = s + 1; step < reader; ++step)
      if (m_steps[step].segment != m_steps[s].segment) return true;
    return false;
  }

  /// Whether a kernel after the convolution, up to its reader, stores into an input that the convolution may read.
  bool isWrittenBefore(std::size_t s, std::size_t reader) const {
    const auto& buffers = m_graph.buffers.buffers();
    const auto isRead = [&](int buffer) {
      return buffers[std::size_t(buffer)].kind == BufferKind::Input &&
             std::ranges::any_of(m_steps[s].reads, [&](int read) {
               return read == buffer || buffers[std::size_t(read)].kind == BufferKind::External;
             });
    };
    for (std::size_t step = s + 1; step <= reader; ++step)
      if (std::ranges::any_of(m_steps[step].writes, isRead)) return true;
    return false;
  }

  /// Whether a convolution before it has taken the kernel already.
  bool follows(std::size_t step) const { return m_steps[step - 1].followerElements > 0; }

  std::ptrdiff_t countReaders(int buffer) const {
    return std::ranges::count_if(
        m_steps, [&](const LoweredStep& step) { return std::ranges::find(step.reads, buffer) != step.reads.end(); });
  }

  LoweredGraph& m_graph;
  std::vector<LoweredStep>& m_steps;
};

}  // namespace

void joinFollowers(LoweredGraph& graph) { Joiner(graph).run(); }

}  // namespace kerf::inline lower
