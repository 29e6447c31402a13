// The tensor arithmetic behind same(): torch.allclose, RMSE and cosine similarity, rounded as PyTorch's CPU kernels do.
#pragma once

#include "engine/tensor/tensor.h"

namespace kerf::inline accuracy {

/// Both tensors seen with their common (broadcast) shape, without copying; ShapeMismatch when there is none.
Result<std::pair<Tensor, Tensor>> broadcastTogether(const Tensor& a, const Tensor& b);

struct CloseReport {
  bool close = true;      ///< every element is
  double worstRatio = 0;  ///< max |a - b| / (tol + tol |b|); infinity where a NaN or infinity decides
};

/// torch.allclose(a, b, atol=tol, rtol=tol, equal_nan): a, b of one dtype and shape. Each step rounds to the dtype, so
/// bfloat16 and float16 tolerances are as coarse as in PyTorch; integers and bool compare in float32.
Result<CloseReport> allClose(const Tensor& a, const Tensor& b, double tolerance, bool equalNan);

/// sqrt(mean((a - b)²)) in float64; NaN for empty tensors.
Result<double> rootMeanSquareError(const Tensor& a, const Tensor& b);

/// torch.nn.functional.cosine_similarity of the flattened float32 tensors with eps 1e-6.
Result<float> cosineSimilarity(const Tensor& a, const Tensor& b);

/// Largest |a - b| over elements where both are finite.
Result<double> maxAbsDifference(const Tensor& a, const Tensor& b);

struct SpecialCounts {
  std::int64_t nan = 0, inf = 0;
};
/// NaN and infinite elements; a complex element counts when either part does. Zero for integers and bool.
Result<SpecialCounts> countSpecials(const Tensor& tensor);

/// Figures of two tensors of equal sizes, from one look at every element.
struct PairFigures {
  double maxAbsDifference = 0;  ///< the largest that is finite
  std::int64_t finite = 0;      ///< elements that are finite in both; a complex one when all its parts are
  SpecialCounts a, b;
};
Result<PairFigures> pairFigures(const Tensor& a, const Tensor& b);

}  // namespace kerf::inline accuracy
