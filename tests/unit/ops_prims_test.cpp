// torch.ops.prims that are ATen ops under another name: the same values and dtypes, and what is special about a few.
#include <cmath>

#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

struct SecondName {
  const char *prim, *aten;
};

void expectSame(const SecondName& names, const std::vector<Value>& args) {
  const Tensor a = callTensor(names.prim, args), b = callTensor(names.aten, args);
  EXPECT_EQ(a.dtype(), b.dtype()) << names.prim;
  ASSERT_EQ(a.sizes(), b.sizes()) << names.prim;
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const double own = a.itemAsDouble(i), other = b.itemAsDouble(i);
    EXPECT_TRUE(own == other || (std::isnan(own) && std::isnan(other))) << names.prim << ": " << own << " " << other;
  }
}

TEST(Prims, OfOneTensorAreAtenOps) {
  const Tensor x = tensorOf({4}, {0.25, -0.5, 0.75, 2});
  for (const SecondName names : {SecondName{"prims.sin.default", "aten.sin.default"},
                                 {"prims.rsqrt.default", "aten.rsqrt.default"},
                                 {"prims.log.default", "aten.log.default"},
                                 {"prims.isfinite.default", "aten.isfinite.default"},
                                 {"prims.erf_inv.default", "aten.erfinv.default"},
                                 {"prims.bessel_i0e.default", "aten.special_i0e.default"},
                                 {"prims.spherical_bessel_j0.default", "aten.special_spherical_bessel_j0.default"},
                                 {"prims.round.default", "aten.round.default"}})
    expectSame(names, {x});
}

TEST(Prims, OfTwoTensorsAreAtenOps) {
  const Tensor x = tensorOf({4}, {7, -7, 3, 2}), y = tensorOf({4}, {2, 3, -2, 2});
  for (const SecondName names : {SecondName{"prims.add.default", "aten.add.Tensor"},
                                 {"prims.sub.default", "aten.sub.Tensor"},
                                 {"prims.fmod.default", "aten.fmod.Tensor"},
                                 {"prims.remainder.default", "aten.remainder.Tensor"},
                                 {"prims.pow.default", "aten.pow.Tensor_Tensor"},
                                 {"prims.ge.default", "aten.ge.Tensor"},
                                 {"prims.div.default", "aten.div.Tensor"},
                                 {"prims.zeta.default", "aten.special_zeta.default"}})
    expectSame(names, {x, y});
  const Tensor i = tensorOf({4}, {7, -7, 3, 2}, DType::Int64), j = tensorOf({4}, {2, 3, -2, 2}, DType::Int64);
  expectSame({"prims.shift_left.default", "aten.bitwise_left_shift.Tensor"},
             {i, tensorOf({4}, {1, 2, 0, 3}, DType::Int64)});
  const Tensor whole = callTensor("prims.div.default", {i, j});
  EXPECT_EQ(whole.dtype(), DType::Int64);
  EXPECT_EQ(testing::valuesOf(whole), (std::vector<double>{3, -2, -1, 1})) << "towards zero";
}

TEST(Prims, Move) {
  const Tensor x = tensorOf({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(testing::valuesOf(callTensor("prims.rev.default", {x, ints({1})})),
            (std::vector<double>{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(testing::valuesOf(callTensor("prims.rev.default", {x, ints({0, 1})})),
            (std::vector<double>{6, 5, 4, 3, 2, 1}));
  const Tensor flat = callTensor("prims.reshape.default", {x, ints({6})});
  EXPECT_EQ(flat.sizes(), Sizes{6});
  EXPECT_NE(flat.storage(), x.storage()) << "never a view";
  const Tensor pred = tensorOf({2, 3}, {1, 0, 1, 0, 1, 0}, DType::Bool);
  EXPECT_EQ(testing::valuesOf(callTensor("prims.where.default", {pred, x, callTensor("aten.neg.default", {x})})),
            (std::vector<double>{1, -2, 3, -4, 5, -6}));
}

}  // namespace
}  // namespace kerf
