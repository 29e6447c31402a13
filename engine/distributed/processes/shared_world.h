// The ranks of a world as processes that one process forks: letters go through memory that all of them share, made before
// the first fork. No file, socket or system call is needed after that, so that ranks may be confined as far as can be.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/distributed/group/communicator.h"

namespace kerf::inline distributed::inline processes {

/// Most ranks of a world: the memory grows with their square.
inline constexpr int mostSharedRanks = 64;

struct SharedWorldOptions {
  std::chrono::milliseconds timeout{30'000};  ///< of one collective or message
  std::size_t ringBytes = 0;                  ///< of letters under way between two ranks; 0: 64 MiB among all pairs
};

/// A rank's own end. One thread may use it.
class SharedRank : public Communicator {
 public:
  virtual std::chrono::milliseconds timeout() const = 0;
  virtual void setTimeout(std::chrono::milliseconds timeout) = 0;
  /// A message that is there already; none yet otherwise. RuntimeFailed where the sender has ended without one.
  virtual Result<std::optional<Tensor>> receiveArrived(const Group& group, int from, int tag) = 0;
  /// The first message of any other member, and its group rank. The errors are those of receive().
  virtual Result<std::pair<int, Tensor>> receiveAny(const Group& group, int tag) = 0;
};

class SharedWorld {
 public:
  /// BadUsage for fewer than one rank or too many; Environment where there is no memory.
  static Result<std::shared_ptr<SharedWorld>> make(int ranks, const SharedWorldOptions& options = {});
  virtual ~SharedWorld() = default;

  virtual int ranks() const = 0;
  /// The end of one rank, in its process: once for each. The world must outlive it. What other ranks write into the
  /// memory is read as from a stranger: what is no letter is an error.
  virtual std::unique_ptr<SharedRank> join(int rank) = 0;
  /// Tells all that a rank does nothing more: those that wait for it fail at once, with the reason ("crashed (SIGSEGV)");
  /// empty: it has ended. From any process; the first word stays.
  virtual void end(int rank, std::string_view reason) = 0;
};

}  // namespace kerf::inline distributed::inline processes
