// Formulas: programs written as the mathematics that they are. Operators and functions build the calls, which run in
// the order in which Python would run the same expression.
//
//     p.done(p[0] * sigmoid(p[0]))      →      sigmoid = aten.sigmoid(x); mul = aten.mul(x, sigmoid)
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <vector>

#include "engine/ops/core/composite.h"

namespace kerf::inline ops {

/// A value, or a call that has not run yet. A call that stands in several places runs once.
class Formula {
 public:
  Formula() = default;
  Formula(Value value) : m_value(std::move(value)) {}  // NOLINT: a value is a formula
  Formula(const Tensor& tensor) : m_value(tensor) {}   // NOLINT
  Formula(SymInt number) : m_value(number) {}          // NOLINT
  Formula(double number) : m_value(number) {}          // NOLINT
  template <std::integral T>
  Formula(T number) : m_value(Value(std::int64_t(number))) {}  // NOLINT: Python's int
  Formula(bool flag) : m_value(flag) {}                        // NOLINT
  Formula(OpId op, std::vector<Formula> args, KeywordValues kwargs = {});

  /// Of a value, or of a call that has run.
  const Value& value() const;
  const Tensor& tensor() const;
  bool isNone() const { return m_call == nullptr && m_value.isNone(); }
  bool isNumber() const { return m_call == nullptr && ops::isNumber(m_value); }
  DType dtype() const { return tensor().dtype(); }
  std::int64_t dim() const { return tensor().dim(); }
  const SymSizes& sizes() const { return tensor().symSizes(); }

 private:
  friend class Formulas;
  struct Call;
  Value m_value;
  std::shared_ptr<Call> m_call;
};

/// The arguments of a program as formulas. After an error every call is skipped and gives a 0-d tensor: look at sizes
/// of results only after ok().
class Formulas {
 public:
  Formulas(const BoundArguments& bound, const OpRunner& run) : args(bound), m_run(run) {}
  const BoundArguments& args;

  Formula operator[](std::size_t i) const { return args.values[i]; }
  /// Runs a formula now: what Python does where it gives a name to an expression.
  Formula operator()(const Formula& formula);
  /// The results of a call that gives several.
  std::vector<Formula> several(const Formula& formula);
  template <std::size_t N>
  std::array<Formula, N> several(const Formula& formula) {
    std::vector<Formula> items = several(formula);
    items.resize(N, Formula(Value(Tensor())));
    std::array<Formula, N> results;
    std::ranges::copy(items, results.begin());
    return results;
  }
  /// a / b as a number: of sizes that are symbols a symbol.
  Formula quotient(const SymInt& a, const SymInt& b);
  bool ok() const { return !m_error; }
  Result<Value> done(const Formula& result);
  /// Several results.
  Result<Value> done(const std::vector<Formula>& results);

 private:
  Value evaluate(const Formula& formula);

  const OpRunner& m_run;
  std::optional<Error> m_error;
};

using Program = Formulas;  // as gradients call it

/// Tensors as one argument: a list of values that have been computed.
Value listOf(const std::vector<Formula>& items);

// Arithmetic, as Python's operators of tensors and numbers (at least one is a tensor)

Formula operator+(const Formula& a, const Formula& b);
Formula operator-(const Formula& a, const Formula& b);
Formula operator*(const Formula& a, const Formula& b);
Formula operator/(const Formula& a, const Formula& b);
Formula operator-(const Formula& a);
Formula operator<(const Formula& a, const Formula& b);
Formula operator<=(const Formula& a, const Formula& b);
Formula operator>(const Formula& a, const Formula& b);
Formula operator>=(const Formula& a, const Formula& b);
Formula operator&(const Formula& a, const Formula& b);
Formula operator|(const Formula& a, const Formula& b);
Formula operator~(const Formula& a);
Formula equals(const Formula& a, const Formula& b);
Formula differs(const Formula& a, const Formula& b);
Formula pow(const Formula& a, const Formula& exponent);
/// where(condition, a, b); a and b may be numbers.
Formula where(const Formula& condition, const Formula& a, const Formula& b);
/// torch.clamp with one or two numbers; none: no bound.
Formula clamp(const Formula& a, const Value& low, const Value& high = {});
/// torch.div(a, b, rounding_mode=mode): "floor" or "trunc".
Formula roundedQuotient(const Formula& a, const Formula& b, const char* mode);

// Functions of one tensor

Formula abs(const Formula& a);
Formula cos(const Formula& a);
Formula erf(const Formula& a);
Formula erfc(const Formula& a);
Formula exp(const Formula& a);
Formula floor(const Formula& a);
Formula isnan(const Formula& a);
Formula log(const Formula& a);
Formula log1p(const Formula& a);
Formula relu(const Formula& a);
Formula round(const Formula& a);
Formula rsqrt(const Formula& a);
Formula sigmoid(const Formula& a);
Formula sign(const Formula& a);
Formula sin(const Formula& a);
Formula sqrt(const Formula& a);
Formula tanh(const Formula& a);
Formula trunc(const Formula& a);

// Reductions

Formula sum(const Formula& a);
Formula sum(const Formula& a, const Sizes& dims, bool keepDim = false);
Formula mean(const Formula& a);
Formula mean(const Formula& a, const Sizes& dims, bool keepDim = false);
Formula amax(const Formula& a, const Sizes& dims, bool keepDim = false);

// Shapes

Formula unsqueeze(const Formula& a, std::int64_t dim);
Formula squeeze(const Formula& a, std::int64_t dim);
Formula squeeze(const Formula& a, const Sizes& dims);
Formula view(const Formula& a, const SymSizes& sizes);
Formula reshape(const Formula& a, const SymSizes& sizes);
Formula expand(const Formula& a, const SymSizes& sizes);
Formula permute(const Formula& a, const Sizes& order);
Formula select(const Formula& a, std::int64_t dim, const Formula& index);
Formula slice(const Formula& a, std::int64_t dim, const Formula& start, const Formula& end, const Formula& step = 1);
Formula flatten(const Formula& a, std::int64_t first = 0, std::int64_t last = -1);
Formula cat(const std::vector<Formula>& parts, std::int64_t dim);
Formula clone(const Formula& a);
Formula clone(const Formula& a, MemoryFormat format);
/// tensor.contiguous(): the tensor itself where it is.
Formula contiguous(const Formula& a);
/// tensor.to(dtype): the tensor itself where it has it.
Formula to(const Formula& a, DType dtype);
/// Unsqueezes at the end until there are `dims` dimensions; `a` has been computed.
Formula unsqueezedTo(Formula a, std::int64_t dims);

/// The order of dimensions in memory by their strides, outermost first; and what permutes it back.
Sizes dimensionOrder(const SymSizes& strides);
Sizes invertedOrder(const Sizes& order);

// Indexing: an index per dimension, none for all of it; lists from listOf()

Formula index(const Formula& a, const std::vector<Formula>& indices);
Formula indexPut(const Formula& a, const std::vector<Formula>& indices, const Formula& values, bool accumulate);
Formula maskedFill(const Formula& a, const Formula& mask, const Formula& value);

// New tensors

Formula zerosLike(const Formula& a);
Formula onesLike(const Formula& a);
Formula newZeros(const Formula& a, const SymSizes& sizes);
Formula newFull(const Formula& a, const SymSizes& sizes, const Formula& value);
Formula full(const SymSizes& sizes, const Formula& value, DType dtype, Device device);
Formula arange(const Formula& start, const Formula& end, const Formula& step, DType dtype, Device device);
Formula arange(const Formula& end, DType dtype, Device device);
Formula scalarTensor(const Formula& value, DType dtype, Device device);

}  // namespace kerf::inline ops
