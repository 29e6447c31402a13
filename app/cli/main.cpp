// kerf: the command line program.
#include "app/cli/command_line.h"
#include "app/cli/interrupts.h"
#include "app/cli/terminal.h"

int main(int argc, char** argv) {
  kerf::cli::guardTerminal();
  kerf::cli::installInterruptHandlers();
  const int code = kerf::cli::runCli({const_cast<const char* const*>(argv), std::size_t(argc)});
  kerf::cli::finishTerminal();
  return code;
}
