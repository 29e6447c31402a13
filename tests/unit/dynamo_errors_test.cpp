// What programs get where torch.compile or torch.export fails: which error, with which words, and what runs all the same.
#include <gtest/gtest.h>

#include "engine/dynamo/environment.h"

namespace kerf {
namespace {

std::string errorsOutput(const std::string& body) {
  const std::string text =
      "import torch\n"
      "def told(f, *args, lines=1):\n"
      "    try: print(f(*args))\n"
      "    except Exception as error: print(type(error).__name__ + ':', *str(error).splitlines()[:lines], sep='|')\n"
      "def failing(gm, inputs): raise ValueError('no')\n" +
      body;
  const ProgramRequest request{.text = text, .name = "program.py"};
  const auto answer = runProgram(request, dynamoEnvironment());
  EXPECT_TRUE(answer) << answer.error().text();
  if (!answer) return {};
  EXPECT_EQ(answer->errors, "");
  return answer->output;
}

TEST(DynamoErrors, ShapesThatDoNotFitEndTheCompilation) {
  EXPECT_EQ(
      errorsOutput(
          "@torch.compile\ndef f(x, w): return torch.relu(x) @ w\n"
          "told(f, torch.ones(2, 3), torch.ones(4, 5), lines=2)\n"
          "try: f(torch.ones(2, 3), torch.ones(4, 5))\n"
          "except RuntimeError as error: print(str(error)[str(error).index('from user code'):].splitlines()[:3])\n"
          "print(f(torch.ones(1, 1), torch.ones(1, 1)))\n"
          "@torch.compile\ndef g(x):\n    try: return x.view(5)\n    except RuntimeError: return x * 2\n"
          "print(g(torch.ones(1)))\n"),
      "TorchRuntimeError:|RuntimeError when making fake tensor call|  Explanation: Dynamo failed to run FX node with "
      "fake tensors: call_function <built-in function matmul>(*(FakeTensor(..., size=(2, 3)), FakeTensor(..., "
      "size=(4, 5))), **{}): got RuntimeError('mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)')\n"
      "['from user code:', '   File \"program.py\", line 7, in f', '    def f(x, w): return torch.relu(x) @ w']\n"
      "tensor([[1.]])\ntensor([2.])\n");
}

TEST(DynamoErrors, MethodsAreNamedWithTheirArguments) {
  EXPECT_EQ(
      errorsOutput("told(torch.compile(lambda x: x.view(3, 5)), torch.ones(4, dtype=torch.int64), lines=2)\n"),
      "TorchRuntimeError:|RuntimeError when making fake tensor call|  Explanation: Dynamo failed to run FX node with "
      "fake tensors: call_method view(*(FakeTensor(..., size=(4,), dtype=torch.int64), 3, 5), **{}): got "
      "RuntimeError(\"shape '[3, 5]' is invalid for input of size 4\")\n");
}

TEST(DynamoErrors, WritingIntoALeafFailsForEveryBackend) {
  EXPECT_EQ(
      errorsOutput("def add(x): return x.add_(1)\ndef item(x):\n    x[0] = 1\n    return x\n"
                   "def rest(error): return str(error).partition('got ')[2].splitlines()[0]\n"
                   "for f in (add, item):\n"
                   "    for backend in ('inductor', 'eager', lambda gm, inputs: gm.forward):\n"
                   "        try: torch.compile(f, backend=backend)(torch.ones(2, requires_grad=True))\n"
                   "        except RuntimeError as error: print(type(error).__name__, rest(error))\n"
                   "@torch.compile\ndef quiet(x):\n    with torch.no_grad(): x.add_(1)\n    return x * 2\n"
                   "print(quiet(torch.ones(1, requires_grad=True)).item())\n"),
      "TorchRuntimeError RuntimeError('a leaf Variable that requires grad is being used in an in-place operation.')\n"
      "TorchRuntimeError RuntimeError('a leaf Variable that requires grad is being used in an in-place operation.')\n"
      "TorchRuntimeError RuntimeError('a leaf Variable that requires grad is being used in an in-place operation.')\n"
      "TorchRuntimeError RuntimeError('a view of a leaf Variable that requires grad is being used in an in-place "
      "operation.')\n"
      "TorchRuntimeError RuntimeError('a view of a leaf Variable that requires grad is being used in an in-place "
      "operation.')\n"
      "TorchRuntimeError RuntimeError('a view of a leaf Variable that requires grad is being used in an in-place "
      "operation.')\n4.0\n");
}

TEST(DynamoErrors, SuppressedErrorsLeaveTheProgramsOwnCode) {
  EXPECT_EQ(errorsOutput("f = torch.compile(lambda x: x + 1, backend=failing)\ntold(f, torch.ones(1), lines=2)\n"
                         "torch._dynamo.config.suppress_errors = True\ntold(f, torch.ones(1))\n"
                         "told(torch.compile(lambda x: x + 1, backend=failing, fullgraph=True), torch.ones(1))\n"),
            "BackendCompilerFailed:|backend='failing' raised:|ValueError: no\ntensor([2.])\n"
            "BackendCompilerFailed:|backend='failing' raised:\n");
}

TEST(DynamoErrors, InferenceIsAskedOutsideOfGraphs) {
  EXPECT_EQ(errorsOutput("import json\n@torch.compile\ndef f(x):\n    y = x * 2\n    return y.is_inference(), y\n"
                         "with torch.inference_mode(): print(f(torch.ones(1))[0])\n"
                         "print(f(torch.ones(1))[0])\n"
                         "print(json.loads(torch._C._dynamo.log())['breaks'][0]['reason'].splitlines()[0])\n"),
            "True\nFalse\nEncountered tensor.is_inference() during tracing\n");
}

TEST(DynamoErrors, PartsOfTorchThatAreFirstUsedInAFrameAreNoBreak) {
  EXPECT_EQ(errorsOutput("import json\n@torch.compile(fullgraph=True)\ndef f(x):\n"
                         "    with torch.profiler.record_function('part'): x = x + 1\n"
                         "    return torch.distributions.Normal(0.0, 1.0, validate_args=False).log_prob(x) * 0 + x\n"
                         "print(f(torch.ones(1)), len(json.loads(torch._C._dynamo.log())['graphs']))\n"),
            "tensor([2.]) 1\n");
}

TEST(DynamoErrors, LazyModulesAreMadeBeforeTheirFrame) {
  EXPECT_EQ(errorsOutput("import json, warnings\nwarnings.simplefilter('ignore')\nm = torch.nn.LazyLinear(3)\n"
                         "c = torch.compile(m)\nprint(c(torch.ones(2, 4)).shape, m.weight.shape, type(m).__name__)\n"
                         "c(torch.ones(2, 4))\nlog = json.loads(torch._C._dynamo.log())\n"
                         "print(len(log['breaks']), len(log['graphs']))\n"),
            "torch.Size([2, 3]) torch.Size([3, 4]) Linear\n0 1\n");
}

TEST(DynamoErrors, ExportedGraphsDoNotKeepTheExamplesNumbers) {
  EXPECT_EQ(
      errorsOutput("class Branch(torch.nn.Module):\n    def forward(self, x): return x + 1 if x.sum() > 0 else x - 1\n"
                   "class Number(torch.nn.Module):\n    def forward(self, x): return x * x.max().item()\n"
                   "class Constant(torch.nn.Module):\n"
                   "    def forward(self, x): return x * torch.tensor(3.0).item() if bool(torch.ones(1)) else x\n"
                   "x = torch.ones(2)\n"
                   "for strict in (False, True): told(lambda: torch.export.export(Branch(), (x,), strict=strict))\n"
                   "told(lambda: torch.export.export(Number(), (x,)))\n"
                   "print(torch.export.export(Constant(), (x,)).module()(x), bool(x.sum() > 0))\n"
                   "from torch.fx.experimental.proxy_tensor import make_fx\n"
                   "told(lambda: make_fx(lambda x: x if x.sum() > 0 else -x)(x))\n"),
      "GuardOnDataDependentSymNode:|Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  "
      "(Size-like symbols: none)\nUnsupported:|Data-dependent branching\n"
      "NotImplementedError:|torch.export: Kerf keeps no numbers of data in its graphs, and Tensor.item() asks for one; "
      "with strict=True and dynamic_shapes Dynamo captures it\ntensor([3., 3.]) True\n"
      "RuntimeError:|It appears that you're trying to get value out of a tracing tensor with "
      "aten._local_scalar_dense.default - erroring out! It's likely that this is caused by data-dependent control flow "
      "or similar.  It may be possible to trace this with dynamic shapes; try setting tracing_mode='symbolic' in your "
      "make_fx call.\n");
}

}  // namespace
}  // namespace kerf
