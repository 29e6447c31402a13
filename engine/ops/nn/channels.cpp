#include "engine/ops/nn/channels.h"

namespace kerf::inline ops {

const Tensor* namedTensor(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return args.tensorIf(i);
  return nullptr;
}
bool namedFlag(const BoundArguments& args, std::string_view name, bool otherwise) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return args.boolean(i);
  return otherwise;
}

Result<SymInt> channelsOf(const BoundArguments& args, const Tensor& input) {
  if (input.dim() < 2) return mismatch(args, "input needs at least 2 dimensions, has {}", input.dim());
  return input.symSize(1);
}

Result<ChannelGeometry> channelGeometry(const BoundArguments& args, const Tensor& input) {
  KERF_CHECK(channelsOf(args, input));
  ChannelGeometry geometry{input.size(0), input.size(1), 1};
  for (std::int64_t d = 2; d < input.dim(); ++d) geometry.area *= input.size(d);
  return geometry;
}

Result<Doubles> channelValues(const BoundArguments& args, const Tensor* tensor, std::int64_t channels,
                              double otherwise) {
  if (!tensor || tensor->numel() == 0) return Doubles(std::size_t(channels), otherwise);
  if (tensor->numel() != channels)
    return mismatch(args, "a per-channel argument has {} elements, expected {}", tensor->numel(), channels);
  KERF_TRY(const Tensor wide, tensor->to(DType::Float64));
  KERF_TRY(const Tensor flat, wide.contiguous());
  return Doubles(flat.data<double>(), flat.data<double>() + channels);
}

}  // namespace kerf::inline ops
