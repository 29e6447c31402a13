// The worker's side of a conversation: a thread reads requests, cancellations and wishes, this one answers.
#include "app/workbench/protocol/worker_loop.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <unistd.h>

#include "app/workbench/protocol/job_control.h"
#include "app/workbench/protocol/worker_messages.h"
#include "engine/process/channel.h"
#include "engine/process/codec.h"
#include "engine/process/log_relay.h"
#include "engine/process/temporary_folder.h"
#include "engine/support/out_of_memory.h"

namespace kerf::workbench {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto progressInterval = 50ms;
constexpr int exitAbandoned = 3;

/// Requests on their way from the thread that reads to the one that works.
class Inbox {
 public:
  struct Item {
    Frame frame;
    std::stop_source stop;
    std::shared_ptr<JobControl> control;
  };

  explicit Inbox(Channel& channel)
      : m_channel(channel), m_reader([this](const std::stop_token& stop) { listen(stop); }) {}

  /// Waits for the next request; nothing when the starter is gone.
  std::optional<Item> take() {
    std::unique_lock lock(m_mutex);
    m_wake.wait(lock, [&] { return m_closed || !m_items.empty(); });
    if (m_items.empty()) return std::nullopt;
    auto item = std::move(m_items.front());
    m_items.pop_front();
    return item;
  }

 private:
  /// A message that finds no memory ends the worker, as a starter that is gone does.
  void listen(const std::stop_token& stop) {
    const auto heard = withinMemory([&]() -> Result<void> {
      read(stop);
      return {};
    });
    if (!heard) leave();
  }
  void read(const std::stop_token& stop) {
    for (auto frame = next(); frame && !stop.stop_requested(); frame = next()) {
      const std::scoped_lock lock(m_mutex);
      if (!*frame) continue;
      if ((*frame)->kind == FrameKind::Cancel) m_newest.request_stop();
      if ((*frame)->kind == FrameKind::Control) pass((*frame)->body);
      if ((*frame)->kind != FrameKind::Request) continue;
      m_newest = std::stop_source();
      m_control = std::make_shared<JobControl>();
      m_items.push_back({std::move(**frame), m_newest, m_control});
      m_wake.notify_one();
    }
    if (!stop.stop_requested()) leave();
  }
  /// A wish that is no message, or for which there is no request, is left out.
  void pass(const std::string& body) const {
    const auto message = decode<ControlMessage>(body, "a wish to a request");
    if (message && m_control) m_control->send(*message);
  }
  Result<std::optional<Frame>> next() { return m_channel.receive(100ms); }

  /// Nobody listens any more: work that does not stop by itself is left, and its folders with it.
  void leave() {
    {
      const std::scoped_lock lock(m_mutex);
      m_closed = true;
      m_newest.request_stop();
      m_wake.notify_one();
    }
    std::this_thread::sleep_for(cancelPatience);
    (void)withinMemory([]() -> Result<void> {
      removeTemporaryFolders();
      return {};
    });
    ::_exit(exitAbandoned);
  }

  Channel& m_channel;
  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::deque<Item> m_items;
  std::stop_source m_newest;
  std::shared_ptr<JobControl> m_control;  ///< of the newest request
  bool m_closed = false;
  std::jthread m_reader;
};

/// Sends events; of progress only some.
class EventSender {
 public:
  explicit EventSender(Channel& channel) : m_channel(channel) {}
  void operator()(const JobEvent& event) {
    const auto now = Clock::now();
    if (std::holds_alternative<ProgressEvent>(event) && now - m_last < progressInterval) return;
    if (std::holds_alternative<ProgressEvent>(event)) m_last = now;
    (void)m_channel.send(FrameKind::Event, encode(event));
  }

 private:
  Channel& m_channel;
  Clock::time_point m_last{};
};

Result<std::string> answerTo(const Frame& frame, const CallAnswerer& answer, const Job& job) {
  KERF_TRY(const auto call, decode<WorkerCall>(frame.body, "a call of the worker"));
  if (!call.logLevels.empty()) applyLogLevels(call.logLevels);
  return answer(call, job);
}

}  // namespace

int answerCalls(int file, const std::string& version, const CallAnswerer& answer) {
  // Never destroyed, nor is the inbox: its thread may be waiting to end the process.
  auto& channel = *new Channel(file, largestCall);
  if (!channel.send(FrameKind::Hello, encode(WorkerHello{version}))) return 0;
  [[maybe_unused]] auto& relay = *new LogRelay(channel);
  auto& inbox = *new Inbox(channel);
  while (const auto item = inbox.take()) {
    const Job job{EventSender(channel), item->stop.get_token(), item->control};
    const auto result = withinMemory([&] { return answerTo(item->frame, answer, job); });
    const auto sent =
        result ? channel.send(FrameKind::Answer, *result) : channel.send(FrameKind::Failure, encode(result.error()));
    if (!sent) break;
  }
  return 0;
}

}  // namespace kerf::workbench
