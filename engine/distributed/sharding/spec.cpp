#include "engine/distributed/sharding/spec.h"

#include <algorithm>
#include <limits>

namespace kerf::inline distributed::inline sharding {

bool Spec::isSharded() const { return std::ranges::any_of(placements, &Placement::isShard); }
bool Spec::isPartial() const { return std::ranges::any_of(placements, &Placement::isPartial); }
bool Spec::isReplicated() const { return std::ranges::all_of(placements, &Placement::isReplicate); }

std::int64_t Spec::shards(const DeviceMesh& mesh) const {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < placements.size(); ++i)
    if (placements[i].isShard()) count *= mesh.size(i);
  return count;
}

Sizes localSizes(const Spec& spec, const DeviceMesh& mesh, const Sizes& coordinate) {
  Sizes sizes = spec.sizes;
  for (std::size_t i = 0; i < spec.placements.size(); ++i) {
    const Placement& placement = spec.placements[i];
    if (!placement.isShard() || placement.dim >= spec.dims()) continue;
    std::int64_t& size = sizes[std::size_t(placement.dim)];
    size = shardSize(placement, size, mesh.size(i), coordinate[i]);
  }
  return sizes;
}

Sizes localOffsets(const Spec& spec, const DeviceMesh& mesh, const Sizes& coordinate) {
  Sizes sizes = spec.sizes, offsets(spec.sizes.size(), 0);
  for (std::size_t i = 0; i < spec.placements.size(); ++i) {
    const Placement& placement = spec.placements[i];
    if (!placement.isShard() || placement.dim >= spec.dims()) continue;
    std::int64_t& size = sizes[std::size_t(placement.dim)];
    const std::int64_t step = (size + mesh.size(i) - 1) / mesh.size(i);
    offsets[std::size_t(placement.dim)] += std::min(size, step * coordinate[i]);
    size = shardSize(placement, size, mesh.size(i), coordinate[i]);
  }
  return offsets;
}

namespace {

template <class Fits>
bool everyDimension(const Spec& spec, const DeviceMesh& mesh, Fits fits) {
  Sizes shards(spec.sizes.size(), 1);
  for (std::size_t i = 0; i < spec.placements.size(); ++i) {
    const Placement& placement = spec.placements[i];
    if (!placement.isShard()) continue;
    if (placement.dim >= spec.dims()) return false;
    std::int64_t& count = shards[std::size_t(placement.dim)];
    count *= mesh.size(i);
    if (!fits(spec.sizes[std::size_t(placement.dim)], count * placement.splitFactor)) return false;
  }
  return true;
}

// PyTorch's figures for a network between hosts, which a mesh of CPU ranks counts as.
constexpr double bandwidth = 87.7 * 0.22, hopLatency = 2.7, baseLatency = 6.6;
constexpr double none = std::numeric_limits<double>::infinity();

double ringCost(double gigabytes, std::int64_t ranks, std::int64_t rounds) {
  const double hops = double(rounds * (ranks - 1));
  return baseLatency + hops * hopLatency + gigabytes * hops / double(ranks) / bandwidth * 1e6;
}

/// The cost of one step; changes the bytes that are on the way.
double stepCost(const RedistributeStep& step, std::int64_t ranks, double& gigabytes) {
  const Placement &from = step.from, &to = step.to;
  if (from == to) return 0;
  if (from.isShard() && to.isReplicate()) {
    gigabytes *= double(ranks);
    return ringCost(gigabytes, ranks, 1);
  }
  if (from.isShard() && to.isShard()) return ringCost(gigabytes, ranks, 1) + 1;
  if (from.isPartial() && to.isReplicate()) return ringCost(gigabytes, ranks, 2);
  if (from.isPartial() && to.isShard()) {
    const double cost = ringCost(gigabytes, ranks, 1);
    gigabytes /= double(ranks);
    return cost;
  }
  if (to.isPartial() && !from.isReplicate()) return none;
  if (from.isReplicate() && to.isShard()) gigabytes /= double(ranks);
  return 0;
}

/// The mesh dimensions before `meshDim` that shard tensor dimension `dim`, with how they do.
std::vector<std::pair<std::size_t, std::int64_t>> outerShards(const Placements& placements, std::size_t meshDim,
                                                              std::int64_t dim) {
  std::vector<std::pair<std::size_t, std::int64_t>> result;
  for (std::size_t i = 0; i < meshDim; ++i)
    if (placements[i].isShardOf(dim)) result.emplace_back(i, placements[i].splitFactor);
  return result;
}

}  // namespace

bool isShardable(const Spec& spec, const DeviceMesh& mesh) {
  return everyDimension(spec, mesh, [](std::int64_t size, std::int64_t shards) { return size >= shards; });
}

bool isEvenlyShardable(const Spec& spec, const DeviceMesh& mesh) {
  return everyDimension(spec, mesh, [](std::int64_t size, std::int64_t shards) { return size % shards == 0; });
}

bool isEvenlyShardableOn(const Spec& spec, const DeviceMesh& mesh, std::int64_t dim) {
  std::int64_t shards = 1;
  for (std::size_t i = 0; i < spec.placements.size(); ++i)
    if (spec.placements[i].isShardOf(dim)) shards *= mesh.size(i);
  return dim >= spec.dims() || spec.sizes[std::size_t(dim)] % shards == 0;
}

namespace {

bool isMasked(const Placement& placement) { return placement.kind == Placement::Kind::MaskPartial; }

std::vector<RedistributeStep> planWithoutMasks(const Spec& from, const Placements& to, const DeviceMesh& mesh) {
  std::vector<RedistributeStep> steps;
  Placements current = from.placements;
  const auto step = [&](std::size_t i, const Placement& target) {
    if (current[i] == target) return;
    // A strided shard meets no other shard: by way of the whole.
    const bool strided =
        current[i].kind == Placement::Kind::StridedShard || target.kind == Placement::Kind::StridedShard;
    if (strided && !current[i].isReplicate() && !target.isReplicate()) {
      steps.push_back({i, current[i], Placement::replicate()});
      current[i] = Placement::replicate();
    }
    steps.push_back({i, current[i], target});
    current[i] = target;
  };
  if (current.size() == 1) {
    step(0, to[0]);
    return steps;
  }
  if (from.shards(mesh) > 1)
    for (std::size_t i = current.size(); i-- > 0;) {
      const bool nested = to[i].isShard() && outerShards(current, i, to[i].dim) != outerShards(to, i, to[i].dim);
      step(i, nested ? Placement::replicate() : to[i]);
    }
  // Parts of a sum are made last: parts of a product that are divided before they are multiplied give another one.
  for (std::size_t i = 0; i < current.size(); ++i)
    if (!current[i].isReplicate() || !to[i].isPartial()) step(i, to[i]);
  for (std::size_t i = 0; i < current.size(); ++i) step(i, to[i]);
  return steps;
}

}  // namespace

/// A mask covers the rows that its rank has when it looks up: what is masked is reduced before other placements change,
/// and looked up after they have.
std::vector<RedistributeStep> planRedistribution(const Spec& from, const Placements& to, const DeviceMesh& mesh) {
  std::vector<RedistributeStep> steps, last;
  Spec start = from;
  Placements target = to;
  for (std::size_t i = 0; i < to.size() && to.size() > 1; ++i) {
    if (start.placements[i] == to[i]) continue;
    if (isMasked(start.placements[i])) {
      steps.push_back({i, start.placements[i], Placement::replicate()});
      start.placements[i] = Placement::replicate();
    }
    if (!isMasked(to[i])) continue;
    last.push_back({i, Placement::replicate(), to[i]});
    target[i] = Placement::replicate();
  }
  const auto between = planWithoutMasks(start, target, mesh);
  steps.insert(steps.end(), between.begin(), between.end());
  steps.insert(steps.end(), last.begin(), last.end());
  return steps;
}

double redistributeCost(const Spec& from, const Placements& to, const DeviceMesh& mesh) {
  if (from.isReplicated() || from.placements == to) return 0;
  double bytes = double(itemSize(from.dtype));
  for (const std::int64_t size : from.sizes) bytes *= double(size);
  double gigabytes = bytes / double(from.shards(mesh)) / 1024 / 1024 / 1024, cost = 0;
  for (const RedistributeStep& step : planRedistribution(from, to, mesh))
    cost += stepCost(step, mesh.size(step.meshDim), gigabytes);
  return cost;
}

}  // namespace kerf::inline distributed::inline sharding
