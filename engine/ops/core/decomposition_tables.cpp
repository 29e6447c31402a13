#include "engine/ops/core/decomposition_tables.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

namespace kerf::inline ops {
namespace {

using Names = std::span<const std::string_view>;

/// What PyTorch's dispatcher itself writes as other ops, though Kerf has kernels for it.
constexpr std::string_view implicitOps[] = {
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "chunk",    "log_sigmoid", "log_softmax.int",
    "narrow",              "positive",            "relu6",    "reshape",     "softmax.int",
    "square",              "max.other",           "min.other", "where.Scalar", "where.ScalarOther",
    "where.ScalarSelf",    "native_batch_norm",
};

/// torch._decomp.core_aten_decompositions(), without in-place forms: they are gone when graphs are decomposed.
constexpr std::string_view coreOps[] = {
    "addcdiv",
    "addcmul",
    "addr",
    "all",
    "aminmax",
    "arange.default",
    "arange.start",
    "baddbmm",
    "binary_cross_entropy",
    "binary_cross_entropy_backward",
    "binary_cross_entropy_with_logits",
    "celu",
    "clamp_max",
    "clamp_min",
    "col2im",
    "count_nonzero",
    "deg2rad",
    "detach",
    "diagonal_backward",
    "dot",
    "vdot",
    "elu",
    "elu_backward",
    "embedding_dense_backward",
    "empty_like",
    "_euclidean_dist",
    "eye",
    "fill",
    "floor_divide",
    "frac",
    "gelu_backward",
    "glu",
    "glu_backward",
    "hardshrink",
    "hardsigmoid",
    "hardsigmoid_backward",
    "hardswish",
    "hardswish_backward",
    "hardtanh_backward",
    "heaviside",
    "huber_loss",
    "huber_loss_backward",
    "im2col",
    "index_add",
    "index_copy",
    "index_fill",
    "isin",
    "isneginf",
    "isposinf",
    "leaky_relu_backward",
    "lerp",
    "lift_fresh_copy",
    "linspace",
    "logaddexp",
    "logaddexp2",
    "logit",
    "logit_backward",
    "log_sigmoid_backward",
    "log_sigmoid_forward",
    "_log_softmax_backward_data",
    "logspace",
    "logsumexp.default",
    "masked_fill",
    "mish",
    "mish_backward",
    "mse_loss",
    "mse_loss_backward",
    "multi_margin_loss",
    "multilabel_margin_loss_forward",
    "mv",
    "mvlgamma",
    "nansum",
    "nan_to_num",
    "native_batch_norm_backward",
    "native_group_norm_backward",
    "native_layer_norm_backward",
    "new_empty",
    "new_full",
    "new_ones",
    "new_zeros",
    "nll_loss2d_forward",
    "nll_loss_backward",
    "nll_loss_forward",
    "norm",
    "ones",
    "ones_like",
    "_prelu_kernel",
    "_prelu_kernel_backward",
    "rad2deg",
    "reflection_pad1d",
    "reflection_pad1d_backward",
    "reflection_pad2d",
    "reflection_pad2d_backward",
    "reflection_pad3d",
    "reflection_pad3d_backward",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "roll",
    "rrelu_with_noise_functional",
    "rsub",
    "_safe_softmax",
    "select_backward",
    "select_scatter",
    "sgn",
    "sigmoid_backward",
    "silu",
    "silu_backward",
    "sinc",
    "slice_backward",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "soft_margin_loss",
    "soft_margin_loss_backward",
    "_softmax_backward_data",
    "softplus",
    "softplus_backward",
    "softshrink",
    "special_entr",
    "special_log_ndtr",
    "special_xlog1py",
    "split.Tensor",
    "squeeze.default",
    "squeeze.dim",
    "stack",
    "std",
    "std_mean",
    "sum.default",
    "t",
    "take",
    "tanh_backward",
    "threshold",
    "threshold_backward",
    "transpose.int",
    "tril",
    "triu",
    "unbind",
    "unfold_backward",
    "_unsafe_index",
    "unsafe_split.Tensor",
    "unsafe_split_with_sizes",
    "_unsafe_view",
    "upsample_linear1d",
    "upsample_bilinear2d",
    "upsample_trilinear3d",
    "xlogy",
    "zero",
    "zeros",
    "zeros_like",
};

/// What Inductor's table has beside: by get_decompositions(), by its own functions, and for random numbers.
constexpr std::string_view inductorOps[] = {
    "addmv",
    "angle",
    "arange",
    "batch_norm_backward",
    "_batch_norm_no_update",
    "_batch_norm_with_update",
    "_batch_norm_with_update_functional",
    "fmax",
    "fmin",
    "gelu",
    "hardtanh",
    "index_select",
    "lcm",
    "leaky_relu",
    "lift",
    "linalg_vector_norm",
    "_log_softmax",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training",
    "native_group_norm",
    "native_layer_norm",
    "nll_loss2d_backward",
    "put",
    "round.decimals",
    "rrelu_with_noise_backward",
    "_softmax",
    "_to_copy",
    "tril_indices",
    "triu_indices",
    "cauchy",
    "exponential",
    "geometric",
    "log_normal",
    "native_dropout",
    "normal_functional",
    "uniform",
};

/// What of the core table, and of Kerf's programs, Inductor keeps.
constexpr std::string_view keptByInductor[] = {
    "_unsafe_index", "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate",
    "baddbmm",       "clamp_max",            "clamp_min",
    "glu",           "lift_fresh_copy",      "select_scatter",
    "split.Tensor",  "squeeze.default",      "squeeze.dim",
    "sum.default",   "unbind",
};

struct TableName {
  DecompositionTable table;
  std::string_view name;
};
constexpr TableName names[] = {
    {DecompositionTable::None, "none"}, {DecompositionTable::Core, "core"}, {DecompositionTable::Inductor, "inductor"}};

/// Whether a list has the op ("add") or the overload ("add.Tensor"), without its namespace.
class OpList {
 public:
  void add(Names names) { m_names.insert(names.begin(), names.end()); }
  bool has(const OpInfo& op) const {
    std::string name = op.schema.qualifiedName();
    if (!name.starts_with("aten.")) return false;
    name.erase(0, std::string_view("aten.").size());
    return m_names.contains(name) || m_names.contains(std::string_view(name).substr(0, name.find('.')));
  }

 private:
  std::unordered_set<std::string_view> m_names;
};

/// The programs that stand in for ops' own under a table.
const TableProgram* programFor(const OpInfo& op, DecompositionTable table) {
  const std::string overload = op.schema.name + "." + op.schema.overload;
  for (const TablePrograms programs : tableProgramTables())
    for (const TableProgram& program : programs)
      if (program.from <= table && (program.op == op.schema.name || program.op == overload)) return &program;
  return nullptr;
}

class Decisions {
 public:
  explicit Decisions(DecompositionTable table) {
    OpList replaced, kept;
    replaced.add(implicitOps);
    if (table >= DecompositionTable::Core) replaced.add(coreOps);
    if (table == DecompositionTable::Inductor) {
      replaced.add(inductorOps);
      kept.add(keptByInductor);
    }
    for (const OpInfo& op : allOps()) {
      Replacement by = !kept.has(op) && (isComposite(op) || replaced.has(op));
      if (const TableProgram* program = table == DecompositionTable::None ? nullptr : programFor(op, table))
        by = Replacement(program->program, program->applies);
      if (by.replaces) m_replaced.emplace(op.id, by);
    }
  }
  Replacement operator[](const OpInfo& op) const {
    const auto found = m_replaced.find(op.id);
    return found == m_replaced.end() ? Replacement(false) : found->second;
  }

 private:
  std::unordered_map<OpId, Replacement> m_replaced;
};

template <DecompositionTable table>
Replacement decide(const OpInfo& op) {
  static const Decisions decisions(table);
  return decisions[op];
}

}  // namespace

std::string_view decompositionTableName(DecompositionTable table) {
  return std::ranges::find(names, table, &TableName::table)->name;
}

std::optional<DecompositionTable> parseDecompositionTable(std::string_view text) {
  const auto* found = std::ranges::find(names, text, &TableName::name);
  if (found == std::end(names)) return {};
  return found->table;
}

Decomposes decomposesBy(DecompositionTable table) {
  static constexpr std::array decisions{decide<DecompositionTable::None>, decide<DecompositionTable::Core>,
                                        decide<DecompositionTable::Inductor>};
  return decisions[std::size_t(table)];
}

}  // namespace kerf::inline ops
