// Decompositions of element-wise ops that have kernels of their own: what AOTAutograd's tables write in their place.
#include "engine/ops/core/op_math.h"
#include "engine/ops/pointwise/families.h"

namespace kerf::inline ops {
namespace {

/// The values of a call, and its ops as expressions.
struct Program {
  const BoundArguments& args;
  CompositeSteps s;
  Program(const BoundArguments& bound, const OpRunner& run) : args(bound), s(run) {}

  const Value& operator[](std::size_t i) const { return args.values[i]; }
  Tensor mul(const Value& a, const Value& b) { return s("aten.mul.Tensor"_op, {a, b}); }
  Tensor add(const Value& a, const Value& b) { return s("aten.add.Tensor"_op, {a, b}); }
  Tensor oneMinus(const Value& a) { return s("aten.rsub.Scalar"_op, {a, std::int64_t{1}}); }
  Tensor sigmoid(const Value& a) { return s("aten.sigmoid.default"_op, {a}); }
  Tensor zero(const Value& a) { return s("aten.zeros_like.default"_op, {a}); }
  Tensor where(const Value& condition, const Value& a, const Value& b) {
    return s("aten.where.self"_op, {condition, a, b});
  }
};

/// 0 where self is at most the threshold.
Result<Value> thresholdBackward(const BoundArguments& args, const OpRunner& run) {
  Program p(args, run);
  const Tensor low = p.s("aten.le.Scalar"_op, {p[1], p[2]});
  return p.s.done(p.where(low, p.zero(p[0]), p[0]));
}
Result<Value> tanhBackward(const BoundArguments& args, const OpRunner& run) {
  Program p(args, run);
  return p.s.done(p.mul(p[0], p.oneMinus(p.mul(p[1], p[1]))));
}
Result<Value> sigmoidBackward(const BoundArguments& args, const OpRunner& run) {
  Program p(args, run);
  return p.s.done(p.mul(p[0], p.mul(p.oneMinus(p[1]), p[1])));
}
/// grad · σ · (1 + x · (1 - σ))
Result<Value> siluBackward(const BoundArguments& args, const OpRunner& run) {
  Program p(args, run);
  const Tensor gate = p.sigmoid(p[1]);
  const Tensor slope = p.s("aten.add.Scalar"_op, {p.mul(p[1], p.oneMinus(gate)), std::int64_t{1}});
  return p.s.done(p.mul(p.mul(p[0], gate), slope));
}
Result<Value> silu(const BoundArguments& args, const OpRunner& run) {
  Program p(args, run);
  return p.s.done(p.mul(p[0], p.sigmoid(p[0])));
}
Result<Value> leakyRelu(const BoundArguments& args, const OpRunner& run) {
  Program p(args, run);
  const Tensor positive = p.s("aten.gt.Scalar"_op, {p[0], std::int64_t{0}});
  return p.s.done(p.where(positive, p[0], p.s("aten.mul.Scalar"_op, {p[0], p[1]})));
}
/// self + value · tensor1 · tensor2
Result<Value> addcmul(const BoundArguments& args, const OpRunner& run) {
  Program p(args, run);
  return p.s.done(p.add(p[0], p.mul(p.mul(p[1], p[3]), p[2])));
}
/// self + value · tensor1 / tensor2
Result<Value> addcdiv(const BoundArguments& args, const OpRunner& run) {
  Program p(args, run);
  return p.s.done(p.add(p[0], p.mul(p[3], p.s("aten.div.Tensor"_op, {p[1], p[2]}))));
}
/// The first half times the sigmoid of the second.
Result<Value> glu(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  const SymInt half = floorDiv(self.symSize(dim), 2);
  Program p(args, run);
  const Tensor first = p.s("aten.slice.Tensor"_op, {self, dim, std::int64_t{0}, half});
  const Tensor second = p.s("aten.slice.Tensor"_op, {self, dim, half, 2 * half});
  return p.s.done(p.mul(first, p.sigmoid(second)));
}

constexpr OpFacts decomposes(const char* op, Composite program) { return {.op = op, .decomposition = program}; }

constexpr OpFacts table[] = {
    decomposes("aten::threshold_backward", thresholdBackward),
    decomposes("aten::tanh_backward", inOpMath<tanhBackward>),
    decomposes("aten::sigmoid_backward", inOpMath<sigmoidBackward>),
    decomposes("aten::silu_backward", inOpMath<siluBackward>),
    decomposes("aten::silu", inOpMath<silu>),
    decomposes("aten::leaky_relu", inOpMath<leakyRelu>),
    decomposes("aten::addcmul", inOpMath<addcmul>),
    decomposes("aten::addcdiv", inOpMath<addcdiv>),
    decomposes("aten::glu", inOpMath<glu>),
};

}  // namespace

OpFactRows pointwiseDecompositions() { return table; }

}  // namespace kerf::inline ops
