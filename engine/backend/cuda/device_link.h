// DeviceRankLink: how collectives of a graph reach the other ranks from the device, where this thread is one of several.
#pragma once

#include <span>

#include "engine/backend/cuda/device_ops.h"

namespace kerf::inline backend {

class DeviceRankLink {
 public:
  virtual ~DeviceRankLink() = default;
  /// Gives one collective to the device. False for what goes over the host, and nothing has been given then.
  virtual Result<bool> collective(const DeviceCall& call) = 0;

  /// The calling thread's; null where it has none.
  static DeviceRankLink* current();

  /// Makes a link the thread's own for a scope.
  class Scope {
   public:
    explicit Scope(DeviceRankLink& link);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    DeviceRankLink* m_before;
  };
};

/// Rows of calls in which other ranks take part.
std::span<const DeviceOp> collectiveDeviceOps();

/// Whether other ranks take part in it: such a call is in no CUDA graph.
bool isDeviceCollective(std::string_view op);

}  // namespace kerf::inline backend
