// Gradients and forward-mode derivatives of the op table against central differences in float64; flops; sharding.
#include <cmath>
#include <random>
#include <set>

#include "engine/ops/core/cost.h"
#include "engine/ops/core/gradient.h"
#include "engine/ops/core/op_facts.h"
#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

Tensor randomTensor(const Sizes& sizes, unsigned seed, double low = 0.3, double high = 1.7) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> values(std::size_t(*checkedNumel(sizes)));
  for (double& value : values) value = draw(random);
  return tensorOf(sizes, values, DType::Float64);
}

Tensor signedTensor(const Sizes& sizes, unsigned seed) { return randomTensor(sizes, seed, -2, 2); }

double dot(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  const auto x = valuesOf(a), y = valuesOf(b);
  double sum = 0;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) sum += x[i] * y[i];
  return sum;
}

/// a + factor * b
Tensor moved(const Tensor& a, const Tensor& b, double factor) {
  auto x = valuesOf(a);
  const auto y = valuesOf(b);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += factor * y[i];
  return tensorOf(a.sizes(), x, DType::Float64);
}

struct Sample {
  std::string op;
  ValueList args;
  KeywordValues kwargs = {};
};

std::vector<Sample> samples() {
  const Value x = signedTensor({3, 4}, 1), y = signedTensor({4}, 2), positive = randomTensor({3, 4}, 3);
  const Tensor chosen = tensorOf({3, 4}, {1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0}, DType::Bool);
  const Tensor rows = tensorOf({3}, {2, 0, 2}, DType::Int64);
  const std::int64_t one = 1, two = 2, zero = 0;
  std::vector<Sample> list{
      {"aten.add.Tensor", {x, y}, {{"alpha", 2.5}}},
      {"aten.add.Scalar", {x, two}},
      {"aten.sub.Tensor", {y, x}, {{"alpha", 0.5}}},
      {"aten.sub.Scalar", {x, two}},
      {"aten.mul.Tensor", {x, y}},
      {"aten.mul.Scalar", {x, 1.5}},
      {"aten.div.Tensor", {y, positive}},
      {"aten.div.Scalar", {x, 1.5}},
      {"aten.pow.Tensor_Scalar", {positive, 2.5}},
      {"aten.where.self", {chosen, x, y}},
      {"aten.maximum.default", {x, positive}},
      {"aten.minimum.default", {x, positive}},
      {"aten.gelu.default", {x}, {{"approximate", std::string("tanh")}}},
      {"aten.leaky_relu.default", {x, 0.1}},
      {"aten.hardtanh.default", {x, -1.0, 1.0}},
      {"aten.softplus.default", {x, 2.0, 3.0}},
      {"aten.view.default", {x, ints({2, 6})}},
      {"aten._unsafe_view.default", {x, ints({2, 6})}},
      {"aten.reshape.default", {x, ints({6, 2})}},
      {"aten.permute.default", {x, ints({1, 0})}},
      {"aten.transpose.int", {x, zero, one}},
      {"aten.t.default", {x}},
      {"aten.expand.default", {y, ints({3, 4})}},
      {"aten.unsqueeze.default", {x, one}},
      {"aten.squeeze.dim", {signedTensor({3, 1, 2}, 4), one}},
      {"aten.slice.Tensor", {x, one, one, std::int64_t{4}, two}},
      {"aten.select.int", {x, one, two}},
      {"aten.gather.default", {x, zero, tensorOf({2, 4}, {0, 1, 2, 0, 0, 2, 1, 0}, DType::Int64)}},
      {"aten.index_select.default", {x, zero, rows}},
      {"aten.embedding.default", {x, rows}},
      {"aten.cat.default", {ValueList{x, positive}, one}},
      {"aten.sum.default", {x}},
      {"aten.sum.dim_IntList", {x, ints({1})}},
      {"aten.mean.default", {x}},
      {"aten.mean.dim", {x, ints({0}), true}},
      {"aten.mm.default", {x, signedTensor({4, 2}, 5)}},
      {"aten.bmm.default", {signedTensor({2, 3, 4}, 6), signedTensor({2, 4, 2}, 7)}},
      {"aten.addmm.default", {signedTensor({2}, 8), x, signedTensor({4, 2}, 5)}, {{"beta", 0.5}, {"alpha", 2.0}}},
      {"aten.baddbmm.default", {signedTensor({2, 3, 2}, 9), signedTensor({2, 3, 4}, 6), signedTensor({2, 4, 2}, 7)}},
      {"aten._softmax.default", {x, one, false}},
      {"aten._log_softmax.default", {x, zero, false}},
      {"aten.native_layer_norm.default", {x, ints({4}), y, signedTensor({4}, 10), 1e-5}},
      {"aten.convolution.default",
       {signedTensor({2, 2, 5, 5}, 11), signedTensor({3, 2, 3, 3}, 12), signedTensor({3}, 13), ints({2, 2}),
        ints({1, 1}), ints({1, 1}), false, ints({0, 0}), one}},
  };
  for (const char* op : {"clone", "_to_copy", "neg", "exp", "sin", "cos", "abs", "erf", "tanh", "sigmoid", "relu",
                         "silu", "hardswish", "hardsigmoid", "gelu"})
    list.push_back({fmt::format("aten.{}.default", op), {x}});
  for (const char* op : {"log", "log1p", "sqrt", "rsqrt", "reciprocal"})
    list.push_back({fmt::format("aten.{}.default", op), {positive}});
  return list;
}

/// One sample bound, with what it gives.
struct Evaluated {
  BoundArguments args;
  ValueList results;

  explicit Evaluated(const Sample& sample)
      : args(bindArguments(*findOp(sample.op), sample.args, sample.kwargs).value()) {
    results = resultsOf(args);
  }
  static ValueList resultsOf(const BoundArguments& args) {
    const Value result = args.op->kernel(args).value();
    return result.isList() ? result.list() : ValueList{result};
  }
  CallRecord record() const { return {args, results}; }
  /// <weights, result> with argument `i` (an item of it, if it is a list) moved along `direction`.
  double at(std::size_t i, std::size_t item, const Tensor& direction, double step, const Tensor& weights) const {
    BoundArguments shifted = args;
    if (args.values[i].isList()) {
      ValueList items = args.values[i].list();
      items[item] = moved(items[item].tensor(), direction, step);
      shifted.values[i] = items;
    } else {
      shifted.values[i] = moved(args.tensor(i), direction, step);
    }
    return dot(resultsOf(shifted)[0].tensor(), weights);
  }
};

void expectClose(double actual, double wanted, const std::string& what) {
  EXPECT_NEAR(actual, wanted, 1e-6 * std::max(1.0, std::abs(wanted))) << what;
}

bool takesGradient(const Value& value) { return value.isTensor() && isFloating(value.tensor().dtype()); }

/// Gradient and jvp of one tensor, in one random direction.
void checkTensor(const Evaluated& run, const Value& gradient, std::size_t i, std::size_t item) {
  const bool listed = run.args.values[i].isList();
  const Tensor& argument = listed ? run.args.values[i].list()[item].tensor() : run.args.tensor(i);
  const Tensor direction = signedTensor(argument.sizes(), 90 + unsigned(i));
  const Tensor weights = signedTensor(run.results[0].tensor().sizes(), 80);
  constexpr double step = 1e-6;
  const double slope =
      (run.at(i, item, direction, step, weights) - run.at(i, item, direction, -step, weights)) / (2 * step);
  const std::string name = fmt::format("{} argument {}", run.args.opName(), i);
  ASSERT_TRUE(gradient.isTensor()) << name;
  EXPECT_EQ(gradient.tensor().dtype(), argument.dtype()) << name;
  expectClose(dot(gradient.tensor(), direction), slope, name + " by its gradient");
  if (run.args.op->jvp == nullptr || listed) return;
  ValueList tangents(run.args.values.size());
  tangents[i] = direction;
  const auto tangent = run.args.op->jvp(run.record(), tangents, OpRunner(referenceOps()));
  ASSERT_TRUE(tangent) << name << ": " << tangent.error().text();
  expectClose(dot(tangent->tensor(), weights), slope, name + " by its jvp");
}

TEST(OpGradients, AgreeWithDifferences) {
  for (const Sample& sample : samples()) {
    const Evaluated run(sample);
    ASSERT_NE(run.args.op->gradient, nullptr) << sample.op;
    ValueList grads(run.results.size());
    grads[0] = signedTensor(run.results[0].tensor().sizes(), 80);
    const auto gradients = run.args.op->gradient(run.record(), grads, OpRunner(referenceOps()));
    ASSERT_TRUE(gradients) << sample.op << ": " << gradients.error().text();
    ASSERT_EQ(gradients->size(), run.args.values.size()) << sample.op;
    for (std::size_t i = 0; i < run.args.values.size(); ++i) {
      const Value& argument = run.args.values[i];
      if (takesGradient(argument)) checkTensor(run, (*gradients)[i], i, 0);
      if (!argument.isList()) continue;
      for (std::size_t k = 0; k < argument.list().size(); ++k)
        if (takesGradient(argument.list()[k])) checkTensor(run, (*gradients)[i].list()[k], i, k);
    }
  }
}

TEST(OpGradients, AreAllTested) {
  std::set<std::string> tested;
  for (const Sample& sample : samples()) tested.insert(findOp(sample.op)->schema.name);
  for (const OpInfo& op : allOps())
    if (op.gradient != nullptr) {
      EXPECT_TRUE(tested.contains(op.schema.name)) << op.schema.qualifiedName();
    }
}

TEST(OpGradients, OfHalfPrecisionArgumentsHaveTheirType) {
  const Tensor half = counting({2, 2}, DType::Float16), wide = counting({2, 2});
  const Evaluated run({"aten.mul.Tensor", {half, wide}});
  const ValueList grads{counting({2, 2})};
  const auto gradients = run.args.op->gradient(run.record(), grads, OpRunner(referenceOps()));
  ASSERT_TRUE(gradients);
  EXPECT_EQ((*gradients)[0].tensor().dtype(), DType::Float16);
  EXPECT_EQ((*gradients)[1].tensor().dtype(), DType::Float32);
}

TEST(OpCost, CountsAsTorchsFlopCounter) {
  const auto flops = [](const Sample& sample) {
    const Evaluated run(sample);
    return flopsOf(run.args, run.results);
  };
  EXPECT_EQ(flops({"aten.mm.default", {counting({3, 4}), counting({4, 5})}}), 2.0 * 3 * 4 * 5);
  EXPECT_EQ(flops({"aten.addmm.default", {counting({5}), counting({3, 4}), counting({4, 5})}}), 2.0 * 3 * 4 * 5);
  EXPECT_EQ(flops({"aten.bmm.default", {counting({2, 3, 4}), counting({2, 4, 5})}}), 2.0 * 2 * 3 * 4 * 5);
  const Value image = counting({2, 3, 8, 8}), filters = counting({4, 3, 3, 3}), none;
  const Sample convolution{
      "aten.convolution.default",
      {image, filters, none, ints({1, 1}), ints({0, 0}), ints({1, 1}), false, ints({0, 0}), std::int64_t{1}}};
  EXPECT_EQ(flops(convolution), 2.0 * 2 * 6 * 6 * 4 * 3 * 3 * 3);
  EXPECT_EQ(flops({"aten.relu.default", {counting({3, 4})}}), 12.0);
  EXPECT_EQ(flops({"aten.sum.default", {counting({3, 4})}}), 12.0);
  EXPECT_EQ(flops({"aten.view.default", {counting({3, 4}), ints({12})}}), 0.0);
}

TEST(OpCost, ClassesAreThePartitioners) {
  const auto cost = [](const char* op) { return recomputeCostOf(*findOp(op)); };
  EXPECT_EQ(cost("aten.view.default"), RecomputeCost::Free);
  EXPECT_EQ(cost("aten.relu.default"), RecomputeCost::Fusible);
  EXPECT_EQ(cost("aten.sum.default"), RecomputeCost::Reads);
  EXPECT_EQ(cost("aten.mm.default"), RecomputeCost::ComputeIntensive);
  EXPECT_EQ(cost("aten.rand.default"), RecomputeCost::Never);
  EXPECT_EQ(cost("aten.add_.Tensor"), RecomputeCost::Never);
}

/// The equation that shards an op is what the op computes.
TEST(OpSharding, EquationsAreWhatTheirOpsCompute) {
  const Sample cases[] = {{"aten.mm.default", {signedTensor({3, 4}, 1), signedTensor({4, 2}, 2)}},
                          {"aten.bmm.default", {signedTensor({2, 3, 4}, 1), signedTensor({2, 4, 2}, 2)}},
                          {"aten.mv.default", {signedTensor({3, 4}, 1), signedTensor({4}, 2)}},
                          {"aten.dot.default", {signedTensor({4}, 1), signedTensor({4}, 2)}},
                          {"aten.t.default", {signedTensor({3, 4}, 1)}}};
  std::size_t equations = 0;
  for (const OpInfo& op : allOps()) equations += op.sharding.kind == ShardingKind::Einsum;
  EXPECT_EQ(equations, std::size(cases));
  for (const Sample& sample : cases) {
    const std::string equation = findOp(sample.op)->sharding.text;
    const Tensor wanted = callTensor("aten.einsum.default", {equation, Value(sample.args)});
    const Tensor actual = callTensor(sample.op, sample.args);
    ASSERT_EQ(actual.sizes(), wanted.sizes()) << sample.op;
    const auto a = valuesOf(actual), b = valuesOf(wanted);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12) << sample.op;
  }
}

}  // namespace
}  // namespace kerf
