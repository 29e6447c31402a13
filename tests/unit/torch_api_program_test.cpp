// Programs from their text to what they print: tensors, autograd and the Python half of torch together.
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

std::string printedBy(const std::string& text) {
  const ProgramAnswer answer = runText("import torch\n" + text);
  EXPECT_EQ(answer.errors, "");
  return answer.output;
}

TEST(TorchProgram, AddsAndPrints) {
  EXPECT_EQ(printedBy("x = torch.ones(2, 3) + 1\nprint(x, x.shape)"),
            "tensor([[2., 2., 2.],\n        [2., 2., 2.]]) torch.Size([2, 3])\n");
}

TEST(TorchProgram, DrawsPyTorchsNumbers) {
  EXPECT_EQ(printedBy("torch.manual_seed(0)\nprint(torch.randn(3))"), "tensor([ 1.5410, -0.2934, -2.1788])\n");
}

TEST(TorchProgram, GradientsAddUpInLeaves) {
  EXPECT_EQ(printedBy("w = torch.tensor([1., 2.], requires_grad=True)\n"
                      "(w * w).sum().backward()\n(3 * w).sum().backward()\nprint(w.grad.tolist())"),
            "[5.0, 7.0]\n");
}

TEST(TorchProgram, GradientsOfGradients) {
  EXPECT_EQ(printedBy("x = torch.tensor([1., 2.], requires_grad=True)\n"
                      "g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)\n"
                      "h, = torch.autograd.grad(g.sum(), x)\nprint(g.tolist(), h.tolist())"),
            "[3.0, 12.0] [6.0, 12.0]\n");
}

TEST(TorchProgram, WritingIntoAViewReachesItsBaseAndItsGradient) {
  EXPECT_EQ(printedBy("w = torch.ones(4, requires_grad=True)\nb = torch.zeros(3, 4)\nb[1] = w * 3\n"
                      "b[2, :2] = w[:2] * w[2:]\n"
                      "(b * torch.arange(12).view(3, 4)).sum().backward()\nprint(w.grad.tolist(), b[1].tolist())"),
            "[20.0, 24.0, 26.0, 30.0] [3.0, 3.0, 3.0, 3.0]\n");
}

TEST(TorchProgram, ListsOfNumbersAreThePlacesOfOneDimension) {
  EXPECT_EQ(
      printedBy("x = torch.arange(6.).view(3, 2)\nprint(x[[0, 2]].tolist(), x[[1]].tolist(), x[(2, 1)].item())\n"
                "print(torch.arange(5)[[True, False, True, False, True]].tolist(), x[[slice(1), 1]].tolist())\n"
                "x[[0, 2]] = 9\nprint(x.tolist(), torch.arange(3.)[[2, 0]].tolist())\n"
                "y = torch.arange(12.).view(3, 4)\nprint(y[[[0, 1], [1, 2]]].tolist(), y[:, [[0, 1], [1, 2]]].shape)\n"
                "print(y[[[0]] * 40].shape, y[[0] * 40].shape, y[[True, 2]].shape, y[[None, 0]].shape)"),
      "[[0.0, 1.0], [4.0, 5.0]] [[2.0, 3.0]] 5.0\n[0, 2, 4] [1.0]\n"
      "[[9.0, 9.0], [2.0, 3.0], [9.0, 9.0]] [2.0, 0.0]\n"
      "[1.0, 6.0] torch.Size([3, 2, 2])\n"
      "torch.Size([40, 1, 4]) torch.Size([40, 4]) torch.Size([2, 4]) torch.Size([1, 4])\n");
}

TEST(TorchProgram, InterpolationHasGradientsByFactorAndBySize) {
  const std::string begin =
      "x = torch.tensor([[[[1., 2.], [3., 4.]]]], requires_grad=True)\n"
      "g = torch.arange(16.).view(1, 1, 4, 4)\n"
      "def grad(**how):\n    x.grad = None\n"
      "    (torch.nn.functional.interpolate(x, **how) * g).sum().backward()\n"
      "    return x.grad.flatten().tolist()\n";
  EXPECT_EQ(printedBy(begin + "print(grad(scale_factor=2.), grad(size=4))\n"
                              "print(grad(scale_factor=2., mode='bilinear'), grad(size=4, mode='bilinear'))"),
            "[10.0, 18.0, 42.0, 50.0] [10.0, 18.0, 42.0, 50.0]\n"
            "[12.5, 19.5, 40.5, 47.5] [12.5, 19.5, 40.5, 47.5]\n");
}

TEST(TorchProgram, LeavesMustNotBeWrittenInto) {
  const ProgramAnswer answer = runText("import torch\nw = torch.ones(2, requires_grad=True)\nw.add_(1)\n");
  EXPECT_EQ(answer.exception,
            "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.");
  EXPECT_EQ(answer.line, 3);
}

TEST(TorchProgram, SecondBackwardNeedsTheGraph) {
  const ProgramAnswer answer =
      runText("import torch\nw = torch.ones(2, requires_grad=True)\ny = (w * w).sum()\ny.backward()\ny.backward()\n");
  EXPECT_TRUE(answer.exception.starts_with("RuntimeError: Trying to backward through the graph a second time"))
      << answer.exception;
}

TEST(TorchProgram, NamedResultsHaveTheirNames) {
  EXPECT_EQ(printedBy("m = torch.tensor([[1., 5.], [7., 2.]]).max(1)\nprint(m.values.tolist(), m.indices.tolist())"),
            "[5.0, 7.0] [1, 0]\n");
}

TEST(TorchProgram, MethodsThatReturnTheirTensorReturnTheObject) {
  EXPECT_EQ(printedBy("x = torch.ones(2)\nprint(x.add_(1) is x, x.contiguous() is x, x.detach() is x, x[:] is x)"),
            "True True False False\n");
}

TEST(TorchProgram, HooksSeeAndChangeGradients) {
  EXPECT_EQ(printedBy("x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.register_hook(lambda g: g * 10)\n"
                      "handle = x.register_hook(lambda g: print('leaf', g.tolist()))\ny.sum().backward()\n"
                      "handle.remove()\n(x * 1).sum().backward()\nprint(x.grad.tolist())"),
            "leaf [20.0, 20.0]\n[21.0, 21.0]\n");
}

TEST(TorchProgram, CudaIsALabel) {
  EXPECT_EQ(printedBy("x = torch.ones(2, device='cuda') + 1\nprint(x.device, x.cpu().tolist())"),
            "cuda:0 [2.0, 2.0]\n");
}

TEST(TorchProgram, LayersTrain) {
  EXPECT_EQ(
      printedBy("torch.manual_seed(0)\nnet = torch.nn.Linear(2, 1)\n"
                "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nx = torch.ones(4, 2)\n"
                "first = last = None\n"
                "for _ in range(20):\n"
                "    opt.zero_grad()\n    loss = ((net(x) - 1) ** 2).mean()\n    loss.backward()\n    opt.step()\n"
                "    first = first or loss.item()\n    last = loss.item()\n"
                "print(last < first * 1e-3)"),
      "True\n");
}

}  // namespace
}  // namespace kerf
