// RankKernels: the collectives of recorded graphs (_c10d_functional.*, c10d.*, _dtensor.*) on a Communicator.
#pragma once

#include <map>
#include <optional>

#include "engine/distributed/group/communicator.h"
#include "engine/ops/distributed/rank_link.h"

namespace kerf::inline distributed::inline group {

/// What a recorded collective says.
struct CollectiveArguments {
  const BoundArguments& args;

  std::optional<std::size_t> find(std::string_view name) const;
  std::int64_t integer(std::string_view name) const { return args.integer(*find(name)); }
  Sizes sizes(std::string_view name) const { return args.none(*find(name)) ? Sizes() : args.sizes(*find(name)); }
  /// "sum" of "sum", "RedOpType.SUM" and <RedOpType.SUM: 0>.
  std::string reduction() const;
  /// Position in the group of where a broadcast comes from.
  int source(const Group& group) const;
};

/// Its tensors: argument `i`, or the list that it is.
std::vector<Tensor> tensorsAt(const BoundArguments& args, std::size_t i);

class RankKernels : public RankLink {
 public:
  /// `groups` by the names that graphs have for them; "0" is the world where it is not among them.
  explicit RankKernels(Communicator& ranks, std::vector<Group> groups = {});
  Result<Value> collective(const BoundArguments& args) override;
  /// A group made later, or another one of that name.
  void setGroup(Group group);
  /// Whose collective a call is. NotFound where the rank knows no group of that name.
  Result<Group> groupOf(const BoundArguments& args) const;

 private:
  Communicator& m_ranks;
  std::map<std::string, Group, std::less<>> m_groups;
};

}  // namespace kerf::inline distributed::inline group
