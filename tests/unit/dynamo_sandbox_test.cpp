// Hostile programs in the sandbox: as the user who runs the tests, as an unprivileged one, and without filters of the kernel.
#include <array>
#include <cstddef>
#include <functional>
#include <sstream>
#include <string>

#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "engine/dynamo/environment.h"

namespace kerf {
namespace {

struct HostileProgram {
  const char* name;
  const char* text;      ///< what must not work; "reached" is printed where it does
  const char* expected;  ///< the exception's type
};

constexpr HostileProgram kHostilePrograms[] = {
    {"reads a file", "open('/etc/passwd')", "PermissionError"},
    {"writes a file", "open('/tmp/kerf_was_here', 'w')", "PermissionError"},
    {"reads memory of the process", "open('/proc/self/mem', 'rb')", "PermissionError"},
    {"lists a folder", "import os; os.listdir('/proc')", "PermissionError"},
    {"asks of a file", "import os; os.stat('/etc/passwd')", "PermissionError"},
    {"removes a file", "import os; os.remove('/etc/passwd')", "PermissionError"},
    {"starts a shell", "import os; os.system('true')", "PermissionError"},
    {"starts a program", "import os; os.posix_spawn('/bin/true', ['true'], {})", "PermissionError"},
    {"becomes a program", "import os; os.execv('/bin/true', ['true'])", "PermissionError"},
    {"forks", "import os; os.fork()", "PermissionError"},
    {"ends its parent", "import os; os.kill(os.getppid(), 9)", "PermissionError"},
    {"ends its group", "import os; os.killpg(0, 9)", "PermissionError"},
    {"makes a pipe", "import os; os.pipe()", "PermissionError"},
    {"makes files of the pipe to Kerf", "import os; [os.dup2(1, n) for n in range(3, 40)]", "PermissionError"},
    {"imports sockets", "import socket", "ModuleNotFoundError"},
    {"imports ctypes", "import ctypes", "ModuleNotFoundError"},
    {"imports numpy", "import numpy", "ModuleNotFoundError"},
    {"imports Kerf's own module", "import _kerf", "ModuleNotFoundError"},
    {"starts a thread", "import threading; threading.Thread(target=print).start()", "RuntimeError"},
    {"takes all memory", "bytearray(64 << 30)", "MemoryError"},
    {"finds Popen among all classes",
     "(lambda todo: [todo.extend(type.__subclasses__(c)) for c in todo] and [c for c in todo if c.__name__ == "
     "'Popen'][0])"
     "([object])(['/bin/true'])",
     "PermissionError"},
    {"finds what modules brought along", "import tempfile; tempfile._os.mkdir('/tmp/kerf_was_here')",
     "PermissionError"},
    {"uses a loader of CPython",
     "import importlib.machinery as m; m.SourceFileLoader('a', '/etc/passwd').get_data('/etc/passwd')",
     "PermissionError"},
    {"takes the hook away", "import sys; sys.addaudithook(lambda *a: None); open('/etc/passwd')", "PermissionError"},
    {"looks through the frames", "import sys; sys._getframe().f_builtins['open']('/etc/passwd')", "PermissionError"},
};

ProgramRequest requestOf(const std::string& text) {
  ProgramRequest request{.text = text, .name = "hostile.py"};
  request.limits.timeout = std::chrono::seconds(10);
  request.limits.memoryBytes = 4LL << 30;
  return request;
}

/// What differs from what is expected, one attempt a line.
std::string runAttempts() {
  std::ostringstream differences;
  std::string text;
  for (const HostileProgram& attempt : kHostilePrograms)
    text += std::string("try:\n    ") + attempt.text +
            "\n    print('reached')\nexcept BaseException as e:\n    print(type(e).__name__)\n";
  const auto answer = runProgram(requestOf(text), dynamoEnvironment());
  if (!answer) return answer.error().text();
  std::istringstream lines(answer->output);
  for (const HostileProgram& attempt : kHostilePrograms) {
    std::string line;
    std::getline(lines, line);
    if (line != attempt.expected) differences << attempt.name << ": " << line << ", not " << attempt.expected << "\n";
  }
  return differences.str();
}

/// Runs a check in a child of the test, after `before` made it another kind of process.
std::string inAnotherProcess(const std::function<bool()>& before, const std::function<std::string()>& check) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = before() ? check() : "the process cannot be made so";
    const ssize_t written = ::write(ends[1], text.data(), text.size());
    ::_exit(written < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? text : text + "status " + std::to_string(status);
}

bool becomeNobody() {
  constexpr unsigned nobody = 65534;
  return ::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0 && ::setuid(nobody) == 0 && ::setuid(0) != 0;
}

/// From now on the kernel refuses filters, as one that has none.
bool refuseFilters() {
  constexpr auto number = static_cast<unsigned>(offsetof(seccomp_data, nr));
  constexpr auto first = static_cast<unsigned>(offsetof(seccomp_data, args[0]));
  std::array rules = {sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
                      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 3, 0),
                      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
                      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first),
                      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
                      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
                      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(rules.size()), rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(DynamoSandbox, HostileProgramsReachNothing) { EXPECT_EQ(runAttempts(), ""); }

TEST(DynamoSandbox, HostileProgramsOfAnUnprivilegedUserReachNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "these tests run as an unprivileged user already";
  EXPECT_EQ(inAnotherProcess(becomeNobody, runAttempts), "");
}

TEST(DynamoSandbox, WithoutFiltersOfTheKernelNoProgramRuns) {
  const auto refusal = [] {
    const auto answer = runProgram(requestOf("print('ran')"), dynamoEnvironment());
    return answer ? "it ran: " + answer->output : answer.error().message;
  };
  const std::string text = inAnotherProcess(refuseFilters, refusal);
  EXPECT_TRUE(text.contains("this kernel takes no filter of system calls")) << text;
}

TEST(DynamoSandbox, WhatDoesNotEndIsEnded) {
  ProgramRequest request = requestOf("while True: pass");
  request.limits.timeout = std::chrono::milliseconds(700);
  const auto answer = runProgram(request, dynamoEnvironment());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::RuntimeFailed) << answer.error().text();
}

}  // namespace
}  // namespace kerf
