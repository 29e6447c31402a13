// Inner loops over two dense runs of floats, for figures over whole outputs. Same results on every machine: sums and
// maxima go over a fixed number of lanes, and nothing is contracted.
#pragma once

#include <cstdint>

namespace kerf::inline accuracy {

/// Of elements a[i], b[i] as doubles.
struct DifferenceFigures {
  double most = 0;  ///< the largest |a - b| that is finite
  std::int64_t finite = 0, nanA = 0, infA = 0, nanB = 0, infB = 0;
};
DifferenceFigures differenceFigures(const float* a, const float* b, std::int64_t count);
DifferenceFigures differenceFigures(const double* a, const double* b, std::int64_t count);

/// Sum of (a[i] - b[i])².
double squaredDifferences(const double* a, const float* b, std::int64_t count);
double squaredDifferences(const double* a, const double* b, std::int64_t count);

/// torch.isclose(a, b, atol=tolerance, rtol=tolerance) for a tolerance above 0: whether all are, and the largest
/// |a - b| / (tolerance + tolerance |b|), infinity where a NaN or infinity decides.
struct CloseFigures {
  bool close = true;
  double worst = 0;
};
CloseFigures closeFigures(const float* a, const float* b, std::int64_t count, float tolerance, bool equalNan);
CloseFigures closeFigures(const double* a, const double* b, std::int64_t count, double tolerance, bool equalNan);

}  // namespace kerf::inline accuracy
