#include "engine/loops/kernel_traffic.h"

#include <algorithm>

namespace kerf::inline loops {
namespace {

/// Iterations of the loops that the index depends on; of all of them where `everywhere`.
std::int64_t placesOf(const LoopKernel& kernel, const Affine& index, bool everywhere) {
  std::int64_t places = 1;
  for (std::size_t v = 0; v < kernel.variables.size(); ++v)
    if (everywhere || !isZero(index.coefficient(v))) places *= exampleOf(kernel.variables[v].size);
  return places;
}

}  // namespace

std::int64_t kernelBytes(const LoopKernel& kernel, const std::vector<std::int64_t>& elements) {
  std::vector<std::int64_t> read(kernel.buffers.size(), 0), written(kernel.buffers.size(), 0);
  for (const Expr& e : kernel.exprs)
    if (isLoad(e.op)) read[std::size_t(e.buffer)] += placesOf(kernel, e.index, e.op == ExprOp::LoadAt);
  for (const LoopStore& store : kernel.stores)
    written[std::size_t(store.buffer)] += placesOf(kernel, store.index, store.place >= 0);
  std::int64_t bytes = 0;
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
    bytes += (std::min(read[b], elements[b]) + std::min(written[b], elements[b])) * itemSize(kernel.buffers[b].dtype);
  return bytes;
}

}  // namespace kerf::inline loops
