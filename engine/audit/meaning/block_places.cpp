#include "engine/audit/meaning/block_places.h"

namespace kerf::inline audit {

std::optional<std::pair<KernelLanes, KernelLanes>> blockPlaces(const KernelLanes& base, const BlockShape& shape) {
  const std::size_t rank = shape.sizes.size();
  if (base.memory < 0 || base.isUnknown || !base.isOne() || rank == 0 || shape.strides.size() != rank ||
      shape.block.size() != rank || shape.offsets.size() != rank)
    return std::nullopt;
  double count = 1;
  for (const double extent : shape.block) count *= extent;
  if (count < 1 || count > 1 << 22) return std::nullopt;
  std::vector<double> places, inside;
  std::vector<double> digits(rank, 0);
  for (double i = 0; i < count; ++i) {
    double place = base.at(0), holds = 1;
    for (std::size_t d = 0; d < rank; ++d) {
      const double at = shape.offsets[d] + digits[d];
      place += at * shape.strides[d];
      if (at < 0 || at >= shape.sizes[d]) holds = 0;
    }
    places.push_back(place);
    inside.push_back(holds);
    for (std::size_t d = rank; d-- > 0;) {
      if (++digits[d] < shape.block[d]) break;
      digits[d] = 0;
    }
  }
  if (places.size() == 1) {
    KernelLanes place(places[0], base.type);
    place.memory = base.memory;
    return std::pair(place, KernelLanes(inside[0], LaneType::Bool));
  }
  KernelLanes lanes(std::move(places), base.type);
  lanes.memory = base.memory;
  return std::pair(lanes, KernelLanes(std::move(inside), LaneType::Bool));
}

}  // namespace kerf::inline audit
