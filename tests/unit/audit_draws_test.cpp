// Programs that are right on the inputs that a capture has, and wrong on others: nothing of them is proved.
#include <array>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/audit/audit.h"
#include "engine/ir/parser.h"

namespace kerf {
namespace {

struct DrawnInput {
  std::string type, pointer;  ///< "f32[64]", "*fp32"
  Value value;
};

Value drawnInput(DType dtype, const Sizes& sizes, const std::function<double(std::int64_t)>& number) {
  auto tensor = Tensor::zeros(dtype, sizes);
  for (std::int64_t i = 0; i < tensor->numel(); ++i) {
    if (dtype == DType::Float32) tensor->data<float>()[i] = float(number(i));
    if (dtype == DType::Int64) tensor->data<std::int64_t>()[i] = std::int64_t(number(i));
    if (dtype == DType::Bool) tensor->data<bool>()[i] = number(i) != 0;
  }
  return Value(*tensor);
}

/// A program of one kernel; `results`: of what types they are, as the graph writes them and as the kernel does.
struct OneKernel {
  std::string what, nodes, body;
  std::vector<DrawnInput> inputs;
  std::vector<std::array<std::string, 4>> results;  ///< sizes, strides, type, pointer
  int elements = 64;
};

/// The verdicts of what the program returns: "proved", "refuted", "not known".
std::vector<std::string> verdicts(const OneKernel& one) {
  std::string parameters, signature, given, graph = "class GraphModule(torch.nn.Module):\n    def forward(self", names;
  ValueList inputs;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const std::string name = "arg" + std::to_string(i) + "_1", pointer = "in_ptr" + std::to_string(i);
    graph += ", " + name + ": \"" + one.inputs[i].type + "\"";
    names += name + ", ";
    given += name + ", ";
    parameters += pointer + ", ";
    signature += "'" + pointer + "': '" + one.inputs[i].pointer + "', ";
    inputs.push_back(one.inputs[i].value);
  }
  std::string buffers, returned;
  for (std::size_t i = 0; i < one.results.size(); ++i) {
    const std::string pointer = "out_ptr" + std::to_string(i), buffer = "buf" + std::to_string(i);
    const auto& [sizes, strides, type, element] = one.results[i];
    buffers += "        " + buffer + " = empty_strided_cuda(" + sizes + ", " + strides + ", torch." + type + ")\n";
    given += buffer + ", ";
    returned += buffer + ", ";
    parameters += pointer + ", ";
    signature += "'" + pointer + "': '" + element + "', ";
  }
  const std::string count = std::to_string(one.elements);
  const std::string text =
      "async_compile = AsyncCompile()\n"
      "triton_poi_fused_0 = async_compile.triton('triton_poi_fused_0', '''\n"
      "@triton_heuristics.pointwise(\n"
      "    triton_meta={'signature': {" +
      signature +
      "'xnumel': 'i32', 'XBLOCK': 'constexpr'}},\n"
      "    inductor_meta={}\n"
      ")\n"
      "@triton.jit\n"
      "def triton_poi_fused_0(" +
      parameters +
      "xnumel, XBLOCK : tl.constexpr):\n"
      "    xnumel = " +
      count +
      "\n"
      "    xoffset = tl.program_id(0) * XBLOCK\n"
      "    xindex = xoffset + tl.arange(0, XBLOCK)[:]\n"
      "    xmask = xindex < xnumel\n"
      "    x0 = xindex\n" +
      one.body +
      "''', device_str='cuda')\n"
      "class Runner:\n"
      "    def call(self, args):\n"
      "        " +
      names +
      "= args\n"
      "        args.clear()\n" +
      buffers + "        triton_poi_fused_0.run(" + given + count +
      ", stream=stream0)\n"
      "        return (" +
      returned + ")\n";
  const auto module = parseReadable(graph + "):\n" + one.nodes);
  EXPECT_TRUE(module.has_value()) << one.what;
  if (!module) return {};
  AuditOptions options;
  options.graph.module = &*module;
  options.graph.inputs = [&] { return inputs; };
  const auto report = auditOutputCode(text, options);
  EXPECT_TRUE(report.has_value()) << one.what;
  std::vector<std::string> found(std::size_t(report->counts[std::size_t(ClaimAbout::Meaning)].proved), "proved");
  for (const AuditClaim& claim : report->claims)
    if (claim.about == ClaimAbout::Meaning)
      found.push_back(claim.verdict == ClaimVerdict::Refuted ? "refuted" : "not known: " + claim.reason);
  return found;
}

const std::string loadOne = "    tmp0 = tl.load(in_ptr0 + (x0), xmask)\n";
const std::array<std::string, 4> floats64 = {"(64, )", "(1, )", "float32", "*fp32"};
const std::array<std::string, 4> bools64 = {"(64, )", "(1, )", "bool", "*i1"};

DrawnInput floatInput(std::int64_t count, const std::function<double(std::int64_t)>& number) {
  return {"f32[" + std::to_string(count) + "]", "*fp32", drawnInput(DType::Float32, {count}, number)};
}
double waves(std::int64_t i) { return double((i * 37) % 29) / 29.0 - 0.4; }

/// Right programs, and each with a body that is right on the inputs that are given only.
struct ByChance {
  OneKernel right;
  std::string wrongBody, why;
};

std::vector<ByChance> rightByChance() {
  const DrawnInput flag{"b8[]", "*i1", drawnInput(DType::Bool, {}, [](auto) { return 1; })};
  const DrawnInput wholes{"i64[64]", "*i64", drawnInput(DType::Int64, {64}, [](auto i) { return i % 2; })};
  const DrawnInput place{"i64[1]", "*i64", drawnInput(DType::Int64, {1}, [](auto) { return 1; })};
  const DrawnInput rows{"f32[2, 8]", "*fp32", drawnInput(DType::Float32, {2, 8}, waves)};
  const std::string some = "it is what the nodes give on some inputs only";
  return {
      {{"a flag that is true",
        "        w: \"f32[64]\" = torch.ops.aten.where.self(arg0_1, arg1_1, arg2_1)\n        return (w,)\n",
        "    tmp0 = tl.load(in_ptr0 + (0))\n    tmp1 = tl.load(in_ptr1 + (x0), xmask)\n"
        "    tmp2 = tl.load(in_ptr2 + (x0), xmask)\n"
        "    tl.store(out_ptr0 + (x0), tl.where(tmp0, tmp1, tmp2), xmask)\n",
        {flag, floatInput(64, waves), floatInput(64, [](auto i) { return waves(i + 5); })},
        {floats64}},
       "    tmp1 = tl.load(in_ptr1 + (x0), xmask)\n    tl.store(out_ptr0 + (x0), tmp1, xmask)\n",
       some},
      {{"whole numbers that are 0 or 1",
        "        d: \"i64[64]\" = torch.ops.aten.abs.default(arg0_1)\n        return (d,)\n",
        loadOne + "    tl.store(out_ptr0 + (x0), tl_math.abs(tmp0), xmask)\n",
        {wholes},
        {{"(64, )", "(1, )", "int64", "*i64"}}},
       loadOne + "    tl.store(out_ptr0 + (x0), tmp0, xmask)\n",
       some},
      {{"a number that is compared with a constant",
        "        e: \"b8[64]\" = torch.ops.aten.eq.Scalar(arg0_1, 5)\n        return (e,)\n",
        loadOne + "    tl.store(out_ptr0 + (x0), tmp0 == 5, xmask)\n",
        {wholes},
        {bools64}},
       loadOne + "    tl.store(out_ptr0 + (x0), tmp0 == 7, xmask)\n",
       some},
      {{"an index of one element",
        "        i: \"f32[1, 8]\" = torch.ops.aten.index.Tensor(arg1_1, [arg0_1])\n        return (i,)\n",
        "    tmp0 = tl.load(in_ptr0 + (0))\n    tmp1 = tl.where(tmp0 < 0, tmp0 + 2, tmp0)\n"
        "    tmp2 = tl.load(in_ptr1 + (x0 + 8*tmp1), xmask)\n    tl.store(out_ptr0 + (x0), tmp2, xmask)\n",
        {place, rows},
        {{"(1, 8)", "(8, 1)", "float32", "*fp32"}},
        8},
       "    tmp2 = tl.load(in_ptr1 + (x0 + 8), xmask)\n    tl.store(out_ptr0 + (x0), tmp2, xmask)\n",
       some},
      {{"what is no number and what is endless",
        "        a: \"b8[64]\" = torch.ops.aten.isnan.default(arg0_1)\n"
        "        b: \"b8[64]\" = torch.ops.aten.isinf.default(arg0_1)\n        return (a, b)\n",
        loadOne + "    tl.store(out_ptr0 + (x0), libdevice.isnan(tmp0).to(tl.int1), xmask)\n"
                  "    tl.store(out_ptr1 + (x0), libdevice.isinf(tmp0).to(tl.int1), xmask)\n",
        {floatInput(64, waves)},
        {bools64, bools64}},
       loadOne + "    tl.store(out_ptr0 + (x0), libdevice.isinf(tmp0).to(tl.int1), xmask)\n"
                 "    tl.store(out_ptr1 + (x0), libdevice.isnan(tmp0).to(tl.int1), xmask)\n",
       some},
      {{"a bound that is not reached",
        "        c: \"f32[64]\" = torch.ops.aten.clamp_max.default(arg0_1, 3.0)\n        return (c,)\n",
        loadOne + "    tl.store(out_ptr0 + (x0), triton_helpers.minimum(tmp0, 3.0), xmask)\n",
        {floatInput(64, waves)},
        {floats64}},
       loadOne + "    tl.store(out_ptr0 + (x0), triton_helpers.minimum(tmp0, 2.5), xmask)\n",
       some},
      {{"an outlier beside small numbers",
        "        e: \"f32[64]\" = torch.ops.aten.mul.Tensor(arg0_1, 3)\n        return (e,)\n",
        loadOne + "    tl.store(out_ptr0 + (x0), tmp0 * 3, xmask)\n",
        {floatInput(64, [](auto i) { return i == 9 ? 1e9 : waves(i); })},
        {floats64}},
       loadOne + "    tl.store(out_ptr0 + (x0), tmp0 * 3 + 50.0, xmask)\n",
       "it differs by what rounding may explain, and may not"},
  };
}

TEST(AuditDraws, ProvesNothingThatIsRightByChance) {
  for (const ByChance& each : rightByChance()) {
    const std::vector<std::string> right = verdicts(each.right);
    EXPECT_EQ(right, std::vector<std::string>(each.right.results.size(), "proved")) << each.right.what;
    OneKernel wrong = each.right;
    wrong.body = each.wrongBody;
    const std::vector<std::string> found = verdicts(wrong);
    ASSERT_FALSE(found.empty()) << each.right.what;
    for (const std::string& verdict : found)
      EXPECT_EQ(verdict.find("not known: " + each.why), 0U) << each.right.what << ": " << verdict;
  }
}

TEST(AuditDraws, ProvesNothingThatIsNoNumber) {
  const OneKernel nothing{
      "logarithms below 0",
      "        a: \"f32[64]\" = torch.ops.aten.abs.default(arg0_1)\n"
      "        b: \"f32[64]\" = torch.ops.aten.neg.default(a)\n"
      "        s: \"f32[64]\" = torch.ops.aten.sub.Tensor(b, 1)\n"
      "        c: \"f32[64]\" = torch.ops.aten.log.default(s)\n        return (c,)\n",
      loadOne + "    tmp1 = -tl_math.abs(tmp0) - 1.0\n    tl.store(out_ptr0 + (x0), libdevice.sqrt(tmp1), xmask)\n",
      {floatInput(64, waves)},
      {floats64}};
  EXPECT_EQ(verdicts(nothing), std::vector<std::string>{"not known: it is not a number on the inputs that were drawn"});
}

}  // namespace
}  // namespace kerf
