// Elements of large tensors in pieces, converted as the pieces are read: figures over whole outputs take no memory of
// the outputs' size.
#pragma once

#include <mutex>
#include <vector>

#include "engine/support/thread_pool.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/dispatch.h"
#include "engine/tensor/empty.h"

namespace kerf::inline accuracy {

/// The elements of a shape in row-major order, cut into pieces that are rectangles of it. The cut depends on the sizes
/// alone, so that figures do not depend on threads.
class ElementChunks {
 public:
  static constexpr std::int64_t length = 1 << 16;  ///< most elements of a piece

  explicit ElementChunks(const Sizes& sizes);
  std::int64_t count() const { return m_count; }
  /// Piece `index` of a tensor of these sizes, as a look at it.
  Tensor piece(const Tensor& tensor, std::int64_t index) const;

 private:
  Sizes m_sizes;
  std::size_t m_split = 0;  ///< the dimension that is cut into runs of m_run; those before it go one by one
  std::int64_t m_run = 1;
  std::int64_t m_pieces = 1;  ///< of the split dimension
  std::int64_t m_count = 0;
};

/// A piece of one tensor, dense and of one dtype; conversions go to a buffer that the next piece takes again.
class ChunkReader {
 public:
  ChunkReader(const Tensor& tensor, DType as) : m_tensor(tensor), m_as(as) {}
  /// Valid until the next call.
  Result<Tensor> read(const ElementChunks& chunks, std::int64_t index);

 private:
  const Tensor& m_tensor;
  DType m_as;
  Tensor m_buffer;
};

/// Shape in which `a` and `b`, of equal sizes, are walked: flat where both are dense.
inline Sizes walkedSizes(const Tensor& a, const Tensor& b) {
  return a.isContiguous() && b.isContiguous() ? Sizes{a.numel()} : a.sizes();
}
inline Tensor asWalked(const Tensor& tensor, const Sizes& sizes) {
  if (tensor.sizes() == sizes) return tensor;
  return tensor.viewAs(sizes, contiguousStrides(sizes), tensor.offset());
}

/// Calls body(piece, a's elements, b's elements, how many) for every piece of two tensors of equal sizes, seen as the
/// dtypes of A and B; several threads at once. Results of the pieces are the caller's, one for each: prepare(count) is
/// called before.
template <class A, class B, class Prepare, class Body>
Result<void> forChunks(const Tensor& a, const Tensor& b, Prepare&& prepare, Body&& body) {
  const Sizes sizes = walkedSizes(a, b);
  const Tensor left = asWalked(a, sizes), right = asWalked(b, sizes);
  const ElementChunks chunks(sizes);
  prepare(chunks.count());
  std::mutex mutex;
  Result<void> outcome;
  parallelFor(chunks.count(), 1, [&](std::int64_t begin, std::int64_t end) {
    ChunkReader readA(left, dtypeOf<A>()), readB(right, dtypeOf<B>());
    for (std::int64_t i = begin; i < end; ++i) {
      const auto pieceA = readA.read(chunks, i), pieceB = readB.read(chunks, i);
      if (pieceA && pieceB) {
        body(i, pieceA->template data<A>(), pieceB->template data<B>(), pieceA->numel());
        continue;
      }
      const std::lock_guard lock(mutex);
      outcome = std::unexpected(pieceA ? pieceB.error() : pieceA.error());
    }
  });
  return outcome;
}

}  // namespace kerf::inline accuracy
