#include "engine/distributed/nccl/nccl_link.h"

#include <algorithm>
#include <cstring>

#include <fmt/chrono.h>

#include "engine/distributed/group/collectives.h"

namespace kerf::inline distributed::inline nccl {
namespace {

void* pointer(DeviceAddress address) { return reinterpret_cast<void*>(address); }

Result<Tensor> numbersTensor(const Sizes& numbers) {
  KERF_TRY(Tensor tensor, Tensor::zeros(DType::Int64, {std::int64_t(numbers.size())}));
  std::ranges::copy(numbers, tensor.data<std::int64_t>());
  return tensor;
}

}  // namespace

void NcclBatch::note(int status) {
  if (m_status == ncclDone && status != ncclStillGoing) m_status = status;
}
void NcclBatch::allReduce(DeviceAddress from, DeviceAddress to, std::int64_t count, const NcclReduction& how) {
  note(m_nccl.allReduce(pointer(from), pointer(to), std::size_t(count * how.perElement), how.type, how.op, m_comm,
                        m_stream));
}
void NcclBatch::reduceScatter(DeviceAddress from, DeviceAddress to, std::int64_t count, const NcclReduction& how) {
  note(m_nccl.reduceScatter(pointer(from), pointer(to), std::size_t(count * how.perElement), how.type, how.op, m_comm,
                            m_stream));
}
void NcclBatch::allGather(DeviceAddress from, DeviceAddress to, std::int64_t bytes) {
  note(m_nccl.allGather(pointer(from), pointer(to), std::size_t(bytes), ncclBytes, m_comm, m_stream));
}
void NcclBatch::broadcast(DeviceAddress from, DeviceAddress to, std::int64_t bytes, int source) {
  note(m_nccl.broadcast(pointer(from), pointer(to), std::size_t(bytes), ncclBytes, source, m_comm, m_stream));
}
void NcclBatch::send(DeviceAddress from, std::int64_t bytes, int to) {
  if (bytes > 0) note(m_nccl.send(pointer(from), std::size_t(bytes), ncclBytes, to, m_comm, m_stream));
}
void NcclBatch::receive(DeviceAddress to, std::int64_t bytes, int from) {
  if (bytes > 0) note(m_nccl.receive(pointer(to), std::size_t(bytes), ncclBytes, from, m_comm, m_stream));
}

Result<NcclDevice> NcclDevice::get() {
  KERF_TRY(const NcclFunctions* const nccl, installedNccl());
  KERF_TRY(const EventFunctions events, eventFunctions());
  KERF_TRY(CudaDriver* const driver, CudaDriver::get());
  return NcclDevice{*driver, events, *nccl};
}

NcclLink::NcclLink(Communicator& control, const NcclDevice& device, std::chrono::milliseconds timeout)
    : m_control(control),
      m_driver(device.driver),
      m_nccl(device.nccl),
      m_timeout(timeout),
      m_watch(device.driver, device.events, device.nccl, timeout, m_calls) {}

NcclLink::~NcclLink() {
  m_watch.wait();
  if (!m_watch.failure().empty()) return;  // the communicators have ended
  for (const auto& [key, comm] : m_comms) {
    int status = 0;
    {
      const std::scoped_lock lock(m_calls);
      status = m_nccl.finalize(comm);
    }
    if (!settle(status, comm, "the end of group " + key)) return;
    const std::scoped_lock lock(m_calls);
    m_watch.remove(comm);
    m_nccl.destroy(comm);
  }
}

Result<std::vector<Sizes>> NcclLink::meet(const Group& group, const CollectiveCall& call, const Sizes& mine) {
  if (!m_watch.failure().empty()) return failureError(group);
  KERF_TRY(const Tensor own, numbersTensor(mine));
  KERF_TRY(const std::vector<Tensor> all, m_control.gather(group, call, own));
  std::vector<Sizes> result;
  for (const Tensor& one : all) {
    const auto* const numbers = one.data<std::int64_t>();
    result.emplace_back(numbers, numbers + one.numel());
  }
  return result;
}

/// NCCL goes on with what it was asked until it has done it; what it cannot do in time ends with everything of this rank.
Result<void> NcclLink::settle(int status, void* comm, const std::string& what) {
  const auto end = std::chrono::steady_clock::now() + m_timeout;
  while (true) {
    if (!m_watch.failure().empty()) return failureError(m_last);
    {
      const std::scoped_lock lock(m_calls);
      if (!m_watch.failure().empty()) continue;
      if (status == ncclStillGoing && m_nccl.asyncError(comm, &status) != ncclDone) status = ncclStillGoing;
      if (status == ncclDone) return {};
      if (status != ncclStillGoing)
        m_watch.giveUp(fmt::format("{}: NCCL says \"{}\" ({})", what, m_nccl.errorText(status),
                                   comm != nullptr ? m_nccl.lastError(comm) : ""),
                       isOwnError(status));
      else if (std::chrono::steady_clock::now() > end)
        m_watch.giveUp(fmt::format("{}, which NCCL has not started within {}", what, m_timeout));
    }
    if (status == ncclStillGoing) std::this_thread::sleep_for(std::chrono::microseconds(5));
  }
}

Result<void*> NcclLink::makeCommunicator(const Group& group) {
  KERF_CHECK(m_driver.enter());
  const int index = group.indexOf(rank());
  NcclId id;
  if (index == 0 && m_nccl.uniqueId(&id) != ncclDone)
    return fail(ErrorCode::RuntimeFailed, "NCCL gives no id for group '{}' ({})", group.name,
                m_nccl.lastError(nullptr));
  KERF_TRY(const Tensor own, Tensor::zeros(DType::UInt8, {std::int64_t(sizeof id.bytes)}));
  std::memcpy(own.data<std::uint8_t>(), id.bytes, sizeof id.bytes);
  KERF_TRY(const auto all, m_control.gather(group, {"a new communicator of NCCL", ""}, own));
  std::memcpy(id.bytes, all[0].data<std::uint8_t>(), sizeof id.bytes);
  NcclConfig config;
  void* comm = nullptr;
  int status = 0;
  {
    const std::scoped_lock lock(m_calls);
    status = m_nccl.start(&comm, group.size(), id, index, &config);
    if (comm != nullptr) m_watch.add(comm);
  }
  m_last = group;
  KERF_CHECK(settle(status, comm, fmt::format("the start of group '{}'", group.name)));
  return comm;
}

Result<void*> NcclLink::communicatorOf(const Group& group) {
  const std::string key = keyOf(group);
  if (const auto found = m_comms.find(key); found != m_comms.end()) return found->second;
  KERF_TRY(void* const comm, makeCommunicator(group));
  m_comms.emplace(key, comm);
  return comm;
}

Result<void> NcclLink::issue(const Group& group, const CollectiveCall& call,
                             const std::function<void(NcclBatch&)>& work) {
  KERF_TRY(void* const comm, communicatorOf(group));
  m_last = group;
  const std::string what =
      fmt::format("{} (number {} of group '{}')", call.text(), m_numbers[keyOf(group)]++, group.name);
  int status = 0;
  {
    const std::scoped_lock lock(m_calls);
    if (m_watch.failure().empty()) {
      NcclBatch batch(m_nccl, comm, m_driver.stream());
      status = m_nccl.groupStart();
      work(batch);
      const int ended = m_nccl.groupEnd();
      if (status == ncclDone) status = batch.status() != ncclDone ? batch.status() : ended;
    }
  }
  KERF_CHECK(settle(status, comm, what));
  const std::scoped_lock lock(m_calls);
  return m_watch.note(comm, what);
}

Result<void> NcclLink::finish() {
  m_watch.wait();
  if (!m_watch.failure().empty()) return failureError(m_last);
  return m_driver.synchronize();
}

void NcclLink::abandon() {
  const std::scoped_lock lock(m_calls);
  m_watch.giveUp("this rank has failed");
}

/// What NCCL cannot tell, the other communicator can: who does not come any more. They meet in a group of another name:
/// the others may be in any collective of this one.
std::unexpected<Error> NcclLink::failureError(const Group& group) {
  if (m_failure.empty() && m_watch.isOwnFailure())
    m_failure = fmt::format("rank {} fails in {}", rank(), m_watch.failure());
  if (m_failure.empty()) {
    m_failure = fmt::format("rank {} waited in {}", rank(), m_watch.failure());
    const auto present = barrier(m_control, {group.name + " after a failure", group.ranks});
    m_failure += present ? fmt::format("; ranks {} of its group are all there", fmt::join(group.ranks, ", "))
                         : fmt::format("; {}", present.error().message);
  }
  return fail(ErrorCode::RuntimeFailed, "{}", m_failure);
}

}  // namespace kerf::inline distributed::inline nccl
