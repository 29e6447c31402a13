// Writes of rows by index on the device: index_put, index_add, index_copy, index_reduce, embedding's gradient.
#include <cmath>

#include "engine/backend/cuda/device_put.h"

namespace kerf::inline backend {
namespace {

/// What tensors of these sizes broadcast to; none where they do not.
std::optional<Sizes> broadcast(const std::vector<const Tensor*>& tensors) {
  Sizes all;
  for (const Tensor* tensor : tensors) {
    const Sizes& sizes = tensor->sizes();
    if (sizes.size() > all.size()) all.insert(all.begin(), sizes.size() - all.size(), 1);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      auto& size = all[all.size() - sizes.size() + d];
      if (size == 1) size = sizes[d];
    }
  }
  for (const Tensor* tensor : tensors)
    if (!repeatedStrides(*tensor, all)) return {};
  return all;
}

/// The strides of `values`, whose sizes end like those of self[indices], over the rows and over the rest.
bool splitValues(const Tensor& values, DevicePut& put) {
  const std::vector<std::size_t>& indexed = put.indexed;
  const bool beside = indexed.back() - indexed.front() + 1 == indexed.size();
  const std::size_t before = beside ? indexed.front() : 0;  // dimensions of the rest that come before the rows
  Sizes whole;
  for (std::size_t r = 0; r < before; ++r) whole.push_back(put.out->sizes()[put.rest[r]]);
  whole.insert(whole.end(), put.rows.begin(), put.rows.end());
  for (std::size_t r = before; r < put.rest.size(); ++r) whole.push_back(put.out->sizes()[put.rest[r]]);
  const auto strides = repeatedStrides(values, whole);
  if (!strides) return false;
  const auto rowsBegin = strides->begin() + std::ptrdiff_t(before),
             rowsEnd = rowsBegin + std::ptrdiff_t(put.rows.size());
  put.valueRows.assign(rowsBegin, rowsEnd);
  put.valueRest.assign(strides->begin(), rowsBegin);
  put.valueRest.insert(put.valueRest.end(), rowsEnd, strides->end());
  return true;
}

/// index_put(self, indices, values, accumulate)
Result<bool> indexPut(const DeviceCall& call) {
  const Tensor &self = call.args.tensor(0), &out = call.out(0), &values = call.args.tensor(2);
  const ValueList& given = call.args.values[1].list();
  DevicePut put{.kind = call.args.boolean(3) ? PutKind::Sum : PutKind::Assign, .self = &self, .out = &out};
  for (std::size_t d = 0; d < self.sizes().size(); ++d) {
    if (d < given.size() && given[d].isTensor())
      put.indexed.push_back(d), put.indices.push_back(&given[d].tensor());
    else
      put.rest.push_back(d);
  }
  const auto rows = broadcast(put.indices);
  if (!rows || put.indices.empty() || values.dtype() != out.dtype() || given.size() > self.sizes().size()) return false;
  put.rows = *rows;
  for (const Tensor* index : put.indices) put.indexStrides.push_back(*repeatedStrides(*index, put.rows));
  if (!splitValues(values, put) || !putTakes(out.dtype(), put.kind) || sharesWrites(self, out, values)) return false;
  KERF_TRY(put.values, call.on.addressOf(values));
  return putRows(call, put);
}

/// embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)
Result<bool> embeddingBackward(const DeviceCall& call) {
  const Tensor &out = call.out(0), &indices = call.args.tensor(1), &grad = call.args.tensor(0);
  DevicePut put{.kind = call.args.boolean(4) ? PutKind::Mean : PutKind::Sum, .out = &out};
  put.includesSelf = !call.args.boolean(4);
  put.indices = {&indices}, put.indexStrides = {indices.strides()}, put.indexed = {0}, put.rest = {1};
  put.rows = indices.sizes(), put.wraps = false, put.skipped = call.args.integer(3);
  if (grad.dtype() != out.dtype() || !splitValues(grad, put)) return false;
  KERF_TRY(put.values, call.on.addressOf(grad));
  return putRows(call, put);
}

/// (self, dim, index, source, ...): whole slices of self.
Result<bool> putSlices(const DeviceCall& call, PutKind kind, bool includesSelf, double factor = 1) {
  const Tensor &self = call.args.tensor(0), &index = call.args.tensor(2), &source = call.args.tensor(3),
               &out = call.out(0);
  const std::int64_t given = call.args.integer(1);
  if (self.dim() == 0 || source.dim() != self.dim() || index.dim() != 1 || source.dtype() != out.dtype()) return false;
  const auto dim = std::size_t(given < 0 ? given + self.dim() : given);
  if (dim >= self.sizes().size() || !putTakes(out.dtype(), kind)) return false;
  DevicePut put{.kind = kind, .factor = factor, .includesSelf = includesSelf, .self = &self, .out = &out};
  put.indices = {&index}, put.indexStrides = {index.strides()}, put.indexed = {dim}, put.wraps = false;
  put.rows = index.sizes(), put.valueRows = {source.strides()[dim]};
  for (std::size_t d = 0; d < self.sizes().size(); ++d) {
    if (source.sizes()[d] != (d == dim ? index.size(0) : self.sizes()[d])) return false;
    if (d != dim) put.rest.push_back(d), put.valueRest.push_back(source.strides()[d]);
  }
  KERF_TRY(put.values, call.on.addressOf(source));
  return putRows(call, put);
}

/// index_add(self, dim, index, source, alpha)
Result<bool> indexAdd(const DeviceCall& call) {
  const double alpha = call.args.number(4);
  const bool isWhole = call.args.values[4].as<double>() == nullptr && std::abs(alpha) < double(std::int64_t{1} << 53);
  if (!isFloating(call.out(0).dtype()) && !isWhole) return false;
  return putSlices(call, PutKind::Sum, true, alpha);
}
Result<bool> indexCopy(const DeviceCall& call) { return putSlices(call, PutKind::Assign, true); }
/// index_reduce(self, dim, index, source, reduce, include_self)
Result<bool> indexReduce(const DeviceCall& call) {
  const auto kind = putKindNamed(call.args.text(4));
  return kind ? putSlices(call, *kind, call.args.boolean(5)) : Result<bool>(false);
}

constexpr DeviceOp rows[] = {
    {.op = "aten.index_put.default", .run = indexPut},
    {.op = "aten._unsafe_index_put.default", .run = indexPut},
    {.op = "aten.index_put_.default", .run = indexPut, .inPlace = true},
    {.op = "aten.embedding_dense_backward.default", .run = embeddingBackward},
    {.op = "aten.index_add.default", .run = indexAdd},
    {.op = "aten.index_copy.default", .run = indexCopy},
    {.op = "aten.index_reduce.default", .run = indexReduce},
};

}  // namespace

std::span<const DeviceOp> indexDeviceOps() { return rows; }

}  // namespace kerf::inline backend
