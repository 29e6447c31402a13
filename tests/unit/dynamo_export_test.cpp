// What an exported program's module accepts where no size may differ.
#include <gtest/gtest.h>

#include "engine/dynamo/environment.h"

namespace kerf {
namespace {

/// Prints what attempt() gives, or the first line of what it raises.
std::string exportOutput(const std::string& body) {
  const std::string text =
      "import torch\n"
      "from torch.export import export\n"
      "def module(forward): return type('M', (torch.nn.Module,), {'forward': forward})()\n"
      "def attempt(f, *args):\n"
      "    try: print(f(*args).tolist())\n"
      "    except Exception as error: print(type(error).__name__, str(error).split('\\n')[-1])\n"
      "ones = torch.ones\n" +
      body;
  const ProgramRequest request{.text = text, .name = "program.py"};
  const auto answer = runProgram(request, dynamoEnvironment());
  EXPECT_TRUE(answer) << answer.error().text();
  if (!answer) return {};
  EXPECT_EQ(answer->errors, "");
  return answer->output;
}

TEST(DynamoExport, FixedSizesAndNumbersStayAsTheyWere) {
  EXPECT_EQ(exportOutput("run = export(module(lambda self, x, n: x * n), (ones(2), 3)).module()\n"
                         "attempt(run, ones(2), 3)\nattempt(run, ones(3), 3)\nattempt(run, ones(2), 4)\n"),
            "[3.0, 3.0]\nAssertionError Guard failed: x.size()[0] == 2\n"
            "AssertionError Expected input at n to be equal to 3, but got 4\n");
}

}  // namespace
}  // namespace kerf
