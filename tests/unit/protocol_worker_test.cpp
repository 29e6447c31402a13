// Both sides of the conversation with a worker, this program being the worker too: threads on both, cancelled,
// abandoned and interrupted.
#include <gmock/gmock.h>

#include <csignal>
#include <fstream>
#include <thread>

#include <unistd.h>

#include "app/workbench/protocol/job_control.h"
#include "app/workbench/protocol/remote_workbench.h"
#include "app/workbench/protocol/worker_loop.h"
#include "engine/process/codec.h"
#include "engine/support/log.h"
#include "tests/support/patience.h"

namespace kerf::workbench {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// What the worker of these tests does, by the name of the capture that it is asked to close.
Result<std::string> answer(const WorkerCall& call, const Job& job) {
  KERF_TRY(const auto request, decode<CloseRequest>(call.body, "the request"));
  if (request.capture == "fail") return fail(Error{ErrorCode::BadInput, "no", "there.py", 7});
  if (request.capture == "die") std::raise(SIGKILL);
  if (request.capture == "tell")
    for (int i = 0; i < 200; ++i) job.note(std::to_string(i));
  if (request.capture == "obey") {
    std::atomic<int> heard = 0;
    job.control->listen([&](const ControlMessage& wish) {
      job.note(fmt::format("{} {}", int(wish.wish), wish.step));
      ++heard;
    });
    while (heard < 3 && !job.stop.stop_requested()) std::this_thread::sleep_for(1ms);
    job.control->listen({});
  }
  if (request.capture == "deaf") std::this_thread::sleep_for(1h);
  while (request.capture == "wait" && !job.stop.stop_requested()) {
    (void)job.progress("waiting", 0.5);
    std::this_thread::sleep_for(1ms);
  }
  if (job.stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped");
  return encode(Done{});
}

/// "worker --fd 3" makes this program a worker, before it looks for tests.
const bool isWorker = [] {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  if (arguments.size() < 4 || arguments[1] != "worker") return false;
  ::_exit(answerCalls(std::stoi(arguments[3]), "test", answer));
}();

class ProtocolTest : public ::testing::Test {
 protected:
  RemoteWorkbench remote{std::filesystem::canonical("/proc/self/exe"), ""};
  Result<Done> ask(const std::string& name, const Job& job = {}) { return remote.perform(CloseRequest{name}, job); }
};

TEST_F(ProtocolTest, AnswersErrorsAndEventsArriveInOrder) {
  EXPECT_TRUE(ask("anything"));
  const auto failed = ask("fail");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::BadInput);
  EXPECT_EQ(failed.error().line, 7);
  std::vector<std::string> told;
  EXPECT_TRUE(ask("tell", {[&](const JobEvent& event) {
                    if (const auto* note = std::get_if<NoteEvent>(&event)) told.push_back(note->text);
                  }}));
  ASSERT_EQ(told.size(), 200u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(told[std::size_t(i)], std::to_string(i));
}

TEST_F(ProtocolTest, WishesReachTheJobInTheirOrderEvenIfTheyCameBefore) {
  using Wish = ControlMessage::Wish;
  const auto control = std::make_shared<JobControl>();
  std::vector<std::string> told;
  control->send({Wish::Pause});
  const auto hear = [&](const JobEvent& event) {
    const auto* note = std::get_if<NoteEvent>(&event);
    if (note == nullptr) return;
    told.push_back(note->text);
    if (told.size() == 1) control->send({Wish::Undo, 7});
    if (told.size() == 2) control->send({Wish::Resume});
  };
  ASSERT_TRUE(ask("obey", {hear, {}, control}));
  EXPECT_EQ(told, (std::vector<std::string>{"0 0", "2 7", "1 0"}));
  control->send({Wish::Pause});
  EXPECT_TRUE(ask("anything", {{}, {}, control})) << "a wish that nobody hears does no harm";
  EXPECT_TRUE(ask("anything"));
}

TEST_F(ProtocolTest, CancellingReachesTheJobAtAnyMoment) {
  for (int i = 0; i < 20; ++i) {
    std::stop_source stop;
    const std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(i));
      stop.request_stop();
    });
    const auto result = ask("wait", {{}, stop.get_token()});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::Cancelled);
  }
  EXPECT_TRUE(ask("anything")) << "the worker serves on";
}

TEST_F(ProtocolTest, SeveralThreadsAskOneWorker) {
  std::vector<std::jthread> threads;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 25; ++k) answered += ask(k % 5 == 0 ? "tell" : "anything") ? 1 : 0;
    });
  threads.clear();
  EXPECT_EQ(answered, 100);
}

TEST_F(ProtocolTest, ADeadWorkerIsAnErrorAndReplaced) {
  const auto died = ask("die");
  ASSERT_FALSE(died);
  EXPECT_EQ(died.error().code, ErrorCode::RuntimeFailed);
  EXPECT_THAT(died.error().message, HasSubstr("SIGKILL"));
  EXPECT_TRUE(ask("anything"));
}

TEST_F(ProtocolTest, AbandoningEndsADeafWorkerAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  std::jthread leaver([&] {
    while (!remote.alive()) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(100ms);
    remote.abandon();
  });
  const auto result = ask("deaf");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, test::patience);
}

TEST_F(ProtocolTest, HangingUpCancelsWhatIsUnderWayAndAllThatComes) {
  std::jthread leaver([&] {
    while (!remote.alive()) std::this_thread::sleep_for(1ms);
    remote.hangUp();
  });
  const auto result = ask("deaf");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Cancelled);
  EXPECT_FALSE(remote.alive()) << "it has ended, or was killed";
  const auto later = ask("anything");
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, ErrorCode::Cancelled);
  EXPECT_FALSE(remote.alive()) << "no other worker is started";
}

TEST_F(ProtocolTest, ADeafWorkerIsInterruptedAndThenKilled) {
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  const auto result = ask("deaf", {{}, stop.get_token()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Cancelled);
  EXPECT_TRUE(ask("anything"));
}

}  // namespace
}  // namespace kerf::workbench
