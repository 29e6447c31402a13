// __init__: buffers, parameters, submodules; and tensors written as Python literals, both ways.
#include <cmath>

#include "engine/capture/common/tensor_literal.h"
#include "engine/capture/repro/init_parser.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

GraphModule initialized(const std::string& lines, std::size_t* lost = nullptr) {
  const std::string text = "    def __init__(self) -> None:\n        super().__init__()\n" + lines;
  const auto source = scanSource(text, {});
  EXPECT_TRUE(source);
  GraphModule module;
  std::size_t count = 0;
  const auto done = parseInit(*source, {0, source->lines.size()}, {}, {}, module, count);
  EXPECT_TRUE(done) << done.error().text();
  if (lost != nullptr) *lost = count;
  return module;
}

Tensor literal(const std::string& text) {
  const auto expression = parsePythonExpression(text);
  EXPECT_TRUE(expression) << text;
  auto source = readTensorSource(*expression, 1, {});
  EXPECT_TRUE(source) << text << ": " << source.error().text();
  return source ? source->tensor : Tensor();
}

TEST(InitParser, ReadsBuffersParametersAndModules) {
  std::size_t lost = 0;
  const GraphModule module = initialized(
      "        self.true_graph_0 = <lambda>()\n"
      "        self.seq = Sequential(\n          (0): Linear(in_features=3, out_features=4, bias=True)\n        )\n"
      "        self.register_buffer('_tensor_constant0', tensor([[1., 2.],\n                [3., -inf]]))\n"
      "        self.register_buffer('big', torch.randn([8, 2], dtype=torch.float16).cuda())\n"
      "        self.register_buffer('count', torch.randint(1, size=[5], dtype=torch.int64))\n"
      "        self.p = torch.nn.Parameter(torch.randn([3], dtype=torch.float32, device=\"cuda\"))\n",
      &lost);
  EXPECT_EQ(lost, 3u);
  ASSERT_EQ(module.submodules.size(), 2u);
  EXPECT_EQ(module.submodules[0].first, "true_graph_0");
  EXPECT_EQ(module.submodules[0].second.repr, "<lambda>()");
  EXPECT_EQ(module.submodules[1].second.repr,
            "Sequential(\n          (0): Linear(in_features=3, out_features=4, bias=True)\n        )");
  ASSERT_EQ(module.attributes.size(), 4u);
  const Tensor constant = module.attributes[0].second.tensor;
  EXPECT_EQ(constant.sizes(), (Sizes{2, 2}));
  EXPECT_EQ(constant.itemAsDouble(2), 3.0);
  EXPECT_EQ(constant.itemAsDouble(3), -INFINITY);
  const Tensor big = module.attributes[1].second.tensor;
  EXPECT_EQ(big.dtype(), DType::Float16);
  EXPECT_EQ(big.device().type, "cuda");
  EXPECT_NE(big.itemAsDouble(0), big.itemAsDouble(1));
  EXPECT_EQ(module.attributes[2].second.tensor.itemAsInt(4), 0);
  EXPECT_TRUE(module.attributes[3].second.isParameter);
  EXPECT_EQ(module.attributes[3].second.text,
            "torch.nn.Parameter(torch.randn([3], dtype=torch.float32, device=\"cuda\"))");
}

TEST(TensorLiteral, ReadsWhatReprPrints) {
  EXPECT_EQ(literal("tensor(3)").dtype(), DType::Int64);
  EXPECT_EQ(literal("tensor(3)").itemAsInt(), 3);
  EXPECT_EQ(literal("tensor([1., 2.5000e-05])").itemAsDouble(1), double(2.5e-5f));
  EXPECT_EQ(literal("tensor([True, False])").dtype(), DType::Bool);
  EXPECT_EQ(literal("tensor([1, 2], dtype=torch.int8)").dtype(), DType::Int8);
  EXPECT_EQ(literal("tensor([], size=(0, 4))").sizes(), (Sizes{0, 4}));
  EXPECT_TRUE(std::isnan(literal("tensor(nan)").itemAsDouble()));
  EXPECT_EQ(literal("tensor([9007199254740993])").itemAsInt(), 9007199254740993);
  EXPECT_EQ(literal("tensor([1, 2], device='cuda:0')").device(), (Device{"cuda", 0}));
}

TEST(TensorLiteral, WritesExactly) {
  Tensor floats = *Tensor::zeros(DType::Float32, {2, 2});
  floats.data<float>()[0] = 0.1f;
  floats.data<float>()[1] = INFINITY;
  floats.data<float>()[2] = -0.0f;
  floats.data<float>()[3] = NAN;
  EXPECT_EQ(tensorLiteral(floats), "tensor([[0.10000000149011612, inf], [-0.0, float('nan')]])");
  EXPECT_EQ(tensorLiteral(Tensor::scalarInt(-3, DType::Int16)), "tensor(-3, dtype=torch.int16)");
  EXPECT_EQ(tensorLiteral(*Tensor::zeros(DType::Bool, {0, 3})), "torch.empty([0, 3], dtype=torch.bool)");
}

TEST(TensorLiteral, ReadsBackWhatItWrote) {
  for (const DType dtype :
       {DType::Float64, DType::Float32, DType::Float16, DType::BFloat16, DType::Int64, DType::UInt8, DType::Bool}) {
    Tensor tensor = *Tensor::zeros(DType::Float64, {3, 2});
    for (int i = 0; i < 6; ++i) tensor.data<double>()[i] = i * 1.37 - 2;
    if (dtype == DType::UInt8)
      for (int i = 0; i < 6; ++i) tensor.data<double>()[i] = i;
    tensor = *tensor.to(dtype);
    const Tensor read = literal(tensorLiteral(tensor));
    ASSERT_EQ(read.dtype(), dtype);
    EXPECT_EQ(read.sizes(), tensor.sizes());
    EXPECT_TRUE(std::ranges::equal(read.storage()->view(), tensor.storage()->view())) << tensorLiteral(tensor);
  }
}

TEST(TensorLiteral, ReadsNumbersAsPythonDoes) {
  EXPECT_EQ(literal("tensor([float('1.5'), float('-inf')])").itemAsDouble(), 1.5);
  EXPECT_EQ(literal("tensor(18446744073709551615, dtype=torch.uint64)").itemAsInt(), -1);
  EXPECT_EQ(tensorLiteral(literal("tensor([18446744073709551615, 3], dtype=torch.uint64)")),
            "tensor([18446744073709551615, 3], dtype=torch.uint64)");
  EXPECT_EQ(literal("tensor(-9223372036854775808)").itemAsInt(), INT64_MIN);
  for (const char* text : {"tensor([float('abc')])", "tensor(18446744073709551615)", "tensor([complex(1j, 2)])",
                           "tensor([complex(complex(1, 2), 3)])", "tensor([[], [1]])", "tensor([[[]], [[], []]])"}) {
    const auto expression = parsePythonExpression(text);
    ASSERT_TRUE(expression) << text;
    EXPECT_FALSE(readTensorSource(*expression, 1, {})) << text;
  }
}

TEST(TensorLiteral, RefusesRaggedAndHugeTensors) {
  for (const char* text :
       {"tensor([[1, 2], [3]])", "tensor([1, [2]])", "tensor(['a'])", "torch.randn([-1])", "torch.foo([1])"}) {
    const auto source = readTensorSource(*parsePythonExpression(text), 1, {});
    ASSERT_FALSE(source) << text;
    EXPECT_EQ(source.error().code, ErrorCode::BadInput) << text;
  }
  const auto huge = readTensorSource(*parsePythonExpression("torch.randn([1000000000, 1000000000])"), 1, {});
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, ErrorCode::TooLarge);
}

}  // namespace
}  // namespace kerf
