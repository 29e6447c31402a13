// Interrupts: Ctrl-C and SIGTERM become a stop token; a second one ends the process at once. Private folders are
// removed either way.
#pragma once

#include <stop_token>

namespace kerf::cli {

/// Installs the handlers; called once by main(). Without it the token never stops.
void installInterruptHandlers();
/// Token that stops at the first signal. Until someone has asked for it, a signal ends the process at once (exit 3).
std::stop_token interruptToken();

}  // namespace kerf::cli
