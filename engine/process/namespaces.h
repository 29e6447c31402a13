// Namespaces of Linux, as far as this user may make them: processes that cannot outlive their first one, and no
// network.
#pragma once

#include <string>

namespace kerf::inline process {

/// What a candidate's processes are kept in.
enum class Containment {
  Namespace,  ///< a PID namespace: the kernel ends all of it with its first process
  Subreaper,  ///< a process that takes over what its descendants leave, and ends it
};

/// Moves this process, which must have one thread, into namespaces of its own: its next child is the first process of a
/// PID namespace and must call finishNamespace(). System V shared memory and message queues go with it. `network`
/// false: without any network but a loopback of its own. Empty, or what went wrong; then this process may be half way
/// in and should end.
std::string enterNamespaces(bool network);
/// In that child: /proc shows its own processes.
std::string finishNamespace();
/// Only the network is taken away, where there is no PID namespace.
std::string leaveNetwork();

struct ContainmentSupport {
  Containment best = Containment::Subreaper;
  std::string why;           ///< there are no PID namespaces
  std::string noNetworkWhy;  ///< a network cannot be taken away; empty if it can
};
/// Tried once for this process, in a child.
const ContainmentSupport& containmentSupport();

}  // namespace kerf::inline process
