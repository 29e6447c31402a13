// The collectives over NCCL against those of threads, which gather and reduce by ops of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/distributed/group/collectives.h"
#include "engine/ops/core/op_call.h"
#include "tests/support/nccl_on_host.h"

namespace kerf {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;

using OnRank = std::function<Result<Tensor>(Communicator& link)>;

struct Gave {
  std::vector<Tensor> tensors;
  Result<void> cause;
};

Gave onRanks(int ranks, const RankStarter& start, const OnRank& body) {
  Gave gave;
  gave.tensors.resize(std::size_t(ranks));
  gave.cause = firstCause(start(ranks, [&](Communicator& link) -> Result<void> {
    KERF_TRY(gave.tensors[std::size_t(link.rank())], body(link));
    return {};
  }));
  return gave;
}

std::string textOf(const Tensor& tensor) {
  if (!tensor.storage()) return "none";
  const Tensor rows = *tensor.contiguous();
  const std::string bytes(rows.data<char>(), std::size_t(rows.byteSize()));
  return describe(rows) + ":" + bytes;
}

/// What ranks get over NCCL is bit for bit what they get without it.
void expectAsThreads(int ranks, const std::string& what, const OnRank& body) {
  const Gave threads = onRanks(ranks, [](int n, const RankBody& b) { return runRanks(n, b); }, body);
  const Gave nccl = onRanks(ranks, [](int n, const RankBody& b) { return ranksOverFakeNccl(n, b); }, body);
  ASSERT_EQ(threads.cause.has_value(), nccl.cause.has_value())
      << what << ": " << (threads.cause ? nccl.cause.error().text() : threads.cause.error().text());
  if (!threads.cause) {
    EXPECT_EQ(threads.cause.error().code, nccl.cause.error().code) << what << nccl.cause.error().text();
    return;
  }
  for (int rank = 0; rank < ranks; ++rank)
    EXPECT_EQ(textOf(threads.tensors[std::size_t(rank)]), textOf(nccl.tensors[std::size_t(rank)]))
        << what << " on rank " << rank;
}

/// Numbers that differ by rank and place, none of them zero.
Tensor numbers(DType dtype, const Sizes& sizes, int rank) {
  const Tensor wide = *Tensor::zeros(DType::Float64, sizes);
  for (std::int64_t i = 0; i < wide.numel(); ++i)
    wide.data<double>()[i] = double((i * 7 + rank * 3) % 11 - (dtype == DType::UInt8 ? 0 : 4)) +
                             (i % 2 == 0 ? 0.5 : 0.25) * double(rank + 1);
  return *callTensorOp("aten._to_copy.default"_op, {wide}, {{"dtype", Value(dtype)}});
}

constexpr DType everyType[] = {DType::Float32, DType::Float64, DType::Float16,   DType::BFloat16,
                               DType::Int8,    DType::UInt8,   DType::Int16,     DType::Int32,
                               DType::Int64,   DType::Bool,    DType::Complex64, DType::Complex128};

TEST(NcclCollectives, ReduceWithEveryOperatorAndType) {
  for (const DType dtype : everyType)
    for (const char* op : {"sum", "avg", "product", "min", "max", "band", "bor", "bxor"})
      for (const int ranks : {2, 3}) {
        if (ranks == 3 && isComplex(dtype) && std::string_view(op) == "avg") continue;  // rounded in other ways
        expectAsThreads(ranks, fmt::format("all_reduce {} {}", op, dtypeInfo(dtype).torchName),
                        [&](Communicator& link) {
                          return allReduce(link, worldGroup(ranks), numbers(dtype, {2, 3}, link.rank()), op);
                        });
      }
}

TEST(NcclCollectives, GatherEvenAndUnevenPartsAlongAnyDimension) {
  for (const DType dtype : {DType::Float32, DType::Int16, DType::Bool})
    for (const std::int64_t dim : {0, 1})
      for (const bool isEven : {true, false})
        expectAsThreads(4, fmt::format("all_gather along {}", dim), [&](Communicator& link) {
          Sizes sizes{2, 2};
          if (!isEven) sizes[std::size_t(dim)] = link.rank();
          return allGather(link, worldGroup(4), numbers(dtype, sizes, link.rank()), dim);
        });
}

TEST(NcclCollectives, ScatterWhatIsReduced) {
  for (const char* op : {"sum", "max", "avg", "bxor"})
    for (const std::int64_t dim : {0, 1})
      for (const std::int64_t size : {8, 6, 3})
        expectAsThreads(4, fmt::format("reduce_scatter {} along {} of {}", op, dim, size), [&](Communicator& link) {
          Sizes sizes{4, 4};
          sizes[std::size_t(dim)] = size;
          const DType dtype = std::string_view(op) == "bxor" ? DType::Int32 : DType::Float32;
          return reduceScatter(link, worldGroup(4), numbers(dtype, sizes, link.rank()), op, dim);
        });
}

TEST(NcclCollectives, ExchangeUnevenRows) {
  expectAsThreads(3, "all_to_all", [](Communicator& link) {
    // Rank r sends r rows to rank 0, 1 to rank 1 and none to rank 2.
    const std::int64_t r = link.rank();
    const Sizes received = r == 0 ? Sizes{0, 1, 2} : r == 1 ? Sizes{1, 1, 1} : Sizes{0, 0, 0};
    return allToAll(link, worldGroup(3), numbers(DType::Float32, {r + 1, 2}, link.rank()), received, {r, 1, 0});
  });
  expectAsThreads(3, "equal parts", [](Communicator& link) {
    return allToAll(link, worldGroup(3), numbers(DType::Int64, {6, 2}, link.rank()), {}, {});
  });
  expectAsThreads(2, "sizes that do not fit", [](Communicator& link) {
    return allToAll(link, worldGroup(2), numbers(DType::Int64, {2}, link.rank()), {2, 1}, {1, 1});
  });
}

TEST(NcclCollectives, BroadcastPermuteAndExchangeShards) {
  for (const int source : {0, 2, 3})
    expectAsThreads(3, "broadcast", [&](Communicator& link) {
      return broadcast(link, worldGroup(3), numbers(DType::BFloat16, {5}, link.rank()), source);
    });
  for (const std::vector<int>& to : {std::vector<int>{1, 2, 0}, {2, 1, 0}, {1, 1, 2}})
    expectAsThreads(3, "permute", [&](Communicator& link) {
      return permute(link, worldGroup(3), numbers(DType::Float64, {2, 2}, link.rank()), to);
    });
  expectAsThreads(3, "shard_dim_alltoall", [](Communicator& link) {
    return exchangeShards(link, worldGroup(3), numbers(DType::Float32, {2, 5}, link.rank()), 0, 1);
  });
}

TEST(NcclCollectives, MessagesAndTextsAndEmptyTensors) {
  expectAsThreads(3, "send and receive", [](Communicator& link) -> Result<Tensor> {
    const Group world = worldGroup(3);
    KERF_CHECK(link.send(world, (link.rank() + 1) % 3, 4, numbers(DType::Float32, {2}, link.rank())));
    return link.receive(world, (link.rank() + 2) % 3, 4);
  });
  expectAsThreads(3, "all_gather_object", [](Communicator& link) -> Result<Tensor> {
    KERF_TRY(const auto texts, allGatherObject(link, worldGroup(3), std::string(std::size_t(link.rank()), 'x')));
    EXPECT_EQ(texts, (std::vector<std::string>{"", "x", "xx"}));
    KERF_CHECK(barrier(link, worldGroup(3)));
    return Tensor::zeros(DType::Float32, {1});
  });
  expectAsThreads(2, "nothing", [](Communicator& link) {
    return allReduce(link, worldGroup(2), numbers(DType::Float32, {0, 3}, link.rank()), "sum");
  });
}

TEST(NcclCollectives, SubGroupsHaveCommunicatorsOfTheirOwn) {
  expectAsThreads(4, "sub-groups", [](Communicator& link) -> Result<Tensor> {
    const int rank = link.rank();
    const Group pair{rank < 2 ? "low" : "high", rank < 2 ? std::vector{0, 1} : std::vector{3, 2}};
    KERF_TRY(const Tensor sum, allReduce(link, pair, numbers(DType::Float32, {3}, rank), "sum"));
    KERF_TRY(const Tensor all, allGather(link, pair, sum));
    return allReduce(link, worldGroup(4), all, "max");
  });
}

/// What ranks say where something goes wrong, first cause first.
std::string wrong(int ranks, const OnRank& body, std::chrono::milliseconds timeout) {
  const Gave gave = onRanks(ranks, [&](int n, const RankBody& b) { return ranksOverFakeNccl(n, b, timeout); }, body);
  return gave.cause ? "nothing" : gave.cause.error().message;
}

TEST(NcclFailures, CallsThatDifferAreToldBeforeTheDeviceWaits) {
  const std::string text = wrong(
      2,
      [](Communicator& link) {
        return allReduce(link, worldGroup(2), numbers(DType::Float32, {link.rank() + 2}, 0), "sum");
      },
      std::chrono::seconds(20));
  EXPECT_THAT(text, HasSubstr("collective 0 of group '0' differs: rank 0 calls all_reduce of sum float32 [2], rank 1 "
                              "calls all_reduce of sum float32 [3]"));
}

TEST(NcclFailures, AMissingRankIsNamed) {
  const std::string text = wrong(
      3,
      [](Communicator& link) -> Result<Tensor> {
        if (link.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(600));
        if (link.rank() == 1) return Tensor::zeros(DType::Float32, {1});
        return allReduce(link, worldGroup(3), numbers(DType::Float32, {4}, 0), "sum");
      },
      std::chrono::milliseconds(300));
  EXPECT_THAT(text, HasSubstr("waited in all_reduce of sum float32 [4] (number 0 of group '0') for rank"));
  EXPECT_THAT(text, HasSubstr("1"));
}

TEST(NcclFailures, WhatHangsOnTheDeviceEndsAtTheTimeout) {
  const auto start = std::chrono::steady_clock::now();
  const std::string text = wrong(
      2,
      [](Communicator& link) {
        return allReduce(link, worldGroup(2), numbers(DType::Float32, {std::int64_t(fakeHangs)}, 0), "sum");
      },
      std::chrono::milliseconds(300));
  EXPECT_THAT(text,
              HasSubstr("waited in all_reduce of sum float32 [13] (number 0 of group '0'), which has not ended on "
                        "the device within 300ms; ranks 0, 1 of its group are all there"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(NcclFailures, WhatNcclSaysIsTold) {
  const std::string text = wrong(
      2,
      [](Communicator& link) {
        return allReduce(link, worldGroup(2), numbers(DType::Float32, {std::int64_t(fakeFails)}, 0), "sum");
      },
      std::chrono::seconds(20));
  EXPECT_THAT(text, HasSubstr("NCCL says \"remote process exited\""));
}

/// The one that dies is the cause; the other does not wait for it for ever.
TEST(NcclFailures, ARankThatDiesBesideARunningCollectiveIsTheCause) {
  const std::string text = wrong(
      2,
      [](Communicator& link) -> Result<Tensor> {
        KERF_CHECK(allReduce(link, worldGroup(2), numbers(DType::Float32, {4}, 0), "sum"));
        if (link.rank() == 1) return fail(ErrorCode::RuntimeFailed, "out of luck");
        return allReduce(link, worldGroup(2), numbers(DType::Float32, {4}, 0), "sum");
      },
      std::chrono::seconds(5));
  EXPECT_EQ(text, "out of luck");
}

TEST(NcclFailures, ALaterCallSaysWhatFailedBefore) {
  std::string again;
  wrong(
      2,
      [&](Communicator& link) -> Result<Tensor> {
        const auto first = allReduce(link, worldGroup(2), numbers(DType::Float32, {std::int64_t(fakeHangs)}, 0), "sum");
        const auto second = allReduce(link, worldGroup(2), numbers(DType::Float32, {4}, 0), "sum");
        if (link.rank() == 0 && !second) again = second.error().message;
        return first;
      },
      std::chrono::milliseconds(300));
  EXPECT_THAT(again, HasSubstr("all_reduce of sum float32 [13] (number 0 of group '0')"));
}

/// Rank 0 is in its next collective already when NCCL fails on rank 1.
TEST(NcclFailures, WhatFailsHereIsTheCauseWhereverTheOthersAre) {
  std::string other;
  const std::string text = wrong(
      2,
      [&](Communicator& link) -> Result<Tensor> {
        const Tensor breaks = numbers(DType::Float32, {std::int64_t(fakeBreaksOne)}, 0);
        KERF_CHECK(allReduce(link, worldGroup(2), breaks, "sum"));
        auto next = allReduce(link, worldGroup(2), numbers(DType::Float32, {4}, 0), "sum");
        if (link.rank() == 0 && !next) other = next.error().message;
        return next;
      },
      std::chrono::seconds(5));
  EXPECT_EQ(text, "rank 1 fails in all_reduce of sum float32 [19] (number 0 of group '0'): NCCL says \"an error\"");
  EXPECT_THAT(other, HasSubstr("rank 0 waited in all_reduce of sum float32 [4] (number "));
  EXPECT_THAT(other, HasSubstr("for rank 1; rank 1 failed (rank 1 fails in all_reduce of sum float32 [19]"));
}

TEST(NcclFailures, RanksInDifferentCallsAreNoMismatch) {
  std::string texts[2];
  const auto start = [](int n, const RankBody& b) { return ranksOverFakeNccl(n, b, std::chrono::milliseconds(400)); };
  onRanks(2, start, [&](Communicator& link) -> Result<Tensor> {
    const Tensor hangs = numbers(DType::Float32, {std::int64_t(fakeHangsOne)}, 0);
    auto done = allReduce(link, worldGroup(2), hangs, "sum");
    if (done) std::this_thread::sleep_for(std::chrono::milliseconds(250));
    if (done) done = allReduce(link, worldGroup(2), numbers(DType::Float32, {4}, 0), "sum");
    if (!done) texts[link.rank()] = done.error().message;
    return done;
  });
  EXPECT_THAT(texts[1],
              HasSubstr("rank 1 waited in all_reduce of sum float32 [23] (number 0 of group '0'), which has not "
                        "ended on the device within 400ms; rank 1 waited in barrier"));
  EXPECT_THAT(texts[0], HasSubstr("rank 0 waited in all_reduce of sum float32 [4]"));
  for (const std::string& text : texts) EXPECT_THAT(text, ::testing::Not(HasSubstr("differs"))) << text;
}

thread_local std::vector<void*> endedHere;
thread_local int finalizedHere = 0;
std::atomic<int> abortedAfterEnd = 0, endedInAll = 0, abortedInAll = 0;

/// The second communicator's end fails when the first is gone.
TEST(NcclFailures, ACommunicatorThatHasEndedIsNotAborted) {
  NcclFunctions nccl = fakeNccl();
  nccl.finalize = [](void* comm) { return ++finalizedHere == 2 ? 3 : fakeNccl().finalize(comm); };
  nccl.destroy = [](void* comm) {
    ++endedInAll;
    endedHere.push_back(comm);
    return 0;  // its memory stays, so that it can be told from a new one
  };
  nccl.abort = [](void* comm) {
    ++abortedInAll;
    if (std::ranges::find(endedHere, comm) != endedHere.end()) return ++abortedAfterEnd, 0;
    return fakeNccl().abort(comm);
  };
  const auto results = runRanks(2, [&](Communicator& control) {
    const FakeDevice device;
    const NcclDevice own{device.driver(), fakeEvents(), nccl};
    const RankBody body = [](Communicator& link) -> Result<void> {
      for (const char* name : {"0", "1"})
        KERF_CHECK(allReduce(link, Group{name, {0, 1}}, numbers(DType::Float32, {3}, link.rank()), "sum"));
      return {};
    };
    return runRankOverNccl(control, own, body, std::chrono::seconds(5));
  });
  EXPECT_TRUE(firstCause(results));
  EXPECT_EQ(endedInAll, 2);
  EXPECT_EQ(abortedInAll, 2);
  EXPECT_EQ(abortedAfterEnd, 0);
}

TEST(NcclLibrary, SaysWhatIsMissing) {
  const auto none = openNccl({"libthere-is-no-such-nccl.so.2"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::Environment);
  const auto other = openNccl({"libm.so.6"});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("lacks functions of NCCL 2.14"));
  EXPECT_EQ(ncclVersion(fakeNccl()), "2.28.9");
}

}  // namespace
}  // namespace kerf
