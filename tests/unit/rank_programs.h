// Programs of several ranks in the sandbox, and what they print.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/workbench/programs/program_runs.h"

namespace kerf::rank_programs {

/// What each rank printed; a rank that failed: its exception.
inline std::vector<std::string> printedBy(int ranks, const std::string& body, std::chrono::milliseconds timeout) {
  const std::string text =
      "import torch\n"
      "import torch.distributed as dist\n"
      "dist.init_process_group('gloo')\n"
      "rank, world = dist.get_rank(), dist.get_world_size()\n" +
      body;
  workbench::CaptureProgramRequest request;
  request.path = "program.py";
  request.ranks = ranks;
  request.timeout = timeout;
  const auto captured = workbench::runProgramText(text, request, {});
  EXPECT_TRUE(captured) << captured.error().text();
  std::vector<std::string> printed;
  if (captured)
    for (const auto& one : *captured) printed.push_back(one.doc.exception.empty() ? one.doc.output : one.doc.exception);
  return printed;
}

inline std::vector<std::string> printedBy(int ranks, const std::string& body) {
  return printedBy(ranks, body, std::chrono::seconds(60));
}

using Texts = std::vector<std::string>;

inline const std::string usesDTensor =
    "from torch.distributed.tensor import DTensor, Replicate, Shard, Partial, distribute_tensor, init_device_mesh\n"
    "mesh = init_device_mesh('cpu', (world,))\n";

}  // namespace kerf::rank_programs
