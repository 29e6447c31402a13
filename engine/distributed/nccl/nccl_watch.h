// NcclWatch: what was given to NCCL and has not ended yet. A thread looks after it, and gives up what takes too long or
// what NCCL says has failed: then the device goes on, and the next call says why.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "engine/backend/cuda/devices.h"
#include "engine/distributed/nccl/nccl_library.h"

namespace kerf::inline distributed::inline nccl {

class NcclWatch {
 public:
  /// `mutex` is held by whoever calls NCCL for this rank.
  NcclWatch(CudaDriver& driver, const EventFunctions& events, const NcclFunctions& nccl,
            std::chrono::milliseconds timeout, std::mutex& mutex);
  ~NcclWatch();
  NcclWatch(const NcclWatch&) = delete;
  NcclWatch& operator=(const NcclWatch&) = delete;

  /// A communicator that ends with the others when one fails.
  void add(void* comm);
  /// It is about to be destroyed: nothing of it is pending, and it is not to be aborted any more.
  void remove(void* comm);
  /// What the stream got last is this collective. Its caller holds the mutex.
  Result<void> note(void* comm, std::string what);
  /// Until everything has ended, or something has failed.
  void wait();
  /// What failed ("all_reduce of … has not ended on the device within 30 s"); empty: nothing.
  std::string failure() const;
  /// Whether that is this rank's own failure, and no other rank's that it waited for.
  bool isOwnFailure() const;
  /// Ends all communicators of this rank: what waits in them on the device returns. Its caller holds the mutex. The first
  /// reason stays.
  void giveUp(std::string why, bool isOwn = false);

 private:
  using Clock = std::chrono::steady_clock;
  struct Pending {
    void* event;
    void* comm;
    std::string what;
    Clock::time_point end;
  };
  struct Trouble {
    std::string what;
    bool isOwn = false;
  };
  void look(const std::stop_token& stop);
  bool lookOnce();
  Trouble troubleOf(const Pending& pending) const;

  CudaDriver& m_driver;
  const EventFunctions m_eventFunctions;
  const NcclFunctions& m_nccl;
  const std::chrono::milliseconds m_timeout;
  std::mutex& m_calls;
  mutable std::mutex m_mutex;
  std::condition_variable_any m_changed;
  std::deque<Pending> m_pending;
  std::vector<void*> m_events, m_comms;  ///< events that are free again
  std::string m_failure;
  bool m_isOwnFailure = false;
  std::jthread m_thread;
};

}  // namespace kerf::inline distributed::inline nccl
