#include "engine/distributed/replay/whole_values.h"

#include <algorithm>

#include "engine/distributed/group/collectives.h"

namespace kerf::inline distributed::inline replay {
namespace {

std::vector<Sizes> sizesOf(const std::vector<Tensor>& parts) {
  std::vector<Sizes> sizes;
  for (const Tensor& part : parts) sizes.push_back(part.sizes());
  return sizes;
}

bool areParts(const Sizes& whole, const std::vector<Sizes>& parts, std::int64_t dim) {
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    Sizes own = whole;
    std::int64_t& size = own[std::size_t(dim)];
    size = shardSize(Placement::shard(dim), size, std::int64_t(parts.size()), std::int64_t(rank));
    if (parts[rank] != own) return false;
  }
  return true;
}

bool isReduced(const std::vector<Tensor>& parts, const Tensor& whole, const char* op, const SameTensor& isSame) {
  const auto made = reduceTensors(op, parts);
  return made && isSame(*made, whole);
}

}  // namespace

std::optional<Placement> placementOfSizes(const Sizes& whole, const std::vector<Sizes>& parts) {
  if (std::ranges::all_of(parts, [&](const Sizes& own) { return own == whole; })) return Placement::replicate();
  for (std::int64_t d = 0; d < std::int64_t(whole.size()); ++d)
    if (areParts(whole, parts, d)) return Placement::shard(d);
  return std::nullopt;
}

Fit fitOf(const std::vector<Tensor>& parts, const Tensor& whole, const SameTensor& isSame) {
  const auto placement = placementOfSizes(whole.sizes(), sizesOf(parts));
  if (!placement) return {};
  Fit fit{placement->text(), {}};
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    Result<Tensor> own = whole;
    if (placement->isShard()) own = chunkOf(whole, placement->dim, std::int64_t(parts.size()), std::int64_t(rank));
    if (!own || !isSame(parts[rank], *own)) fit.wrong.push_back(int(rank));
  }
  if (fit.wrong.empty() || placement->isShard() || !isFloating(whole.dtype())) return fit;
  for (const char* op : {"sum", "avg"})
    if (isReduced(parts, whole, op, isSame)) return {fmt::format("P({})", op), {}};
  return fit;
}

}  // namespace kerf::inline distributed::inline replay
