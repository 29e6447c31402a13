// Pooling and nearest-neighbour resampling in generated loops, beside the ops' own kernels.
#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::GraphFixture;

Argument numbers(std::initializer_list<std::int64_t> values) {
  ArgumentList items;
  for (const std::int64_t value : values) items.emplace_back(value);
  return Argument::list(std::move(items));
}

/// `loops`: the op is none of the extern kernels.
void expectSameAsInterpreter(const GraphFixture& f, double tolerance, const std::string& what, bool loops = true) {
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << what << ": " << graph.error().text();
  for (const KernelInfo& kernel : (*graph)->kernels())
    EXPECT_TRUE(!loops || kernel.kind != "extern") << what << ": " << kernel.name;
  const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
  ASSERT_TRUE(reference) << what << ": " << reference.error().text();
  ASSERT_TRUE(result) << what << ": " << result.error().text();
  ASSERT_EQ(reference->list().size(), result->list().size());
  for (std::size_t i = 0; i < result->list().size(); ++i)
    expectClose(reference->list()[i].tensor(), result->list()[i].tensor(), tolerance, fmt::format("{}: {}", what, i));
}

struct Pool {
  const char* name;
  Sizes image;
  std::initializer_list<std::int64_t> kernel, stride, padding, dilation;
  bool ceilMode;
};
const Pool pools[] = {
    {"even", {2, 3, 8, 10}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, false},
    {"resnet", {2, 3, 13, 12}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, false},
    {"overlapping", {1, 2, 9, 7}, {3, 2}, {1, 1}, {1, 0}, {1, 1}, false},
    {"ceiling", {2, 2, 10, 11}, {3, 3}, {2, 3}, {1, 1}, {1, 1}, true},
    {"dilated", {1, 2, 12, 12}, {2, 3}, {2, 1}, {1, 1}, {3, 2}, false},
    {"kernel as stride", {2, 2, 9, 9}, {3, 3}, {}, {0, 0}, {1, 1}, false},
    {"without a batch", {3, 8, 8}, {2, 2}, {2, 2}, {1, 1}, {1, 1}, false},
    {"sparse", {2, 2, 11, 11}, {2, 2}, {5, 4}, {0, 1}, {1, 1}, false},
};

NodeId maxPoolOf(GraphFixture& f, NodeId x, const Pool& p) {
  return f.call("aten.max_pool2d_with_indices.default", {x, numbers(p.kernel), numbers(p.stride), numbers(p.padding),
                                                         numbers(p.dilation), Argument(p.ceilMode)});
}
NodeId gradientOf(GraphFixture& f, NodeId grad, NodeId x, const Pool& p, NodeId places) {
  return f.call("aten.max_pool2d_with_indices_backward.default",
                {grad, x, numbers(p.kernel), numbers(p.stride), numbers(p.padding), numbers(p.dilation),
                 Argument(p.ceilMode), places});
}

TEST(Windows, MaximaAndTheirPlaces) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Int32})
    for (const Pool& p : pools) {
      GraphFixture f;
      const NodeId x = f.input("x", dtype, p.image);
      const NodeId pool = maxPoolOf(f, x, p);
      f.output({f.item(pool, 0), f.item(pool, 1)});
      expectSameAsInterpreter(f, 0, p.name);
    }
}

TEST(Windows, MaximaOfNanAndInfinity) {
  GraphFixture f;
  Tensor values = *Tensor::zeros(DType::Float32, {1, 1, 6, 8});
  for (int i = 0; i < 48; ++i)
    values.data<float>()[i] = i % 3 == 0 ? -std::numeric_limits<float>::infinity() : float(i % 7);
  for (const int i : {9, 10, 30}) values.data<float>()[i] = std::numeric_limits<float>::quiet_NaN();
  for (const int i : {20, 21, 28, 29}) values.data<float>()[i] = -std::numeric_limits<float>::infinity();
  const NodeId x = f.input("x", values);
  const NodeId pool =
      f.call("aten.max_pool2d_with_indices.default", {x, numbers({2, 2}), numbers({1, 1}), numbers({1, 1})});
  f.output({f.item(pool, 0), f.item(pool, 1)});
  expectSameAsInterpreter(f, 0, "special values");
}

TEST(Windows, GradientsOfMaxima) {
  for (const Pool& p : pools) {
    GraphFixture f;
    const NodeId x = f.input("x", DType::Float32, p.image);
    const NodeId pool = maxPoolOf(f, x, p);
    const NodeId grad = f.call("aten.mul.Tensor", {f.item(pool, 0), Argument(0.5)});
    f.output({gradientOf(f, grad, x, p, f.item(pool, 1))});
    expectSameAsInterpreter(f, 1e-6, p.name);
  }
}

TEST(Windows, APlaceOutsideOfThePlaneIsAnErrorInBoth) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {1, 1, 4, 4}), grad = f.input("g", DType::Float32, {1, 1, 2, 2});
  Tensor places = *Tensor::zeros(DType::Int64, {1, 1, 2, 2});
  places.data<std::int64_t>()[3] = 16;
  const NodeId indices = f.input("i", places);
  f.output({f.call(
      "aten.max_pool2d_with_indices_backward.default",
      {grad, x, numbers({2, 2}), numbers({2, 2}), numbers({0, 0}), numbers({1, 1}), Argument(false), indices})});
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph);
  const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
  ASSERT_FALSE(reference || result);
  EXPECT_EQ(reference.error().code, ErrorCode::RuntimeFailed);
  EXPECT_EQ(result.error().code, ErrorCode::RuntimeFailed);
}

TEST(Windows, PlacesThatNoPoolingFoundAreAddedToAsTheyAre) {
  for (const Pool& p : pools) {
    GraphFixture f;
    const NodeId x = f.input("x", DType::Float32, p.image);
    const NodeId pool = maxPoolOf(f, x, p);
    const NodeId places =
        f.call("aten.mul.Tensor", {f.item(pool, 1), Argument(std::int64_t{0})});  // the first, for all
    f.output({gradientOf(f, f.item(pool, 0), x, p, places)});
    expectSameAsInterpreter(f, 1e-5, p.name, false);
  }
}

TEST(Windows, WhatAPoolingFoundIsNoPlaceWhereItIsTheMaximaOrOffsets) {
  const Pool p{"whole numbers", {1, 2, 6, 6}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, false};
  GraphFixture f;
  Tensor values = *Tensor::zeros(DType::Int64, p.image);
  for (int i = 0; i < 72; ++i) values.data<std::int64_t>()[i] = (i * 7) % 36;  // within a plane, seldom the own place
  const NodeId x = f.input("x", values), y = f.input("y", DType::Float32, p.image);
  const NodeId grad = f.item(maxPoolOf(f, y, p), 0);
  const NodeId whole = maxPoolOf(f, x, p);
  f.output({gradientOf(f, grad, y, p, f.item(whole, 0))});
  expectSameAsInterpreter(f, 1e-6, "maxima as places", false);
}

TEST(Windows, OffsetsThatNoWindowHas) {
  GraphFixture f;
  Tensor offsets = *Tensor::zeros(DType::Int8, {1, 2, 3, 3});
  for (int i = 0; i < 18; ++i) offsets.data<std::int8_t>()[i] = std::int8_t(i * 14 - 127);
  f.output({f.call(
      "prims._low_memory_max_pool_offsets_to_indices.default",
      {f.input("o", offsets), numbers({3, 2}), numbers({7, 6}), numbers({2, 2}), numbers({1, 1}), numbers({1, 2})})});
  expectSameAsInterpreter(f, 0, "offsets");
}

TEST(Windows, OffsetsOfOtherTypesThanAPoolingMakes) {
  for (const DType dtype : {DType::UInt8, DType::Int32, DType::Int64, DType::Float32, DType::Float64}) {
    GraphFixture f;
    Tensor offsets = *Tensor::zeros(DType::Float64, {1, 1, 2, 3});
    const double large = dtype == DType::UInt8 ? 255 : dtype == DType::Int32 ? 2147483647.0 : 9007199254740993.0;
    for (int i = 0; i < 6; ++i) offsets.data<double>()[i] = i % 2 == 0 ? large - i : i;
    f.output({f.call("prims._low_memory_max_pool_offsets_to_indices.default",
                     {f.input("o", *offsets.to(dtype)), numbers({3, 2}), numbers({7, 6}), numbers({2, 2}),
                      numbers({1, 1}), numbers({1, 2})})});
    expectSameAsInterpreter(f, 0, std::string(dtypeInfo(dtype).torchName), false);
  }
}

TEST(Windows, InductorsFormsWithOffsets) {
  for (const Pool& p : pools) {
    if (p.stride.size() == 0) continue;
    GraphFixture f;
    const NodeId x = f.input("x", DType::Float32, p.image);
    const NodeId pool = f.call(
        "prims._low_memory_max_pool_with_offsets.default",
        {x, numbers(p.kernel), numbers(p.stride), numbers(p.padding), numbers(p.dilation), Argument(p.ceilMode)});
    ArgumentList plane;
    for (const std::int64_t size : Sizes(p.image.end() - 2, p.image.end())) plane.emplace_back(size);
    const NodeId places = f.call("prims._low_memory_max_pool_offsets_to_indices.default",
                                 {f.item(pool, 1), numbers(p.kernel), Argument::list(std::move(plane)),
                                  numbers(p.stride), numbers(p.padding), numbers(p.dilation)});
    f.output({f.item(pool, 0), f.item(pool, 1), places});
    expectSameAsInterpreter(f, 0, p.name);
  }
}

TEST(Windows, AveragesAndTheirGradients) {
  for (const Pool& p : pools)
    for (const bool countsPadding : {false, true})
      for (const std::int64_t divisor : {0, 5}) {
        if (*p.dilation.begin() != 1) continue;
        GraphFixture f;
        const NodeId x = f.input("x", DType::Float32, p.image);
        const Argument given = divisor == 0 ? Argument() : Argument(divisor);
        const NodeId pool =
            f.call("aten.avg_pool2d.default", {x, numbers(p.kernel), numbers(p.stride), numbers(p.padding),
                                               Argument(p.ceilMode), Argument(countsPadding), given});
        const NodeId grad = f.call("aten.tanh.default", {pool});
        f.output({pool, f.call("aten.avg_pool2d_backward.default",
                               {grad, x, numbers(p.kernel), numbers(p.stride), numbers(p.padding), Argument(p.ceilMode),
                                Argument(countsPadding), given})});
        expectSameAsInterpreter(f, 1e-6, p.name);
      }
}

TEST(Windows, NearestNeighboursAndTheirGradients) {
  struct Case {
    Sizes image;
    std::initializer_list<std::int64_t> out;
  };
  for (const Case& c : {Case{{2, 3, 5, 4}, {10, 8}}, Case{{1, 2, 7, 9}, {5, 20}}, Case{{1, 1, 3, 3}, {12, 3}},
                        Case{{2, 2, 6}, {17}}, Case{{1, 2, 2, 3, 2}, {4, 3, 8}}})
    for (const char* form : {"upsample_nearest", "_upsample_nearest_exact"}) {
      GraphFixture f;
      const NodeId x = f.input("x", DType::Float32, c.image);
      const std::string op = fmt::format("aten.{}{}d.default", form, c.out.size());
      f.output({f.call(op, {x, numbers(c.out)})});
      expectSameAsInterpreter(f, 0, op);
    }
  GraphFixture f;
  const NodeId grad = f.input("g", DType::Float32, {2, 3, 8, 12});
  f.output({f.call("aten.upsample_nearest2d_backward.default", {grad, numbers({8, 12}), numbers({2, 3, 4, 3})})});
  expectSameAsInterpreter(f, 1e-6, "gradient");
  GraphFixture odd;
  const NodeId g = odd.input("g", DType::Float32, {1, 2, 7, 9});
  odd.output({odd.call("aten.upsample_nearest2d_backward.default", {g, numbers({7, 9}), numbers({1, 2, 3, 3})})});
  expectSameAsInterpreter(odd, 1e-6, "gradient of no whole factor", false);
}

TEST(Windows, ANeighbourBesideTheImageIsItsLast) {
  for (const char* form : {"upsample_nearest2d", "_upsample_nearest_exact2d"}) {
    GraphFixture f;
    const NodeId x = f.input("x", DType::Float32, {1, 2, 1, 3});
    const std::string op = fmt::format("aten.{}.default", form);
    f.output(
        {f.call(op, {x, numbers({6, 7}), Argument(1.0), Argument(1.0)})});  // scales that are not those of the sizes
    expectSameAsInterpreter(f, 0, op);
  }
}

TEST(Windows, BetweenConvolutions) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {2, 3, 17, 15}), w = f.input("w", DType::Float32, {8, 3, 3, 3}),
               v = f.input("v", DType::Float32, {4, 8, 1, 1});
  const auto conv = [&](NodeId image, NodeId filter, std::int64_t padding) {
    return f.call("aten.convolution.default",
                  {image, filter, Argument(), numbers({1, 1}), numbers({padding, padding}), numbers({1, 1}),
                   Argument(false), numbers({0, 0}), Argument(std::int64_t(1))});
  };
  const NodeId relu = f.call("aten.relu.default", {conv(x, w, 1)});
  const NodeId pool =
      f.call("aten.max_pool2d_with_indices.default", {relu, numbers({3, 3}), numbers({2, 2}), numbers({1, 1})});
  const NodeId small = conv(f.item(pool, 0), v, 0);
  f.output({f.call("aten.upsample_nearest2d.default", {small, numbers({18, 16})})});
  expectSameAsInterpreter(f, 1e-4, "convolutions", false);
}

}  // namespace
}  // namespace kerf
