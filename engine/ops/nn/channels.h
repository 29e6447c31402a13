// Tensors of shape [N, C, *] channel by channel, and the per-channel arguments that go with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "engine/ops/core/op_call.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline ops {

/// [samples, channels, area].
struct ChannelGeometry {
  std::int64_t samples = 1, channels = 1, area = 1;
  std::int64_t perChannel() const { return samples * area; }
  /// body(channel) on all threads.
  template <class Body>
  void forChannels(Body&& body) const {
    parallelFor(channels, std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(1, perChannel())),
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t c = begin; c < end; ++c) body(c);
                });
  }
  template <class Visit>
  void forChannel(std::int64_t channel, Visit&& visit) const {
    for (std::int64_t n = 0; n < samples; ++n)
      for (std::int64_t i = 0; i < area; ++i) visit(std::size_t((n * channels + channel) * area + i));
  }
};

/// The argument of that name in the schema; null where the overload has none or it is none.
const Tensor* namedTensor(const BoundArguments& args, std::string_view name);
/// `otherwise` where the overload has no argument of that name.
bool namedFlag(const BoundArguments& args, std::string_view name, bool otherwise);

/// The size of dimension 1. ShapeMismatch for fewer than two dimensions.
Result<SymInt> channelsOf(const BoundArguments& args, const Tensor& input);
Result<ChannelGeometry> channelGeometry(const BoundArguments& args, const Tensor& input);
/// One number for each channel, `otherwise` where there is no tensor. ShapeMismatch for another number of elements.
Result<Doubles> channelValues(const BoundArguments& args, const Tensor* tensor, std::int64_t channels,
                              double otherwise);

}  // namespace kerf::inline ops
