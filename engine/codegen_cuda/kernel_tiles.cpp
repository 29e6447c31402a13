// Layout Tiles: what is read along another loop than the stores follow goes through shared memory, a square at a time.
#include <algorithm>

#include <fmt/format.h>

#include "engine/codegen_cuda/kernel_writer.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline codegen_cuda {
namespace {

/// Shared memory that a block has without asking for more.
constexpr std::int64_t mostShared = 48 * 1024;

}  // namespace

void KernelWriter::planTiled() {
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e) {
    const Expr& expr = m_kernel.exprs[e];
    if (!m_needed[e] || !mayGoThroughTile(m_kernel, e, *m_shape.columnVariable, *m_shape.acrossVariable)) continue;
    const std::int64_t own = std::int64_t(tileSide) * (tileSide + 1) * itemSize(expr.dtype);
    if (m_tileBytes + own > mostShared) continue;
    m_tileAt[e] = m_tileBytes;
    m_tileBytes += own;
    m_tiled[e] = true;
  }
}

/// The kernel's one piece of shared memory, which its body with packs and the one without share: each instance of a
/// template would have memory of its own.
void KernelWriter::writeTileSpace() {
  if (m_tileBytes > 0) line(fmt::format("alignas(16) __shared__ unsigned char tiled[{}];", m_tileBytes));
}

void KernelWriter::writeTiles() {
  const std::size_t x = *m_shape.columnVariable, y = *m_shape.acrossVariable;
  const std::string columns = number(m_kernel.variables[x].size), lines = number(m_kernel.variables[y].size);
  const bool vectors = m_shape.vectorVariable.has_value();
  line(fmt::format("constexpr int Y = {};", vectors ? fmt::format("V > 1 ? {} : 1", m_shape.acrossVector) : "1"));
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (m_tiled[e])
      line(fmt::format("auto& t{0} = *reinterpret_cast<{1} (*)[{2}][{3}]>(tiled + {4});", e,
                       memoryType(m_kernel.exprs[e].dtype), tileSide, tileSide + 1, m_tileAt[e]));
  line(fmt::format("const Index tiles = ((Index){} + {}) / {};", columns, tileSide - 1, tileSide));
  line(fmt::format("const Index bands = ((Index){} + {}) / {};", lines, tileSide - 1, tileSide));
  open(fmt::format("for (Index t = blockIdx.x; t < {} * tiles * bands; t += gridDim.x)", count(m_shape.outer)));
  line(fmt::format("const Index bx = t % tiles * {0}, by = t / tiles % bands * {0};", tileSide));
  writeIndices(m_shape.outer, "(t / (tiles * bands))");
  line("__syncthreads();");
  for (std::size_t e = 0; e < m_kernel.exprs.size(); ++e)
    if (m_tiled[e]) writeTileLoad(e);
  line("__syncthreads();");
  const std::string each = vectors ? "V" : "1";
  m_index[x] = fmt::format("{}{}", vectors ? 'x' : 'i', x);
  open(fmt::format("for (int k = threadIdx.x; k < {} / {}; k += {})", tileSide * tileSide, each, m_shape.threads));
  line(fmt::format("const Index {} = bx + k % ({} / {}) * {};", m_index[x], tileSide, each, each));
  line(fmt::format("const Index i{} = by + k / ({} / {});", y, tileSide, each));
  line(fmt::format("if ({} >= {} || i{} >= {}) continue;", m_index[x], columns, y, lines));
  writeLoopElements(0, usedInLoop(0));
  close();
  close();
}

/// Threads beside each other read along the other loop.
void KernelWriter::writeTileLoad(std::size_t e) {
  const std::size_t x = *m_shape.columnVariable, y = *m_shape.acrossVariable;
  const Expr& expr = m_kernel.exprs[e];
  const bool isPart = expr.op == ExprOp::LoadWhere;
  const std::string each = isPart ? "1" : "Y";
  origin(e);
  line("#pragma unroll");
  open(fmt::format("for (int k = threadIdx.x; k < {} / {}; k += {})", tileSide * tileSide, each, m_shape.threads));
  line(fmt::format("const int left = k / ({0} / {1}), down = k % ({0} / {1}) * {1};", tileSide, each));
  line(fmt::format("const Index i{} = bx + left, i{} = by + down;", x, y));
  line(fmt::format("if (i{} >= {} || i{} >= {}) continue;", x, number(m_kernel.variables[x].size), y,
                   number(m_kernel.variables[y].size)));
  m_index[x] = fmt::format("i{}", x);
  m_index[y] = fmt::format("i{}", y);
  const std::string_view type = memoryType(expr.dtype);
  if (isPart) {
    m_inside = m_staging = true;
    std::ranges::fill(m_values, std::string());
    line(fmt::format("t{}[left][down] = {} ? b{}[{}] : ({})0;", e, value(expr.args[0]), expr.buffer, affine(expr.index),
                     type));
    m_inside = m_staging = false;
  } else {
    line(fmt::format("const auto read = kerf_load<{}, Y>(b{} + {});", type, expr.buffer, affine(expr.index)));
    line(fmt::format("for (int q = 0; q < Y; ++q) t{}[left][down + q] = read.at[q];", e));
  }
  close();
}

}  // namespace kerf::inline codegen_cuda
