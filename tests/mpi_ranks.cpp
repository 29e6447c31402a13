// Started by mpirun with four processes: the collectives, a redistribution, and the ConvNeXt example over MPI. Exit code 1
// and a line for each value that is not as it should be.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "engine/distributed/group/collectives.h"
#include "engine/distributed/group/in_process.h"
#include "engine/distributed/modules/convnext_example.h"
#include "engine/distributed/mpi/mpi_communicator.h"
#include "engine/distributed/sharding/redistribute.h"
#include "engine/process/program.h"

namespace kerf {
namespace {

int failures = 0;

void expect(const Result<Tensor>& got, const std::vector<double>& wanted, const char* what) {
  bool same = got.has_value() && got->numel() == std::int64_t(wanted.size());
  for (std::size_t i = 0; same && i < wanted.size(); ++i) same = got->itemAsDouble(std::int64_t(i)) == wanted[i];
  if (same) return;
  ++failures;
  std::fprintf(stderr, "%s is wrong: %s\n", what, got ? "other values" : got.error().message.c_str());
}

Tensor rows(const std::vector<double>& values) {
  Tensor tensor = *Tensor::zeros(DType::Float64, {std::int64_t(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) tensor.data<double>()[i] = values[i];
  return tensor;
}

/// Images sharded along their width over processes: loss and gradients are those of one rank.
Result<void> trainConvNextOverMpi(Communicator& link) {
  ConvNextExample example = ConvNextExample::small();
  example.dtype = DType::Float64;
  KERF_TRY(const DeviceMesh mesh, DeviceMesh::ofSizes({4}));
  MeshRank rank(mesh, link);
  KERF_TRY(const ExampleStep own, trainConvNext(rank, example));
  KERF_TRY(const ExampleStep whole, trainConvNextWhole(example));
  const double difference = gradientDifference(own, whole);
  if (std::abs(own.loss - whole.loss) <= 1e-9 && difference <= 1e-9) return {};
  ++failures;
  std::fprintf(stderr, "the ConvNeXt example is wrong: loss %.12g instead of %.12g, gradients differ by %g\n", own.loss,
               whole.loss, difference);
  return {};
}

void expectWords(const Result<void>& got, std::string_view words) {
  if (!got && got.error().message.find(words) != std::string::npos) return;
  ++failures;
  std::fprintf(stderr, "\"%s\" instead of \"%.*s\"\n", got ? "no error" : got.error().message.c_str(),
               int(words.size()), words.data());
}

/// Every process hears what became of the others long before the timeout, and what a run has left reaches no other.
void runInTurns(MpiWorld& link) {
  const Group world = worldGroup(4);
  const auto start = std::chrono::steady_clock::now();
  const auto calls = [&](const char* op) {
    return [&, op](Communicator& own) -> Result<void> {
      KERF_TRY(const Tensor sum, allReduce(own, world, rows({1}), op));
      return sum.itemAsDouble(0) == 4 ? Result<void>() : fail(ErrorCode::Internal, "the sum is wrong");
    };
  };
  const auto fails = link.run([&](Communicator& own) -> Result<void> {
    return own.rank() == 2 ? fail(ErrorCode::BadInput, "rank 2 does not want to") : calls("sum")(own);
  });
  expectWords(firstCause(fails), "rank 2 does not want to");
  expectWords(fails[3],
              "rank 3 waited in all_reduce of sum float64 [1] (number 0 of group '0') for rank 2; rank 2 failed");
  const auto leaves = link.run([&](Communicator& own) { return own.rank() == 1 ? Result<void>() : calls("sum")(own); });
  expectWords(leaves[0], "for rank 1; rank 1 has ended");
  const auto differs = link.run([&](Communicator& own) { return calls(own.rank() == 3 ? "max" : "sum")(own); });
  expectWords(firstCause(differs), "rank 0 calls all_reduce of sum float64 [1], rank 3 calls all_reduce of max");
  for (const auto& good : link.run(calls("sum")))
    if (!good) expectWords(good, "no error");
  if (std::chrono::steady_clock::now() - start > std::chrono::seconds(15))
    ++failures, std::fprintf(stderr, "runs that fail wait for the timeout\n");
}

Result<void> run() {
  KERF_TRY(const auto link, openMpiWorld({programFolder()}, std::chrono::seconds(20)));
  const Group world = worldGroup(link->worldSize());
  if (world.size() != 4) return fail(ErrorCode::BadUsage, "this test runs on 4 ranks");
  const double own = link->rank();
  expect(allReduce(*link, world, rows({own, 1}), "sum"), {6, 4}, "all_reduce");
  expect(allGather(*link, world, rows(std::vector<double>(std::size_t(link->rank()), own))), {1, 2, 2, 3, 3, 3},
         "all_gather of uneven parts");
  expect(broadcast(*link, world, rows({own}), 2), {2}, "broadcast");
  KERF_CHECK(link->send(world, (link->rank() + 1) % 4, 5, rows({own})));
  expect(link->receive(world, (link->rank() + 3) % 4, 5), {double((link->rank() + 3) % 4)}, "send and recv");
  KERF_TRY(const DeviceMesh mesh, DeviceMesh::ofSizes({2, 2}));
  MeshRank rank(mesh, *link);
  const Tensor whole = rows({0, 1, 2, 3, 4, 5, 6});
  const Spec from{{Placement::shard(0), Placement::shard(0)}, {7}, DType::Float64};
  KERF_TRY(const Tensor part, localPart(rank, whole, from.placements));
  expect(fullTensor(rank, part, from), {0, 1, 2, 3, 4, 5, 6}, "redistribution of nested uneven shards");
  KERF_TRY(const auto texts, allGatherObject(*link, world, fmt::format("{}", link->rank())));
  if (fmt::format("{}", fmt::join(texts, "")) != "0123") ++failures;
  runInTurns(*link);
  KERF_CHECK(trainConvNextOverMpi(*link));
  return barrier(*link, world);
}

}  // namespace
}  // namespace kerf

int main() {
  const auto ran = kerf::run();
  if (!ran) std::fprintf(stderr, "%s\n", ran.error().text().c_str());
  return ran && kerf::failures == 0 ? 0 : 1;
}
