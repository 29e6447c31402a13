// Collectives between ranks on the device: given to the thread's link.
#include <algorithm>
#include <utility>

#include "engine/backend/cuda/device_link.h"

namespace kerf::inline backend {
namespace {

thread_local DeviceRankLink* ownDeviceLink = nullptr;

Result<bool> overRanksOnDevice(const DeviceCall& call) {
  DeviceRankLink* const link = DeviceRankLink::current();
  if (link == nullptr) return false;
  return link->collective(call);
}

constexpr DeviceOp collectiveRows[] = {
    {.op = "_c10d_functional.all_reduce.default", .run = overRanksOnDevice},
    {.op = "_c10d_functional.all_reduce_.default", .run = overRanksOnDevice, .inPlace = true},
    {.op = "_c10d_functional.all_reduce_coalesced.default", .run = overRanksOnDevice},
    {.op = "_c10d_functional.all_reduce_coalesced_.default", .run = overRanksOnDevice, .inPlace = true},
    {.op = "_c10d_functional.all_gather_into_tensor.default", .run = overRanksOnDevice},
    {.op = "_c10d_functional.all_gather_into_tensor_coalesced.default", .run = overRanksOnDevice},
    {.op = "_c10d_functional.reduce_scatter_tensor.default", .run = overRanksOnDevice},
    {.op = "_c10d_functional.reduce_scatter_tensor_coalesced.default", .run = overRanksOnDevice},
    {.op = "_c10d_functional.all_to_all_single.default", .run = overRanksOnDevice},
    {.op = "_c10d_functional.broadcast.default", .run = overRanksOnDevice},
    {.op = "_c10d_functional.broadcast_.default", .run = overRanksOnDevice, .inPlace = true},
    {.op = "_c10d_functional.wait_tensor.default", .run = overRanksOnDevice},
};

}  // namespace

DeviceRankLink* DeviceRankLink::current() { return ownDeviceLink; }

DeviceRankLink::Scope::Scope(DeviceRankLink& link) : m_before(std::exchange(ownDeviceLink, &link)) {}
DeviceRankLink::Scope::~Scope() { ownDeviceLink = m_before; }

bool isDeviceCollective(std::string_view op) {
  return std::ranges::find(collectiveRows, op, &DeviceOp::op) != std::end(collectiveRows);
}

std::span<const DeviceOp> collectiveDeviceOps() { return collectiveRows; }

}  // namespace kerf::inline backend
