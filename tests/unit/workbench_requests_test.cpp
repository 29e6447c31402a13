// The workbench itself, in this process: addresses, documents, the store, runs.
#include "app/workbench/workbench.h"
#include "tests/support/small_repro.h"
#include "tests/support/workbench_fixture.h"

namespace kerf::workbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RequestTest : public WorkbenchTest {
 protected:
  Workbench& bench() {
    if (!m_bench) m_bench = std::make_unique<Workbench>(WorkbenchOptions{store(), kerf, 4});
    return *m_bench;
  }
  template <class Request>
  typename Request::Answer ask(const Request& request) {
    auto answer = bench().perform(request);
    if (!answer) throw std::runtime_error(answer.error().text());  // the test ends here, with this message
    return std::move(*answer);
  }
  fs::path repro(const std::string& name, const std::string& forward) const {
    return write(name, test::smallRepro(forward));
  }
  fs::path reluRepro() const { return repro("relu.py", test::reluForward); }
  std::unique_ptr<Workbench> m_bench;
};

TEST_F(RequestTest, AnIndexAndANameMeanTheSameGraph) {
  const auto byIndex = ask(GraphRequest{{sample, 0}}), byName = ask(GraphRequest{{sample}});
  EXPECT_EQ(byIndex->hash, byName->hash);
  EXPECT_EQ(ask(GraphRequest{{sample + "#forward"}})->hash, byName->hash);
  EXPECT_EQ(bench().perform(GraphRequest{{sample, 1}}).error().code, ErrorCode::NotFound);
  ask(ImportRequest{sample});
  for (const GraphAddress& stored : {GraphAddress{"c1", 0}, GraphAddress{"c1"}, GraphAddress{"c1/g1"}})
    EXPECT_EQ(ask(GraphRequest{stored})->hash, byName->hash) << stored.text;
}

TEST_F(RequestTest, AGraphDocumentHasWhatIsShown) {
  const auto graph = ask(GraphRequest{{reluRepro().string()}});
  ASSERT_EQ(graph->nodes.size(), 4u);
  const auto& relu = graph->nodes[1];
  EXPECT_EQ(relu.name, "relu");
  EXPECT_EQ(relu.op, "relu");
  EXPECT_EQ(relu.kind, NodeKind::Pointwise);
  EXPECT_EQ(relu.value, "f32[2, 4]");
  EXPECT_EQ(relu.stride, "[4, 1]");
  EXPECT_THAT(relu.inputs, ElementsAre(0));
  EXPECT_THAT(relu.users, ElementsAre(2));
  EXPECT_EQ(relu.line, 4);
  ASSERT_EQ(relu.arguments.size(), 1u);
  EXPECT_EQ(relu.arguments[0].name, "self");
  EXPECT_EQ(relu.arguments[0].value, "%arg0_1");
  EXPECT_THAT(graph->ops, ElementsAre("add", "relu"));
  EXPECT_THAT(graph->code[std::size_t(relu.codeLine)], HasSubstr("relu = torch.ops.aten.relu.default"));
  const auto& add = graph->nodes[2];
  ASSERT_EQ(add.arguments.size(), 3u);
  EXPECT_EQ(add.arguments[2].name, "alpha");
  EXPECT_TRUE(add.arguments[2].defaulted);
}

TEST_F(RequestTest, ABodyIsADocumentOfItsOwn) {
  const auto file = write("nested.txt", R"(
class GraphModule(torch.nn.Module):
    def forward(self, p: "b8[]", x: "f32[3]"):
        true_graph_0 = self.true_graph_0
        false_graph_0 = self.false_graph_0
        cond = torch.ops.higher_order.cond(p, true_graph_0, false_graph_0, (x,))
        getitem: "f32[3]" = cond[0]
        return (getitem,)

    class true_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3]"):
            sin: "f32[3]" = torch.ops.aten.sin.default(x)
            return (sin,)

    class false_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3]"):
            relu: "f32[3]" = torch.ops.aten.relu.default(x)
            return (relu,)
)");
  GraphRequest request{{file.string()}};
  const auto graph = ask(request);
  const auto& cond = graph->nodes[std::size_t(graph->find("cond"))];
  EXPECT_THAT(cond.bodies, ElementsAre("true_graph_0", "false_graph_0"));
  request.body = "false_graph_0";
  const auto body = ask(request);
  ASSERT_EQ(body->nodes.size(), 3u);
  EXPECT_EQ(body->nodes[1].op, "relu");
  EXPECT_EQ(body->nodes[1].value, "f32[3]");
  EXPECT_THAT(body->title, HasSubstr("/ false_graph_0"));
  request.body = "true_graph_0/deeper";
  EXPECT_THAT(bench().perform(request).error().message, HasSubstr("there is no nested graph deeper: it has none"));
}

TEST_F(RequestTest, NotesAreKeptByTheContentOfTheGraph) {
  const auto hash = ask(GraphRequest{{sample}})->hash;
  ask(NoteRequest{{hash, "relu", "look here", sample, "forward"}});
  const auto notes = ask(NotesRequest{hash});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].text, "look here");
  EXPECT_EQ(ask(NotesRequest{"another"}).size(), 0u);
  ask(NoteRequest{notes[0], true});
  EXPECT_EQ(ask(NotesRequest{}).size(), 0u);
  EXPECT_EQ(bench().perform(NoteRequest{}).error().code, ErrorCode::BadUsage);
}

TEST_F(RequestTest, WhatIsStoredCanBeListedAndOpened) {
  const auto imported = ask(ImportRequest{reluRepro().string()});
  EXPECT_EQ(imported.captures[0].id, "c1");
  EXPECT_EQ(imported.captures[0].graphs[0].nodes, 4);
  MinifyRequest minify{{"c1"}};
  minify.oracle.plants = {"relu=accuracy"};
  minify.place = MinifyRequest::ReproPlace::Store;
  const auto minified = ask(minify);
  EXPECT_EQ(minified.reproId, "p1");
  EXPECT_TRUE(scratchIsEmpty());
  CompareRequest compare{{"c1"}};
  EXPECT_EQ(ask(compare).run, "r1");
  const auto listing = ask(StoreRequest{});
  ASSERT_EQ(listing.captures.size(), 1u);
  EXPECT_EQ(listing.graphs[0].id, "c1/g1");
  ASSERT_EQ(listing.runs.size(), 1u);
  EXPECT_EQ(listing.runs[0].graph, "c1/g1");
  EXPECT_EQ(listing.runs[0].status, "same");
  ASSERT_EQ(listing.reductions.size(), 1u);
  EXPECT_EQ(listing.reductions[0].status, "finished");
  ASSERT_EQ(listing.repros.size(), 1u);
  EXPECT_EQ(listing.repros[0].reduction, "m1");
  for (const char* name : {"c1", "c1/g1", "m1", "m1@step:0", "p1"}) {
    const auto opened = ask(OpenRequest{name});
    ASSERT_EQ(opened.size(), 1u) << name;
    EXPECT_EQ(opened[0].name, name);
    EXPECT_EQ(opened[0].graphs.size(), 1u) << name;
    EXPECT_EQ(ask(GraphRequest{{name, 0}})->nodes.size(), std::size_t(opened[0].graphs[0].nodes)) << name;
  }
}

TEST_F(RequestTest, PassesComeWithTheGraphsBetweenThem) {
  const auto file = repro("cse.py",
                          "        relu = torch.ops.aten.relu.default(arg0_1)\n"
                          "        relu_1 = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
                          "        add = torch.ops.aten.add.Tensor(relu, relu_1)\n        return (add,)\n");
  const auto trace = ask(PassesRequest{{file.string()}});
  const auto cse = std::ranges::find(trace.passes, "cse", &PassDoc::name);
  ASSERT_NE(cse, trace.passes.end());
  EXPECT_THAT(cse->removed, ElementsAre("relu_1"));
  const auto after = std::ranges::find(trace.snapshots, cse->hashAfter, &SnapshotDoc::hash);
  ASSERT_NE(after, trace.snapshots.end());
  EXPECT_EQ(after->nodes, cse->nodesAfter);
  EXPECT_THAT(after->text, ::testing::Not(HasSubstr("relu_1")));
  EXPECT_EQ(trace.run, "r1");
  GraphRequest request{{file.string()}};
  request.afterPass = cse->index;
  const auto graph = ask(request);
  EXPECT_EQ(graph->title, "forward after cse");
  EXPECT_EQ(int(graph->nodes.size()), cse->nodesAfter);
  request.afterPass = 99;
  EXPECT_EQ(bench().perform(request).error().code, ErrorCode::NotFound);
}

TEST_F(RequestTest, ARunThatDoesNotEndIsAFailure) {
  const auto file = repro("long.py",
                          "        full = torch.ops.aten.full.default([4000, 4000], 1.0, dtype = torch.float32)\n"
                          "        mm = torch.ops.aten.mm.default(full, full)\n"
                          "        mm_1 = torch.ops.aten.mm.default(mm, full)\n        return (mm_1,)\n");
  for (const char* backend : {"interp", "llvm"}) {
    RunRequest request{{file.string()}};
    request.backend = backend;
    request.timeout = 100ms;
    const auto start = std::chrono::steady_clock::now();
    const auto run = bench().perform(request);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, ErrorCode::RuntimeFailed);
    EXPECT_THAT(run.error().message, HasSubstr("did not come to an end"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, test::patience);
  }
}

TEST_F(RequestTest, ARunsOutputsComeOverFromItsChild) {
  RunRequest request{{reluRepro().string()}};
  request.save = (folder() / "out.safetensors").string();
  EXPECT_THAT(ask(request).outputs, ElementsAre("f32[2, 4]"));
  request.backend = "llvm";
  request.expect = std::exchange(request.save, {});
  const auto compared = ask(request);
  EXPECT_TRUE(compared.same);
  ASSERT_EQ(compared.expected.size(), 1u);
  EXPECT_EQ(compared.expected[0].shape, "f32[2, 4]");
}

TEST_F(RequestTest, BisectingNamesWhatIsToBlame) {
  const auto file = reluRepro().string();
  const auto byNode = ask(BisectRequest{{file}, BisectRequest::By::Node, {"relu=accuracy"}});
  EXPECT_THAT(byNode.culprits, ElementsAre("relu"));
  EXPECT_EQ(byNode.nodesCompared, 2);
  const auto byPass = ask(BisectRequest{{file}, BisectRequest::By::Pass, {"pass:cse=crash"}});
  EXPECT_THAT(byPass.culprits, ElementsAre("cse"));
  EXPECT_TRUE(byPass.trials.back().same) << "all but the culprit";
  EXPECT_THAT(byPass.trials.front().detail, HasSubstr("SIGSEGV"));
  const auto healthy = ask(BisectRequest{{file}, BisectRequest::By::Pass});
  EXPECT_FALSE(healthy.different);
  EXPECT_THAT(healthy.culprits, ::testing::IsEmpty());
}

TEST_F(RequestTest, CapturesAreReadOnceUntilTheyAreClosed) {
  const auto file = reluRepro();
  const auto before = ask(GraphRequest{{file.string(), 0}});
  repro("relu.py", "        relu = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n        return (relu,)\n");
  EXPECT_EQ(ask(GraphRequest{{file.string(), 0}})->nodes.size(), before->nodes.size());
  ask(CloseRequest{file.string()});
  EXPECT_EQ(ask(GraphRequest{{file.string(), 0}})->nodes.size(), 3u);
}

TEST_F(RequestTest, BadAddressesNameWhatIsWrong) {
  const auto errorOf = [&](const GraphAddress& address) { return bench().perform(GraphRequest{address}).error(); };
  EXPECT_EQ(errorOf({"nothere.py"}).code, ErrorCode::NotFound);
  EXPECT_EQ(errorOf({"c9"}).code, ErrorCode::NotFound);
  EXPECT_EQ(errorOf({"m1@step:x"}).code, ErrorCode::NotFound);
  EXPECT_EQ(errorOf({sample + "#backward"}).code, ErrorCode::NotFound);
  EXPECT_EQ(errorOf({sample, -1, {"s0=8"}}).code, ErrorCode::BadUsage);
  EXPECT_EQ(errorOf({sample, -1, {"s0"}}).code, ErrorCode::BadUsage);
}

}  // namespace
}  // namespace kerf::workbench
