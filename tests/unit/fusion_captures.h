// Small TORCH_TRACE logs of bfloat16 graphs with Inductor's output code, as PyTorch 2.11 writes them for CUDA: graphs,
// kernel definitions with their graph fragments, and the calls.
#pragma once

#include "tests/unit/capture_trace_testing.h"

namespace kerf::testing {

/// A log with the graph of one compilation under the names of its stages, and the program that it became.
inline std::string fusionLog(const std::string& graph, const std::string& program) {
  const auto artifact = [](const std::string& name) {
    return "\"artifact\": {\"name\": \"" + name + "\", \"encoding\": \"string\"}" + frame00;
  };
  return traceRecord("\"aot_inference_graph\": {}" + frame00, graph) +
         traceRecord(artifact("before_post_grad_graph"), graph) +
         traceRecord(artifact("inductor_post_grad_graph"), graph) +
         traceRecord("\"inductor_output_code\": {\"filename\": \"/tmp/cxyz.py\"}" + frame00, program);
}

/// The program around definitions and calls. `calls` are indented as in `call`.
inline std::string fusionProgram(const std::string& definitions, const std::string& calls) {
  return "# AOT ID: ['0_inference']\n"
         "import torch\n"
         "aten = torch.ops.aten\n"
         "async_compile = AsyncCompile()\n\n\n" +
         definitions +
         "async_compile.wait(globals())\n"
         "del async_compile\n\n"
         "class Runner:\n"
         "    def call(self, args):\n"
         "        args.clear()\n"
         "        with torch.cuda._DeviceGuard(0):\n"
         "            torch.cuda.set_device(0)\n" +
         calls;
}

/// A Triton kernel under the comments that Inductor writes. `fragment` lines come without "#   ".
inline std::string tritonKernel(const std::string& name, const std::vector<std::string>& fragment) {
  std::string text = "# kernel path: /tmp/x/" + name +
                     ".py\n"
                     "# Topologically Sorted Source Nodes: [y], Original ATen: [aten.mul]\n"
                     "# Source node to ATen node mapping:\n"
                     "#   y => mul\n"
                     "# Graph fragment:\n";
  for (const std::string& line : fragment) text += "#   " + line + "\n";
  return text + name + " = async_compile.triton('" + name + "', '''\nimport triton\n@triton.jit\ndef " + name +
         "(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):\n    tmp0 = tl.load(in_ptr0 + (x0), "
         "xmask).to(tl.float32)\n"
         "''', device_str='cuda')\n\n\n";
}

inline std::string placeholderLine(const std::string& name) {
  return "%" + name + " : Tensor \"bf16[32, 64][64, 1]cuda:0\" = PlaceHolder[target=" + name + "]";
}
inline std::string callLine(const std::string& name, const std::string& target) {
  return "%" + name + " : Tensor \"bf16[32, 64][64, 1]cuda:0\"[num_users=1] = call_function[target=torch.ops." +
         target + "](args = (), kwargs = {})";
}

/// y = (x·w + x) · sigmoid(x·w + x) − x·w, all bf16, one kernel; and 256·y as an integer.
inline std::string chainLog() {
  const std::string graph =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, arg0_1: \"bf16[32, 64][64, 1]cuda:0\", arg1_1: \"bf16[32, 64][64, 1]cuda:0\"):\n"
      "        mul: \"bf16[32, 64][64, 1]cuda:0\" = torch.ops.aten.mul.Tensor(arg0_1, arg1_1)\n"
      "        add: \"bf16[32, 64][64, 1]cuda:0\" = torch.ops.aten.add.Tensor(mul, arg0_1);  arg0_1 = None\n"
      "        sigmoid: \"bf16[32, 64][64, 1]cuda:0\" = torch.ops.aten.sigmoid.default(add)\n"
      "        mul_1: \"bf16[32, 64][64, 1]cuda:0\" = torch.ops.aten.mul.Tensor(add, sigmoid);  add = sigmoid = None\n"
      "        sub: \"bf16[32, 64][64, 1]cuda:0\" = torch.ops.aten.sub.Tensor(mul_1, mul);  mul_1 = mul = None\n"
      "        mul_2: \"bf16[32, 64][64, 1]cuda:0\" = torch.ops.aten.mul.Tensor(sub, 256)\n"
      "        whole: \"i32[32, 64][64, 1]cuda:0\" = torch.ops.prims.convert_element_type.default(mul_2, torch.int32)\n"
      "        return (sub, whole)\n";
  const std::string name = "triton_poi_fused_add_mul_sigmoid_sub_0";
  const std::string kernel =
      tritonKernel(name, {placeholderLine("arg0_1"), placeholderLine("arg1_1"), placeholderLine("sub"),
                          callLine("mul", "aten.mul.Tensor"), callLine("add", "aten.add.Tensor"),
                          callLine("sigmoid", "aten.sigmoid.default"), callLine("mul_1", "aten.mul.Tensor"),
                          callLine("sub", "aten.sub.Tensor"), callLine("mul_2", "aten.mul.Tensor"),
                          callLine("whole", "prims.convert_element_type.default"), "return %sub,%whole"});
  return fusionLog(graph,
                   fusionProgram(kernel,
                                 "            buf0 = empty_strided_cuda((32, 64), (64, 1), torch.bfloat16)\n"
                                 "            buf1 = empty_strided_cuda((32, 64), (64, 1), torch.int32)\n"
                                 "            # Topologically Sorted Source Nodes: [y], Original ATen: [aten.mul]\n"
                                 "            stream0 = get_raw_stream(0)\n"
                                 "            " +
                                     name +
                                     ".run(arg0_1, arg1_1, buf0, buf1, 2048, stream=stream0)\n"
                                     "            del arg0_1\n"
                                     "        return (buf0, buf1, )\n"));
}

/// Two layers of `r = x + r; x = LayerNorm(r)` in bf16: one kernel, called twice, that stores the sum and goes on with
/// it unrounded. The second call has no fragment of its own.
inline std::string layerNormLog() {
  const auto layer = [](const std::string& x, const std::string& r, const std::string& w, const std::string& b,
                        const std::string& n) {
    const std::string bf16 = ": \"bf16[32, 64][64, 1]cuda:0\" = torch.ops.";
    const std::string f32 = ": \"f32[32, 64][64, 1]cuda:0\" = torch.ops.";
    const std::string column = ": \"f32[32, 1][1, 1]cuda:0\"";
    return "        add" + n + bf16 + "aten.add.Tensor(" + x + ", " + r + ")\n" + "        to_float" + n + f32 +
           "prims.convert_element_type.default(add" + n + ", torch.float32)\n" + "        var_mean" + n +
           " = torch.ops.aten.var_mean.correction(to_float" + n + ", [1], correction = 0, keepdim = True)\n" +
           "        var" + n + column + " = var_mean" + n + "[0]\n" + "        mean" + n + column + " = var_mean" + n +
           "[1];  var_mean" + n + " = None\n" + "        eps" + n + column + " = torch.ops.aten.add.Tensor(var" + n +
           ", 1e-05)\n" + "        rsqrt" + n + column + " = torch.ops.aten.rsqrt.default(eps" + n + ")\n" +
           "        sub" + n + f32 + "aten.sub.Tensor(to_float" + n + ", mean" + n + ")\n" + "        mul" + n + f32 +
           "aten.mul.Tensor(sub" + n + ", rsqrt" + n + ")\n" + "        scaled" + n + f32 + "aten.mul.Tensor(mul" + n +
           ", " + w + ")\n" + "        shifted" + n + f32 + "aten.add.Tensor(scaled" + n + ", " + b + ")\n" +
           "        normed" + n + bf16 + "prims.convert_element_type.default(shifted" + n + ", torch.bfloat16)\n";
  };
  std::string graph = "class GraphModule(torch.nn.Module):\n    def forward(self";
  for (const char* name : {"arg0_1", "arg1_1"}) graph += std::string(", ") + name + ": \"bf16[32, 64][64, 1]cuda:0\"";
  for (const char* name : {"arg2_1", "arg3_1", "arg4_1", "arg5_1"})
    graph += std::string(", ") + name + ": \"bf16[64][1]cuda:0\"";
  graph += "):\n" + layer("arg0_1", "arg1_1", "arg2_1", "arg3_1", "") +
           layer("normed", "add", "arg4_1", "arg5_1", "_1") + "        return (add_1, normed_1)\n";
  const std::string name = "triton_per_fused_add_native_layer_norm_0";
  const std::string kernel = tritonKernel(
      name,
      {placeholderLine("arg0_1"), placeholderLine("arg1_1"), placeholderLine("add"), placeholderLine("mean"),
       placeholderLine("buf2"), placeholderLine("arg2_1"), placeholderLine("arg3_1"),
       callLine("add", "aten.add.Tensor"), callLine("to_float", "prims.convert_element_type.default"),
       callLine("var_mean", "aten.var_mean.correction"), callLine("eps", "aten.add.Tensor"),
       callLine("rsqrt", "aten.rsqrt.default"), callLine("sub", "aten.sub.Tensor"), callLine("mul", "aten.mul.Tensor"),
       callLine("scaled", "aten.mul.Tensor"), callLine("shifted", "aten.add.Tensor"),
       callLine("normed", "prims.convert_element_type.default"), "return %add,%mean,%buf2,%normed"});
  return fusionLog(
      graph,
      fusionProgram(kernel,
                    "            # Topologically Sorted Source Nodes: [r, x], Original ATen: [aten.add]\n"
                    "            " +
                        name +
                        ".run(arg0_1, arg1_1, arg2_1, arg3_1, buf0, buf3, 32, 64, stream=stream0)\n"
                        "            del arg0_1\n"
                        "            # Topologically Sorted Source Nodes: [r_1, x_1], Original ATen: [aten.add]\n"
                        "            " +
                        name +
                        ".run(buf3, buf0, arg4_1, arg5_1, buf4, buf7, 32, 64, stream=stream0)\n"
                        "        return (buf4, buf7, )\n"));
}

/// softmax(q·k·s + mask)·v in bf16: two matrix products of the library around one kernel.
inline std::string attentionLog() {
  const std::string graph =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, arg0_1: \"bf16[8, 16, 32][512, 32, 1]cuda:0\", arg1_1: \"bf16[8, 32, 16][512, 16, "
      "1]cuda:0\""
      ", arg2_1: \"bf16[8, 16, 32][512, 32, 1]cuda:0\", arg3_1: \"bf16[16, 16][16, 1]cuda:0\"):\n"
      "        bmm: \"bf16[8, 16, 16][256, 16, 1]cuda:0\" = torch.ops.aten.bmm.default(arg0_1, arg1_1)\n"
      "        mul: \"bf16[8, 16, 16][256, 16, 1]cuda:0\" = torch.ops.aten.mul.Tensor(bmm, 0.17677669529663687)\n"
      "        add: \"bf16[8, 16, 16][256, 16, 1]cuda:0\" = torch.ops.aten.add.Tensor(mul, arg3_1)\n"
      "        to_float: \"f32[8, 16, 16][256, 16, 1]cuda:0\" = "
      "torch.ops.prims.convert_element_type.default(add, torch.float32)\n"
      "        amax: \"f32[8, 16, 1][16, 1, 1]cuda:0\" = torch.ops.aten.amax.default(to_float, [-1], True)\n"
      "        sub: \"f32[8, 16, 16][256, 16, 1]cuda:0\" = torch.ops.aten.sub.Tensor(to_float, amax)\n"
      "        exp: \"f32[8, 16, 16][256, 16, 1]cuda:0\" = torch.ops.aten.exp.default(sub)\n"
      "        sum_1: \"f32[8, 16, 1][16, 1, 1]cuda:0\" = torch.ops.aten.sum.dim_IntList(exp, [-1], True)\n"
      "        div: \"f32[8, 16, 16][256, 16, 1]cuda:0\" = torch.ops.aten.div.Tensor(exp, sum_1)\n"
      "        probs: \"bf16[8, 16, 16][256, 16, 1]cuda:0\" = "
      "torch.ops.prims.convert_element_type.default(div, torch.bfloat16)\n"
      "        bmm_1: \"bf16[8, 16, 32][512, 32, 1]cuda:0\" = torch.ops.aten.bmm.default(probs, arg2_1)\n"
      "        return (bmm_1, probs)\n";
  const std::string name = "triton_per_fused__softmax_add_mul_0";
  const std::string kernel = tritonKernel(
      name, {placeholderLine("bmm"), placeholderLine("arg3_1"), placeholderLine("amax"), placeholderLine("sum_1"),
             callLine("mul", "aten.mul.Tensor"), callLine("add", "aten.add.Tensor"),
             callLine("to_float", "prims.convert_element_type.default"), callLine("amax", "aten.amax.default"),
             callLine("sub", "aten.sub.Tensor"), callLine("exp", "aten.exp.default"),
             callLine("sum_1", "aten.sum.dim_IntList"), callLine("div", "aten.div.Tensor"),
             callLine("probs", "prims.convert_element_type.default"), "return %amax,%sum_1,%probs"});
  return fusionLog(
      graph, fusionProgram(kernel,
                           "            # Topologically Sorted Source Nodes: [s], Original ATen: [aten.bmm]\n"
                           "            extern_kernels.bmm(arg0_1, arg1_1, out=buf0)\n"
                           "            buf3 = empty_strided_cuda((8, 16, 16), (256, 16, 1), torch.bfloat16)\n"
                           "            # Topologically Sorted Source Nodes: [p], Original ATen: [aten._softmax]\n"
                           "            " +
                               name +
                               ".run(buf0, arg3_1, buf3, 128, 16, stream=stream0)\n"
                               "            # Topologically Sorted Source Nodes: [o], Original ATen: [aten.bmm]\n"
                               "            extern_kernels.bmm(buf3, arg2_1, out=buf4)\n"
                               "        return (buf4, buf3, )\n"));
}

}  // namespace kerf::testing
