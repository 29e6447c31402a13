// NcclLink: one rank's way to the others over NCCL, on device memory. The ranks meet on another communicator first, which
// has NCCL's id too: so a mismatch or a missing rank is told before the device waits for it.
#pragma once

#include <map>

#include "engine/distributed/group/communicator.h"
#include "engine/distributed/nccl/nccl_watch.h"

namespace kerf::inline distributed::inline nccl {

/// NCCL's calls on one communicator between group start and end, on the device's stream. Counts are in elements of the
/// type, addresses in device memory.
class NcclBatch {
 public:
  NcclBatch(const NcclFunctions& nccl, void* comm, void* stream) : m_nccl(nccl), m_comm(comm), m_stream(stream) {}

  void allReduce(DeviceAddress from, DeviceAddress to, std::int64_t count, const NcclReduction& how);
  /// `count`: of what this rank gets.
  void reduceScatter(DeviceAddress from, DeviceAddress to, std::int64_t count, const NcclReduction& how);
  void allGather(DeviceAddress from, DeviceAddress to, std::int64_t bytes);
  void broadcast(DeviceAddress from, DeviceAddress to, std::int64_t bytes, int source);
  void send(DeviceAddress from, std::int64_t bytes, int to);
  void receive(DeviceAddress to, std::int64_t bytes, int from);
  /// Of the first call that failed; ncclDone: none.
  int status() const { return m_status; }

 private:
  void note(int status);
  const NcclFunctions& m_nccl;
  void* m_comm;
  void* m_stream;
  int m_status = ncclDone;
};

/// A device, and what is used of its machine.
struct NcclDevice {
  CudaDriver& driver;
  EventFunctions events;
  const NcclFunctions& nccl;

  /// That of the thread (DeviceChoice). Environment where the machine lacks a device or NCCL.
  static Result<NcclDevice> get();
};

class NcclLink {
 public:
  NcclLink(Communicator& control, const NcclDevice& device,
           std::chrono::milliseconds timeout = std::chrono::seconds(30));
  ~NcclLink();
  NcclLink(const NcclLink&) = delete;
  NcclLink& operator=(const NcclLink&) = delete;

  int rank() const { return m_control.rank(); }
  Communicator& control() const { return m_control; }
  CudaDriver& driver() const { return m_driver; }

  /// All members are here and call the same: what each brings, by group rank. The errors of Communicator::gather.
  Result<std::vector<Sizes>> meet(const Group& group, const CollectiveCall& call, const Sizes& mine);
  /// Gives NCCL the calls of `work`, as one group; they have a place on the stream when it returns. Members have met before.
  /// RuntimeFailed naming rank, collective and who is missing where NCCL fails or an earlier collective has failed.
  Result<void> issue(const Group& group, const CollectiveCall& call, const std::function<void(NcclBatch&)>& work);
  /// Until all collectives have ended on the device. RuntimeFailed as above.
  Result<void> finish();
  /// This rank has failed elsewhere: what others wait for in NCCL will not come.
  void abandon();

 private:
  Result<void*> communicatorOf(const Group& group);
  Result<void*> makeCommunicator(const Group& group);
  Result<void> settle(int status, void* comm, const std::string& what);
  std::unexpected<Error> failureError(const Group& group);
  static std::string keyOf(const Group& group) { return fmt::format("{}:{}", group.name, fmt::join(group.ranks, ",")); }

  Communicator& m_control;
  CudaDriver& m_driver;
  const NcclFunctions& m_nccl;
  const std::chrono::milliseconds m_timeout;
  std::mutex m_calls;  ///< of NCCL, by this rank
  NcclWatch m_watch;
  std::map<std::string, void*> m_comms;
  std::map<std::string, std::int64_t> m_numbers;  ///< collectives of each group so far
  Group m_last = worldGroup(1);                   ///< whose collective came last
  std::string m_failure;                          ///< as it was told
};

}  // namespace kerf::inline distributed::inline nccl
