// Programs that write into their inputs, next to the graph that says so: running statistics, counters, caches.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "engine/audit/audit.h"
#include "engine/ir/parser.h"
#include "tests/support/code_mutants.h"

namespace kerf {
namespace {

struct InputProgram {
  std::string name, graph, text;
  std::vector<Sizes> sizes;
};

/// relu of the batch, and a mean that moves towards that of the batch.
const InputProgram runningMean = {
    "running mean",
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, primals_1: \"f32[32, 4]\", primals_2: \"f32[4]\"):\n"
    "        relu: \"f32[32, 4]\" = torch.ops.aten.relu.default(primals_1)\n"
    "        mean: \"f32[4]\" = torch.ops.aten.mean.dim(primals_1, [0])\n"
    "        mul: \"f32[4]\" = torch.ops.aten.mul.Tensor(mean, 0.1)\n"
    "        mul_1: \"f32[4]\" = torch.ops.aten.mul.Tensor(primals_2, 0.9)\n"
    "        add: \"f32[4]\" = torch.ops.aten.add.Tensor(mul, mul_1)\n"
    "        copy_: \"f32[4]\" = torch.ops.aten.copy_.default(primals_2, add)\n"
    "        return (relu,)\n",
    "async_compile = AsyncCompile()\n"
    "cpp_fused_relu_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''\n"
    "extern \"C\"  void  kernel(const float* in_ptr0,\n"
    "                       float* out_ptr0)\n"
    "{\n"
    "    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(128L); x0+=static_cast<int64_t>(1L))\n"
    "    {\n"
    "        auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];\n"
    "        auto tmp1 = tmp0 * (tmp0>0);\n"
    "        out_ptr0[static_cast<int64_t>(x0)] = tmp1;\n"
    "    }\n"
    "}\n"
    "''')\n"
    "cpp_fused_add_copy__mean_mul_1 = async_compile.cpp_pybinding(['const float*', 'const float*', 'float*'], r'''\n"
    "extern \"C\"  void  kernel(const float* in_ptr0,\n"
    "                       const float* in_ptr1,\n"
    "                       float* out_ptr1)\n"
    "{\n"
    "    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(4L); x0+=static_cast<int64_t>(1L))\n"
    "    {\n"
    "        float tmp_acc0 = 0;\n"
    "        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(32L); x1+=static_cast<int64_t>(1L))\n"
    "        {\n"
    "            auto tmp0 = in_ptr0[static_cast<int64_t>(x0 + 4L*x1)];\n"
    "            tmp_acc0 = tmp_acc0 + tmp0;\n"
    "        }\n"
    "        auto tmp5 = in_ptr1[static_cast<int64_t>(x0)];\n"
    "        auto tmp1 = static_cast<float>(32.0);\n"
    "        auto tmp2 = tmp_acc0 / tmp1;\n"
    "        auto tmp3 = static_cast<float>(0.1);\n"
    "        auto tmp4 = float(tmp2 * tmp3);\n"
    "        auto tmp6 = static_cast<float>(0.9);\n"
    "        auto tmp7 = float(tmp5 * tmp6);\n"
    "        auto tmp8 = float(tmp4 + tmp7);\n"
    "        out_ptr1[static_cast<int64_t>(x0)] = tmp8;\n"
    "    }\n"
    "}\n"
    "''')\n"
    "class Runner:\n"
    "    def call(self, args):\n"
    "        primals_1, primals_2 = args\n"
    "        args.clear()\n"
    "        assert_size_stride(primals_1, (32, 4), (4, 1))\n"
    "        assert_size_stride(primals_2, (4, ), (1, ))\n"
    "        buf0 = empty_strided_cpu((32, 4), (4, 1), torch.float32)\n"
    "        cpp_fused_relu_0(primals_1, buf0)\n"
    "        cpp_fused_add_copy__mean_mul_1(primals_1, primals_2, primals_2)\n"
    "        del primals_1\n"
    "        del primals_2\n"
    "        return (buf0, )\n",
    {{32, 4}, {4}}};

const std::string tritonHead =
    "@triton_heuristics.pointwise(\n"
    "    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr1': '*fp32', 'xnumel': 'i32', 'XBLOCK': "
    "'constexpr'}},\n"
    "    inductor_meta={}\n"
    ")\n"
    "@triton.jit\n";

/// A counter of steps, and a result that reads the new one.
const InputProgram counter = {
    "counter",
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, arg0_1: \"f32[5]\"):\n"
    "        add: \"f32[5]\" = torch.ops.aten.add.Tensor(arg0_1, 1)\n"
    "        copy_: \"f32[5]\" = torch.ops.aten.copy_.default(arg0_1, add)\n"
    "        mul: \"f32[5]\" = torch.ops.aten.mul.Tensor(add, 3)\n"
    "        return (mul,)\n",
    "async_compile = AsyncCompile()\n"
    "triton_poi_fused_add_mul_0 = async_compile.triton('triton_poi_fused_add_mul_0', '''\n" +
        tritonHead +
        "def triton_poi_fused_add_mul_0(in_ptr0, out_ptr1, xnumel, XBLOCK : tl.constexpr):\n"
        "    xnumel = 5\n"
        "    xoffset = tl.program_id(0) * XBLOCK\n"
        "    xindex = xoffset + tl.arange(0, XBLOCK)[:]\n"
        "    xmask = xindex < xnumel\n"
        "    x0 = xindex\n"
        "    tmp0 = tl.load(in_ptr0 + (x0), xmask)\n"
        "    tmp1 = 1.0\n"
        "    tmp2 = tmp0 + tmp1\n"
        "    tmp3 = 3.0\n"
        "    tmp4 = tmp2 * tmp3\n"
        "    tl.store(out_ptr1 + (x0), tmp4, xmask)\n"
        "''', device_str='cuda')\n"
        "triton_poi_fused_add_copy__1 = async_compile.triton('triton_poi_fused_add_copy__1', '''\n" +
        tritonHead +
        "def triton_poi_fused_add_copy__1(in_ptr0, out_ptr1, xnumel, XBLOCK : tl.constexpr):\n"
        "    xnumel = 5\n"
        "    xoffset = tl.program_id(0) * XBLOCK\n"
        "    xindex = xoffset + tl.arange(0, XBLOCK)[:]\n"
        "    xmask = xindex < xnumel\n"
        "    x0 = xindex\n"
        "    tmp0 = tl.load(in_ptr0 + (x0), xmask)\n"
        "    tmp1 = 1.0\n"
        "    tmp2 = tmp0 + tmp1\n"
        "    tl.store(out_ptr1 + (x0), tmp2, xmask)\n"
        "''', device_str='cuda')\n"
        "class Runner:\n"
        "    def call(self, args):\n"
        "        arg0_1, = args\n"
        "        args.clear()\n"
        "        assert_size_stride(arg0_1, (5, ), (1, ))\n"
        "        buf0 = empty_strided_cuda((5, ), (1, ), torch.float32)\n"
        "        triton_poi_fused_add_mul_0.run(arg0_1, buf0, 5, stream=stream0)\n"
        "        triton_poi_fused_add_copy__1.run(arg0_1, arg0_1, 5, stream=stream0)\n"
        "        del arg0_1\n"
        "        return (buf0, )\n",
    {{5}}};

/// A row of a cache is filled through a fallback operator, which the wrapper calls as a method.
const InputProgram cache = {"cache",
                            "class GraphModule(torch.nn.Module):\n"
                            "    def forward(self, arg0_1: \"f32[3, 4]\", arg1_1: \"f32[4]\"):\n"
                            "        select: \"f32[4]\" = torch.ops.aten.select.int(arg0_1, 0, 1)\n"
                            "        copy_: \"f32[4]\" = torch.ops.aten.copy_.default(select, arg1_1)\n"
                            "        return (arg0_1,)\n",
                            "async_compile = AsyncCompile()\n"
                            "class Runner:\n"
                            "    def call(self, args):\n"
                            "        arg0_1, arg1_1 = args\n"
                            "        args.clear()\n"
                            "        assert_size_stride(arg0_1, (3, 4), (4, 1))\n"
                            "        assert_size_stride(arg1_1, (4, ), (1, ))\n"
                            "        reinterpret_tensor(arg0_1, (4, ), (1, ), 4).copy_(arg1_1)\n"
                            "        del arg1_1\n"
                            "        return (arg0_1, )\n",
                            {{3, 4}, {4}}};

AuditReport audited(const InputProgram& program, const std::string& text) {
  const auto graph = parseReadable(program.graph);
  EXPECT_TRUE(graph.has_value()) << program.name;
  AuditOptions options;
  options.graph.module = &*graph;
  ValueList inputs;
  int which = 0;
  for (const Sizes& sizes : program.sizes) {
    const auto tensor = Tensor::zeros(DType::Float32, sizes);
    for (std::int64_t i = 0; i < tensor->numel(); ++i)
      tensor->data<float>()[i] = float((i * 37 + which * 11) % 29) / 29.0f - 0.4f;
    inputs.emplace_back(*tensor);
    ++which;
  }
  options.graph.inputs = [&] { return inputs; };
  const auto report = auditOutputCode(text, options);
  EXPECT_TRUE(report.has_value()) << program.name;
  return report.value_or(AuditReport{});
}

std::string refutedBy(const AuditReport& report) {
  std::string text;
  for (const AuditClaim& claim : report.claims)
    if (claim.verdict == ClaimVerdict::Refuted)
      text += std::string(claimName(claim.about)) + " " + claim.subject + ": " + claim.reason + "\n";
  return text;
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.rfind(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(AuditInputs, ProvesWhatWritesWhereTheGraphWrites) {
  for (const InputProgram* const program : {&runningMean, &counter, &cache}) {
    const AuditReport report = audited(*program, program->text);
    EXPECT_EQ(refutedBy(report), "") << program->name;
    EXPECT_EQ(report.counts[std::size_t(ClaimAbout::Meaning)].proved, 2) << program->name;
    EXPECT_GE(report.counts[std::size_t(ClaimAbout::Aliases)].proved, 1) << program->name;
    EXPECT_GE(report.counts[std::size_t(ClaimAbout::Nodes)].proved, 2) << program->name;
  }
}

TEST(AuditInputs, RefutesADroppedCopy) {
  const auto kind = std::ranges::find(testing::mutantKinds(), "dropped copy_", &testing::MutantKind::name);
  ASSERT_NE(kind, testing::mutantKinds().end());
  for (const InputProgram* const program : {&runningMean, &counter, &cache})
    for (unsigned seed = 0; seed < 4; ++seed) {
      std::mt19937 random(seed);
      const auto mutant = kind->make(testing::codeLines(program->text), random);
      ASSERT_TRUE(mutant.has_value()) << program->name;
      const AuditReport report = audited(*program, mutant->text);
      const bool isNamed = std::ranges::any_of(report.claims, [&](const AuditClaim& claim) {
        return claim.verdict == ClaimVerdict::Refuted && testing::namesStatement(*mutant, claim);
      });
      EXPECT_TRUE(isNamed) << program->name << ": " << mutant->change << '\n' << refutedBy(report);
    }
}

TEST(AuditInputs, RefutesAWriteThatTheGraphHasNot) {
  EXPECT_EQ(refutedBy(audited(counter, changed(counter.text, "add_mul_0.run(arg0_1, buf0, 5",
                                               "add_mul_0.run(arg0_1, arg0_1, 5")))
                .find("aliases"),
            std::string::npos);  // the graph writes into it, and not this: its values say so
  const std::string text =
      changed(runningMean.text, "cpp_fused_relu_0(primals_1, buf0)", "cpp_fused_relu_0(primals_1, primals_1)");
  EXPECT_NE(refutedBy(audited(runningMean, text)).find("aliases primals_1: it writes into an input that no node"),
            std::string::npos);
}

TEST(AuditInputs, RefutesAResultThatIsNotTheInput) {
  const std::string text = changed(cache.text, "return (arg0_1, )",
                                   "buf1 = empty_strided_cpu((3, 4), (4, 1), torch.float32)\n"
                                   "        buf1.copy_(arg0_1)\n"
                                   "        return (buf1, )");
  EXPECT_EQ(refutedBy(audited(cache, text)), "aliases result 0 (buf1): the graph returns its input arg0_1 here\n");
}

TEST(AuditInputs, RefutesResultsThatShareMemory) {
  InputProgram twice = counter;
  twice.graph = changed(counter.graph, "return (mul,)", "return (mul, add)");
  twice.text = changed(counter.text, "return (buf0, )", "return (buf0, buf0, )");
  EXPECT_NE(refutedBy(audited(twice, twice.text))
                .find("aliases results 0 (buf0) and 1 (buf0): they share memory, and the graph's mul and add do not"),
            std::string::npos);
  twice.graph = changed(counter.graph, "return (mul,)", "return (mul, mul)");
  EXPECT_EQ(refutedBy(audited(twice, twice.text)), "");
}

TEST(AuditInputs, RefutesSizesAndTypesThatTheGraphHasNot) {
  const std::string sizes =
      changed(runningMean.text, "return (buf0, )", "return (reinterpret_tensor(buf0, (4, 32), (32, 1), 0), )");
  EXPECT_NE(refutedBy(audited(runningMean, sizes)).find("it has sizes (4, 32), and the graph's relu has (32, 4)"),
            std::string::npos);
  const std::string strides = changed(runningMean.text, "assert_size_stride(primals_1, (32, 4), (4, 1))",
                                      "assert_size_stride(primals_1, (4, 32), (32, 1))");
  EXPECT_NE(refutedBy(audited(runningMean, strides)).find("nodes primals_1: sizes (4, 32) are asserted"),
            std::string::npos);
}

}  // namespace
}  // namespace kerf
