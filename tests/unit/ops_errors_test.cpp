// Wrong calls: an error that names op and argument, never a crash.
#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

TEST(OpErrors, UnknownOp) { EXPECT_EQ(errorOf("torch.ops.aten.no_such.default", {}).code, ErrorCode::UnsupportedOp); }

struct BadCall {
  const char* op;
  ValueList args;
  const char* says;
};

TEST(OpErrors, NameTheArgumentAndTheExpectation) {
  const Tensor x = counting({2, 3});
  const BadCall calls[] = {
      {"aten.relu.default", {}, "'self' is missing"},
      {"aten.relu.default", {x, x}, "at most 1 positional"},
      {"aten.relu.default", {Value(std::string("x"))}, "'self' must be Tensor, got a str"},
      {"aten.add.Tensor", {x, counting({4})}, "do not broadcast"},
      {"aten.mm.default", {x, x}, "inner dimensions"},
      {"aten.mm.default", {x, counting({3})}, "'mat2' must have 2 dimensions"},
      {"aten.mm.default", {x, counting({3, 2}, DType::Float64)}, "one dtype"},
      {"aten.view.default", {x, ints({4, 2})}, "invalid for input of size 6"},
      {"aten.permute.default", {x, ints({0, 0})}, "more than once"},
      {"aten.sum.dim_IntList", {x, ints({2})}, "out of range"},
      {"aten.select.int", {x, std::int64_t{0}, std::int64_t{2}}, "index 2 is out of range"},
      {"aten.cat.default", {ValueList{x, counting({3, 3, 3})}, std::int64_t{0}}, "as many dimensions"},
      {"aten.as_strided.default", {x, ints({100}), ints({1})}, "outside of the storage"},
      {"aten.neg.default", {tensorOf({1}, {1}, DType::Bool)}, "not implemented for torch.bool"},
      {"aten.mean.default", {counting({2}, DType::Int64)}, "floating point"},
      {"aten.where.self", {x, x, x}, "'condition' must be a bool"},
      {"prims.prepare_softmax_online.default", {counting({2, 0}), std::int64_t{-1}}, "dimension 1 has no elements"},
  };
  for (const BadCall& bad : calls) {
    const Error error = errorOf(bad.op, bad.args);
    EXPECT_NE(error.message.find(bad.says), std::string::npos) << bad.op << ": " << error.message;
    EXPECT_NE(error.message.find(bad.op), std::string::npos) << error.message;
  }
}

TEST(OpErrors, AGradientOfABiasWithoutDimensions) {
  const Tensor x = counting({1, 1, 2, 4}), seed = tensorOf({}, {0}, DType::Int64);
  const ValueList wanted{true, true, true, true};
  const Error error = errorOf("aten._scaled_dot_product_efficient_attention_backward.default",
                              {x, x, x, x, counting({}), x, counting({1, 1, 32}), seed, seed, 0.0, wanted});
  EXPECT_NE(error.message.find("bias without dimensions"), std::string::npos) << error.message;
}

TEST(OpErrors, KeywordMistakes) {
  const Tensor x = counting({2});
  EXPECT_NE(errorOf("aten.add.Tensor", {x, x}, {{"beta", std::int64_t{1}}}).message.find("no argument 'beta'"),
            std::string::npos);
  EXPECT_NE(errorOf("aten.add.Tensor", {x, x}, {{"other", x}}).message.find("given twice"), std::string::npos);
}

TEST(OpErrors, IndicesOutOfBoundsAreErrors) {
  const Tensor index = tensorOf({2}, {0, 9}, DType::Int64);
  EXPECT_EQ(errorOf("aten.embedding.default", {counting({4, 2}), index}).code, ErrorCode::RuntimeFailed);
  EXPECT_EQ(errorOf("aten.index.Tensor", {counting({4}), ValueList{index}}).code, ErrorCode::RuntimeFailed);
  EXPECT_EQ(errorOf("aten.gather.default", {counting({4}), std::int64_t{0}, index}).code, ErrorCode::RuntimeFailed);
  EXPECT_EQ(errorOf("aten.index_put.default", {counting({4}), ValueList{index}, counting({2})}).code,
            ErrorCode::RuntimeFailed);
}

TEST(OpErrors, IntegerDivisionByZeroIsAnError) {
  const Tensor one = tensorOf({1}, {1}, DType::Int64), zero = tensorOf({1}, {0}, DType::Int64);
  for (const char* op : {"aten.floor_divide.default", "aten.remainder.Tensor", "aten.fmod.Tensor"})
    EXPECT_EQ(errorOf(op, {one, zero}).code, ErrorCode::RuntimeFailed) << op;
  EXPECT_EQ(errorOf("operator.floordiv", {std::int64_t{1}, std::int64_t{0}}).code, ErrorCode::RuntimeFailed);
}

TEST(OpErrors, AbsurdSizesAreTooLarge) {
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_EQ(errorOf("aten.zeros.default", {ints({big, big})}).code, ErrorCode::TooLarge);
  EXPECT_EQ(errorOf("aten.zeros.default", {ints({std::int64_t{1} << 60})}).code, ErrorCode::TooLarge);
  EXPECT_EQ(errorOf("aten.repeat.default", {counting({2}), ints({std::int64_t{1} << 62})}).code, ErrorCode::TooLarge);
}

}  // namespace
}  // namespace kerf
