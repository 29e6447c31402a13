// Exported programs: graphs as torch.export.load builds them, weights in place, every layout, and exact round trips.
#include "engine/capture/pt2/import.h"
#include "engine/capture/pt2/inputs.h"
#include "engine/capture/pt2/program.h"
#include "engine/capture/pt2/writer.h"
#include "engine/ir/printer.h"
#include "engine/ops/core/op_registry.h"
#include "engine/support/recordings.h"
#include "engine/tensor/mapped_file.h"
#include "tests/fuzz/checks.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

fs::path seed(const std::string& name) { return fs::path(KERF_SOURCE_DIR) / "tests" / "fuzz" / "seeds" / "pt2" / name; }

CapturedGraph opened(const fs::path& path, std::vector<std::string>* notes = nullptr) {
  auto capture = importPt2(path, {}, {});
  EXPECT_TRUE(capture.has_value()) << (capture ? "" : capture.error().text());
  if (!capture) return {};
  EXPECT_EQ(capture->kind, "pt2");
  if (notes) *notes = capture->notes;
  return capture->graphs.at(0);
}

const Node& nodeOf(const CapturedGraph& graph, std::string_view name) {
  const auto id = graph.module.graph.find(name);
  EXPECT_TRUE(id.has_value()) << name;
  return graph.module.graph.node(id.value_or(*graph.module.graph.order().begin()));
}

TEST(Pt2Import, ReadsNodesNamesAndWhereTheyCameFrom) {
  const CapturedGraph graph = opened(seed("relu.pt2"));
  EXPECT_EQ(graph.name, "model");
  EXPECT_EQ(graph.origin.stage, "exported_program");
  EXPECT_EQ(printGraphText(graph.module.graph),
            "graph():\n    %x : [num_users=1] = placeholder[target=x]\n"
            "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,), kwargs = {})\n"
            "    return (relu,)");
  const NodeMeta& meta = nodeOf(graph, "relu").meta();
  EXPECT_EQ(meta.sourceFile, "/a/b.py");
  EXPECT_EQ(meta.sourceLine, 12);
  EXPECT_EQ(meta.stackTrace, "File: /a/b.py:12 in forward, code: return x.relu()");
  EXPECT_EQ(meta.modulePath, "fc");
  EXPECT_EQ(meta.fromNodes, std::vector<std::string>{"r"});
  ASSERT_NE(meta.value.tensor(), nullptr);
  EXPECT_EQ(meta.value.tensor()->concreteSizes(), (Sizes{2, 3}));
}

TEST(Pt2Import, ReadsEveryKindOfArgument) {
  const CapturedGraph graph = opened(seed("kinds.pt2"));
  const std::string text = printGraphText(graph.module.graph);
  for (
      const char* line :
      {"%mul : [num_users=3] = call_function[target=operator.mul](args = (%sym_size_int, 3), kwargs = {})",
       "%view : [num_users=1] = call_function[target=torch.ops.aten.view.default](args = (%x, [%mul, 1]), kwargs = {})",
       "%getitem_1 : [num_users=0] = call_function[target=operator.getitem](args = (%unbind, 1), kwargs = {})",
       "%as_none : [num_users=0] = call_function[target=operator.getitem](args = (%native_layer_norm, 2), kwargs = {})",
       "[target=torch.ops.aten.index.Tensor](args = (%x, [None, %i]), kwargs = {})",
       "kwargs = {dtype: torch.float64, layout: torch.strided, device: cpu, memory_format: torch.contiguous_format})",
       "%true_graph_0 : [num_users=1] = get_attr[target=true_graph_0]",
       "[target=torch.ops.higher_order.cond](args = (%ge, %true_graph_0, %false_graph_0, [%x]), kwargs = {})",
       "args = ([p, q], (1-2j), [[1, 2], [3]]), kwargs = {d: {k: [True, False], l: [inf, 1.0]}",
       "return (view, getitem, getitem_9, op, None, 3, mul)"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  ASSERT_NE(graph.module.submodule("true_graph_0"), nullptr);
  EXPECT_TRUE(graph.module.submodule("true_graph_0")->graph->graph.find("z").has_value());
  const TensorMeta* meta = nodeOf(graph, "view").meta().value.tensor();
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->sizes[0], (Dim{"3*s0", 4}));
  EXPECT_EQ(graph.inputs.at(3).kind, GraphInput::Kind::Const);
  EXPECT_EQ(graph.inputs.at(3).text, "5");
  EXPECT_EQ(graph.inputs.at(5).kind, GraphInput::Kind::SymInt);
  EXPECT_EQ(graph.inputs.at(5).sym.hint, 9);
}

TEST(Pt2Import, FillsTheSignature) {
  const CapturedGraph graph = opened(seed("linear.pt2"));
  ASSERT_TRUE(graph.signature.has_value());
  const auto& inputs = graph.signature->inputs;
  ASSERT_EQ(inputs.size(), 5u);
  EXPECT_EQ(inputs[0].kind, "parameter");
  EXPECT_EQ(inputs[0].target, "w");
  EXPECT_EQ(inputs[2].kind, "buffer");
  EXPECT_TRUE(inputs[2].persistent);
  EXPECT_EQ(inputs[3].kind, "tensor_constant");
  EXPECT_EQ(inputs[4].kind, "user_input");
  EXPECT_EQ(graph.signature->outputs[0].kind, "buffer_mutation");
  EXPECT_EQ(graph.signature->outputs[0].target, "n");
  EXPECT_EQ(userInputs(graph), std::vector<std::size_t>{4});
  EXPECT_EQ(userOutputs(graph, 2), std::vector<std::size_t>{1});
}

TEST(Pt2Import, LeavesWeightsInTheFileAndSharesThem) {
  const CapturedGraph graph = opened(seed("linear.pt2"));
  EXPECT_EQ(graph.inputs[0].storageIndex, graph.inputs[1].storageIndex);
  const StorageRef& weight = graph.storages.at(std::size_t(graph.inputs[0].storageIndex));
  ASSERT_TRUE(weight.file.has_value());
  EXPECT_EQ(weight.data, nullptr);
  EXPECT_EQ(weight.file->length, 48);
  std::vector<std::string> notes;
  const auto values = graph.loadInputs(false, &notes);
  ASSERT_TRUE(values.has_value()) << values.error().text();
  EXPECT_EQ((*values)[0].tensor().itemAsDouble(5), 5.0);
  EXPECT_EQ((*values)[1].tensor().itemAsDouble(2), 6.0);  // stride 3 in the same storage
  EXPECT_EQ((*values)[2].tensor().itemAsInt(), 7);
  EXPECT_EQ((*values)[3].tensor().itemAsDouble(1), 2.5);
  EXPECT_EQ(notes.size(), 1u);  // the user input was saved without data
}

TEST(Pt2Import, ReadsOlderLayouts) {
  for (const char* name : {"older.pt2", "oldest.pt2"}) {
    const CapturedGraph graph = opened(seed(name));
    const auto values = graph.loadInputs(true, nullptr);
    ASSERT_TRUE(values.has_value()) << name << values.error().text();
    EXPECT_EQ((*values)[0].tensor().itemAsDouble(11), 11.0) << name;
    EXPECT_EQ((*values)[2].tensor().itemAsDouble(4), 4.0) << name;  // the sample input
    EXPECT_EQ(nodeOf(graph, "linear").args().size(), 2u)
        << "bias has a default, so that without a kind it is a keyword";
  }
}

TEST(Pt2Import, ToleratesNewFieldsAndAnyOrder) {
  const Hash128 plain = opened(seed("relu.pt2")).module.contentHash();
  EXPECT_EQ(opened(seed("sorted_keys.pt2")).module.contentHash(), plain);
  EXPECT_EQ(opened(seed("future_minor.pt2")).module.contentHash(), plain);
  EXPECT_EQ(opened(seed("deflated.pt2")).module.contentHash(), plain);
  EXPECT_EQ(opened(seed("spaces.pt2")).module.contentHash(), plain);
}

TEST(Pt2Import, RunsWithItsSamplesAndWithOthers) {
  const CapturedGraph graph = opened(seed("dynamic.pt2"));
  ASSERT_TRUE(graph.loadInputs(true, nullptr).has_value());
  Tensor x = *Tensor::zeros(DType::Float32, {7, 3});
  const Tensor i = *Tensor::zeros(DType::Int64, {2});
  const auto inputs = loadInputsWith(graph, {x, i}, true, nullptr);
  ASSERT_TRUE(inputs.has_value()) << inputs.error().text();
  EXPECT_EQ((*inputs)[0].tensor().size(0), 7);
  const auto wrong = loadInputsWith(graph, {*Tensor::zeros(DType::Float32, {7, 4}), i}, true, nullptr);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, ErrorCode::ShapeMismatch);
  EXPECT_EQ(wrong.error().node, "x");
  EXPECT_FALSE(loadInputsWith(graph, {x}, true, nullptr).has_value());
  EXPECT_FALSE(loadInputsWith(graph, {i, i}, true, nullptr).has_value());
}

TEST(Pt2Export, ReadsBackTheSame) {
  const TemporaryFolder folder;
  for (const char* name : {"relu.pt2", "linear.pt2", "older.pt2", "oldest.pt2", "sample.pt2", "dynamic.pt2",
                           "deflated.pt2", "sorted_keys.pt2"}) {
    const CapturedGraph graph = opened(seed(name));
    const fs::path out = folder.path() / name;
    const auto written = exportPt2(graph, out);
    ASSERT_TRUE(written.has_value()) << name << ": " << written.error().text();
    const CapturedGraph again = opened(out);
    EXPECT_EQ(printGraphText(again.module.graph), printGraphText(graph.module.graph)) << name;
    EXPECT_EQ(again.contentHash(), graph.contentHash()) << name;
    for (const NodeId id : graph.module.graph.order()) {
      const Node& node = graph.module.graph.node(id);
      EXPECT_EQ(nodeOf(again, node.name()).meta().value, node.meta().value) << name << " " << node.name();
      EXPECT_EQ(nodeOf(again, node.name()).meta().extra, node.meta().extra) << name << " " << node.name();
    }
  }
}

TEST(Pt2Export, CopiesNoPickleThatIsNotOfTensors) {
  const TemporaryFolder folder;
  for (const auto& [name, payload] : {std::pair{"kinds.pt2", "'obj'"}, std::pair{"evil_weight.pt2", "'w'"}}) {
    const auto written = exportPt2(opened(seed(name)), folder.path() / name);
    ASSERT_FALSE(written.has_value()) << name;
    EXPECT_EQ(written.error().code, ErrorCode::BadInput) << written.error().text();
    EXPECT_NE(written.error().message.find(payload), std::string::npos) << written.error().text();
    EXPECT_FALSE(fs::exists(folder.path() / name));
  }
  const fs::path out = folder.path() / "out.pt2";  // sample inputs are no part of the program: they are left out
  ASSERT_TRUE(exportPt2(opened(seed("evil_sample.pt2")), out).has_value());
  EXPECT_EQ(testing::readFile(out).find("touch"), std::string::npos);
  EXPECT_NE(testing::readFile(seed("evil_sample.pt2")).find("touch"), std::string::npos);
  ASSERT_TRUE(exportPt2(opened(seed("sample.pt2")), out).has_value());
  EXPECT_NE(testing::readFile(out).find("_rebuild_tensor_v2"), std::string::npos);  // and plain ones stay
}

TEST(Pt2Export, ReadsBackTheRecordedArchives) {
  std::size_t count = 0;
  const TemporaryFolder folder;
  for (const auto& model : fs::directory_iterator(recordingsFolder() / "golden"))
    for (const char* name : {"model.pt2", "model_core_aten.pt2"}) {
      if (!fs::exists(model.path() / name)) continue;
      const CapturedGraph graph = opened(model.path() / name);
      ASSERT_TRUE(exportPt2(graph, folder.path() / "again.pt2").has_value());
      EXPECT_EQ(opened(folder.path() / "again.pt2").contentHash(), graph.contentHash()) << model.path() << name;
      ++count;
    }
  EXPECT_GE(count, 15u);
}

TEST(Pt2Export, WritesGraphsOfOtherCapturesWithTheirData) {
  const TemporaryFolder folder;
  const std::string text =
      testing::reluRepro("    buf0 = reader.storage(None, 24)\n    reader.tensor(buf0, (2, 3), is_leaf=True)  # x\n");
  auto capture = importRepro(text, folder.path() / "repro.py");
  ASSERT_TRUE(capture.has_value()) << capture.error().text();
  ASSERT_TRUE(exportPt2(capture->graphs[0], folder.path() / "out.pt2").has_value());
  const CapturedGraph again = opened(folder.path() / "out.pt2");
  EXPECT_EQ(printGraphText(again.module.graph), printGraphText(capture->graphs[0].module.graph));
  EXPECT_EQ(again.signature->inputs.at(0).kind, "user_input");
  const auto before = capture->graphs[0].loadInputs(false, nullptr), after = again.loadInputs(true, nullptr);
  ASSERT_TRUE(before && after);
  for (std::int64_t i = 0; i < 6; ++i)
    EXPECT_EQ((*after)[0].tensor().itemAsDouble(i), (*before)[0].tensor().itemAsDouble(i));
}

TEST(Pt2Export, RefusesWhatAnArchiveCannotHoldAndLeavesNothingBehind) {
  const TemporaryFolder folder;
  CapturedGraph graph;
  graph.name = "forward";
  const NodeId x = graph.module.graph.placeholder("x");
  graph.module.graph.setValueMeta(x, {TensorMeta{DType::Float32, {dim(2)}, {dim(1)}, 0, {}, false}});
  const NodeId call = graph.module.graph.callMethod("relu", {x});
  graph.module.graph.output(Argument::tuple({call}));
  const auto written = exportPt2(graph, folder.path() / "out.pt2");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::BadInput);
  EXPECT_EQ(written.error().node, "relu");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(FuzzSeeds, ArchivesImportOrAreRefused) {
  std::set<std::string> good;
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(seed("").parent_path())) {
    ++count;
    if (fuzz::checkPt2(testing::readFile(entry.path()))) good.insert(entry.path().filename().string());
  }
  EXPECT_GE(count, 30u);
  EXPECT_EQ(good, (std::set<std::string>{"circular_sample.pt2",
                                         "deflated.pt2",
                                         "dynamic.pt2",
                                         "evil_sample.pt2",
                                         "evil_weight.pt2",
                                         "found_float_int.pt2",
                                         "found_graph_list.pt2",
                                         "found_graph_opt.pt2",
                                         "found_lists_mixed.pt2",
                                         "found_lists_sym.pt2",
                                         "found_none_name.pt2",
                                         "found_nullsym.pt2",
                                         "found_obj_sym.pt2",
                                         "found_results.pt2",
                                         "found_storage_device.pt2",
                                         "found_tensor_sym.pt2",
                                         "future_minor.pt2",
                                         "kinds.pt2",
                                         "linear.pt2",
                                         "odd_name.pt2",
                                         "older.pt2",
                                         "oldest.pt2",
                                         "relu.pt2",
                                         "sample.pt2",
                                         "sorted_keys.pt2"}));
}

TEST(MapFileRange, MapsWhatTheFileHasAndNothingElse) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "bytes";
  std::string text(10000, 'a');
  text[4096] = 'b', text[5001] = 'c';
  testing::writeFile(path, text);
  const auto aligned = mapFileRange(path, 4096, 100), odd = mapFileRange(path, 5001, 10);
  ASSERT_TRUE(aligned && odd);
  EXPECT_EQ((*aligned)->data()[0], std::byte{'b'});
  EXPECT_EQ((*odd)->data()[0], std::byte{'c'});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*odd)->data()) % 16, 0u);
  (*aligned)->data()[0] = std::byte{'x'};  // private: the file stays
  EXPECT_EQ(testing::readFile(path)[4096], 'b');
  EXPECT_FALSE(mapFileRange(path, 9990, 11).has_value());
  EXPECT_FALSE(mapFileRange(path, -1, 1).has_value());
  EXPECT_FALSE(mapFileRange(folder.path() / "none", 0, 1).has_value());
}

}  // namespace
}  // namespace kerf
