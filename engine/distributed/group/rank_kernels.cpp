#include "engine/distributed/group/rank_kernels.h"

#include <algorithm>
#include <optional>

#include "engine/distributed/group/collectives.h"
#include "engine/distributed/group/list_kernels.h"

namespace kerf::inline distributed::inline group {
namespace {

using OnTensor = Result<Tensor> (*)(const RankCall&, const Tensor&);

Result<Tensor> reduced(const RankCall& call, const Tensor& tensor) {
  return allReduce(call.ranks, call.group, tensor, call.reduction());
}
Result<Tensor> gatheredRows(const RankCall& call, const Tensor& tensor) {
  return allGather(call.ranks, call.group, tensor);
}
/// Every rank gets as many rows, as the op's shape says. Uneven parts are DTensor's, which calls reduceScatter itself.
Result<Tensor> scatteredRows(const RankCall& call, const Tensor& tensor) {
  if (tensor.dim() == 0 || tensor.size(0) % call.group.size() != 0)
    return mismatch(call.args, "{} cannot be scattered evenly among the {} ranks of its group along dimension 0",
                    describe(tensor), call.group.size());
  return reduceScatter(call.ranks, call.group, tensor, call.reduction());
}
Result<Tensor> sentFrom(const RankCall& call, const Tensor& tensor) {
  return broadcast(call.ranks, call.group, tensor, call.source(call.group));
}
Result<Tensor> exchanged(const RankCall& call, const Tensor& tensor) {
  return allToAll(call.ranks, call.group, tensor, call.sizes("output_split_sizes"), call.sizes("input_split_sizes"));
}
Result<Tensor> reshardedDims(const RankCall& call, const Tensor& tensor) {
  return exchangeShards(call.ranks, call.group, tensor, call.integer("gather_dim"), call.integer("shard_dim"));
}
Result<Tensor> same(const RankCall&, const Tensor& tensor) { return tensor.clone(); }
Result<Tensor> reducedAtRoot(const RankCall& call, const Tensor& tensor) {
  KERF_TRY(Tensor all, reduced(call, tensor));
  const bool isRoot = call.group.indexOf(call.ranks.rank()) == int(call.integer("root_rank"));
  return isRoot ? Result<Tensor>(std::move(all)) : tensor.clone();
}
Result<Tensor> met(const RankCall& call, const Tensor& tensor) {
  KERF_CHECK(barrier(call.ranks, call.group));
  return tensor;
}
Result<Tensor> sentTo(const RankCall& call, const Tensor& tensor) {
  KERF_CHECK(call.ranks.send(call.group, int(call.integer("dst")), int(call.integer("tag")), tensor));
  return tensor;
}
Result<Tensor> received(const RankCall& call, const Tensor&) {
  return call.ranks.receive(call.group, int(call.integer("src")), int(call.integer("tag")));
}

/// What happens to what a collective gives.
enum class Into : std::uint8_t {
  Result,  ///< it is the result: of a list, one for each
  Input,   ///< it is written into the input, which is the result
  Output,  ///< it is written into the argument before the input
  Out,     ///< it is written into the last argument, which is the result
};

struct RankKernel {
  std::string_view name;
  OnTensor run;
  Into into = Into::Result;
};

constexpr RankKernel kernels[] = {
    {"all_reduce", reduced},
    {"all_reduce_", reduced, Into::Input},
    {"all_reduce_coalesced", reduced},
    {"all_reduce_coalesced_", reduced, Into::Input},
    {"all_gather_into_tensor", gatheredRows},
    {"all_gather_into_tensor_coalesced", gatheredRows},
    {"all_gather_into_tensor_out", gatheredRows, Into::Out},
    {"reduce_scatter_tensor", scatteredRows},
    {"reduce_scatter_tensor_coalesced", scatteredRows},
    {"reduce_scatter_tensor_out", scatteredRows, Into::Out},
    {"all_to_all_single", exchanged},
    {"broadcast", sentFrom},
    {"broadcast_", sentFrom, Into::Input},
    {"wait_tensor", same},
    {"shard_dim_alltoall", reshardedDims},
    {"allreduce_", reduced, Into::Input},
    {"allreduce_coalesced_", reduced, Into::Input},
    {"reduce_", reducedAtRoot, Into::Input},
    {"_allgather_base_", gatheredRows, Into::Output},
    {"allgather_into_tensor_coalesced_", gatheredRows, Into::Output},
    {"_reduce_scatter_base_", scatteredRows, Into::Output},
    {"reduce_scatter_tensor_coalesced_", scatteredRows, Into::Output},
    {"alltoall_base_", exchanged, Into::Output},
    {"barrier", met, Into::Input},
    {"monitored_barrier_", met, Into::Input},
    {"send", sentTo, Into::Input},
    {"recv_", received, Into::Input},
};

/// The op's result where it writes: the tensors and the Work, the tensor alone, or the Work alone.
Value written(const BoundArguments& args, std::size_t argument) {
  const auto& returns = args.op->schema.returns;
  if (returns.size() > 1) return Value(ValueList{args.values[argument], Value()});
  const bool givesTensor = !returns.empty() && returns[0].find("Tensor") != std::string::npos;
  return givesTensor ? args.values[argument] : Value();
}

Result<Value> run(const RankKernel& kernel, const RankCall& call) {
  const BoundArguments& args = call.args;
  const std::size_t input = kernel.into == Into::Output ? 1 : 0;
  const std::size_t target = kernel.into == Into::Out ? args.values.size() - 1 : 0;
  std::vector<Tensor> results;
  for (const Tensor& tensor : tensorsAt(args, input)) {
    KERF_TRY(Tensor result, kernel.run(call, tensor));
    results.push_back(std::move(result));
  }
  if (kernel.into == Into::Result)
    return args.values[0].isTensor() ? Value(std::move(results[0])) : tensorList(std::move(results));
  const std::vector<Tensor> targets = tensorsAt(args, target);
  if (targets.size() != results.size())
    return mismatch(args, "{} tensors to write into for {} results", targets.size(), results.size());
  for (std::size_t i = 0; i < results.size(); ++i) KERF_CHECK(writeInto(targets[i], results[i]));
  return written(args, target);
}

}  // namespace

std::optional<std::size_t> CollectiveArguments::find(std::string_view name) const {
  const auto& arguments = args.op->schema.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == name) return i;
  return std::nullopt;
}

std::string CollectiveArguments::reduction() const {
  for (const char* name : {"reduce_op", "reduceOp"}) {
    const auto at = find(name);
    const std::string* text = at ? args.values[*at].as<std::string>() : nullptr;
    if (text == nullptr) continue;
    std::string lower = *text;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    for (const char* op : {"avg", "product", "prod", "min", "max", "band", "bor", "bxor", "sum"})
      if (lower.find(op) != std::string::npos) return op;
    return lower;
  }
  return "sum";
}

/// Graphs name the rank of the world.
int CollectiveArguments::source(const Group& group) const {
  const int named = int(integer(find("src") ? "src" : "root_rank"));
  const int index = group.indexOf(named);
  return index < 0 ? named : index;
}

std::vector<Tensor> tensorsAt(const BoundArguments& args, std::size_t i) {
  return args.values[i].isTensor() ? std::vector<Tensor>{args.tensor(i)} : args.tensors(i);
}

RankKernels::RankKernels(Communicator& ranks, std::vector<Group> groups) : m_ranks(ranks) {
  m_groups.emplace("0", worldGroup(ranks.worldSize()));
  for (Group& group : groups) setGroup(std::move(group));
}

void RankKernels::setGroup(Group group) {
  const std::string name = group.name;
  m_groups.insert_or_assign(name, std::move(group));
}

Result<Group> RankKernels::groupOf(const BoundArguments& args) const {
  const CollectiveArguments call{args};
  for (const char* key : {"group_name", "process_group", "tag"}) {
    const auto at = call.find(key);
    const std::string* name = at ? args.values[*at].as<std::string>() : nullptr;
    if (name == nullptr || name->empty()) continue;
    const auto found = m_groups.find(*name);
    if (found != m_groups.end()) return found->second;
    if (std::string_view(key) == "group_name")
      return fail(ErrorCode::NotFound, "{}: rank {} knows no process group '{}'", args.opName(), m_ranks.rank(), *name);
  }
  if (const auto at = call.find("ranks"); at && !args.sizes(*at).empty()) {
    Group group{"ranks", {}};
    for (const std::int64_t rank : args.sizes(*at)) group.ranks.push_back(int(rank));
    return group;
  }
  return worldGroup(m_ranks.worldSize());
}

Result<Value> RankKernels::collective(const BoundArguments& args) {
  std::string_view name = args.op->schema.name;
  name.remove_prefix(name.rfind(':') + 1);
  const ListKernel lists = findListKernel(name);
  const auto* kernel = std::ranges::find(kernels, name, &RankKernel::name);
  if (lists == nullptr && kernel == std::end(kernels))
    return fail(ErrorCode::UnsupportedOp, "{} is not run between simulated ranks", args.opName());
  KERF_TRY(const Group group, groupOf(args));
  if (lists != nullptr) {
    KERF_CHECK(lists({{args}, m_ranks, group}));
    return written(args, 0);
  }
  return run(*kernel, {{args}, m_ranks, group});
}

}  // namespace kerf::inline distributed::inline group
