#include "engine/distributed/nccl/nccl_kernels.h"

#include <algorithm>

#include "engine/distributed/group/collectives.h"
#include "engine/distributed/group/rank_kernels.h"

namespace kerf::inline distributed::inline nccl {
namespace {

/// A tensor of a call: where its elements lie one behind the other while NCCL works on them.
struct DensePlace {
  Tensor tensor;
  DeviceAddress address = 0;
  bool isCopy = false;

  std::int64_t bytes() const { return tensor.byteSize(); }
};

Sizes denseStrides(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (std::size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * std::max<std::int64_t>(1, sizes[d]);
  return strides;
}

Result<DensePlace> densePlace(const DeviceCall& call, const Tensor& tensor, bool isResult) {
  KERF_TRY(const DeviceAddress address, call.on.addressOf(tensor, isResult));
  if (tensor.isContiguous()) return DensePlace{tensor, address};
  KERF_TRY(const DeviceAddress copy, call.on.scratch.take(tensor.byteSize()));
  if (!isResult)
    KERF_CHECK(call.on.library.copy(tensor.sizes(), copy, denseStrides(tensor.sizes()), address, tensor.strides(),
                                    itemSize(tensor.dtype())));
  return DensePlace{tensor, copy, true};
}

/// What a collective works on: inputs and results by number.
struct DeviceCollective {
  const DeviceCall& call;
  CollectiveArguments args;
  const Group& group;
  int me;
  std::vector<Tensor> inputs, results;
  std::vector<DensePlace> from, to;
};

std::vector<Tensor> resultTensors(const DeviceCall& call) {
  std::vector<Tensor> all;
  for (const Value& out : call.outs) {
    if (out.isTensor()) all.push_back(out.tensor());
    if (out.isList())
      for (const Value& item : out.list())
        if (item.isTensor()) all.push_back(item.tensor());
  }
  return all;
}

/// None of it is given to the device before all members have met.
struct NcclKernel {
  std::string_view name;
  /// What tensor i of the call must agree on with the others; none where NCCL does not take it.
  std::optional<CollectiveCall> (*meeting)(const DeviceCollective& work, const Tensor& input, const Tensor& result);
  void (*give)(const DeviceCollective& work, std::size_t i, NcclBatch& batch);
};

std::optional<CollectiveCall> reduceMeeting(const DeviceCollective& work, const Tensor& input, const Tensor&) {
  const std::string op = work.args.reduction();
  if (!ncclReduction(input.dtype(), op)) return std::nullopt;
  return allReduceCall(input, op);
}
void giveReduce(const DeviceCollective& work, std::size_t i, NcclBatch& batch) {
  const auto how = ncclReduction(work.from[i].tensor.dtype(), work.args.reduction());
  batch.allReduce(work.from[i].address, work.to[i].address, work.from[i].tensor.numel(), *how);
}

std::optional<CollectiveCall> gatherMeeting(const DeviceCollective& work, const Tensor& input, const Tensor& result) {
  if (result.byteSize() != input.byteSize() * work.group.size()) return std::nullopt;
  return allGatherCall(input, 0);
}
void giveGather(const DeviceCollective& work, std::size_t i, NcclBatch& batch) {
  batch.allGather(work.from[i].address, work.to[i].address, work.from[i].bytes());
}

std::optional<CollectiveCall> scatterMeeting(const DeviceCollective& work, const Tensor& input, const Tensor& result) {
  const std::string op = work.args.reduction();
  if (!ncclReduction(input.dtype(), op) || result.byteSize() * work.group.size() != input.byteSize())
    return std::nullopt;
  return reduceScatterCall(input, op);
}
void giveScatter(const DeviceCollective& work, std::size_t i, NcclBatch& batch) {
  const auto how = ncclReduction(work.from[i].tensor.dtype(), work.args.reduction());
  batch.reduceScatter(work.from[i].address, work.to[i].address, work.to[i].tensor.numel(), *how);
}

std::optional<CollectiveCall> broadcastMeeting(const DeviceCollective& work, const Tensor& input, const Tensor&) {
  const int source = work.args.source(work.group);
  if (source < 0 || source >= work.group.size()) return std::nullopt;
  return broadcastCall(input, source);
}
void giveBroadcast(const DeviceCollective& work, std::size_t i, NcclBatch& batch) {
  batch.broadcast(work.from[i].address, work.to[i].address, work.from[i].bytes(), work.args.source(work.group));
}

/// Rows that member i gets, or that come from it: those that the call names, equal parts else.
Sizes rowsOf(const DeviceCollective& work, std::string_view name, const Tensor& tensor) {
  Sizes rows = work.args.sizes(name);
  if (rows.empty()) rows.assign(std::size_t(work.group.size()), tensor.size(0) / work.group.size());
  return rows;
}

std::optional<CollectiveCall> exchangeMeeting(const DeviceCollective& work, const Tensor& input, const Tensor& result) {
  if (input.dim() == 0) return std::nullopt;
  for (const auto& [name, tensor] : {std::pair{"input_split_sizes", &input}, {"output_split_sizes", &result}}) {
    std::int64_t all = 0;
    const Sizes rows = rowsOf(work, name, *tensor);
    for (const std::int64_t count : rows) {
      if (count < 0) return std::nullopt;
      all += count;
    }
    if (rows.size() != std::size_t(work.group.size()) || all != tensor->size(0)) return std::nullopt;
  }
  return allToAllCall(input);
}
void giveExchange(const DeviceCollective& work, std::size_t i, NcclBatch& batch) {
  const DensePlace &from = work.from[i], &to = work.to[i];
  const Sizes sent = rowsOf(work, "input_split_sizes", from.tensor);
  const Sizes got = rowsOf(work, "output_split_sizes", to.tensor);
  const std::int64_t rowBytes = from.tensor.size(0) > 0 ? from.bytes() / from.tensor.size(0)
                                : to.tensor.size(0) > 0 ? to.bytes() / to.tensor.size(0)
                                                        : 0;
  std::int64_t sentAt = 0, gotAt = 0;
  for (std::size_t member = 0; member < sent.size(); ++member) {
    batch.send(from.address + std::uint64_t(sentAt), sent[member] * rowBytes, int(member));
    batch.receive(to.address + std::uint64_t(gotAt), got[member] * rowBytes, int(member));
    sentAt += sent[member] * rowBytes, gotAt += got[member] * rowBytes;
  }
}

constexpr NcclKernel ncclKernels[] = {
    {"all_reduce", reduceMeeting, giveReduce},
    {"all_reduce_", reduceMeeting, giveReduce},
    {"all_reduce_coalesced", reduceMeeting, giveReduce},
    {"all_reduce_coalesced_", reduceMeeting, giveReduce},
    {"all_gather_into_tensor", gatherMeeting, giveGather},
    {"all_gather_into_tensor_coalesced", gatherMeeting, giveGather},
    {"reduce_scatter_tensor", scatterMeeting, giveScatter},
    {"reduce_scatter_tensor_coalesced", scatterMeeting, giveScatter},
    {"all_to_all_single", exchangeMeeting, giveExchange},
    {"broadcast", broadcastMeeting, giveBroadcast},
    {"broadcast_", broadcastMeeting, giveBroadcast},
};

/// All tensors of a coalesced call meet at once, in the words of each.
std::optional<CollectiveCall> meetingOf(const NcclKernel& kernel, const DeviceCollective& work) {
  std::optional<CollectiveCall> all;
  for (std::size_t i = 0; i < work.inputs.size(); ++i) {
    const auto one = kernel.meeting(work, work.inputs[i], work.results[i]);
    if (!one) return std::nullopt;
    if (!all)
      all = one;
    else
      all->detail += "; " + one->detail;
  }
  return all;
}

/// What came is what each member said that it sends.
Result<void> checkExchange(const DeviceCollective& work, const std::vector<Sizes>& sent, int rank) {
  const Sizes expected = rowsOf(work, "output_split_sizes", work.results[0]);
  for (std::size_t i = 0; i < sent.size(); ++i)
    if (const std::int64_t theirs = sent[i][std::size_t(work.me)]; theirs != expected[i])
      return fail(ErrorCode::BadInput, "all_to_all: rank {} expects {} rows of rank {}, which sends {}", rank,
                  expected[i], work.group.ranks[i], theirs);
  return {};
}

Result<void> writeBack(const DeviceCall& call, const DensePlace& place) {
  if (!place.isCopy) return {};
  KERF_TRY(const DeviceAddress address, call.on.addressOf(place.tensor, true));
  const Tensor& tensor = place.tensor;
  return call.on.library.copy(tensor.sizes(), address, tensor.strides(), place.address, denseStrides(tensor.sizes()),
                              itemSize(tensor.dtype()));
}

/// The stream has it in its place: later steps come after it.
Result<bool> waited(const DeviceCall& call) {
  const Tensor& from = call.args.tensor(0);
  KERF_TRY(const DeviceAddress target, call.on.addressOf(call.out(0), true));
  KERF_TRY(const DeviceAddress source, call.on.addressOf(from));
  KERF_CHECK(call.on.library.copy(from.sizes(), target, call.out(0).strides(), source, from.strides(),
                                  itemSize(from.dtype())));
  return true;
}

Result<bool> giveAll(NcclLink& link, const NcclKernel& kernel, DeviceCollective& work) {
  const auto call = meetingOf(kernel, work);
  if (!call) return false;
  const bool exchanges = kernel.give == giveExchange;
  Sizes said;
  if (exchanges) said = rowsOf(work, "input_split_sizes", work.inputs[0]);
  for (const Tensor& input : exchanges ? std::vector<Tensor>() : work.inputs) said.push_back(input.numel());
  KERF_TRY(const std::vector<Sizes> all, link.meet(work.group, *call, said));
  if (exchanges) KERF_CHECK(checkExchange(work, all, link.rank()));
  for (std::size_t i = 0; !exchanges && i < all.size(); ++i)
    if (all[i] != said)
      return fail(ErrorCode::BadInput, "{}: rank {} brings {} elements, rank {} {}", call->name, link.rank(),
                  fmt::join(said, ", "), work.group.ranks[i], fmt::join(all[i], ", "));
  for (std::size_t i = 0; i < work.inputs.size(); ++i) {
    KERF_TRY(DensePlace from, densePlace(work.call, work.inputs[i], false));
    KERF_TRY(DensePlace to, densePlace(work.call, work.results[i], true));
    work.from.push_back(std::move(from));
    work.to.push_back(std::move(to));
  }
  KERF_CHECK(link.issue(work.group, *call, [&](NcclBatch& batch) {
    for (std::size_t i = 0; i < work.inputs.size(); ++i)
      if (work.from[i].bytes() + work.to[i].bytes() > 0) kernel.give(work, i, batch);
  }));
  for (const DensePlace& place : work.to) KERF_CHECK(writeBack(work.call, place));
  return true;
}

}  // namespace

Result<bool> NcclKernels::collective(const DeviceCall& call) {
  std::string_view name = call.args.op->schema.name;
  name.remove_prefix(name.rfind(':') + 1);
  if (name == "wait_tensor") return waited(call);
  KERF_TRY(const bool taken, take(call, name));
  ++(taken ? m_onDevice : m_overHost);
  return taken;
}

/// What is not taken goes over the host.
Result<bool> NcclKernels::take(const DeviceCall& call, std::string_view name) {
  const auto* const kernel = std::ranges::find(ncclKernels, name, &NcclKernel::name);
  const auto* const kernels = dynamic_cast<const RankKernels*>(RankLink::current());
  if (kernel == std::end(ncclKernels) || kernels == nullptr) return false;
  KERF_TRY(const Group group, kernels->groupOf(call.args));
  const int me = group.indexOf(m_link.rank());
  DeviceCollective work{call, {call.args}, group, me, tensorsAt(call.args, 0), resultTensors(call), {}, {}};
  if (me < 0 || work.inputs.empty() || work.inputs.size() != work.results.size()) return false;
  return giveAll(m_link, *kernel, work);
}

}  // namespace kerf::inline distributed::inline nccl
