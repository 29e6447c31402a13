// Graphs that views, writes and other ops are drawn into at random, and what two graphs give on the same inputs.
#pragma once

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "engine/autograd/aot_graph.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_tracer.h"
#include "tests/unit/ops_testing.h"

namespace kerf::testing {

inline Tensor randomTensor(const Sizes& sizes, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(-1.5, 1.5);
  std::vector<double> values(std::size_t(*checkedNumel(sizes)));
  for (double& value : values) value = draw(random);
  return tensorOf(sizes, values, DType::Float64);
}

/// What a run gives: its flat outputs, and the inputs as they are afterwards.
struct GraphRun {
  ValueList outputs, inputs;
};

inline void flattenInto(const Value& value, ValueList& leaves) {
  if (!value.isList()) return leaves.push_back(value);
  for (const Value& item : value.list()) flattenInto(item, leaves);
}

inline GraphRun runGraph(const GraphModule& module, const ValueList& inputs) {
  GraphRun run;
  for (const Value& input : inputs)
    run.inputs.push_back(input.isTensor() ? Value(*input.tensor().clonePreservingStrides()) : input);
  Interpreter interpreter(module, referenceOps());
  const auto result = interpreter.run(run.inputs);
  EXPECT_TRUE(result) << result.error().text();
  if (result) flattenInto(*result, run.outputs);
  for (Value& output : run.outputs)
    if (output.isTensor()) output = Value(*output.tensor().clone());
  return run;
}

inline double largestDifference(const Value& a, const Value& b) {
  if (!a.isTensor() || !b.isTensor()) return a.isNone() && b.isNone() ? 0 : INFINITY;
  const auto x = valuesOf(a.tensor()), y = valuesOf(b.tensor());
  if (a.tensor().sizes() != b.tensor().sizes()) return INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(x[i] - y[i]));
  return worst;
}

/// A graph of random calls on two inputs of float64, [4, 6] and [6].
class RandomProgram {
 public:
  explicit RandomProgram(std::uint32_t seed) : m_random(seed), m_tracer(module, [](const OpInfo&) { return false; }) {
    add("x", {4, 6}, seed + 1);
    add("y", {6}, seed + 2);
  }

  /// `writes`: how many calls of a hundred write in place.
  void build(int calls, int writes) {
    for (int i = 0; i < calls; ++i) {
      const int dice = draw(100);
      if (dice < writes)
        write();
      else if (dice < writes + 35)
        view();
      else
        compute();
    }
    ValueList outputs;
    for (std::size_t i = m_pool.size() < 4 ? 0 : m_pool.size() - 4; i < m_pool.size(); ++i)
      outputs.push_back(m_pool[i]);
    ValueList sums;
    for (const Value& output : outputs) sums.push_back(call("aten.mul.Tensor", {output, 1.5}));
    sums.push_back(outputs.back());
    const auto argument = m_tracer.argumentOf(Value(sums));
    ASSERT_TRUE(argument) << argument.error().text();
    module.graph.output(*argument);
    ASSERT_TRUE(module.graph.lint());
  }

  GraphModule module;
  ValueList inputs;

 private:
  int draw(int below) { return int(m_random() % std::uint32_t(below)); }
  Value pick() { return m_pool[std::size_t(draw(int(m_pool.size())))]; }

  void add(const char* name, const Sizes& sizes, std::uint32_t seed) {
    inputs.emplace_back(randomTensor(sizes, seed));
    m_pool.push_back(*m_tracer.placeholder(name, Value(metaTensor(DType::Float64, sizes))));
  }

  /// A call that does not fit (an expanded tensor viewed, say) is left out.
  Value call(const char* op, const ValueList& args) {
    const auto result = m_tracer.call(op, args, {});
    return result ? *result : Value();
  }
  void keep(const Value& value) {
    if (value.isTensor()) m_pool.push_back(value);
    if (value.isList())
      for (const Value& item : value.list()) keep(item);
  }

  void view() {
    const Value of = pick();
    const Tensor& t = of.tensor();
    const std::int64_t rank = t.dim(), dim = rank > 0 ? draw(int(rank)) : 0;
    const std::int64_t size = rank > 0 ? t.size(dim) : 1;
    switch (draw(8)) {
      case 0:
        return keep(rank == 2 ? call("aten.t.default", {of}) : Value());
      case 1:
        return keep(rank > 0 && size > 1 ? call("aten.slice.Tensor", {of, dim, std::int64_t{draw(int(size))}, size})
                                         : Value());
      case 2:
        return keep(rank > 1 ? call("aten.select.int", {of, dim, std::int64_t{draw(int(size))}}) : Value());
      case 3:
        return keep(rank < 3 ? call("aten.unsqueeze.default", {of, std::int64_t{draw(int(rank) + 1)}}) : Value());
      case 4:
        return keep(call("aten.squeeze.default", {of}));
      case 5:
        return keep(t.isContiguous() ? call("aten.view.default", {of, ints({-1})}) : Value());
      case 6:
        return keep(rank > 0 && size > 2 ? call("aten.split.Tensor", {of, std::int64_t{2}, dim}) : Value());
      default:
        return keep(rank == 2 && t.size(0) == t.size(1) ? call("aten.diagonal.default", {of})
                                                        : call("aten.alias.default", {of}));
    }
  }

  void write() {
    const Value to = pick();
    switch (draw(6)) {
      case 0:
        call("aten.mul_.Tensor", {to, 0.75});
        return;
      case 1:
        call("aten.sin_.default", {to});
        return;
      case 2:
        call("aten.add_.Tensor", {to, likeSize(to)});
        return;
      case 3:
        call("aten.copy_.default", {to, likeSize(to)});
        return;
      case 4:
        call("aten.fill_.Scalar", {to, 0.5});
        return;
      default:
        call("aten.add_.Scalar", {to, 0.25});
        return;
    }
  }

  /// A tensor of the pool of the same sizes, else a new one made of one element of the pool.
  Value likeSize(const Value& like) {
    for (int tries = 0; tries < 8; ++tries)
      if (const Value value = pick(); value.tensor().sizes() == like.tensor().sizes())
        return call("aten.clone.default", {value});
    return call("aten.cos.default", {like});
  }

  void compute() {
    const Value a = pick();
    switch (draw(5)) {
      case 0:
        return keep(call("aten.sin.default", {a}));
      case 1:
        return keep(call("aten.mul.Tensor", {a, likeSize(a)}));
      case 2:
        return keep(call("aten.add.Tensor", {a, likeSize(a)}));
      case 3:
        return keep(call("aten.tanh.default", {a}));
      default:
        return keep(call("aten.clone.default", {a}));
    }
  }

  std::mt19937 m_random;
  OpTracer m_tracer;
  ValueList m_pool;
};

}  // namespace kerf::testing
