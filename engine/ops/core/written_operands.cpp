#include "engine/ops/core/written_operands.h"

#include <algorithm>

#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

/// Names without namespace. Some of them only warn.
constexpr std::string_view mayRepeat[] = {"zero_",
                                          "fill_",
                                          "fill_diagonal_",
                                          "masked_fill_",
                                          "resize_",
                                          "resize_as_",
                                          "squeeze_",
                                          "unsqueeze_",
                                          "t_",
                                          "transpose_",
                                          "swapaxes_",
                                          "swapdims_",
                                          "triu_",
                                          "tril_",
                                          "index_put_",
                                          "index_fill_",
                                          "masked_scatter_",
                                          "as_strided_",
                                          "detach_",
                                          "set_",
                                          "index_copy_",
                                          "native_batch_norm",
                                          "batch_norm",
                                          "_native_batch_norm_legit",
                                          "_batch_norm_with_update",
                                          "embedding_renorm_",
                                          "_index_put_impl_"};

bool isWritten(const SchemaArgument& argument) { return argument.alias.find('!') != std::string::npos; }

bool repeats(const Tensor& tensor) {
  for (std::int64_t d = 0; d < tensor.dim(); ++d)
    if (guardOrFalse(tensor.symStride(d) == 0) && guardOrFalse(tensor.symSize(d) > 1)) return true;
  return false;
}

}  // namespace

bool mustNotRepeat(const OpInfo& op) {
  if (!op.schema.name.starts_with("aten::")) return false;
  const std::string_view name = std::string_view(op.schema.name).substr(6);
  const bool exempt = name.starts_with("_foreach_") || name.starts_with("_fused_") || name.starts_with("_amp_") ||
                      std::ranges::find(mayRepeat, name) != std::end(mayRepeat);
  return !exempt && std::ranges::any_of(op.schema.arguments, isWritten);
}

Result<void> checkWritten(const BoundArguments& args) {
  const auto& arguments = args.op->schema.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const Tensor* tensor = isWritten(arguments[i]) ? args.tensorIf(i) : nullptr; tensor && repeats(*tensor))
      return mismatch(args, "'{}' is written to, but several of its elements share memory; clone it first",
                      arguments[i].name);
  return {};
}

}  // namespace kerf::inline ops
