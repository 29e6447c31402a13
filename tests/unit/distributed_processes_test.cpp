// Ranks over shared memory: as threads that share a world, and as forked processes.
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "engine/distributed/group/collectives.h"
#include "engine/distributed/processes/letter.h"
#include "engine/distributed/processes/shared_world.h"

namespace kerf {
namespace {

using namespace std::chrono_literals;

Tensor doublesOf(const std::vector<double>& values) {
  Tensor tensor = *Tensor::zeros(DType::Float64, {std::int64_t(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) tensor.data<double>()[i] = values[i];
  return tensor;
}

std::vector<double> elementsOf(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor.itemAsDouble(i));
  return values;
}

using SharedBody = std::function<Result<void>(SharedRank&)>;

/// What the body gives on each rank, each in a thread. A rank that returns is told to have ended.
std::vector<Result<void>> onShared(int ranks, const SharedWorldOptions& options, const SharedBody& body) {
  const auto world = *SharedWorld::make(ranks, options);
  std::vector<Result<void>> results{std::size_t(ranks)};
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        {
          const auto own = world->join(rank);
          results[std::size_t(rank)] = body(*own);
        }
        const auto& result = results[std::size_t(rank)];
        world->end(rank, result ? "" : "failed (" + result.error().message + ")");
      });
  }
  return results;
}

TEST(SharedRanks, CollectivesOfTheWorldAndOfGroups) {
  const auto results = onShared(4, {}, [](SharedRank& link) -> Result<void> {
    const int me = link.rank();
    KERF_TRY(const Tensor sum, allReduce(link, worldGroup(4), doublesOf({me + 1.0, 2.0}), "sum"));
    EXPECT_EQ(elementsOf(sum), (std::vector<double>{10, 8}));
    const Group pair{"pair", me % 2 == 0 ? std::vector<int>{0, 2} : std::vector<int>{1, 3}};
    KERF_TRY(const Tensor rows, allGather(link, pair, doublesOf({double(me)})));
    EXPECT_EQ(elementsOf(rows), (me % 2 == 0 ? std::vector<double>{0, 2} : std::vector<double>{1, 3}));
    KERF_TRY(const Tensor sent, broadcast(link, worldGroup(4), doublesOf({me * 1.5}), 3));
    EXPECT_EQ(elementsOf(sent), std::vector<double>{4.5});
    KERF_TRY(const auto texts, allGatherObject(link, worldGroup(4), fmt::format("rank {}", me)));
    EXPECT_EQ(texts, (std::vector<std::string>{"rank 0", "rank 1", "rank 2", "rank 3"}));
    return barrier(link, worldGroup(4));
  });
  for (const auto& result : results) EXPECT_TRUE(result) << result.error().text();
}

TEST(SharedRanks, WhatIsLargerThanTheRingGoesThrough) {
  const auto results = onShared(2, {.ringBytes = 4096}, [](SharedRank& link) -> Result<void> {
    std::vector<double> many(100'000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = double(i) * (link.rank() + 1);
    KERF_TRY(const Tensor sum, allReduce(link, worldGroup(2), doublesOf(many), "sum"));
    EXPECT_EQ(sum.itemAsDouble(99'999), 3 * 99'999.0);
    EXPECT_EQ(sum.itemAsDouble(1), 3.0);
    return {};
  });
  for (const auto& result : results) EXPECT_TRUE(result) << result.error().text();
}

TEST(SharedRanks, MessagesKeepTheirTagsAndStartWithinAStorage) {
  const auto results = onShared(2, {}, [](SharedRank& link) -> Result<void> {
    const Group world = worldGroup(2);
    if (link.rank() == 0) {
      const Tensor all = doublesOf({1, 2, 3, 4, 5});
      KERF_CHECK(link.send(world, 1, 7, all.viewAs({2}, {1}, 3)));
      return link.send(world, 1, 8, all.viewAs({2}, {2}, 0));
    }
    KERF_TRY(const Tensor strided, link.receive(world, 0, 8));
    KERF_TRY(const Tensor last, link.receive(world, 0, 7));
    EXPECT_EQ(elementsOf(strided), (std::vector<double>{1, 3}));
    EXPECT_EQ(elementsOf(last), (std::vector<double>{4, 5}));
    return {};
  });
  for (const auto& result : results) EXPECT_TRUE(result) << result.error().text();
}

TEST(SharedRanks, DifferentCallsAreToldOnAll) {
  const auto results = onShared(2, {}, [](SharedRank& link) -> Result<void> {
    KERF_CHECK(allReduce(link, worldGroup(2), doublesOf({1}), link.rank() == 0 ? "sum" : "max"));
    return {};
  });
  for (const auto& result : results) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::BadInput);
    EXPECT_NE(result.error().message.find("collective 0 of group '0' differs: rank 0 calls all_reduce of sum"),
              std::string::npos)
        << result.error().message;
  }
}

TEST(SharedRanks, ATimeoutNamesWhoIsMissingAndWhatThatCalledLast) {
  const auto results = onShared(3, {.timeout = 200ms}, [](SharedRank& link) -> Result<void> {
    KERF_CHECK(barrier(link, worldGroup(3)));
    if (link.rank() == 2) {
      std::this_thread::sleep_for(600ms);
      return {};
    }
    KERF_CHECK(allReduce(link, worldGroup(3), doublesOf({1}), "sum"));
    return {};
  });
  ASSERT_FALSE(results[0]);
  EXPECT_EQ(
      results[0].error().message,
      "rank 0 waited in all_reduce of sum float64 [1] (number 1 of group '0') for rank 2; rank 2 is elsewhere, last "
      "called barrier (number 0 of group '0')");
  EXPECT_TRUE(results[2]);
}

TEST(SharedRanks, ARankThatHasEndedIsNotWaitedFor) {
  const auto start = std::chrono::steady_clock::now();
  const auto results = onShared(2, {.timeout = 20s}, [](SharedRank& link) -> Result<void> {
    if (link.rank() == 1) return fail(ErrorCode::BadInput, "no data");
    return barrier(link, worldGroup(2));
  });
  ASSERT_FALSE(results[0]);
  EXPECT_NE(results[0].error().message.find("rank 1 failed (no data), last called nothing"), std::string::npos)
      << results[0].error().message;
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

TEST(SharedRanks, ForkedProcessesMeet) {
  const auto world = *SharedWorld::make(2);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int status = 1;
    {
      const auto own = world->join(1);
      const auto sum = allReduce(*own, worldGroup(2), doublesOf({2}), "sum");
      status = sum && sum->itemAsDouble() == 5 ? 0 : 1;
    }
    ::_exit(status);
  }
  const auto own = world->join(0);
  const auto sum = allReduce(*own, worldGroup(2), doublesOf({3}), "sum");
  ASSERT_TRUE(sum) << sum.error().text();
  EXPECT_EQ(sum->itemAsDouble(), 5);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(SharedRanks, DamagedLettersAreErrors) {
  const std::vector<char> good = packedLetter({3, "c 0:0,1", "barrier", doublesOf({1, 2})});
  const auto back = unpackedLetter(good);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->number, 3);
  EXPECT_EQ(back->text, "barrier");
  EXPECT_EQ(elementsOf(back->tensor), (std::vector<double>{1, 2}));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(unpackedLetter(std::span<const char>(good).first(size))) << size;
  for (std::size_t at = 0; at < good.size() - 16; ++at) {  // sizes that would take all memory are among them
    std::vector<char> bad = good;
    bad[at] = char(0x7f);
    (void)unpackedLetter(bad);
  }
}

TEST(SharedRanks, RefusesWorldsThatCannotBe) {
  EXPECT_FALSE(SharedWorld::make(0));
  EXPECT_FALSE(SharedWorld::make(mostSharedRanks + 1));
}

}  // namespace
}  // namespace kerf
