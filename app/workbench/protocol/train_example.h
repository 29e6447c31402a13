// The bundled training example of several ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/process/codec.h"

namespace kerf::workbench {

struct ExampleCollectives {
  std::string op;
  std::int64_t calls = 0;

  KERF_FIELDS(op, calls)
};

struct TrainedExample {
  int rank = 0;  ///< whose answer this is; ranks of one process answer as rank 0
  int ranks = 1;
  bool overMpi = false;
  std::string dtype;
  std::vector<std::int64_t> images;
  std::int64_t parameters = 0;  ///< tensors with gradients
  double loss = 0;
  std::vector<ExampleCollectives> collectives;  ///< of this rank
  std::chrono::nanoseconds time{};              ///< of the step
  bool isCompared = false;                      ///< on rank 0 alone
  double wholeLoss = 0;                         ///< of one rank, with nothing sharded
  double gradientDifference = 0;                ///< the largest, relative to the largest value of each gradient

  KERF_FIELDS(rank, ranks, overMpi, dtype, images, parameters, loss, collectives, time, isCompared, wholeLoss,
              gradientDifference)
};

/// One training step of the ConvNeXt example with images sharded along their width: on the processes that mpirun started
/// with this one, else on simulated ranks of this process. BadUsage for an example or dtype that there is not.
struct TrainExampleRequest {
  using Answer = TrainedExample;
  static constexpr std::string_view name = "train_example";
  std::string example = "convnext";
  int ranks = 4;                               ///< of this process; mpirun says how many there are
  std::string dtype = "f32";                   ///< f32, f64
  bool isFull = false;                         ///< the sizes that PyTorch's example has; they take tens of gigabytes
  bool compares = true;                        ///< with one rank
  std::chrono::milliseconds timeout{600'000};  ///< of one collective

  KERF_FIELDS(example, ranks, dtype, isFull, compares, timeout)
};

}  // namespace kerf::workbench
