// Communicator: how one rank talks to the others. Every collective is made of one step (each member of a group sees what
// all members bring) and of messages from one rank to another, so that a new transport is two functions.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline distributed::inline group {

/// Ranks that talk to each other, by their numbers in the world, in the order of the group.
struct Group {
  std::string name;  ///< as graphs name it: "0"
  std::vector<int> ranks;

  int size() const { return int(ranks.size()); }
  /// Position of a rank of the world; -1 where it is no member.
  int indexOf(int rank) const;
};

/// What a rank calls: members that meet must agree on both texts.
struct CollectiveCall {
  std::string name;    ///< "all_reduce"
  std::string detail;  ///< what must be the same everywhere: "sum float32 [4, 3]"
  std::string text() const { return detail.empty() ? name : name + " of " + detail; }
};

/// Collectives that a transport has of its own. The errors are those of Communicator::gather.
class OwnCollectives {
 public:
  virtual ~OwnCollectives() = default;
  /// None where it has no such reduction of such elements: then nothing was said to the others.
  virtual Result<std::optional<Tensor>> allReduce(const Group& group, const CollectiveCall& call, const Tensor& tensor,
                                                  std::string_view op) = 0;
  /// Piece i goes to member i, reduced; pieces have the same sizes. None as above.
  virtual Result<std::optional<Tensor>> reduceScatter(const Group& group, const CollectiveCall& call,
                                                      const std::vector<Tensor>& pieces, std::string_view op) = 0;
  /// Piece i goes to member i: what the members have for this one, by group rank. Any sizes, and types of elements.
  virtual Result<std::vector<Tensor>> exchange(const Group& group, const CollectiveCall& call,
                                               const std::vector<Tensor>& pieces) = 0;
  virtual Result<Tensor> broadcast(const Group& group, const CollectiveCall& call, const Tensor& tensor,
                                   int source) = 0;
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int worldSize() const = 0;
  /// Null where collectives are made of what follows.
  virtual OwnCollectives* own() { return nullptr; }
  /// What each member brings, by group rank. RuntimeFailed, naming rank, collective, sequence number and who is missing,
  /// after the timeout or when a missing member has ended; BadInput where members call different things.
  virtual Result<std::vector<Tensor>> gather(const Group& group, const CollectiveCall& call, const Tensor& mine) = 0;
  /// A message to the member of that group rank.
  virtual Result<void> send(const Group& group, int to, int tag, const Tensor& tensor) = 0;
  virtual Result<Tensor> receive(const Group& group, int from, int tag) = 0;
};

/// What a rank does.
using RankBody = std::function<Result<void>(Communicator& ranks)>;
/// Runs the body once for each rank, and gives what they gave, by rank.
using RankStarter = std::function<std::vector<Result<void>>(int ranks, const RankBody& body)>;

/// All ranks of the world, named as PyTorch names its default group.
Group worldGroup(int size);

}  // namespace kerf::inline distributed::inline group
