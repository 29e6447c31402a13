// ValueNeed: what the values of an input must be so that the graph computes something: bounds, a pattern, a scale.
// Private to engine/capture.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace kerf::inline capture {

/// A closed interval; infinite ends are open.
struct NeedRange {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  bool empty() const { return lower > upper; }
  bool bounded() const;
  NeedRange intersected(const NeedRange& other) const;
  bool operator==(const NeedRange&) const = default;
};

struct ValueNeed {
  enum class Pattern {
    Free,              ///< every element for itself
    Zero,              ///< an index is computed from it in a way that nobody can read: only zero is safe
    Binary,            ///< 0 or 1, the first of each row being the more frequent one
    Distinct,          ///< along `dim` no value twice, where the range has enough of them
    Sorted,            ///< ascending along the last dimension
    Offsets,           ///< ascending from 0 to at most `total`
    Lengths,           ///< whole numbers that add up to `total`
    Softmax,           ///< positive, each row along `dim` adds up to 1
    LogSoftmax,        ///< logarithms of such rows
    PositiveDefinite,  ///< symmetric matrices with a strong diagonal
  };
  NeedRange hard;    ///< beyond it the graph fails or gives NaN
  NeedRange likely;  ///< where values of a trained model would be
  Pattern pattern = Pattern::Free;
  std::int64_t dim = -1;
  std::int64_t total = 0;
  bool endsAtTotal = false;                  ///< Offsets: the last one is `total` itself
  double ones = 0.75;                        ///< Binary: share of ones
  bool whole = false;                        ///< whole numbers, also in float tensors
  std::optional<double> centre, spread;      ///< mean and standard deviation
  std::vector<std::string> reasons;          ///< "positive (rsqrt at rsqrt_3)"
  std::unordered_set<std::string> distinct;  ///< the same, once needs have met: a value may have very many uses

  /// Nothing is known of the input.
  bool unknown() const;
  /// Both needs at once. Where they contradict each other, the one that was there first stays.
  void meet(const ValueNeed& other);
  /// The need of x where the need of scale * x + offset is this; `scale` is not 0.
  ValueNeed before(double scale, double offset) const;
  /// The reasons, joined; the first few of them.
  std::string text() const;
};

}  // namespace kerf::inline capture
