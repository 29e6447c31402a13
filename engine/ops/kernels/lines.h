// Lines: the one-dimensional runs of a tensor along one dimension, read and written as doubles or int64.
#pragma once

#include <vector>

#include "engine/ops/core/op_call.h"
#include "engine/ops/kernels/chunk_convert.h"
#include "engine/ops/kernels/reduction_engine.h"

namespace kerf::inline ops {

/// All lines of a tensor along `dim` (a 0-d tensor is one line of one element), in row-major order of the rest.
/// Only for dtypes with arithmetic: reading or writing others (complex) does nothing, so shape rules refuse them.
class Lines {
 public:
  Lines(const Tensor& tensor, std::int64_t dim) : m_tensor(tensor) {
    ReducedDims dims;
    dims.reduced.assign(tensor.sizes().size(), false);
    if (tensor.dim() > 0) dims.reduced[std::size_t(dim)] = true;
    m_length = tensor.dim() > 0 ? tensor.size(dim) : 1;
    m_stride = tensor.dim() > 0 ? tensor.stride(dim) : 1;
    m_offsets = ReduceGeometry(tensor, dims).keptOffsets();
  }
  std::int64_t count() const { return std::int64_t(m_offsets.size()); }
  std::int64_t length() const { return m_length; }
  std::int64_t stride() const { return m_stride; }

  template <class V>
  void read(std::int64_t line, V* to) const {
    if (const LoadFunction load = loadFunction(m_tensor.dtype(), computeTypeFor<V>()))
      load(address(line), m_stride, to, m_length);
  }
  template <class V>
  void write(std::int64_t line, const V* from) const {
    if (const StoreFunction store = storeFunction(computeTypeFor<V>(), m_tensor.dtype()))
      store(from, address(line), m_stride, m_length);
  }
  std::byte* address(std::int64_t line) const {
    return m_tensor.storage()->data() + (m_tensor.offset() + m_offsets[std::size_t(line)]) * itemSize(m_tensor.dtype());
  }

 private:
  const Tensor& m_tensor;
  std::vector<std::int64_t> m_offsets;
  std::int64_t m_length = 1;
  std::int64_t m_stride = 1;
};

/// body(line, buffer of V with the line's elements), over the worker threads; skips tensors without elements.
template <class V, class Body>
Result<void> forLines(const Tensor& tensor, std::int64_t dim, Body&& body) {
  if (!loadFunction(tensor.dtype(), computeTypeFor<V>()))
    return fail(ErrorCode::UnsupportedOp, "no arithmetic on {}", dtypeInfo(tensor.dtype()).torchName);
  const Lines lines(tensor, dim);
  if (lines.length() == 0) return {};
  parallelFor(lines.count(), std::max<std::int64_t>(1, 8192 / lines.length()),
              [&](std::int64_t begin, std::int64_t end) {
                std::vector<V> buffer(std::size_t(lines.length()));
                for (std::int64_t line = begin; line < end; ++line) {
                  lines.read(line, buffer.data());
                  body(line, buffer);
                }
              });
  return {};
}

}  // namespace kerf::inline ops
