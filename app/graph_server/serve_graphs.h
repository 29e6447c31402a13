// serveGraphs(): compiles graphs of another process, and calls them on memory that both see.
#pragma once

namespace kerf::graph_server {

/// Answers messages (JSON: "ops", "compile", "call", "free", "mailbox") until the other end of the socket closes. Takes
/// it over.
/// The exit code: 0, or 3 where the socket failed.
int serveGraphs(int socket);

}  // namespace kerf::graph_server
