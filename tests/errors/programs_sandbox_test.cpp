// What programs must not do, tried by programs that do not mean well: each attempt ends in a Python error, or in the end
// of the child, and never reaches the machine.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "engine/torch_api/torch_environment.h"

namespace kerf {
namespace {

Result<ProgramAnswer> attempt(const std::string& text, ProgramLimits limits = {}) {
  ProgramRequest request{.text = text, .name = "hostile.py"};
  request.limits = limits;
  return runProgram(request, torchEnvironment(), encodeObject);
}

ProgramAnswer answerOf(const std::string& text) {
  auto answer = attempt(text);
  EXPECT_TRUE(answer) << answer.error().text();
  return answer ? *answer : ProgramAnswer{};
}

struct Attempt {
  const char* name;
  const char* text;
  const char* exception;  ///< begins with
};

class Sandbox : public testing::TestWithParam<Attempt> {};

TEST_P(Sandbox, RefusesWithThePlaceInTheProgram) {
  const ProgramAnswer answer = answerOf(GetParam().text);
  EXPECT_EQ(answer.exitStatus, 1) << answer.output;
  EXPECT_TRUE(answer.exception.starts_with(GetParam().exception)) << answer.exception;
  EXPECT_GT(answer.line, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Attempts, Sandbox,
    testing::Values(
        Attempt{"ReadFile", "open('/etc/passwd')", "PermissionError: the sandbox refuses opening a file"},
        Attempt{"WriteFile", "open('/tmp/kerf_hostile', 'w')", "PermissionError: the sandbox refuses opening a file"},
        Attempt{"FileIo", "import io\nio.FileIO(1, 'w').write(b'x')\nio.FileIO('/proc/self/environ')",
                "PermissionError: the sandbox refuses opening a file"},
        Attempt{"OsOpen", "import os\nos.open('/proc/self/mem', os.O_RDWR)", "PermissionError: the sandbox refuses"},
        Attempt{"ListProc", "import os\nos.listdir('/proc')", "PermissionError: the sandbox refuses"},
        Attempt{"System", "import os\nos.system('true')", "PermissionError: the sandbox refuses running a program"},
        Attempt{"Fork", "import os\nwhile True: os.fork()", "PermissionError: the sandbox refuses starting a process"},
        Attempt{"Exec", "import os\nos.execv('/bin/true', ['true'])", "PermissionError: the sandbox refuses"},
        Attempt{"Kill", "import os\nos.kill(os.getppid(), 9)", "PermissionError: the sandbox refuses a signal"},
        Attempt{"KillThread", "import signal, threading\nsignal.pthread_kill(threading.get_ident(), 9)",
                "PermissionError: the sandbox refuses a signal"},
        Attempt{"Thread", "import threading\nthreading.Thread(target=print).start()", "RuntimeError"},
        Attempt{"Ctypes", "import ctypes", "ModuleNotFoundError: the sandbox refuses the module 'ctypes'"},
        Attempt{"CtypesInside", "import _ctypes", "ModuleNotFoundError: the sandbox refuses the module '_ctypes'"},
        Attempt{"Socket", "import socket", "ModuleNotFoundError: the sandbox refuses the module 'socket'"},
        Attempt{"SocketInside", "import _socket", "ModuleNotFoundError: the sandbox refuses the module '_socket'"},
        Attempt{"Subprocess", "import subprocess", "ModuleNotFoundError: the sandbox refuses the module 'subprocess'"},
        Attempt{"NumPy", "import numpy", "ModuleNotFoundError: the sandbox refuses the module 'numpy'"},
        Attempt{"Unlink", "import os\nos.unlink('/tmp/nothing')", "PermissionError: the sandbox refuses"},
        Attempt{"Posix", "import posix\nposix.mkdir('/tmp/kerf_hostile_folder')",
                "PermissionError: the sandbox refuses"}),
    [](const auto& info) { return info.param.name; });

TEST(SandboxPlaces, RefusalsNameTheLineOfTheProgram) {
  struct Place {
    const char* text;
    const char* place;
  };
  for (const Place& place :
       {Place{"\n\nimport numpy", "(hostile.py, line 3)"},
        Place{"def f():\n    import ctypes\nf()", "(hostile.py, line 2)"},
        Place{"import importlib\n\nimportlib.import_module('scipy.linalg')", "(hostile.py, line 3)"},
        Place{"import os\nos.stat('/')", "os.stat('/') (hostile.py, line 2)"},
        Place{"import os\n\nprint(os.getcwd())", "os.getcwd() (hostile.py, line 3)"},
        Place{"import posix\nposix.pipe()", "os.pipe() (hostile.py, line 2)"},
        Place{"import _thread\n_thread.start_new_thread(print, ())", "(hostile.py, line 2)"},
        Place{"import threading\n\nthreading.Thread(target=print).start()", "(hostile.py, line 3)"}}) {
    const ProgramAnswer answer = answerOf(place.text);
    EXPECT_TRUE(answer.exception.ends_with(place.place)) << answer.exception;
    EXPECT_NE(answer.exception.find("the sandbox refuses"), std::string::npos) << answer.exception;
  }
}

/// Tasks that run, sleep and wait for each other need nothing of the machine.
TEST(SandboxPlaces, AsyncProgramsRun) {
  const ProgramAnswer answer = answerOf(
      "import asyncio\n"
      "async def twice(n):\n    await asyncio.sleep(0.001)\n    return 2 * n\n"
      "async def main():\n    return await asyncio.gather(*map(twice, range(3)))\n"
      "print(asyncio.run(main()))\n"
      "async def forever(): await asyncio.Event().wait()\n"
      "try: asyncio.run(forever())\n"
      "except RuntimeError as error: print(error)\n");
  EXPECT_EQ(answer.output, "[0, 2, 4]\nevery task waits for another: nothing from outside wakes one in the sandbox\n");
}

TEST(SandboxLimits, EndlessLoopEndsWithItsTime) {
  ProgramLimits limits;
  limits.timeout = std::chrono::milliseconds(3000);
  const auto answer = attempt("while True: pass", limits);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::RuntimeFailed);
  EXPECT_NE(answer.error().message.find("the program"), std::string::npos) << answer.error().text();
}

TEST(SandboxLimits, MemoryIsAPythonError) {
  ProgramLimits limits;
  limits.memoryBytes = 1LL << 30;
  const auto answer = attempt("x = [0] * (10 ** 10)", limits);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->exception, "MemoryError");
}

TEST(SandboxLimits, OutputBeyondItsLimitIsCut) {
  ProgramLimits limits;
  limits.outputBytes = 1000;
  const auto answer = attempt("for i in range(10000): print('x' * 100)", limits);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->output.size(), 1000u);
  EXPECT_TRUE(answer->isOutputCut);
}

TEST(SandboxLimits, CodeMadeByHandEndsAtMostTheChild) {
  // Pops from an empty stack: the interpreter trusts code objects.
  const auto answer = attempt(
      "def f(): return 1\n"
      "c = f.__code__\n"
      "f.__code__ = c.replace(co_code=bytes([1, 0] * 400 + list(c.co_code)), co_stacksize=1)\n"
      "f()\n");
  if (!answer) {
    EXPECT_EQ(answer.error().code, ErrorCode::RuntimeFailed) << answer.error().text();
  }
}

TEST(SandboxLimits, CatchingARefusalOpensNothing) {
  const ProgramAnswer answer = answerOf(
      "import sys\n"
      "for attempt in ('open(\"/etc/passwd\")', '__import__(\"os\").listdir(\"/\")'):\n"
      "    try:\n"
      "        eval(attempt)\n"
      "        print('reached')\n"
      "    except PermissionError as error:\n"
      "        print('refused')\n"
      "sys.exit(4)\n");
  EXPECT_EQ(answer.output, "refused\nrefused\n");
  EXPECT_EQ(answer.exitStatus, 4);
}

TEST(SandboxLimits, NothingIsLeftOnTheDisk) {
  EXPECT_FALSE(std::filesystem::exists("/tmp/kerf_hostile"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/kerf_hostile_folder"));
}

}  // namespace
}  // namespace kerf
