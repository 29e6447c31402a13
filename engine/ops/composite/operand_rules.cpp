// What PyTorch refuses of prims, of ops on lists, and of programs over other ops.
#include <algorithm>
#include <cmath>

#include "engine/ops/core/operand_checks.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline ops {
namespace {

/// Element-wise prims neither broadcast nor promote; a tensor without dimensions goes with any.
Result<void> alikeOperands(const BoundArguments& args) {
  const Tensor* first = nullptr;
  for (std::size_t i = 0; i < args.values.size(); ++i) {
    const Tensor* tensor = args.tensorIf(i);
    if (!tensor || tensor->dim() == 0 || args.op->schema.arguments[i].name == "pred") continue;
    if (first && tensor->dtype() != first->dtype())
      return mismatch(args, "the operands must have one dtype, got {} and {}", nameOf(first->dtype()),
                      nameOf(tensor->dtype()));
    if (first && !checkEqual(first->symSizes(), tensor->symSizes()))
      return mismatch(args, "the operands must have one shape, got [{}] and [{}]", fmt::join(first->symSizes(), ", "),
                      fmt::join(tensor->symSizes(), ", "));
    if (!first) first = tensor;
  }
  return {};
}

/// _foreach_mul.Tensor(self, other): one number for all.
Result<void> oneNumber(const BoundArguments& args) {
  const Tensor* other = args.tensorIf(1);
  if (!other || (other->dim() == 0 && guardOrTrue(other->symNumel() == 1))) return {};
  return mismatch(args, "'{}' must have no dimensions, has {}", args.op->schema.arguments[1].name, other->dim());
}

/// repeat_interleave(self, repeats, dim, output_size)
Result<void> repeatedSize(const BoundArguments& args) {
  const auto size = args.integerIf(args.position("output_size"));
  if (size && *size < 0) return mismatch(args, "'output_size' is negative: {}", *size);
  return {};
}

Result<void> fractionDim(const BoundArguments& args) {
  const auto dim = args.integerIf(2);
  if (dim && args.values[0].isTensor()) KERF_CHECK(wrapDim(args, *dim, args.tensor(0).dim()));
  return {};
}

Result<void> realRange(const BoundArguments& args) {
  for (const Value& value : args.values)
    if (const auto* dtype = value.as<DType>(); dtype && isComplex(*dtype))
      return mismatch(args, "not implemented for {}", nameOf(*dtype));
  return {};
}

/// bernoulli(self, p): a chance for each element.
Result<void> chanceForEach(const BoundArguments& args) {
  const Tensor *self = args.tensorIf(0), *p = args.tensorIf(1);
  if (!self || !p) return {};
  KERF_TRY(const SymSizes sizes, broadcastSizes(self->symSizes(), p->symSizes()));
  if (checkEqual(sizes, self->symSizes())) return {};
  return mismatch(args, "p of shape [{}] does not broadcast to [{}]", fmt::join(p->symSizes(), ", "),
                  fmt::join(self->symSizes(), ", "));
}

/// meshgrid(tensors): lines or numbers.
Result<void> lines(const BoundArguments& args) {
  for (const Value& item : args.values[0].isList() ? args.values[0].list() : ValueList())
    if (item.isTensor() && item.tensor().dim() > 1)
      return mismatch(args, "the tensors must have at most one dimension, one has {}", item.tensor().dim());
  return {};
}

/// kl_div of whole numbers.
Result<void> noIntegers(const BoundArguments& args) {
  for (std::size_t i = 0; i < 2; ++i)
    if (const Tensor* tensor = args.tensorIf(i); tensor && !isFloating(tensor->dtype()) && !isComplex(tensor->dtype()))
      return mismatch(args, "'{}' must be of a floating dtype, got {}", args.op->schema.arguments[i].name,
                      nameOf(tensor->dtype()));
  return {};
}

/// cosine_embedding_loss(input1, input2, target): a target without dimensions is of two lines.
Result<void> targetOfLines(const BoundArguments& args) {
  const Tensor* target = args.tensorIf(2);
  if (!target || target->dim() != 0) return {};
  for (std::size_t i = 0; i < 2; ++i)
    if (const Tensor* input = args.tensorIf(i); input && input->dim() != 1)
      return mismatch(args, "a target without dimensions needs inputs of one dimension, '{}' has {}",
                      args.op->schema.arguments[i].name, input->dim());
  return {};
}

/// soft_margin_loss(self, target): the target broadcasts to self.
Result<void> targetWithin(const BoundArguments& args) {
  const Tensor *self = args.tensorIf(0), *target = args.tensorIf(1);
  if (!self || !target) return {};
  KERF_TRY(const SymSizes sizes, broadcastSizes(self->symSizes(), target->symSizes()));
  if (checkEqual(sizes, self->symSizes())) return {};
  return mismatch(args, "target of shape [{}] does not broadcast to [{}]", fmt::join(target->symSizes(), ", "),
                  fmt::join(self->symSizes(), ", "));
}

/// searchsorted(…, right, side)
Result<void> sideOfPlaces(const BoundArguments& args) {
  const std::string side = textNamed(args, "side");
  if (side.empty() || side == "right") return {};
  if (side != "left") return mismatch(args, "side must be 'left' or 'right', got '{}'", side);
  return args.boolean(args.position("right")) ? mismatch(args, "side 'left' and right=True are opposites")
                                              : Result<void>();
}

/// Norms of nothing are 0, but for those of a smallest or largest number.
Result<void> identityOfNorm(const BoundArguments& args) {
  const Tensor* self = args.tensorIf(0);
  const Value& order = args.values[1];
  if (!self || order.isNone() || order.isTensor()) return {};
  const double number = args.number(1);
  if (!(number < 0) && !std::isinf(number)) return {};
  const bool takesDims = args.values.size() > 2 && args.values[2].isList() && !args.values[2].list().empty();
  if (!takesDims) {
    if (guardOrFalse(self->symNumel() == 0)) return mismatch(args, "the norm {} of no elements is not defined", number);
    return {};
  }
  KERF_TRY(const Sizes dims, wrapDims(args, args.sizes(2), self->dim()));
  for (const std::int64_t dim : dims)
    if (self->dim() > 0 && guardOrFalse(self->symSize(dim) == 0))
      return mismatch(args, "the norm {} along dimension {}, which has no elements, is not defined", number, dim);
  return {};
}

constexpr OperandRule compositeRules[] = {
    {"aten::linalg_vector_norm aten::norm.Scalar aten::norm.ScalarOpt_dim", identityOfNorm},
    {"aten::meshgrid", lines},
    {"aten::kl_div", noIntegers},
    {"aten::cosine_embedding_loss", targetOfLines},
    {"aten::soft_margin_loss", targetWithin},
    {"aten::searchsorted", sideOfPlaces},
    {"aten::bernoulli.Tensor aten::bernoulli_.Tensor", chanceForEach},
    {"prims::add prims::atan2 prims::bitwise_and prims::bitwise_or prims::bitwise_xor prims::div prims::eq "
     "prims::fmax prims::fmin prims::fmod prims::gcd prims::ge prims::gt prims::hypot prims::igamma prims::igammac "
     "prims::le prims::lt prims::maximum prims::minimum prims::mul prims::ne prims::nextafter prims::pow "
     "prims::remainder prims::shift_left prims::shift_right_arithmetic prims::sub prims::where prims::zeta",
     alikeOperands},
    {"aten::_foreach_add.Tensor aten::_foreach_add_.Tensor aten::_foreach_mul.Tensor aten::_foreach_mul_.Tensor "
     "aten::_foreach_div.Tensor aten::_foreach_div_.Tensor",
     oneNumber},
    {"aten::repeat_interleave", repeatedSize},
    {"aten::quantile aten::nanquantile", fractionDim},
    {"aten::arange prims::iota aten::fft_fftfreq aten::fft_rfftfreq aten::randint aten::range", realRange},
};

const OperandChecks compositeChecks({.rules = compositeRules});

}  // namespace
}  // namespace kerf::inline ops
