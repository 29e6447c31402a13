#include "engine/distributed/modules/parallel_styles.h"

#include <algorithm>

namespace kerf::inline distributed::inline modules {
namespace {

using Kind = ParallelStyle::Kind;

struct NamedStyle {
  std::string_view name;
  Kind kind;
};
constexpr NamedStyle styles[] = {
    {"ColwiseParallel", Kind::Colwise},          {"RowwiseParallel", Kind::Rowwise},
    {"SequenceParallel", Kind::Sequence},        {"PrepareModuleInput", Kind::ModuleInput},
    {"PrepareModuleOutput", Kind::ModuleOutput}, {"PrepareModuleInputOutput", Kind::ModuleInputOutput},
};

/// One module's style over one dimension of the mesh.
struct Applied {
  const DTensorOps* ops;
  std::size_t meshDim;

  Placements placed(const Placement& placement) const {
    Placements result(ops->mesh().dims());
    result[meshDim] = placement;
    return result;
  }
  Result<Tensor> moved(const Tensor& tensor, const Placement& to) const {
    KERF_TRY(const Placements asked, normalized(placed(to), tensor.dim()));
    if (ops->specOf(tensor)->placements == asked) return tensor;
    return ops->redistribute(tensor, asked);
  }
  /// An ordinary tensor as a distributed one, then placed as the module wants it.
  Result<Value> prepared(const Value& value, const std::optional<Placement>& given,
                         const std::optional<Placement>& wanted, bool toLocal) const {
    if (!value.isTensor()) return value;
    Tensor tensor = value.tensor();
    if (ops->specOf(tensor) == nullptr) {
      if (!given) return value;
      KERF_TRY(const Placements asked, normalized(placed(*given), tensor.dim()));
      KERF_TRY(tensor, ops->wrapped(tensor, asked));
    }
    if (wanted) {
      KERF_TRY(tensor, moved(tensor, *wanted));
    }
    return Value(toLocal ? ops->unwrapped(tensor) : tensor);
  }
};

bool hasWeights(Kind kind) { return kind == Kind::Colwise || kind == Kind::Rowwise; }

/// Where a style shards the weight or the bias of a layer.
Placement parameterPlacement(Kind kind, bool isEmbedding, bool isBias) {
  if (kind == Kind::Colwise) return Placement::shard(isEmbedding ? 1 : 0);
  if (kind == Kind::Rowwise && !isBias) return Placement::shard(isEmbedding ? 0 : 1);
  return Placement::replicate();
}

}  // namespace

Result<Kind> parallelStyleNamed(std::string_view name) {
  const auto* found = std::ranges::find(styles, name, &NamedStyle::name);
  if (found == std::end(styles)) return fail(ErrorCode::NotFound, "there is no parallel style '{}'", name);
  return found->kind;
}

Result<void> parallelize(ModuleRun& run, const std::string& path, const ParallelStyle& style, std::size_t meshDim) {
  const Applied applied{&run.ops(), meshDim};
  const bool isEmbedding = run.embeddings.contains(path);
  ModulePartition how;
  if (hasWeights(style.kind) || style.kind == Kind::Sequence)
    how.partition = [&](const std::string& name) -> std::optional<Placements> {
      return applied.placed(parameterPlacement(style.kind, isEmbedding, name.ends_with("bias")));
    };
  std::optional<Placement> desired = style.desiredInput;
  if (!desired && style.kind == Kind::Rowwise && !isEmbedding) desired = Placement::shard(-1);
  if (!desired && (style.kind == Kind::Colwise || isEmbedding)) desired = Placement::replicate();
  if (!desired && style.kind == Kind::Sequence) desired = style.input;
  if (style.kind != Kind::ModuleOutput)
    how.input = [applied, style, desired](const Value& value) {
      return applied.prepared(value, style.input, desired, style.takesLocal);
    };
  if (style.kind != Kind::ModuleInput)
    how.output = [applied, style](const Value& value) {
      const bool isOfModule = style.kind == Kind::ModuleOutput || style.kind == Kind::ModuleInputOutput;
      return applied.prepared(value, isOfModule ? style.output : std::nullopt,
                              isOfModule ? style.desiredOutput : style.output, style.givesLocal);
    };
  if (how.partition) return distributeModule(run, path, how);
  if (how.input) run.before(path, how.input);
  if (how.output) run.after(path, how.output);
  return {};
}

}  // namespace kerf::inline distributed::inline modules
