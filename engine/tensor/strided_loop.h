// StridedLoop: walks several equally shaped strided tensors at once, with dimensions merged where all of them allow it.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "engine/support/thread_pool.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline tensor {

/// N operands of one shape; strides may be 0 (broadcast). Order of visits is row-major over the given sizes.
template <std::size_t N>
class StridedLoop {
 public:
  using Offsets = std::array<std::int64_t, N>;

  StridedLoop(const Sizes& sizes, const std::array<Sizes, N>& strides) {
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      Offsets step{};
      for (std::size_t k = 0; k < N; ++k) step[k] = strides[k][d];
      append(sizes[d], step);
    }
    if (m_dims.empty()) m_dims.push_back({1, Offsets{}});
    for (const auto& dim : m_dims) m_numel *= dim.size;
  }

  std::int64_t numel() const { return m_numel; }
  /// Length and strides of the innermost run.
  std::int64_t innerSize() const { return m_dims.back().size; }
  const Offsets& innerStrides() const { return m_dims.back().step; }

  /// Calls row(offsets, count) for runs of the innermost dimension; offsets are in elements.
  template <class Row>
  void forRows(Row&& row) const {
    if (m_numel != 0) rows(0, m_numel / innerSize(), row);
  }
  /// As forRows, split over the worker threads when there are at least `grain` elements a piece. Runs do not overlap.
  template <class Row>
  void forRowsParallel(std::int64_t grain, Row&& row) const {
    if (m_numel == 0) return;
    if (m_numel < 2 * grain) return rows(0, m_numel / innerSize(), row);
    const std::int64_t inner = innerSize();
    if (m_dims.size() == 1) {
      parallelFor(inner, grain, [&](std::int64_t begin, std::int64_t end) {
        Offsets at{};
        for (std::size_t k = 0; k < N; ++k) at[k] = begin * innerStrides()[k];
        row(at, end - begin);
      });
      return;
    }
    parallelFor(m_numel / inner, std::max<std::int64_t>(1, grain / inner),
                [&](std::int64_t begin, std::int64_t end) { rows(begin, end, row); });
  }

 private:
  struct Dim {
    std::int64_t size;
    Offsets step;
  };

  void append(std::int64_t size, const Offsets& step) {
    if (size == 1) return;
    if (!m_dims.empty()) {
      Dim& last = m_dims.back();
      bool merges = true;
      for (std::size_t k = 0; k < N; ++k) merges &= last.step[k] == step[k] * size;
      if (merges) {
        last.size *= size;
        last.step = step;
        return;
      }
    }
    m_dims.push_back({size, step});
  }

  template <class Row>
  void rows(std::int64_t begin, std::int64_t end, Row&& row) const {
    const std::size_t outer = m_dims.size() - 1;
    if (outer == 0 && begin == 0 && end == 1) return (void)row(Offsets{}, innerSize());
    std::vector<std::int64_t> index(outer);
    Offsets at{};
    for (std::size_t d = outer, rest = std::size_t(begin); d-- > 0;) {
      index[d] = std::int64_t(rest) % m_dims[d].size;
      rest /= std::size_t(m_dims[d].size);
      for (std::size_t k = 0; k < N; ++k) at[k] += index[d] * m_dims[d].step[k];
    }
    for (std::int64_t r = begin; r < end; ++r) {
      row(std::as_const(at), innerSize());
      advance(index, at);
    }
  }

  void advance(std::vector<std::int64_t>& index, Offsets& at) const {
    for (std::size_t d = index.size(); d-- > 0;) {
      for (std::size_t k = 0; k < N; ++k) at[k] += m_dims[d].step[k];
      if (++index[d] < m_dims[d].size) return;
      for (std::size_t k = 0; k < N; ++k) at[k] -= m_dims[d].step[k] * m_dims[d].size;
      index[d] = 0;
    }
  }

  std::vector<Dim> m_dims;
  std::int64_t m_numel = 1;
};

}  // namespace kerf::inline tensor
