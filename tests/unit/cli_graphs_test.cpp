// Commands that read graphs: import, ls, show, passes, diff, export, conformance, help.
#include "engine/support/recordings.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> commandNames(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help.substr(help.find("Subcommands:")));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  ")) {
    if (line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

TEST_F(CliTest, VersionListsComponents) {
  const auto result = run({"--version"});
  EXPECT_EQ(result.status, 0);
  for (const char* name : {"LLVM", "CUDA", "MPI", "Python", "oneDNN", "OpenBLAS"})
    EXPECT_THAT(result.output, HasSubstr(name));
  EXPECT_THAT(result.output, ::testing::ContainsRegex("CUDA +(NVRTC|a driver|not found)"));
}

TEST_F(CliTest, EveryCommandHasHelpExamplesAndAChapter) {
  const auto names = commandNames(run({"--help"}).output);
  ASSERT_GE(names.size(), 13u);
  const auto manual = textOf(fs::path(KERF_SOURCE_DIR) / "resources/docs/cli.md");
  for (const auto& name : names) {
    const auto help = run({name, "--help"});
    EXPECT_EQ(help.status, 0) << name;
    EXPECT_THAT(help.output, HasSubstr("Examples:\n  kerf " + name));
    for (const char* option : {"--json", "--store", "-v"}) EXPECT_THAT(help.output, HasSubstr(option)) << name;
    EXPECT_THAT(manual, HasSubstr("## kerf " + name)) << "resources/docs/cli.md";
  }
}

TEST_F(CliTest, ImportSaysWhatWasFoundAndStoresOnce) {
  const auto first = runJson({"import", sample});
  const auto& graph = first["captures"][0]["graphs"][0];
  EXPECT_EQ(graph["id"], "c1/g1");
  EXPECT_EQ(graph["unknown_ops"], json::array());
  EXPECT_EQ(graph["missing_storages"], json::array());
  EXPECT_GT(graph["nodes"], 40);
  EXPECT_EQ(runJson({"import", sample})["captures"][0]["id"], "c1");
  const auto listed = runJson({"ls"});
  EXPECT_EQ(listed["captures"].size(), 1u);
  EXPECT_EQ(listed["graphs"][0]["nodes"], graph["nodes"]);
}

TEST_F(CliTest, ImportNamesUnknownOpsAndMissingStorages) {
  const auto file =
      smallRepro("        odd = torch.ops.mylib.odd.default(arg0_1);  arg0_1 = None\n        return (odd,)\n");
  const auto found = runJson({"import", file.string()})["captures"][0]["graphs"][0];
  EXPECT_EQ(found["unknown_ops"], json::array({"torch.ops.mylib.odd.default"}));
  EXPECT_THAT(run({"show", "c1", "--format", "code"}).output, HasSubstr("torch.ops.mylib.odd.default(arg0_1)"));
}

TEST_F(CliTest, ShowsEveryTextFormat) {
  const std::map<std::string, std::string> heads{{"table", "opcode"},    {"text", "graph():"}, {"code", ""},
                                                 {"readable", "class "}, {"dot", "digraph "},  {"json", "{\n"}};
  for (const auto& [format, head] : heads) {
    const auto result = run({"show", reluRepro().string(), "--format", format});
    EXPECT_EQ(result.status, 0) << format << result.errors;
    EXPECT_THAT(result.output, HasSubstr("relu")) << format;
    if (format == "code") continue;
    EXPECT_THAT(result.output, StartsWith(head)) << format;
  }
}

TEST_F(CliTest, ShowsShapesInJsonAndReadable) {
  const auto graph = runJson({"show", reluRepro().string()});
  EXPECT_EQ(graph["nodes"][1]["name"], "relu");
  EXPECT_EQ(graph["nodes"][1]["value"]["shape"], json::array({2, 4}));
  EXPECT_EQ(graph["nodes"][1]["value"]["dtype"], "torch.float32");
  EXPECT_THAT(run({"show", reluRepro().string(), "--format", "readable"}).output, HasSubstr("f32[2, 4]"));
}

TEST_F(CliTest, DrawsWithGraphviz) {
  if (findProgram("dot").empty()) GTEST_SKIP() << "Graphviz is not installed";
  EXPECT_EQ(run({"show", sample, "--format", "svg", "-o", (folder / "g.svg").string()}).status, 0);
  EXPECT_THAT(textOf(folder / "g.svg"), HasSubstr("<svg"));
  EXPECT_EQ(run({"show", sample, "--format", "png", "-o", (folder / "g.png").string()}).status, 0);
  EXPECT_THAT(textOf(folder / "g.png"), StartsWith("\x89PNG"));
}

TEST_F(CliTest, SaysThatGraphvizIsMissing) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder.c_str(), 1);
  const auto result = run({"show", sample, "--format", "svg"});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.errors, HasSubstr("graphviz"));
}

TEST_F(CliTest, StoreIdsNameTheSameGraphAsTheFile) {
  const auto fromFile = run({"show", sample, "--format", "text"}).output;
  ASSERT_EQ(run({"import", sample}).status, 0);
  EXPECT_EQ(run({"show", "c1", "--format", "text"}).output, fromFile);
  EXPECT_EQ(run({"show", "c1/g1", "--format", "text"}).output, fromFile);
  EXPECT_EQ(run({"diff", sample, "c1"}).status, 0);
  EXPECT_EQ(run({"show", "c1/g2"}).status, 2);
  EXPECT_EQ(run({"show", "m1"}).status, 2);
  EXPECT_EQ(run({"show", "p1"}).status, 2);
  for (const auto& entry : fs::directory_iterator(folder))
    EXPECT_THAT(entry.path().filename().string(), ::testing::Not(StartsWith("kerf-"))) << "a temporary folder was left";
}

TEST_F(CliTest, PassesAreListedWithoutAGraph) {
  const auto passes = runJson({"passes"})["passes"];
  std::map<std::string, json> byName;
  std::vector<std::string> stages;
  for (const json& pass : passes) {
    byName.emplace(pass["name"], pass);
    EXPECT_FALSE(pass["description"].get<std::string>().empty()) << pass["name"];
    if (stages.empty() || stages.back() != pass["stage"]) stages.push_back(pass["stage"]);
  }
  EXPECT_EQ(byName.size(), passes.size());
  EXPECT_EQ(stages, (std::vector<std::string>{"pre_grad", "joint", "post_grad"})) << "in the order in which they run";
  EXPECT_EQ(byName.at("cse")["default"], "on");
  EXPECT_EQ(byName.at("fuse_parallel_linear_pass")["default"], "off");
  EXPECT_EQ(byName.at("replace_random")["default"], "off") << "other numbers than eager's";
  EXPECT_EQ(byName.at("user_patterns")["default"], "off") << "without a file";
  EXPECT_EQ(byName.at("online_softmax")["default"], "cuda");
  EXPECT_EQ(byName.at("fuse_attention")["stage"], "joint");
  EXPECT_EQ(byName.at("constant_folding")["options"]["max_bytes"]["type"], "int");
  const std::string table = run({"passes"}).output;
  for (const auto& [name, pass] : byName) EXPECT_THAT(table, HasSubstr(" " + name + " "));
  EXPECT_EQ(run({"passes", "--dump-after", "all"}).status, 2) << "of which graph?";
}

TEST_F(CliTest, ChecksOfPassesNameTheFirstThatChangesValues) {
  const auto file = smallRepro(
                        "        relu = torch.ops.aten.relu.default(arg0_1)\n"
                        "        relu_1 = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
                        "        add = torch.ops.aten.add.Tensor(relu, relu_1);  relu = relu_1 = None\n"
                        "        return (add,)\n")
                        .string();
  const auto plain = runJson({"compare", file});
  EXPECT_FALSE(plain.contains("check"));
  for (const std::vector<std::string>& command : {std::vector<std::string>{"compare"}, {"bisect", "--by", "pass"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.begin() + 1, file);
    for (const char* more : {"--check-passes", "--plant", "pass:cse=accuracy"}) arguments.emplace_back(more);
    const auto check = runJson(arguments, 1)["check"];
    EXPECT_EQ(check["pass"], "cse") << command[0];
    EXPECT_EQ(check["result"], "out0") << command[0];
  }
  const auto early =
      runJson({"compare", file, "--plant", "pass:cse=accuracy", "--config", "numeric_check.pre_grad=true"}, 1);
  EXPECT_TRUE(early["check"]["pass"].is_null()) << "a pass of another stage";
  EXPECT_FALSE(early["same"]) << "which the comparison still sees";
  const auto ran = run({"run", file, "--check-passes"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("1 passes changed the graph, none its values"));
  EXPECT_EQ(runJson({"run", file, "--config", "numeric_check.post_grad=true"})["check"]["checked"], 1);
  EXPECT_THAT(run({"run", file, "--config", "numeric_check.late=true"}).errors,
              HasSubstr("not a setting of numeric_check"));
  EXPECT_EQ(run({"run", file, "--config", "numeric_check.precision=often"}).status, 2);
}

TEST_F(CliTest, PassesAreRecordedAndSnapshotsCanBeShown) {
  const auto file = smallRepro(
      "        relu = torch.ops.aten.relu.default(arg0_1)\n"
      "        relu_1 = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
      "        add = torch.ops.aten.add.Tensor(relu, relu_1);  relu = relu_1 = None\n"
      "        return (add,)\n");
  ASSERT_EQ(run({"import", file.string()}).status, 0);
  const auto passes = runJson({"passes", "c1", "--dump-after", "cse"})["passes"];
  const auto cse = std::ranges::find_if(passes, [](const json& pass) { return pass["name"] == "cse"; });
  ASSERT_NE(cse, passes.end());
  EXPECT_TRUE((*cse)["changed"]);
  EXPECT_EQ((*cse)["nodes_after"], (*cse)["nodes_before"].get<int>() - 1);
  EXPECT_THAT((*cse)["graph"].get<std::string>(), StartsWith("graph():"));
  EXPECT_EQ(run({"diff", "c1", "c1@pass:cse"}).status, 1);
  EXPECT_THAT(run({"diff", "c1", "c1@pass:cse"}).output, HasSubstr("-    %relu_1"));
  EXPECT_EQ(run({"show", "c1@pass:nonesuch"}).status, 2);
  EXPECT_EQ(run({"show", "c1@pass:no_op_removal"}).output, run({"show", "c1@pass:remove_noop_ops"}).output)
      << "an earlier name";
  EXPECT_THAT(run({"passes", "c1", "--dump-after", "no_op_removal"}).output, HasSubstr("# after remove_noop_ops"));
  EXPECT_EQ(runJson({"passes", "c1", "--only-changed"})["passes"].size(), 1u);
  EXPECT_EQ(runJson({"ls", "runs"})["runs"][0]["kind"], "passes");
  const auto check = runJson({"passes", "c1", "--check-passes"})["check"];
  EXPECT_EQ(check["checked"], 1);
  EXPECT_TRUE(check["pass"].is_null());
  EXPECT_THAT(run({"passes", "c1", "--check-passes"}).output, HasSubstr("1 passes changed the graph, none its values"));
  const auto preGrad = runJson({"passes", "c1", "--config", "numeric_check.pre_grad=true"})["check"];
  EXPECT_EQ(preGrad["checked"], 0) << "cse is of another stage";
  const auto chosen = runJson({"passes", "c1", "--passes", "cse,constant_folding,dce,cse", "--disable-pass", "dce",
                               "--config", "constant_folding.max_bytes=7"});
  EXPECT_EQ(chosen["config"], "only cse,constant_folding,dce,cse; no dce; constant_folding.max_bytes=7");
  ASSERT_EQ(chosen["passes"].size(), 3u);
  EXPECT_EQ(chosen["passes"][1]["name"], "constant_folding");
  for (const std::size_t i : {0, 2}) EXPECT_EQ(chosen["passes"][i]["name"], "cse");
  EXPECT_EQ(runJson({"passes", "c1"})["options"]["constant_folding.max_bytes"]["type"], "int");
}

TEST_F(CliTest, DiffNamesWhatNodesBecame) {
  const auto a = reluRepro().string();
  fs::rename(a, folder / "a.py");
  const auto b = smallRepro(
      "        sigmoid = torch.ops.aten.sigmoid.default(arg0_1);  arg0_1 = None\n"
      "        add = torch.ops.aten.add.Tensor(sigmoid, sigmoid);  sigmoid = None\n"
      "        return (add,)\n");
  const auto difference = runJson({"diff", (folder / "a.py").string(), b.string()}, 1);
  ASSERT_EQ(difference["rewritten"].size(), 1u);
  EXPECT_EQ(difference["rewritten"][0]["before"], json::array({"relu"}));
  EXPECT_EQ(difference["rewritten"][0]["after"], json::array({"sigmoid"}));
  EXPECT_EQ(difference["removed"], json::array());
  EXPECT_EQ(difference["changed"], json::array()) << "add takes what relu became";
  EXPECT_EQ(difference["same"], false);
}

TEST_F(CliTest, ExportGivesTheSameGraphBack) {
  const auto written = runJson({"export", sample, "-o", (folder / "out").string()});
  EXPECT_EQ(written["path"], (folder / "out/repro.py").string());
  EXPECT_EQ(run({"diff", sample, (folder / "out").string()}).status, 0);
  EXPECT_EQ(run({"export", sample, "-o", (folder / "named/x.py").string()}).status, 0);
  EXPECT_TRUE(fs::exists(folder / "named/x.py"));
  EXPECT_TRUE(fs::exists(folder / "named/storages"));
}

TEST_F(CliTest, ConformanceReplaysRecordedAnswers) {
  const auto report = runJson({"conformance", (recordingsFolder() / "same").string()});
  EXPECT_GT(report["cases"], 1000);
  EXPECT_EQ(report["agreed"], report["cases"]);
}

/// A program of that name before all others, which prints the first letters of the file that it is given.
std::string pathWithDisassembler(const fs::path& folder) {
  std::ofstream(folder / "nvdisasm") << "#!/bin/sh\necho \"disassembled with $1: $(head -c 4 \"$2\" | tail -c 3)\"\n";
  fs::permissions(folder / "nvdisasm", fs::perms::owner_all);
  const char* before = std::getenv("PATH");
  return folder.string() + ":" + (before != nullptr ? before : "");
}

TEST_F(CliTest, MachineCodeOfADeviceIsDisassembledOutsideTheChildThatCompiles) {
  const std::string file = smallRepro("        relu = torch.ops.aten.relu.default(arg0_1)\n        return (relu,)\n");
  if (run({"show", file, "--format", "ptx"}).status == 3) GTEST_SKIP() << "without NVRTC";
  const char* before = std::getenv("PATH");
  const std::string path = before != nullptr ? before : "";
  setenv("PATH", pathWithDisassembler(folder).c_str(), 1);
  const auto shown = runJson({"show", file, "--format", "sass"});
  setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(shown["kernels"].size(), 1U) << shown.dump();
  EXPECT_EQ(shown["kernels"][0]["text"], "disassembled with -c: ELF\n");
}

}  // namespace
}  // namespace kerf::cli
