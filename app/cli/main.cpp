// kerf: the command line program.
#include <csignal>

#include "app/cli/command_line.h"
#include "app/cli/interrupts.h"
#include "app/cli/terminal.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow any more is an error, not the end of the program
  kerf::cli::guardTerminal();
  kerf::cli::installInterruptHandlers();
  const int code = kerf::cli::runCli({const_cast<const char* const*>(argv), std::size_t(argc)});
  kerf::cli::finishTerminal();
  return code;
}
