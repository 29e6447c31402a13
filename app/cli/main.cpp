// kerf: the command line program.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include <execinfo.h>
#include <unistd.h>

#include "app/cli/command_line.h"
#include "app/cli/interrupts.h"
#include "app/cli/terminal.h"
#include "engine/support/out_of_memory.h"

namespace {

/// OpenBLAS starts its threads when it is loaded: one that gets no memory tries for ever, and fork() waits for it.
/// Where the address space is limited and does not hold them, the program starts again without them.
void restartWhereBlasWouldHang(char** argv) {
  constexpr const char *threads = "OPENBLAS_NUM_THREADS", *isSecondStart = "KERF_STARTED_AGAIN";
  if (std::getenv(isSecondStart) != nullptr) {  // what this program starts decides for itself
    ::unsetenv(isSecondStart), ::unsetenv(threads);
    return;
  }
  if (std::getenv(threads) != nullptr) return;  // it has the last word
  if (kerf::spaceHoldsThreads(int(std::thread::hardware_concurrency()))) return;
  ::setenv(threads, "1", 1), ::setenv(isSecondStart, "1", 1);
  ::execv("/proc/self/exe", argv);
}

/// The C library loads what unwinds stacks when the first thread ends, and ends the program if there is no room then.
void loadUnwinder() {
  void* frame = nullptr;
  if (!kerf::addressSpaceIsFree()) (void)::backtrace(&frame, 1);
}

int run(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow any more is an error, not the end of the program
  kerf::cli::guardTerminal();
  kerf::cli::installInterruptHandlers();
  const int code = kerf::cli::runCli({const_cast<const char* const*>(argv), std::size_t(argc)});
  kerf::cli::finishTerminal();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  restartWhereBlasWouldHang(argv);
  loadUnwinder();
  try {
    return run(argc, argv);
  } catch (const std::exception& problem) {  // no memory or thread before a command began
    std::fprintf(stderr, "kerf: error: %s\n", problem.what());
    return 3;
  }
}
