#include "engine/capture/repro/allowed_calls.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "engine/ir/graph.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline capture {
namespace {

using Names = std::unordered_set<std::string_view>;

/// Functions beside those that ATen has under the same name. Only what computes: nothing that reads or writes files,
/// loads libraries, imports, compiles, or calls back.
const Names& pureFunctions() {
  static const Names names = {
      // torch
      "torch.tensor", "torch.as_tensor", "torch.asarray", "torch.from_numpy", "torch.device", "torch.Size",
      "torch.is_tensor", "torch.is_grad_enabled", "torch.is_inference_mode_enabled", "torch.is_autocast_enabled",
      "torch.get_default_dtype", "torch.numel", "torch.typename", "torch.finfo", "torch.iinfo", "torch.Generator",
      "torch.manual_seed", "torch.seed", "torch.cartesian_prod", "torch.block_diag", "torch.broadcast_shapes",
      "torch.broadcast_tensors", "torch.einsum", "torch.split", "torch.unravel_index", "torch.meshgrid", "torch.norm",
      "torch.tensordot", "torch.cdist", "torch.stft", "torch.istft", "torch.unique", "torch.unique_consecutive",
      "torch.lu", "torch.lobpcg", "torch.pca_lowrank", "torch.svd_lowrank", "torch.chain_matmul", "torch.atleast_1d",
      "torch.atleast_2d", "torch.atleast_3d", "torch.numel", "torch.is_storage", "torch.result_type", "torch.can_cast",
      "torch.promote_types", "torch.sym_float", "torch.sym_int", "torch.sym_ite", "torch.sym_max", "torch.sym_min",
      "torch.sym_not", "torch.sym_sum", "torch.sym_sqrt", "torch._sym_sqrt", "torch._check", "torch._check_is_size",
      "torch._check_value", "torch._check_index", "torch._check_tensor_all", "torch._assert", "torch._assert_async",
      "torch._assert_scalar", "torch.empty_like", "torch.nn.Parameter", "torch.nn.parameter.Parameter",
      "torch.nn.Buffer", "torch.nn.parameter.Buffer", "torch.no_grad", "torch.enable_grad", "torch.inference_mode",
      "torch.set_grad_enabled", "torch.vmap", "torch.get_autocast_dtype", "torch.get_autocast_gpu_dtype",
      "torch.are_deterministic_algorithms_enabled", "torch.cuda.current_device", "torch.cuda.is_available",
      "torch.cuda.device_count", "torch.cuda.get_device_capability", "torch.get_device", "torch.get_device_module",
      "torch.backends.mha.get_fastpath_enabled", "torch.distributed.get_rank", "torch.distributed.get_world_size",
      "torch.autograd.grad", "torch.utils.checkpoint.checkpoint", "torch.amp.autocast_mode._enter_autocast",
      "torch.amp.autocast_mode._exit_autocast", "torch.jit.is_scripting", "torch.jit.is_tracing",
      "torch.compiler.is_compiling", "torch.compiler.is_dynamo_compiling",
      "torch.overrides.is_tensor_method_or_property", "torch._C._log_api_usage_once", "torch._C._set_grad_enabled",
      "torch._C._get_tracing_state", "torch._C._functorch._vmap_increment_nesting",
      "torch._C._functorch._vmap_decrement_nesting", "torch._C._functorch._add_batch_dim",
      "torch._C._functorch._remove_batch_dim", "torch._C._functorch._grad_increment_nesting",
      "torch._C._functorch._grad_decrement_nesting", "torch._C._functorch._wrap_for_grad",
      "torch._C._functorch._unwrap_for_grad", "torch._C._functorch._jvp_increment_nesting",
      "torch._C._functorch._jvp_decrement_nesting", "torch._C._functorch.set_inplace_requires_grad_allowed",
      "torch._C._functorch.get_unwrapped", "torch._functorch.predispatch._add_batch_dim",
      "torch._functorch.predispatch._remove_batch_dim", "torch._functorch.predispatch._vmap_increment_nesting",
      "torch._functorch.predispatch._vmap_decrement_nesting", "torch._functorch.predispatch.lazy_load_decompositions",
      "torch._functorch.vmap.lazy_load_decompositions", "torch._functorch.eager_transforms._set_tensor_requires_grad",
      "torch._functorch.eager_transforms._autograd_grad", "torch._functorch.eager_transforms._create_differentiable",
      "torch.fx.experimental.symbolic_shapes.guard_or_true", "torch.fx.experimental.symbolic_shapes.guard_or_false",
      "torch.fx.experimental.symbolic_shapes.guard_size_oblivious",
      "torch.fx.experimental.symbolic_shapes.guard_scalar", "torch._dynamo.testing.rand_strided",
      "torch._higher_order_ops.auto_functionalize.auto_functionalized",
      // torch.nn.functional beside ATen's names
      "torch.nn.functional.scaled_dot_product_attention", "torch.nn.functional.multi_head_attention_forward",
      "torch.nn.functional.interpolate", "torch.nn.functional.upsample", "torch.nn.functional.upsample_nearest",
      "torch.nn.functional.upsample_bilinear", "torch.nn.functional.grid_sample", "torch.nn.functional.affine_grid",
      "torch.nn.functional.normalize", "torch.nn.functional.softmin", "torch.nn.functional.tanhshrink",
      "torch.nn.functional.softsign", "torch.nn.functional.unfold", "torch.nn.functional.fold",
      "torch.nn.functional.gumbel_softmax", "torch.nn.functional.cross_entropy", "torch.nn.functional.smooth_l1_loss",
      "torch.nn.functional.triplet_margin_loss", "torch.nn.functional.multilabel_margin_loss",
      "torch.nn.functional.multilabel_soft_margin_loss", "torch.nn.functional.multi_margin_loss",
      "torch.nn.functional.gaussian_nll_loss", "torch.nn.functional.local_response_norm",
      "torch.nn.functional.lp_pool1d", "torch.nn.functional.lp_pool2d", "torch.nn.functional.max_pool1d",
      "torch.nn.functional.max_pool2d", "torch.nn.functional.max_pool3d", "torch.nn.functional.max_unpool1d",
      "torch.nn.functional.max_unpool2d", "torch.nn.functional.max_unpool3d", "torch.nn.functional.avg_pool1d",
      "torch.nn.functional.fractional_max_pool2d", "torch.nn.functional.fractional_max_pool3d",
      "torch.nn.functional.adaptive_max_pool1d", "torch.nn.functional.adaptive_avg_pool1d",
      "torch.nn.functional.dropout1d", "torch.nn.functional.dropout2d", "torch.nn.functional.dropout3d",
      "torch.nn.functional.hardtanh_", "torch.nn.functional.leaky_relu_", "torch.nn.functional.one_hot",
      "torch.nn.functional.pairwise_distance", "torch.nn.functional.sigmoid", "torch.nn.functional.assert_int_or_pair",
      "torch.nn.functional.scaled_mm", "torch.nn.functional.nll_loss", "torch.nn.functional.embedding_bag",
      "torch.nn.functional.kl_div", "torch.nn.functional.bilinear", "torch.nn.functional.relu6",
      "torch.nn.functional.conv_tbc", "torch.nn.functional.pad",
      // operator and math: all that compute
      "operator.getitem", "operator.setitem", "operator.add", "operator.sub", "operator.mul", "operator.truediv",
      "operator.div", "operator.floordiv", "operator.mod", "operator.pow", "operator.neg", "operator.pos",
      "operator.invert", "operator.not_", "operator.abs", "operator.index", "operator.eq", "operator.ne", "operator.lt",
      "operator.le", "operator.gt", "operator.ge", "operator.and_", "operator.or_", "operator.xor", "operator.lshift",
      "operator.rshift", "operator.matmul", "operator.is_", "operator.is_not", "operator.contains", "operator.truth",
      "operator.iadd", "operator.isub", "operator.imul", "operator.itruediv", "operator.ifloordiv", "operator.imod",
      "operator.ipow", "operator.iand", "operator.ior", "operator.ixor", "operator.ilshift", "operator.irshift",
      "operator.imatmul", "operator.concat", "operator.countOf", "operator.indexOf", "operator.inv", "operator.delitem",
      "operator.length_hint", "operator.iconcat",
      // builtins
      "builtins.abs", "builtins.all", "builtins.any", "builtins.bool", "builtins.divmod", "builtins.float",
      "builtins.int", "builtins.isinstance", "builtins.iter", "builtins.len", "builtins.list", "builtins.max",
      "builtins.min", "builtins.next", "builtins.pow", "builtins.round", "builtins.sum", "builtins.tuple",
      "builtins.slice", "builtins.complex", "builtins.range", "builtins.reversed", "builtins.sorted", "builtins.zip",
      "builtins.str", "builtins.dict", "builtins.set", "builtins.enumerate", "builtins.print",
      // names that captures bind themselves
      "device", "tensor", "slice", "complex", "float", "rand_strided", "einops.rearrange"};
  return names;
}

constexpr std::array<std::string_view, 44> mathFunctions = {
    "acos",   "acosh",   "asin",  "asinh", "atan",  "atan2",   "atanh",    "ceil",    "comb",      "copysign", "cos",
    "cosh",   "degrees", "dist",  "erf",   "erfc",  "exp",     "expm1",    "fabs",    "factorial", "floor",    "fmod",
    "frexp",  "fsum",    "gamma", "gcd",   "hypot", "isclose", "isfinite", "isinf",   "isnan",     "isqrt",    "ldexp",
    "lgamma", "log",     "log10", "log1p", "log2",  "pow",     "prod",     "radians", "sqrt",      "tan",      "trunc"};
constexpr std::array<std::string_view, 4> moreMath = {"sin", "sinh", "tanh", "remainder"};

/// Methods beside those that ATen has.
const Names& pureMethods() {
  static const Names names = {"size",
                              "stride",
                              "dim",
                              "ndimension",
                              "numel",
                              "nelement",
                              "element_size",
                              "storage_offset",
                              "is_contiguous",
                              "is_floating_point",
                              "is_complex",
                              "is_signed",
                              "is_pinned",
                              "get_device",
                              "data_ptr",
                              "item",
                              "tolist",
                              "to",
                              "cpu",
                              "cuda",
                              "xpu",
                              "float",
                              "double",
                              "half",
                              "bfloat16",
                              "int",
                              "long",
                              "short",
                              "char",
                              "byte",
                              "bool",
                              "cfloat",
                              "cdouble",
                              "chalf",
                              "type",
                              "type_as",
                              "view",
                              "reshape",
                              "reshape_as",
                              "expand_as",
                              "view_as",
                              "contiguous",
                              "requires_grad_",
                              "retain_grad",
                              "detach",
                              "detach_",
                              "new",
                              "new_tensor",
                              "norm",
                              "split",
                              "unflatten",
                              "repeat",
                              "permute",
                              "unique",
                              "unique_consecutive",
                              "stft",
                              "istft",
                              "backward",
                              "is_set_to",
                              "is_same_size",
                              "is_shared",
                              "has_names",
                              "ndim",
                              "dense_dim",
                              "sparse_dim",
                              "index_put",
                              "clone",
                              "lu",
                              "where",
                              "count",
                              "index",
                              "append",
                              "extend",
                              "clear",
                              "keys",
                              "values",
                              "items",
                              "get",
                              "copy",
                              "copy_",
                              "__getitem__",
                              "__add__",
                              "__radd__",
                              "__sub__",
                              "__rsub__",
                              "__mul__",
                              "__rmul__",
                              "__truediv__",
                              "__rtruediv__",
                              "__pow__",
                              "__rpow__",
                              "__neg__",
                              "__eq__",
                              "__ne__",
                              "__lt__",
                              "__le__",
                              "__gt__",
                              "__ge__",
                              "__and__",
                              "__or__",
                              "__xor__",
                              "__invert__",
                              "__matmul__",
                              "__rmatmul__",
                              "__floordiv__",
                              "__mod__",
                              "__setitem__",
                              "__len__",
                              "__bool__",
                              "__int__",
                              "__float__",
                              "__contains__",
                              "__iadd__",
                              "__isub__",
                              "__imul__",
                              "__itruediv__",
                              "__rand__",
                              "__ror__",
                              "__lshift__",
                              "__rshift__",
                              "__abs__"};
  return names;
}

const Names& nnModules() {
  static const Names names = {"AdaptiveAvgPool1d",
                              "AdaptiveAvgPool2d",
                              "AdaptiveAvgPool3d",
                              "AdaptiveMaxPool1d",
                              "AdaptiveMaxPool2d",
                              "AdaptiveMaxPool3d",
                              "AlphaDropout",
                              "AvgPool1d",
                              "AvgPool2d",
                              "AvgPool3d",
                              "BCELoss",
                              "BCEWithLogitsLoss",
                              "BatchNorm1d",
                              "BatchNorm2d",
                              "BatchNorm3d",
                              "Bilinear",
                              "CELU",
                              "ChannelShuffle",
                              "ConstantPad1d",
                              "ConstantPad2d",
                              "ConstantPad3d",
                              "Conv1d",
                              "Conv2d",
                              "Conv3d",
                              "ConvTranspose1d",
                              "ConvTranspose2d",
                              "ConvTranspose3d",
                              "CosineEmbeddingLoss",
                              "CosineSimilarity",
                              "CrossEntropyLoss",
                              "CTCLoss",
                              "Dropout",
                              "Dropout1d",
                              "Dropout2d",
                              "Dropout3d",
                              "ELU",
                              "Embedding",
                              "EmbeddingBag",
                              "FeatureAlphaDropout",
                              "Flatten",
                              "Fold",
                              "GELU",
                              "GLU",
                              "GRU",
                              "GRUCell",
                              "GroupNorm",
                              "Hardshrink",
                              "Hardsigmoid",
                              "Hardswish",
                              "Hardtanh",
                              "HuberLoss",
                              "Identity",
                              "InstanceNorm1d",
                              "InstanceNorm2d",
                              "InstanceNorm3d",
                              "KLDivLoss",
                              "L1Loss",
                              "LPPool1d",
                              "LPPool2d",
                              "LSTM",
                              "LSTMCell",
                              "LayerNorm",
                              "LeakyReLU",
                              "Linear",
                              "LocalResponseNorm",
                              "LogSigmoid",
                              "LogSoftmax",
                              "MSELoss",
                              "MarginRankingLoss",
                              "MaxPool1d",
                              "MaxPool2d",
                              "MaxPool3d",
                              "MaxUnpool1d",
                              "MaxUnpool2d",
                              "MaxUnpool3d",
                              "Mish",
                              "ModuleDict",
                              "ModuleList",
                              "MultiheadAttention",
                              "NLLLoss",
                              "PReLU",
                              "PairwiseDistance",
                              "ParameterList",
                              "ParameterDict",
                              "PixelShuffle",
                              "PixelUnshuffle",
                              "PoissonNLLLoss",
                              "RMSNorm",
                              "RNN",
                              "RNNCell",
                              "RReLU",
                              "ReLU",
                              "ReLU6",
                              "ReflectionPad1d",
                              "ReflectionPad2d",
                              "ReflectionPad3d",
                              "ReplicationPad1d",
                              "ReplicationPad2d",
                              "ReplicationPad3d",
                              "SELU",
                              "Sequential",
                              "SiLU",
                              "Sigmoid",
                              "SmoothL1Loss",
                              "Softmax",
                              "Softmax2d",
                              "Softmin",
                              "Softplus",
                              "Softshrink",
                              "Softsign",
                              "SyncBatchNorm",
                              "Tanh",
                              "Tanhshrink",
                              "Threshold",
                              "Transformer",
                              "TransformerDecoder",
                              "TransformerDecoderLayer",
                              "TransformerEncoder",
                              "TransformerEncoderLayer",
                              "TripletMarginLoss",
                              "Unflatten",
                              "Unfold",
                              "Upsample",
                              "UpsamplingBilinear2d",
                              "UpsamplingNearest2d",
                              "ZeroPad1d",
                              "ZeroPad2d",
                              "ZeroPad3d"};
  return names;
}

/// Parts of a dotted name that never stand in an export, wherever they are.
constexpr std::array<std::string_view, 18> forbiddenParts = {
    "load", "load_library", "load_libraries", "import_module", "hub",    "os",
    "sys",  "subprocess",   "from_file",      "importlib",     "ctypes", "exec",
    "eval", "compile",      "pickle",         "shutil",        "open",   "breakpoint"};

/// aten's op names without their overloads.
const std::unordered_set<std::string>& atenNames() {
  static const std::unordered_set<std::string> names = [] {
    std::unordered_set<std::string> found;
    for (const OpInfo& op : allOps()) {
      std::string_view name = opName(op.id);
      if (name.starts_with("torch.ops.")) name.remove_prefix(10);
      if (name.starts_with("aten.")) found.emplace(name.substr(5, name.find('.', 5) - 5));
    }
    return found;
  }();
  return names;
}

bool isAtenName(std::string_view name) { return atenNames().contains(std::string(name)); }

struct Module {
  std::string_view prefix;  ///< of the function's name
  std::string_view aten;    ///< of ATen's name for it
};
constexpr std::array<Module, 14> atenModules = {{{"torch.", ""},
                                                 {"torch.Tensor.", ""},
                                                 {"torch._C._nn.", ""},
                                                 {"torch._C._VariableFunctions.", ""},
                                                 {"torch._VF.", ""},
                                                 {"torch.functional.", ""},
                                                 {"torch.nn.functional.", ""},
                                                 {"torch._C._fft.", ""},
                                                 {"torch._C._linalg.", ""},
                                                 {"torch._C._special.", ""},
                                                 {"torch.fft.", "fft_"},
                                                 {"torch.linalg.", "linalg_"},
                                                 {"torch.special.", "special_"},
                                                 {"inductor_prims.", ""}}};

/// `visit(part)` for each part between the dots until it says false; whether it never did.
template <typename Visit>
bool allParts(std::string_view path, Visit visit) {
  for (;;) {
    const std::size_t dot = path.find('.');
    if (!visit(path.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    path.remove_prefix(dot + 1);
  }
}

bool isDunder(std::string_view name) { return name.starts_with("__"); }

/// `torch.ops.NS.OP[.OVERLOAD]`; an overload or op may be a keyword ("from"), which is written with getattr.
bool isOpOverload(std::string_view target) {
  if (!target.starts_with("torch.ops.")) return false;
  const auto dots = std::ranges::count(target, '.');
  if (dots != 3 && dots != 4) return false;
  return allParts(target, [](std::string_view part) {
    if (isDunder(part)) return isAtenName(part);  // aten.__and__
    return isPythonIdentifier(part) || (!part.empty() && isPythonIdentifier(std::string(part) + "_"));
  });
}

/// torch.ops.aten.__and__.Tensor and its kind, which the op table has.
bool isDunderOp(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.aten.__";
  return target.starts_with(prefix) && isOpOverload(target) &&
         !isForbiddenCall(target.substr(std::min(target.find('.', prefix.size()), target.size())));
}

bool isAtenFunction(std::string_view target) {
  for (const Module& module : atenModules) {
    if (!target.starts_with(module.prefix)) continue;
    const std::string_view name = target.substr(module.prefix.size());
    if (name.find('.') == std::string_view::npos && isAtenName(std::string(module.aten) + std::string(name)))
      return true;
  }
  return false;
}

}  // namespace

bool isForbiddenCall(std::string_view target) {
  if (target.starts_with("builtins.")) target.remove_prefix(9);
  const auto isBad = [](std::string_view part) {
    return isDunder(part) || std::ranges::find(forbiddenParts, part) != forbiddenParts.end();
  };
  constexpr std::array<std::string_view, 8> alone = {"globals", "locals", "vars",    "setattr",
                                                     "delattr", "input",  "getattr", "memoryview"};
  return std::ranges::find(alone, target) != alone.end() ||
         !allParts(target, [&](std::string_view part) { return !isBad(part); });
}

bool isAllowedFunction(std::string_view target) {
  if (target.starts_with("torch.Tensor.") && isAllowedMethod(target.substr(13))) return true;
  if (isDunderOp(target)) return true;
  if (isForbiddenCall(target)) return false;
  if (isOpOverload(target) || pureFunctions().contains(target)) return true;
  if (target.starts_with("math.")) {
    const std::string_view name = target.substr(5);
    return std::ranges::find(mathFunctions, name) != mathFunctions.end() ||
           std::ranges::find(moreMath, name) != moreMath.end();
  }
  // Names that no file defines: FX writes functions of torch._dynamo so. Python finds nothing under them.
  if (target.starts_with("torch__dynamo_") && isPythonIdentifier(target)) return true;
  return isAtenFunction(target) || findOp(OpTarget(target)) != nullptr;
}

bool isAllowedMethod(std::string_view name) {
  return pureMethods().contains(name) || (!isDunder(name) && !isForbiddenCall(name) && isAtenName(name));
}

bool isAllowedModule(std::string_view name) {
  for (const std::string_view prefix : {"torch.nn.modules.", "torch.nn."})
    if (name.starts_with(prefix)) {
      name.remove_prefix(name.rfind('.') + 1);
      break;
    }
  return nnModules().contains(name);
}

bool isAllowedAttribute(std::string_view name) { return !isDunder(name); }

}  // namespace kerf::inline capture
