// Workers and starters that do not speak as they should.
#include <sys/socket.h>

#include "app/workbench/protocol/worker_messages.h"
#include "app/workbench/protocol/worker_process.h"
#include "engine/process/codec.h"
#include "tests/support/workbench_fixture.h"

namespace kerf::workbench {
namespace {

using ::testing::HasSubstr;

/// A worker under raw frames, as a faulty or foreign starter would send them.
class RawWorkerTest : public WorkbenchTest {
 protected:
  void SetUp() override {
    WorkbenchTest::SetUp();
    auto started = WorkerProcess::start(kerf, store());
    ASSERT_TRUE(started) << started.error().text();
    worker = std::move(*started);
  }
  /// The next frame that is no event.
  Frame reply() {
    for (;;) {
      auto frame = worker->channel().receive(test::patience);
      EXPECT_TRUE(frame && *frame);
      if (!frame || !*frame) return {};
      if ((*frame)->kind != FrameKind::Event) return std::move(**frame);
    }
  }
  std::unique_ptr<WorkerProcess> worker;
};

TEST_F(RawWorkerTest, UnknownAndMalformedRequestsAreErrors) {
  for (const auto& call : {WorkerCall{"nonesuch", {}}, WorkerCall{"open", "garbage"},
                           WorkerCall{"open", encode(CompareRequest{{sample}})}}) {
    ASSERT_TRUE(worker->channel().send(FrameKind::Request, encode(call)));
    EXPECT_EQ(reply().kind, FrameKind::Failure);
  }
  ASSERT_TRUE(worker->channel().send(FrameKind::Request, "no call at all"));
  EXPECT_EQ(reply().kind, FrameKind::Failure);
  ASSERT_TRUE(worker->channel().send(FrameKind::Request, encode(WorkerCall{"open", encode(OpenRequest{sample})})));
  EXPECT_EQ(reply().kind, FrameKind::Answer);
}

TEST_F(RawWorkerTest, WhatIsNoFrameEndsTheWorker) {
  const std::string_view nonsense = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(::send(worker->channel().file(), nonsense.data(), nonsense.size(), 0), ssize_t(nonsense.size()));
  EXPECT_TRUE(waitUntil([&] { return !lives(worker->pid()); }));
}

TEST_F(RawWorkerTest, TooLongARequestEndsTheWorkerUnread) {
  const auto header = frameHeader(FrameKind::Request, largestCall + 1);
  EXPECT_EQ(::send(worker->channel().file(), header.data(), header.size(), 0), ssize_t(header.size()));
  EXPECT_TRUE(waitUntil([&] { return !lives(worker->pid()); }));
}

/// A program that stands in for another kerf: it greets with `bytes`.
class ForeignWorkerTest : public WorkbenchTest {
 protected:
  Error greetedWith(const std::string& bytes) {
    write("greeting", bytes);
    const auto program = write("kerf", "#!/bin/sh\ncat " + (folder() / "greeting").string() + " >&3\nsleep 2\n");
    fs::permissions(program, fs::perms::owner_all);
    RemoteWorkbench remote(program, store());
    const auto opened = remote.perform(OpenRequest{sample});
    EXPECT_FALSE(opened);
    return opened ? Error() : opened.error();
  }
};

TEST_F(ForeignWorkerTest, OfAnotherVersionIsRefused) {
  auto header = frameHeader(FrameKind::Hello, 0);
  header[4] = char(protocolVersion + 1);
  const auto error = greetedWith(std::string(header.data(), header.size()));
  EXPECT_EQ(error.code, ErrorCode::Environment);
  EXPECT_THAT(error.message, HasSubstr("version"));
}

TEST_F(ForeignWorkerTest, OfAnotherKindIsRefused) {
  EXPECT_EQ(greetedWith("hello, world, I am no kerf at all").code, ErrorCode::Environment);
  const auto header = frameHeader(FrameKind::Answer, 0);
  EXPECT_EQ(greetedWith(std::string(header.data(), header.size())).code, ErrorCode::Environment);
  EXPECT_EQ(greetedWith("").code, ErrorCode::Environment);
}

TEST_F(ForeignWorkerTest, ThatIsKilledBeforeItGreetsIsNamedWithItsSignal) {
  const auto program = write("kerf", "#!/bin/sh\nkill -KILL $$\n");
  fs::permissions(program, fs::perms::owner_all);
  const auto error = RemoteWorkbench(program, store()).perform(OpenRequest{sample}).error();
  EXPECT_EQ(error.code, ErrorCode::Environment);
  EXPECT_THAT(error.message, HasSubstr("(SIGKILL)"));
}

TEST_F(ForeignWorkerTest, ThatDoesNotExistIsTheEnvironments) {
  RemoteWorkbench remote("/nowhere/kerf", store());
  EXPECT_EQ(remote.perform(OpenRequest{sample}).error().code, ErrorCode::Environment);
}

}  // namespace
}  // namespace kerf::workbench
