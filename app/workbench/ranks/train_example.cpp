// perform(TrainExampleRequest): the bundled example of several ranks, in one process or over MPI.
#include "app/workbench/protocol/train_example.h"

#include "app/workbench/ranks/rank_world.h"
#include "app/workbench/workbench.h"
#include "engine/distributed/group/in_process.h"
#include "engine/distributed/modules/convnext_example.h"
#include "engine/distributed/nccl/nccl_ranks.h"
#include "engine/process/in_child.h"

namespace kerf::workbench {

namespace {

Result<ConvNextExample> exampleOf(const TrainExampleRequest& request) {
  if (request.example != "convnext")
    return fail(ErrorCode::BadUsage, "there is no example \"{}\": convnext", request.example);
  if (request.dtype != "f32" && request.dtype != "f64")
    return fail(ErrorCode::BadUsage, "the example trains in f32 or f64, not in {}", request.dtype);
  ConvNextExample example = request.isFull ? ConvNextExample::full() : ConvNextExample::small();
  example.dtype = request.dtype == "f64" ? DType::Float64 : DType::Float32;
  return example;
}

/// Beside one rank, where rank 0 asks for it.
Result<TrainedExample> trainOn(Communicator& link, const ConvNextExample& example, bool compares) {
  KERF_TRY(const DeviceMesh mesh, DeviceMesh::ofSizes({link.worldSize()}));
  MeshRank rank(mesh, link);
  const auto start = std::chrono::steady_clock::now();
  KERF_TRY(const ExampleStep step, trainConvNext(rank, example));
  TrainedExample answer{.rank = link.rank(), .ranks = link.worldSize()};
  answer.time = std::chrono::steady_clock::now() - start;
  answer.loss = step.loss;
  answer.parameters = std::int64_t(step.gradients.size());
  for (const auto& [op, calls] : step.collectives) answer.collectives.push_back({op, calls});
  answer.isCompared = compares && link.rank() == 0;
  if (!answer.isCompared) return answer;
  KERF_TRY(const ExampleStep whole, trainConvNextWhole(example));
  answer.wholeLoss = whole.loss;
  answer.gradientDifference = gradientDifference(step, whole);
  return answer;
}

Result<TrainedExample> trainInProcess(const ConvNextExample& example, const TrainExampleRequest& request,
                                      const Job& job) {
  const std::function body = [&]() -> Result<TrainedExample> {
    TrainedExample answer;
    const RankBody trains = [&](Communicator& link) -> Result<void> {
      KERF_TRY(TrainedExample own, trainOn(link, example, request.compares));
      if (link.rank() == 0) answer = std::move(own);
      return {};
    };
    KERF_TRY(const RankWorld world, rankWorld(false, request.ranks, request.timeout));
    const auto results = world.start ? world.start(request.ranks, trains)
                                     : runRanks(request.ranks, trains, {.timeout = request.timeout});
    KERF_CHECK(firstCause(results));
    return answer;
  };
  return inChild(body, patientLimits({}), job.stop, "training the example", ErrorCode::RuntimeFailed);
}

/// MPI must not be forked: this process itself is the rank.
Result<TrainedExample> trainOverMpi(const ConvNextExample& example, const TrainExampleRequest& request) {
  KERF_TRY(const auto processes, openOwnMpi(request.timeout));
  KERF_TRY(const std::string chosen, chosenProcessGroup());
  TrainedExample answer;
  const RankBody trains = [&](Communicator& ranks) -> Result<void> {
    KERF_TRY(answer, trainOn(ranks, example, request.compares));
    return {};
  };
  const auto results = processes->run([&](Communicator& own) {
    return chosen == "nccl" ? runRankOverNccl(own, placeOnThisMachine(), trains, request.timeout) : trains(own);
  });
  KERF_CHECK(firstCause(results));
  answer.overMpi = true;
  return answer;
}

}  // namespace

Result<TrainedExample> perform(Workbench&, const TrainExampleRequest& request, const Job& job) {
  KERF_TRY(const ConvNextExample example, exampleOf(request));
  if (request.ranks < 1 || request.ranks > 64)
    return fail(ErrorCode::BadUsage, "the example runs on 1 to 64 ranks, not on {}", request.ranks);
  auto answer = startedByMpirun() > 1 ? trainOverMpi(example, request) : trainInProcess(example, request, job);
  if (!answer) return answer;
  answer->dtype = request.dtype;
  answer->images.assign(example.images.begin(), example.images.end());
  return answer;
}

}  // namespace kerf::workbench
