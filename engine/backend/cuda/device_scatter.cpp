// scatter, scatter_add, scatter_reduce and the gradients of maxima over windows on the device.
#include "engine/backend/cuda/device_put.h"

namespace kerf::inline backend {
namespace {

/// self[..., index[..., i, ...], ...] = source[..., i, ...] along `dim`. Dimensions along which the index is repeated, and that it
/// spans, are written as rows.
Result<bool> scattered(const DeviceCall& call, PutKind kind, bool includesSelf) {
  const Tensor &self = call.args.tensor(0), &index = call.args.tensor(2), &out = call.out(0);
  const Tensor* const source = call.args.tensorIf(3);
  const std::int64_t given = call.args.integer(1);
  if (self.dim() == 0 || index.dim() != self.dim() || !putTakes(out.dtype(), kind)) return false;
  if (source && (source->dtype() != out.dtype() || source->dim() != self.dim() || sharesWrites(self, out, *source)))
    return false;
  const auto dim = std::size_t(given < 0 ? given + self.dim() : given);
  if (dim >= self.sizes().size()) return false;
  DevicePut put{.kind = kind, .includesSelf = includesSelf, .self = &self, .out = &out};
  put.indices = {&index}, put.indexed = {dim}, put.wraps = false, put.indexStrides.emplace_back();
  for (std::size_t d = 0; d < self.sizes().size(); ++d) {
    const std::int64_t size = index.sizes()[d], step = source ? source->strides()[d] : 0;
    if (source && size > source->sizes()[d]) return false;
    if (d != dim && size > self.sizes()[d]) return false;
    if (d != dim && size == self.sizes()[d] && (index.strides()[d] == 0 || size == 1)) {
      put.rest.push_back(d), put.valueRest.push_back(step);
      continue;
    }
    if (d != dim) put.along.push_back(d), put.rowDims.push_back(put.rows.size());
    put.rows.push_back(size), put.valueRows.push_back(step);
    put.indexStrides.front().push_back(index.strides()[d]);
  }
  if (source) {
    KERF_TRY(put.values, call.on.addressOf(*source));
  } else {
    KERF_TRY(put.values, numberOnDevice(call.on, out.dtype(), call.args.values[3]));
  }
  return putRows(call, put);
}

/// scatter(self, dim, index, src or value)
Result<bool> scatter(const DeviceCall& call) { return scattered(call, PutKind::Assign, true); }
Result<bool> scatterAdd(const DeviceCall& call) { return scattered(call, PutKind::Sum, true); }
/// (self, dim, index, src or value, reduce, include_self)
Result<bool> scatterReduce(const DeviceCall& call) {
  const auto kind = putKindNamed(call.args.text(4));
  if (!kind) return false;
  return scattered(call, *kind, call.args.values.size() < 6 || call.args.boolean(5));
}

/// The gradient of a maximum over windows: each element of `grad`, argument 0, goes to the place of its plane that argument `at`
/// tells. Planes are the last `spatial` dimensions.
template <std::size_t at, std::size_t spatial>
Result<bool> poolGradient(const DeviceCall& call) {
  const Tensor &grad = call.args.tensor(0), &indices = call.args.tensor(at), &out = call.out(0);
  const std::size_t rank = out.sizes().size();
  if (!out.isContiguous() || grad.sizes() != indices.sizes() || grad.dtype() != out.dtype() || rank < spatial)
    return false;
  if (grad.sizes().size() != rank || !putTakes(out.dtype(), PutKind::Sum)) return false;
  Sizes planes(out.sizes().begin(), out.sizes().end() - std::ptrdiff_t(spatial));
  const std::size_t lead = planes.size();
  std::int64_t plane = 1;
  for (std::size_t d = lead; d < rank; ++d) plane *= out.sizes()[d];
  planes.push_back(plane);
  const Tensor flat = out.viewAs(planes, contiguousStrides(planes), out.offset());
  DevicePut put{.kind = PutKind::Sum, .out = &flat};
  put.indices = {&indices}, put.indexStrides = {indices.strides()}, put.indexed = {lead}, put.wraps = false;
  put.rows = grad.sizes(), put.valueRows = grad.strides();
  for (std::size_t d = 0; d < lead; ++d) put.along.push_back(d), put.rowDims.push_back(d);
  KERF_TRY(put.values, call.on.addressOf(grad));
  return putRows(call, put);
}

constexpr DeviceOp rows[] = {
    {.op = "aten.scatter.src", .run = scatter},
    {.op = "aten.scatter.value", .run = scatter},
    {.op = "aten.scatter.reduce", .run = scatterReduce},
    {.op = "aten.scatter.value_reduce", .run = scatterReduce},
    {.op = "aten.scatter_add.default", .run = scatterAdd},
    {.op = "aten.scatter_reduce.two", .run = scatterReduce},
    {.op = "aten.scatter_.src", .run = scatter, .inPlace = true},
    {.op = "aten.scatter_.value", .run = scatter, .inPlace = true},
    {.op = "aten.scatter_add_.default", .run = scatterAdd, .inPlace = true},
    {.op = "aten.scatter_reduce_.two", .run = scatterReduce, .inPlace = true},
    {.op = "aten.max_pool2d_with_indices_backward.default", .run = poolGradient<7, 2>},
    {.op = "aten.max_pool3d_with_indices_backward.default", .run = poolGradient<7, 3>},
    {.op = "aten.adaptive_max_pool2d_backward.default", .run = poolGradient<2, 2>},
    {.op = "aten.adaptive_max_pool3d_backward.default", .run = poolGradient<2, 3>},
    {.op = "aten.fractional_max_pool2d_backward.default", .run = poolGradient<4, 2>},
};

}  // namespace

std::span<const DeviceOp> scatterDeviceOps() { return rows; }

}  // namespace kerf::inline backend
