#include "engine/ops/core/written_operands.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/ops/core/shared_memory.h"
#include "engine/ops/core/strides.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

/// Copies that stand for views, as long as they live.
class StandIns {
 public:
  static StandIns& all() {
    static StandIns standIns;
    return standIns;
  }
  void add(const StoragePtr& memory) {
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_memories, [](const std::weak_ptr<Storage>& known) { return known.expired(); });
    m_memories.push_back(memory);
    m_isEmpty = false;
  }
  bool has(const StoragePtr& memory) {
    if (m_isEmpty) return false;
    const std::lock_guard lock(m_mutex);
    return std::ranges::any_of(m_memories, [&](const auto& known) { return known.lock() == memory; });
  }

 private:
  std::mutex m_mutex;
  std::vector<std::weak_ptr<Storage>> m_memories;
  std::atomic<bool> m_isEmpty = true;  ///< none was ever added
};

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

/// Pointwise ops that read a number of their own, or flags, and ldexp_, which multiplies by a power that it makes first.
constexpr std::string_view readElsewhere[] = {"fill_", "masked_fill_", "ldexp_"};

/// Ops that read in an order of their own what they write.
constexpr std::string_view readsApart[] = {"index_add_",    "index_copy_",      "index_fill_", "index_put_",
                                           "index_reduce_", "_index_put_impl_", "put_",        "scatter_",
                                           "scatter_add_",  "scatter_reduce_"};

std::string_view withoutNamespace(const OpInfo& op) {
  const std::string_view name = op.schema.name;
  return name.starts_with("aten::") ? name.substr(6) : std::string_view();
}

bool isWritten(const SchemaArgument& argument) { return argument.alias.find('!') != std::string::npos; }

bool repeats(const Tensor& tensor) {
  for (std::int64_t d = 0; d < tensor.dim(); ++d)
    if (guardOrFalse(tensor.symStride(d) == 0) && guardOrFalse(tensor.symSize(d) > 1)) return true;
  return false;
}

template <class Visit>
Result<void> forTensors(const Value& value, const Visit& visit) {
  if (value.isTensor()) return visit(value.tensor());
  if (!value.isList()) return {};
  for (const Value& item : value.list()) KERF_CHECK(forTensors(item, visit));
  return {};
}

/// index_put_ of one number where a mask is set is masked_fill_.
bool fillsByMask(const BoundArguments& args) {
  const std::string_view name = withoutNamespace(*args.op);
  if (name != "index_put_" && name != "_index_put_impl_") return false;
  const Tensor* value = args.tensorIf(2);
  if (value == nullptr || args.boolean(3) || !guardOrFalse(value->symNumel() == 1)) return false;
  const auto isMask = [](const Value& index) {
    return index.isTensor() && (index.tensor().dtype() == DType::Bool || index.tensor().dtype() == DType::UInt8);
  };
  const ValueList& indices = args.values[1].list();
  return std::ranges::count_if(indices, [](const Value& index) { return index.isTensor(); }) == 1 &&
         std::ranges::any_of(indices, isMask);
}

/// Sizes that a written tensor cannot take: that is said by whoever broadcasts, in one backend as in another.
bool doesNotBroadcast(const Tensor& read, const Tensor& written) {
  const std::int64_t more = written.dim() - read.dim();
  if (more < 0) return true;
  for (std::int64_t d = 0; d < read.dim(); ++d)
    if (guardOrFalse(read.symSize(d) != 1) && guardOrFalse(read.symSize(d) != written.symSize(d + more))) return true;
  return false;
}

/// PyTorch looks no further at two views with holes, though they be the same elements.
bool hasHoles(const Tensor& tensor) { return !isNonOverlappingAndDense(tensor); }

Result<void> checkRead(const BoundArguments& args, std::size_t written, std::size_t read, const Tensor& tensor,
                       ReadOfWritten allowed) {
  if (allowed == ReadOfWritten::Whole && doesNotBroadcast(tensor, args.tensor(written))) return {};
  const Overlap overlap = overlapOf(args.tensor(written), tensor);
  if (overlap == Overlap::None || overlap == Overlap::Unknown) return {};
  if (overlap == Overlap::Full && (allowed == ReadOfWritten::Whole || hasHoles(tensor))) return {};
  return mismatch(args, "'{}' is written to, but elements of '{}' lie in its memory; clone it first",
                  args.op->schema.arguments[written].name, args.op->schema.arguments[read].name);
}

}  // namespace

ReadOfWritten readOfWritten(const OpInfo& op) {
  const std::string_view name = withoutNamespace(op);
  if (std::ranges::find(readsApart, name) != std::end(readsApart)) return ReadOfWritten::None;
  if (name == "copy_") return ReadOfWritten::Whole;
  const OpInfo* base = findOp(op.base);
  const bool isPointwise = base != nullptr && has(base->traits, OpTrait::Pointwise);
  if (!isPointwise || std::ranges::find(readElsewhere, name) != std::end(readElsewhere)) return ReadOfWritten::Any;
  return writesArguments(op) ? ReadOfWritten::Whole : ReadOfWritten::Any;
}

Result<void> checkReadOfWritten(const BoundArguments& args, ReadOfWritten allowed, const OpCaller& ops) {
  if (allowed == ReadOfWritten::Any) return {};
  const auto& arguments = args.op->schema.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!isWritten(arguments[i]) || args.tensorIf(i) == nullptr) continue;
    for (std::size_t j = 0; j < arguments.size(); ++j) {
      if (j == i) continue;
      KERF_CHECK(forTensors(args.values[j], [&](const Tensor& tensor) -> Result<void> {
        if (!shareMemory(args.tensor(i), tensor, ops) || fillsByMask(args)) return {};
        return checkRead(args, i, j, tensor, allowed);
      }));
    }
  }
  return {};
}

bool mustNotRepeat(const OpInfo& op) {
  if (!op.schema.name.starts_with("aten::")) return false;
  const std::string_view name = std::string_view(op.schema.name).substr(6);
  const bool exempt = name.starts_with("_foreach_") || name.starts_with("_fused_") || name.starts_with("_amp_") ||
                      std::ranges::find(mayRepeat, name) != std::end(mayRepeat);
  return !exempt && writesArguments(op);
}

void refuseWrites(const StoragePtr& memory) { StandIns::all().add(memory); }

bool writesArguments(const OpInfo& op) { return std::ranges::any_of(op.schema.arguments, isWritten); }

Result<void> checkReachesMemory(const BoundArguments& args) {
  const auto& arguments = args.op->schema.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!isWritten(arguments[i])) continue;
    KERF_CHECK(forTensors(args.values[i], [&](const Tensor& tensor) -> Result<void> {
      if (!tensor.defined() || !StandIns::all().has(tensor.storage())) return {};
      return mismatch(args,
                      "'{}' is written to, but it is a view as torch.bool of other bytes than 0 and 1; clone it first",
                      arguments[i].name);
    }));
  }
  return {};
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
