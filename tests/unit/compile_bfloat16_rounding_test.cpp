// Rounding of bfloat16 values between ops: the interpreter's bits, with NaN, infinities and subnormal numbers among them.
#include "engine/codegen_llvm/target.h"
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::GraphFixture;
using testing_support::partsOf;

/// Every bfloat16, in another order for each `step`, which is odd.
Tensor everyBFloat16(std::uint32_t step) {
  Tensor tensor = *Tensor::zeros(DType::BFloat16, {1 << 16});
  for (std::uint32_t i = 0; i < 1u << 16; ++i) tensor.data<BFloat16>()[i].bits = std::uint16_t(i * step);
  return tensor;
}

void expectSameBits(const GraphFixture& f, const std::string& what) {
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << what;
  const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
  ASSERT_TRUE(reference && result) << what;
  const ValueList expected = partsOf(*reference), given = partsOf(*result);
  for (std::size_t k = 0; k < given.size(); ++k) {
    const Tensor &a = expected[k].tensor(), &b = given[k].tensor();
    ASSERT_EQ(b.dtype(), DType::BFloat16);
    for (std::int64_t i = 0; i < a.numel(); ++i)
      ASSERT_EQ(a.data<BFloat16>()[i].bits, b.data<BFloat16>()[i].bits)
          << what << ", output " << k << ", element " << i;
  }
}

TEST(BFloat16Rounding, OfOneOp) {
  for (const char* op : {"aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.div.Tensor"}) {
    GraphFixture f;
    const NodeId x = f.input("x", everyBFloat16(1)), y = f.input("y", everyBFloat16(40503));
    f.output({f.call(op, {x, y})});
    expectSameBits(f, op);
  }
  for (const char* op : {"aten.sqrt.default", "aten.neg.default", "aten.abs.default", "aten.floor.default"}) {
    GraphFixture f;
    f.output({f.call(op, {f.input("x", everyBFloat16(1))})});
    expectSameBits(f, op);
  }
}

TEST(BFloat16Rounding, OfSeveralOpsInARow) {
  GraphFixture f;
  const NodeId x = f.input("x", everyBFloat16(1)), y = f.input("y", everyBFloat16(27183));
  const NodeId z = f.input("z", everyBFloat16(31415));
  const NodeId product = f.call("aten.mul.Tensor", {x, y});
  const NodeId sum = f.call("aten.add.Tensor", {product, z});
  const NodeId root = f.call("aten.sqrt.default", {sum});
  const NodeId chosen = f.call("aten.where.self", {f.call("aten.gt.Tensor", {x, y}), root, product});
  f.output({sum, root, chosen, f.call("aten.div.Tensor", {chosen, z}), f.call("aten.copysign.Tensor", {z, root})});
  expectSameBits(f, "all");
}

/// A NaN of float32 may have bits that bfloat16 has not, which rounding would carry into its sign.
TEST(BFloat16Rounding, OfNanWithBitsBelow) {
  GraphFixture f;
  Tensor values = *Tensor::zeros(DType::Float32, {64});
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t infinity = i % 2 ? 0xff800000u : 0x7f800000u, below = i < 32 ? 0x7fffffu - i : 1u << (i % 23);
    values.data<float>()[i] = std::bit_cast<float>(infinity + below);
  }
  const NodeId x = f.input("x", values);
  const NodeId half = f.call("prims.convert_element_type.default", {x, Argument(DType::BFloat16)});
  const NodeId twice = f.call("aten.mul.Tensor", {x, Argument(2.0)});
  f.output({half, f.call("prims.convert_element_type.default", {twice, Argument(DType::BFloat16)}),
            f.call("aten.add.Tensor", {half, half})});
  expectSameBits(f, "NaN");
}

/// Halves, numbers next to them and what is carried into the exponent; in whole vectors and in what is left over.
TEST(BFloat16Rounding, OfEveryUpperHalf) {
  constexpr std::uint32_t lowers[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  GraphFixture f;
  Tensor values = *Tensor::zeros(DType::Float32, {6 << 16});
  for (std::uint32_t i = 0; i < 6u << 16; ++i)
    values.data<float>()[i] = std::bit_cast<float>((i / 6) << 16 | lowers[i % 6]);
  const NodeId x = f.input("x", values);
  const NodeId tail = f.call("aten.slice.Tensor", {x, Argument(0), Argument(7), Argument((6 << 16) - 2)});
  f.output({f.call("prims.convert_element_type.default", {x, Argument(DType::BFloat16)}),
            f.call("prims.convert_element_type.default", {tail, Argument(DType::BFloat16)})});
  expectSameBits(f, "halves");
}

/// 16 at once are rounded by one product of words where the processor has it.
TEST(BFloat16Rounding, TakesProductsOfWords) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::BFloat16, {4096});
  f.output({f.call("aten.mul.Tensor", {f.call("aten.mul.Tensor", {x, x}), x})});
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph);
  const std::string code((*graph)->kernels().at(0).text("llvm"));
  if (!hasWordProducts()) GTEST_SKIP() << "this processor has none";
  EXPECT_NE(code.find("vpdpwssd.512"), std::string::npos);
  EXPECT_EQ(code.find("call i32 @kerf_round"), std::string::npos) << "not all calls became part of their loops";
}

TEST(BFloat16Rounding, CopiesKeepEveryBit) {
  GraphFixture f;
  const NodeId x = f.input("x", everyBFloat16(1));
  f.output({f.call("aten.flip.default", {x, Argument::list({Argument(0)})})});
  expectSameBits(f, "flip");
}

}  // namespace
}  // namespace kerf
