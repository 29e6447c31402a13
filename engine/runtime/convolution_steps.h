// ConvolutionSteps: the convolutions of a program that run row by row, as they were prepared in the first run.
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/mathlib/row_convolution.h"
#include "engine/support/hash.h"
#include "engine/tensor/value.h"

namespace kerf::inline runtime {

/// The arguments of aten::convolution.
struct ConvolutionCall {
  Tensor image, filter, bias;  ///< `bias` may be undefined
  ConvolutionSpec spec;
};
Result<ConvolutionCall> convolutionCall(const ValueList& args);

/// Kernels and filters in their layout are kept from run to run; a filter is packed again when its elements changed.
class ConvolutionSteps {
 public:
  /// False, with nothing done, where the convolution is none for RowConvolution, or where the follower (may be null)
  /// would keep it from being divided among the threads.
  Result<bool> run(std::size_t step, const ConvolutionCall& call, const Tensor& out, const RowFollower* follower);
  void clear() { m_prepared.clear(); }

 private:
  struct Prepared {
    std::unique_ptr<RowConvolution> plan;  ///< null: none is possible
    bool divides = true;
    int threads = 0;
    std::int64_t multiple = 0;
    std::vector<Hash128> filterHashes;
    Tensor packed;
  };
  static void prepare(Prepared& step, const ConvolutionCall& call, const Tensor& out, const RowFollower* follower);
  static Result<void> packFilter(Prepared& step, const Tensor& filter);

  std::unordered_map<std::size_t, Prepared> m_prepared;  ///< by step, with and without a follower
};

}  // namespace kerf::inline runtime
