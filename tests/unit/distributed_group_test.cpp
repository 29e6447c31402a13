#include <gtest/gtest.h>

#include "engine/distributed/group/collectives.h"
#include "engine/distributed/group/device_mesh.h"
#include "engine/distributed/group/in_process.h"
#include "engine/distributed/group/rank_kernels.h"
#include "engine/ops/core/op_call.h"

namespace kerf {
namespace {

using namespace std::chrono_literals;

Tensor rows(std::vector<double> values) {
  Tensor tensor = *Tensor::zeros(DType::Float32, {std::int64_t(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) tensor.data<float>()[i] = float(values[i]);
  return tensor;
}

std::vector<double> valuesOf(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor.itemAsDouble(i));
  return values;
}

/// What `body` gives on each of four ranks.
std::vector<std::vector<double>> onFour(const std::function<Result<Tensor>(Communicator&, const Group&)>& body) {
  std::vector<std::vector<double>> result(4);
  const auto ran = runRanks(4, [&](Communicator& link) -> Result<void> {
    KERF_TRY(const Tensor tensor, body(link, worldGroup(4)));
    result[std::size_t(link.rank())] = valuesOf(tensor);
    return {};
  });
  const auto cause = firstCause(ran);
  EXPECT_TRUE(cause) << cause.error().text();
  return result;
}

TEST(Ranks, ReduceWithEveryOperator) {
  const std::vector<std::pair<const char*, double>> expected{
      {"sum", 10}, {"avg", 2.5}, {"product", 24}, {"min", 1}, {"max", 4}};
  for (const auto& [op, value] : expected) {
    const auto got = onFour([&](Communicator& link, const Group& group) {
      return allReduce(link, group, rows({double(link.rank() + 1)}), op);
    });
    for (const auto& rank : got) EXPECT_EQ(rank, std::vector<double>{value}) << op;
  }
}

TEST(Ranks, GatherAndScatterUnevenParts) {
  const auto gathered = onFour([](Communicator& link, const Group& group) {
    return allGather(link, group, rows(std::vector<double>(std::size_t(link.rank()), link.rank())));
  });
  EXPECT_EQ(gathered[0], (std::vector<double>{1, 2, 2, 3, 3, 3}));
  const auto scattered = onFour(
      [](Communicator& link, const Group& group) { return reduceScatter(link, group, rows({1, 2, 3, 4, 5}), "sum"); });
  EXPECT_EQ(scattered[1], (std::vector<double>{12, 16}));
  EXPECT_EQ(scattered[2], (std::vector<double>{20}));
  EXPECT_EQ(scattered[3], (std::vector<double>{}));
}

TEST(Ranks, ExchangeUnevenRows) {
  const Sizes sent[] = {{1, 2, 3, 0}, {2, 1, 0, 1}, {0, 3, 1, 2}, {1, 1, 1, 1}};
  const auto got = onFour([&](Communicator& link, const Group& group) {
    const Sizes& mine = sent[link.rank()];
    std::vector<double> values;
    for (std::size_t to = 0; to < 4; ++to)
      for (std::int64_t i = 0; i < mine[to]; ++i) values.push_back(link.rank() * 10 + double(to));
    return allToAll(link, group, rows(values), {}, mine);
  });
  EXPECT_EQ(got[0], (std::vector<double>{0, 10, 10, 30}));
  EXPECT_EQ(got[3], (std::vector<double>{13, 23, 23, 33}));
}

TEST(Ranks, RefuseSplitsThatDoNotFit) {
  const auto ran = runRanks(2, [](Communicator& link) -> Result<void> {
    KERF_CHECK(allToAll(link, worldGroup(2), rows({1, 2, 3}), {}, {1, 1}));
    return {};
  });
  ASSERT_FALSE(firstCause(ran));
  EXPECT_EQ(firstCause(ran).error().message, "all_to_all: split sizes [1, 1] do not match the 3 rows of rank 0");
}

TEST(Ranks, BroadcastPermuteAndSend) {
  const auto sent = onFour(
      [](Communicator& link, const Group& group) { return broadcast(link, group, rows({double(link.rank())}), 2); });
  EXPECT_EQ(sent[3], (std::vector<double>{2}));
  const auto permuted = onFour([](Communicator& link, const Group& group) {
    return permute(link, group, rows({double(link.rank())}), {1, 2, 3, 0});
  });
  EXPECT_EQ(permuted[0], (std::vector<double>{3}));
  const auto passed = onFour([](Communicator& link, const Group& group) -> Result<Tensor> {
    KERF_CHECK(link.send(group, (link.rank() + 1) % 4, 7, rows({double(link.rank())})));
    return link.receive(group, (link.rank() + 3) % 4, 7);
  });
  EXPECT_EQ(passed[1], (std::vector<double>{0}));
}

TEST(Ranks, GatherTextsAndMeet) {
  std::vector<std::string> seen;
  const auto ran = runRanks(3, [&](Communicator& link) -> Result<void> {
    KERF_TRY(auto texts, allGatherObject(link, worldGroup(3), fmt::format("{{\"rank\": {}}}", link.rank())));
    KERF_CHECK(barrier(link, worldGroup(3)));
    if (link.rank() == 2) seen = std::move(texts);
    return {};
  });
  ASSERT_TRUE(firstCause(ran));
  EXPECT_EQ(seen, (std::vector<std::string>{"{\"rank\": 0}", "{\"rank\": 1}", "{\"rank\": 2}"}));
}

/// c10d's collectives on lists, as eager code calls them: what each of four ranks finds in its outputs.
TEST(Ranks, ListsOfTensorsMeet) {
  const auto onLists = [](const char* op, const std::function<ValueList(int, std::vector<Tensor>&)>& arguments) {
    return onFour([&](Communicator& link, const Group&) -> Result<Tensor> {
      RankKernels kernels(link);
      const RankLink::Scope scope(kernels);
      std::vector<Tensor> outputs;
      KERF_CHECK(referenceOps().call(OpTarget{op}, arguments(link.rank(), outputs), {}));
      ValueList parts(outputs.begin(), outputs.end());
      return callTensorOp("aten.cat.default"_op, {Value(std::move(parts)), std::int64_t{0}});
    });
  };
  const auto empty = [](std::vector<Tensor>& outputs, std::initializer_list<int> sizes) {
    ValueList list;
    for (const int size : sizes) {
      outputs.push_back(rows(std::vector<double>(std::size_t(size), -1)));
      list.emplace_back(outputs.back());
    }
    return Value(std::move(list));
  };
  const auto own = [](int rank) { return ValueList{Value(rows({double(rank), 10.0 * rank}))}; };
  const auto four = [](int rank) {
    ValueList list;
    for (int i = 0; i < 4; ++i) list.emplace_back(rows({double(rank + 10 * i)}));
    return list;
  };
  const Value group(std::string("0")), sum(std::string("sum")), two(std::int64_t{2});
  const auto gathered = onLists("c10d.allgather_.default", [&](int rank, auto& outputs) {
    return ValueList{Value(ValueList{empty(outputs, {2, 2, 2, 2})}), Value(own(rank)), group};
  });
  EXPECT_EQ(gathered[3], (std::vector<double>{0, 0, 1, 10, 2, 20, 3, 30}));
  const auto atRoot = onLists("c10d.gather_.default", [&](int rank, auto& outputs) {
    return ValueList{Value(ValueList{empty(outputs, {2, 2, 2, 2})}), Value(own(rank)), group, two};
  });
  EXPECT_EQ(atRoot[2], gathered[3]);
  EXPECT_EQ(atRoot[1], std::vector<double>(8, -1));
  const auto scattered = onLists("c10d.scatter_.default", [&](int rank, auto& outputs) {
    const Value output = empty(outputs, {1});
    return ValueList{output, Value(rank == 2 ? ValueList{Value(four(rank))} : ValueList{}), group, two};
  });
  EXPECT_EQ(scattered[0], std::vector<double>{2});
  EXPECT_EQ(scattered[3], std::vector<double>{32});
  const auto reduced = onLists("c10d.reduce_scatter_.default", [&](int rank, auto& outputs) {
    const Value output = empty(outputs, {1});
    return ValueList{output, Value(ValueList{Value(four(rank))}), group, sum};
  });
  EXPECT_EQ(reduced[1], std::vector<double>{46});
  const auto exchanged = onLists("c10d.alltoall_.default", [&](int rank, auto& outputs) {
    const Value output = empty(outputs, {1, 1, 1, 1});
    return ValueList{output, Value(four(rank)), group};
  });
  EXPECT_EQ(exchanged[1], (std::vector<double>{10, 11, 12, 13}));
}

TEST(Ranks, NameWhoIsMissingAndWhatItDidLast) {
  const auto ran = runRanks(3,
                            [](Communicator& link) -> Result<void> {
                              KERF_CHECK(barrier(link, worldGroup(3)));
                              if (link.rank() == 1) return fail(ErrorCode::RuntimeFailed, "out of memory");
                              KERF_CHECK(allReduce(link, worldGroup(3), rows({1, 2}), "sum"));
                              return {};
                            },
                            {.timeout = 5s});
  EXPECT_EQ(firstCause(ran).error().message, "out of memory");
  for (const char* part : {"rank 0 waited in all_reduce of sum float32 [2] (number 1 of group '0') for rank",
                           "; rank 1 failed (out of memory), last called barrier (number 0 of group '0')"})
    EXPECT_NE(ran[0].error().message.find(part), std::string::npos) << ran[0].error().message;
}

TEST(Ranks, TimeOutInsteadOfWaitingForEver) {
  const auto ran = runRanks(2,
                            [](Communicator& link) -> Result<void> {
                              if (link.rank() == 0) {
                                KERF_CHECK(link.receive(worldGroup(2), 1, 0));
                                return {};
                              }
                              KERF_CHECK(link.receive(worldGroup(2), 0, 0));
                              return {};
                            },
                            {.timeout = 100ms});
  ASSERT_FALSE(ran[0]);
  EXPECT_NE(ran[0].error().message.find("rank 0 waited in recv from rank 1 (tag 0) for rank 1"), std::string::npos)
      << ran[0].error().message;
}

TEST(Ranks, SayWhoCallsWhatWhereCallsDiffer) {
  const auto ran = runRanks(2, [](Communicator& link) -> Result<void> {
    const Tensor tensor = link.rank() == 0 ? rows({1}) : rows({1, 2});
    KERF_CHECK(allReduce(link, worldGroup(2), tensor, "sum"));
    return {};
  });
  EXPECT_EQ(firstCause(ran).error().message,
            "collective 0 of group '0' differs: rank 0 calls all_reduce of sum float32 [1], rank 1 calls all_reduce of "
            "sum float32 [2]");
}

TEST(DeviceMeshes, HaveAGroupAlongEachDimension) {
  const auto mesh = DeviceMesh::ofSizes({2, 3});
  ASSERT_TRUE(mesh);
  EXPECT_EQ(mesh->coordinate(4), (Sizes{1, 1}));
  EXPECT_EQ(mesh->group(4, 0).ranks, (std::vector<int>{1, 4}));
  EXPECT_EQ(mesh->group(4, 1).ranks, (std::vector<int>{3, 4, 5}));
  EXPECT_FALSE(DeviceMesh::ofSizes({2, 0}));
}

}  // namespace
}  // namespace kerf
