// Small graphs for compile tests: placeholders with shapes, calls, and inputs of seeded random numbers.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "engine/ir/graph_module.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/tensor/dispatch.h"

namespace kerf::testing_support {

inline std::vector<Dim> dims(const Sizes& values) {
  std::vector<Dim> result;
  for (const auto value : values) result.push_back(dim(value));
  return result;
}

/// Random numbers in [-2, 2) (integers -5 to 5, bools).
inline Tensor randomTensor(DType dtype, const Sizes& sizes, std::mt19937& random) {
  Tensor tensor = *Tensor::zeros(dtype, sizes);
  std::uniform_real_distribution<double> real(-2, 2);
  std::uniform_int_distribution<int> whole(-5, 5);
  EXPECT_TRUE(dispatchAll(dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      if constexpr (std::is_same_v<T, bool>)
        tensor.data<T>()[i] = whole(random) > 0;
      else if constexpr (std::is_integral_v<T>)
        tensor.data<T>()[i] = T(whole(random));
      else
        tensor.data<T>()[i] = T(float(real(random)));
    }
  }));
  return tensor;
}

struct GraphFixture {
  GraphModule module;
  ValueList inputs;
  std::mt19937 random{7};

  NodeId input(const std::string& name, DType dtype, const Sizes& sizes) {
    return input(name, randomTensor(dtype, sizes, random));
  }
  NodeId input(const std::string& name, Tensor tensor) {
    const NodeId id = module.graph.placeholder(name);
    TensorMeta meta{tensor.dtype(), dims(tensor.sizes()), dims(tensor.strides()), tensor.offset(), {}, false};
    module.graph.setValueMeta(id, {std::move(meta)});
    inputs.push_back(std::move(tensor));
    return id;
  }
  NodeId call(const std::string& op, ArgumentList args, KeywordArguments kwargs = {}) {
    const auto dot = op.find('.');
    return module.graph.callFunction("torch.ops." + op, std::move(args), std::move(kwargs),
                                     op.substr(dot + 1, op.find('.', dot + 1) - dot - 1));
  }
  NodeId item(NodeId tuple, std::int64_t index) {
    return module.graph.callFunction("operator.getitem", {Argument(tuple), Argument(index)}, {}, "getitem");
  }
  void output(std::initializer_list<NodeId> nodes) {
    ArgumentList items(nodes.begin(), nodes.end());
    module.graph.output(Argument::tuple(std::move(items)));
    const auto shapes = propagateShapes(module);
    EXPECT_TRUE(shapes) << (shapes ? "" : shapes.error().text());
  }
  Result<Value> interpret() const { return Interpreter(module, referenceOps()).run(inputs); }
};

/// Asserts equal dtypes, sizes and values; `tolerance` is absolute and relative, NaN equals NaN.
inline void expectClose(const Tensor& reference, const Tensor& result, double tolerance, const std::string& what) {
  ASSERT_EQ(reference.dtype(), result.dtype()) << what;
  ASSERT_EQ(reference.sizes(), result.sizes()) << what;
  for (std::int64_t i = 0; i < reference.numel(); ++i) {
    const double a = reference.itemAsDouble(i), b = result.itemAsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    ASSERT_FALSE(std::isinf(a) || std::isinf(b)) << what << " element " << i << ": " << a << " and " << b;
    ASSERT_LE(std::abs(a - b), tolerance * (1 + std::abs(a))) << what << " element " << i << ": " << a << " and " << b;
  }
}

}  // namespace kerf::testing_support
