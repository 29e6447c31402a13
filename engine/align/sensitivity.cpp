#include "engine/align/sensitivity.h"

#include <algorithm>
#include <cmath>

#include "engine/align/rounding_causes.h"
#include "engine/align/value_gap.h"

namespace kerf::inline align {

namespace {

/// How a step's result depends on each of the tensors that it takes.
enum class Form : unsigned char {
  Other,           ///< nothing is known
  Sum,             ///< a sum of its operands, each as it is or repeated
  Product,         ///< linear in each operand
  SumAndProduct,   ///< its first operand, and the product of the others
  ProductAndBias,  ///< the product of its first two operands, and the third
};

struct FormRow {
  Form form;
  std::string_view ops;  ///< short names, with a blank on both sides
};
constexpr FormRow formRows[] = {
    {Form::Sum, " add sub rsub add_ sub_ cat stack sum mean "},
    {Form::Product, " mul mul_ mm bmm mv dot matmul "},
    {Form::SumAndProduct, " addmm baddbmm addmv addcmul "},
    {Form::ProductAndBias, " convolution linear "},
};

constexpr std::string_view scaling =
    " detach alias t transpose permute view reshape clone copy squeeze _unsafe_view contiguous unsqueeze neg expand "
    "as_strided flip roll lift_fresh_copy ";

bool isOneOf(std::string_view ops, std::string_view op) {
  return ops.find(" " + std::string(op) + " ") != std::string_view::npos;
}

/// A step that stands for several ops has no form of its own.
Form formOf(const RunStep& step) {
  if (step.kernel || step.parts.size() > 1) return Form::Other;
  const std::string_view op = shortOpName(step.op);
  for (const FormRow& row : formRows)
    if (isOneOf(row.ops, op)) return row.form;
  return Form::Other;
}

constexpr double unknown = -1;

/// The sum of magnitudes, else the root of the sum of squares.
double magnitude(const StepValue& value) {
  if (value.l1) return std::isfinite(*value.l1) ? *value.l1 : unknown;
  return value.stats && std::isfinite(value.stats->norm) ? value.stats->norm : unknown;
}

/// How often an operand is in the result, as broadcasting repeats it and averages divide it; of roots of sums of squares
/// the root of that.
double repeated(const RunStep& step, const StepValue& operand, const StepValue& result) {
  const double count = double(operand.elements()), results = double(result.elements());
  if (count < 1 || results < 1) return 1;
  const std::string_view op = shortOpName(step.op);
  if (op == "sum") return operand.l1 ? 1.0 : std::sqrt(count / results);
  const double times = op == "mean" ? results / count : std::max(1.0, results / count);
  return operand.l1 ? times : std::sqrt(times);
}

bool joins(const RunStep& step) {
  const std::string_view op = shortOpName(step.op);
  return op == "cat" || op == "stack";
}

/// Of one operand of an addition, relative to the result; `unknown` where magnitudes are not recorded.
double shareOf(const RunStep& step, const InputGap& input, const StepValue& result) {
  const double own = magnitude(result), operand = magnitude(*input.b);
  if (own <= 0 || operand < 0) return unknown;
  const double times = joins(step) ? 1.0 : repeated(step, *input.b, result);
  return input.relative * std::max(operand, magnitude(*input.a)) * times / own;
}

double largest(const InputGaps& inputs) {
  double most = 0;
  for (const InputGap& input : inputs) most = std::max(most, input.relative);
  return most;
}

/// Whether an input is one that the step adds. A step's inputs are in the order of the call.
bool isAddend(Form form, const RunStep& step, const InputGap& input) {
  if (form == Form::Sum) return true;
  const std::size_t place = form == Form::SumAndProduct ? 0 : form == Form::ProductAndBias ? 2 : SIZE_MAX;
  return place < step.inputs.size() && input.b == &step.inputs[place];
}

double logRatio(const InputGap& input) {
  const double a = magnitude(*input.a), b = magnitude(*input.b);
  return a > 0 && b > 0 ? std::log(b / a) : -std::log1p(-std::min(input.relative, 0.999));
}

}  // namespace

double noiseFrom(std::string_view dtype) {
  constexpr double timesRounding = 3000, most = 0.1;
  return std::min(timesRounding * roundingOf(dtype), most);
}

double expectedApart(const RunStep& step, const StepValue& result, const InputGaps& inputs) {
  const Form form = formOf(step);
  if (form == Form::Other) return largest(inputs);
  double all = 0;
  for (const InputGap& input : inputs) {
    const double share = isAddend(form, step, input) ? shareOf(step, input, result) : input.relative;
    if (share < 0) return largest(inputs);
    all += share;
  }
  return all;
}

double apartOfSummed(const RunStep& step, const StepValue& result, const InputGaps& inputs) {
  const Form form = formOf(step);
  double weighed = 0, weights = 0, products = 0;
  for (const InputGap& input : inputs) {
    if (form != Form::Sum && isAddend(form, step, input)) continue;
    products += input.relative;
    const double operand = magnitude(*input.b);
    if (operand < 0) return largest(inputs);
    const double weight = operand * (form == Form::Sum ? repeated(step, *input.b, result) : 1.0);
    weighed += input.relative * weight;
    weights += weight;
  }
  if (form == Form::Sum) return weights > 0 ? weighed / weights : largest(inputs);
  return form == Form::Other ? largest(inputs) : products;
}

bool handsOnDistance(const RunStep& step) {
  return !step.kernel && step.parts.size() <= 1 && step.inputs.size() == 1 && isOneOf(scaling, shortOpName(step.op));
}

bool followsNoise(const RunStep& step, const StepValue& a, const StepValue& b, const InputGaps& inputs) {
  constexpr double slack = 0.6931471805599453;  // log 2
  const double from = magnitude(a), to = magnitude(b);
  if (from <= 0 || to <= 0) return false;
  const Form form = formOf(step);
  double expected = 0, spread = 0, added = 0;
  for (const InputGap& input : inputs) {
    if (input.relative <= noiseFrom(input.b->dtype)) continue;
    if (isAddend(form, step, input)) {
      added += (magnitude(*input.a) + magnitude(*input.b)) * (joins(step) ? 1.0 : repeated(step, *input.b, b));
      continue;
    }
    expected += logRatio(input);
    spread += std::abs(logRatio(input));
  }
  // What is added moves a result by no more than there is of it, on both sides.
  if (std::abs(to - from) <= added) return true;
  if (spread == 0) return false;
  const double got = std::log(to / from);
  const bool linear = form == Form::Product || handsOnDistance(step);
  // What else a step does to noise may turn it round, square it or leave it as it is.
  return linear ? std::abs(got - expected) <= slack : std::abs(got) <= 2 * spread + slack;
}

}  // namespace kerf::inline align
