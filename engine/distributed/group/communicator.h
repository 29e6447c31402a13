// Communicator: how one rank talks to the others. Every collective is made of one step (each member of a group sees what
// all members bring) and of messages from one rank to another, so that a new transport is two functions.
#pragma once

#include <chrono>
#include <string>
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

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int worldSize() const = 0;
  /// What each member brings, by group rank. RuntimeFailed, naming rank, collective, sequence number and who is missing,
  /// after the timeout or when a missing member has ended; BadInput where members call different things.
  virtual Result<std::vector<Tensor>> gather(const Group& group, const CollectiveCall& call, const Tensor& mine) = 0;
  /// A message to the member of that group rank.
  virtual Result<void> send(const Group& group, int to, int tag, const Tensor& tensor) = 0;
  virtual Result<Tensor> receive(const Group& group, int from, int tag) = 0;
};

/// All ranks of the world, named as PyTorch names its default group.
Group worldGroup(int size);

}  // namespace kerf::inline distributed::inline group
