#include "engine/distributed/group/list_kernels.h"

#include <algorithm>
#include <numeric>

#include "engine/distributed/group/collectives.h"

namespace kerf::inline distributed::inline group {
namespace {

using TensorLists = std::vector<std::vector<Tensor>>;

std::vector<Tensor> tensorsIn(const Value& list) {
  std::vector<Tensor> tensors;
  for (const Value& item : list.isList() ? list.list() : ValueList())
    if (item.isTensor()) tensors.push_back(item.tensor());
  return tensors;
}

/// Argument `i` as lists of tensors.
TensorLists listsAt(const RankCall& call, std::size_t i) {
  TensorLists lists;
  const Value& value = call.args.values[i];
  for (const Value& item : value.isList() ? value.list() : ValueList()) lists.push_back(tensorsIn(item));
  return lists;
}

std::size_t members(const RankCall& call) { return std::size_t(call.group.size()); }
std::size_t ownIndex(const RankCall& call) { return std::size_t(call.group.indexOf(call.ranks.rank())); }

Result<void> checkMembers(const RankCall& call, std::size_t tensors, const char* what) {
  if (tensors == members(call)) return {};
  return mismatch(call.args, "a list of {} {} in a group of {} ranks", tensors, what, members(call));
}

/// What every member has for a place of the lists, by member.
Result<std::vector<Tensor>> fromAll(const RankCall& call, const char* name, const Tensor& own) {
  return call.ranks.gather(call.group, {name, std::string(dtypeInfo(own.dtype()).torchName)}, own);
}

/// Each input goes to all: output i of its list comes from member i.
Result<void> allGatherLists(const RankCall& call) {
  const TensorLists outputs = listsAt(call, 0);
  const std::vector<Tensor> inputs = call.args.tensors(1);
  if (outputs.size() != inputs.size())
    return mismatch(call.args, "{} lists to write into for {} tensors", outputs.size(), inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    KERF_CHECK(checkMembers(call, outputs[k].size(), "tensors to write into"));
    KERF_TRY(const std::vector<Tensor> all, fromAll(call, "allgather_", inputs[k]));
    for (std::size_t i = 0; i < all.size(); ++i) KERF_CHECK(writeInto(outputs[k][i], all[i]));
  }
  return {};
}

/// The same with the outputs' lists by member.
Result<void> allGatherCoalesced(const RankCall& call) {
  const TensorLists outputs = listsAt(call, 0);
  const std::vector<Tensor> inputs = call.args.tensors(1);
  KERF_CHECK(checkMembers(call, outputs.size(), "lists to write into"));
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    KERF_TRY(const std::vector<Tensor> all, fromAll(call, "allgather_coalesced_", inputs[k]));
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (outputs[i].size() != inputs.size())
        return mismatch(call.args, "{} tensors of rank {} to write into for {}", outputs[i].size(), i, inputs.size());
      KERF_CHECK(writeInto(outputs[i][k], all[i]));
    }
  }
  return {};
}

/// Input i of all members reduced is member i's.
Result<void> reduceScatterLists(const RankCall& call) {
  const std::vector<Tensor> outputs = call.args.tensors(0);
  const TensorLists inputs = listsAt(call, 1);
  if (outputs.size() != inputs.size())
    return mismatch(call.args, "{} tensors to write into for {} lists", outputs.size(), inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    KERF_CHECK(checkMembers(call, inputs[k].size(), "tensors"));
    for (std::size_t i = 0; i < inputs[k].size(); ++i) {
      KERF_TRY(const Tensor reduced, allReduce(call.ranks, call.group, inputs[k][i], call.reduction()));
      if (i == ownIndex(call)) KERF_CHECK(writeInto(outputs[k], reduced));
    }
  }
  return {};
}

/// What all members have, at one of them.
Result<void> gatherLists(const RankCall& call) {
  const std::vector<Tensor> inputs = call.args.tensors(1);
  const TensorLists outputs = listsAt(call, 0);
  const bool isRoot = int(ownIndex(call)) == call.source(call.group);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    KERF_TRY(const std::vector<Tensor> all, fromAll(call, "gather_", inputs[k]));
    if (!isRoot) continue;
    KERF_CHECK(checkMembers(call, k < outputs.size() ? outputs[k].size() : 0, "tensors to write into"));
    for (std::size_t i = 0; i < all.size(); ++i) KERF_CHECK(writeInto(outputs[k][i], all[i]));
  }
  return {};
}

/// Member i gets tensor i of one member.
Result<void> scatterLists(const RankCall& call) {
  const std::vector<Tensor> outputs = call.args.tensors(0);
  const TensorLists inputs = listsAt(call, 1);
  const int root = call.source(call.group);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const bool isRoot = int(ownIndex(call)) == root;
    if (isRoot) KERF_CHECK(checkMembers(call, k < inputs.size() ? inputs[k].size() : 0, "tensors"));
    for (std::size_t i = 0; i < members(call); ++i) {
      KERF_TRY(const Tensor one, broadcast(call.ranks, call.group, isRoot ? inputs[k][i] : outputs[k], root));
      if (i == ownIndex(call)) KERF_CHECK(writeInto(outputs[k], one));
    }
  }
  return {};
}

/// The elements of all tensors, one behind the other.
Result<Tensor> flattened(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> rows;
  for (const Tensor& tensor : tensors) {
    KERF_TRY(Tensor row, callTensorOp("aten.reshape.default"_op, {tensor, intList(Sizes{tensor.numel()})}));
    rows.push_back(std::move(row));
  }
  return callTensorOp("aten.cat.default"_op, {tensorList(std::move(rows)), std::int64_t{0}});
}

Sizes elementsOf(const std::vector<Tensor>& tensors) {
  Sizes elements;
  for (const Tensor& tensor : tensors) elements.push_back(tensor.numel());
  return elements;
}

/// Tensor i goes to member i.
Result<void> exchangeLists(const RankCall& call) {
  const std::vector<Tensor> outputs = call.args.tensors(0), inputs = call.args.tensors(1);
  KERF_CHECK(checkMembers(call, inputs.size(), "tensors"));
  KERF_CHECK(checkMembers(call, outputs.size(), "tensors to write into"));
  KERF_TRY(const Tensor sent, flattened(inputs));
  const Sizes come = elementsOf(outputs);
  KERF_TRY(const Tensor got, allToAll(call.ranks, call.group, sent, come, elementsOf(inputs)));
  std::int64_t at = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    KERF_TRY(const Tensor part, callTensorOp("aten.slice.Tensor"_op, {got, std::int64_t{0}, at, at + come[i]}));
    KERF_CHECK(writeInto(outputs[i], part));
    at += come[i];
  }
  return {};
}

struct ListKernelRow {
  std::string_view name;
  ListKernel run;
};
constexpr ListKernelRow listKernels[] = {{"allgather_", allGatherLists},
                                         {"allgather_coalesced_", allGatherCoalesced},
                                         {"reduce_scatter_", reduceScatterLists},
                                         {"gather_", gatherLists},
                                         {"scatter_", scatterLists},
                                         {"alltoall_", exchangeLists}};

}  // namespace

Result<void> writeInto(const Tensor& to, const Tensor& from) {
  if (to.numel() != from.numel())
    return fail(ErrorCode::ShapeMismatch, "a collective gave {} for a tensor of {}", describe(from), describe(to));
  KERF_TRY(const Tensor shaped, callTensorOp("aten.reshape.default"_op, {from, intList(to.sizes())}));
  KERF_CHECK(callOp("aten.copy_.default"_op, {to, shaped}));
  return {};
}

ListKernel findListKernel(std::string_view name) {
  const auto* found = std::ranges::find(listKernels, name, &ListKernelRow::name);
  return found == std::end(listKernels) ? nullptr : found->run;
}

}  // namespace kerf::inline distributed::inline group
