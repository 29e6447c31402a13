// What PyTorch refuses of prims, of ops on lists, and of programs over other ops.
#include <algorithm>

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

constexpr OperandRule compositeRules[] = {
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
