#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "engine/tensor/convert.h"
#include "engine/tensor/dtype.h"

namespace kerf {
namespace {

TEST(DType, TableKnowsEveryNameOfADtype) {
  EXPECT_EQ(dtypeInfo(DType::BFloat16).torchName, "torch.bfloat16");
  EXPECT_EQ(itemSize(DType::Complex128), 16);
  EXPECT_EQ(dtypeFromTorchName("torch.half"), DType::Float16);
  EXPECT_EQ(dtypeFromTorchName("long"), DType::Int64);
  EXPECT_EQ(dtypeFromTorchName("torch.nothing"), std::nullopt);
  EXPECT_EQ(dtypeFromShortCode("b8"), DType::Bool);
  EXPECT_EQ(dtypeFromSafetensorsName("F8_E5M2"), DType::Float8E5M2);
  EXPECT_EQ(dtypeFromSafetensorsName(""), std::nullopt);
  EXPECT_TRUE(isIntegral(DType::Bool));
  EXPECT_FALSE(isFloating(DType::Complex64));
}

TEST(Half, RoundTripsEveryFiniteBitPattern) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half half;
    half.bits = std::uint16_t(bits);
    const float value = half;
    if (std::isnan(value)) continue;
    ASSERT_EQ(detail::halfBitsPortable(value), bits);
    ASSERT_EQ(Half(value).bits, bits);
    ASSERT_EQ(detail::halfToFloatPortable(half.bits), value);
  }
}

TEST(Half, RoundsToNearestEvenAtEveryMidpoint) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = detail::halfToFloatPortable(bits);
    const float high = detail::halfToFloatPortable(std::uint16_t(bits + 1));
    const float middle = low + (high - low) / 2;
    const auto even = std::uint16_t(bits + (bits & 1));
    ASSERT_EQ(detail::halfBitsPortable(middle), even) << bits;
    ASSERT_EQ(detail::halfBitsPortable(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(detail::halfBitsPortable(std::nextafter(middle, 1e30f)), bits + 1);
  }
}

TEST(Half, OverflowsToInfinityAndKeepsNan) {
  EXPECT_EQ(Half(65504.0f).bits, 0x7bff);
  EXPECT_EQ(Half(65519.996f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half(-1e30f).bits, 0xfc00);
  EXPECT_EQ(Half(5.9604645e-08f).bits, 1);
  EXPECT_EQ(Half(2.9802322e-08f).bits, 0);
  EXPECT_EQ(Half(-0.0f).bits, 0x8000);
  EXPECT_EQ(Half(std::nanf("")).bits, 0x7e00);
}

TEST(BFloat16, RoundsToNearestEvenAndKeepsSpecials) {
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(1.00390625f).bits, 0x3f80);  // a tie goes to the even neighbour below
  EXPECT_EQ(BFloat16(1.01171875f).bits, 0x3f82);  // and here to the one above
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::infinity()).bits, 0x7f80);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(float(BFloat16(std::nanf("")))));
}

TEST(Float8, DecodesTheNamedConstantsOfEachFormat) {
  const auto decode = [](std::uint8_t bits, const Float8Format& format) { return detail::float8Decode(bits, format); };
  EXPECT_EQ(decode(0x7e, detail::e4m3fn), 448.0f);
  EXPECT_EQ(decode(0x01, detail::e4m3fn), 0x1p-9f);
  EXPECT_TRUE(std::isnan(decode(0x7f, detail::e4m3fn)));
  EXPECT_EQ(decode(0x7b, detail::e5m2), 57344.0f);
  EXPECT_TRUE(std::isinf(decode(0xfc, detail::e5m2)));
  EXPECT_EQ(decode(0x7f, detail::e4m3fnuz), 240.0f);
  EXPECT_TRUE(std::isnan(decode(0x80, detail::e5m2fnuz)));
}

TEST(Float8, RoundTripsEveryBitPattern) {
  for (const auto* format : {&detail::e4m3fn, &detail::e5m2, &detail::e4m3fnuz, &detail::e5m2fnuz})
    for (int bits = 0; bits < 256; ++bits) {
      const float value = detail::float8Decode(std::uint8_t(bits), *format);
      if (std::isnan(value)) continue;
      ASSERT_EQ(detail::float8Encode(value, *format), bits);
    }
  EXPECT_EQ(detail::float8Encode(17.0f, detail::e4m3fn), detail::float8Encode(16.0f, detail::e4m3fn));
  EXPECT_EQ(detail::float8Encode(500.0f, detail::e4m3fn), 0x7f);
  EXPECT_EQ(detail::float8Encode(60000.0f, detail::e5m2), 0x7b);
  EXPECT_EQ(detail::float8Encode(61440.0f, detail::e5m2), 0x7c);
}

TEST(ConvertElement, IsDefinedForEveryFloat) {
  EXPECT_EQ(convertElement<std::int32_t>(-3.9f), -3);
  EXPECT_EQ(convertElement<std::int32_t>(std::nanf("")), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(convertElement<std::int64_t>(1e300), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(convertElement<std::uint8_t>(-1.0f), 255);
  EXPECT_EQ(convertElement<std::uint8_t>(300.0), 44);
  EXPECT_EQ(convertElement<std::uint64_t>(0x1p63), std::uint64_t{1} << 63);
  EXPECT_TRUE(convertElement<bool>(std::nan("")));
  EXPECT_TRUE(convertElement<bool>(Half(0.5f)));
  EXPECT_FALSE(convertElement<bool>(-0.0));
  EXPECT_EQ(convertElement<double>(std::complex<float>(2, 3)), 2.0);
}

}  // namespace
}  // namespace kerf
