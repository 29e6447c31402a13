// Fusion groups out of Inductor's output code.
#include <gtest/gtest.h>

#include "engine/capture/common/fusion_calls.h"
#include "engine/capture/common/recorded_fusion.h"
#include "engine/ir/parser.h"
#include "tests/unit/fusion_captures.h"

namespace kerf {
namespace {

using Names = std::vector<std::string>;

const char* const cudaProgram = R"(# AOT ID: ['3_backward']
async_compile = AsyncCompile()
# kernel path: /tmp/a.py
# Topologically Sorted Source Nodes: [x, y], Original ATen: [aten.mul, aten.add]
# Source node to ATen node mapping:
#   x => mul
# Graph fragment:
#   %primals_1 : Tensor "bf16[4][1]cuda:0" = PlaceHolder[target=primals_1]
#   %buf3 : Tensor "f32[4][1]cuda:0" = PlaceHolder[target=buf3]
#   %mul : Tensor "bf16[4][1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%primals_1, 2), kwargs = {})
#   return %mul,%buf3
triton_poi_fused_mul_0 = async_compile.triton('triton_poi_fused_mul_0', '''
# Graph fragment:
#   %not_a_node : Tensor "f32[4]" = call_function[target=x](args = ())
extern_kernels.mm(nothing, of, this)
''', device_str='cuda')
cpp_fused_add_1 = async_compile.cpp_pybinding(['const float*'], r'''
extern "C"  void  kernel(const float* in_ptr0) {}
''')
def call(args):
    primals_1, primals_2 = args
    args.clear()
    assert_size_stride(primals_1, (4, ), (1, ))
    buf0 = empty_strided_cuda((4, ), (1, ), torch.bfloat16)
    # Topologically Sorted Source Nodes: [x], Original ATen: [aten.mul]
    stream0 = get_raw_stream(0)
    triton_poi_fused_mul_0.run(primals_1, buf0, 0.5, 4, stream=stream0)
    # Topologically Sorted Source Nodes: [z, w], Original ATen: [aten.addmm]
    # [Provenance debug handles] extern_kernels.addmm:7
    extern_kernels.addmm(primals_2, reinterpret_tensor(buf0, (2, 2), (2, 1), 0), primals_1, alpha=1, beta=1, out=buf1)
    buf2 = torch.ops.aten.topk.default(buf1, 1)
    buf4 = buf2[0]
    buf5 = buf4; del buf4  # reuse
    cpp_fused_add_1(buf5, buf6)
    return (buf5, reinterpret_tensor(buf6, (2, 2), (2, 1), 0), primals_1, s0, )
)";

TEST(WrapperCode, ReadsKernelsAndCalls) {
  const WrapperCode code = readWrapperCode(cudaProgram);
  EXPECT_EQ(code.part, "backward");
  ASSERT_EQ(code.kernels.size(), 2u);
  EXPECT_EQ(code.kernels[0].name, "triton_poi_fused_mul_0");
  EXPECT_EQ(code.kernels[0].sources, (Names{"x", "y"}));
  EXPECT_EQ(code.kernels[0].computed, Names{"mul"});
  EXPECT_EQ(code.kernels[0].loaded, (Names{"primals_1", "buf3"}));
  EXPECT_EQ(code.kernels[0].stored, (Names{"mul", "buf3"}));
  EXPECT_EQ(code.kernels[1].name, "cpp_fused_add_1");
  EXPECT_TRUE(code.kernels[1].computed.empty());
  ASSERT_EQ(code.calls.size(), 4u);
  EXPECT_EQ(code.calls[0].name(), "triton_poi_fused_mul_0:1");
  EXPECT_EQ(code.calls[0].arguments, (Names{"primals_1", "buf0"}));
  EXPECT_EQ(code.calls[0].sources, Names{"x"});
  EXPECT_EQ(code.calls[1].name(), "extern_kernels.addmm:7");
  EXPECT_EQ(code.calls[1].arguments, (Names{"primals_2", "buf0", "primals_1"}));
  EXPECT_EQ(code.calls[1].result, "buf1");
  EXPECT_EQ(code.calls[1].sources, (Names{"z", "w"}));
  EXPECT_EQ(code.calls[2].name(), "torch.ops.aten.topk.default:3");
  EXPECT_EQ(code.calls[2].result, "buf2");
  EXPECT_TRUE(code.calls[2].sources.empty());
  EXPECT_EQ(code.calls[3].arguments, (Names{"buf5", "buf6"}));
  EXPECT_EQ(code.items, (std::vector<std::pair<std::string, std::string>>{{"buf4", "buf2"}}));
  EXPECT_EQ(code.returned, (Names{"buf5", "buf6", "primals_1", "s0"}));
}

TEST(WrapperCode, OddTextsHaveNoCalls) {
  for (const char* text : {"", "\n\n", "'''", "x = '''\nextern_kernels.mm(a, b)\n", "# Graph fragment:\n#   %",
                           "extern_kernels", "= (", "buf1 = buf0[", "# AOT ID: ['", "return (", "return ((((,",
                           "# [Provenance debug handles] a:", "f(a='", " = async_compile.triton("}) {
    EXPECT_TRUE(readWrapperCode(text).calls.empty()) << text;
    EXPECT_TRUE(groupsOfCalls(readWrapperCode(text), Graph()).empty()) << text;
  }
  EXPECT_EQ(readWrapperCode("extern_kernels.mm(").calls.size(), 1u);  // cut short
}

TEST(FusionCalls, LaterCallsOfAKernelAreFoundAgain) {
  const testing::TemporaryFolder folder;
  const auto capture = testing::importTraceText(folder, testing::layerNormLog());
  ASSERT_TRUE(capture.has_value()) << capture.error().text();
  const auto groups = recordedFusionGroups(*capture);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].kernel, "triton_per_fused_add_native_layer_norm_0:1");
  EXPECT_EQ(groups[0].postGradNodes, (Names{"add", "to_float", "var_mean", "var", "mean", "eps", "rsqrt", "sub", "mul",
                                            "scaled", "shifted", "normed"}));
  EXPECT_EQ(groups[0].preGradNodes, (Names{"r", "x"}));
  EXPECT_EQ(groups[0].loads, (Names{"arg0_1", "arg1_1", "arg2_1", "arg3_1"}));
  EXPECT_EQ(groups[0].stores, (Names{"add", "mean", "buf2", "normed"}));
  EXPECT_EQ(groups[0].origin.compileId, "[0/0]");
  EXPECT_EQ(groups[0].origin.stage, "inductor_output_code");
  EXPECT_EQ(groups[1].kernel, "triton_per_fused_add_native_layer_norm_0:2");
  EXPECT_EQ(groups[1].postGradNodes, (Names{"add_1", "to_float_1", "var_mean_1", "var_1", "mean_1", "eps_1", "rsqrt_1",
                                            "sub_1", "mul_1", "scaled_1", "shifted_1", "normed_1"}));
  EXPECT_EQ(groups[1].loads, (Names{"normed", "add", "arg4_1", "arg5_1"}));
}

TEST(FusionCalls, CallsOfExistingKernelsAreGroupsOfOne) {
  const testing::TemporaryFolder folder;
  const auto capture = testing::importTraceText(folder, testing::attentionLog());
  ASSERT_TRUE(capture.has_value()) << capture.error().text();
  const auto groups = recordedFusionGroups(*capture);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].kernel, "extern_kernels.bmm:1");
  EXPECT_EQ(groups[0].postGradNodes, Names{"bmm"});
  EXPECT_EQ(groups[2].kernel, "extern_kernels.bmm:3");
  EXPECT_EQ(groups[2].postGradNodes, Names{"bmm_1"});
}

Graph parsed(const char* text) {
  auto graph = parseGraphText(text);
  EXPECT_TRUE(graph.has_value()) << graph.error().text();
  return graph ? std::move(*graph) : Graph();
}

std::vector<Names> nodesOf(const std::vector<RecordedFusionGroup>& groups) {
  std::vector<Names> nodes;
  for (const RecordedFusionGroup& group : groups) nodes.push_back(group.postGradNodes);
  return nodes;
}

TEST(FusionCalls, ViewsThatAFragmentLeavesOutAreFilledIn) {
  const Graph graph = parsed(R"(graph():
    %a : [num_users=1] = placeholder[target=a]
    %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%a, 2), kwargs = {})
    %expand : [num_users=1] = call_function[target=torch.ops.aten.expand.default](args = (%mul, [4]), kwargs = {})
    %clone : [num_users=1] = call_function[target=torch.ops.aten.clone.default](args = (%expand,), kwargs = {})
    return (clone,))");
  const WrapperCode code = readWrapperCode(R"(
# Source Nodes: [x], Original ATen: []
# Graph fragment:
#   %a : Tensor "f32[4]" = PlaceHolder[target=a]
#   %mul : Tensor "f32[4]"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%a, 2))
#   %clone : Tensor "f32[4]"[num_users=1] = call_function[target=torch.ops.aten.clone.default](args = (%expand,))
#   return %clone
triton_poi_fused_0 = async_compile.triton('triton_poi_fused_0', ''' ''', device_str='cuda')
    triton_poi_fused_0.run(a, buf0, 4, stream=stream0)
)");
  EXPECT_EQ(nodesOf(groupsOfCalls(code, graph)), (std::vector<Names>{{"mul", "expand", "clone"}}));
}

TEST(FusionCalls, WhatAKernelLoadsItDoesNotCompute) {
  const Graph graph = parsed(R"(graph():
    %a : [num_users=1] = placeholder[target=a]
    %exp : [num_users=2] = call_function[target=torch.ops.aten.exp.default](args = (%a,), kwargs = {})
    %neg : [num_users=1] = call_function[target=torch.ops.aten.neg.default](args = (%exp,), kwargs = {})
    %mm : [num_users=1] = call_function[target=torch.ops.aten.mm.default](args = (%exp, %neg), kwargs = {})
    return (mm,))");
  const WrapperCode code = readWrapperCode(R"(
# Graph fragment:
#   %exp : Tensor "f32[4, 4]" = PlaceHolder[target=exp]
#   %exp : Tensor "f32[4, 4]"[num_users=2] = call_function[target=torch.ops.aten.exp.default](args = (%a,))
#   %neg : Tensor "f32[4, 4]"[num_users=1] = call_function[target=torch.ops.aten.neg.default](args = (%exp,))
#   return %neg
triton_poi_fused_neg_0 = async_compile.triton('triton_poi_fused_neg_0', ''' ''', device_str='cuda')
    triton_poi_fused_neg_0.run(buf0, buf1, 4, stream=stream0)
)");
  const auto groups = groupsOfCalls(code, graph);
  EXPECT_EQ(nodesOf(groups), (std::vector<Names>{{"neg"}}));
  EXPECT_EQ(groups[0].loads, Names{"exp"});
}

/// Two reductions of the same shape, each in two kernels; both second halves are one kernel.
TEST(FusionCalls, HalvesOfASplitReductionBelongTogether) {
  const Graph graph = parsed(R"(graph():
    %a : [num_users=1] = placeholder[target=a]
    %b : [num_users=1] = placeholder[target=b]
    %exp : [num_users=1] = call_function[target=torch.ops.aten.exp.default](args = (%a,), kwargs = {})
    %sum_1 : [num_users=1] = call_function[target=torch.ops.aten.sum.default](args = (%exp,), kwargs = {})
    %neg : [num_users=1] = call_function[target=torch.ops.aten.neg.default](args = (%b,), kwargs = {})
    %sum_2 : [num_users=1] = call_function[target=torch.ops.aten.sum.default](args = (%neg,), kwargs = {})
    return (sum_1, sum_2))");
  const WrapperCode code = readWrapperCode(R"(
# Graph fragment:
#   %a : Tensor "f32[4, 4]" = PlaceHolder[target=a]
#   %exp : Tensor "f32[4]"[num_users=1] = call_function[target=torch.ops.aten.exp.default](args = (%a,))
#   %sum_1 : Tensor "f32[]"[num_users=1] = call_function[target=torch.ops.aten.sum.default](args = (%exp,))
#   return %buf0
triton_red_fused_exp_sum_0 = async_compile.triton('triton_red_fused_exp_sum_0', ''' ''', device_str='cuda')
# Graph fragment:
#   %buf0 : Tensor "f32[2]" = PlaceHolder[target=buf0]
#   %exp : Tensor "f32[4]"[num_users=1] = call_function[target=torch.ops.aten.exp.default](args = (%a,))
#   %sum_1 : Tensor "f32[]"[num_users=1] = call_function[target=torch.ops.aten.sum.default](args = (%exp,))
#   return %sum_1
triton_per_fused_exp_sum_1 = async_compile.triton('triton_per_fused_exp_sum_1', ''' ''', device_str='cuda')
# Graph fragment:
#   %b : Tensor "f32[4, 4]" = PlaceHolder[target=b]
#   %neg : Tensor "f32[4]"[num_users=1] = call_function[target=torch.ops.aten.neg.default](args = (%b,))
#   %sum_2 : Tensor "f32[]"[num_users=1] = call_function[target=torch.ops.aten.sum.default](args = (%neg,))
#   return %buf2
triton_red_fused_neg_sum_2 = async_compile.triton('triton_red_fused_neg_sum_2', ''' ''', device_str='cuda')
    triton_red_fused_exp_sum_0.run(a, buf0, 2, 8, stream=stream0)
    triton_per_fused_exp_sum_1.run(buf0, buf1, 1, 2, stream=stream0)
    triton_red_fused_neg_sum_2.run(b, buf2, 2, 8, stream=stream0)
    triton_per_fused_exp_sum_1.run(buf2, buf3, 1, 2, stream=stream0)
)");
  const auto groups = groupsOfCalls(code, graph);
  EXPECT_EQ(nodesOf(groups), (std::vector<Names>{{"exp", "sum_1"}, {"sum_1"}, {"neg", "sum_2"}, {"sum_2"}}));
  EXPECT_EQ(groups[2].stores, Names{"buf2"});
  EXPECT_EQ(groups[3].loads, Names{"buf2"});
}

TEST(FusionCalls, CppKernelsWithoutProvenanceAreWhatLiesBetween) {
  const Graph graph = parsed(R"(graph():
    %a : [num_users=1] = placeholder[target=a]
    %w : [num_users=1] = placeholder[target=w]
    %exp : [num_users=1] = call_function[target=torch.ops.aten.exp.default](args = (%a,), kwargs = {})
    %neg : [num_users=1] = call_function[target=torch.ops.aten.neg.default](args = (%exp,), kwargs = {})
    %mm : [num_users=1] = call_function[target=torch.ops.aten.mm.default](args = (%neg, %w), kwargs = {})
    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%mm,), kwargs = {})
    return (relu,))");
  const WrapperCode code = readWrapperCode(R"(
cpp_fused_exp_neg_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''
''')
cpp_fused_relu_1 = async_compile.cpp_pybinding(['float*'], r'''
''')
    def call(self, args):
        cpp_fused_exp_neg_0(a, buf0)
        extern_kernels.mm(buf0, w, out=buf1)
        buf2 = buf1; del buf1  # reuse
        cpp_fused_relu_1(buf2)
        return (buf2, )
)");
  EXPECT_EQ(nodesOf(groupsOfCalls(code, graph)), (std::vector<Names>{{"exp", "neg"}, {"mm"}, {"relu"}}));
}

TEST(RecordedFusion, BelongsToTheGraphsOfItsPart) {
  const testing::TemporaryFolder folder;
  const auto capture = testing::importTraceText(folder, testing::chainLog());
  ASSERT_TRUE(capture.has_value()) << capture.error().text();
  ASSERT_EQ(capture->graphs.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = compiledPartOf(*capture, i);
    ASSERT_TRUE(part.has_value()) << part.error().text();
    EXPECT_EQ(part->part, "inference");
    EXPECT_EQ(part->lowered, std::optional<std::size_t>(2));
    ASSERT_EQ(part->groups.size(), 1u);
    EXPECT_EQ(part->groups[0].postGradNodes, (Names{"mul", "add", "sigmoid", "mul_1", "sub", "mul_2", "whole"}));
  }
}

TEST(RecordedFusion, SaysWhereGroupsWouldBe) {
  const testing::TemporaryFolder folder;
  const auto capture = testing::importTraceText(
      folder, testing::traceRecord("\"aot_inference_graph\": {}" + testing::frame00, testing::reluReadable));
  ASSERT_TRUE(capture.has_value()) << capture.error().text();
  const auto part = compiledPartOf(*capture, 0);
  ASSERT_FALSE(part.has_value());
  EXPECT_EQ(part.error().code, ErrorCode::NotFound);
  EXPECT_NE(part.error().message.find("no recorded fusion groups"), std::string::npos);
}

}  // namespace
}  // namespace kerf
