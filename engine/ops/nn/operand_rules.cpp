// What PyTorch refuses of layers' parameters, targets and windows.
#include <algorithm>

#include "engine/ops/core/operand_checks.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline ops {
namespace {

constexpr std::uint32_t signedIntegers =
    bitOf(DType::Int64) | bitOf(DType::Int32) | bitOf(DType::Int16) | bitOf(DType::Int8);
constexpr std::uint32_t truth = bitOf(DType::Bool), halves = bitOf(DType::Float16) | bitOf(DType::BFloat16);
constexpr std::uint32_t integers = truth | signedIntegers | bitOf(DType::UInt8);

constexpr RefusedDtypes layerDtypes[] = {
    {"adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d adaptive_max_pool2d_backward "
     "adaptive_max_pool3d_backward max_unpool2d max_unpool3d native_batch_norm native_batch_norm_backward "
     "_native_batch_norm_legit _native_batch_norm_legit_no_training _batch_norm_no_update _batch_norm_with_update "
     "_fused_adam _fused_adamw _fused_sgd _fused_adagrad multi_margin_loss multilabel_margin_loss_forward "
     "upsample_bicubic2d_backward upsample_linear1d upsample_linear1d_backward upsample_trilinear3d "
     "upsample_trilinear3d_backward upsample_bilinear2d_backward",
     integers},
    {"upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d _upsample_nearest_exact2d "
     "_upsample_nearest_exact3d upsample_nearest1d_backward upsample_nearest2d_backward upsample_nearest3d_backward "
     "_upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward _upsample_nearest_exact3d_backward "
     "upsample_bilinear2d upsample_bicubic2d",
     truth | signedIntegers},
    {"avg_pool1d reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d "
     "replication_pad3d rms_norm",
     truth},
    {"linalg_det _linalg_det det linalg_householder_product orgqr linalg_svdvals linalg_svd _linalg_svd svd qr "
     "linalg_qr "
     "geqrf cholesky linalg_cholesky linalg_cholesky_ex linalg_eigh _linalg_eigh linalg_eigvalsh linalg_eig "
     "linalg_eigvals _linalg_eigvals linalg_inv linalg_inv_ex inverse linalg_tensorsolve linalg_matrix_rank cdist "
     "_cdist_forward _cdist_backward",
     halves},
    {"fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn "
     "fft_irfftn fft_hfft fft_ihfft",
     bitOf(DType::BFloat16)},
};

/// Parameters of batch norm are vectors with one number for each channel.
Result<void> perChannel(const BoundArguments& args) {
  const Tensor* input = operandNamed(args, "input");
  if (!input || input->dim() < 2) return {};
  for (const std::string_view name : {"weight", "bias", "running_mean", "running_var"}) {
    const Tensor* tensor = operandNamed(args, name);
    if (!tensor) continue;
    if (tensor->dim() != 1 || !checkEqual(tensor->symSize(0), input->symSize(1)))
      return mismatch(args, "'{}' has shape [{}], expected [{}]", name, fmt::join(tensor->symSizes(), ", "),
                      input->symSize(1));
  }
  return {};
}

/// What the forward has saved; outside of training it is empty.
Result<void> savedPerChannel(const BoundArguments& args) {
  KERF_CHECK(perChannel(args));
  const Tensor* input = operandNamed(args, "input");
  if (!input || input->dim() < 2) return {};
  for (const std::string_view name : {"save_mean", "save_invstd", "save_var"}) {
    const Tensor* tensor = operandNamed(args, name);
    if (!tensor || guardOrFalse(tensor->symNumel() == 0)) continue;
    if (!checkEqual(tensor->symNumel(), input->symSize(1)))
      return mismatch(args, "'{}' has {} elements, expected {}", name, tensor->symNumel(), input->symSize(1));
  }
  return {};
}

Result<void> counted(const BoundArguments& args, std::string_view name, SymInt expected) {
  const Tensor* tensor = operandNamed(args, name);
  if (!tensor || checkEqual(tensor->symNumel(), expected)) return {};
  return mismatch(args, "'{}' has {} elements, expected {}", name, tensor->symNumel(), expected);
}

/// native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask)
Result<void> groupParameters(const BoundArguments& args) {
  const SymInt statistics = args.symInteger(5) * args.symInteger(8);
  KERF_CHECK(counted(args, "mean", statistics));
  KERF_CHECK(counted(args, "rstd", statistics));
  return counted(args, "weight", args.symInteger(6));
}

/// Losses with a class for each sample: targets are integers, weights one for each class.
Result<void> classTargets(const BoundArguments& args) {
  const Tensor *target = operandNamed(args, "target"), *self = operandNamed(args, "self");
  if (target && target->dtype() != DType::Int64 && target->dtype() != DType::UInt8)
    return mismatch(args, "'target' must be int64, got {}", nameOf(target->dtype()));
  const Tensor* weight = operandNamed(args, "weight");
  if (!weight || !self || self->dim() == 0) return {};
  const SymInt classes = self->symSize(self->dim() == 1 ? 0 : 1);
  if (weight->dim() != 1 || !checkEqual(weight->symSize(0), classes))
    return mismatch(args, "argument 'weight' must have {} elements", classes);
  if (weight->dtype() != self->dtype())
    return mismatch(args, "self and weight must have one dtype, got {} and {}", nameOf(self->dtype()),
                    nameOf(weight->dtype()));
  return {};
}

/// "int[2] kernel_size" takes two numbers, or one that stands for both; a stride may be left out.
Result<void> windowLengths(const BoundArguments& args) {
  const auto& arguments = args.op->schema.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& type = arguments[i].type;
    const std::size_t open = type.find("nt[");
    if (open == type.npos || !args.values[i].isList()) continue;
    const auto expected = std::size_t(std::atoi(type.c_str() + open + 3));
    const std::size_t given = args.values[i].list().size();
    const bool isLeftOut = given == 0 && arguments[i].name == "stride";
    if (expected > 0 && given != expected && !isLeftOut)
      return mismatch(args, "'{}' must have {} items, has {}", arguments[i].name, expected, given);
  }
  return {};
}

Result<void> gradLikeSelf(const BoundArguments& args) {
  const Tensor *grad = args.tensorIf(0), *self = args.tensorIf(1);
  if (!grad || !self || grad->dtype() == self->dtype()) return {};
  return mismatch(args, "'{}' must have the dtype of 'self', {}, got {}", args.op->schema.arguments[0].name,
                  nameOf(self->dtype()), nameOf(grad->dtype()));
}

Result<void> reductionNumber(const BoundArguments& args) {
  const std::int64_t reduction = args.integer(args.position("reduction"));
  if (reduction >= 0 && reduction <= 2) return {};
  return mismatch(args, "reduction must be 0 (none), 1 (mean) or 2 (sum), got {}", reduction);
}

Result<void> noiseLikeSelf(const BoundArguments& args) {
  const Tensor *self = operandNamed(args, "self"), *noise = operandNamed(args, "noise");
  if (!self || !noise || checkEqual(noise->symSizes(), self->symSizes())) return {};
  return mismatch(args, "noise of shape [{}] must have the shape of self, [{}]", fmt::join(noise->symSizes(), ", "),
                  fmt::join(self->symSizes(), ", "));
}

Result<void> indexingWord(const BoundArguments& args) {
  const std::string text = textNamed(args, "indexing");
  if (text == "ij" || text == "xy") return {};
  return mismatch(args, "indexing must be 'ij' or 'xy', got '{}'", text);
}

constexpr OperandRule layerRules[] = {
    {"aten::mse_loss aten::smooth_l1_loss aten::huber_loss aten::nll_loss_forward aten::nll_loss2d_forward",
     reductionNumber},
    {"aten::rrelu_with_noise aten::rrelu_with_noise_ aten::rrelu_with_noise_functional", noiseLikeSelf},
    {"aten::meshgrid.indexing", indexingWord},
    {"aten::native_batch_norm aten::_native_batch_norm_legit aten::_native_batch_norm_legit_no_training "
     "aten::_native_batch_norm_legit_functional aten::_batch_norm_with_update aten::_batch_norm_no_update "
     "aten::_batch_norm_with_update_functional aten::batch_norm",
     perChannel},
    {"aten::native_batch_norm_backward aten::batch_norm_backward", savedPerChannel},
    {"aten::native_group_norm_backward", groupParameters},
    {"aten::nll_loss_forward aten::nll_loss2d_forward aten::nll_loss_backward aten::nll_loss2d_backward", classTargets},
    {"aten::max_pool1d aten::max_pool2d aten::max_pool3d aten::max_pool2d_with_indices aten::max_pool3d_with_indices "
     "aten::max_pool2d_with_indices_backward aten::max_pool3d_with_indices_backward aten::avg_pool1d aten::avg_pool2d "
     "aten::avg_pool3d aten::avg_pool2d_backward aten::avg_pool3d_backward aten::adaptive_avg_pool2d "
     "aten::_adaptive_avg_pool2d aten::_adaptive_avg_pool3d aten::adaptive_max_pool2d aten::adaptive_max_pool3d "
     "aten::col2im aten::im2col aten::replication_pad1d aten::replication_pad2d aten::replication_pad3d "
     "aten::reflection_pad1d aten::reflection_pad2d aten::reflection_pad3d aten::upsample_nearest1d "
     "aten::upsample_nearest2d aten::upsample_nearest3d aten::_upsample_nearest_exact1d",
     windowLengths},
    {"aten::max_pool2d_with_indices_backward aten::max_pool3d_with_indices_backward aten::avg_pool2d_backward "
     "aten::avg_pool3d_backward aten::adaptive_max_pool2d_backward aten::adaptive_max_pool3d_backward "
     "aten::_adaptive_avg_pool2d_backward",
     gradLikeSelf},
};

const OperandChecks layerChecks({.rules = layerRules, .dtypes = layerDtypes});

}  // namespace
}  // namespace kerf::inline ops
