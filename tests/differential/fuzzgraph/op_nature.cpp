#include "tests/differential/fuzzgraph/op_nature.h"

#include <algorithm>
#include <set>

namespace kerf::fuzzgraph {
namespace {

using Names = std::set<std::string_view>;

const Names exactNames{"relu",
                       "neg",
                       "negative",
                       "abs",
                       "absolute",
                       "clone",
                       "contiguous",
                       "cat",
                       "concat",
                       "concatenate",
                       "stack",
                       "hstack",
                       "vstack",
                       "dstack",
                       "gather",
                       "index",
                       "index_select",
                       "where",
                       "masked_fill",
                       "maximum",
                       "minimum",
                       "fmax",
                       "fmin",
                       "amax",
                       "amin",
                       "max",
                       "min",
                       "flip",
                       "roll",
                       "rot90",
                       "repeat",
                       "tile",
                       "sort",
                       "topk",
                       "msort",
                       "cummax",
                       "cummin",
                       "clamp",
                       "clamp_min",
                       "clamp_max",
                       "clip",
                       "tril",
                       "triu",
                       "copy",
                       "fill",
                       "zero",
                       "take",
                       "hardtanh",
                       "relu6",
                       "median",
                       "nanmedian",
                       "kthvalue",
                       "pad",
                       "constant_pad_nd",
                       "index_copy",
                       "index_fill",
                       "slice_scatter",
                       "select_scatter",
                       "diagonal_scatter",
                       "as_strided_scatter",
                       "masked_select",
                       "embedding",
                       "full_like",
                       "zeros_like",
                       "ones_like",
                       "max_pool2d",
                       "max_pool1d",
                       "max_pool3d",
                       "aminmax",
                       "max_pool2d_with_indices",
                       "max_pool3d_with_indices",
                       "_unsafe_index",
                       "real",
                       "imag",
                       "conj",
                       "_conj",
                       "diag_embed",
                       "diag",
                       "block_diag",
                       "trunc",
                       "floor",
                       "ceil",
                       "positive",
                       "_to_copy",
                       "to",
                       "type_as",
                       "convert_element_type",
                       "unfold_copy",
                       "reflection_pad1d",
                       "reflection_pad2d",
                       "replication_pad1d",
                       "replication_pad2d",
                       "nan_to_num"};

/// On top of what gives integers or bools.
const Names discontinuousNames{"floor",
                               "ceil",
                               "round",
                               "trunc",
                               "frac",
                               "fix",
                               "fmod",
                               "remainder",
                               "floor_divide",
                               "sign",
                               "sgn",
                               "heaviside",
                               "threshold",
                               "hardshrink",
                               "eq",
                               "ne",
                               "lt",
                               "le",
                               "gt",
                               "ge",
                               "equal",
                               "logical_and",
                               "logical_or",
                               "logical_not",
                               "logical_xor",
                               "mode",
                               "histc",
                               "histogram",
                               "bernoulli",
                               "poisson",
                               "binomial",
                               "multinomial",
                               "copysign",
                               "signbit",
                               "nextafter",
                               "angle",
                               "atan2",
                               "arctan2",
                               "unique_dim",
                               "_unique",
                               "_unique2",
                               "bincount",
                               "linalg_eig",
                               "linalg_eigh",
                               "_linalg_eigh",
                               "linalg_svd",
                               "_linalg_svd",
                               "svd",
                               "linalg_qr",
                               "qr",
                               "geqrf",
                               "linalg_lu",
                               "lu_unpack",
                               "linalg_lu_factor",
                               "linalg_lu_factor_ex",
                               "_lu_with_info",
                               "linalg_ldl_factor",
                               "linalg_ldl_factor_ex",
                               "linalg_eigvals",
                               "_linalg_eigvals",
                               "linalg_pinv",
                               "pinverse",
                               "linalg_matrix_rank",
                               "linalg_lstsq",
                               "hash_tensor",
                               "xor_sum",
                               "sinc",
                               "polar",
                               "threshold_backward",
                               "hardshrink_backward",
                               "hardtanh_backward",
                               "hardswish_backward",
                               "hardsigmoid_backward",
                               "leaky_relu_backward",
                               "elu_backward",
                               "softshrink_backward",
                               "smooth_l1_loss_backward",
                               "huber_loss_backward",
                               "_prelu_kernel_backward",
                               "rrelu_with_noise_backward",
                               "max_pool2d_with_indices_backward",
                               "view",
                               "view_copy",
                               "rrelu_with_noise",
                               "rrelu",
                               "logical_and",
                               "not_equal",
                               "greater",
                               "greater_equal",
                               "less",
                               "less_equal",
                               "grid_sampler",
                               "grid_sampler_2d",
                               "grid_sampler_3d",
                               "_grid_sampler_2d_cpu_fallback",
                               "renorm",
                               "grid_sampler_2d_backward",
                               "grid_sampler_3d_backward",
                               "embedding_renorm",
                               "fractional_max_pool2d",
                               "margin_ranking_loss",
                               "pairwise_distance",
                               "cosine_embedding_loss",
                               "triplet_margin_loss",
                               "gcd",
                               "lcm",
                               "_amp_update_scale",
                               "linalg_inv",
                               "linalg_inv_ex",
                               "inverse",
                               "linalg_solve",
                               "linalg_solve_ex",
                               "_linalg_solve_ex",
                               "linalg_det",
                               "_linalg_det",
                               "det",
                               "logdet",
                               "slogdet",
                               "linalg_slogdet",
                               "_linalg_slogdet",
                               "special_zeta",
                               "polygamma",
                               "lgamma",
                               "mvlgamma",
                               "digamma",
                               "quantile",
                               "nanquantile",
                               "dist",
                               "frexp",
                               "ldexp"};

bool quantizes(std::string_view name) { return name.find("quant") != name.npos || name.find("qparams") != name.npos; }

}  // namespace

std::string plainName(const OpInfo& op) {
  std::string name = op.schema.name.substr(op.schema.name.find("::") + 2);
  if (name.starts_with("_foreach_")) name.erase(0, 9);
  if (name.starts_with("__") && name.ends_with("__")) return name;
  if (name.size() > 1 && name.back() == '_') name.pop_back();
  return name;
}

bool isExact(const OpInfo& op) { return has(op.traits, OpTrait::View) || exactNames.contains(plainName(op)); }

bool isDiscontinuous(const OpInfo& op) {
  const std::string name = plainName(op);
  const bool rounds = op.schema.overload.find("_mode") != std::string::npos;  // div with a rounding mode
  return discontinuousNames.contains(name) || quantizes(name) || rounds;
}

bool refusesComplex(const OpInfo& op) {
  const std::string name = plainName(op);
  return name == "sort" || name == "argsort" || name == "msort" || name == "topk";
}

std::string_view whyLeftOut(const OpInfo& op) {
  const std::string_view name = op.schema.name;
  if (name.starts_with("kerf::")) return "a planted fault";
  if (name.starts_with("math::") || name.starts_with("builtins::") || name.starts_with("operator::") ||
      name.starts_with("torch::") || name.starts_with("aten::sym_") || name.starts_with("aten::_functional_sym"))
    return "works on Python numbers, which the generator writes itself";
  if (name.starts_with("aten::empty") || name.starts_with("aten::new_empty") || name == "aten::resize_" ||
      name == "aten::resize_as_")
    return "the values are not defined";
  if (name.find("assert") != name.npos || name == "aten::_linalg_check_errors") return "gives no value";
  return {};
}

std::vector<const OpInfo*> generatedOps() {
  std::vector<const OpInfo*> result;
  for (const OpInfo& op : allOps())
    if (whyLeftOut(op).empty()) result.push_back(&op);
  return result;
}

}  // namespace kerf::fuzzgraph
