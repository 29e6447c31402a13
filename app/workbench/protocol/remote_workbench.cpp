#include "app/workbench/protocol/remote_workbench.h"

#include <csignal>

#include "app/workbench/protocol/job_control.h"
#include "app/workbench/protocol/worker_messages.h"
#include "app/workbench/protocol/worker_process.h"
#include "engine/process/codec.h"
#include "engine/process/log_relay.h"

namespace kerf::workbench {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Makes a stopped job end: first by asking, then by SIGINT, then by SIGKILL.
class Cancelling {
 public:
  explicit Cancelling(WorkerProcess& worker) : m_worker(worker) {}
  void press() {
    if (m_stage < std::size(stages) && Clock::now() >= m_next) {
      stages[m_stage++](m_worker);
      m_next = Clock::now() + cancelPatience;
    }
  }

 private:
  using Stage = void (*)(WorkerProcess&);
  static constexpr Stage stages[] = {
      [](WorkerProcess& worker) { (void)worker.channel().send(FrameKind::Cancel, {}); },
      [](WorkerProcess& worker) { worker.signal(SIGINT); },
      [](WorkerProcess& worker) { worker.signal(SIGKILL); },
  };
  WorkerProcess& m_worker;
  std::size_t m_stage = 0;
  Clock::time_point m_next{};
};

}  // namespace

RemoteWorkbench::RemoteWorkbench(std::filesystem::path program, std::string store)
    : m_program(std::move(program)), m_store(std::move(store)) {}

RemoteWorkbench::~RemoteWorkbench() = default;

void RemoteWorkbench::abandon() {
  m_abandoned = true;
  const std::scoped_lock lock(m_ending);
  if (m_reachable != nullptr) m_reachable->signal(SIGKILL);
}

void RemoteWorkbench::hangUp() {
  m_hungUp = true;
  const std::scoped_lock lock(m_ending);
  if (m_reachable != nullptr) m_reachable->hangUp();
}

bool RemoteWorkbench::alive() const {
  const std::scoped_lock lock(m_ending);
  return m_reachable != nullptr;
}

/// From now on others may end this worker, even before it has greeted.
void RemoteWorkbench::reach(WorkerProcess* worker) {
  const std::scoped_lock lock(m_ending);
  m_reachable = worker;
  if (m_hungUp && worker != nullptr) worker->hangUp();
}

bool RemoteWorkbench::rest() {
  const std::unique_lock idle(m_asking, std::try_to_lock);
  if (!idle) return false;
  release();
  return true;
}

void RemoteWorkbench::release() {
  reach(nullptr);
  m_worker.reset();
}

/// Sees to it that there is a worker. One that died between two requests is replaced without a word.
Result<void> RemoteWorkbench::wake() {
  if (m_worker && !m_worker->channel().receive(0ms)) release();
  if (m_worker) return {};
  m_abandoned = false;
  KERF_TRY(m_worker, WorkerProcess::launch(m_program, m_store));
  reach(m_worker.get());
  const auto greeted = m_worker->greet();
  if (greeted) return {};
  reach(nullptr);
  auto error = m_hungUp ? greeted.error() : m_worker->withEnd(greeted.error());
  release();
  return fail(std::move(error));
}

/// Ends a worker that cannot be talked to any more, and says why the request failed.
Error RemoteWorkbench::dismiss(std::string_view name, const Error& why) {
  const bool died = m_worker->channel().isClosed();
  reach(nullptr);
  if (m_hungUp) {
    release();
    return {ErrorCode::Cancelled, "stopped"};
  }
  if (!died) m_worker->signal(SIGKILL);
  const auto how = m_worker->end();
  release();
  if (m_abandoned) return {ErrorCode::Cancelled, "stopped"};
  if (!died) return why;
  return {ErrorCode::RuntimeFailed,
          fmt::format("the worker process ended ({}) in the middle of the request \"{}\"; nothing else is lost", how,
                      name)};
}

/// Passes events on until the worker has answered; the outer error is that of a conversation that went wrong.
Result<Result<std::string>> RemoteWorkbench::converse(const Job& job) {
  Cancelling cancelling(*m_worker);
  for (;;) {
    if (job.stop.stop_requested()) cancelling.press();
    while (const auto wish = job.control ? job.control->take() : std::nullopt)
      (void)m_worker->channel().send(FrameKind::Control, encode(*wish));
    KERF_TRY(auto frame, m_worker->channel().receive(20ms));
    if (!frame) continue;
    if (frame->kind == FrameKind::Answer) return std::move(frame->body);
    if (frame->kind == FrameKind::Failure) {
      KERF_TRY(auto error, decode<Error>(frame->body, "an error of the worker"));
      return Result<std::string>(std::unexpected(std::move(error)));
    }
    if (frame->kind == FrameKind::Log) {
      relayLog(*frame);
      continue;
    }
    if (frame->kind != FrameKind::Event) return fail(ErrorCode::Internal, "the worker sent an unexpected message");
    KERF_TRY(auto event, decode<JobEvent>(frame->body, "an event of the worker"));
    job.tell(std::move(event));
  }
}

Result<std::string> RemoteWorkbench::ask(std::string_view name, const std::string& body, const Job& job) {
  const std::scoped_lock lock(m_asking);
  if (job.stop.stop_requested() || m_hungUp) return fail(ErrorCode::Cancelled, "stopped");
  if (auto awake = wake(); !awake) {
    if (m_abandoned || m_hungUp) return fail(ErrorCode::Cancelled, "stopped");
    return fail(awake.error());
  }
  const auto sent =
      m_worker->channel().send(FrameKind::Request, encode(WorkerCall{std::string(name), body, wantedLogLevels()}));
  auto answer = sent ? converse(job) : Result<Result<std::string>>(std::unexpected(sent.error()));
  if (answer) return std::move(*answer);
  auto death = dismiss(name, answer.error());
  if (job.stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped");
  return fail(std::move(death));
}

template <class Request>
Result<typename Request::Answer> RemoteWorkbench::perform(const Request& request, const Job& job) {
  KERF_TRY(const auto answer, ask(Request::name, encode(request), job));
  return decode<typename Request::Answer>(answer, fmt::format("the answer to \"{}\"", Request::name));
}

#define KERF_REMOTE_PERFORM(Type) \
  template Result<Type::Answer> RemoteWorkbench::perform(const Type& request, const Job& job);
KERF_REQUESTS(KERF_REMOTE_PERFORM)
#undef KERF_REMOTE_PERFORM

}  // namespace kerf::workbench
