#include "engine/torch_distributed/fake_rank.h"

namespace kerf::inline torch_distributed {
namespace {

class FakeRank : public SharedRank {
 public:
  FakeRank(int rank, int worldSize) : m_rank(rank), m_worldSize(worldSize) {}

  int rank() const override { return m_rank; }
  int worldSize() const override { return m_worldSize; }
  std::chrono::milliseconds timeout() const override { return m_timeout; }
  void setTimeout(std::chrono::milliseconds timeout) override { m_timeout = timeout; }

  Result<std::vector<Tensor>> gather(const Group& group, const CollectiveCall&, const Tensor& mine) override {
    if (group.indexOf(m_rank) < 0)
      return fail(ErrorCode::BadInput, "rank {} is no member of group '{}'", m_rank, group.name);
    std::vector<Tensor> tensors;
    for (int i = 0; i < group.size(); ++i) {
      KERF_TRY(Tensor copy, mine.clone());
      tensors.push_back(std::move(copy));
    }
    return tensors;
  }

  Result<void> send(const Group&, int, int, const Tensor&) override { return {}; }
  Result<Tensor> receive(const Group&, int from, int) override { return nothing(from); }
  Result<std::optional<Tensor>> receiveArrived(const Group&, int from, int) override { return nothing(from); }
  Result<std::pair<int, Tensor>> receiveAny(const Group&, int) override { return nothing(-1); }

 private:
  static std::unexpected<Error> nothing(int from) {
    const std::string sender = from < 0 ? "another rank" : fmt::format("rank {}", from);
    return fail(ErrorCode::UnsupportedOp, "{} of a fake process group sends nothing", sender);
  }

  int m_rank, m_worldSize;
  std::chrono::milliseconds m_timeout{30'000};
};

}  // namespace

Result<std::unique_ptr<SharedRank>> fakeRank(int rank, int worldSize) {
  if (worldSize < 1 || worldSize > mostFakeRanks)
    return fail(ErrorCode::BadInput, "a fake world has 1 to {} ranks, not {}", mostFakeRanks, worldSize);
  if (rank < 0 || rank >= worldSize)
    return fail(ErrorCode::BadInput, "a fake world of {} ranks has no rank {}", worldSize, rank);
  return std::make_unique<FakeRank>(rank, worldSize);
}

}  // namespace kerf::inline torch_distributed
