// Programs from their text to what they print.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "engine/torch_api/torch_environment.h"

namespace kerf {
namespace {

ProgramAnswer runText(const std::string& text) {
  ProgramRequest request{.text = text, .name = "program.py"};
  auto answer = runProgram(request, torchEnvironment(), encodeObject);
  EXPECT_TRUE(answer) << answer.error().text();
  return answer ? *answer : ProgramAnswer{};
}

TEST(TorchProgram, AddsAndReadsNumbers) {
  const ProgramAnswer answer =
      runText("import torch\nprint((torch.ones(2, 3) + 1).tolist(), torch.ones(2, 3).shape)\n");
  EXPECT_EQ(answer.errors, "");
  EXPECT_EQ(answer.output, "[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]] torch.Size([2, 3])\n");
}

}  // namespace
}  // namespace kerf
