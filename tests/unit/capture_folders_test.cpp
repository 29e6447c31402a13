// Folders that PyTorch leaves behind: debug folders, graph transforms, mixtures; gzip; content instead of extension.
#include <algorithm>

#include <zlib.h>

#include "engine/capture/debug/graph_dot.h"
#include "engine/capture/debug/inductor_ir.h"
#include "engine/capture/import_all.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

constexpr const char* oneTensor =
    "    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (4, 4), is_leaf=True)  # x\n";

std::string seed(const std::string& name) {
  return testing::readFile(fs::path(KERF_SOURCE_DIR) / "tests/fuzz/seeds" / name);
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(ImportByContent, ExtensionsDoNotMatter) {
  const testing::TemporaryFolder folder;
  testing::writeFile(folder.path() / "repro.bin", testing::reluRepro(oneTensor));
  testing::writeFile(folder.path() / "graph.pt2", seed("graph_text/forms.txt"));
  testing::writeFile(folder.path() / "repro.log", gzipped(testing::reluRepro(oneTensor)));
  EXPECT_EQ(importCapture(folder.path() / "repro.bin")->kind, "repro");
  EXPECT_EQ(importCapture(folder.path() / "graph.pt2")->kind, "text");
  const auto packed = importCapture(folder.path() / "repro.log");
  ASSERT_TRUE(packed) << packed.error().text();
  EXPECT_EQ(packed->graphs[0].contentHash(), importCapture(folder.path() / "repro.bin")->graphs[0].contentHash());
}

TEST(ImportByContent, RefusesDamagedAndOverlongGzip) {
  const testing::TemporaryFolder folder;
  const std::string packed = gzipped(testing::reluRepro(oneTensor));
  testing::writeFile(folder.path() / "cut.gz", packed.substr(0, packed.size() / 2));
  const auto cut = importCapture(folder.path() / "cut.gz");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::BadInput);
  testing::writeFile(folder.path() / "bomb.gz", gzipped(std::string(8 << 20, ' ')));
  ImportLimits limits;
  limits.fileBytes = 1 << 20;
  const auto bomb = importCapture(folder.path() / "bomb.gz", limits);
  ASSERT_FALSE(bomb);
  EXPECT_EQ(bomb.error().code, ErrorCode::TooLarge);
}

TEST(InductorIr, ReadsFusedNodesAndExternKernels) {
  const auto fused = readInductorIr(seed("debug_files/fused.txt"), 1000);
  ASSERT_TRUE(fused) << fused.error().text();
  ASSERT_EQ(fused->size(), 1u);
  EXPECT_EQ(fused->at(0).name, "op3_op4");
  EXPECT_EQ(fused->at(0).kind, "FusedSchedulerNode");
  EXPECT_EQ(fused->at(0).members, (std::vector<std::string>{"op3", "op4"}));
  EXPECT_EQ(fused->at(0).outputs, (std::vector<std::string>{"buf3", "buf4"}));
  EXPECT_EQ(fused->at(0).reads.front(), "buf2");
  const auto plain = readInductorIr(seed("debug_files/dynamic_post.txt"), 1000);
  ASSERT_TRUE(plain);
  ASSERT_EQ(plain->size(), 3u);
  EXPECT_EQ(plain->at(0).kernel, "extern_kernels.addmm");
  EXPECT_EQ(plain->at(1).outputs, (std::vector<std::string>{"buf1"}));
  EXPECT_EQ(plain->at(1).line, 16);
  EXPECT_FALSE(readInductorIr(seed("debug_files/bad_open.txt"), 1000));
  EXPECT_EQ(readInductorIr(seed("debug_files/dynamic_post.txt"), 2).error().code, ErrorCode::TooLarge);
}

fs::path makeDebugFolder(const fs::path& root) {
  const fs::path graph = root / "torch_compile_debug/run_1-pid_2/torchinductor/model__0_forward_1.0";
  fs::create_directories(graph);
  testing::writeFile(graph / "fx_graph_readable.py", seed("graph_text/mlp_forward.txt"));
  testing::writeFile(graph / "fx_graph_runnable.py", testing::reluRepro(oneTensor));
  testing::writeFile(graph / "ir_post_fusion.txt", seed("debug_files/dynamic_post.txt"));
  testing::writeFile(graph / "ir_pre_fusion.txt", seed("debug_files/dynamic_post.txt"));
  testing::writeFile(graph / "inductor_provenance_tracking_node_mappings.json", seed("debug_files/provenance.json"));
  testing::writeFile(graph / "output_code.py", "# code\n");
  const fs::path minifier = root / "torch_compile_debug/run_1-pid_2/minifier";
  fs::create_directories(minifier / "checkpoints");
  testing::writeFile(minifier / "minifier_launcher.py", testing::reluRepro(oneTensor));
  testing::writeFile(minifier / "checkpoints/12.py", testing::reluRepro(oneTensor));
  testing::writeFile(minifier / "checkpoints/3.py", testing::reluRepro(oneTensor));
  return graph;
}

TEST(DebugFolder, OpensAtEveryLevel) {
  const testing::TemporaryFolder folder;
  const fs::path graph = makeDebugFolder(folder.path());
  const auto whole = importCapture(folder.path() / "torch_compile_debug");
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_EQ(whole->kind, "debug_dir");
  std::vector<std::string> names;
  for (const CapturedGraph& captured : whole->graphs) names.push_back(captured.name);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"checkpoint_12", "checkpoint_3", "minifier_launcher",
                                             "model__0_forward_1.0_readable", "model__0_forward_1.0_runnable"}));
  EXPECT_EQ(importCapture(graph)->graphs.size(), 2u);
  EXPECT_EQ(importCapture(graph.parent_path())->graphs.size(), 2u);
  EXPECT_EQ(importCapture(folder.path() / "torch_compile_debug/run_1-pid_2")->graphs.size(), 5u);
  EXPECT_EQ(importCapture(folder.path())->graphs.size(), 5u);
}

TEST(DebugFolder, JoinsKernelsWithNodesAndBuffers) {
  const testing::TemporaryFolder folder;
  const auto capture = importCapture(makeDebugFolder(folder.path()));
  ASSERT_TRUE(capture);
  ASSERT_TRUE(capture->details);
  const auto& groups = capture->details->fusionGroups;
  ASSERT_EQ(groups.size(), 6u);  // three kernels, three nodes before fusion
  EXPECT_EQ(groups[1].kernel, "cpp_fused_relu_0:2");
  EXPECT_EQ(groups[1].buffers, (std::vector<std::string>{"op1", "buf1"}));
  EXPECT_EQ(groups[1].postGradNodes, (std::vector<std::string>{"relu"}));
  EXPECT_EQ(groups[1].preGradNodes, (std::vector<std::string>{"input_2"}));
  EXPECT_EQ(groups[2].buffers, (std::vector<std::string>{"op2", "buf2"}));
  EXPECT_EQ(groups[3].kernel, "");
  EXPECT_EQ(groups[3].origin.stage, "ir_pre_fusion");
  const auto output = std::ranges::find(capture->details->records, "inductor_output_code", &CaptureRecord::kind);
  ASSERT_NE(output, capture->details->records.end());
  EXPECT_EQ(*output->text(), "# code\n");
}

TEST(DebugFolder, NotesWhatCannotBeRead) {
  const testing::TemporaryFolder folder;
  const fs::path graph = makeDebugFolder(folder.path());
  testing::writeFile(graph / "fx_graph_readable.py",
                     "class A(torch.nn.Module):\n    def forward(self, x):\n        y = x +\n");
  const auto capture = importCapture(graph);
  ASSERT_TRUE(capture);
  EXPECT_EQ(capture->graphs.size(), 1u);
  const auto names = [](const std::string& note) { return note.find("fx_graph_readable.py:3") != std::string::npos; };
  EXPECT_TRUE(std::ranges::any_of(capture->notes, names));
}

TEST(GraphTransforms, ReadsInputAndOutputOfEachPass) {
  const testing::TemporaryFolder folder;
  for (const char* name : {"pass_10_b_input_graph.dot", "pass_2_a_output_graph.dot", "pass_2_a_input_graph.dot"})
    testing::writeFile(folder.path() / name, seed("debug_files/pass_1_input.dot"));
  const auto capture = importCapture(folder.path());
  ASSERT_TRUE(capture) << capture.error().text();
  ASSERT_EQ(capture->graphs.size(), 3u);
  EXPECT_EQ(capture->graphs[0].name, "2_a_input");
  EXPECT_EQ(capture->graphs[2].origin.stage, "10_b input");
  const Graph& graph = capture->graphs[0].module.graph;
  const Node& mean = graph.node(*graph.find("mean"));
  EXPECT_EQ(mean.target(), "torch.ops.aten.mean.dim");
  ASSERT_EQ(mean.args().size(), 3u);
  EXPECT_EQ(mean.args()[1], Argument::list({Argument(0)}));
  EXPECT_EQ(mean.kwargs().at(0).second, Argument(DType::Float64));
  EXPECT_EQ(graph.node(*graph.find("neg")).meta().description, "changed by this pass");
  EXPECT_EQ(graph.node(*graph.find("x")).meta().value.tensor()->sizes.size(), 2u);
  EXPECT_FALSE(capture->notes.empty());  // the drawing does not tell everything
}

TEST(GraphTransforms, KeepsNodesWhoseNamesMeanSomethingElse) {
  const auto capture = importGraphDot(seed("debug_files/names.dot"), "names.dot");
  ASSERT_TRUE(capture) << capture.error().text();
  const Graph& graph = capture->graphs.at(0).module.graph;
  for (const char* name : {"inf_1", "torch_1", "node"}) {
    ASSERT_TRUE(graph.find(name)) << name;
    EXPECT_EQ(graph.node(*graph.find(name)).users().size(), 1u) << name;
  }
}

TEST(ImportAll, TakesEachThingOnce) {
  const testing::TemporaryFolder folder;
  makeDebugFolder(folder.path() / "a");
  testing::writeFile(folder.path() / "repro.py", testing::reluRepro(oneTensor));
  testing::writeFile(folder.path() / "notes.txt", "nothing\n");
  fs::create_directories(folder.path() / "passes");
  testing::writeFile(folder.path() / "passes/pass_1_x_input_graph.dot", seed("debug_files/pass_1_input.dot"));
  const auto all = importAll(folder.path());
  ASSERT_TRUE(all) << all.error().text();
  std::vector<std::string> kinds;
  for (const Capture& capture : *all) kinds.push_back(capture.kind);
  std::ranges::sort(kinds);
  EXPECT_EQ(kinds, (std::vector<std::string>{"debug_dir", "graph_transforms", "repro"}));
}

}  // namespace
}  // namespace kerf
