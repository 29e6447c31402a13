// Ranks of MPI over a made-up transport: they are threads, and what they send lies in one place.
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "engine/distributed/mpi/mpi_communicator.h"
#include "engine/distributed/mpi/mpi_transport.h"

namespace kerf {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// As with MPI, a small message has gone when it is sent, and a large one when it is taken.
struct Parcel {
  int from = 0, to = 0, tag = 0;
  std::vector<char> bytes;
  bool isFound = false, isTaken = false;
};
constexpr std::int64_t smallBytes = 4096;

struct PostOffice {
  std::mutex mutex;
  std::deque<Parcel> parcels;
  int ranks = 0;
};
PostOffice& postOffice() {
  static PostOffice office;
  return office;
}
thread_local int rankOfThread = 0;

int postSend(int to, int tag, const char* bytes, std::int64_t size, void** request) {
  const std::scoped_lock lock(postOffice().mutex);
  *request = &postOffice().parcels.emplace_back(rankOfThread, to, tag, std::vector<char>(bytes, bytes + size));
  return 0;
}

int postSent(void* request) {
  const std::scoped_lock lock(postOffice().mutex);
  const auto* parcel = static_cast<const Parcel*>(request);
  return parcel->isTaken || std::int64_t(parcel->bytes.size()) <= smallBytes ? 1 : 0;
}

std::int64_t postPoll(int from, int tag, void** message) {
  const std::scoped_lock lock(postOffice().mutex);
  for (Parcel& parcel : postOffice().parcels) {
    if (parcel.isFound || parcel.to != rankOfThread || parcel.from != from) continue;
    if (tag != anyTag && parcel.tag != tag) continue;
    parcel.isFound = true;
    *message = &parcel;
    return std::int64_t(parcel.bytes.size());
  }
  return -1;
}

int postTake(void* message, char* bytes, std::int64_t size) {
  const std::scoped_lock lock(postOffice().mutex);
  auto* parcel = static_cast<Parcel*>(message);
  std::memcpy(bytes, parcel->bytes.data(), std::size_t(size));
  parcel->isTaken = true;
  return 0;
}

const KerfMpiTransport& postTransport() {
  static const KerfMpiTransport transport{kerfMpiVersion,
                                          [] { return 0; },
                                          [] { return rankOfThread; },
                                          [] { return postOffice().ranks; },
                                          postSend,
                                          postSent,
                                          postPoll,
                                          postTake};
  return transport;
}

using RanksResults = std::vector<Result<void>>;

struct PostedRuns {
  std::vector<std::vector<RanksResults>> results;  ///< by run, then by the rank that was told them
  Clock::duration time{};
  std::size_t left = 0;  ///< messages that nobody has taken
};

/// All ranks run these bodies in their order.
PostedRuns runPosted(int ranks, std::chrono::milliseconds timeout, const std::vector<RankBody>& bodies) {
  postOffice().parcels.clear();
  postOffice().ranks = ranks;
  PostedRuns ran;
  ran.results.assign(bodies.size(), std::vector<RanksResults>(std::size_t(ranks)));
  const auto start = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        rankOfThread = rank;
        const auto world = mpiWorldOver(postTransport(), timeout);
        for (std::size_t i = 0; i < bodies.size(); ++i) ran.results[i][std::size_t(rank)] = world->run(bodies[i]);
      });
  }
  ran.time = Clock::now() - start;
  for (const Parcel& parcel : postOffice().parcels) ran.left += parcel.isTaken ? 0 : 1;
  return ran;
}

Tensor tensorOf(std::int64_t count, float value) {
  Tensor tensor = *Tensor::zeros(DType::Float32, {count});
  for (std::int64_t i = 0; i < count; ++i) tensor.data<float>()[i] = value;
  return tensor;
}
Tensor largeTensor(float value) { return tensorOf(smallBytes, value); }

std::string messageOf(const Result<void>& result) { return result ? "none" : result.error().message; }

// Waits that are not ended at once last this long, and tests that meet one fail.
constexpr auto longWait = 20s;
constexpr auto atOnce = 10s;

/// Rank 2 sends rank 1, which has failed, something large, and goes on with rank 0 alone.
TEST(MpiRanks, TakeAtTheirEndWhatAnyOtherSends) {
  const Group world = worldGroup(3), pair{"pair", {0, 2}};
  const auto body = [&](Communicator& link) -> Result<void> {
    if (link.rank() == 1) return fail(ErrorCode::BadInput, "no input");
    if (link.rank() == 2) KERF_CHECK(link.send(world, 1, 5, largeTensor(1)));
    for (int i = 0; i < 2; ++i) {
      KERF_TRY(const auto both, link.gather(pair, {"all_reduce", ""}, tensorOf(1, float(link.rank()))));
      EXPECT_EQ(both[0].itemAsDouble(0), 0);
      EXPECT_EQ(both[1].itemAsDouble(0), 2);
    }
    return {};
  };
  const PostedRuns ran = runPosted(3, longWait, {body});
  EXPECT_LT(ran.time, atOnce);
  EXPECT_EQ(ran.left, 0U);
  for (const RanksResults& told : ran.results[0]) {
    ASSERT_EQ(told.size(), 3U);
    EXPECT_EQ(messageOf(told[0]), "none");
    EXPECT_EQ(messageOf(told[1]), "no input");
    EXPECT_EQ(told[1].error().code, ErrorCode::BadInput);
    EXPECT_EQ(messageOf(told[2]), "none");
  }
}

TEST(MpiRanks, WaitNoLongerForOneThatHasEnded) {
  const Group world = worldGroup(2);
  const auto bodyThat = [&](bool fails) {
    return [&world, fails](Communicator& link) -> Result<void> {
      if (link.rank() == 0) KERF_CHECK(link.gather(world, {"all_reduce", "sum"}, tensorOf(1, 0)));
      if (link.rank() == 0) return {};
      return fails ? Result<void>(fail(ErrorCode::RuntimeFailed, "a broken kernel")) : Result<void>();
    };
  };
  const PostedRuns ran = runPosted(2, longWait, {bodyThat(true), bodyThat(false)});
  EXPECT_LT(ran.time, atOnce);
  const std::string waited = "rank 0 waited in all_reduce of sum (number 0 of group '0') for rank 1; rank 1 ";
  for (const RanksResults& told : ran.results[0]) {
    EXPECT_EQ(messageOf(told[0]), waited + "failed (a broken kernel)");
    EXPECT_EQ(messageOf(told[1]), "a broken kernel");
  }
  for (const RanksResults& told : ran.results[1]) {
    EXPECT_EQ(messageOf(told[0]), waited + "has ended");
    EXPECT_EQ(messageOf(told[1]), "none");
  }
}

/// Rank 1 waits until what it sent has gone, although rank 0 has already heard of its end.
TEST(MpiRanks, SendWhatStartsWithinAStorage) {
  const Group world = worldGroup(2);
  const auto body = [&](Communicator& link) -> Result<void> {
    Tensor all = tensorOf(4, 1);
    all.data<float>()[3] = 9;
    if (link.rank() == 1) return link.send(world, 0, 1, all.viewAs({2}, {1}, 2));
    KERF_TRY(const Tensor own, link.receive(world, 1, 1));
    EXPECT_EQ(own.itemAsDouble(0), 1);
    EXPECT_EQ(own.itemAsDouble(1), 9);
    return {};
  };
  const PostedRuns ran = runPosted(2, longWait, {body});
  for (const Result<void>& result : ran.results[0][0]) EXPECT_EQ(messageOf(result), "none");
}

TEST(MpiRanks, DropWhatIsLeftOfThoseThatEndedBefore) {
  const Group world = worldGroup(2);
  const auto leaves = [&](Communicator& link) -> Result<void> {
    if (link.rank() == 1) return link.send(world, 0, 1, largeTensor(3));
    const auto other = link.receive(world, 1, 2);
    EXPECT_EQ(other ? "none" : other.error().message,
              "rank 0 waited in recv from rank 1 (tag 2) for rank 1; rank 1 has ended");
    return {};
  };
  const auto takes = [&](Communicator& link) -> Result<void> {
    if (link.rank() == 1) return link.send(world, 0, 1, largeTensor(7));
    KERF_TRY(const Tensor own, link.receive(world, 1, 1));
    EXPECT_EQ(own.itemAsDouble(0), 7) << "the one before is of another run";
    return {};
  };
  const PostedRuns ran = runPosted(2, longWait, {leaves, takes});
  EXPECT_LT(ran.time, atOnce);
  EXPECT_EQ(ran.left, 0U);
  for (const auto& run : ran.results)
    for (const RanksResults& told : run)
      for (const Result<void>& result : told) EXPECT_EQ(messageOf(result), "none");
}

TEST(MpiRanks, WaitForOneThatIsThereAsLongAsTheTimeout) {
  constexpr auto timeout = 300ms;
  const Group world = worldGroup(2);
  std::atomic<bool> isOver = false;
  const auto body = [&](Communicator& link) -> Result<void> {
    while (link.rank() == 1 && !isOver) std::this_thread::sleep_for(1ms);
    if (link.rank() == 1) return {};
    const auto start = Clock::now();
    const auto nothing = link.receive(world, 1, 3);
    EXPECT_GE(Clock::now() - start, timeout);
    isOver = true;
    return nothing ? Result<void>() : fail(nothing.error());
  };
  const PostedRuns ran = runPosted(2, timeout, {body});
  EXPECT_LT(ran.time, atOnce);
  for (const RanksResults& told : ran.results[0])
    EXPECT_EQ(messageOf(told[0]), "rank 0 waited in recv from rank 1 (tag 3) for rank 1");
}

TEST(MpiRanks, AllSayWhoseCallDiffers) {
  const Group world = worldGroup(2);
  const auto body = [&](Communicator& link) -> Result<void> {
    const CollectiveCall call{link.rank() == 0 ? "all_reduce" : "barrier", ""};
    KERF_CHECK(link.gather(world, call, largeTensor(1)));
    return {};
  };
  const PostedRuns ran = runPosted(2, longWait, {body});
  EXPECT_LT(ran.time, atOnce);
  for (const RanksResults& told : ran.results[0])
    for (const Result<void>& result : told) {
      EXPECT_EQ(messageOf(result), "collective 0 of group '0' differs: rank 0 calls all_reduce, rank 1 calls barrier");
      EXPECT_EQ(result.error().code, ErrorCode::BadInput);
    }
}

}  // namespace
}  // namespace kerf
