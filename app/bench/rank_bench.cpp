#include "app/bench/rank_bench.h"

#include <algorithm>

#include "engine/distributed/nccl/nccl_ranks.h"

namespace kerf::bench {
namespace {

constexpr std::chrono::seconds allReduceTimeout{60};

/// One rank's tensor on its device.
class AllReduceRank {
 public:
  AllReduceRank(NcclLink& link, std::int64_t bytes)
      : m_link(link), m_count(bytes / 4), m_world(worldGroup(link.control().worldSize())) {}
  ~AllReduceRank() { m_link.driver().release(m_place); }
  AllReduceRank(const AllReduceRank&) = delete;
  AllReduceRank& operator=(const AllReduceRank&) = delete;

  Result<void> start() {
    KERF_TRY(m_place, m_link.driver().allocate(m_count * 4));
    const DriverFunctions& f = m_link.driver().functions();
    KERF_CHECK(check(f.eventCreate(&m_begin, 0)));
    return check(f.eventCreate(&m_end, 0));
  }

  Result<void> fill(float value) {
    const std::vector<float> values(std::size_t(m_count), value);
    return m_link.driver().upload(m_place, values.data(), m_count * 4);
  }

  /// Milliseconds of one call.
  Result<double> round(int calls) {
    const DriverFunctions& f = m_link.driver().functions();
    KERF_CHECK(m_link.meet(m_world, {"barrier", ""}, {}));
    KERF_CHECK(check(f.eventRecord(m_begin, m_link.driver().stream())));
    for (int i = 0; i < calls; ++i) KERF_CHECK(reduce());
    KERF_CHECK(check(f.eventRecord(m_end, m_link.driver().stream())));
    KERF_CHECK(m_link.finish());
    float milliseconds = 0;
    KERF_CHECK(check(f.eventElapsed(&milliseconds, m_begin, m_end)));
    return double(milliseconds) / calls;
  }

  /// What ranks that bring 1 each have afterwards.
  Result<void> checkSum() {
    KERF_CHECK(fill(1));
    KERF_CHECK(reduce());
    KERF_CHECK(m_link.finish());
    std::vector<float> values(std::size_t(m_count), 0);
    KERF_CHECK(m_link.driver().download(values.data(), m_place, m_count * 4));
    const float expected = float(m_world.size());
    const auto wrong = std::ranges::find_if(values, [&](float value) { return value != expected; });
    if (wrong == values.end()) return {};
    return fail(ErrorCode::RuntimeFailed, "rank {}: element {} of the sum is {} instead of {}", m_link.rank(),
                wrong - values.begin(), *wrong, expected);
  }

 private:
  Result<void> check(int status) const { return m_link.driver().check(status, "timing a collective"); }
  Result<void> reduce() {
    const CollectiveCall call{"all_reduce", fmt::format("sum float32 [{}]", m_count)};
    KERF_CHECK(m_link.meet(m_world, call, {}));
    return m_link.issue(m_world, call, [&](NcclBatch& batch) {
      batch.allReduce(m_place, m_place, m_count, *ncclReduction(DType::Float32, "sum"));
    });
  }

  NcclLink& m_link;
  std::int64_t m_count;
  Group m_world;
  DeviceAddress m_place = 0;
  void *m_begin = nullptr, *m_end = nullptr;
};

}  // namespace

Result<CollectiveTimes> timeAllReduce(int ranks, std::int64_t bytes, int rounds, int calls) {
  KERF_CHECK(canRunNccl(ranks));
  KERF_TRY(const NcclFunctions* const nccl, installedNccl());
  CollectiveTimes times{.nccl = ncclVersion(*nccl), .ranks = ranks, .bytes = bytes};
  const RankBody body = [&](Communicator& control) -> Result<void> {
    const DeviceChoice choice(control.rank());
    KERF_TRY(const NcclDevice device, NcclDevice::get());
    NcclLink link(control, device, allReduceTimeout);
    AllReduceRank rank(link, bytes);
    KERF_CHECK(rank.start());
    KERF_CHECK(rank.fill(0));
    for (int i = 0; i <= rounds; ++i) {
      KERF_TRY(const double ms, rank.round(calls));
      if (control.rank() == 0 && i > 0) times.ms.push_back(ms);
    }
    return rank.checkSum();
  };
  KERF_CHECK(firstCause(runRanks(ranks, body, {.timeout = allReduceTimeout})));
  std::vector<double> sorted = times.ms;
  std::ranges::sort(sorted);
  times.medianMs = sorted[sorted.size() / 2];
  times.busGigabytes = 2.0 * (ranks - 1) / ranks * double(bytes) / (times.medianMs * 1e6);
  return times;
}

}  // namespace kerf::bench
