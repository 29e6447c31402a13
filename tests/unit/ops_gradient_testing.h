// Gradients and tangents of small programs over ops against central differences in float64 and complex128.
#pragma once

#include <functional>
#include <random>

#include "engine/conformance/difference_point.h"
#include "engine/conformance/step_recorder.h"
#include "engine/ops/core/composite.h"
#include "ops_testing.h"

namespace kerf::testing {

using TensorProgram = std::function<Result<std::vector<Tensor>>(const std::vector<Tensor>&, const OpRunner&)>;

struct ProgramSlopes {
  double differences = 0, gradient = 0, tangent = 0;
};

/// By a program's argument `at` along a random direction, weighted by random cotangents of its results.
inline Result<ProgramSlopes> slopesOf(const TensorProgram& program, const std::vector<Tensor>& arguments,
                                      std::size_t at, double step = 1e-5) {
  std::mt19937 random(31 + unsigned(at));
  const StepRecorder recorder(referenceOps());
  std::vector<Tensor> handles;
  for (const Tensor& argument : arguments) handles.push_back(recorder.leaf(argument));
  KERF_TRY(const std::vector<Tensor> results, program(handles, OpRunner(recorder)));
  if (!recorder.missing().empty()) return fail(ErrorCode::UnsupportedOp, "{} has no rule", recorder.missing());
  TracedTensors cotangents;
  std::vector<double> weights;
  for (const Tensor& result : results) {
    const Tensor cotangent = randomLike(result, random);
    const auto numbers = numbersOf(cotangent);
    weights.insert(weights.end(), numbers.begin(), numbers.end());
    cotangents.emplace(result.traced, cotangent);
  }
  const auto weighted = [&](const std::vector<double>& numbers) {
    double total = 0;
    for (std::size_t i = 0; i < std::min(numbers.size(), weights.size()); ++i) total += numbers[i] * weights[i];
    return total;
  };
  const Tensor direction = randomLike(arguments[at], random);
  const auto along = [&](double factor) -> Result<double> {
    std::vector<Tensor> moved = arguments;
    moved[at] = movedAlong(arguments[at], direction, factor);
    KERF_TRY(const std::vector<Tensor> values, program(moved, OpRunner(referenceOps())));
    return weighted(numbersOf(values));
  };
  ProgramSlopes slopes;
  KERF_TRY(const double above, along(step));
  KERF_TRY(const double below, along(-step));
  slopes.differences = (above - below) / (2 * step);
  KERF_TRY(const TracedTensors gradients, recorder.pullBack(cotangents));
  if (const auto found = gradients.find(handles[at].traced); found != gradients.end()) {
    const auto gradient = numbersOf(found->second), moves = numbersOf(direction);
    for (std::size_t i = 0; i < moves.size(); ++i) slopes.gradient += gradient[i] * moves[i];
  }
  KERF_TRY(const TracedTensors tangents, recorder.pushForward({{handles[at].traced, direction}}));
  std::vector<double> numbers;
  for (const Tensor& result : results) {
    const auto found = tangents.find(result.traced);
    const auto own = found == tangents.end() ? std::vector<double>(numbersOf(result).size()) : numbersOf(found->second);
    numbers.insert(numbers.end(), own.begin(), own.end());
  }
  slopes.tangent = weighted(numbers);
  return slopes;
}

/// By each argument.
inline void expectDifferentiable(const std::string& name, const TensorProgram& program,
                                 const std::vector<Tensor>& arguments, double tolerance = 1e-6) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!isFloating(arguments[i].dtype()) && !isComplex(arguments[i].dtype())) continue;
    const auto slopes = slopesOf(program, arguments, i);
    ASSERT_TRUE(slopes) << name << " by argument " << i << ": " << slopes.error().text();
    const double limit = tolerance * std::max(1.0, std::abs(slopes->differences));
    EXPECT_NEAR(slopes->gradient, slopes->differences, limit) << name << " by argument " << i << ", its gradient";
    EXPECT_NEAR(slopes->tangent, slopes->differences, limit) << name << " by argument " << i << ", its tangent";
    EXPECT_GT(std::abs(slopes->differences), 1e-9) << name << " by argument " << i << " does not depend on it";
  }
}

/// A call with tensors in the places where `args` has none, and its results `kept`.
inline TensorProgram calling(std::string_view op, const ValueList& args, const KeywordValues& kwargs = {},
                             const std::vector<std::size_t>& kept = {0}) {
  return [=, op = std::string(op)](const std::vector<Tensor>& x, const OpRunner& run) -> Result<std::vector<Tensor>> {
    ValueList values = args;
    std::size_t next = 0;
    for (Value& value : values)
      if (value.isNone() && next < x.size()) value = x[next++];
    KERF_TRY(const Value all, run.value(OpTarget(op), values, kwargs));
    const ValueList results = all.isList() ? all.list() : ValueList{all};
    std::vector<Tensor> tensors;
    for (const std::size_t k : kept) tensors.push_back(results[k].tensor());
    return tensors;
  };
}

inline void checkCall(const char* op, const ValueList& args, const std::vector<Tensor>& tensors,
                      const KeywordValues& kwargs = {}, const std::vector<std::size_t>& kept = {0}) {
  expectDifferentiable(op, calling(op, args, kwargs, kept), tensors);
}

/// Elements in (-1, 1), the parts of complex ones too.
inline Tensor randomNumbers(const Sizes& sizes, unsigned seed, DType dtype = DType::Float64) {
  std::mt19937 random(seed);
  return randomLike(*Tensor::zeros(dtype, sizes), random);
}

}  // namespace kerf::testing
