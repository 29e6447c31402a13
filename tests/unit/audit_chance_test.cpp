// Programs that are right on some numbers by chance: nothing of them is proved, while the program next to each that computes
// the nodes is.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/audit/audit.h"
#include "engine/ir/parser.h"

namespace kerf {
namespace {

struct ChancePointer {
  std::string name, type;  ///< "in_ptr0", "fp32"
};

/// A pointwise Triton kernel of `count` elements; `x0` is the element.
std::string chanceKernel(const std::string& name, const std::vector<ChancePointer>& pointers, int count,
                         const std::string& body) {
  std::string signature, parameters;
  for (const ChancePointer& each : pointers) {
    signature += "'" + each.name + "': '*" + each.type + "', ";
    parameters += each.name + ", ";
  }
  return name + " = async_compile.triton('" + name +
         "', '''\n@triton_heuristics.pointwise(\n    triton_meta={'signature': {" + signature +
         "'xnumel': 'i32', 'XBLOCK': 'constexpr'}},\n    inductor_meta={}\n)\n@triton.jit\ndef " + name + "(" +
         parameters + "xnumel, XBLOCK : tl.constexpr):\n    xnumel = " + std::to_string(count) +
         "\n    xoffset = tl.program_id(0) * XBLOCK\n    xindex = xoffset + tl.arange(0, XBLOCK)[:]\n"
         "    xmask = xindex < xnumel\n    x0 = xindex\n" +
         body + "''', device_str='cuda')\n";
}

std::string chanceWrapper(const std::string& inputs, const std::vector<std::string>& statements) {
  std::string text = "def call(args):\n    " + inputs +
                     " = args\n    args.clear()\n    with torch.cuda._DeviceGuard(0):\n"
                     "        torch.cuda.set_device(0)\n        stream0 = get_raw_stream(0)\n";
  for (const std::string& each : statements) text += "        " + each + "\n";
  return text;
}

std::string chanceGraph(const std::string& inputs, const std::vector<std::string>& lines) {
  std::string text = "class GraphModule(torch.nn.Module):\n    def forward(self, " + inputs + "):\n";
  for (const std::string& each : lines) text += "        " + each + "\n";
  return text;
}

/// A program and what makes it wrong: `from` → `to` in its text.
struct ByChanceCall {
  std::string what, graph, program, from, to;
};

std::string allocated(const std::string& name, const std::string& sizes, const std::string& type) {
  std::string strides = "(1, )";
  if (sizes == "()") strides = "()";
  if (sizes == "(1, 8)") strides = "(8, 1)";
  return name + " = empty_strided_cuda(" + sizes + ", " + strides + ", torch." + type + ")";
}

std::string ofOne(const std::string& value, int count = 64) {
  const std::string n = std::to_string(count);
  return chanceKernel(
             "triton_poi_fused_0", {{"in_ptr0", "fp32"}, {"out_ptr0", "fp32"}}, count,
             "    tmp0 = tl.load(in_ptr0 + (x0), xmask)\n    tl.store(out_ptr0 + (x0), " + value + ", xmask)\n") +
         chanceWrapper("arg0_1,",
                       {allocated("buf0", "(" + n + ", )", "float32"),
                        "triton_poi_fused_0.run(arg0_1, buf0, " + n + ", stream=stream0)", "return (buf0, )"});
}

/// One input, one operator, one kernel, all of 64 elements.
ByChanceCall ofOneOperator(const std::string& what, const std::vector<std::string>& lines, const std::string& right,
                           const std::string& wrong) {
  return {what, chanceGraph("arg0_1: \"f32[64]\"", lines), ofOne(right), "(x0), " + right, "(x0), " + wrong};
}

std::vector<ByChanceCall> chanceOfNumbers() {
  const std::string load = "    tmp0 = tl.load(in_ptr0 + (x0), xmask)\n";
  return {
      {"whole numbers",
       chanceGraph("arg0_1: \"i64[64]\"", {"d: \"i64[64]\" = torch.ops.aten.abs.default(arg0_1)", "return (d,)"}),
       chanceKernel("triton_poi_fused_0", {{"in_ptr0", "i64"}, {"out_ptr0", "i64"}}, 64,
                    load + "    tl.store(out_ptr0 + (x0), tl_math.abs(tmp0), xmask)\n") +
           chanceWrapper("arg0_1,", {allocated("buf0", "(64, )", "int64"),
                                     "triton_poi_fused_0.run(arg0_1, buf0, 64, stream=stream0)", "return (buf0, )"}),
       "tl_math.abs(tmp0)", "tmp0"},
      {"a constant that is compared",
       chanceGraph(
           "arg0_1: \"i64[64]\", arg1_1: \"f32[64]\"",
           {"e: \"b8[64]\" = torch.ops.aten.eq.Scalar(arg0_1, 5)",
            "f: \"f32[]\" = torch.ops.aten.full.default([], 0.0, dtype = torch.float32, layout = torch.strided, "
            "device = device(type='cuda', index=0), pin_memory = False)",
            "w: \"f32[64]\" = torch.ops.aten.where.self(e, f, arg1_1)", "return (w,)"}),
       chanceKernel("triton_poi_fused_0", {{"in_ptr0", "i64"}, {"in_ptr1", "fp32"}, {"out_ptr0", "fp32"}}, 64,
                    load + "    tmp3 = tl.load(in_ptr1 + (x0), xmask)\n    tmp1 = tl.full([1], 5, tl.int64)\n"
                           "    tmp2 = tmp0 == tmp1\n    tmp4 = 0.0\n    tmp5 = tl.where(tmp2, tmp4, tmp3)\n"
                           "    tl.store(out_ptr0 + (x0), tmp5, xmask)\n") +
           chanceWrapper("arg0_1, arg1_1",
                         {allocated("buf0", "(64, )", "float32"),
                          "triton_poi_fused_0.run(arg0_1, arg1_1, buf0, 64, stream=stream0)", "return (buf0, )"}),
       "tl.full([1], 5,", "tl.full([1], 7,"},
      {"no number and endless",
       chanceGraph("arg0_1: \"f32[64]\"", {"a: \"b8[64]\" = torch.ops.aten.isnan.default(arg0_1)",
                                           "b: \"b8[64]\" = torch.ops.aten.isinf.default(arg0_1)", "return (a, b)"}),
       chanceKernel("triton_poi_fused_0", {{"in_ptr0", "fp32"}, {"out_ptr0", "i1"}, {"out_ptr1", "i1"}}, 64,
                    load + "    tl.store(out_ptr0 + (x0), libdevice.isnan(tmp0).to(tl.int1), xmask)\n"
                           "    tl.store(out_ptr1 + (x0), libdevice.isinf(tmp0).to(tl.int1), xmask)\n") +
           chanceWrapper("arg0_1,",
                         {allocated("buf0", "(64, )", "bool"), allocated("buf1", "(64, )", "bool"),
                          "triton_poi_fused_0.run(arg0_1, buf0, buf1, 64, stream=stream0)", "return (buf0, buf1, )"}),
       "return (buf0, buf1, )", "return (buf1, buf0, )"},
      {"an index of one element",
       chanceGraph("arg0_1: \"i64[1]\", arg1_1: \"f32[2, 8]\"",
                   {"i: \"f32[1, 8]\" = torch.ops.aten.index.Tensor(arg1_1, [arg0_1])", "return (i,)"}),
       chanceKernel(
           "triton_poi_fused_0", {{"in_ptr0", "i64"}, {"in_ptr1", "fp32"}, {"out_ptr0", "fp32"}}, 8,
           "    tmp0 = tl.load(in_ptr0 + (0))\n    tmp1 = tl.where(tmp0 < 0, tmp0 + 2, tmp0)\n"
           "    tmp2 = tl.load(in_ptr1 + (x0 + 8*tmp1), xmask)\n    tl.store(out_ptr0 + (x0), tmp2, xmask)\n") +
           chanceWrapper("arg0_1, arg1_1",
                         {allocated("buf0", "(1, 8)", "float32"),
                          "triton_poi_fused_0.run(arg0_1, arg1_1, buf0, 8, stream=stream0)", "return (buf0, )"}),
       "x0 + 8*tmp1", "x0 + 8"},
      ofOneOperator("an addend beside large numbers",
                    {"m: \"f32[64]\" = torch.ops.aten.mul.Tensor(arg0_1, 2)",
                     "e: \"f32[64]\" = torch.ops.aten.exp.default(m)", "return (e,)"},
                    "tl_math.exp(tmp0 * 2.0)", "tl_math.exp(tmp0 * 2.0) + 50.0"),
      ofOneOperator("a small addend", {"e: \"f32[64]\" = torch.ops.aten.exp.default(arg0_1)", "return (e,)"},
                    "tl_math.exp(tmp0)", "tl_math.exp(tmp0) + 0.3"),
      ofOneOperator("a factor", {"e: \"f32[64]\" = torch.ops.aten.exp.default(arg0_1)", "return (e,)"},
                    "tl_math.exp(tmp0)", "tl_math.exp(tmp0) * 1.2"),
      ofOneOperator("a bound", {"c: \"f32[64]\" = torch.ops.aten.clamp_max.default(arg0_1, 3.0)", "return (c,)"},
                    "triton_helpers.minimum(tmp0, 3.0)", "triton_helpers.minimum(tmp0, 2.5)"),
  };
}

ByChanceCall ofTwoFlags(const std::string& op, const std::string& sign) {
  return {"a flag that is overwritten by " + op,
          chanceGraph("arg0_1: \"b8[]\", arg1_1: \"b8[]\"",
                      {"a: \"b8[]\" = torch.ops.aten.logical_not.default(arg0_1)",
                       "o: \"b8[]\" = torch.ops.aten." + op + ".default(a, arg1_1)", "return (a, o)"}),
          chanceKernel("triton_poi_fused_0", {{"in_ptr0", "i1"}, {"out_ptr0", "i1"}}, 1,
                       "    tmp0 = tl.load(in_ptr0 + (x0), xmask)\n    tl.store(out_ptr0 + (x0), tmp0 == 0, xmask)\n") +
              chanceKernel("triton_poi_fused_1", {{"in_ptr0", "i1"}, {"in_ptr1", "i1"}, {"out_ptr0", "i1"}}, 1,
                           "    tmp0 = tl.load(in_ptr0 + (x0), xmask)\n    tmp1 = tl.load(in_ptr1 + (x0), xmask)\n"
                           "    tl.store(out_ptr0 + (x0), tmp0 " +
                               sign + " tmp1, xmask)\n") +
              chanceWrapper("arg0_1, arg1_1",
                            {allocated("buf0", "()", "bool"), allocated("buf1", "()", "bool"),
                             "triton_poi_fused_0.run(arg0_1, buf0, 1, stream=stream0)",
                             "triton_poi_fused_1.run(buf0, arg1_1, buf1, 1, stream=stream0)", "return (buf0, buf1, )"}),
          "_1.run(buf0, arg1_1, buf1, 1, stream=stream0)", "_1.run(buf0, arg1_1, buf0, 1, stream=stream0)"};
}

std::vector<ByChanceCall> chanceOfFlags() { return {ofTwoFlags("logical_or", "|"), ofTwoFlags("logical_and", "&")}; }

/// What inputs decide that are drawn in few ways: flags, single numbers, numbers that do not lie in a row.
std::vector<ByChanceCall> chanceOfInputs() {
  const std::string loadOne = "    tmp0 = tl.load(in_ptr0 + (x0), xmask)\n";
  const auto single = [](const std::string& what, const std::string& right, const std::string& wrong) {
    return ByChanceCall{
        what,
        chanceGraph("arg0_1: \"f32[1]\"", {"m: \"f32[1]\" = torch.ops.aten.mul.Tensor(arg0_1, 2)", "return (m,)"}),
        ofOne(right, 1), "(x0), " + right, "(x0), " + wrong};
  };
  const std::string transposed =
      chanceKernel("triton_poi_fused_0", {{"in_ptr0", "i64"}, {"out_ptr0", "i64"}}, 16,
                   loadOne + "    tl.store(out_ptr0 + (x0), tl_math.abs(tmp0), xmask)\n") +
      chanceWrapper("arg0_1,", {"buf0 = empty_strided_cuda((4, 4), (1, 4), torch.int64)",
                                "triton_poi_fused_0.run(arg0_1, buf0, 16, stream=stream0)", "return (buf0, )"});
  const std::string written =
      chanceKernel("triton_poi_fused_0",
                   {{"in_ptr0", "i1"}, {"in_ptr1", "fp32"}, {"in_ptr2", "fp32"}, {"out_ptr0", "fp32"}}, 64,
                   "    tmp0 = tl.load(in_ptr0 + (0))\n    tmp1 = tl.load(in_ptr1 + (x0), xmask)\n"
                   "    tmp2 = tl.load(in_ptr2 + (x0), xmask)\n"
                   "    tl.store(out_ptr0 + (x0), tl.where(tmp0, tmp1, tmp2), xmask)\n") +
      chanceWrapper(
          "arg0_1, arg1_1, arg2_1",
          {"triton_poi_fused_0.run(arg0_1, arg1_1, arg2_1, arg1_1, 64, stream=stream0)", "return (arg0_1, )"});
  return {
      single("the sign of a number", "tmp0 * 2.0", "triton_helpers.maximum(tmp0, 0.0) * 2.0"),
      single("another sign of a number", "tmp0 * 2.0", "triton_helpers.minimum(tmp0, 0.0) * 2.0"),
      {"whole numbers that lie in columns",
       chanceGraph("arg0_1: \"i64[4, 4][1, 4]\"",
                   {"d: \"i64[4, 4][1, 4]\" = torch.ops.aten.abs.default(arg0_1)", "return (d,)"}),
       transposed, "tl_math.abs(tmp0)", "tmp0"},
      {"an input that a flag keeps",
       chanceGraph("arg0_1: \"b8[]\", arg1_1: \"f32[64]\", arg2_1: \"f32[64]\"",
                   {"w: \"f32[64]\" = torch.ops.aten.where.self(arg0_1, arg1_1, arg2_1)",
                    "copy_: \"f32[64]\" = torch.ops.aten.copy_.default(arg1_1, w)", "return (arg0_1,)"}),
       written, "tl.where(tmp0, tmp1, tmp2)", "tmp1"},
      ofOneOperator("what is below 0 and no number",
                    {"a: \"f32[64]\" = torch.ops.aten.log.default(arg0_1)", "return (a,)"}, "tl_math.log(tmp0)",
                    "tl_math.log(tl_math.abs(tmp0))"),
  };
}

/// As a capture may have them: flags true, whole numbers 0 and 1, floats small and positive.
ValueList givenInputs(const GraphModule& module) {
  ValueList inputs;
  for (const NodeId id : module.graph.placeholders()) {
    const TensorMeta& meta = *module.graph.node(id).meta().value.tensor();
    const auto tensor = Tensor::zerosStrided(meta.dtype, *meta.concreteSizes(), *meta.concreteStrides());
    const std::int64_t places = tensor->storage()->bytes() / itemSize(meta.dtype);
    for (std::int64_t i = 0; i < places; ++i) {
      if (meta.dtype == DType::Float32) tensor->data<float>()[i] = float((i * 37) % 29) / 29.0f + 0.1f;
      if (meta.dtype == DType::Int64) tensor->data<std::int64_t>()[i] = places == 1 ? 1 : i % 2;
      if (meta.dtype == DType::Bool) tensor->data<bool>()[i] = true;
    }
    inputs.emplace_back(*tensor);
  }
  return inputs;
}

/// Whether all that the program returns is proved to be what the graph gives.
bool isChanceProved(const std::string& graph, const std::string& text) {
  const auto module = parseReadable(graph);
  EXPECT_TRUE(module.has_value()) << graph;
  if (!module) return false;
  AuditOptions options;
  options.graph.module = &*module;
  options.graph.inputs = [&] { return givenInputs(*module); };
  const auto report = auditOutputCode(text, options);
  EXPECT_TRUE(report.has_value());
  const bool isProved = report && report->counts[std::size_t(ClaimAbout::Meaning)].proved > 0;
  return isProved && std::ranges::none_of(report->claims,
                                          [](const AuditClaim& claim) { return claim.about == ClaimAbout::Meaning; });
}

std::string replacedOnce(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(AuditChance, ProvesNothingThatIsRightByChance) {
  std::vector<ByChanceCall> all = chanceOfNumbers();
  for (const std::vector<ByChanceCall>& more : {chanceOfFlags(), chanceOfInputs()})
    all.insert(all.end(), more.begin(), more.end());
  for (const ByChanceCall& each : all) {
    EXPECT_TRUE(isChanceProved(each.graph, each.program)) << each.what;
    EXPECT_FALSE(isChanceProved(each.graph, replacedOnce(each.program, each.from, each.to))) << each.what;
  }
}

TEST(AuditChance, ProvesNothingOfOneFlagOnOneDraw) {
  // Too large to be run again.
  const std::string size = "2200000";
  const std::string graph =
      chanceGraph("arg0_1: \"b8[]\", arg1_1: \"f32[" + size + "]\", arg2_1: \"f32[" + size + "]\"",
                  {"w: \"f32[" + size + "]\" = torch.ops.aten.where.self(arg0_1, arg1_1, arg2_1)", "return (w,)"});
  for (const char* const value : {"tl.where(tmp0, tmp1, tmp2)", "tmp1"}) {
    const std::string program =
        chanceKernel("triton_poi_fused_0",
                     {{"in_ptr0", "i1"}, {"in_ptr1", "fp32"}, {"in_ptr2", "fp32"}, {"out_ptr0", "fp32"}}, 2200000,
                     "    tmp0 = tl.load(in_ptr0 + (0))\n    tmp1 = tl.load(in_ptr1 + (x0), xmask)\n"
                     "    tmp2 = tl.load(in_ptr2 + (x0), xmask)\n    tl.store(out_ptr0 + (x0), " +
                         std::string(value) + ", xmask)\n") +
        chanceWrapper(
            "arg0_1, arg1_1, arg2_1",
            {allocated("buf0", "(" + size + ", )", "float32"),
             "triton_poi_fused_0.run(arg0_1, arg1_1, arg2_1, buf0, " + size + ", stream=stream0)", "return (buf0, )"});
    EXPECT_FALSE(isChanceProved(graph, program)) << value;
  }
}

TEST(AuditChance, ProvesNothingAfterAnAssignmentToAnElement) {
  const std::string graph =
      chanceGraph("arg0_1: \"f32[64]\"", {"e: \"f32[64]\" = torch.ops.aten.exp.default(arg0_1)", "return (e,)"});
  const std::string program = ofOne("tl_math.exp(tmp0)");
  EXPECT_TRUE(isChanceProved(graph, program));
  EXPECT_FALSE(isChanceProved(graph, replacedOnce(program, "return (buf0, )", "buf0[0] = 5\n        return (buf0, )")));
}

TEST(AuditChance, TakesSizesFromExampleInputs) {
  const std::string text =
      "def call(args):\n    s33, arg1_1 = args\n    args.clear()\n    s0 = s33\n    return (s0, )\n"
      "def get_args():\n    s33 = 4\n    arg1_1 = 1\n    return [s33, arg1_1]\n";
  EXPECT_TRUE(exampleSizes("x = 1\n").empty());
  const auto sizes = exampleSizes(text);
  EXPECT_EQ(sizes.contains("s0") ? sizes.at("s0") : -1, 4);
}

TEST(AuditChance, ProvesNothingThatIsNoNumber) {
  const std::string graph =
      chanceGraph("arg0_1: \"f32[6]\"",
                  {"a: \"f32[6]\" = torch.ops.aten.abs.default(arg0_1)",
                   "n: \"f32[6]\" = torch.ops.aten.neg.default(a)", "m: \"f32[6]\" = torch.ops.aten.sub.Tensor(n, 1)",
                   "c: \"f32[6]\" = torch.ops.aten.log.default(m)", "return (c,)"});
  EXPECT_FALSE(isChanceProved(graph, ofOne("libdevice.sqrt(-tl_math.abs(tmp0) - 1.0)", 6)));
  EXPECT_FALSE(isChanceProved(graph, ofOne("tl_math.log(-tl_math.abs(tmp0) - 1.0)", 6)));
}

}  // namespace
}  // namespace kerf
