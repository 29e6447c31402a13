// Writes by few indices in generated loops, beside the ops' own kernels.
#include <limits>

#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::GraphFixture;

void expectScatteredAlike(const GraphFixture& f, double tolerance, const std::string& what, bool loops = true) {
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << what << ": " << graph.error().text();
  bool isCall = false;
  for (const KernelInfo& kernel : (*graph)->kernels()) isCall = isCall || kernel.kind == "extern";
  EXPECT_EQ(isCall, !loops) << what;
  const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
  ASSERT_TRUE(reference) << what << ": " << reference.error().text();
  ASSERT_TRUE(result) << what << ": " << result.error().text();
  expectClose(reference->list()[0].tensor(), result->list()[0].tensor(), tolerance, what);
}

struct Written {
  const char* name;
  Sizes self, index, source;
  std::int64_t dim;
};
const Written writes[] = {
    {"one for each row", {6, 9}, {6, 1}, {6, 1}, 1},
    {"five in a row", {4, 7}, {4, 5}, {4, 5}, -1},
    {"along the first dimension", {5, 8}, {3, 8}, {4, 9}, 0},
    {"in the middle", {2, 6, 3}, {2, 4, 3}, {2, 4, 3}, 1},
    {"a vector", {11}, {8}, {8}, 0},
    {"no index", {4, 3}, {4, 0}, {4, 2}, 1},
};

/// Rising, with places that occur twice.
Tensor placesFor(const Written& w, DType dtype) {
  Tensor places = *Tensor::zeros(dtype, w.index);
  const auto rank = std::int64_t(w.self.size());
  const std::int64_t size = w.self[std::size_t(w.dim < 0 ? w.dim + rank : w.dim)];
  for (std::int64_t i = 0; i < places.numel(); ++i) {
    const std::int64_t place = (i * i + i / 3) % size;
    if (dtype == DType::Int64)
      places.data<std::int64_t>()[i] = place;
    else
      places.data<std::int32_t>()[i] = std::int32_t(place);
  }
  return places;
}

const DType writtenTypes[] = {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16,
                              DType::Int64,   DType::Int32,   DType::UInt8,    DType::Bool};

double toleranceOf(DType dtype) { return dtype == DType::BFloat16 ? 8e-3 : dtype == DType::Float16 ? 1e-3 : 1e-6; }

TEST(ScatterLoops, TensorsAndNumbers) {
  for (const DType dtype : writtenTypes)
    for (const Written& w : writes) {
      GraphFixture f, g;
      const Argument dim(w.dim);
      const NodeId x = f.input("x", dtype, w.self), index = f.input("i", placesFor(w, DType::Int64));
      f.output({f.call("aten.scatter.src", {x, dim, index, f.input("s", dtype, w.source)})});
      expectScatteredAlike(f, 0, w.name);
      const NodeId y = g.input("x", dtype, w.self), other = g.input("i", placesFor(w, DType::Int32));
      g.output({g.call("aten.scatter.value",
                       {y, dim, other, isFloating(dtype) ? Argument(0.3) : Argument(std::int64_t{1})})});
      expectScatteredAlike(g, 0, w.name);
    }
}

TEST(ScatterLoops, Sums) {
  for (const DType dtype : writtenTypes)
    for (const Written& w : writes) {
      GraphFixture f;
      const NodeId x = f.input("x", dtype, w.self), index = f.input("i", placesFor(w, DType::Int64));
      f.output({f.call("aten.scatter_add.default", {x, Argument(w.dim), index, f.input("s", dtype, w.source)})});
      expectScatteredAlike(f, toleranceOf(dtype), w.name);
    }
}

TEST(ScatterLoops, EveryReduction) {
  for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"})
    for (const bool includesSelf : {true, false})
      for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Int64})
        for (const Written& w : writes) {
          GraphFixture f;
          const NodeId x = f.input("x", dtype, w.self), index = f.input("i", placesFor(w, DType::Int64));
          f.output({f.call("aten.scatter_reduce.two",
                           {x, Argument(w.dim), index, f.input("s", dtype, w.source), Argument(std::string(reduce))},
                           {{"include_self", Argument(includesSelf)}})});
          const bool divides = std::string(reduce) == "mean" && dtype == DType::Int64;
          expectScatteredAlike(f, toleranceOf(dtype), fmt::format("{} {} {}", reduce, includesSelf, w.name), !divides);
        }
}

TEST(ScatterLoops, NanIsKeptByEveryReduction) {
  for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"})
    for (const bool includesSelf : {true, false}) {
      GraphFixture f;
      Tensor self = *Tensor::zeros(DType::Float32, {3, 4}), source = *Tensor::zeros(DType::Float32, {3, 2});
      self.data<float>()[1] = std::numeric_limits<float>::quiet_NaN();
      source.data<float>()[2] = std::numeric_limits<float>::quiet_NaN();
      source.data<float>()[4] = -std::numeric_limits<float>::infinity();
      const Written w{"", {3, 4}, {3, 2}, {3, 2}, 1};
      const NodeId x = f.input("x", self), index = f.input("i", placesFor(w, DType::Int64));
      f.output({f.call("aten.scatter_reduce.two",
                       {x, Argument(std::int64_t{1}), index, f.input("s", source), Argument(std::string(reduce))},
                       {{"include_self", Argument(includesSelf)}})});
      expectScatteredAlike(f, 0, reduce);
    }
}

TEST(ScatterLoops, AnIndexOutsideIsTheErrorOfTheOpsOwnKernel) {
  for (const std::int64_t outside : {std::int64_t{4}, std::int64_t{-1}, std::int64_t{1} << 60}) {
    GraphFixture f;
    Tensor places = *Tensor::zeros(DType::Int64, {3, 1});
    places.data<std::int64_t>()[2] = outside;
    const NodeId x = f.input("x", DType::Float32, {3, 4});
    f.output({f.call("aten.scatter.value", {x, Argument(std::int64_t{1}), f.input("i", places), Argument(1.0)})});
    const auto graph = compileFx(f.module, {});
    ASSERT_TRUE(graph);
    const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
    ASSERT_FALSE(reference || result);
    EXPECT_EQ(reference.error().code, result.error().code);
    EXPECT_EQ(reference.error().message, result.error().message);
  }
}

TEST(ScatterLoops, AGradientOfALossIsOneKernel) {
  GraphFixture f;
  const Written w{"", {6, 10}, {6, 1}, {6, 1}, 1};
  const NodeId x = f.input("x", DType::Float32, {6, 10}), index = f.input("i", placesFor(w, DType::Int64));
  const NodeId zeros = f.call("aten.full_like.default", {x, Argument(0.0)});
  const NodeId hot = f.call("aten.scatter.value", {zeros, Argument(std::int64_t{1}), index, Argument(-1.0)});
  f.output({f.call("aten.mul.Tensor", {f.call("aten.add.Tensor", {hot, x}), Argument(0.5)})});
  expectScatteredAlike(f, 1e-6, "loss");
}

TEST(ScatterLoops, StridedOperandsAndMoreIndicesThanEveryElementAsksFor) {
  GraphFixture f;
  const Tensor values = testing_support::randomTensor(DType::Float32, {9, 6}, f.random);
  const Written w{"", {6, 9}, {6, 2}, {6, 2}, 1};
  const Tensor places = placesFor({"", {2, 9}, {2, 6}, {}, 1}, DType::Int64);
  const NodeId x = f.input("x", values.viewAs({6, 9}, {1, 6}, 0)),
               index = f.input("i", places.viewAs({6, 2}, {1, 6}, 0));
  f.output({f.call("aten.scatter_add.default", {x, Argument(w.dim), index, f.input("s", DType::Float32, w.source)})});
  expectScatteredAlike(f, 1e-6, "strided");
  GraphFixture g;
  const Written many{"", {3, 20}, {3, 9}, {3, 9}, 1};
  const NodeId y = g.input("x", DType::Float32, many.self), more = g.input("i", placesFor(many, DType::Int64));
  g.output(
      {g.call("aten.scatter_add.default", {y, Argument(many.dim), more, g.input("s", DType::Float32, many.source)})});
  expectScatteredAlike(g, 1e-6, "nine");
}

}  // namespace
}  // namespace kerf
