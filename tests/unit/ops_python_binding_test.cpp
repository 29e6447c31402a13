// Calls as Dynamo and programs write them mean what PyTorch's signatures and its argument parser say.
#include <gmock/gmock.h>

#include "engine/ops/python/bind_python_call.h"
#include "engine/ops/python/python_level.h"
#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Value python(std::string_view target, const ValueList& args, const KeywordValues& kwargs = {}) {
  auto result = callPythonLevel(target, args, kwargs, referenceOps());
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  return result ? *result : Value();
}

std::vector<double> numbers(const Value& value) {
  std::vector<double> all;
  if (!value.isTensor()) return all;
  for (std::int64_t i = 0; i < value.tensor().numel(); ++i) all.push_back(value.tensor().itemAsDouble(i));
  return all;
}

Value list(std::initializer_list<std::int64_t> items) {
  ValueList values;
  for (const std::int64_t item : items) values.emplace_back(item);
  return Value(std::move(values));
}

Value whole(std::int64_t number) { return Value(number); }

const Value matrix(tensorOf({2, 2}, {1, 3, 2, 8}));

TEST(PythonBinding, AnIntAfterStdAndVarIsTheDimension) {
  EXPECT_THAT(numbers(python("method.var", {matrix, whole(1)})), ElementsAre(2, 18));
  EXPECT_THAT(numbers(python("torch.var", {matrix, whole(0)})), ElementsAre(0.5, 12.5));
  EXPECT_THAT(numbers(python("torch.var", {matrix, Value(false)})), ElementsAre(7.25));
  EXPECT_THAT(numbers(python("torch.var", {matrix, whole(1), Value(false)})), ElementsAre(1, 9));
  EXPECT_THAT(numbers(python("torch.var", {matrix}, {{"axis", whole(1)}, {"correction", whole(0)}})),
              ElementsAre(1, 9));
  const Value both = python("torch.var_mean", {matrix, whole(1)});
  EXPECT_THAT(numbers(both.list()[0]), ElementsAre(2, 18));
  EXPECT_THAT(numbers(both.list()[1]), ElementsAre(2, 5));
}

TEST(PythonBinding, SecondNamesOfInPlaceOpsWriteToTheirTensor) {
  const auto fresh = [] { return Value(tensorOf({4}, {1, 3, -2, 8})); };
  const auto written = [&](std::string_view name, ValueList more, const KeywordValues& kwargs = {}) {
    const Value self = fresh();
    more.insert(more.begin(), self);
    python(name, more, kwargs);
    return numbers(self);
  };
  EXPECT_THAT(written("method.negative_", {}), ElementsAre(-1, -3, 2, -8));
  EXPECT_THAT(written("method.absolute_", {}), ElementsAre(1, 3, 2, 8));
  EXPECT_THAT(written("method.greater_", {whole(2)}), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(written("method.less_equal_", {whole(3)}), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(written("method.clip_", {}, {{"min", whole(0)}, {"max", whole(4)}}), ElementsAre(1, 3, 0, 4));
  EXPECT_THAT(written("torch.fix_", {}), ElementsAre(1, 3, -2, 8));
  const auto refused = callPythonLevel("torch.arcsin_", {Value(*Tensor::zeros(DType::Int64, {2}))}, {}, referenceOps());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("can't be cast to the desired output type torch.int64"));
}

TEST(PythonBinding, SumToSizeUndoesExpand) {
  EXPECT_THAT(numbers(python("method.sum_to_size", {matrix, list({2})})), ElementsAre(3, 11));
  EXPECT_THAT(numbers(python("method.sum_to_size", {matrix, whole(2), whole(1)})), ElementsAre(4, 10));
  EXPECT_THAT(numbers(python("method.sum_to_size", {matrix, list({})})), ElementsAre(14));
  const auto refused = callPythonLevel("method.sum_to_size", {matrix, list({3})}, {}, referenceOps());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("size {[3]} is not expandable to size {[2, 2]}."));
}

TEST(PythonBinding, HermitianTransformsUndoEachOther) {
  const Value signal(tensorOf({3, 4}, {1, 3, 2, 8, 0, -1, 5, 2, 4, 4, 1, -3}));
  const Value half = python("torch.fft.ihfft2", {signal});
  EXPECT_THAT(half.tensor().sizes(), ElementsAre(3, 3));
  const Value real = python("torch.real", {half});
  EXPECT_NEAR(numbers(real)[0], 26.0 / 12, 1e-6) << "the mean";
  for (const char* name : {"torch.fft.hfft2", "torch.fft.hfftn"}) {
    const auto back = numbers(python(name, {half}, {{"s", list({3, 4})}}));
    ASSERT_EQ(back.size(), 12u);
    for (std::size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], numbers(signal)[i], 1e-5) << name;
  }
  EXPECT_THAT(numbers(python("torch.isreal", {matrix})), ElementsAre(1, 1, 1, 1));
}

TEST(PythonBinding, NamesOfNumPyAreKnown) {
  EXPECT_THAT(numbers(python("torch.sum", {}, {{"input", matrix}, {"axis", whole(0)}})), ElementsAre(3, 11));
  EXPECT_EQ(python("torch.sum", {matrix, whole(1)}, {{"keepdims", Value(true)}}).tensor().dim(), 2);
  EXPECT_THAT(numbers(python("torch.add", {}, {{"x1", matrix}, {"x2", matrix}})), ElementsAre(2, 6, 4, 16));
}

TEST(PythonBinding, ListsOfIntsMayBeSpread) {
  EXPECT_THAT(python("method.view", {matrix, whole(4)}).tensor().sizes(), ElementsAre(4));
  EXPECT_THAT(python("method.permute", {matrix, whole(1), whole(0)}).tensor().sizes(), ElementsAre(2, 2));
  EXPECT_THAT(python("method.reshape", {matrix}, {{"shape", list({4, 1})}}).tensor().sizes(), ElementsAre(4, 1));
  EXPECT_THAT(python("torch.zeros", {whole(2), whole(3)}).tensor().sizes(), ElementsAre(2, 3));
  EXPECT_FALSE(callPythonLevel("method.view", {matrix, Value(4.0)}, {}, referenceOps()));
}

TEST(PythonBinding, OfOneNameEachModuleHasItsOwnFunction) {
  const Value image(tensorOf({1, 1, 2, 2}, {1, 2, 3, 4}));
  EXPECT_THAT(numbers(python("torch.nn.functional.unfold", {image, whole(2)})), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(python("method.unfold", {image, whole(3), whole(1), whole(1)}).tensor().sizes(),
              ElementsAre(1, 1, 2, 2, 1));
  const Value rows(tensorOf({2, 1}, {5, 7})), at(Tensor::scalarInt(1, DType::Int64));
  EXPECT_THAT(numbers(python("torch.nn.functional.embedding", {at, rows})), ElementsAre(7));
  EXPECT_THAT(numbers(python("torch.embedding", {rows, at})), ElementsAre(7));
}

TEST(PythonBinding, AFlagOfFunctionalIsNoNumberOfTheOp) {
  const Value x(tensorOf({2}, {-1, 2}));
  EXPECT_NEAR(numbers(python("torch.nn.functional.elu", {x, Value(1.0), Value(false)}))[0], -0.632121, 1e-5);
  EXPECT_THAT(numbers(python("torch.nn.functional.leaky_relu", {x, Value(0.5), Value(true)})), ElementsAre(-0.5, 2));
  EXPECT_THAT(numbers(x), ElementsAre(-0.5, 2)) << "inplace";
}

TEST(PythonBinding, OldOrdersOfArgumentsAreTaken) {
  EXPECT_THAT(numbers(python("torch.add", {matrix, whole(2), matrix})), ElementsAre(3, 9, 6, 24));
  EXPECT_THAT(numbers(python("method.addcmul", {matrix, whole(2), matrix, matrix})), ElementsAre(3, 21, 10, 136));
}

TEST(PythonBinding, TrueAndListsAreIndices) {
  EXPECT_THAT(python("operator.getitem", {matrix, Value(true)}).tensor().sizes(), ElementsAre(1, 2, 2));
  EXPECT_THAT(python("operator.getitem", {matrix, Value(false)}).tensor().sizes(), ElementsAre(0, 2, 2));
  EXPECT_THAT(numbers(python("operator.getitem", {matrix, Value(ValueList{list({1, 0}), list({0, 1})})})),
              ElementsAre(2, 3));
}

TEST(PythonBinding, NumbersAtEitherSideOfAnOperator) {
  EXPECT_THAT(numbers(python("operator.tensor.sub", {whole(1), matrix})), ElementsAre(0, -2, -1, -7));
  EXPECT_THAT(numbers(python("operator.tensor.lt", {whole(2), matrix})), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(numbers(python("operator.tensor.pow", {whole(2), matrix})), ElementsAre(2, 8, 4, 256));
  EXPECT_THAT(numbers(python("operator.tensor.truediv", {whole(6), matrix})), ElementsAre(6, 2, 3, 0.75));
}

TEST(PythonBinding, ListsOfNumbersBecomeTensors) {
  const Tensor made = python("torch.tensor", {Value(ValueList{list({1, 2}), list({3, 4})})}).tensor();
  EXPECT_EQ(made.dtype(), DType::Int64);
  EXPECT_THAT(made.sizes(), ElementsAre(2, 2));
  EXPECT_EQ(python("torch.tensor", {Value(ValueList{Value(true), Value(2.5)})}).tensor().dtype(), DType::Float32);
  EXPECT_FALSE(callPythonLevel("torch.tensor", {Value(ValueList{list({1}), list({1, 2})})}, {}, referenceOps()));
}

TEST(PythonBinding, ARefusalListsTheForms) {
  const auto unknown = callPythonLevel("torch.sum", {matrix}, {{"dims", whole(1)}}, referenceOps());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::BadInput);
  EXPECT_THAT(unknown.error().message, HasSubstr("dims=int"));
  EXPECT_THAT(unknown.error().message, HasSubstr("(Tensor input, *, ScalarType? dtype=None)"));
}

TEST(PythonBinding, OutTakesTheSizesOfTheResult) {
  const Value empty(*Tensor::zeros(DType::Float32, Sizes{0})), wide(*Tensor::zeros(DType::Float64, Sizes{2, 2}));
  const Value sum = python("torch.add", {matrix, matrix}, {{"out", empty}});
  EXPECT_THAT(sum.tensor().sizes(), ElementsAre(2, 2));
  EXPECT_THAT(numbers(sum), ElementsAre(2, 6, 4, 16));
  EXPECT_EQ(python("torch.add", {matrix, matrix}, {{"out", wide}}).tensor().dtype(), DType::Float64);
  EXPECT_THAT(numbers(wide), ElementsAre(2, 6, 4, 16));
  const Value values(*Tensor::zeros(DType::Float32, Sizes{2})), places(*Tensor::zeros(DType::Int64, Sizes{7}));
  const Value both = python("torch.max", {matrix, whole(1)}, {{"out", Value(ValueList{values, places})}});
  EXPECT_THAT(numbers(values), ElementsAre(3, 8));
  EXPECT_THAT(numbers(both.list()[1]), ElementsAre(1, 1));
  EXPECT_THAT(numbers(python("torch.norm", {matrix}, {{"out", empty}})),
              ElementsAre(::testing::DoubleNear(8.831761, 1e-5)))
      << "functions that PyTorch wrote in Python have it, too";
  const auto loses = callPythonLevel("torch.add", {matrix, matrix},
                                     {{"out", Value(*Tensor::zeros(DType::Int64, Sizes{2, 2}))}}, referenceOps());
  ASSERT_FALSE(loses);
  EXPECT_THAT(loses.error().message, HasSubstr("can't be cast to the output type torch.int64"));
}

TEST(PythonBinding, ConditionNumbersAndDiagonals) {
  const Value square(tensorOf({2, 2}, {2, 0, 0, 0.5})), singular(tensorOf({2, 2}, {1, 1, 1, 1}));
  const auto near = [](double number) { return ElementsAre(::testing::DoubleNear(number, 1e-4)); };
  EXPECT_THAT(numbers(python("torch.linalg.cond", {square})), near(4));
  EXPECT_THAT(numbers(python("torch.linalg.cond", {square, whole(-2)})), near(0.25));
  EXPECT_THAT(numbers(python("torch.linalg.cond", {square}, {{"p", Value(std::string("fro"))}})), near(4.25));
  EXPECT_THAT(numbers(python("torch.linalg.cond", {square}, {{"p", Value(std::string("nuc"))}})), near(6.25));
  EXPECT_THAT(numbers(python("torch.linalg.cond", {square, Value(double(INFINITY))})), near(4));
  EXPECT_EQ(numbers(python("torch.linalg.cond", {singular, whole(1)})).at(0), INFINITY);
  EXPECT_FALSE(callPythonLevel("torch.linalg.cond", {square, whole(3)}, {}, referenceOps()));
  const Value stack(tensorOf({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_THAT(numbers(python("torch.linalg.diagonal", {stack})), ElementsAre(1, 4, 5, 8));
  EXPECT_THAT(numbers(python("torch.linalg.diagonal", {stack}, {{"offset", whole(1)}})), ElementsAre(2, 6));
  EXPECT_THAT(numbers(python("torch.diagonal", {stack})), ElementsAre(1, 7, 2, 8)) << "the first two dimensions";
}

TEST(PythonBinding, PacketsChooseAnOverload) {
  const Value at(tensorOf({2}, {1, 0}, DType::Int64));
  EXPECT_THAT(numbers(python("torch.ops.aten.index", {matrix, Value(ValueList{at})})), ElementsAre(2, 8, 1, 3));
  EXPECT_THAT(numbers(python("torch.ops.aten.sum", {matrix, list({0})})), ElementsAre(3, 11));
  EXPECT_THAT(numbers(python("torch.ops.aten.add", {matrix, whole(1)})), ElementsAre(2, 4, 3, 9));
  const Value unique = python("torch._C._VariableFunctions.unique_dim", {matrix, whole(0)});
  EXPECT_THAT(numbers(unique.list()[0]), ElementsAre(1, 3, 2, 8)) << "a name that torch itself has not";
  EXPECT_FALSE(callPythonLevel("torch.ops.aten.no_such_op", {matrix}, {}, referenceOps()));
}

TEST(PythonBinding, FractionalPools) {
  const Value image(tensorOf({1, 4, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  const Value samples(tensorOf({1, 1, 2}, {0.5, 0.5}));
  const KeywordValues given{{"_random_samples", samples}};
  const Value by = python("torch.nn.functional.fractional_max_pool2d", {image, whole(2), whole(2)}, given);
  ASSERT_EQ(numbers(by).size(), 4u);
  EXPECT_EQ(numbers(by).back(), 15);
  KeywordValues ratio = given;
  ratio.emplace_back("output_ratio", Value(0.5));
  EXPECT_EQ(numbers(python("torch.nn.functional.fractional_max_pool2d", {image, whole(2)}, ratio)), numbers(by));
  const Value both = python("torch.nn.functional.fractional_max_pool2d_with_indices", {image, whole(2), whole(2)});
  EXPECT_EQ(both.list().size(), 2u) << "samples are drawn";
  EXPECT_FALSE(callPythonLevel("torch.nn.functional.fractional_max_pool2d", {image, whole(2)}, {}, referenceOps()));
}

/// -(0.7 log p(class) + 0.1 sum of all log p) of two rows with p = 1/3 each but for weights.
TEST(PythonBinding, LabelSmoothingIsOneCall) {
  const Value scores(tensorOf({3, 3}, {0, 0, 0, 1, 2, 3, 0, 0, 0})), classes(tensorOf({3}, {0, 2, -100}, DType::Int64));
  const KeywordValues smooth{{"label_smoothing", Value(0.3)}};
  const double even = std::log(3.0), log2 = 0.40760596444438, sum = 3 * log2 + 3;  // log p = x - 3 - log2 - …
  const double second = 0.7 * log2 + 0.1 * sum;
  const Value node = *referenceOps().call("aten.cross_entropy_loss.default",
                                          {scores, classes, Value(), whole(1), whole(-100), Value(0.3)}, {});
  EXPECT_THAT(numbers(node), ElementsAre(::testing::DoubleNear((even + second) / 2, 1e-5)));
  EXPECT_EQ(numbers(python("torch.nn.functional.cross_entropy", {scores, classes}, smooth)), numbers(node));
  EXPECT_FALSE(referenceOps().call("aten.cross_entropy_loss.default",
                                   {scores, classes, Value(), whole(1), whole(-100), Value(1.5)}, {}));
}

TEST(PythonBinding, OneHotFindsItsClasses) {
  const Value classes(tensorOf({3}, {0, 2, 1}, DType::Int64));
  EXPECT_THAT(numbers(python("torch.nn.functional.one_hot", {classes})), ElementsAre(1, 0, 0, 0, 0, 1, 0, 1, 0));
  EXPECT_THAT(python("torch.nn.functional.one_hot", {classes, whole(4)}).tensor().sizes(), ElementsAre(3, 4));
}

/// Graph arguments, of which only kinds are known.
struct Bound {
  std::function<CallOperand(NodeId)> nodes = [](NodeId id) {
    CallOperand operand;
    operand.kind = id.index == 9 ? OperandKind::Unknown : OperandKind::Tensor;
    return operand;
  };
  Result<BoundPythonCall> operator()(std::string_view target, const ArgumentList& args,
                                     const KeywordArguments& kwargs = {}) const {
    return bindPythonCall(target, args, kwargs, nodes);
  }
};

TEST(PythonBinding, GraphCallsAreWrittenAsTheOverloadTheyMean) {
  const Bound bound;
  const auto std = bound("method.std", {NodeId{1}, Argument(1)});
  ASSERT_TRUE(std) << std.error().text();
  EXPECT_EQ(std->target, "torch.ops.aten.std.dim");
  const auto corrected = bound("torch.std", {NodeId{1}, Argument(1)}, {{"correction", Argument(0)}});
  ASSERT_TRUE(corrected) << corrected.error().text();
  EXPECT_EQ(corrected->target, "torch.ops.aten.std.correction");
  const auto elu = bound("torch.nn.functional.elu", {NodeId{1}, Argument(1.0), Argument(false)});
  ASSERT_TRUE(elu) << elu.error().text();
  EXPECT_EQ(elu->target, "torch.nn.functional.elu");
  EXPECT_EQ(elu->args.size(), 3u);
  const auto out = bound("torch.add", {NodeId{1}, NodeId{2}}, {{"out", NodeId{3}}});
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->target, "torch.add");
}

TEST(PythonBinding, WhatTooLittleIsKnownOfIsAmbiguous) {
  const Bound bound;
  const auto max = bound("torch.max", {NodeId{1}, NodeId{9}});
  ASSERT_FALSE(max);
  EXPECT_THAT(max.error().message, HasSubstr("ambiguous"));
}

/// Of functions that the op table has, every form finds its overload, but for those that it has no row of.
TEST(PythonBinding, TheTableIsWhole) {
  std::string_view text = callFormsText();
  std::size_t callables = 0, forms = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const CallableForms callable = parseCallForms(text.substr(0, end));
    EXPECT_FALSE(callable.name.empty()) << text.substr(0, end);
    ++callables;
    forms += callable.forms.size();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  EXPECT_GT(callables, 1600u);
  EXPECT_GT(forms, 1900u);
}

}  // namespace
}  // namespace kerf
