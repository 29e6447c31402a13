#include "engine/distributed/sharding/halo_plan.h"

#include <algorithm>

namespace kerf::inline distributed::inline sharding {
namespace {

IndexRange chunk(std::int64_t size, std::int64_t count, std::int64_t index) {
  const std::int64_t step = (size + count - 1) / count, start = std::min(size, step * index);
  return {start, std::min(size, start + step)};
}

/// A list of one item stands for every dimension.
std::int64_t item(const BoundArguments& call, std::string_view name, std::int64_t spatial) {
  const Sizes values = call.sizes(call.position(name));
  if (values.empty()) return name == "padding" ? 0 : 1;
  return values[values.size() == 1 ? 0 : std::size_t(spatial)];
}

}  // namespace

std::int64_t SlidingWindow::results(std::int64_t size) const {
  const std::int64_t room = size + 2 * padding - span();
  return room < 0 ? 0 : room / stride + 1;
}

IndexRange IndexRange::meet(const IndexRange& other) const {
  const std::int64_t from = std::max(start, other.start);
  return {from, std::max(from, std::min(end, other.end))};
}

std::int64_t HaloPlan::widest() const {
  std::int64_t most = 0;
  for (const HaloPart& part : parts)
    if (part.reads.size() > 0)
      most = std::max({most, part.own.start - part.reads.start, part.reads.end - part.own.end});
  return most;
}

Result<HaloPlan> planHalo(const SlidingWindow& window, std::int64_t size, std::int64_t ranks) {
  const std::int64_t results = window.results(size);
  HaloPlan plan{size, {}};
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    HaloPart part{chunk(size, ranks, rank), chunk(results, ranks, rank), {}, 0, 0};
    if (part.results.size() == 0)
      return fail(ErrorCode::UnsupportedOp,
                  "a window of {} with stride {} gives {} result{} of {} elements: none for rank {} of {}",
                  window.span(), window.stride, results, results == 1 ? "" : "s", size, rank, ranks);
    const std::int64_t from = part.results.start * window.stride - window.padding;
    const std::int64_t to = (part.results.end - 1) * window.stride - window.padding + window.span();
    part.reads = {std::clamp<std::int64_t>(from, 0, size), std::clamp<std::int64_t>(to, 0, size)};
    part.zerosBefore = std::max<std::int64_t>(0, std::min<std::int64_t>(to, 0) - from);
    part.zerosAfter = std::max<std::int64_t>(0, to - std::max(from, size));
    plan.parts.push_back(part);
  }
  return plan;
}

std::size_t convolvedInput(const BoundArguments& call) { return call.position("input"); }

SlidingWindow windowOf(const BoundArguments& call, std::int64_t dim) {
  const std::int64_t spatial = dim - 2;
  return {.kernel = call.tensor(call.position("weight")).size(dim),
          .stride = item(call, "stride", spatial),
          .padding = item(call, "padding", spatial),
          .dilation = item(call, "dilation", spatial)};
}

}  // namespace kerf::inline distributed::inline sharding
