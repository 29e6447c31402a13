// torch.special: tabulated values, polynomials by degree, single precision near poles.
#include <cmath>

#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

TEST(SpecialOps, SpecialFunctionsHaveTheirTabulatedValues) {
  const auto at = [](const char* op, double x) {
    return callTensor(op, {tensorOf({}, {x}, DType::Float64)}).itemAsDouble();
  };
  EXPECT_NEAR(at("aten.special_bessel_j0.default", 1), 0.7651976865579666, 1e-14);
  EXPECT_NEAR(at("aten.special_bessel_j1.default", 1), 0.4400505857449335, 1e-14);
  EXPECT_NEAR(at("aten.special_bessel_y0.default", 1), 0.08825696421567698, 1e-14);
  EXPECT_NEAR(at("aten.special_bessel_y1.default", 1), -0.7812128213002887, 1e-14);
  EXPECT_NEAR(at("aten.special_modified_bessel_k0.default", 1), 0.42102443824070834, 1e-13);
  EXPECT_NEAR(at("aten.special_modified_bessel_k1.default", 1), 0.6019072301972346, 1e-13);
  EXPECT_NEAR(at("aten.special_scaled_modified_bessel_k0.default", 1000), 0.03962832160075422, 1e-12);
  EXPECT_NEAR(at("aten.special_airy_ai.default", 1), 0.13529241631288141, 1e-13);
  EXPECT_NEAR(at("aten.special_airy_ai.default", -2), 0.22740742820168557, 1e-12);
  EXPECT_NEAR(at("aten.special_spherical_bessel_j0.default", 2), 0.45464871341284085, 1e-14);
  EXPECT_EQ(at("aten.special_bessel_y0.default", 0), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(at("aten.special_modified_bessel_k0.default", -1)));
  EXPECT_NEAR(at("aten.special_modified_bessel_k0.default", 1e-310), 713.91731, 1e-4);  // no exception near 0
  EXPECT_DOUBLE_EQ(at("aten.special_modified_bessel_k1.default", 1e-300), 1e300);
  EXPECT_NEAR(at("aten.special_scaled_modified_bessel_k0.default", 1e-310), 713.91731, 1e-4);
}

TEST(SpecialOps, PolynomialsByDegree) {
  struct Row {
    const char* name;
    double x;
    std::int64_t degree;
    double value;
  };
  const Row rows[] = {{"chebyshev_polynomial_t", 0.3, 5, 0.99888},
                      {"chebyshev_polynomial_u", 0.5, 3, -1},
                      {"chebyshev_polynomial_v", 0.5, 2, -1},
                      {"chebyshev_polynomial_w", 0.5, 2, 1},
                      {"hermite_polynomial_h", 0.5, 3, -5},
                      {"hermite_polynomial_he", 0.5, 3, -1.375},
                      {"laguerre_polynomial_l", 1, 2, -0.5},
                      {"legendre_polynomial_p", 0.5, 3, -0.4375},
                      {"shifted_chebyshev_polynomial_t", 0.75, 3, -1},
                      {"chebyshev_polynomial_t", 0.3, -1, 0},
                      {"chebyshev_polynomial_t", -1, 11, -1},
                      {"chebyshev_polynomial_u", 1, 11, 12}};
  for (const Row& row : rows) {
    const std::string op = std::string("aten.special_") + row.name;
    const Tensor x = tensorOf({}, {row.x}, DType::Float64);
    EXPECT_NEAR(callTensor(op + ".n_scalar", {x, row.degree}).itemAsDouble(), row.value, 1e-12) << row.name;
  }
  const Tensor x = tensorOf({}, {0.3}, DType::Float64);
  for (std::int64_t n : {9, 20})  // by angles and by the recurrence: U_n = (V_n + W_n) / 2
    EXPECT_NEAR(callTensor("aten.special_chebyshev_polynomial_u.n_scalar", {x, n}).itemAsDouble(),
                (callTensor("aten.special_chebyshev_polynomial_v.n_scalar", {x, n}).itemAsDouble() +
                 callTensor("aten.special_chebyshev_polynomial_w.n_scalar", {x, n}).itemAsDouble()) /
                    2,
                1e-12);
}

TEST(SpecialOps, PolygammaNearItsPolesIsSinglePrecision) {
  const Tensor x = tensorOf({1}, {-7.950586795806885});
  EXPECT_NEAR(callTensor("aten.polygamma.default", {std::int64_t{1}, x}).itemAsDouble(), 412.7525939941406, 1e-3);
  const Tensor wide = tensorOf({1}, {0.25}, DType::Float64);
  EXPECT_NEAR(callTensor("aten.polygamma.default", {std::int64_t{1}, wide}).itemAsDouble(), 17.197329154507110, 1e-12);
}

}  // namespace
}  // namespace kerf
