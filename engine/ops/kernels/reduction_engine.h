// The reduction engine: one pass over the input per result, in double or int64, with error-compensated sums.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/mathlib/sums.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/kernels/chunk_convert.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/simd.h"
#include "engine/tensor/strided_loop.h"

namespace kerf::inline ops {

/// Which dimensions go and which stay.
struct ReducedDims {
  std::vector<bool> reduced;  ///< per input dimension
  SymSizes outSizes;          ///< with size-1 dims where keepdim
  bool any() const { return std::ranges::find(reduced, true) != reduced.end(); }
};

enum class EmptyDims { All, None };  ///< what an empty dim list means

/// From a `int[1]? dim`, `int dim` or `int? dim` value.
Result<ReducedDims> reducedDims(const BoundArguments& args, const Tensor& self, const Value& dim, bool keepdim,
                                EmptyDims empty = EmptyDims::All);

/// Kept and reduced parts of a tensor's geometry.
struct ReduceGeometry {
  Sizes keptSizes, keptStrides, goneSizes, goneStrides;
  std::int64_t keptCount = 1, goneCount = 1;

  ReduceGeometry(const Tensor& self, const ReducedDims& dims) {
    for (std::size_t d = 0; d < dims.reduced.size(); ++d) {
      (dims.reduced[d] ? goneSizes : keptSizes).push_back(self.sizes()[d]);
      (dims.reduced[d] ? goneStrides : keptStrides).push_back(self.strides()[d]);
      (dims.reduced[d] ? goneCount : keptCount) *= self.sizes()[d];
    }
  }
  /// Element offset of every kept position, row-major.
  std::vector<std::int64_t> keptOffsets() const;
  /// Whether neighbours in memory belong to different results.
  bool innerIsKept() const;
};

template <class V>
constexpr ComputeType computeTypeFor() {
  return std::is_same_v<V, double> ? ComputeType::Double : ComputeType::Int64;
}

/// body(V{}) for the V in which elements of `dtype` are read and have their order: double, int64, or uint64 whose bits
/// an int64 holds elsewhere.
template <class Body>
auto inOrderOf(DType dtype, Body&& body) {
  if (dtype == DType::UInt64) return body(std::uint64_t{});
  if (isIntegral(dtype)) return body(std::int64_t{});
  return body(double{});
}

namespace detail {

constexpr std::int64_t reduceChunk = 512;

/// How elements of the stored type become elements of V.
struct Reader {
  LoadFunction load;
  std::int64_t size;  ///< bytes of a stored element
  bool direct;        ///< elements are V already and lie side by side
};

template <class V, class Op>
void addLongRun(const Op& op, typename Op::State& state, const std::byte* from, std::int64_t step, std::int64_t count,
                const Reader& reader) {
  alignas(64) V buffer[reduceChunk];
  for (std::int64_t i = 0; i < count; i += reduceChunk) {
    const std::int64_t length = std::min(reduceChunk, count - i);
    if (reader.direct) {
      op.addRun(state, reinterpret_cast<const V*>(from) + i, length);
      continue;
    }
    reader.load(from + i * step * reader.size, step, buffer, length);
    op.addRun(state, buffer, length);
  }
}

constexpr std::int64_t rowPiece = 1 << 16;

/// Whether there is one result only, of one long run whose pieces combine.
template <class Op>
bool splitsRow(const ReduceGeometry& geometry, const StridedLoop<1>& walk) {
  if constexpr (requires(typename Op::State s) { Op::merge(s, s); })
    return geometry.keptCount == 1 && walk.innerSize() == geometry.goneCount && geometry.goneCount >= 2 * rowPiece;
  else
    return false;
}

/// One result from pieces of equal length, the same ones for any number of threads.
template <class V, class Op>
void reduceOneRow(const Op& op, std::vector<typename Op::State>& states, const std::byte* from, std::int64_t step,
                  std::int64_t count, const Reader& reader) {
  if constexpr (requires(typename Op::State s) { Op::merge(s, s); }) {
    const std::int64_t pieces = (count + rowPiece - 1) / rowPiece;
    std::vector<typename Op::State> parts;
    for (std::int64_t p = 0; p < pieces; ++p) parts.push_back(op.initial(0));
    parallelFor(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p)
        addLongRun<V>(op, parts[std::size_t(p)], from + p * rowPiece * step * reader.size, step,
                      std::min(rowPiece, count - p * rowPiece), reader);
    });
    for (const auto& part : parts) Op::merge(states[0], part);
  }
}

/// Each result walks its own elements.
template <class V, class Op>
void reduceRows(const Tensor& self, const ReduceGeometry& geometry, const Op& op,
                std::vector<typename Op::State>& states, LoadFunction load) {
  const auto offsets = geometry.keptOffsets();
  const StridedLoop<1> walk(geometry.goneSizes, {geometry.goneStrides});
  const std::byte* base = self.storage()->data();
  const std::int64_t size = itemSize(self.dtype());
  const std::int64_t step = walk.innerStrides()[0];
  const Reader reader{load, size, self.dtype() == computeDType(computeTypeFor<V>()) && step == 1};
  if (splitsRow<Op>(geometry, walk)) {
    reduceOneRow<V>(op, states, base + self.offset() * size, step, geometry.goneCount, reader);
    return;
  }
  parallelFor(geometry.keptCount, std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, geometry.goneCount)),
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t k = begin; k < end; ++k) {
                  const std::int64_t start = self.offset() + offsets[std::size_t(k)];
                  walk.forRows([&](const auto& at, std::int64_t count) {
                    addLongRun<V>(op, states[std::size_t(k)], base + (start + at[0]) * size, step, count, reader);
                  });
                }
              });
}

/// Neighbouring results advance together through the reduced positions.
template <class V, class Op>
void reduceColumns(const Tensor& self, const ReduceGeometry& geometry, const Op& op,
                   std::vector<typename Op::State>& states, LoadFunction load) {
  const auto offsets = geometry.keptOffsets();
  const StridedLoop<1> walk(geometry.goneSizes, {geometry.goneStrides});
  const std::byte* base = self.storage()->data();
  const std::int64_t size = itemSize(self.dtype());
  const std::int64_t inner = geometry.keptSizes.back();
  const std::int64_t innerStride = geometry.keptStrides.back();
  const std::int64_t blocks = (inner + reduceChunk - 1) / reduceChunk;
  const bool direct = self.dtype() == computeDType(computeTypeFor<V>()) && innerStride == 1;
  const std::int64_t grain = 32768 / std::max<std::int64_t>(1, geometry.goneCount * std::min(inner, reduceChunk));
  parallelFor(geometry.keptCount / inner * blocks, std::max<std::int64_t>(1, grain),
              [&](std::int64_t begin, std::int64_t end) {
                alignas(64) V buffer[reduceChunk];
                for (std::int64_t b = begin; b < end; ++b) {
                  const std::int64_t first = b / blocks * inner + b % blocks * reduceChunk;
                  const std::int64_t length = std::min(reduceChunk, inner - b % blocks * reduceChunk);
                  const std::int64_t start = self.offset() + offsets[std::size_t(first)];
                  typename Op::State* const blockStates = &states[std::size_t(first)];
                  const auto rows = [&](auto&& add) {
                    walk.forRows([&](const auto& at, std::int64_t count) {
                      for (std::int64_t r = 0; r < count; ++r) {
                        const std::byte* from = base + (start + at[0] + r * walk.innerStrides()[0]) * size;
                        if (direct) {
                          add(reinterpret_cast<const V*>(from));
                        } else {
                          load(from, innerStride, buffer, length);
                          add(buffer);
                        }
                      }
                    });
                  };
                  if constexpr (requires { op.columns(blockStates, length); }) {
                    auto columns = op.columns(blockStates, length);
                    rows([&](const V* x) { columns.add(x, length); });
                    columns.store(blockStates, length);
                  } else {
                    rows([&](const V* x) { op.addColumns(blockStates, x, length); });
                  }
                }
              });
}

}  // namespace detail

/// States of all results, row-major over the kept dimensions. Op: State, `State initial(index)`, addRun, addColumns.
template <class V, class Op>
Result<std::vector<typename Op::State>> reduceStates(const Tensor& self, const ReducedDims& dims, const Op& op) {
  const LoadFunction load = loadFunction(self.dtype(), computeTypeFor<V>());
  if (!load) return fail(ErrorCode::UnsupportedOp, "no reduction of {}", dtypeInfo(self.dtype()).torchName);
  const ReduceGeometry geometry(self, dims);
  std::vector<typename Op::State> states;
  states.reserve(std::size_t(geometry.keptCount));
  for (std::int64_t k = 0; k < geometry.keptCount; ++k) states.push_back(op.initial(k));
  if (geometry.keptCount == 0 || geometry.goneCount == 0) return states;
  if (geometry.innerIsKept())
    detail::reduceColumns<V>(self, geometry, op, states, load);
  else
    detail::reduceRows<V>(self, geometry, op, states, load);
  return states;
}

/// Writes row-major values into `out`, whatever its strides and dtype.
template <class V>
Result<void> writeValues(const std::vector<V>& values, const Tensor& out) {
  if (values.empty()) return {};
  auto* bytes = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(values.data()));
  const auto size = std::int64_t(values.size() * sizeof(V));
  const Tensor view(Storage::borrow(bytes, size, std::make_shared<int>(0)), computeDType(computeTypeFor<V>()),
                    out.sizes(), contiguousStrides(out.sizes()));
  return copyElements(view, out);
}

struct SumOp {
  using State = ExactSum;
  /// Sums of neighbouring results, part by part.
  struct Columns {
    alignas(64) double high[detail::reduceChunk] = {};
    alignas(64) double low[detail::reduceChunk] = {};
    void add(const double* x, std::int64_t count) { kerf::addColumns(high, low, x, count); }
    void store(State* states, std::int64_t count) const {
      for (std::int64_t i = 0; i < count; ++i) {
        states[i].high = high[i];
        states[i].low = low[i];
      }
    }
  };
  State initial(std::int64_t) const { return {}; }
  Columns columns(const State*, std::int64_t) const { return {}; }
  void addRun(State& state, const double* x, std::int64_t count) const { kerf::addRun(state, x, count); }
  static void merge(State& state, const State& other) {
    state.add(other.high);
    state.low += other.low;
  }
};

/// An Op from `V F::apply(V state, V x)` and its neutral start value. Where states do not combine as elements do, F has
/// a `V F::merge(V, V)` besides.
template <class V, class F>
struct FoldOp {
  using State = V;
  V start;
  State initial(std::int64_t) const { return start; }
  static void merge(State& state, const State& other) {
    if constexpr (requires { F::merge(state, other); })
      state = F::merge(state, other);
    else
      state = F::apply(state, other);
  }
  struct RunKernel {
    KERF_KERNEL void run(V* state, V start, const V* x, std::int64_t count) {
      constexpr std::int64_t lanes = 16;
      V parts[lanes];
      for (std::int64_t lane = 0; lane < lanes; ++lane) parts[lane] = start;
      std::int64_t i = 0;
      for (; i + lanes <= count; i += lanes)
        for (std::int64_t lane = 0; lane < lanes; ++lane) parts[lane] = F::apply(parts[lane], x[i + lane]);
      for (; i < count; ++i) *state = F::apply(*state, x[i]);
      if (count < lanes) return;
      for (const V& part : parts) merge(*state, part);
    }
  };
  struct ColumnsKernel {
    KERF_KERNEL void run(V* states, const V* x, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) states[i] = F::apply(states[i], x[i]);
    }
  };
  void addRun(State& state, const V* x, std::int64_t count) const { perIsa<RunKernel>(&state, start, x, count); }
  void addColumns(State* states, const V* x, std::int64_t count) const { perIsa<ColumnsKernel>(states, x, count); }
};

/// Sum of f(x, parameter) where every result has a parameter of its own (a mean, a maximum).
template <class F>
struct MappedSumOp {
  struct State : ExactSum {
    double parameter = 0;
  };
  struct RunKernel {
    KERF_KERNEL void run(const double* x, double parameter, double* mapped, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) mapped[i] = F::apply(x[i], parameter);
    }
  };
  struct ColumnsKernel {
    KERF_KERNEL void run(const double* x, const double* parameters, double* mapped, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) mapped[i] = F::apply(x[i], parameters[i]);
    }
  };
  struct Columns : SumOp::Columns {
    alignas(64) double parameters[detail::reduceChunk];
    alignas(64) double mapped[detail::reduceChunk];
    void add(const double* x, std::int64_t count) {
      perIsa<ColumnsKernel>(x, static_cast<const double*>(&parameters[0]), &mapped[0], count);
      SumOp::Columns::add(mapped, count);
    }
    void store(State* states, std::int64_t count) const {
      for (std::int64_t i = 0; i < count; ++i) {
        states[i].high = this->high[i];
        states[i].low = this->low[i];
      }
    }
  };
  const std::vector<double>* parameters = nullptr;  ///< null: all 0
  State initial(std::int64_t index) const {
    State state;
    if (parameters) state.parameter = (*parameters)[std::size_t(index)];
    return state;
  }
  Columns columns(const State* states, std::int64_t count) const {
    Columns result;
    for (std::int64_t i = 0; i < count; ++i) result.parameters[i] = states[i].parameter;
    return result;
  }
  void addRun(State& state, const double* x, std::int64_t count) const {
    alignas(64) double mapped[detail::reduceChunk];
    perIsa<RunKernel>(x, state.parameter, &mapped[0], count);
    kerf::addRun(state, mapped, count);
  }
  static void merge(State& state, const State& other) { SumOp::merge(state, other); }
};

}  // namespace kerf::inline ops
