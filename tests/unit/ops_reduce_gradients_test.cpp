// Gradients of reductions, scans, sorting and distances.
#include "ops_gradient_samples.h"

namespace kerf {
namespace {

using namespace testing;

const Value x = signedTensor({3, 4}, 1), cube = signedTensor({2, 3, 4}, 2), positive = randomTensor({3, 4}, 3);
const Value none;

std::vector<Sample> reductions() {
  std::vector<Sample> list{
      {"aten.sum.default", {x}},
      {"aten.sum.dim_IntList", {cube, ints({0, -1})}},
      {"aten.sum.dim_IntList", {x, ints({}), true}},
      {"aten.mean.default", {x}},
      {"aten.mean.dim", {x, ints({0}), true}},
      {"aten.prod.default", {x}},
      {"aten.prod.dim_int", {x, whole(-1)}},
      {"aten.prod.dim_int", {x, whole(0), true}},
  };
  for (const char* op : {"var", "std", "var_mean", "std_mean"}) {
    const std::string name = fmt::format("aten.{}.correction", op);
    list.push_back({name, {x}});
    list.push_back({name, {cube, ints({1, 2})}, {{"correction", whole(0)}, {"keepdim", true}}});
  }
  return list;
}

std::vector<Sample> norms() {
  std::vector<Sample> list{
      {"aten.norm.Scalar", {x, 2.0}},
      {"aten.norm.ScalarOpt_dim", {x, none, ints({1})}},
      {"aten.renorm.default", {x, 2.0, whole(0), 1.5}},
      {"aten.nansum.default", {x, ints({1})}},
      {"aten.logsumexp.default", {x, ints({1})}},
  };
  for (const double order : {1.0, 1.5, 2.0, 3.0, std::numeric_limits<double>::infinity(), 0.5})
    list.push_back({"aten.linalg_vector_norm.default", {x, order, ints({1}), true}});
  return list;
}

std::vector<Sample> extrema() {
  std::vector<Sample> list{
      {"aten.amax.default", {cube, ints({0, 2})}},
      {"aten.amin.default", {x, ints({}), false}},
      {"aten.aminmax.default", {x}},
      {"aten.aminmax.default", {x}, {{"dim", whole(1)}, {"keepdim", true}}},
      {"aten.kthvalue.default", {x, whole(2), whole(1)}},
      {"aten.mode.default", {x, whole(1)}},
      {"aten.sort.default", {x, whole(0), true}},
      {"aten.sort.stable", {x}, {{"stable", true}, {"dim", whole(0)}}},
      {"aten.topk.default", {x, whole(2), whole(-1)}},
      {"aten.cummax.default", {x, whole(1)}},
      {"aten.cummin.default", {x, whole(1)}},
  };
  for (const char* op : {"max", "min", "median", "nanmedian"}) {
    list.push_back({fmt::format("aten.{}.default", op), {x}});
    list.push_back({fmt::format("aten.{}.dim", op), {x, whole(-1)}});
    list.push_back({fmt::format("aten.{}.dim", op), {x, whole(0), true}});
  }
  return list;
}

std::vector<Sample> scans() {
  const Value lengths = positions({2}, {1, 2});
  std::vector<Sample> list{
      {"aten.cumsum.default", {x, whole(-1)}},
      {"aten.cumprod.default", {cube, whole(1)}},
      {"aten.logcumsumexp.default", {x, whole(0)}},
      {"aten._cdist_forward.default", {x, signedTensor({2, 4}, 4), 3.0, none}},
      {"aten._cdist_forward.default", {x, signedTensor({2, 4}, 4), 2.0, none}},
      {"aten._euclidean_dist.default", {x, signedTensor({2, 4}, 4)}},
      {"aten._pdist_forward.default", {x, 2.0}},
      {"aten._pdist_forward.default", {x, 1.0}},
  };
  for (const char* reduce : {"sum", "mean", "max", "min", "prod"})
    list.push_back({"aten.segment_reduce.default", {x, std::string(reduce)}, {{"lengths", lengths}, {"unsafe", true}}});
  return list;
}

TEST(ReductionGradients, OfSums) {
  expectGradients(reductions());
  expectGradients(reductions(), true);
}
TEST(ReductionGradients, OfNormsAndLogarithms) { expectGradients(norms()); }
TEST(ReductionGradients, OfExtrema) { expectGradients(extrema()); }
TEST(ReductionGradients, OfScansAndDistances) { expectGradients(scans()); }
TEST(ReductionGradients, AreAllTested) {
  std::vector<Sample> all;
  for (const auto& list : {reductions(), norms(), extrema(), scans()}) all.insert(all.end(), list.begin(), list.end());
  all.push_back({"aten.masked_select.default", {}});  // with its like in the folder of index
  expectAllTested("reduce", all);
}

std::vector<double> gradientOf(const char* op, const ValueList& args) {
  const auto call = bindArguments(*findOp(op), args, {});
  const Value result = testing::call(op, args);
  const ValueList results = result.isList() ? result.list() : ValueList{result};
  ValueList grads(results.size());
  grads[0] = callTensor("aten.ones_like.default", {results[0]});
  const auto gradients = call->op->gradient({*call, results}, grads, OpRunner(referenceOps()));
  EXPECT_TRUE(gradients);
  return gradients ? valuesOf((*gradients)[0].tensor()) : std::vector<double>();
}

/// Zeros do not divide; extrema share among equals where no place is told.
TEST(ReductionGradients, AtZerosAndTies) {
  const Tensor ties = tensorOf({3}, {2, 5, 5});
  EXPECT_EQ(gradientOf("aten.prod.default", {tensorOf({3}, {2, 0, 3})}), (std::vector<double>{0, 6, 0}));
  EXPECT_EQ(gradientOf("aten.prod.default", {tensorOf({3}, {0, 0, 3})}), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(gradientOf("aten.cumprod.default", {tensorOf({3}, {2, 0, 3}), whole(0)}), (std::vector<double>{1, 8, 0}));
  EXPECT_EQ(gradientOf("aten.max.default", {ties}), (std::vector<double>{0, 0.5, 0.5}));
  EXPECT_EQ(gradientOf("aten.amax.default", {ties, ints({0})}), (std::vector<double>{0, 0.5, 0.5}));
  EXPECT_EQ(gradientOf("aten.max.dim", {ties, whole(0)}), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(gradientOf("aten.linalg_vector_norm.default", {tensorOf({2}, {0, 0})}), (std::vector<double>{0, 0}));
  EXPECT_EQ(gradientOf("aten.std.correction", {tensorOf({2}, {3, 3})}), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace kerf
