// Claims about small programs: each fault is refuted by the claim it breaks, and what is right is proved.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "engine/audit/audit.h"

namespace kerf {
namespace {

const std::string header =
    "async_compile = AsyncCompile()\n"
    "cpp_fused_add_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''\n"
    "extern \"C\"  void  kernel(const float* in_ptr0,\n"
    "                       float* out_ptr0)\n"
    "{\n"
    "    {\n"
    "        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(36L); x0+=static_cast<int64_t>(16L))\n"
    "        {\n"
    "            {\n"
    "                if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(32L)))\n"
    "                {\n"
    "                    auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), "
    "static_cast<int64_t>(16));\n"
    "                    tmp0.store(out_ptr0 + static_cast<int64_t>(x0));\n"
    "                }\n"
    "                if(C10_UNLIKELY(x0 >= static_cast<int64_t>(32L) && x0 < static_cast<int64_t>(36L)))\n"
    "                {\n"
    "                    auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), "
    "static_cast<int64_t>(4L));\n"
    "                    tmp0.store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(4L));\n"
    "                }\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "}\n"
    "''')\n"
    "class Runner:\n"
    "    def call(self, args):\n"
    "        arg0_1, = args\n"
    "        args.clear()\n"
    "        assert_size_stride(arg0_1, (4, 9), (9, 1))\n";
const std::string calls =
    "        buf0 = empty_strided_cpu((4, 9), (9, 1), torch.float32)\n"
    "        cpp_fused_add_0(arg0_1, buf0)\n"
    "        del arg0_1\n"
    "        buf1 = empty_strided_cpu((4, 9), (9, 1), torch.float32)\n"
    "        cpp_fused_add_0(buf0, buf1)\n"
    "        del buf0\n"
    "        return (buf1, )\n";
const std::string examples =
    "def get_args():\n"
    "    arg0_1 = rand_strided((4, 9), (9, 1), device='cpu', dtype=torch.float32)\n"
    "    return [arg0_1]\n";

AuditReport audit(const std::string& text) {
  auto report = auditOutputCode(text);
  EXPECT_TRUE(report.has_value()) << report.error().text();
  return report.value_or(AuditReport{});
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// The kinds of the claims that are refuted, in the order of the program.
std::string refuted(const std::string& text) {
  std::string kinds;
  for (const AuditClaim& claim : audit(text).claims)
    if (claim.verdict == ClaimVerdict::Refuted && kinds.find(claimName(claim.about)) == std::string::npos)
      kinds += (kinds.empty() ? "" : " ") + std::string(claimName(claim.about));
  return kinds;
}

const std::string program = header + calls + examples;

TEST(AuditCode, ProvesARightProgram) {
  const AuditReport report = audit(program);
  EXPECT_TRUE(report.claims.empty()) << report.claims.front().reason;
  EXPECT_GT(report.total().proved, 30);
  EXPECT_EQ(report.calls, 2);
}

TEST(AuditCode, RefutesAnIndexBeyondTheEnd) {
  const AuditReport report =
      audit(changed(program, "static_cast<int64_t>(x0), static_cast<int64_t>(4L));\n                    tmp0.store",
                    "1L + static_cast<int64_t>(x0), static_cast<int64_t>(4L));\n                    tmp0.store"));
  const auto claim = std::ranges::find(report.claims, ClaimAbout::Inside, &AuditClaim::about);
  ASSERT_NE(claim, report.claims.end());
  EXPECT_EQ(claim->verdict, ClaimVerdict::Refuted);
  EXPECT_EQ(claim->line, 17);
  EXPECT_EQ(claim->example, "element 36");
}

TEST(AuditCode, RefutesAStoreThatIsMissing) {
  const AuditReport report = audit(changed(
      program, "                    tmp0.store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(4L));\n",
      "\n"));
  const auto claim = std::ranges::find(report.claims, ClaimAbout::Written, &AuditClaim::about);
  ASSERT_NE(claim, report.claims.end());
  EXPECT_EQ(claim->example, "element 32");
}

TEST(AuditCode, RefutesWhatIsUsedAfterItsEnd) {
  EXPECT_EQ(refuted(changed(program, "        cpp_fused_add_0(buf0, buf1)\n        del buf0\n",
                            "        del buf0\n        cpp_fused_add_0(buf0, buf1)\n")),
            "used alive");
  EXPECT_EQ(refuted(changed(program, "cpp_fused_add_0(buf0, buf1)", "cpp_fused_add_0(buf0, buf2)")), "alive written");
}

TEST(AuditCode, RefutesAWriteThroughAnotherName) {
  // buf1 takes the memory of buf0, which is returned as if it were whole.
  EXPECT_EQ(refuted(header + "        buf0 = empty_strided_cpu((4, 9), (9, 1), torch.float32)\n"
                             "        cpp_fused_add_0(arg0_1, buf0)\n"
                             "        buf1 = buf0\n"
                             "        cpp_fused_add_0(arg0_1, buf1)\n"
                             "        del arg0_1\n"
                             "        return (buf0, buf1, )\n"),
            "kept");
}

TEST(AuditCode, RefutesExchangedStrides) {
  EXPECT_EQ(refuted(changed(program, "assert_size_stride(arg0_1, (4, 9), (9, 1))",
                            "assert_size_stride(arg0_1, (4, 9), (1, 9))")),
            "layout");
  EXPECT_EQ(
      refuted(changed(program, "buf1 = empty_strided_cpu((4, 9), (9, 1)", "buf1 = empty_strided_cpu((4, 9), (1, 9)")),
      "written");
}

TEST(AuditCode, RefutesResultsThatOverlapThemselves) {
  const auto asserted = [](const std::string& layout) {
    return header +
           "        buf0 = torch.ops.aten.cumsum.default(arg0_1, 1)\n        del arg0_1\n"
           "        assert_size_stride(buf0, " +
           layout + ")\n        return (buf0, )\n" + examples;
  };
  EXPECT_EQ(refuted(asserted("(4, 9), (9, 1)")), "");
  EXPECT_EQ(refuted(asserted("(4, 9), (1, 1)")), "layout");
  // One of several results, of which the assertion says whose they are.
  EXPECT_EQ(refuted(header +
                    "        buf0 = torch.ops.aten.max.dim(arg0_1, 1)\n        del arg0_1\n"
                    "        buf1 = buf0[0]\n        del buf0\n"
                    "        assert_size_stride(buf1, (4, 9), (1, 1), 'torch.ops.aten.max.dim')\n"
                    "        return (buf1, )\n" +
                    examples),
            "layout");
}

TEST(AuditCode, RefutesElementTypesThatDiffer) {
  EXPECT_EQ(refuted(changed(program, "buf0 = empty_strided_cpu((4, 9), (9, 1), torch.float32)",
                            "buf0 = empty_strided_cpu((4, 9), (9, 1), torch.float64)")),
            "type");
}

/// A copy of `count` elements on the GPU; `offset`: how the kernel computes where its block begins.
std::string copyOnGpu(const std::string& count, const std::string& offset, const std::string& body) {
  return "async_compile = AsyncCompile()\n"
         "triton_poi_fused_clone_0 = async_compile.triton('triton_poi_fused_clone_0', '''\n"
         "@triton_heuristics.pointwise(\n"
         "    triton_meta={'signature': {'in_ptr0': '*i8', 'out_ptr0': '*i8', 'xnumel': 'i32', 'XBLOCK': "
         "'constexpr'}},\n"
         "    inductor_meta={}\n"
         ")\n"
         "@triton.jit\n"
         "def triton_poi_fused_clone_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):\n"
         "    xnumel = " +
         count + "\n    xoffset = " + offset +
         "\n    xindex = xoffset + tl.arange(0, XBLOCK)[:]\n"
         "    xmask = xindex < xnumel\n"
         "    x0 = xindex\n"
         "    tmp0 = tl.load(in_ptr0 + (x0), xmask)\n"
         "    tl.store(out_ptr0 + (x0), tmp0, xmask)\n"
         "''', device_str='cuda')\n"
         "class Runner:\n"
         "    def call(self, args):\n"
         "        arg0_1, = args\n"
         "        args.clear()\n"
         "        assert_size_stride(arg0_1, (" +
         count + ", ), (1, ))\n" + "        buf0 = empty_strided_cuda((" + count + ", ), (1, ), torch.int8)\n" + body +
         "        return (buf0, )\n";
}

TEST(AuditCode, RefutesIndicesBeyondTheirType) {
  const std::string call =
      "        triton_poi_fused_clone_0.run(arg0_1, buf0, 3000000000, stream=stream0)\n"
      "        del arg0_1\n";
  EXPECT_EQ(refuted(copyOnGpu("3000000000", "tl.program_id(0) * XBLOCK", call)), "range");
  EXPECT_EQ(refuted(copyOnGpu("3000000000", "tl.program_id(0).to(tl.int64) * XBLOCK", call)), "");
}

TEST(AuditCode, RefutesConstantsThatWrap) {
  // A template leaves early where it has nothing to do; in int32, 65536 * 65536 is 0.
  const auto leaving = [](const std::string& size) {
    const std::string call =
        "        triton_poi_fused_clone_0.run(arg0_1, buf0, 64, stream=stream0)\n"
        "        del arg0_1\n";
    return changed(copyOnGpu("64", "tl.program_id(0) * XBLOCK", call), "    x0 = xindex\n",
                   "    M = 65536\n    N = " + size + "\n    if M * N == 0:\n        return\n    x0 = xindex\n");
  };
  EXPECT_EQ(refuted(leaving("65536")), "range");
  EXPECT_EQ(refuted(leaving("32767")), "");
  EXPECT_EQ(refuted(leaving("65535")), "");  // it wraps, and is not 0 either
  EXPECT_EQ(refuted(changed(leaving("65536"),
                            "    M = 65536\n    N = ", "    M : tl.constexpr = 65536\n    N : tl.constexpr = ")),
            "");
}

TEST(AuditCode, RefutesStreamsThatDoNotWait) {
  const auto body = [](const std::string& between) {
    return "        stream0 = get_raw_stream(0)\n"
           "        stream1 = get_raw_stream(0)\n"
           "        buf1 = empty_strided_cuda((64, ), (1, ), torch.int8)\n"
           "        triton_poi_fused_clone_0.run(arg0_1, buf1, 64, stream=stream0)\n"
           "        del arg0_1\n" +
           between +
           "        triton_poi_fused_clone_0.run(buf1, buf0, 64, stream=stream1)\n"
           "        del buf1\n";
  };
  EXPECT_EQ(refuted(copyOnGpu("64", "tl.program_id(0) * XBLOCK", body(""))), "ordered");
  EXPECT_EQ(refuted(copyOnGpu("64", "tl.program_id(0) * XBLOCK", body("        event0.wait(stream1)\n"))), "");
}

/// Row sums of a [4, 300] tensor by a looped reduction over `range`.
std::string loopOver(const std::string& range) {
  return "async_compile = AsyncCompile()\n"
         "triton_red_fused_sum_0 = async_compile.triton('triton_red_fused_sum_0', '''\n"
         "@triton_heuristics.reduction(\n"
         "    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'out_ptr1': '*fp32', 'xnumel': "
         "'i32', "
         "'r0_numel': 'i32', 'XBLOCK': 'constexpr', 'R0_BLOCK': 'constexpr'}},\n"
         "    inductor_meta={}\n"
         ")\n"
         "@triton.jit\n"
         "def triton_red_fused_sum_0(in_ptr0, out_ptr0, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr, "
         "R0_BLOCK : tl.constexpr):\n"
         "    xnumel = 4\n"
         "    r0_numel = 300\n"
         "    rnumel = r0_numel\n"
         "    xoffset = tl.program_id(0) * XBLOCK\n"
         "    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]\n"
         "    xmask = xindex < xnumel\n"
         "    r0_base = tl.arange(0, R0_BLOCK)[None, :]\n"
         "    x0 = xindex\n"
         "    _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)\n"
         "    for r0_offset in " +
         range +
         ":\n"
         "        r0_index = r0_offset + r0_base\n"
         "        r0_mask = r0_index < r0_numel\n"
         "        r0_1 = r0_index\n"
         "        tmp0 = tl.load(in_ptr0 + (r0_1 + 300*x0), r0_mask & xmask, other=0.0)\n"
         "        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])\n"
         "        tmp3 = _tmp2 + tmp1\n"
         "        _tmp2 = tl.where(r0_mask & xmask, tmp3, _tmp2)\n"
         "        tl.store(out_ptr1 + (r0_1 + 300*x0), tmp0, r0_mask & xmask)\n"
         "    tmp2 = tl.sum(_tmp2, 1)[:, None]\n"
         "    tl.store(out_ptr0 + (x0), tmp2, xmask)\n"
         "''', device_str='cuda')\n"
         "class Runner:\n"
         "    def call(self, args):\n"
         "        arg0_1, = args\n"
         "        args.clear()\n"
         "        assert_size_stride(arg0_1, (4, 300), (300, 1))\n"
         "        buf0 = empty_strided_cuda((4, ), (1, ), torch.float32)\n"
         "        buf1 = empty_strided_cuda((4, 300), (300, 1), torch.float32)\n"
         "        triton_red_fused_sum_0.run(arg0_1, buf0, buf1, 4, 300, stream=stream0)\n"
         "        del arg0_1\n"
         "        return (buf0, buf1, )\n";
}

/// Claims of the loop's line, with their verdicts.
std::string ofTheLoop(const std::string& range) {
  constexpr int loopLine = 18;
  std::string found;
  for (const AuditClaim& claim : audit(loopOver(range)).claims)
    if (claim.line == loopLine && claim.verdict == ClaimVerdict::Refuted)
      found += std::string(claimName(claim.about)) + ": " + claim.reason;
  return found;
}

TEST(AuditCode, RefutesALoopOverAPartOfItsAxis) {
  EXPECT_TRUE(audit(loopOver("range(0, r0_numel, R0_BLOCK)")).claims.empty());
  EXPECT_TRUE(audit(loopOver("tl.range(0, rnumel, R0_BLOCK, num_stages=2)")).claims.empty());
  EXPECT_TRUE(audit(loopOver("range(0, 300, R0_BLOCK)")).claims.empty());
  for (const char* const range :
       {"range(0, r0_numel // 2, R0_BLOCK)", "range(0, 150, R0_BLOCK)", "range(0, r0_numel - 1, R0_BLOCK)"})
    EXPECT_NE(ofTheLoop(range).find("mask: the loop goes from 0 to "), std::string::npos) << range;
  EXPECT_NE(ofTheLoop("range(1, r0_numel, R0_BLOCK)").find("from 1 to 300"), std::string::npos);
  EXPECT_NE(ofTheLoop("range(0, r0_numel + 1, R0_BLOCK)").find("from 0 to 301"), std::string::npos);
}

TEST(AuditCode, ProvesNothingOfALoopWhoseBoundsAreNotKnown) {
  for (const char* const range :
       {"range(0, ks0, R0_BLOCK)", "range(tl.program_id(0), r0_numel, R0_BLOCK)", "range(0, r0_numel, 64)"}) {
    const AuditReport report = audit(loopOver(range));
    EXPECT_TRUE(std::ranges::any_of(report.claims, [](const AuditClaim& claim) {
      return claim.verdict == ClaimVerdict::NotKnown;
    })) << range;
  }
}

TEST(AuditCode, RefutesAStreamOfAnotherDevice) {
  const auto on = [](const std::string& guard, const std::string& device) {
    return copyOnGpu("64", "tl.program_id(0) * XBLOCK",
                     "        with torch.cuda._DeviceGuard(" + guard +
                         "):\n"
                         "            torch.cuda.set_device(" +
                         guard +
                         ")\n"
                         "            stream0 = get_raw_stream(" +
                         device +
                         ")\n"
                         "            triton_poi_fused_clone_0.run(arg0_1, buf0, 64, stream=stream0)\n"
                         "            del arg0_1\n");
  };
  EXPECT_EQ(refuted(on("0", "0")), "");
  EXPECT_EQ(refuted(on("1", "1")), "");
  EXPECT_EQ(refuted(on("0", "1")), "ordered");
  EXPECT_EQ(refuted(on("1", "0")), "ordered");
}

TEST(AuditCode, KnowsNothingOfUnknownStatements) {
  const AuditReport report =
      audit(changed(program, "        del buf0\n", "        del buf0\n        while True: pass\n"));
  EXPECT_EQ(report.total().refuted, 0);
  EXPECT_EQ(report.total().notKnown, 2);  // the statement, and what is left in the buffers after it
}

TEST(AuditCode, KnowsNothingOfWrappersInCpp) {
  const AuditReport report = audit(
      "#include <torch/csrc/inductor/aoti_runtime/model.h>\n"
      "void AOTInductorModel::run_impl(AtenTensorHandle* input_handles, AtenTensorHandle* output_handles) {\n"
      "}\n");
  EXPECT_EQ(report.total().notKnown, 1);
  EXPECT_EQ(report.total().proved + report.total().refuted, 0);
}

TEST(AuditCode, BoundsHostileTexts) {
  EXPECT_FALSE(auditOutputCode("x = 1\n").has_value());
  const std::string deep(100000, '(');
  EXPECT_EQ(audit(header + "        buf0 = " + deep + "\n" + "        return (arg0_1, )\n").total().refuted, 0);
  std::string blocks = header;
  for (int i = 0; i < 3000; ++i) blocks += std::string(std::size_t(8 + i), ' ') + "if arg0_1.item():\n";
  EXPECT_TRUE(auditOutputCode(blocks).has_value());
  EXPECT_FALSE(auditOutputCode(program, {16, {}}).has_value());
  for (const char* const link : {"+1", ".a", "[0]", "()", "**2", " if 1 else 2", " < 1"}) {
    std::string chain = "        buf0 = empty_strided_cpu((4";
    for (int i = 0; i < 200000; ++i) chain += link;
    EXPECT_TRUE(auditOutputCode(header + chain + ", ), (1, ), torch.float32)\n        return (arg0_1, )\n").has_value())
        << link;
    std::string kernel = "x0";
    for (int i = 0; i < 100000; ++i) kernel += link;
    EXPECT_TRUE(auditOutputCode(changed(program, "static_cast<int64_t>(x0)", kernel)).has_value()) << link;
  }
  for (const char* const sizes :
       {"(9223372036854775807, 9223372036854775807), (1, 1)", "(1, 1), (9223372036854775807, 2)", "(1 // 0, ), (1, )",
        "(-5, 3), (3, 1)", "(1e30, ), (1, )"})
    EXPECT_TRUE(auditOutputCode(header + "        buf0 = empty_strided_cpu(" + sizes +
                                ", torch.float32)\n        cpp_fused_add_0(arg0_1, buf0)\n        return (buf0, )\n")
                    .has_value())
        << sizes;
}

}  // namespace
}  // namespace kerf
