// Export: text, content store, aliasing, atomicity; and inputs as the interpreter gets them.
#include <cmath>

#include "engine/capture/repro/writer.h"
#include "engine/support/hash.h"
#include "engine/tensor/torch_zip.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

using testing::reluRepro;
using testing::TemporaryFolder;

Capture imported(const std::string& text, const std::filesystem::path& path = {}) {
  auto capture = importRepro(text, path);
  EXPECT_TRUE(capture) << capture.error().text();
  return capture ? std::move(*capture) : Capture{};
}

Tensor sequence(std::int64_t count) {
  Tensor tensor = *Tensor::zeros(DType::Float32, {count});
  for (std::int64_t i = 0; i < count; ++i) tensor.data<float>()[i] = float(i);
  return tensor;
}

TEST(ReproText, GivesTheFileBack) {
  const std::string text = testing::reproAround(
      "        self.g = None  # not Python: '<lambda>()'\n        self.register_buffer('c', tensor([1., 2.]))\n",
      "    def forward(self, x, n, y):\n        c = self.c\n        add = torch.ops.aten.add.Tensor(x, c);  x = c = "
      "None\n"
      "        return (add, y)\n",
      "    buf0 = reader.storage(None, 8, device=device(type='cuda', index=0), dtype_hint=torch.float16)\n"
      "    reader.tensor(buf0, (2,), dtype=torch.float16, storage_offset=1, neg=True, requires_grad=True)  # x\n"
      "    reader.symint(4, expr='2*s0')  # n\n"
      "    reader.const('y')  # y, filtered out during compilation\n");
  const Capture capture = imported(text);
  EXPECT_EQ(reproText(capture, 0), text);
}

TEST(ReproText, KeepsTheBlockAndDefinesItsStorageForPython) {
  const std::string before =
      "    reader.unsupported('x')  # unsupported type for dumping: <class 'list'>\n    \"\"\"\n    buf0 = "
      "reader.storage(None, 16)\n    \"\"\"\n";
  const std::string forward =
      "    def forward(self, x, y):\n        relu = torch.ops.aten.relu.default(y);  y = None\n        return "
      "(relu,)\n";
  const Capture capture = imported(testing::reproAround("", forward, before + "    reader.tensor(buf0, (4,))  # y\n"));
  const std::string text = reproText(capture, 0);
  EXPECT_NE(text.find(before + "    buf0 = reader.storage(None, 16)\n    reader.tensor(buf0, (4,))  # y\n"),
            std::string::npos)
      << text;
  const Capture again = imported(text);
  EXPECT_EQ(again.graphs[0].contentHash(), capture.graphs[0].contentHash());
  EXPECT_EQ(reproText(again, 0), text);
}

TEST(ReproText, ChangesTheOptionsOfTheRunOnly) {
  const Capture capture = imported(reluRepro("    reader.symint(1)  # x\n"));
  ExportOptions options;
  options.command = "minify";
  options.accuracy = "'strict_accuracy'";
  const std::string text = reproText(capture, 0, options);
  EXPECT_NE(text.find("        run_repro(mod, load_args, accuracy='strict_accuracy', command='minify', save_dir=None,"),
            std::string::npos);
  EXPECT_NE(text.find("# mod, args = run_repro(mod, load_args, accuracy='strict_accuracy', command='get_args',"),
            std::string::npos);
}

TEST(ReproText, ChangesOptionsThatSpreadOverLines) {
  std::string text =
      reluRepro("    buf0 = reader.storage('" + std::string(40, 'd') + "', 16)\n    reader.tensor(buf0, (4,))  # x\n");
  text.erase(text.find("if __name__"));
  text +=
      "if __name__ == '__main__':\n    from torch._dynamo.repro.after_dynamo import run_repro\n"
      "    run_repro(mod, load_args, accuracy=False, command='minify',\n        save_dir='/tmp/a,b', autocast=False, "
      "backend='inductor')\n";
  const Capture capture = imported(text);
  EXPECT_EQ(capture.envelope.runner, "after_dynamo");
  ASSERT_EQ(capture.envelope.runOptions.size(), 5u);
  EXPECT_EQ(capture.envelope.runOptions[2], (std::pair<std::string, std::string>{"save_dir", "'/tmp/a,b'"}));
  EXPECT_NE(reproText(capture, 0).find("command='run',\n        save_dir='.', autocast=False, backend='inductor')\n"),
            std::string::npos);
}

TEST(ReproText, WritesAWholeFileForAGraphOfItsOwn) {
  GraphModule module;
  const NodeId x = module.graph.placeholder("x");
  const NodeId relu = module.graph.callFunction("torch.ops.aten.relu.default", {x}, {}, "relu");
  module.graph.output(Argument::tuple({relu}));
  auto graph = makeCapturedGraph(module, {sequence(4)}, nullptr);
  ASSERT_TRUE(graph);
  const Capture capture = makeCapture(std::move(*graph), Capture{});
  const std::string text = reproText(capture, 0);
  const Capture again = imported(text);
  EXPECT_EQ(again.graphs[0].storages[0].hash, sha1Hex(sequence(4).storage()->view()));
  EXPECT_NE(text.find("        run_repro(mod, load_args, accuracy=False, command='run', save_dir='.', "
                      "tracing_mode='real', check_str=None)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("def load_args(reader):\n    buf0 = reader.storage('"), std::string::npos);
  EXPECT_NE(
      text.find("', 16)\n    reader.tensor(buf0, (4,), is_leaf=True)  # x\nload_args._version = 0\nmod = Repro()\n"),
      std::string::npos)
      << text;
  // stock PyTorch asserts is_leaf: a tensor without requires_grad is one
  EXPECT_TRUE(again.graphs[0].inputs[0].isLeaf);
}

TEST(MakeCapturedGraph, KeepsAliasing) {
  GraphModule module;
  const NodeId a = module.graph.placeholder("a");
  const NodeId b = module.graph.placeholder("b");
  module.graph.output(Argument::tuple({a, b}));
  const Tensor whole = sequence(8);
  const auto graph = makeCapturedGraph(module, {whole, whole.viewAs({2, 2}, {1, 2}, 3)}, nullptr);
  ASSERT_TRUE(graph);
  ASSERT_EQ(graph->storages.size(), 1u);
  EXPECT_EQ(graph->inputs[1].storageIndex, 0);
  EXPECT_EQ(graph->inputs[1].storageOffset, 3);
  EXPECT_EQ(graph->inputs[1].strides, (Sizes{1, 2}));
  EXPECT_FALSE(makeCapturedGraph(module, {whole}, nullptr));
}

TEST(ExportRepro, RoundTripsGraphAndData) {
  const TemporaryFolder folder;
  GraphModule module;
  const NodeId a = module.graph.placeholder("a");
  const NodeId b = module.graph.placeholder("b");
  const NodeId add = module.graph.callFunction("torch.ops.aten.add.Tensor", {a, b}, {}, "add");
  module.graph.output(Argument::tuple({add}));
  const Tensor whole = sequence(8);
  Capture like;
  like.kind = "repro";
  const Capture capture = makeCapture(*makeCapturedGraph(module, {whole, whole.viewAs({2}, {3}, 1)}, nullptr), like);
  const auto file = exportRepro(capture, 0, folder.path() / "out");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(*file, folder.path() / "out" / "repro.py");
  const auto again = importCapture(*file);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->graphs[0].contentHash(), capture.graphs[0].contentHash());
  EXPECT_TRUE(again->notes.empty());
  const auto inputs = again->graphs[0].loadInputs(true, nullptr);
  ASSERT_TRUE(inputs) << inputs.error().text();
  EXPECT_EQ((*inputs)[0].tensor().storage(), (*inputs)[1].tensor().storage());
  EXPECT_EQ((*inputs)[1].tensor().itemAsDouble(1), 4.0);
  const auto twice = exportRepro(*again, 0, folder.path() / "twice");
  ASSERT_TRUE(twice) << twice.error().text();
  EXPECT_EQ(testing::readFile(*file), testing::readFile(*twice));
}

TEST(ExportRepro, WritesStoragesForTheDeviceOfTheirInputs) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "storages");
  const std::string hash(40, 'b');
  ASSERT_TRUE(writeTorchStorage(folder.path() / "storages" / hash, *sequence(4).storage()));
  const auto exported = [&](std::string_view device) {
    const std::string loader =
        fmt::format("    buf0 = reader.storage('{}', 16{})\n    reader.tensor(buf0, (4,))  # x\n", hash, device);
    const Capture capture = imported(reluRepro(loader), folder.path() / "r.py");
    EXPECT_TRUE(exportRepro(capture, 0, folder.path() / "out"));
    return testing::readFile(folder.path() / "out" / "storages" / hash);
  };
  for (const auto& [device, location] : {std::pair{"", "cpu"},
                                         {", device=device(type='cuda', index=1)", "cuda:1"},
                                         {", device=device(type='cuda')", "cuda:0"},
                                         {"", "cpu"}}) {
    const std::string file = exported(device);
    EXPECT_TRUE(loadsOnto(std::as_bytes(std::span(file)), location)) << location << " over what was there";
  }
}

TEST(ExportRepro, LeavesNothingBehindWhenItFails) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "storages");
  const std::string hash(40, 'a');
  testing::writeFile(folder.path() / "storages" / hash, "no zip");
  const Capture capture = imported(
      reluRepro(fmt::format("    buf0 = reader.storage('{}', 16)\n    reader.tensor(buf0, (4,))  # x\n", hash)),
      folder.path() / "r.py");
  const auto fresh = exportRepro(capture, 0, folder.path() / "out");
  ASSERT_FALSE(fresh);
  EXPECT_EQ(fresh.error().code, ErrorCode::BadInput);
  EXPECT_EQ(fresh.error().file, (folder.path() / "storages" / hash).string());
  std::filesystem::create_directories(folder.path() / "existing");
  EXPECT_FALSE(exportRepro(capture, 0, folder.path() / "existing"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "existing"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

TEST(ExportRepro, RefusesFileNamesThatLeaveTheFolder) {
  const TemporaryFolder folder;
  const Capture capture = imported(reluRepro("    reader.symint(1)  # x\n"));
  ExportOptions options;
  options.fileName = "../evil.py";
  const auto file = exportRepro(capture, 0, folder.path() / "out", options);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::BadUsage);
}

TEST(LoadInputs, ReplacesMissingDataAsTorchDoes) {
  const TemporaryFolder folder;
  const std::string forward = "    def forward(self, x, i, n):\n        return (x, i)\n";
  const Capture capture =
      imported(testing::reproAround("", forward,
                                    "    buf0 = reader.storage('" + std::string(40, 'b') +
                                        "', 4000)\n    reader.tensor(buf0, (1000,))  # x\n"
                                        "    buf1 = reader.storage(None, 80, dtype_hint=torch.int64)\n    "
                                        "reader.tensor(buf1, (10,), dtype=torch.int64)  # i\n"
                                        "    reader.symint(5)  # n\n"),
               folder.path() / "r.py");
  ASSERT_EQ(capture.notes.size(), 2u);
  std::vector<std::string> notes;
  LoadOptions options;
  options.fill = InputFill::Random;
  const auto inputs = capture.graphs[0].loadInputs(options, &notes);
  ASSERT_TRUE(inputs);
  EXPECT_EQ(notes.size(), 1u);
  const Tensor x = (*inputs)[0].tensor();
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < 1000; ++i) sum += x.itemAsDouble(i), squares += x.itemAsDouble(i) * x.itemAsDouble(i);
  EXPECT_NEAR(sum / 1000, 0, 0.1);
  EXPECT_NEAR(squares / 1000, 1, 0.15);
  for (int i = 0; i < 10; ++i) EXPECT_EQ((*inputs)[1].tensor().itemAsInt(i), 0);
  EXPECT_EQ(*(*inputs)[2].as<std::int64_t>(), 5);
  const auto again = capture.graphs[0].loadInputs(options, nullptr);
  EXPECT_TRUE(std::ranges::equal(x.storage()->view(), (*again)[0].tensor().storage()->view()));
  const auto strict = capture.graphs[0].loadInputs(true, nullptr);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().code, ErrorCode::NotFound);
}

TEST(LoadInputs, RefusesAStorageFileOfAnotherSize) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "storages");
  const std::string hash(40, 'c');
  ASSERT_TRUE(writeTorchStorage(folder.path() / "storages" / hash, *sequence(3).storage()));
  const Capture capture = imported(
      reluRepro(fmt::format("    buf0 = reader.storage('{}', 16)\n    reader.tensor(buf0, (4,))  # x\n", hash)),
      folder.path() / "r.py");
  const auto inputs = capture.graphs[0].loadInputs(false, nullptr);
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().code, ErrorCode::BadInput);
  EXPECT_EQ(inputs.error().file, (folder.path() / "storages" / hash).string());
}

TEST(AnnotateShapes, SetsPlaceholdersAndPropagates) {
  Capture capture =
      imported(reluRepro("    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (4, 4), (1, 4))  # x\n"));
  CapturedGraph& graph = capture.graphs[0];
  const Hash128 before = graph.contentHash();
  ASSERT_TRUE(graph.annotateShapes());
  EXPECT_EQ(graph.contentHash(), before);
  const Node& relu = graph.module.graph.node(*graph.module.graph.find("relu"));
  ASSERT_NE(relu.meta().value.tensor(), nullptr);
  EXPECT_EQ(relu.meta().value.tensor()->concreteSizes(), (Sizes{4, 4}));
  EXPECT_EQ(relu.meta().value.tensor()->concreteStrides(), (Sizes{1, 4}));
}

TEST(ContentHash, SeesEveryPart) {
  const auto hashOf = [](const std::string& loader) { return imported(reluRepro(loader)).graphs[0].contentHash(); };
  const Hash128 base = hashOf("    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (4, 4))  # x\n");
  EXPECT_EQ(base, hashOf("    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (4, 4))  # x\n"));
  EXPECT_NE(base, hashOf("    buf0 = reader.storage(None, 68)\n    reader.tensor(buf0, (4, 4))  # x\n"));
  EXPECT_NE(base, hashOf("    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (4, 4), is_leaf=True)  # x\n"));
  EXPECT_NE(base, hashOf("    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (4, 4), (1, 4))  # x\n"));
}

}  // namespace
}  // namespace kerf
