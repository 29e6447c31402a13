// The pre-grad passes on small Dynamo graphs: what each changes, a near miss, and the same values before and after.
#include "tests/support/torch_level.h"

namespace kerf {
namespace {

using testing::afterPasses;
using testing::targets;
using testing::torchLevel;
using Calls = std::vector<std::string>;

Tensor filled(const Sizes& sizes, float first) {
  Tensor tensor = *Tensor::zeros(DType::Float32, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] = first + 0.0625f * float((i * 5) % 7);
  return tensor;
}

/// Attributes that `get_attr` nodes of the text read, by name.
GraphModule withAttributes(GraphModule module, const std::vector<std::pair<std::string, Tensor>>& attributes) {
  module.attributes.clear();
  for (const auto& [name, tensor] : attributes) module.attributes.add(name, {tensor, true, {}});
  EXPECT_TRUE(propagateShapes(module).has_value());
  return module;
}

TEST(Normalization, GivesEveryFunctionOneSpelling) {
  const GraphModule module = torchLevel(R"(x: "f32[2, 3, 4]", w: "f32[5, 4]", b: "f32[5]")", R"(
        a = torch._C._nn.linear(x, weight = w, bias = b)
        c = a.permute(0, 2, 1)
        d = torch.nn.functional.relu(c, False)
        e = d.transpose(dim0 = 1, dim1 = 2)
        f = e.split(split_size = 2, dim = 2)
        g = f[0]
        h = torch.concat([g, g], dim = 0)
        i = h @ g.permute((0, 2, 1))[0]
        return (i, torch.nn.functional.relu(h, True))
)");
  const GraphModule after = afterPasses(module, {"normalization_pass"});
  EXPECT_EQ(targets(after.graph),
            (Calls{"torch.nn.functional.linear", "torch.permute", "torch.nn.functional.relu", "torch.transpose",
                   "torch.split", "operator.getitem", "torch.cat", "torch.permute", "operator.getitem", "torch.matmul",
                   "torch.nn.functional.relu"}));
  const Node& linear = testing::nodeNamed(after, "a");
  EXPECT_EQ(linear.args().size(), 3u);
  EXPECT_TRUE(linear.kwargs().empty());
  EXPECT_EQ(testing::nodeNamed(after, "c").args()[1], Argument::list({0, 2, 1}));
  EXPECT_EQ(testing::nodeNamed(after, "d").args().size(), 1u);
  EXPECT_EQ(testing::nodeNamed(after, "f").args().size(), 3u);
  EXPECT_EQ(testing::nodeNamed(after, "h").args().size(), 1u);
  const KeywordArguments inplace{{"inplace", Argument(true)}};
  EXPECT_EQ(testing::nodeNamed(after, "relu").kwargs(), inplace);
}

TEST(Normalization, LeavesCallsThatItCannotBind) {
  const GraphModule module = torchLevel(R"(x: "f32[2, 3]")", R"(
        a = torch.softmax(x, 1)
        b = x.view(3, 2)
        return (a, b)
)");
  EXPECT_EQ(afterPasses(module, {"normalization_pass"}).revision(), module.revision());
}

TEST(RemoveIdentity, SkipsIdleDropoutIdentityAndConversions) {
  GraphModule module = torchLevel(R"(x: "f32[2, 3]")", R"(
        a = torch.nn.functional.dropout(x, 0.5, False, False)
        b = a.contiguous()
        c = b.to(torch.float32)
        d = torch.nn.functional.dropout(torch.nn.functional.dropout(c, p = 0.0), 0.5, False, True)
        i = torch.ops.aten.relu.default(d)
        e = torch._C._log_api_usage_once('model')
        return (i,)
)");
  const NodeId relu = *module.graph.find("i");
  NodeId identity;
  {
    const InsertionScope scope(module.graph, InsertionScope::Where::Before, relu);
    identity = module.graph.callModule("identity", {*module.graph.find("d")});
  }
  module.graph.setMeta(identity, module.graph.node(*module.graph.find("d")).meta());
  module.graph.replaceInput(relu, *module.graph.find("d"), identity);
  module.submodules.add("identity", {nullptr, "Identity()"});
  const GraphModule after = afterPasses(module, {"remove_identity"});
  EXPECT_EQ(targets(after.graph), (Calls{"torch.ops.aten.relu.default"}));
  EXPECT_TRUE(after.submodules.empty());
}

TEST(RemoveIdentity, KeepsTrainingOtherLayoutsOutputsAndWhatIsWritten) {
  const GraphModule module = torchLevel(R"(x: "f32[2, 3]", y: "f32[2, 3]", z: "f32[2, 3]")", R"(
        a = torch.nn.functional.dropout(x, 0.5, True)
        b = x.t()
        c = b.contiguous()
        d = torch.relu(c)
        e = torch.nn.functional.dropout(y, 0.5, False)
        f = torch.nn.functional.dropout(z, 0.5, False)
        g = f.add_(1)
        h = torch.relu(f)
        i = x.to(torch.float32, copy = True)
        j = i.add_(1.0)
        return (a, d, e, h, x, j)
)");
  EXPECT_EQ(afterPasses(module, {"remove_identity"}).revision(), module.revision());
}

TEST(RemoveIdentity, SkipsDropoutOfWhatWasWrittenBefore) {
  const GraphModule module = torchLevel(R"(x: "f32[2, 3]")", R"(
        a = torch.nn.functional.hardswish(x + 1, True)
        b = torch.nn.functional.dropout(a, 0.2, False, True)
        c = torch.nn.functional.linear(b, x)
        return (c,)
)");
  const GraphModule after = afterPasses(module, {"remove_identity"});
  EXPECT_FALSE(after.graph.find("b"));
  EXPECT_EQ(after.graph.node(*after.graph.find("c")).args()[0], Argument(*after.graph.find("a")));
}

TEST(RemoveIdentity, KeepsCopiesOfWhatIsWrittenLater) {
  const GraphModule module = torchLevel(R"(x: "f32[2, 3]")", R"(
        a = torch.relu(x)
        b = a.to(torch.float32)
        c = torch.relu(b)
        d = torch.nn.functional.hardswish(a, True)
        return (c, d)
)");
  EXPECT_EQ(afterPasses(module, {"remove_identity"}).revision(), module.revision());
}

constexpr const char* convolution = R"(
        w = self.w
        m = self.m
        v = self.v
        g = self.g
        h = self.h
        c = torch.conv2d(x, w, None, 1, (1, 1))
        n = torch.nn.functional.batch_norm(c, m, v, g, h, False, 0.1, 1e-05)
        return (torch.relu(n),)
)";

std::vector<std::pair<std::string, Tensor>> convolutionParameters() {
  return {{"w", filled({4, 3, 3, 3}, -0.2f)},
          {"m", filled({4}, -0.1f)},
          {"v", filled({4}, 0.5f)},
          {"g", filled({4}, 0.9f)},
          {"h", filled({4}, -0.3f)}};
}

TEST(FuseConvBn, PutsTheNormIntoTheConvolution) {
  const GraphModule module =
      withAttributes(torchLevel(R"(x: "f32[2, 3, 5, 5]")", convolution), convolutionParameters());
  const GraphModule after = afterPasses(module, {"fuse_conv_bn"}, {}, 1e-5);
  EXPECT_EQ(targets(after.graph), (Calls{"torch.conv2d", "torch.relu"}));
  std::vector<std::string> read;
  for (const NodeId id : after.graph.order())
    if (after.graph.node(id).op() == Opcode::GetAttr) read.push_back(after.graph.node(id).target());
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(after.attribute(read[0])->tensor.sizes(), (Sizes{4, 3, 3, 3}));
  EXPECT_EQ(after.attribute(read[1])->tensor.sizes(), (Sizes{4}));
}

constexpr const char* layer = R"(
        c = torch._C._nn.linear(x, w, b)
        n = torch.nn.functional.batch_norm(c, m, var, None, None, False)
        return (torch.relu(n),)
)";
constexpr const char* layerInputs = R"(w: "f32[4, 6]", b: "f32[4]", m: "f32[4]", var: "f32[4]", )";

TEST(FuseConvBn, MindsWritesBetweenLayerAndNormOnly) {
  const std::string signature = R"(x: "f32[2, 3, 5, 5]", w: "f32[4, 3, 3, 3]", m: "f32[4]", var: "f32[4]")";
  const std::vector<std::string> inputs{"fuse_conv_bn.inputs=true"};
  const GraphModule after = afterPasses(torchLevel(signature, R"(
        y = x.add_(1)
        c = torch.conv2d(y, w)
        n = torch.nn.functional.batch_norm(c, m, var, None, None, False)
        return (torch.nn.functional.relu(n, inplace = True),)
)"),
                                        {"fuse_conv_bn"}, inputs, 1e-5);
  EXPECT_EQ(std::ranges::count(targets(after.graph), "torch.nn.functional.batch_norm"), 0);
  const GraphModule between = torchLevel(signature, R"(
        c = torch.conv2d(x, w)
        y = x.add_(1)
        n = torch.nn.functional.batch_norm(c, m, var, None, None, False)
        return (n, y)
)");
  EXPECT_EQ(afterPasses(between, {"fuse_conv_bn"}, inputs).revision(), between.revision());
}

TEST(FuseConvBn, TakesInputsWhereItMay) {
  const GraphModule module = torchLevel(std::string(layerInputs) + R"(x: "f32[3, 6]")", layer);
  EXPECT_EQ(afterPasses(module, {"fuse_conv_bn"}).revision(), module.revision());
  const GraphModule after = afterPasses(module, {"fuse_conv_bn"}, {"fuse_conv_bn.inputs=true"}, 1e-5);
  const Calls calls = targets(after.graph);
  EXPECT_EQ(std::ranges::count(calls, "torch.nn.functional.batch_norm"), 0);
  EXPECT_EQ(std::ranges::count(calls, "torch.nn.functional.linear"), 1);
}

TEST(FuseConvBn, KeepsTrainingSharedLayersAndOtherFeatures) {
  // with three dimensions, the norm's features are not the layer's
  const GraphModule wide = torchLevel(std::string(layerInputs) + R"(x: "f32[3, 4, 6]")", layer);
  EXPECT_EQ(afterPasses(wide, {"fuse_conv_bn"}, {"fuse_conv_bn.inputs=true"}).revision(), wide.revision());
  const std::string twice = R"(
        w = self.w
        m = self.m
        v = self.v
        c = torch.conv2d(x, w)
        n = torch.nn.functional.batch_norm(c, m, v, None, None, False)
        return (n, c)
)";
  const GraphModule shared = withAttributes(torchLevel(R"(x: "f32[2, 3, 5, 5]")", twice), convolutionParameters());
  EXPECT_EQ(afterPasses(shared, {"fuse_conv_bn"}).revision(), shared.revision());
  const GraphModule trained =
      torchLevel(R"(x: "f32[2, 3, 5, 5]", w: "f32[4, 3, 3, 3]", m: "f32[4]", var: "f32[4]")", R"(
        c = torch.conv2d(x, w)
        n = torch.nn.functional.batch_norm(c, m, var, None, None, True)
        return (n,)
)");
  EXPECT_EQ(afterPasses(trained, {"fuse_conv_bn"}, {"fuse_conv_bn.inputs=true"}).revision(), trained.revision());
}

TEST(MergeSplits, SplitsAtOnceAndTakesTheOnlyPiece) {
  const GraphModule module = torchLevel(R"(x: "f32[2, 9]", y: "f32[2, 3]")", R"(
        s = torch.split(x, [2, 6, 1], 1)
        a = s[0]
        b = s[1]
        c = s[2]
        t = b.chunk(3, dim = -1)
        d = t[0]
        e = t[2]
        one = torch.split(y, 3, dim = 1)
        f = one[0]
        return (torch.relu(a), torch.relu(d), torch.exp(e), torch.exp(c), torch.sin(f))
)");
  const GraphModule after = afterPasses(module, {"merge_splits_pass"});
  EXPECT_EQ(std::ranges::count(targets(after.graph), "torch.split"), 1);
  EXPECT_EQ(std::ranges::count(targets(after.graph), "torch.chunk"), 0);
  for (const NodeId id : after.graph.order())
    if (after.graph.node(id).target() == "torch.split") {
      EXPECT_EQ(after.graph.node(id).args()[1], Argument::list({2, 2, 2, 2, 1}));
    }
  EXPECT_EQ(after.graph.node(*after.graph.find("sin")).inputs().front(), *after.graph.find("y"));
}

TEST(MergeSplits, KeepsPiecesThatOthersReadOtherDimensionsAndWrites) {
  const GraphModule module = torchLevel(R"(x: "f32[4, 6]", y: "f32[4, 6]", z: "f32[4, 6]", u: "f32[2]")", R"(
        s = torch.split(x, [4, 2], 1)
        a = s[0]
        t = torch.split(a, 2, 1)
        b = t[0]
        read = torch.relu(a)
        p = torch.split(y, 3, 1)
        q = p[0]
        r = torch.split(q, 2, 0)
        c = r[1]
        v = torch.split(z, 3, 1)
        w = v[0]
        d = torch.split(w, [1, 2], 1)
        e = d[0]
        f = e.add_(1)
        one = torch.split(u, 2)
        g = one[0]
        return (torch.relu(b), read, torch.relu(c), f, g)
)");
  EXPECT_EQ(afterPasses(module, {"merge_splits_pass"}).revision(), module.revision());
}

TEST(SplitCat, TakesWholesPartsAndOneCat) {
  const GraphModule module = torchLevel(R"(x: "f32[2, 6]", y: "f32[2, 3]", z: "f32[2, 4]", u: "f32[1, 3]")", R"(
        s = x.split(2, dim = 1)
        a = s[0]
        b = s[1]
        c = s[2]
        whole = torch.cat([a, b, c], dim = -1)
        joined = torch.cat([u, y])
        t = torch.split(joined, [1, 2])
        p = t[1]
        flat = torch.cat([z, torch.cat([y, z], 1)], 1)
        return (torch.relu(whole), torch.relu(p), torch.relu(flat))
)");
  const GraphModule after = afterPasses(module, {"split_cat_pass"});
  EXPECT_EQ(targets(after.graph), (Calls{"torch.cat", "torch.relu", "torch.relu", "torch.relu"}));
  for (const NodeId id : after.graph.order())
    if (after.graph.node(id).target() == "torch.cat") {
      EXPECT_EQ(after.graph.node(id).args()[0].asList()->items.size(), 3u);
    }
}

TEST(SplitCat, KeepsOtherOrdersDimensionsAndWrittenPieces) {
  const GraphModule module = torchLevel(R"(x: "f32[4, 4]", y: "f32[4, 4]")", R"(
        s = torch.split(x, 2, 1)
        a = s[0]
        b = s[1]
        turned = torch.cat([b, a], 1)
        other = torch.cat([a, b], 0)
        r = torch.split(y, 2, 1)
        c = r[0]
        d = r[1]
        e = c.add_(1)
        written = torch.cat([c, d], 1)
        return (turned, other, written)
)");
  EXPECT_EQ(afterPasses(module, {"split_cat_pass"}).revision(), module.revision());
}

TEST(UnbindStack, TakesWholesPartsAndFlattens) {
  const GraphModule module = torchLevel(R"(x: "f32[2, 3, 4]", y: "f32[3]", z: "f32[3]")", R"(
        s = x.unbind(1)
        a = s[0]
        b = s[1]
        c = s[2]
        whole = torch.stack([a, b, c], dim = 1)
        t = torch.stack([y, z])
        u = torch.unbind(t)
        p = u[1]
        v = torch.unbind(x, 0)
        d = v[0]
        e = v[1]
        rows = torch.cat([d, e], 0)
        return (torch.relu(whole), torch.relu(p), torch.relu(rows))
)");
  EXPECT_EQ(targets(afterPasses(module, {"unbind_stack_pass"}).graph),
            (Calls{"torch.flatten", "torch.relu", "torch.relu", "torch.relu"}));
}

TEST(UnbindStack, KeepsOtherDimensionsAndOutputs) {
  const GraphModule module = torchLevel(R"(x: "f32[3, 3]")", R"(
        s = x.unbind(0)
        a = s[0]
        b = s[1]
        c = s[2]
        turned = torch.stack([a, b, c], 1)
        returned = torch.stack([a, b, c], 0)
        flat = torch.cat([a, b, c], 0)
        return (turned, returned, flat)
)");
  EXPECT_EQ(afterPasses(module, {"unbind_stack_pass"}).revision(), module.revision());
}

TEST(LinearPermuteFusion, ComputesTheTransposedResult) {
  const GraphModule module = torchLevel(R"(x: "f32[2, 3, 4]", w: "f32[5, 4]", b: "f32[5]")", R"(
        l = torch._C._nn.linear(x, w, b)
        p = l.permute(0, 2, 1)
        c = p.contiguous()
        m = torch._C._nn.linear(x, w)
        q = m.transpose(-1, 1)
        n = torch.cat([q, q], 1)
        return (c, n)
)");
  const GraphModule after = afterPasses(module, {"normalization_pass", "linear_permute_fusion"}, {}, 1e-6);
  const Calls calls = targets(after.graph);
  EXPECT_EQ(std::ranges::count(calls, "torch.nn.functional.linear"), 0);
  EXPECT_EQ(std::ranges::count(calls, "torch.matmul"), 2);
  EXPECT_EQ(std::ranges::count(calls, "torch.permute"), 0);
  for (const NodeId id : after.graph.order())
    EXPECT_TRUE(after.graph.node(id).meta().value.known() || after.graph.node(id).op() == Opcode::Output);
}

TEST(LinearPermuteFusion, KeepsOtherSwapsAndReadersOfStrides) {
  const GraphModule module = torchLevel(R"(x: "f32[2, 3, 4]", w: "f32[5, 4]")", R"(
        l = torch._C._nn.linear(x, w)
        p = torch.permute(l, [1, 0, 2])
        c = p.contiguous()
        m = torch._C._nn.linear(x, w)
        q = torch.permute(m, [0, 2, 1])
        r = torch.relu(q)
        n = torch._C._nn.linear(x, w)
        t = torch.transpose(n, 1, 2)
        return (c, r, t, t.contiguous())
)");
  const GraphModule plain = afterPasses(module, {"normalization_pass"});
  EXPECT_EQ(targets(afterPasses(module, {"normalization_pass", "linear_permute_fusion"}).graph), targets(plain.graph));
}

TEST(MatmulPermuteFusion, MultipliesInReverse) {
  const GraphModule module = torchLevel(R"(a: "f32[2, 3, 4]", b: "f32[2, 4, 5]")", R"(
        m = a @ b
        t = m.transpose(1, 2)
        c = torch.cat((t, t), dim = -1)
        n = torch.bmm(a, b)
        u = torch.permute(n, [0, 2, 1])
        return (c, u.contiguous())
)");
  const GraphModule after = afterPasses(module, {"normalization_pass", "matmul_permute_fusion"}, {}, 1e-6);
  EXPECT_EQ(targets(after.graph), (Calls{"torch.transpose", "torch.transpose", "torch.matmul", "torch.cat",
                                         "torch.transpose", "torch.transpose", "torch.bmm", "method.contiguous"}));
}

TEST(MatmulPermuteFusion, KeepsProductsThatAreReadTwiceAndVectors) {
  const GraphModule module = torchLevel(R"(a: "f32[2, 3, 4]", b: "f32[2, 4, 5]", v: "f32[4]")", R"(
        m = torch.matmul(a, b)
        t = torch.transpose(m, 1, 2)
        c = t.contiguous()
        n = torch.matmul(a, v)
        u = torch.transpose(n, 0, 1)
        return (c, m, u.contiguous())
)");
  EXPECT_EQ(afterPasses(module, {"matmul_permute_fusion"}).revision(), module.revision());
}

constexpr const char* siblings = R"(
        q = torch._C._nn.linear(x, wq, bq)
        k = torch._C._nn.linear(x, wk, bk)
        r = torch._C._nn.linear(x, wq)
        return (torch.relu(q), k, r)
)";
constexpr const char* siblingInputs =
    R"(x: "f32[2, 3, 4]", wq: "f32[5, 4]", wk: "f32[7, 4]", bq: "f32[5]", bk: "f32[7]")";

TEST(FuseParallelLinear, PutsLayersOfOneInputTogether) {
  const GraphModule module = torchLevel(siblingInputs, siblings);
  const GraphModule after =
      afterPasses(module, {"fuse_parallel_linear_pass"}, {"fuse_parallel_linear_pass.enabled=true"}, 1e-6);
  const Calls calls = targets(after.graph);
  EXPECT_EQ(std::ranges::count(calls, "torch.nn.functional.linear") + std::ranges::count(calls, "torch._C._nn.linear"),
            2);  // those with a bias, and the one without
  EXPECT_EQ(std::ranges::count(calls, "torch.cat"), 2);
}

TEST(FuseParallelLinear, IsOffByDefaultAndKeepsLayersWhoseWeightsAreComputed) {
  const GraphModule module = torchLevel(siblingInputs, siblings);
  EXPECT_EQ(afterPasses(module, {"fuse_parallel_linear_pass"}).revision(), module.revision());
  const GraphModule chained = torchLevel(R"(x: "f32[3, 4]", w: "f32[4, 4]")", R"(
        a = torch._C._nn.linear(x, w)
        v = torch.relu(w)
        b = torch._C._nn.linear(x, v)
        return (a, b)
)");
  EXPECT_EQ(afterPasses(chained, {"fuse_parallel_linear_pass"}, {"fuse_parallel_linear_pass.enabled=true"}).revision(),
            chained.revision());
}

GraphModule blockCaller() {
  GraphModule block = torchLevel(R"(a: "f32[2, 3]", factor)", R"(
        w = self.w
        m = a * factor
        return (torch.relu(m) + w, m)
)");
  block.attributes.clear();
  block.attributes.add("w", {filled({2, 3}, 0.5f), true, {}});
  GraphModule outer;
  const NodeId x = outer.graph.placeholder("x");
  outer.graph.setValueMeta(x, block.graph.node(block.graph.placeholders()[0]).meta().value);
  const NodeId call = outer.graph.callModule("block", {x, 2.0});
  const NodeId first = outer.graph.callFunction("operator.getitem", {call, 0});
  const NodeId second = outer.graph.callModule("block", {first}, {{"factor", Argument(3.0)}});
  outer.graph.output(Argument::tuple({outer.graph.callFunction("operator.getitem", {second, -2})}));
  outer.submodules.add("block", {std::make_shared<const GraphModule>(std::move(block)), {}});
  return outer;
}

TEST(InlineModule, PutsNodesInThePlaceOfCalls) {
  const GraphModule module = blockCaller();
  const GraphModule after = afterPasses(module, {"inline_module", "shape_prop"});
  EXPECT_EQ(targets(after.graph),
            (Calls{"operator.mul", "torch.relu", "operator.add", "operator.mul", "torch.relu", "operator.add"}));
  EXPECT_TRUE(after.submodules.empty());
  ASSERT_TRUE(after.attribute("block.w"));
  const TensorMeta* meta = testing::nodeNamed(after, "relu").meta().value.tensor();
  ASSERT_TRUE(meta);
  EXPECT_EQ(meta->concreteSizes(), (Sizes{2, 3}));
}

TEST(InlineModule, KeepsLeavesAndWhatIsTooLarge) {
  const GraphModule module = blockCaller();
  EXPECT_EQ(afterPasses(module, {"inline_module"}, {"inline_module.max_nodes=5"}).revision(), module.revision());
  GraphModule leaf;
  const NodeId x = leaf.graph.placeholder("x");
  leaf.graph.setValueMeta(x, module.graph.node(module.graph.placeholders()[0]).meta().value);
  leaf.graph.output(Argument::tuple({leaf.graph.callModule("act", {x})}));
  leaf.submodules.add("act", {nullptr, "ReLU()"});
  EXPECT_EQ(afterPasses(leaf, {"inline_module"}).revision(), leaf.revision());
}

TEST(ShapeProp, FillsInWhatIsMissingAndLeavesTheRest) {
  GraphModule module = torchLevel(R"(x: "f32[2, 3]")", R"(
        a = torch.relu(x)
        b = a.t()
        return (b.contiguous(),)
)");
  EXPECT_EQ(afterPasses(module, {"shape_prop"}).revision(), module.revision());
  module.graph.setValueMeta(*module.graph.find("b"), {});
  const GraphModule after = afterPasses(module, {"shape_prop"});
  const TensorMeta* meta = testing::nodeNamed(after, "b").meta().value.tensor();
  ASSERT_TRUE(meta);
  EXPECT_EQ(meta->concreteSizes(), (Sizes{3, 2}));
  EXPECT_EQ(meta->concreteStrides(), (Sizes{1, 3}));
  module.graph.setValueMeta(module.graph.placeholders()[0], {});
  PassConfig config{.only = std::vector<std::string>{"shape_prop"}};
  const auto unknown = PassManager(*selectPasses(config)).run(module);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->revision(), module.revision());
}

}  // namespace
}  // namespace kerf
