// Workers: what they answer, how they are cancelled, and what is left when one of both sides dies.
#include <csignal>

#include <sys/wait.h>

#include "app/workbench/protocol/job_control.h"
#include "tests/support/workbench_fixture.h"

namespace kerf::workbench {
namespace {

using ::testing::HasSubstr;

class WorkerTest : public WorkbenchTest {
 protected:
  void SetUp() override {
    WorkbenchTest::SetUp();
    m_remote = std::make_unique<RemoteWorkbench>(kerf, store());
  }
  void TearDown() override {
    m_remote.reset();
    WorkbenchTest::TearDown();
  }
  RemoteWorkbench& remote() { return *m_remote; }
  /// A minification that takes a while: each candidate costs a fifth of a second.
  MinifyRequest slowRequest() const {
    MinifyRequest request{{sample}};
    request.oracle.oracle = "command";
    request.oracle.check = "sleep 0.2; ! grep -q aten.relu {}";
    request.oracle.timeout = test::patience;
    request.jobs = 1;
    request.place = MinifyRequest::ReproPlace::Store;
    return request;
  }
  std::unique_ptr<RemoteWorkbench> m_remote;
};

TEST_F(WorkerTest, AnswersOneRequestAfterTheOther) {
  const auto opened = remote().perform(OpenRequest{sample});
  ASSERT_TRUE(opened) << opened.error().text();
  ASSERT_EQ(opened->size(), 1u);
  EXPECT_EQ((*opened)[0].kind, "repro");
  ASSERT_EQ((*opened)[0].graphs.size(), 1u);
  EXPECT_EQ((*opened)[0].graphs[0].nodes, 94);
  const auto graph = remote().perform(GraphRequest{{sample, 0}});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ((*graph)->nodes.size(), 94u);
  EXPECT_EQ((*graph)->nodes[std::size_t((*graph)->find("relu"))].value, "f32[16, 32]");
  const auto compiled = remote().perform(CompileRequest{{sample, 0}});
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_EQ((*compiled)->error, "");
  EXPECT_GT((*compiled)->kernels.size(), 5u);
  GraphRequest after{{sample, 0}};
  after.afterPass = int((*compiled)->passes.size()) - 1;
  const auto last = remote().perform(after);
  ASSERT_TRUE(last) << last.error().text();
  EXPECT_EQ(int((*last)->nodes.size()), (*compiled)->passes.back().nodesAfter);
}

TEST_F(WorkerTest, ErrorsKeepTheirCodeAndPlace) {
  const auto missing = remote().perform(OpenRequest{(folder() / "nothere.py").string()});
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
  const auto bad =
      write("bad.py", "class Repro(torch.nn.Module):\n    def forward(self, x):\n        y = torch.ops.(\n");
  const auto refused = remote().perform(OpenRequest{bad.string()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::BadInput);
  EXPECT_EQ(refused.error().file, bad.string());
  EXPECT_TRUE(remote().perform(OpenRequest{sample}));
}

TEST_F(WorkerTest, ARunningMinificationPausesGoesOnAndGoesBack) {
  using Wish = ControlMessage::Wish;
  const auto control = std::make_shared<JobControl>();
  std::vector<int> steps;
  std::jthread resumer;
  const auto hear = [&](const JobEvent& event) {
    const auto* query = std::get_if<MinifyEvent>(&event);
    if (query == nullptr || !query->accepted) return;
    steps.push_back(query->step);
    if (steps.size() != 3) return;
    control->send({Wish::Undo, 1});
    control->send({Wish::Pause});
    resumer = std::jthread([control] {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      control->send({Wish::Resume});
    });
  };
  MinifyRequest request = slowRequest();
  request.oracle.check = "sleep 0.1; ! grep -q aten.relu {}";  // the wishes arrive before the search is at its end
  const auto minified = remote().perform(request, {hear, {}, control});
  ASSERT_TRUE(minified) << minified.error().text();
  EXPECT_EQ(minified->nodes, 3);
  const auto back = std::ranges::adjacent_find(steps, std::greater_equal<>());
  ASSERT_NE(back, steps.end()) << "the search went back";
  EXPECT_EQ(*std::next(back), 2) << "from step 1 it goes on in another way";
}

TEST_F(WorkerTest, EventsArriveInOrder) {
  std::vector<MinifyEvent> events;
  MinifyRequest request{{sample}};
  request.oracle.plants = {"relu=accuracy"};
  request.place = MinifyRequest::ReproPlace::Store;
  const auto minified = remote().perform(request, {[&](const JobEvent& event) {
                                           if (const auto* step = std::get_if<MinifyEvent>(&event))
                                             events.push_back(*step);
                                         }});
  ASSERT_TRUE(minified) << minified.error().text();
  EXPECT_EQ(minified->nodes, 3);
  EXPECT_EQ(minified->fingerprint, minified->rechecked);
  EXPECT_EQ(minified->repro, "");
  ASSERT_FALSE(events.empty());
  EXPECT_TRUE(std::ranges::is_sorted(events, {}, &MinifyEvent::tests));
  EXPECT_EQ(events.front().startNodes, 94);
  const auto repro = remote().perform(OpenRequest{minified->reproId});
  ASSERT_TRUE(repro) << repro.error().text();
  EXPECT_EQ((*repro)[0].graphs[0].nodes, 3);
  EXPECT_EQ(remote().perform(StepsRequest{minified->reductionId})->size(), std::size_t(minified->steps));
}

class CrashTest : public WorkerTest, public ::testing::WithParamInterface<const char*> {};

/// A graph that takes its process with it is a failure in the answer, and the worker keeps what it has opened.
TEST_P(CrashTest, OfTheCompiledSideIsAnAnswer) {
  CompareRequest request{{sample}};
  request.plants = {std::string("relu=") + GetParam()};
  request.timeout = 20s;
  const auto compared = remote().perform(request);
  ASSERT_TRUE(compared) << compared.error().text();
  EXPECT_FALSE(compared->good());
  EXPECT_NE(compared->failure, "");
  BisectRequest bisect{{sample}, BisectRequest::By::Node, request.plants};
  bisect.timeout = 2s;
  const auto bisected = remote().perform(bisect);
  ASSERT_TRUE(bisected) << bisected.error().text();
  EXPECT_TRUE(bisected->different);
  EXPECT_TRUE(remote().perform(GraphRequest{{sample, 0}}));
}
INSTANTIATE_TEST_SUITE_P(Kinds, CrashTest, ::testing::Values("compile_error", "runtime_error", "crash", "hang"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(WorkerTest, ADeadWorkerIsAnErrorAndTheNextRequestWorks) {
  ASSERT_TRUE(remote().perform(OpenRequest{sample}));
  const auto worker = workersOf(::getpid());
  ASSERT_EQ(worker.size(), 1u);
  const auto killed = remote().perform(slowRequest(), {[&](const JobEvent& event) {
                                         if (std::holds_alternative<MinifyEvent>(event)) ::kill(worker[0], SIGKILL);
                                       }});
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().code, ErrorCode::RuntimeFailed);
  EXPECT_THAT(killed.error().message, HasSubstr("SIGKILL"));
  EXPECT_TRUE(remote().perform(GraphRequest{{sample, 0}})) << "a new worker opens the capture again";
  EXPECT_TRUE(waitUntil([&] { return scratchIsEmpty(); })) << "the folders of the dead one are left";
}

TEST_F(WorkerTest, AWorkerThatDiedIdleIsReplaced) {
  ASSERT_TRUE(remote().perform(OpenRequest{sample}));
  const auto worker = workersOf(::getpid());
  ASSERT_EQ(worker.size(), 1u);
  ::kill(worker[0], SIGKILL);
  ASSERT_TRUE(waitUntil([&] { return !lives(worker[0]); }));
  EXPECT_TRUE(remote().perform(GraphRequest{{sample, 0}}));
  EXPECT_FALSE(fs::exists("/proc/" + std::to_string(worker[0]))) << "no zombie is left";
}

TEST_F(WorkerTest, CancellingIsAnsweredByTheRequestItself) {
  std::stop_source stop;
  int events = 0;
  const auto minified = remote().perform(slowRequest(), {[&](const JobEvent& event) {
                                                           events += std::holds_alternative<MinifyEvent>(event);
                                                           if (events == 2) stop.request_stop();
                                                         },
                                                         stop.get_token()});
  ASSERT_TRUE(minified) << minified.error().text();
  EXPECT_TRUE(minified->cancelled);
  EXPECT_NE(minified->reductionId, "");
  EXPECT_TRUE(remote().alive());
}

/// Stopped before, while and after the worker starts to work on it: always Cancelled or the answer, and soon.
TEST_F(WorkerTest, CancellingWorksAtAnyTime) {
  CompareRequest request{{sample}};
  request.plants = {"relu=hang"};
  for (const auto delay : {0ms, 5ms, 30ms, 80ms, 200ms, 500ms}) {
    std::stop_source stop;
    std::jthread stopper([&] {
      std::this_thread::sleep_for(delay);
      stop.request_stop();
    });
    const auto start = std::chrono::steady_clock::now();
    const auto compared = remote().perform(request, {{}, stop.get_token()});
    EXPECT_LT(std::chrono::steady_clock::now() - start, test::patience);
    if (!compared) {
      EXPECT_EQ(compared.error().code, ErrorCode::Cancelled) << compared.error().text();
    }
  }
  EXPECT_TRUE(remote().perform(GraphRequest{{sample, 0}}));
}

TEST_F(WorkerTest, AnAbandonedWorkerIsCancelledAtOnce) {
  std::jthread impatient([&] {
    EXPECT_TRUE(waitUntil([&] { return remote().alive(); }));
    std::this_thread::sleep_for(300ms);
    remote().abandon();
  });
  const auto start = std::chrono::steady_clock::now();
  const auto minified = remote().perform(slowRequest());
  EXPECT_EQ(minified.error().code, ErrorCode::Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, test::patience);
  EXPECT_TRUE(remote().perform(OpenRequest{sample}));
}

TEST_F(WorkerTest, AnIdleWorkerRestsAndWakes) {
  ASSERT_TRUE(remote().perform(OpenRequest{sample}));
  EXPECT_TRUE(remote().rest());
  EXPECT_FALSE(remote().alive());
  EXPECT_TRUE(remote().perform(GraphRequest{{sample, 0}}));
}

/// The starter is killed in the middle of a job: worker, its children, its programs and folders go.
TEST_F(WorkerTest, NothingOutlivesAKilledStarter) {
  const auto mark = test::markOf(4);
  const pid_t starter = ::fork();
  if (starter == 0) {
    auto request = slowRequest();
    request.oracle.check = "sleep " + mark + "; ! grep -q aten.relu {}";
    RemoteWorkbench doomed(kerf, store());
    (void)doomed.perform(request);
    ::_exit(0);
  }
  EXPECT_TRUE(waitUntil([&] { return test::countMarked(mark) > 0; })) << "a candidate is judged";
  EXPECT_FALSE(scratchIsEmpty());
  const auto workers = workersOf(starter);
  ASSERT_EQ(workers.size(), 1u);
  const auto below = test::descendantsOf(workers[0]);
  EXPECT_GE(below.size(), 3u) << "guardian, supervisor and candidate";
  ::kill(starter, SIGKILL);
  ::waitpid(starter, nullptr, 0);
  EXPECT_TRUE(waitUntil([&] { return !lives(workers[0]); }));
  for (const pid_t pid : below) EXPECT_TRUE(waitUntil([&] { return !lives(pid); })) << pid;
  EXPECT_TRUE(waitUntil([&] { return test::countMarked(mark) == 0; }));
  EXPECT_TRUE(waitUntil([&] { return scratchIsEmpty(); }));
}

}  // namespace
}  // namespace kerf::workbench
