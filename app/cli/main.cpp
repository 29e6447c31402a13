// kerf: the command line program.
#include "app/cli/command_line.h"
#include "app/cli/interrupts.h"

int main(int argc, char** argv) {
  kerf::cli::installInterruptHandlers();
  return kerf::cli::runCli({const_cast<const char* const*>(argv), std::size_t(argc)});
}
