// Gradients of element-wise ops.
#include "ops_gradient_samples.h"

namespace kerf {
namespace {

using namespace testing;

const Value x = signedTensor({3, 4}, 1), y = signedTensor({4}, 2), z = signedTensor({3, 1}, 3);
const Value positive = randomTensor({3, 4}, 4), inside = randomTensor({3, 4}, 5, 0.1, 0.9);
const Value chosen = mask({3, 4});
const Value none;

std::vector<Sample> arithmetic() {
  return {
      {"aten.add.Tensor", {x, y}, {{"alpha", 2.5}}},
      {"aten.add.Scalar", {x, whole(2)}},
      {"aten.sub.Tensor", {y, x}, {{"alpha", 0.5}}},
      {"aten.sub.Scalar", {x, whole(2)}},
      {"aten.rsub.Tensor", {x, y}, {{"alpha", 0.5}}},
      {"aten.rsub.Scalar", {x, 2.0}},
      {"aten.mul.Tensor", {x, y}},
      {"aten.mul.Tensor", {x, 2.5}},
      {"aten.mul.Scalar", {x, 1.5}},
      {"aten.div.Tensor", {y, positive}},
      {"aten.div.Scalar", {x, 1.5}},
      {"aten.pow.Tensor_Scalar", {positive, 2.5}},
      {"aten.pow.Tensor_Scalar", {x, whole(3)}},
      {"aten.pow.Tensor_Tensor", {positive, y}},
      {"aten.pow.Scalar", {1.5, x}},
      {"aten.lerp.Scalar", {x, y, 0.3}},
      {"aten.lerp.Tensor", {x, y, z}},
      {"aten.addcmul.default", {x, y, z}, {{"value", 0.5}}},
      {"aten.addcdiv.default", {x, y, positive}, {{"value", 0.5}}},
      {"aten.where.self", {chosen, x, y}},
      {"aten.where.ScalarOther", {chosen, x, 1.5}},
      {"aten.masked_fill.Scalar", {x, chosen, 1.5}},
      {"aten.masked_fill.Tensor", {x, chosen, signedTensor({}, 6)}},
      {"aten.clone.default", {x}},
      {"aten._to_copy.default", {x}},
      {"aten.copy.default", {x, y}},
      {"aten.fill.Tensor", {x, signedTensor({}, 6)}},
      {"aten.lift_fresh_copy.default", {x}},
  };
}

std::vector<Sample> ofReals() {
  return {
      {"aten.div.Tensor_mode", {x, positive}, {{"rounding_mode", none}}},
      {"aten.fmod.Tensor", {x, positive}},
      {"aten.fmod.Scalar", {x, 1.5}},
      {"aten.remainder.Tensor", {x, positive}},
      {"aten.remainder.Scalar_Tensor", {2.5, positive}},
      {"aten.float_power.Tensor_Tensor", {positive, y}},
      {"aten.maximum.default", {x, positive}},
      {"aten.minimum.default", {x, positive}},
      {"aten.max.other", {x, positive}},
      {"aten.min.other", {x, positive}},
      {"aten.fmax.default", {x, positive}},
      {"aten.fmin.default", {x, positive}},
      {"aten.clamp.default", {x, -1.0, none}},
      {"aten.clamp.default", {x, none, 1.0}},
      {"aten.clamp.default", {x, -1.0, 1.0}},
      {"aten.clamp.Tensor", {x, y, positive}},
      {"aten.clamp_min.default", {x, 0.5}},
      {"aten.clamp_min.Tensor", {x, y}},
      {"aten.clamp_max.default", {x, 0.5}},
      {"aten.clamp_max.Tensor", {x, y}},
      {"aten.copysign.Tensor", {x, y}},
      {"aten.copysign.Scalar", {x, -1.5}},
      {"aten.nan_to_num.default", {x}},
      {"aten.frac.default", {x}},
      {"aten.rad2deg.default", {x}},
      {"aten.deg2rad.default", {x}},
      {"aten.frexp.Tensor", {x}},
      {"aten.atan2.default", {x, y}},
      {"aten.hypot.default", {x, y}},
      {"aten.logaddexp.default", {x, y}},
      {"aten.logaddexp2.default", {x, y}},
      {"aten.ldexp.Tensor", {x, y}},
      {"aten.xlogy.Tensor", {x, positive}},
      {"aten.special_xlog1py.default", {x, positive}},
      {"aten.igamma.default", {positive, positive}},
      {"aten.igammac.default", {positive, positive}},
      {"aten.special_zeta.default", {Value(randomTensor({3, 4}, 8, 1.5, 3)), positive}},
      {"aten.polygamma.default", {whole(1), positive}},
      {"aten.mvlgamma.default", {Value(randomTensor({3, 4}, 9, 2, 4)), whole(3)}},
      {"aten.logit.default", {inside, none}},
      {"prims.fma.default", {x, positive, inside}},
      {"prims.convert_element_type.default", {x, DType::Float64}},
      {"prims.device_put.default", {x, Device{"cpu", -1}}},
  };
}

std::vector<Sample> functions() {
  std::vector<Sample> list;
  for (const char* op : {"neg", "exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "asinh", "atan", "abs",
                         "square", "sinc", "tanh", "sigmoid"})
    list.push_back({fmt::format("aten.{}.default", op), {x}});
  for (const char* op : {"log", "log1p", "log2", "log10", "sqrt", "rsqrt", "reciprocal"})
    list.push_back({fmt::format("aten.{}.default", op), {positive}});
  for (const char* op : {"asin", "acos", "atanh"}) list.push_back({fmt::format("aten.{}.default", op), {inside}});
  list.push_back({"aten.acosh.default", {randomTensor({3, 4}, 10, 1.2, 3)}});
  return list;
}

std::vector<Sample> specialFunctions() {
  std::vector<Sample> list;
  for (const char* op : {"erf", "erfc", "i0", "special_i0e", "special_i1", "special_i1e", "special_erfcx",
                         "special_ndtr", "special_log_ndtr"})
    list.push_back({fmt::format("aten.{}.default", op), {x}});
  for (const char* op : {"lgamma", "digamma", "special_entr"})
    list.push_back({fmt::format("aten.{}.default", op), {positive}});
  for (const char* op : {"erfinv", "special_ndtri"}) list.push_back({fmt::format("aten.{}.default", op), {inside}});
  return list;
}

std::vector<Sample> activations() {
  std::vector<Sample> list{
      {"aten.gelu.default", {x}, {{"approximate", std::string("tanh")}}},
      {"aten.leaky_relu.default", {x, 0.1}},
      {"aten.elu.default", {x, 1.5, 0.7, 0.9}},
      {"aten.celu.default", {x, 1.5}},
      {"aten.threshold.default", {x, 0.3, 5.0}},
      {"aten.hardtanh.default", {x, -1.0, 1.0}},
      {"aten.softplus.default", {x, 2.0, 3.0}},
      {"aten.hardshrink.default", {x, 0.4}},
      {"aten.softshrink.default", {x, 0.4}},
      {"aten.log_sigmoid_forward.default", {x}},
      {"aten._prelu_kernel.default", {x, y}},
      {"aten.glu.default", {x, whole(1)}},
  };
  for (const char* op :
       {"relu", "relu6", "gelu", "silu", "mish", "hardswish", "hardsigmoid", "log_sigmoid", "sigmoid", "tanh"})
    list.push_back({fmt::format("aten.{}.default", op), {x}});
  return list;
}

std::vector<Sample> backwardOps() {
  const Value g = signedTensor({3, 4}, 11);
  return {
      {"aten.threshold_backward.default", {g, x, 0.3}},
      {"aten.leaky_relu_backward.default", {g, x, 0.1, false}},
      {"aten.hardtanh_backward.default", {g, x, -1.0, 1.0}},
      {"aten.hardsigmoid_backward.default", {g, x}},
      {"aten.hardshrink_backward.default", {g, x, 0.4}},
      {"aten.softshrink_backward.default", {g, x, 0.4}},
      {"aten.rrelu_with_noise_backward.default", {g, x, positive, 0.1, 0.3, true, false}},
      {"aten.elu_backward.default", {g, 1.5, 0.7, 0.9, false, x}},
      {"aten.elu_backward.default", {g, 1.5, 0.7, 0.9, true, inside}},
      {"aten.hardswish_backward.default", {g, x}},
      {"aten.softplus_backward.default", {g, x, 2.0, 3.0}},
      {"aten.log_sigmoid_backward.default", {g, x, signedTensor({0}, 12)}},
      {"aten.gelu_backward.default", {g, x}},
      {"aten.gelu_backward.default", {g, x}, {{"approximate", std::string("tanh")}}},
      {"aten.tanh_backward.default", {g, inside}},
      {"aten.sigmoid_backward.default", {g, inside}},
      {"aten._prelu_kernel_backward.default", {g, x, Value(signedTensor({3, 4}, 12))}},
  };
}

/// Of complex numbers only.
std::vector<Sample> parts() {
  std::vector<Sample> list{{"aten.view_as_real.default", {x}}, {"aten._neg_view.default", {x}}};
  for (const char* op : {"conj", "_conj", "conj_physical", "_conj_physical", "resolve_conj", "resolve_neg", "real",
                         "imag", "sgn", "angle", "abs"})
    list.push_back({fmt::format("aten.{}.default", op), {x}});
  list.push_back({"prims.conj.default", {x}});
  list.push_back({"prims.conj_physical.default", {x}});
  return list;
}
std::vector<Sample> fromParts() {
  return {
      {"aten.view_as_complex.default", {signedTensor({3, 2}, 13)}},
      {"aten.complex.default", {x, positive}},
      {"aten.polar.default", {positive, x}},
  };
}

std::vector<Sample> allSamples() {
  std::vector<Sample> all;
  for (const auto& list :
       {arithmetic(), ofReals(), functions(), specialFunctions(), activations(), backwardOps(), parts(), fromParts()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

TEST(PointwiseGradients, OfArithmetic) {
  expectGradients(arithmetic());
  expectGradients(ofReals());
}
TEST(PointwiseGradients, OfArithmeticWithComplexNumbers) { expectGradients(arithmetic(), true); }
TEST(PointwiseGradients, OfFunctions) {
  expectGradients(functions());
  expectGradients(specialFunctions());
}
TEST(PointwiseGradients, OfFunctionsOfComplexNumbers) { expectGradients(functions(), true); }
TEST(PointwiseGradients, OfActivations) { expectGradients(activations()); }
TEST(PointwiseGradients, OfBackwardOps) { expectGradients(backwardOps()); }
TEST(PointwiseGradients, OfPartsOfComplexNumbers) {
  expectGradients(parts(), true);
  expectGradients(fromParts());
}
TEST(PointwiseGradients, AreAllTested) { expectAllTested("pointwise", allSamples()); }

TEST(PointwiseGradients, AreRefusedWherePyTorchHasNone) {
  const auto call = bindArguments(*findOp("aten.igamma.default"), {positive, positive}, {});
  ASSERT_TRUE(call);
  const ValueList results{callTensor("aten.igamma.default", {positive, positive})};
  const OpRunner run(referenceOps());
  const auto both = call->op->gradient({*call, results}, {positive}, run);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, ErrorCode::UnsupportedOp);
  EXPECT_EQ(both.error().message, "aten.igamma.default has no derivative by 'self'");
  const auto second = call->op->gradient({*call, results, {false, true}}, {positive}, run);
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_TRUE((*second)[0].isNone());
  EXPECT_TRUE((*second)[1].isTensor());
}

/// Extrema share a gradient among equal operands; PyTorch's choices at kinks.
TEST(PointwiseGradients, AtKinksAreThoseOfPyTorch) {
  const OpRunner run(referenceOps());
  const auto gradient = [&](const char* op, const ValueList& args, std::size_t i) {
    const auto call = bindArguments(*findOp(op), args, {});
    const ValueList results{callTensor(op, args)};
    const Tensor ones = callTensor("aten.ones_like.default", {results[0]});
    return valuesOf((*call->op->gradient({*call, results}, {ones}, run))[i].tensor());
  };
  const Tensor a = tensorOf({3}, {1, 2, 3}), b = tensorOf({3}, {1, 3, 2});
  EXPECT_EQ(gradient("aten.maximum.default", {a, b}, 0), (std::vector<double>{0.5, 0, 1}));
  EXPECT_EQ(gradient("aten.minimum.default", {a, b}, 1), (std::vector<double>{0.5, 0, 1}));
  EXPECT_EQ(gradient("aten.clamp.default", {a, 1.0, 2.0}, 0), (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(gradient("aten.abs.default", {tensorOf({3}, {-1, 0, 2})}, 0), (std::vector<double>{-1, 0, 1}));
  EXPECT_EQ(gradient("aten.relu.default", {tensorOf({3}, {-1, 0, 2})}, 0), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(gradient("aten.pow.Tensor_Scalar", {tensorOf({2}, {0, 2}), whole(0)}, 0), (std::vector<double>{0, 0}));
  EXPECT_EQ(gradient("aten.xlogy.Tensor", {tensorOf({2}, {0, 1}), tensorOf({2}, {0, 1})}, 0),
            (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace kerf
