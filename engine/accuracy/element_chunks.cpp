#include "engine/accuracy/element_chunks.h"

#include <algorithm>

namespace kerf::inline accuracy {

ElementChunks::ElementChunks(const Sizes& sizes) : m_sizes(sizes) {
  if (m_sizes.empty()) m_sizes.push_back(1);
  std::int64_t inner = 1;
  m_split = m_sizes.size();
  while (m_split > 1 && inner * m_sizes[m_split - 1] <= length) inner *= m_sizes[--m_split];
  --m_split;
  if (std::ranges::find(m_sizes, std::int64_t{0}) != m_sizes.end()) return;  // no piece at all
  m_run = std::clamp<std::int64_t>(length / inner, 1, m_sizes[m_split]);
  m_pieces = (m_sizes[m_split] + m_run - 1) / m_run;
  m_count = m_pieces;
  for (std::size_t d = 0; d < m_split; ++d) m_count *= m_sizes[d];
}

Tensor ElementChunks::piece(const Tensor& tensor, std::int64_t index) const {
  if (tensor.sizes().empty()) return tensor.viewAs({1}, {1}, tensor.offset());
  const std::int64_t first = index % m_pieces * m_run;
  std::int64_t offset = tensor.offset() + first * tensor.strides()[m_split];
  std::int64_t rest = index / m_pieces;
  for (std::size_t d = m_split; d-- > 0;) {
    offset += rest % m_sizes[d] * tensor.strides()[d];
    rest /= m_sizes[d];
  }
  const auto split = std::ptrdiff_t(m_split);
  Sizes sizes(m_sizes.begin() + split, m_sizes.end());
  sizes[0] = std::min(m_run, m_sizes[m_split] - first);
  return tensor.viewAs(sizes, Sizes(tensor.strides().begin() + split, tensor.strides().end()), offset);
}

Result<Tensor> ChunkReader::read(const ElementChunks& chunks, std::int64_t index) {
  Tensor piece = chunks.piece(m_tensor, index);
  if (piece.dtype() == m_as && piece.isContiguous()) return piece;
  if (!m_buffer.defined()) {
    KERF_TRY(m_buffer, emptyTensor(m_as, {ElementChunks::length}));
  }
  Tensor dense = m_buffer.viewAs(piece.sizes(), contiguousStrides(piece.sizes()), 0);
  KERF_CHECK(copyElements(piece, dense));
  return dense;
}

}  // namespace kerf::inline accuracy
