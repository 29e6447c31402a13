#include "engine/runtime/library_kernels.h"

#include <algorithm>

#include "engine/mathlib/gemm.h"
#include "engine/runtime/convolution_steps.h"
#include "engine/tensor/copy.h"

namespace kerf::inline runtime {
namespace {

constexpr std::pair<std::string_view, StepKind> kinds[] = {
    {"torch.ops.aten.mm.default", StepKind::Mm},
    {"torch.ops.aten.addmm.default", StepKind::Addmm},
    {"torch.ops.aten.bmm.default", StepKind::Bmm},
    {"torch.ops.aten.convolution.default", StepKind::Convolution},
};

Result<const Tensor*> tensorAt(const ValueList& args, std::size_t i) {
  if (i >= args.size() || !args[i].isTensor()) return fail(ErrorCode::Internal, "argument {} is not a tensor", i);
  return &args[i].tensor();
}

/// `self` seen with the sizes of `out`, repeated where it has size 1 or no dimension.
Tensor expanded(const Tensor& self, const Tensor& out) {
  Sizes strides(out.sizes().size(), 0);
  const std::size_t skipped = strides.size() - self.sizes().size();
  for (std::size_t d = 0; d < self.sizes().size(); ++d)
    if (self.sizes()[d] != 1) strides[skipped + d] = self.strides()[d];
  return self.viewAs(out.sizes(), strides, self.offset());
}

Result<void> addmm(const Step& step, const ValueList& args, Tensor& out) {
  KERF_TRY(const Tensor* const self, tensorAt(args, 0));
  KERF_TRY(const Tensor* const a, tensorAt(args, 1));
  KERF_TRY(const Tensor* const b, tensorAt(args, 2));
  if (self->sizes().size() > out.sizes().size())
    return fail(ErrorCode::ShapeMismatch, "addmm: self has too many dimensions");
  if (step.beta != 0) KERF_CHECK(copyElements(expanded(*self, out), out));
  return gemm(*a, *b, out, step.alpha, step.beta);
}

Result<void> convolve(const ValueList& args, Tensor& out) {
  KERF_TRY(const ConvolutionCall call, convolutionCall(args));
  return convolutionInto(call.image, call.filter, call.bias, call.spec, out);
}

}  // namespace

StepKind libraryStepKind(std::string_view target) {
  const auto* row = std::ranges::find(kinds, target, [](const auto& kind) { return kind.first; });
  return row == std::end(kinds) ? StepKind::Call : row->second;
}

Result<void> runLibraryKernel(const Step& step, const ValueList& args, Tensor& out) {
  if (step.kind == StepKind::Addmm) return addmm(step, args, out);
  if (step.kind == StepKind::Convolution) return convolve(args, out);
  KERF_TRY(const Tensor* const a, tensorAt(args, 0));
  KERF_TRY(const Tensor* const b, tensorAt(args, 1));
  return step.kind == StepKind::Mm ? gemm(*a, *b, out) : bmm(*a, *b, out);
}

}  // namespace kerf::inline runtime
