// Started by mpirun with four processes: the collectives, a redistribution, and the ConvNeXt example over MPI. Exit code 1
// and a line for each value that is not as it should be.
#include <cmath>
#include <cstdio>

#include "engine/distributed/group/collectives.h"
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
