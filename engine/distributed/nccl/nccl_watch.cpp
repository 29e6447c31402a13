#include "engine/distributed/nccl/nccl_watch.h"

#include <utility>

#include <fmt/chrono.h>

namespace kerf::inline distributed::inline nccl {
namespace {

constexpr int cudaNotReady = 600;      // CUDA_ERROR_NOT_READY
constexpr unsigned withoutTiming = 2;  // CU_EVENT_DISABLE_TIMING
constexpr std::chrono::microseconds pause{200};

}  // namespace

NcclWatch::NcclWatch(CudaDriver& driver, const EventFunctions& events, const NcclFunctions& nccl,
                     std::chrono::milliseconds timeout, std::mutex& mutex)
    : m_driver(driver), m_eventFunctions(events), m_nccl(nccl), m_timeout(timeout), m_calls(mutex) {
  m_thread = std::jthread([this](const std::stop_token& stop) { look(stop); });
}

NcclWatch::~NcclWatch() {
  m_thread.request_stop();
  m_thread.join();
  for (const Pending& pending : m_pending) m_eventFunctions.destroy(pending.event);
  for (void* const event : m_events) m_eventFunctions.destroy(event);
}

void NcclWatch::add(void* comm) {
  const std::scoped_lock lock(m_mutex);
  m_comms.push_back(comm);
}

void NcclWatch::remove(void* comm) {
  const std::scoped_lock lock(m_mutex);
  std::erase(m_comms, comm);
}

Result<void> NcclWatch::note(void* comm, std::string what) {
  const std::scoped_lock lock(m_mutex);
  void* event = nullptr;
  if (m_events.empty()) {
    KERF_CHECK(m_driver.check(m_driver.functions().eventCreate(&event, withoutTiming), "watching a collective"));
  } else {
    event = m_events.back();
    m_events.pop_back();
  }
  KERF_CHECK(m_driver.check(m_driver.functions().eventRecord(event, m_driver.stream()), "watching a collective"));
  m_pending.push_back({event, comm, std::move(what), Clock::now() + m_timeout});
  m_changed.notify_all();
  return {};
}

void NcclWatch::wait() {
  std::unique_lock lock(m_mutex);
  m_changed.wait(lock, [&] { return m_pending.empty() || !m_failure.empty(); });
}

std::string NcclWatch::failure() const {
  const std::scoped_lock lock(m_mutex);
  return m_failure;
}

bool NcclWatch::isOwnFailure() const {
  const std::scoped_lock lock(m_mutex);
  return m_isOwnFailure;
}

void NcclWatch::giveUp(std::string why, bool isOwn) {
  const std::scoped_lock lock(m_mutex);
  if (m_failure.empty()) {
    m_failure = std::move(why);
    m_isOwnFailure = isOwn;
  }
  for (void* const comm : std::exchange(m_comms, {})) m_nccl.abort(comm);
  m_changed.notify_all();
}

void NcclWatch::look(const std::stop_token& stop) {
  (void)m_driver.enter();
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(m_mutex);
      if (!m_changed.wait(lock, stop, [&] { return !m_pending.empty() && m_failure.empty(); })) return;
    }
    if (!lookOnce()) std::this_thread::sleep_for(pause);
  }
}

/// Whether the first one has ended. They end in their order: one stream has them all.
bool NcclWatch::lookOnce() {
  const std::scoped_lock calls(m_calls);
  Pending first;
  {
    const std::scoped_lock lock(m_mutex);
    if (m_pending.empty()) return true;
    first = m_pending.front();
  }
  const int state = m_eventFunctions.query(first.event);
  Trouble trouble;
  if (state == 0 || state == cudaNotReady)
    trouble = troubleOf(first);
  else
    trouble = {fmt::format("{}: {}", first.what, m_driver.check(state, "CUDA").error().message), true};
  if (!trouble.what.empty()) {
    giveUp(std::move(trouble.what), trouble.isOwn);
    return true;
  }
  if (state == cudaNotReady) {
    if (Clock::now() > first.end)
      giveUp(fmt::format("{}, which has not ended on the device within {}", first.what, m_timeout));
    return false;
  }
  const std::scoped_lock lock(m_mutex);
  m_events.push_back(first.event);
  m_pending.pop_front();
  m_changed.notify_all();
  return true;
}

NcclWatch::Trouble NcclWatch::troubleOf(const Pending& pending) const {
  int status = ncclDone;
  if (m_nccl.asyncError(pending.comm, &status) != ncclDone)
    return {fmt::format("{}: NCCL does not answer", pending.what), true};
  if (status == ncclDone || status == ncclStillGoing) return {};
  return {fmt::format("{}: NCCL says \"{}\"", pending.what, m_nccl.errorText(status)), isOwnError(status)};
}

}  // namespace kerf::inline distributed::inline nccl
