// Complex arithmetic, FFT functions, and what linear algebra refuses.
#include <cmath>
#include <complex>

#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;
using Z = std::complex<double>;

Tensor complexOf(const Sizes& sizes, const std::vector<Z>& values, DType dtype = DType::Complex64) {
  Tensor wide = *Tensor::zeros(DType::Complex128, sizes);
  std::ranges::copy(values, wide.data<Z>());
  return *wide.to(dtype);
}
std::vector<Z> complexValues(const Tensor& tensor) {
  Tensor wide = *Tensor::zeros(DType::Complex128, tensor.sizes());
  EXPECT_TRUE(copyElements(tensor, wide));
  return {wide.data<Z>(), wide.data<Z>() + wide.numel()};
}
void expectNear(const Tensor& got, const std::vector<Z>& want, double tolerance = 1e-6) {
  const std::vector<Z> values = complexValues(got);
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_LE(std::abs(values[i] - want[i]), tolerance) << i;
}

TEST(Complex, ArithmeticPromotesToComplex) {
  const Tensor z = complexOf({2}, {{1, 2}, {3, -1}});
  const Tensor real = tensorOf({2}, {2, 4});
  const Tensor sum = callTensor("aten.add.Tensor", {z, real}, {{"alpha", std::int64_t{2}}});
  EXPECT_EQ(sum.dtype(), DType::Complex64);
  expectNear(sum, {{5, 2}, {11, -1}});
  expectNear(callTensor("aten.mul.Tensor", {z, z}), {{-3, 4}, {8, -6}});
  expectNear(callTensor("aten.div.Tensor", {real, z}), {Z(2) / Z(1, 2), Z(4) / Z(3, -1)});
  expectNear(callTensor("aten.pow.Tensor_Scalar", {z, 2.0}), {{-3, 4}, {8, -6}});
  const Tensor wide = tensorOf({2}, {1, 1}, DType::Float64);
  EXPECT_EQ(callTensor("aten.mul.Tensor", {z, wide}).dtype(), DType::Complex128);
  EXPECT_EQ(callTensor("aten.mul.Tensor", {real, complexOf({}, {{0, 1}}, DType::Complex128)}).dtype(),
            DType::Complex64);
}

TEST(Complex, PartsAndConjugates) {
  const Tensor z = complexOf({2}, {{1, 2}, {-3, 0.5}});
  EXPECT_EQ(valuesOf(callTensor("aten.real.default", {z})), (std::vector<double>{1, -3}));
  EXPECT_EQ(valuesOf(callTensor("aten.imag.default", {z})), (std::vector<double>{2, 0.5}));
  EXPECT_EQ(callTensor("aten.imag.default", {z}).storage(), z.storage());
  const Tensor parts = callTensor("aten.view_as_real.default", {z});
  EXPECT_EQ(parts.sizes(), (Sizes{2, 2}));
  EXPECT_EQ(valuesOf(parts), (std::vector<double>{1, 2, -3, 0.5}));
  expectNear(callTensor("aten.view_as_complex.default", {parts}), {{1, 2}, {-3, 0.5}});
  expectNear(callTensor("aten._conj_physical.default", {z}), {{1, -2}, {-3, -0.5}});
  const Tensor size = callTensor("aten.abs.default", {z});
  EXPECT_EQ(size.dtype(), DType::Float32);
  EXPECT_NEAR(size.itemAsDouble(0), std::sqrt(5.0), 1e-6);
  EXPECT_NEAR(callTensor("aten.angle.default", {z}).itemAsDouble(0), std::atan2(2, 1), 1e-6);
  const Tensor one = tensorOf({1}, {2}), quarter = tensorOf({1}, {M_PI / 2});
  expectNear(callTensor("aten.polar.default", {one, quarter}), {{0, 2}});
  expectNear(callTensor("aten.complex.default", {one, quarter}), {{2, M_PI / 2}});
}

TEST(Complex, FunctionsReductionsAndScans) {
  const Tensor z = complexOf({2, 2}, {{1, 2}, {3, -1}, {0, 1}, {-2, 0}}, DType::Complex128);
  expectNear(callTensor("aten.exp.default", {z}),
             {std::exp(Z(1, 2)), std::exp(Z(3, -1)), std::exp(Z(0, 1)), std::exp(Z(-2, 0))}, 1e-12);
  expectNear(callTensor("aten.sqrt.default", {z}),
             {std::sqrt(Z(1, 2)), std::sqrt(Z(3, -1)), std::sqrt(Z(0, 1)), Z(0, std::sqrt(2.0))}, 1e-12);
  expectNear(callTensor("aten.log1p.default", {z}),
             {std::log(Z(2, 2)), std::log(Z(4, -1)), std::log(Z(1, 1)), Z(0, M_PI)}, 1e-12);
  expectNear(callTensor("aten.sum.dim_IntList", {z, ints({1})}), {{4, 1}, {-2, 1}}, 1e-12);
  expectNear(callTensor("aten.mean.default", {z}), {{0.5, 0.5}}, 1e-12);
  expectNear(callTensor("aten.prod.default", {z}), {Z(1, 2) * Z(3, -1) * Z(0, 1) * Z(-2, 0)}, 1e-12);
  expectNear(callTensor("aten.cumsum.default", {z, std::int64_t{0}}), {{1, 2}, {3, -1}, {1, 3}, {1, -1}}, 1e-12);
  EXPECT_NEAR(callTensor("aten.linalg_vector_norm.default", {z}).itemAsDouble(), std::sqrt(20.0), 1e-12);
  expectNear(callTensor("aten.mm.default", {z, z}),
             {Z(1, 2) * Z(1, 2) + Z(3, -1) * Z(0, 1), Z(1, 2) * Z(3, -1) + Z(3, -1) * Z(-2, 0),
              Z(0, 1) * Z(1, 2) + Z(-2, 0) * Z(0, 1), Z(0, 1) * Z(3, -1) + Z(4, 0)},
             1e-12);
  EXPECT_EQ(valuesOf(callTensor("aten.eq.Tensor", {z, callTensor("aten.conj_physical.default", {z})})),
            (std::vector<double>{0, 0, 0, 1}));
}

TEST(Complex, ConversionsAndMoves) {
  const Tensor z = complexOf({3}, {{1, 2}, {0, 0}, {-0.5, 4}});
  const Tensor half = callTensor("prims.convert_element_type.default", {z, DType::Complex32});
  EXPECT_EQ(half.dtype(), DType::Complex32);
  expectNear(callTensor("aten._to_copy.default", {half}, {{"dtype", DType::Complex128}}), {{1, 2}, {0, 0}, {-0.5, 4}});
  expectNear(
      callTensor("aten.mul.Tensor", {callTensor("aten._to_copy.default", {callTensor("aten.mul.Tensor", {half, half})},
                                                {{"dtype", DType::Complex64}}),
                                     1.0}),
      {{-3, 4}, {0, 0}, {-15.75, -4}});
  EXPECT_EQ(valuesOf(callTensor("aten.nonzero.default", {z})), (std::vector<double>{0, 2}));
  const Tensor index = tensorOf({3}, {0, 0, 2}, DType::Int64);
  expectNear(callTensor("aten.index_put.default", {z, Value(ValueList{index}), z, true}), {{2, 4}, {0, 0}, {-1, 8}});
  expectNear(callTensor("aten.index_add.default", {z, std::int64_t{0}, index, z}), {{2, 4}, {0, 0}, {-1, 8}});
  expectNear(callTensor("aten.scatter_add.default", {z, std::int64_t{0}, index, z}), {{2, 4}, {0, 0}, {-1, 8}});
  const Tensor close = complexOf({3}, {{1, 2}, {0, 0}, {-0.5, 4.5}});
  EXPECT_EQ(*call("aten.allclose.default", {z, z}).as<bool>(), true);
  EXPECT_EQ(*call("aten.allclose.default", {z, close}).as<bool>(), false);
}

TEST(Fft, AgreesWithTheDefinitionForManyLengths) {
  for (std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 30, 37, 49, 64, 97, 100, 128, 211}) {
    std::vector<Z> x;
    for (std::int64_t i = 0; i < n; ++i) x.emplace_back(std::sin(1.0 + double(i)), std::cos(0.3 * double(i * i)));
    std::vector<Z> want(x.size());
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t j = 0; j < n; ++j)
        want[std::size_t(k)] += x[std::size_t(j)] * std::polar(1.0, -2 * M_PI * double(j * k % n) / double(n));
    const Tensor in = complexOf({n}, x, DType::Complex128);
    const Tensor out = callTensor("aten.fft_fft.default", {in});
    expectNear(out, want, 1e-11);
    expectNear(callTensor("aten.fft_ifft.default", {out}), x, 1e-13);
  }
}

TEST(Fft, RealTransformsRoundTripWithAnyNormalization) {
  const Tensor x = tensorOf({2, 5}, {1, 2, 3, 4, 5, -1, 0, 2, 7, 1}, DType::Float64);
  for (const char* norm : {"backward", "ortho", "forward"}) {
    const Tensor half = callTensor("aten.fft_rfft.default", {x}, {{"norm", std::string(norm)}});
    EXPECT_EQ(half.sizes(), (Sizes{2, 3}));
    const Tensor back = callTensor("aten.fft_irfft.default", {half, std::int64_t{5}}, {{"norm", std::string(norm)}});
    for (std::int64_t i = 0; i < 10; ++i) EXPECT_NEAR(back.itemAsDouble(i), x.itemAsDouble(i), 1e-14);
  }
  const Tensor planar = callTensor("aten.fft_rfftn.default", {x});
  const Tensor again = callTensor("aten.fft_irfftn.default", {planar, ints({2, 5})});
  for (std::int64_t i = 0; i < 10; ++i) EXPECT_NEAR(again.itemAsDouble(i), x.itemAsDouble(i), 1e-14);
  EXPECT_EQ(valuesOf(callTensor("aten.fft_fftshift.default", {tensorOf({5}, {0, 1, 2, 3, 4})})),
            (std::vector<double>{3, 4, 0, 1, 2}));
  EXPECT_EQ(valuesOf(callTensor("aten.fft_fftfreq.default", {std::int64_t{4}})),
            (std::vector<double>{0, 0.25, -0.5, -0.25}));
}

TEST(Linalg, RefusesWhatItCannotFactor) {
  const Tensor negative = tensorOf({2, 2}, {1, 0, 0, -1});
  EXPECT_EQ(errorOf("aten.cholesky.default", {negative}).code, ErrorCode::RuntimeFailed);
  EXPECT_NE(errorOf("aten.cholesky.default", {negative}).message.find("leading minor of order 2"), std::string::npos);
  EXPECT_EQ(call("aten.linalg_cholesky_ex.default", {negative}).list()[1].tensor().itemAsInt(), 2);
}

TEST(Linalg, NamesWrongArguments) {
  const Tensor square = tensorOf({2, 2}, {1, 2, 3, 4}), wide = tensorOf({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor zeros = tensorOf({2, 2}, {0, 0, 0, 0});
  EXPECT_EQ(errorOf("aten.cholesky.default", {wide}).code, ErrorCode::ShapeMismatch);
  EXPECT_EQ(errorOf("aten.linalg_inv.default", {zeros}).code, ErrorCode::RuntimeFailed);
  EXPECT_EQ(errorOf("aten.linalg_solve.default", {zeros, square}).code, ErrorCode::RuntimeFailed);
  EXPECT_EQ(errorOf("aten.linalg_solve.default", {square, tensorOf({3}, {1, 2, 3})}).code, ErrorCode::ShapeMismatch);
  EXPECT_EQ(errorOf("aten.lu_unpack.default", {square, tensorOf({2}, {1, 9}, DType::Int32)}).code,
            ErrorCode::RuntimeFailed);
  EXPECT_EQ(errorOf("aten.linalg_lstsq.default", {square, square, Value()}, {{"driver", std::string("gelx")}}).code,
            ErrorCode::ShapeMismatch);
  EXPECT_EQ(errorOf("aten.linalg_eigh.default", {tensorOf({1, 1}, {NAN})}).code, ErrorCode::RuntimeFailed);
  EXPECT_EQ(errorOf("aten._fft_c2c.default", {square, ints({0}), std::int64_t{0}, true}).code,
            ErrorCode::ShapeMismatch);
  EXPECT_EQ(errorOf("aten.multinomial.default", {tensorOf({2}, {-1, 1}), std::int64_t{1}}).code,
            ErrorCode::RuntimeFailed);
  EXPECT_EQ(errorOf("aten.randint.default", {std::int64_t{0}, ints({2})}).code, ErrorCode::RuntimeFailed);
}

}  // namespace
}  // namespace kerf
