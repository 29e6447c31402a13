// Programs run next to their graph: what computes the nodes is proved, what computes something else is refuted.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "engine/audit/audit.h"
#include "engine/audit/meaning/lanes.h"
#include "engine/audit/syntax/syntax_node.h"
#include "engine/ir/parser.h"

namespace kerf {
namespace {

const std::string graphText =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, arg0_1: \"f32[6, 40]\", arg1_1: \"f32[6, 40]\"):\n"
    "        sub: \"f32[6, 40]\" = torch.ops.aten.sub.Tensor(arg0_1, arg1_1)\n"
    "        exp: \"f32[6, 40]\" = torch.ops.aten.exp.default(sub)\n"
    "        sum_1: \"f32[6]\" = torch.ops.aten.sum.dim_IntList(exp, [1])\n"
    "        return (exp, sum_1)\n";

const std::string cppKernel =
    "cpp_fused_0 = async_compile.cpp_pybinding(['const float*', 'const float*', 'float*', 'float*'], r'''\n"
    "extern \"C\"  void  kernel(const float* in_ptr0,\n"
    "                       const float* in_ptr1,\n"
    "                       float* out_ptr0,\n"
    "                       float* out_ptr1)\n"
    "{\n"
    "    {\n"
    "        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(6L); x0+=static_cast<int64_t>(1L))\n"
    "        {\n"
    "            float tmp_acc0 = 0;\n"
    "            at::vec::Vectorized<float> tmp_acc0_vec = at::vec::Vectorized<float>(0);\n"
    "            for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(40L); "
    "x1+=static_cast<int64_t>(16L))\n"
    "            {\n"
    "                if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(32L)))\n"
    "                {\n"
    "                    auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x1 + 40L*x0), "
    "static_cast<int64_t>(16));\n"
    "                    auto tmp1 = at::vec::Vectorized<float>::loadu(in_ptr1 + static_cast<int64_t>(x1 + 40L*x0), "
    "static_cast<int64_t>(16));\n"
    "                    auto tmp2 = tmp0 - tmp1;\n"
    "                    auto tmp3 = tmp2.exp();\n"
    "                    tmp3.store(out_ptr0 + static_cast<int64_t>(x1 + 40L*x0));\n"
    "                    tmp_acc0_vec = tmp_acc0_vec + tmp3;\n"
    "                }\n"
    "                if(C10_UNLIKELY(x1 >= static_cast<int64_t>(32L) && x1 < static_cast<int64_t>(40L)))\n"
    "                {\n"
    "                    auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x1 + 40L*x0), "
    "static_cast<int64_t>(8L));\n"
    "                    auto tmp1 = at::vec::Vectorized<float>::loadu(in_ptr1 + static_cast<int64_t>(x1 + 40L*x0), "
    "static_cast<int64_t>(8L));\n"
    "                    auto tmp2 = tmp0 - tmp1;\n"
    "                    auto tmp3 = tmp2.exp();\n"
    "                    tmp3.store(out_ptr0 + static_cast<int64_t>(x1 + 40L*x0), static_cast<int64_t>(8L));\n"
    "                    tmp_acc0_vec = sum_masked_reduce(tmp_acc0_vec, tmp3, static_cast<int64_t>(8L));\n"
    "                }\n"
    "            }\n"
    "            tmp_acc0 = tmp_acc0 + at::vec::vec_reduce_all<float, 1>([](at::vec::Vectorized<float>& x, "
    "at::vec::Vectorized<float>& y) { return x + y; }, tmp_acc0_vec);\n"
    "            out_ptr1[static_cast<int64_t>(x0)] = static_cast<float>(tmp_acc0);\n"
    "        }\n"
    "    }\n"
    "}\n"
    "''')\n";

const std::string tritonKernel =
    "triton_per_fused_0 = async_compile.triton('triton_per_fused_0', '''\n"
    "@triton_heuristics.persistent_reduction(\n"
    "    triton_meta={'signature': {'in_ptr0': '*fp32', 'in_ptr1': '*fp32', 'out_ptr0': '*fp32', 'out_ptr1': '*fp32', "
    "'xnumel': 'i32', 'r0_numel': 'i32', 'XBLOCK': 'constexpr'}},\n"
    "    inductor_meta={'num_store': 2}\n"
    ")\n"
    "@triton.jit\n"
    "def triton_per_fused_0(in_ptr0, in_ptr1, out_ptr0, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):\n"
    "    xnumel = 6\n"
    "    r0_numel = 40\n"
    "    R0_BLOCK: tl.constexpr = 64\n"
    "    rnumel = r0_numel\n"
    "    RBLOCK: tl.constexpr = R0_BLOCK\n"
    "    xoffset = tl.program_id(0) * XBLOCK\n"
    "    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]\n"
    "    xmask = xindex < xnumel\n"
    "    r0_index = tl.arange(0, R0_BLOCK)[None, :]\n"
    "    r0_offset = 0\n"
    "    r0_mask = r0_index < r0_numel\n"
    "    r0_1 = r0_index\n"
    "    x0 = xindex\n"
    "    tmp0 = tl.load(in_ptr0 + (r0_1 + 40*x0), r0_mask & xmask, other=0.0)\n"
    "    tmp1 = tl.load(in_ptr1 + (r0_1 + 40*x0), r0_mask & xmask, other=0.0)\n"
    "    tmp2 = tmp0 - tmp1\n"
    "    tmp3 = libdevice.exp(tmp2)\n"
    "    tmp4 = tl.broadcast_to(tmp3, [XBLOCK, R0_BLOCK])\n"
    "    tmp6 = tl.where(r0_mask & xmask, tmp4, 0)\n"
    "    tmp7 = tl.sum(tmp6, 1)[:, None].to(tl.float32)\n"
    "    tl.store(out_ptr0 + (r0_1 + 40*x0), tmp3, r0_mask & xmask)\n"
    "    tl.store(out_ptr1 + (x0), tmp7, xmask)\n"
    "''', device_str='cuda')\n";

std::string program(const std::string& kernel, const std::string& call) {
  return "async_compile = AsyncCompile()\n" + kernel +
         "class Runner:\n"
         "    def call(self, args):\n"
         "        arg0_1, arg1_1 = args\n"
         "        args.clear()\n"
         "        assert_size_stride(arg0_1, (6, 40), (40, 1))\n"
         "        assert_size_stride(arg1_1, (6, 40), (40, 1))\n"
         "        buf0 = empty_strided_cpu((6, 40), (40, 1), torch.float32)\n"
         "        buf1 = empty_strided_cpu((6, ), (1, ), torch.float32)\n"
         "        " +
         call +
         "\n"
         "        del arg0_1\n"
         "        del arg1_1\n"
         "        return (buf0, buf1, )\n";
}

const std::string cppCall = "cpp_fused_0(arg0_1, arg1_1, buf0, buf1)";
const std::string tritonCall = "triton_per_fused_0.run(arg0_1, arg1_1, buf0, buf1, 6, 40, stream=stream0)";

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.rfind(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// "2 proved", or the reason and the statement of what is not.
std::string meaning(const std::string& text, const std::string& nodes = graphText) {
  const auto graph = parseReadable(nodes);
  EXPECT_TRUE(graph.has_value());
  AuditOptions options;
  options.graph.module = &*graph;
  ValueList inputs;
  for (int which = 0; which < 2; ++which) {
    const auto tensor = Tensor::zeros(DType::Float32, {6, 40});
    for (int i = 0; i < 240; ++i) tensor->data<float>()[i] = float((i * 37 + which * 11) % 29) / 29.0f - 0.4f;
    inputs.emplace_back(*tensor);
  }
  options.graph.inputs = [&] { return inputs; };
  const auto report = auditOutputCode(text, options);
  EXPECT_TRUE(report.has_value());
  for (const AuditClaim& claim : report->claims)
    if (claim.about == ClaimAbout::Meaning) return claim.subject + ": " + claim.reason + "; " + claim.example;
  return std::to_string(report->counts[std::size_t(ClaimAbout::Meaning)].proved) + " proved";
}

TEST(AuditMeaning, ProvesWhatComputesTheNodes) {
  EXPECT_EQ(meaning(program(cppKernel, cppCall)), "2 proved");
  EXPECT_EQ(meaning(program(tritonKernel, tritonCall)), "2 proved");
}

TEST(AuditMeaning, RefutesExchangedArgumentsOfOneLayout) {
  const std::string why = ": it does not compute what the graph's nodes give: result 0 differs; element [0, 0]: ";
  EXPECT_TRUE(meaning(program(cppKernel, changed(cppCall, "arg0_1, arg1_1", "arg1_1, arg0_1")))
                  .starts_with("cpp_fused_0" + why));
  EXPECT_TRUE(meaning(program(tritonKernel, changed(tritonCall, "arg0_1, arg1_1", "arg1_1, arg0_1")))
                  .starts_with("triton_per_fused_0" + why));
}

TEST(AuditMeaning, RefutesOtherArithmetic) {
  EXPECT_NE(meaning(program(changed(cppKernel, "tmp0 - tmp1", "tmp0 + tmp1"), cppCall))
                .find("result 0 differs; element [0, 32]"),
            std::string::npos);
  EXPECT_NE(
      meaning(program(changed(tritonKernel, "tl.where(r0_mask & xmask, tmp4, 0)", "tl.where(r0_mask & xmask, tmp4, 1)"),
                      tritonCall))
          .find("result 1 differs"),
      std::string::npos);
}

/// A kernel that clamps the difference at a bound.
std::string clampedAt(const std::string& bound) {
  const std::string from = "auto tmp3 = tmp2.exp();";
  std::string text = program(cppKernel, cppCall);
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
    text.replace(at, from.size(), "auto tmp3 = at::vec::minimum(tmp2, at::vec::Vectorized<float>(" + bound + "));");
  return text;
}

TEST(AuditMeaning, ReachesBoundsFarFromZero) {
  std::string graph = graphText;
  graph.replace(graph.find("exp.default(sub)"), 16, "clamp_max.default(sub, 3.0)");
  EXPECT_EQ(meaning(clampedAt("3.0"), graph), "2 proved");
  EXPECT_NE(meaning(clampedAt("2.5"), graph).find("it is what the nodes give on some inputs only"), std::string::npos);
}

TEST(AuditMeaning, RefutesSizesThatNothingDefines) {
  const std::string text =
      changed(program(cppKernel, cppCall), "buf1 = empty_strided_cpu((6, )", "buf1 = empty_strided_cpu((u0, )");
  const auto report = auditOutputCode(text);
  ASSERT_TRUE(report.has_value());
  const auto claim = std::ranges::find(report->claims, std::string("u0"), &AuditClaim::subject);
  ASSERT_NE(claim, report->claims.end());
  EXPECT_EQ(claim->reason, "call uses it, and nothing defines it there");
  EXPECT_EQ(claim->verdict, ClaimVerdict::Refuted);
}

TEST(AuditMeaning, DrawsRandomNumbersAlike) {
  const auto graph = parseReadable(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, arg0_1: \"f32[6]\"):\n"
      "        seeds: \"i64[1]\" = torch.ops.prims.inductor_seeds.default(1, device(type='cuda', index=0))\n"
      "        seed: \"i64[]\" = torch.ops.prims.inductor_lookup_seed.default(seeds, 0)\n"
      "        random: \"f32[6]\" = torch.ops.prims.inductor_random.default([6], seed, 'rand')\n"
      "        mul: \"f32[6]\" = torch.ops.aten.mul.Tensor(random, arg0_1)\n"
      "        return (mul,)\n");
  ASSERT_TRUE(graph.has_value());
  const std::string text =
      "async_compile = AsyncCompile()\n"
      "triton_poi_0 = async_compile.triton('triton_poi_0', '''\n"
      "@triton_heuristics.pointwise(\n"
      "    triton_meta={'signature': {'in_ptr0': '*i64', 'in_ptr1': '*fp32', 'out_ptr0': '*fp32', 'load_seed_offset': "
      "'i32', "
      "'xnumel': 'i32', 'XBLOCK': 'constexpr'}},\n"
      "    inductor_meta={'num_store': 1}\n"
      ")\n"
      "@triton.jit\n"
      "def triton_poi_0(in_ptr0, in_ptr1, out_ptr0, load_seed_offset, xnumel, XBLOCK : tl.constexpr):\n"
      "    xnumel = 6\n"
      "    xoffset = tl.program_id(0) * XBLOCK\n"
      "    xindex = xoffset + tl.arange(0, XBLOCK)[:]\n"
      "    xmask = xindex < xnumel\n"
      "    x0 = xindex\n"
      "    tmp0 = tl.load(in_ptr0 + load_seed_offset)\n"
      "    tmp1 = x0\n"
      "    tmp2 = tl.rand(tmp0, (tmp1).to(tl.uint32))\n"
      "    tmp3 = tl.load(in_ptr1 + (x0), xmask)\n"
      "    tmp4 = tmp2 * tmp3\n"
      "    tl.store(out_ptr0 + (x0), tmp4, xmask)\n"
      "''', device_str='cuda')\n"
      "class Runner:\n"
      "    def call(self, args):\n"
      "        arg0_1, = args\n"
      "        args.clear()\n"
      "        buf0 = empty_strided_cuda((1, ), (1, ), torch.int64)\n"
      "        aten.randint.low_out(-9223372036854775808, 9223372036854775807, [1], out=buf0)\n"
      "        buf1 = empty_strided_cuda((6, ), (1, ), torch.float32)\n"
      "        triton_poi_0.run(buf0, arg0_1, buf1, 0, 6, stream=stream0)\n"
      "        del arg0_1\n"
      "        return (buf1, )\n";
  AuditOptions options;
  options.graph.module = &*graph;
  const auto tensor = Tensor::zeros(DType::Float32, {6});
  for (int i = 0; i < 6; ++i) tensor->data<float>()[i] = float(i) + 0.5f;
  options.graph.inputs = [&] { return ValueList{Value(*tensor)}; };
  const auto report = auditOutputCode(text, options);
  ASSERT_TRUE(report.has_value());
  for (const AuditClaim& claim : report->claims) EXPECT_NE(claim.about, ClaimAbout::Meaning) << claim.reason;
  EXPECT_EQ(report->counts[std::size_t(ClaimAbout::Meaning)].proved, 1);
}

TEST(AuditMeaning, BoundsSizesThatNothingHas) {
  const std::string right = program(cppKernel, cppCall);
  const auto asked = [&](const std::string& sizes) {
    return meaning(changed(right, "buf0 = empty_strided_cpu((6, 40), (40, 1)", "buf0 = empty_strided_cpu(" + sizes));
  };
  for (const char* const sizes :
       {"(1099511627776, 1099511627776), (0, 0)", "(4, 9223372036854775807), (9223372036854775807, 2)",
        "(1073741824, 40), (40, 1)", "(-6, 40), (40, 1)", "(6, 40), (40, -1)", "(6, 40), (40, )"})
    EXPECT_EQ(asked(sizes).find("2 proved"), std::string::npos) << sizes;
}

TEST(AuditMeaning, SaysWhatIsNotKnown) {
  EXPECT_NE(
      meaning(program(changed(tritonKernel, "libdevice.exp(tmp2)", "libdevice.of_another_kind(tmp2)"), tritonCall))
          .find("it depends on what is not computed here"),
      std::string::npos);
}

TEST(AuditMeaning, LanesOfUnequalNumberAreNotRead) {
  const KernelLanes many(NumberArray(1 << 20), LaneType::Float32), two(NumberArray(2), LaneType::Float32);
  EXPECT_TRUE(chooseLanes(many, two, many).isUnknown);
  EXPECT_TRUE(chooseLanes(many, many, two).isUnknown);
  EXPECT_FALSE(chooseLanes(two, two, two).isUnknown);
  EXPECT_EQ(SyntaxNode().argument(3).items.size(), 0u);
}

}  // namespace
}  // namespace kerf
