// How many blocks have a row together, and how large they are.
#include <algorithm>
#include <bit>

#include "engine/codegen_cuda/kernel_shape.h"

namespace kerf::inline codegen_cuda {
namespace {

/// Words of a row that a thread keeps so that several blocks fit on a processor: some read while others write.
struct KeptForm {
  int threads;
  std::int64_t words;
};
/// Of a block that has the row alone; of blocks in clusters, the better form first.
constexpr KeptForm aloneForm{512, 32}, clusterForms[] = {{256, 28}, {512, 28}, {512, 32}, {1024, 28}};
/// From how many words on the places of a row that begins anywhere leave room for two words less.
constexpr std::int64_t fullForm = 32, shiftedWords = 2;

/// Words of four bytes of what a row's several loops read again, or of what is expensive to compute for them again,
/// which takes the place of what it is computed of; none where that cannot be kept.
std::optional<std::int64_t> wordsOfRow(const LoopKernel& kernel, const ExprPlacement& place,
                                       const std::vector<bool>& needed, bool inPacks, std::int64_t inner) {
  std::int64_t bytes = 0, values = 0;
  const std::vector<int> loops = loopsOverRow(kernel, place, needed), costs = costsInRow(kernel, place);
  const std::int64_t least = inPacks ? 1 : 4;  // a register each
  for (std::size_t e = 0; e < kernel.exprs.size(); ++e) {
    const Expr& expr = kernel.exprs[e];
    if (!needed[e]) continue;
    if (loops[e] > 1 && costs[e] >= expensiveCost) values = std::max(values, itemSize(expr.dtype));
    if (!isLoad(expr.op)) continue;
    if (storesTo(kernel, expr.buffer)) return {};
    if (expr.op == ExprOp::Load && place.level[e] == 2 && loops[e] > 1)
      bytes += std::max<std::int64_t>(least, itemSize(expr.dtype));
  }
  return (std::max(bytes, values) * inner + 3) / 4;
}

}  // namespace

void chooseCluster(KernelShape& shape, const LoopKernel& kernel, const ExprPlacement& place,
                   const std::vector<bool>& needed, KernelTarget target, std::int64_t inner) {
  const auto words = wordsOfRow(kernel, place, needed, shape.vector > 1, inner);
  if (!words || *words <= std::min(shape.team, aloneForm.threads) * aloneForm.words) return;
  for (const auto [threads, most] : clusterForms) {
    const std::int64_t each = threads * (most == fullForm && shape.shift ? most - shiftedWords : most);
    const auto blocks = std::int64_t(std::bit_ceil(std::uint64_t((*words + each - 1) / each)));
    if (blocks == 1) return;
    if (blocks > target.mostCluster) continue;
    shape.cluster = int(blocks), shape.threads = int(threads), shape.team = int(threads * blocks);
    return;
  }
  if (shape.team < aloneForm.threads) shape.threads = shape.team = aloneForm.threads;
}

}  // namespace kerf::inline codegen_cuda
