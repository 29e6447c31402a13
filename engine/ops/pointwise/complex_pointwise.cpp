// Element-wise ops on complex tensors: computed in complex double, rounded to the result's dtype.
#include <cmath>

#include "engine/ops/core/complex_rows.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/complex_values.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline ops {
namespace {

enum class Out : std::uint8_t { Promoted, Part, Bool, SelfType };

bool isOperand(const SchemaArgument& argument) {
  return argument.type.starts_with("Tensor") || argument.type.starts_with("Scalar") || argument.type == "float";
}
bool decidesType(const SchemaArgument& argument, bool condition) {
  if (argument.type.starts_with("Tensor")) return !condition;
  return argument.name == "other" || argument.name == "exponent" || argument.name == "self";
}

/// A symbolic one stays without its value: only shapes ask for it.
Tensor numberTensor(const BoundArguments& args, std::size_t i) {
  if (args.values[i].as<SymNumber>()) return metaTensor(DType::Float64, {});
  return Tensor::scalar(args.number(i), DType::Float64);
}

struct Operands {
  std::vector<Tensor> tensors;  ///< numbers as 0-d tensors
  DType promoted = DType::Complex64;
  SymSizes sizes;
};

Result<Operands> operandsOf(const BoundArguments& args, std::size_t arity, bool conditionFirst) {
  Operands result;
  ResultType type;
  for (std::size_t i = 0; i < args.values.size() && result.tensors.size() < arity; ++i) {
    const SchemaArgument& argument = args.op->schema.arguments[i];
    if (!isOperand(argument)) continue;
    if (args.none(i)) return mismatch(args, "argument '{}' is missing", argument.name);
    if (decidesType(argument, conditionFirst && result.tensors.empty())) type.add(args.values[i]);
    result.tensors.push_back(args.values[i].isTensor() ? args.tensor(i) : numberTensor(args, i));
  }
  if (result.tensors.size() < arity) return mismatch(args, "too few operands");
  result.promoted = type.dtype();
  auto sizes = broadcastSizes(result.tensors);
  if (!sizes) return mismatch(args, "{}", sizes.error().message);
  result.sizes = *sizes;
  return result;
}

template <std::size_t arity, Out kind, bool conditionFirst = false>
Result<Value> shapeOf(const BoundArguments& args) {
  KERF_TRY(const Operands operands, operandsOf(args, arity, conditionFirst));
  DType dtype = operands.promoted;
  if (kind == Out::Part) dtype = partOf(dtype);
  if (kind == Out::Bool) dtype = DType::Bool;
  if (kind == Out::SelfType) dtype = args.tensor(0).dtype();
  return Value(metaTensor(dtype, operands.sizes, elementwiseStrides(operands.tensors, operands.sizes)));
}

using Function = Z (*)(const Z* x);

template <Function f, std::size_t arity, bool conditionFirst>
Result<Value> kernelOf(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Operands operands, operandsOf(args, arity, conditionFirst));
  std::vector<Complexes> in;
  for (const Tensor& tensor : operands.tensors) {
    KERF_TRY(Complexes values, complexesOf(tensor, out.sizes()));
    in.push_back(std::move(values));
  }
  Complexes result(std::size_t(out.numel()));
  parallelFor(out.numel(), 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Z x[arity];
      for (std::size_t k = 0; k < arity; ++k) x[k] = in[k][std::size_t(i)];
      result[std::size_t(i)] = f(x);
    }
  });
  KERF_CHECK(writeComplexes(result, out));
  return Value(std::move(out));
}

template <Function f, std::size_t arity, Out kind = Out::Promoted, bool conditionFirst = false>
constexpr OpRow row(const char* schema) {
  return {schema, OpTrait::Pointwise, shapeOf<arity, kind, conditionFirst>, kernelOf<f, arity, conditionFirst>};
}

#define KERF_COMPLEX(name, expression) \
  Z name(const Z* x) { return expression; }

Z truth(bool value) { return value ? 1.0 : 0.0; }
bool nonZero(Z z) { return z != Z(0); }
bool nanIn(Z z) { return std::isnan(z.real()) || std::isnan(z.imag()); }
Z signOf(Z z) {
  const double size = std::abs(z);
  return size == 0 ? Z(0) : z / size;
}
Z powerOf(Z base, Z exponent) {
  if (exponent == Z(0)) return 1;
  if (exponent == Z(1)) return base;
  if (exponent == Z(2)) return multiply(base, base);
  if (exponent == Z(-1)) return divide(1, base);
  if (exponent == Z(0.5)) return std::sqrt(base);
  return std::pow(base, exponent);
}
Z logistic(Z z) { return divide(1, 1.0 + std::exp(-z)); }
/// expm1 without cancellation: e^a cos b - 1 = expm1(a) cos b - 2 sin²(b/2).
Z exponentialLessOne(Z z) {
  const double half = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, std::exp(z.real()) * std::sin(z.imag())};
}
/// log1p: half the log of |1 + z|² = 1 + (a(a + 2) + b²).
Z logOnePlus(Z z) {
  const double a = z.real(), b = z.imag(), excess = a * (a + 2) + b * b;
  const double modulus = std::abs(excess) < 0.5 ? std::log1p(excess) / 2 : std::log(std::abs(1.0 + z));
  return {modulus, std::atan2(b, 1 + a)};
}

KERF_COMPLEX(negate, -x[0])
KERF_COMPLEX(absolute, std::abs(x[0]))
KERF_COMPLEX(angleOf, nanIn(x[0]) ? Z(std::nan("")) : Z(std::arg(x[0])))
KERF_COMPLEX(sgn, signOf(x[0]))
KERF_COMPLEX(square, multiply(x[0], x[0]))
KERF_COMPLEX(reciprocal, divide(1, x[0]))
KERF_COMPLEX(squareRoot, std::sqrt(x[0]))
KERF_COMPLEX(reciprocalRoot, divide(1, std::sqrt(x[0])))
KERF_COMPLEX(exponential, std::exp(x[0]))
KERF_COMPLEX(exponential2, std::exp(x[0] * M_LN2))
KERF_COMPLEX(exponentialM1, exponentialLessOne(x[0]))
KERF_COMPLEX(logarithm, std::log(x[0]))
KERF_COMPLEX(logarithm2, std::log(x[0]) / M_LN2)
KERF_COMPLEX(logarithm10, std::log10(x[0]))
KERF_COMPLEX(logarithm1p, logOnePlus(x[0]))
KERF_COMPLEX(sine, std::sin(x[0]))
KERF_COMPLEX(cosine, std::cos(x[0]))
KERF_COMPLEX(tangent, std::tan(x[0]))
KERF_COMPLEX(sineH, std::sinh(x[0]))
KERF_COMPLEX(cosineH, std::cosh(x[0]))
KERF_COMPLEX(tangentH, std::tanh(x[0]))
KERF_COMPLEX(arcSine, std::asin(x[0]))
KERF_COMPLEX(arcCosine, std::acos(x[0]))
KERF_COMPLEX(arcTangent, std::atan(x[0]))
KERF_COMPLEX(arcSineH, std::asinh(x[0]))
KERF_COMPLEX(arcCosineH, std::acosh(x[0]))
KERF_COMPLEX(arcTangentH, std::atanh(x[0]))
KERF_COMPLEX(sigmoidOf, logistic(x[0]))
KERF_COMPLEX(siluOf, multiply(x[0], logistic(x[0])))
KERF_COMPLEX(sincOf, x[0] == Z(0) ? Z(1) : divide(std::sin(x[0] * M_PI), x[0] * M_PI))
KERF_COMPLEX(notNumber, truth(nanIn(x[0])))
KERF_COMPLEX(isInfinite, truth(std::isinf(x[0].real()) || std::isinf(x[0].imag())))
KERF_COMPLEX(finite, truth(std::isfinite(x[0].real()) && std::isfinite(x[0].imag())))
KERF_COMPLEX(logicalNot, truth(!nonZero(x[0])))

KERF_COMPLEX(add, x[0] + multiply(x[2], x[1]))
KERF_COMPLEX(subtract, x[0] - multiply(x[2], x[1]))
KERF_COMPLEX(reverseSubtract, x[1] - multiply(x[2], x[0]))
KERF_COMPLEX(times, multiply(x[0], x[1]))
KERF_COMPLEX(quotient, divide(x[0], x[1]))
KERF_COMPLEX(power, powerOf(x[0], x[1]))
KERF_COMPLEX(equal, truth(x[0] == x[1]))
KERF_COMPLEX(notEqual, truth(x[0] != x[1]))
KERF_COMPLEX(logicalAnd, truth(nonZero(x[0]) && nonZero(x[1])))
KERF_COMPLEX(logicalOr, truth(nonZero(x[0]) || nonZero(x[1])))
KERF_COMPLEX(logicalXor, truth(nonZero(x[0]) != nonZero(x[1])))
KERF_COMPLEX(choose, nonZero(x[0]) ? x[1] : x[2])
KERF_COMPLEX(maskedFill, nonZero(x[1]) ? x[2] : x[0])
KERF_COMPLEX(addProduct, x[0] + multiply(x[3], multiply(x[1], x[2])))
KERF_COMPLEX(addQuotient, x[0] + multiply(x[3], divide(x[1], x[2])))
KERF_COMPLEX(interpolate, x[0] + multiply(x[2], x[1] - x[0]))
KERF_COMPLEX(sigmoidBackward, multiply(x[0], std::conj(multiply(1.0 - x[1], x[1]))))
KERF_COMPLEX(tanhBackward, multiply(x[0], std::conj(1.0 - multiply(x[1], x[1]))))

constexpr OpRow complexPointwiseRowsTable[] = {
    row<negate, 1>("aten::neg(Tensor self)"),
    row<absolute, 1, Out::Part>("aten::abs(Tensor self)"),
    row<angleOf, 1, Out::Part>("aten::angle(Tensor self)"),
    row<sgn, 1>("aten::sgn(Tensor self)"),
    row<square, 1>("aten::square(Tensor self)"),
    row<reciprocal, 1>("aten::reciprocal(Tensor self)"),
    row<squareRoot, 1>("aten::sqrt(Tensor self)"),
    row<reciprocalRoot, 1>("aten::rsqrt(Tensor self)"),
    row<exponential, 1>("aten::exp(Tensor self)"),
    row<exponential2, 1>("aten::exp2(Tensor self)"),
    row<exponentialM1, 1>("aten::expm1(Tensor self)"),
    row<logarithm, 1>("aten::log(Tensor self)"),
    row<logarithm2, 1>("aten::log2(Tensor self)"),
    row<logarithm10, 1>("aten::log10(Tensor self)"),
    row<logarithm1p, 1>("aten::log1p(Tensor self)"),
    row<sine, 1>("aten::sin(Tensor self)"),
    row<cosine, 1>("aten::cos(Tensor self)"),
    row<tangent, 1>("aten::tan(Tensor self)"),
    row<sineH, 1>("aten::sinh(Tensor self)"),
    row<cosineH, 1>("aten::cosh(Tensor self)"),
    row<tangentH, 1>("aten::tanh(Tensor self)"),
    row<arcSine, 1>("aten::asin(Tensor self)"),
    row<arcCosine, 1>("aten::acos(Tensor self)"),
    row<arcTangent, 1>("aten::atan(Tensor self)"),
    row<arcSineH, 1>("aten::asinh(Tensor self)"),
    row<arcCosineH, 1>("aten::acosh(Tensor self)"),
    row<arcTangentH, 1>("aten::atanh(Tensor self)"),
    row<sigmoidOf, 1>("aten::sigmoid(Tensor self)"),
    row<siluOf, 1>("aten::silu(Tensor self)"),
    row<sincOf, 1>("aten::sinc(Tensor self)"),
    row<notNumber, 1, Out::Bool>("aten::isnan(Tensor self)"),
    row<isInfinite, 1, Out::Bool>("aten::isinf(Tensor self)"),
    row<finite, 1, Out::Bool>("aten::isfinite(Tensor self)"),
    row<logicalNot, 1, Out::Bool>("aten::logical_not(Tensor self)"),
    row<add, 3>("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)"),
    row<add, 3>("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1)"),
    row<subtract, 3>("aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)"),
    row<subtract, 3>("aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1)"),
    row<reverseSubtract, 3>("aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)"),
    row<reverseSubtract, 3>("aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1)"),
    row<times, 2>("aten::mul.Tensor(Tensor self, Tensor other)"),
    row<times, 2>("aten::mul.Scalar(Tensor self, Scalar other)"),
    row<quotient, 2>("aten::div.Tensor(Tensor self, Tensor other)"),
    row<quotient, 2>("aten::div.Scalar(Tensor self, Scalar other)"),
    row<quotient, 2>("aten::true_divide.Tensor(Tensor self, Tensor other)"),
    row<power, 2>("aten::pow.Tensor_Tensor(Tensor self, Tensor exponent)"),
    row<power, 2>("aten::pow.Tensor_Scalar(Tensor self, Scalar exponent)"),
    row<power, 2>("aten::pow.Scalar(Scalar self, Tensor exponent)"),
    row<equal, 2, Out::Bool>("aten::eq.Tensor(Tensor self, Tensor other)"),
    row<equal, 2, Out::Bool>("aten::eq.Scalar(Tensor self, Scalar other)"),
    row<notEqual, 2, Out::Bool>("aten::ne.Tensor(Tensor self, Tensor other)"),
    row<notEqual, 2, Out::Bool>("aten::ne.Scalar(Tensor self, Scalar other)"),
    row<logicalAnd, 2, Out::Bool>("aten::logical_and(Tensor self, Tensor other)"),
    row<logicalOr, 2, Out::Bool>("aten::logical_or(Tensor self, Tensor other)"),
    row<logicalXor, 2, Out::Bool>("aten::logical_xor(Tensor self, Tensor other)"),
    row<choose, 3, Out::Promoted, true>("aten::where.self(Tensor condition, Tensor self, Tensor other)"),
    row<choose, 3, Out::Promoted, true>("aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other)"),
    row<choose, 3, Out::Promoted, true>("aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other)"),
    row<maskedFill, 3, Out::SelfType>("aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value)"),
    row<maskedFill, 3, Out::SelfType>("aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value)"),
    row<addProduct, 4>("aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1)"),
    row<addQuotient, 4>("aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1)"),
    row<interpolate, 3>("aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight)"),
    row<interpolate, 3>("aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight)"),
    row<sigmoidBackward, 2>("aten::sigmoid_backward(Tensor grad_output, Tensor output)"),
    row<tanhBackward, 2>("aten::tanh_backward(Tensor grad_output, Tensor output)"),
};

const OpRegistration complexPointwiseRows({.complex = complexPointwiseRowsTable});

}  // namespace

}  // namespace kerf::inline ops
