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
          "print(f(torch.ones(1, 1), torch.ones(1, 1)))\n"),
      "TorchRuntimeError:|RuntimeError when making fake tensor call|  Explanation: Dynamo failed to run FX node with "
      "fake tensors: call_function <built-in function matmul>(*(FakeTensor(..., size=(2, 3)), FakeTensor(..., "
      "size=(4, 5))), **{}): got RuntimeError('mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)')\n"
      "['from user code:', '   File \"program.py\", line 7, in f', '    def f(x, w): return torch.relu(x) @ w']\n"
      "tensor([[1.]])\n");
}

TEST(DynamoErrors, HandlersOfTheFrameDoNotSeeAFailureOnFakeTensors) {
  EXPECT_EQ(
      errorsOutput("done = []\n"
                   "class Manager:\n    def __enter__(self): pass\n    def __exit__(self, *error): return True\n"
                   "def view(x):\n    try: return x.view(5)\n    except RuntimeError: return x * 2\n"
                   "    finally: done.append(1)\n"
                   "def item(x):\n    try: return x[7]\n    except IndexError: return x * 2\n"
                   "def managed(x):\n    with Manager(): x.view(5)\n    return x\n"
                   "def made(x):\n    def parts():\n        try: yield x.view(5)\n        except Exception: yield x\n"
                   "    return list(parts())\n"
                   "for f in (view, item, managed, made): told(torch.compile(f, backend='eager'), torch.ones(1))\n"
                   "print(done)\nprint(view(torch.ones(1)), done)\n"
                   "def key(x):\n    try: return {}['a']\n    except KeyError: return x * 2\n"
                   "print(torch.compile(key, fullgraph=True)(torch.ones(1)))\n"),
      "TorchRuntimeError:|RuntimeError when making fake tensor call\n"
      "TorchRuntimeError:|RuntimeError when making fake tensor call\n"
      "TorchRuntimeError:|RuntimeError when making fake tensor call\n"
      "TorchRuntimeError:|RuntimeError when making fake tensor call\n"
      "[]\ntensor([2.]) [1]\ntensor([2.])\n");
}

/// mark_dynamic promises that a size may differ: code that fixes it is refused, as by PyTorch.
TEST(DynamoErrors, MarkedSizesMayNotBeFixed) {
  EXPECT_EQ(
      errorsOutput(
          "from torch._dynamo import mark_dynamic, maybe_mark_dynamic\n"
          "def marked(rows, mark=mark_dynamic, **range):\n    x = torch.ones(rows, 3)\n    mark(x, 0, **range)\n"
          "    return x\n"
          "def fixed(x): return x + torch.ones(4, 3)\n"
          "def half(x): return x * 2 if x.shape[0] <= 5 else x\n"
          "def shape(f, x): return tuple(torch.compile(f, backend='eager')(x).shape)\n"
          "told(shape, fixed, marked(4), lines=9)\n"
          "told(shape, fixed, marked(4, maybe_mark_dynamic))\n"
          "told(shape, lambda x: x + torch.ones(1, 3), marked(1))\n"
          "told(shape, half, marked(4))\n"
          "torch._dynamo.reset()\n"
          "told(shape, fixed, marked(4, min=3, max=8), lines=9)\n"
          "told(shape, half, marked(4, min=3, max=8), lines=9)\n"
          "told(shape, half, marked(4, min=6))\n"
          "try: torch.compile(fixed)(marked(4))\n"
          "except RuntimeError as error: print(type(error).__module__)\n"),
      "ConstraintViolationError:|Constraints violated (L['x'].size()[0])! For more information, run with "
      "TORCH_LOGS=\"+dynamic\".|  - You marked L['x'].size()[0] as dynamic but your code specialized it to be a "
      "constant "
      "(4). If you're using mark_dynamic, either remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, "
      "replace it with either Dim.STATIC or Dim.AUTO.\n(4, 3)\n(1, 3)\n(4, 3)\n"
      "ConstraintViolationError:|Constraints violated (L['x'].size()[0])! For more information, run with "
      "TORCH_LOGS=\"+dynamic\".|  - Not all values of L['x'].size()[0] = L['x'].size()[0] in the specified range 3 <= "
      "L['x'].size()[0] <= 8 are valid because L['x'].size()[0] was inferred to be a constant (4).\n"
      "ConstraintViolationError:|Constraints violated (L['x'].size()[0])! For more information, run with "
      "TORCH_LOGS=\"+dynamic\".|  - Not all values of L['x'].size()[0] = L['x'].size()[0] in the specified range 3 <= "
      "L['x'].size()[0] <= 8 satisfy the generated guard L['x'].size()[0] <= 5.\n"
      "ConstraintViolationError:|4 not in range [6, int_oo]\n"
      "torch.fx.experimental.symbolic_shapes\n");
}

TEST(DynamoErrors, TheGreatestSizeOfARangeIsGuarded) {
  EXPECT_EQ(errorsOutput("from torch._dynamo.testing import CompileCounter\ncounter = CompileCounter()\n"
                         "f = torch.compile(lambda x: x * 2, backend=counter)\n"
                         "for rows in (4, 6, 8, 9):\n    x = torch.ones(rows)\n"
                         "    if rows == 4: torch._dynamo.mark_dynamic(x, 0, min=3, max=8)\n"
                         "    f(x)\n    print(rows, counter.frame_count)\n"),
            "4 1\n6 1\n8 1\n9 2\n");
}

/// d/dx of sum(x^3) is 3 x^2, and 6 x the second time: backends that compile AOTAutograd's graphs do not give that.
TEST(DynamoErrors, SecondDerivativesNeedABackendThatRunsTheGraphAsItIs) {
  EXPECT_EQ(errorsOutput(
                "def second(backend, f=lambda x: (x ** 3).sum()):\n"
                "    x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
                "    y = torch.compile(f, backend=backend)(x)\n"
                "    g, = torch.autograd.grad(y, x, create_graph=True)\n"
                "    print(type(y.grad_fn).__name__, g.tolist(), g.requires_grad)\n"
                "    g.sum().backward()\n    return x.grad.tolist()\n"
                "for backend in ('eager', 'aot_eager', 'inductor'): told(second, backend)\n"
                "told(second, 'aot_eager', lambda x: x.view(2, 1).sum() * 3)\n"
                "x = torch.ones(2, requires_grad=True)\n"
                "f = torch.compile(lambda x: (x.view(2, 1), torch.func.grad(torch.func.grad(lambda t: t ** 3))(x[0])), "
                "backend='aot_eager')\n"
                "v, h = f(x)\nprint(type(v.grad_fn).__name__, h)\n"
                "h.backward()\nprint(x.grad)\n"),
            "SumBackward0 [3.0, 12.0] True\n[6.0, 12.0]\n"
            "CompiledFunctionBackward [3.0, 12.0] True\n"
            "RuntimeError:|torch.compile with aot_autograd does not currently support double backward\n"
            "CompiledFunctionBackward [3.0, 12.0] True\n"
            "RuntimeError:|torch.compile with aot_autograd does not currently support double backward\n"
            "CompiledFunctionBackward [3.0, 3.0] False\n"
            "RuntimeError:|element 0 of tensors does not require grad and does not have a grad_fn\n"
            "ViewBackward0 tensor(6., grad_fn=<CompiledFunctionBackward>)\ntensor([6., 0.])\n");
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
                   "class Constant(torch.nn.Module):\n"
                   "    def forward(self, x): return x * torch.tensor(3.0).item() if bool(torch.ones(1)) else x\n"
                   "x = torch.ones(2)\n"
                   "for strict in (False, True): told(lambda: torch.export.export(Branch(), (x,), strict=strict))\n"
                   "print(torch.export.export(Constant(), (x,)).module()(x), bool(x.sum() > 0))\n"
                   "from torch.fx.experimental.proxy_tensor import make_fx\n"
                   "told(lambda: make_fx(lambda x: x if x.sum() > 0 else -x)(x))\n"),
      "GuardOnDataDependentSymNode:|Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  "
      "(Size-like symbols: none)\nUnsupported:|Data-dependent branching\n"
      "tensor([3., 3.]) True\n"
      "RuntimeError:|It appears that you're trying to get value out of a tracing tensor with "
      "aten._local_scalar_dense.default - erroring out! It's likely that this is caused by data-dependent control flow "
      "or similar.  It may be possible to trace this with dynamic shapes; try setting tracing_mode='symbolic' in your "
      "make_fx call.\n");
}

}  // namespace
}  // namespace kerf
