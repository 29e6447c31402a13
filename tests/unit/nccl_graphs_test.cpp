// Collectives of graphs on tensors that lie on the device: what the cuda backend gives to the ranks' link.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "engine/backend/cuda/device_link.h"
#include "engine/distributed/group/collectives.h"
#include "engine/distributed/group/rank_kernels.h"
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registry.h"
#include "engine/support/log_sinks.h"
#include "tests/support/nccl_on_host.h"

namespace kerf {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;

Tensor floats(const Sizes& sizes, double first) {
  const Tensor tensor = *Tensor::zeros(DType::Float32, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] = float(first + double(i));
  return tensor;
}

std::vector<double> valuesOf(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor.itemAsDouble(i));
  return values;
}

/// One rank's device, as the cuda backend has one.
class RankDevice {
 public:
  explicit RankDevice(CudaDriver& driver)
      : m_queue(driver),
        m_memory(m_queue),
        m_library(m_queue,
                  [](const std::string&, const std::string&) -> Result<void*> {
                    return fail(ErrorCode::Environment, "there is no compiler for the device");
                  }),
        m_scratch(driver),
        m_checks(m_queue, m_library) {}

  /// None where the call goes over the host.
  Result<std::optional<Value>> run(const char* op, ValueList args) {
    const OpInfo* const info = findOp(std::string("torch.ops.") + op);
    const DeviceOp* const row = findDeviceOp(op);
    if (info == nullptr || row == nullptr) return fail(ErrorCode::NotFound, "{}", op);
    KERF_TRY(const BoundArguments bound, bindArguments(*info, std::move(args), {}));
    if (worksOnNothing(bound)) return std::nullopt;
    KERF_TRY(const ValueList outs, results(*row, bound));
    const DeviceParts parts{m_queue, m_memory, m_library, m_scratch, m_checks};
    KERF_TRY(const bool done, row->run({parts, bound, outs}));
    if (!done) return std::nullopt;
    const Value result = outs.size() > 1 ? Value(outs) : outs.front();
    KERF_CHECK(m_memory.toHost(result));
    return result;
  }

 private:
  Result<ValueList> results(const DeviceOp& row, const BoundArguments& bound) {
    if (row.inPlace) return ValueList{bound.values[0]};
    KERF_TRY(const Value shape, runShapeRule(bound));
    ValueList outs = shape.isList() ? shape.list() : ValueList{shape};
    for (std::size_t i = 0; i < outs.size(); ++i) {
      KERF_TRY(Tensor out, allocateEmpty(outs[i].tensor()));
      KERF_CHECK(m_memory.create(out.storage(), {m_calls++, int(i)}, false));
      outs[i] = std::move(out);
    }
    return outs;
  }

  DeviceQueue m_queue;
  DeviceMemory m_memory;
  DeviceLibrary m_library;
  DeviceScratch m_scratch;
  DeviceChecks m_checks;
  int m_calls = 0;
};

using OnDevice = std::function<Result<void>(int rank, RankDevice& device)>;

/// The error of the first cause; empty where all went well.
std::string onDevices(int ranks, const OnDevice& body, std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  const auto results = runRanks(ranks,
                                [&](Communicator& control) -> Result<void> {
                                  const FakeDevice fake;
                                  const RankBody inside = [&](Communicator& link) -> Result<void> {
                                    RankKernels kernels(link);
                                    const RankLink::Scope scope(kernels);
                                    RankDevice device(fake.driver());
                                    return body(link.rank(), device);
                                  };
                                  return runRankOverNccl(control, fake.get(), inside, timeout);
                                },
                                {.timeout = timeout});
  const auto cause = firstCause(results);
  return cause ? "" : cause.error().message;
}

/// Runs one call on every rank, with `expected` values of its results.
void expectCall(const char* op, const std::function<ValueList(int rank)>& args,
                const std::function<std::vector<std::vector<double>>(int rank)>& expected) {
  EXPECT_EQ(onDevices(2,
                      [&](int rank, RankDevice& device) -> Result<void> {
                        KERF_TRY(const auto result, device.run(op, args(rank)));
                        EXPECT_TRUE(result.has_value()) << op << " went over the host";
                        if (!result) return {};
                        std::vector<std::vector<double>> got;
                        if (result->isTensor()) got.push_back(valuesOf(result->tensor()));
                        if (result->isList())
                          for (const Value& item : result->list()) got.push_back(valuesOf(item.tensor()));
                        EXPECT_EQ(got, expected(rank)) << op << " on rank " << rank;
                        return {};
                      }),
            "")
      << op;
}

const Value world(std::string("0"));
constexpr std::int64_t two = 2;

TEST(NcclGraphs, ReduceOnTheDevice) {
  const auto args = [](int rank) { return ValueList{floats({3}, rank * 10), std::string("sum"), world}; };
  const auto expected = [](int) { return std::vector<std::vector<double>>{{10, 12, 14}}; };
  expectCall("_c10d_functional.all_reduce.default", args, expected);
  expectCall("_c10d_functional.all_reduce_.default", args, expected);
}

TEST(NcclGraphs, CoalescedCallsAreOneGroup) {
  const auto args = [](int rank) {
    return ValueList{tensorList({floats({2}, rank), floats({1}, 5 - rank)}), std::string("max"), world};
  };
  const auto expected = [](int) { return std::vector<std::vector<double>>{{1, 2}, {5}}; };
  expectCall("_c10d_functional.all_reduce_coalesced.default", args, expected);
  expectCall("_c10d_functional.all_reduce_coalesced_.default", args, expected);
  expectCall(
      "_c10d_functional.all_gather_into_tensor_coalesced.default",
      [](int rank) { return ValueList{tensorList({floats({1}, rank), floats({1, 2}, rank * 2)}), two, world}; },
      [](int) { return std::vector<std::vector<double>>{{0, 1}, {0, 1, 2, 3}}; });
  expectCall(
      "_c10d_functional.reduce_scatter_tensor_coalesced.default",
      [](int rank) {
        return ValueList{tensorList({floats({2}, rank), floats({4}, 0)}), std::string("sum"), two, world};
      },
      [](int rank) {
        return rank == 0 ? std::vector<std::vector<double>>{{1}, {0, 2}}
                         : std::vector<std::vector<double>>{{3}, {4, 6}};
      });
}

TEST(NcclGraphs, GatherScatterBroadcastAndWait) {
  expectCall(
      "_c10d_functional.all_gather_into_tensor.default",
      [](int rank) { return ValueList{floats({1, 2}, rank * 4), two, world}; },
      [](int) { return std::vector<std::vector<double>>{{0, 1, 4, 5}}; });
  expectCall(
      "_c10d_functional.reduce_scatter_tensor.default",
      [](int rank) { return ValueList{floats({4}, rank), std::string("avg"), two, world}; },
      [](int rank) { return std::vector<std::vector<double>>{{0.5 + 2 * rank, 1.5 + 2 * rank}}; });
  expectCall(
      "_c10d_functional.broadcast.default",
      [](int rank) { return ValueList{floats({2}, rank), std::int64_t{1}, world}; },
      [](int) { return std::vector<std::vector<double>>{{1, 2}}; });
  expectCall(
      "_c10d_functional.wait_tensor.default", [](int rank) { return ValueList{floats({2}, rank)}; },
      [](int rank) { return std::vector<std::vector<double>>{{double(rank), double(rank + 1)}}; });
}

TEST(NcclGraphs, ExchangeUnevenRowsOnTheDevice) {
  // Rank 0 keeps one row and sends two, rank 1 sends its only row.
  const auto args = [](int rank) {
    const Tensor rows = rank == 0 ? floats({3, 2}, 0) : floats({1, 2}, 20);
    const Value got = intList(rank == 0 ? Sizes{1, 1} : Sizes{2, 0});
    return ValueList{rows, got, intList(rank == 0 ? Sizes{1, 2} : Sizes{1, 0}), world};
  };
  expectCall("_c10d_functional.all_to_all_single.default", args, [](int rank) {
    return rank == 0 ? std::vector<std::vector<double>>{{0, 1, 20, 21}}
                     : std::vector<std::vector<double>>{{2, 3, 4, 5}};
  });
}

TEST(NcclGraphs, RowsThatDoNotFitAreAnErrorOnTheRankThatGetsThem) {
  const std::string text = onDevices(2, [](int rank, RankDevice& device) -> Result<void> {
    const Value got = intList(rank == 0 ? Sizes{1, 2} : Sizes{1, 1});
    KERF_CHECK(
        device.run("_c10d_functional.all_to_all_single.default", {floats({2}, 0), got, intList(Sizes{1, 1}), world}));
    return {};
  });
  EXPECT_THAT(text, HasSubstr("all_to_all: rank 0 expects 2 rows of rank 1, which sends 1"));
}

TEST(NcclGraphs, WhatNcclDoesNotReduceGoesOverTheHost) {
  EXPECT_EQ(onDevices(2,
                      [](int, RankDevice& device) -> Result<void> {
                        const Tensor whole = *Tensor::zeros(DType::Int64, {2});
                        KERF_TRY(const auto result, device.run("_c10d_functional.all_reduce.default",
                                                               {whole, std::string("bxor"), world}));
                        EXPECT_FALSE(result.has_value());
                        return {};
                      }),
            "");
}

TEST(NcclGraphs, WithoutALinkTheHostRunsThem) {
  const FakeDevice fake;
  RankDevice device(fake.driver());
  const auto result = device.run("_c10d_functional.all_reduce.default", {floats({2}, 0), std::string("sum"), world});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->has_value());
}

TEST(NcclGraphs, NoTensorsGoOverTheHost) {
  const FakeDevice fake;
  RankDevice device(fake.driver());
  const Value none{ValueList{}};
  for (const char* op :
       {"_c10d_functional.all_reduce_coalesced.default", "_c10d_functional.all_reduce_coalesced_.default"}) {
    const auto result = device.run(op, {none, std::string("sum"), world});
    ASSERT_TRUE(result) << op << ": " << result.error().text();
    EXPECT_FALSE(result->has_value()) << op;
  }
}

TEST(NcclGraphs, TellHowManyTheDeviceTook) {
  std::mutex mutex;
  std::vector<std::string> said;
  LogLevels levels;
  levels.set(LogCategory::Run, LogLevel::Info);
  setLogLevels(levels);
  {
    const LogListener listener([&](const LogMessage& message) {
      const std::scoped_lock lock(mutex);
      if (message.text.starts_with("rank ")) said.push_back(message.text);
    });
    const std::string wrong = onDevices(2, [&](int, RankDevice& device) -> Result<void> {
      for (const char* op : {"sum", "max", "bxor"}) {
        const Tensor whole = *Tensor::zeros(DType::Int64, {2});
        KERF_CHECK(device.run("_c10d_functional.all_reduce.default", {whole, std::string(op), world}));
      }
      return {};
    });
    EXPECT_EQ(wrong, "");
  }
  setLogLevels(LogLevels());
  std::ranges::sort(said);
  EXPECT_EQ(said, (std::vector<std::string>{"rank 0: 2 collectives of graphs on the device, 1 over the host",
                                            "rank 1: 2 collectives of graphs on the device, 1 over the host"}));
}

/// Ranks that share one device: nobody gets memory that another has.
TEST(SharedDevice, ThreadsNeverHoldTheSameMemory) {
  const FakeDevice fake;
  std::mutex mutex;
  std::set<DeviceAddress> held;
  std::atomic<int> twice = 0, taken = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 4000; ++i) {
          const auto place = fake.driver().allocate(512 * (1 + (i + t) % 3));
          if (!place) continue;
          ++taken;
          {
            const std::scoped_lock lock(mutex);
            if (!held.insert(*place).second) ++twice;
          }
          std::this_thread::yield();
          {
            const std::scoped_lock lock(mutex);
            held.erase(*place);
          }
          fake.driver().release(*place);
        }
      });
  }
  EXPECT_EQ(taken, 16000);
  EXPECT_EQ(twice, 0);
}

}  // namespace
}  // namespace kerf
