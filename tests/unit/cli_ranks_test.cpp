// Graphs of several ranks from the command line: sharded, run, compared, verified and minified together.
#include <csignal>

#include <sys/resource.h>

#include "engine/tensor/safetensors.h"
#include "tests/support/cli_test.h"
#include "tests/support/flight_records.h"
#include "tests/support/rank_traces.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

/// relu(x @ w1) @ w2, as readable text.
constexpr const char* layerText = R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[6, 8][8, 1]cpu", w1: "f32[8, 12][12, 1]cpu", w2: "f32[12, 8][8, 1]cpu"):
        up: "f32[6, 12][12, 1]cpu" = torch.ops.aten.mm.default(x, w1)
        act: "f32[6, 12][12, 1]cpu" = torch.ops.aten.relu.default(up)
        down: "f32[6, 8][8, 1]cpu" = torch.ops.aten.mm.default(act, w2)
        out: "f32[6, 8][8, 1]cpu" = torch.ops.aten.tanh.default(down)
        return (out,)
)";

class RanksCommandTest : public CliTest {
 protected:
  std::string layer() const { return write("layer.txt", layerText).string(); }
  /// Four ranks' graphs of the layer, split by columns and then by rows.
  std::string sharded() {
    const std::string to = (folder / "ranks").string();
    const auto made = run({"shard", layer(), "--mesh", "4", "--placement", "w1=S1", "--placement", "w2=S0", "-o", to});
    EXPECT_EQ(made.status, 0) << made.errors;
    return to;
  }
  /// `work` where no file may become larger.
  template <class Work>
  static auto withFilesUpTo(std::uintmax_t bytes, Work work) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{bytes, before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const auto result = work();
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    return result;
  }
  void edit(const std::string& file, const std::string& from, const std::string& to) const {
    std::ifstream in(file);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, from.size(), to);
    std::ofstream(file) << text;
  }
};

TEST_F(RanksCommandTest, SaysWhereAPlacementComesFrom) {
  const auto why = [&](const char* node) {
    return run({"shard", layer(), "--mesh", "4", "--placement", "w1=S1", "--placement", "w2=S0", "--why", node}).output;
  };
  const std::string out = why("out");
  EXPECT_THAT(out, HasSubstr("out = torch.ops.aten.tanh.default is placed as [R]"));
  EXPECT_THAT(out, HasSubstr("operand 'self', down, goes from [P(sum)] to [R]: "));
  EXPECT_THAT(out, HasSubstr("    down = torch.ops.aten.mm.default is placed as [P(sum)]\n"));
  EXPECT_THAT(out, HasSubstr("    w1 is an input, placed as [S(1)] by --placement w1=S1\n"));
  EXPECT_THAT(out, HasSubstr("    x is an input, placed as [R]: no --placement names it\n"));
  EXPECT_THAT(why("down"), HasSubstr("  instead of aten.mm.default from "));
  EXPECT_THAT(why("w2"), HasSubstr("w2 is an input, placed as [S(0)] by --placement w2=S0\n"));
}

/// Sizes that are symbols get numbers as in every other command: parts have sizes.
TEST_F(RanksCommandTest, ShardsSymbolicSizes) {
  const std::string graph = write("dynamic.txt", R"(def forward(self, x: "f32[s0, 6]"):
    e = torch.ops.aten.exp.default(x)
    t = torch.ops.aten.sum.dim_IntList(e, [1])
    return (t,)
)")
                                .string();
  const auto doc = runJson({"shard", graph, "--mesh", "4", "--placement", "x=S0", "--sym", "s0=8"});
  EXPECT_EQ(doc["outputs"], json::array({"[S(0)]"})) << doc.dump();
  EXPECT_TRUE(doc["is_run"]);
  EXPECT_EQ(doc["difference"], 0);
  EXPECT_THAT(doc["ranks"][3].get<std::string>(), HasSubstr("x: \"f32[2, 6]"));
  EXPECT_EQ(run({"shard", graph, "--mesh", "4", "--inputs", "ones", "--sym", "s0=2"}).status, 0);
  EXPECT_THAT(run({"shard", graph, "--mesh", "4"}).errors, HasSubstr("give values for the symbols s0"));
}

TEST_F(RanksCommandTest, RunsAllRanksOfAFolder) {
  const auto doc = runJson({"run", sharded()});
  ASSERT_EQ(doc["ranks"].size(), 4U);
  EXPECT_THAT(doc["ranks"][3]["outputs"][0].get<std::string>(), HasSubstr("f32[6, 8]"));
}

TEST_F(RanksCommandTest, SavesWhatEachRankGives) {
  const std::string ranks = sharded(), to = (folder / "new" / "values").string();
  const auto saved = run({"run", ranks, "--save", to, "--dtype", "f64"});
  ASSERT_EQ(saved.status, 0) << saved.errors;
  for (int rank = 0; rank < 4; ++rank) {
    const auto file = readSafetensors(fs::path(to) / fmt::format("rank{}.safetensors", rank));
    ASSERT_TRUE(file) << file.error().text();
    ASSERT_EQ(file->tensors.size(), 1U);
    EXPECT_EQ(file->tensors[0].first, "out64_0");
    EXPECT_EQ(file->tensors[0].second.dtype(), DType::Float64);
    EXPECT_EQ(file->tensors[0].second.sizes(), (Sizes{6, 8}));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(to), {}), 4);
  const auto named = run({"run", ranks, "--save", to + "/x.safetensors"});
  EXPECT_EQ(named.status, 2);
  EXPECT_THAT(named.errors, HasSubstr("is saved as a folder"));
  EXPECT_EQ(run({"run", ranks, "--save", to}).status, 0) << "the same names again";
}

/// Files that would be ranks of what is written, of an older run.
TEST_F(RanksCommandTest, WritesNoRanksBesideOthers) {
  const std::string ranks = sharded();
  const auto fewer = run({"shard", layer(), "--mesh", "2", "-o", ranks});
  EXPECT_EQ(fewer.status, 2);
  EXPECT_THAT(fewer.errors, HasSubstr("rank2.txt is there already, and would count as rank 2"));
  EXPECT_EQ(run({"shard", layer(), "--mesh", "4", "-o", ranks}).status, 0);
}

/// The limit on a file stands for a disk that is full: sharding.json, the last file, does not fit.
TEST_F(RanksCommandTest, LeavesNothingWhereTheDiskIsFull) {
  const fs::path ranks = sharded();
  const auto largest = fs::file_size(ranks / "sharding.json");
  ASSERT_GT(largest, fs::file_size(ranks / "rank3.txt"));
  const fs::path to = folder / "new" / "ranks";
  const auto result = withFilesUpTo(largest - 1, [&] {
    return run({"shard", layer(), "--mesh", "4", "--placement", "w1=S1", "--placement", "w2=S0", "-o", to.string()});
  });
  EXPECT_EQ(result.status, 3) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("sharding.json"));
  EXPECT_FALSE(fs::exists(folder / "new")) << "neither half of the ranks nor their folder";
  std::ofstream(ranks / "rank0.txt") << "older";
  withFilesUpTo(largest - 1, [&] {
    return run({"shard", layer(), "--mesh", "4", "--placement", "w1=S1", "--placement", "w2=S0", "-o", ranks.string()});
  });
  EXPECT_EQ(fs::file_size(ranks / "rank0.txt"), 5U) << "what was there is as it was";
  EXPECT_EQ(std::distance(fs::directory_iterator(ranks), {}), 5);
}

TEST_F(RanksCommandTest, PutsTheRanksBesideTheGraphOfOneRank) {
  const std::string ranks = sharded();
  const auto doc = runJson({"compare", ranks, "--against", layer()});
  EXPECT_TRUE(doc["checks"][0]["same"]) << doc.dump();
  edit(ranks + "/rank2.txt", "aten.relu.default", "aten.neg.default");
  const auto wrong = runJson({"compare", ranks, "--against", layer()}, 1);
  EXPECT_FALSE(wrong["checks"][0]["same"]);
  EXPECT_EQ(wrong["first"]["rank"], 2) << wrong.dump();
}

/// Pending sums, stripes and meshes of two dimensions: what the sizes of parts do not say.
TEST_F(RanksCommandTest, PutsRanksTogetherAsTheyWereSharded) {
  const std::vector<std::vector<std::string>> ways{{"2", "x=P"},          {"2", "x=_S(0, 2)"}, {"2,2", "x=S0,R"},
                                                   {"2,2", "x=S0,S1"},    {"4", "x=S1"},       {"2,2", "w1=S1,S1"},
                                                   {"2,2", "x=R,P(avg)"}, {"2", "w2=P(sum)"}};
  for (const auto& way : ways) {
    const std::string to = (folder / "placed").string();
    fs::remove_all(to);
    const auto made = run({"shard", layer(), "--mesh", way[0], "--placement", way[1], "-o", to});
    ASSERT_EQ(made.status, 0) << made.errors;
    const auto doc = runJson({"compare", to, "--against", layer()});
    EXPECT_TRUE(doc["checks"][0]["same"]) << way[1] << doc.dump();
    fs::remove(to + "/sharding.json");
    const auto told = runJson({"compare", to, "--against", layer(), "--mesh", way[0], "--placement", way[1]});
    EXPECT_TRUE(told["checks"][0]["same"]) << way[1] << told.dump();
  }
}

TEST_F(RanksCommandTest, NamesTheRankOfAMeshOfTwoDimensions) {
  const std::string to = (folder / "placed").string();
  ASSERT_EQ(run({"shard", layer(), "--mesh", "2,2", "--placement", "x=S0,R", "-o", to}).status, 0);
  std::ifstream file(to + "/sharding.json");
  const json sharding = json::parse(file, nullptr, false);
  EXPECT_EQ(sharding["mesh"], json({2, 2})) << sharding.dump();
  EXPECT_EQ(sharding["nodes"][0]["placements"], "[S(0), R]");
  EXPECT_EQ(sharding["outputs"], json::array({"[S(0), R]"}));
  edit(to + "/rank2.txt", "aten.relu.default", "aten.neg.default");
  const auto wrong = runJson({"compare", to, "--against", layer()}, 1);
  EXPECT_EQ(wrong["checks"][0]["text"], "differs on rank 2") << wrong.dump();
  EXPECT_EQ(wrong["first"]["rank"], 2);
  EXPECT_EQ(wrong["first"]["node"], "act");
}

TEST_F(RanksCommandTest, RefusesPlacementsThatDoNotFitTheRanks) {
  const std::string ranks = sharded();
  const auto errors = [&](std::vector<std::string> more) {
    std::vector<std::string> command{"compare", ranks, "--against", layer()};
    command.insert(command.end(), more.begin(), more.end());
    const auto result = run(command);
    EXPECT_EQ(result.status, 2);
    return result.errors;
  };
  EXPECT_THAT(errors({"--mesh", "2"}), HasSubstr("the mesh [2] has 2 ranks"));
  EXPECT_THAT(errors({"--placement", "y=S0"}), HasSubstr("the graph of one rank has no input 'y'"));
  EXPECT_THAT(errors({"--placement", "x=S0"}),
              HasSubstr("rank 0's input 'x' is no [S(0)] part of one of sizes [6, 8]"));
  EXPECT_THAT(errors({"--placement", "x=Q"}), HasSubstr("input 'x': 'Q' is no placement: R (whole on every rank)"));
  std::ofstream(ranks + "/sharding.json") << "[]";
  EXPECT_THAT(errors({}), HasSubstr("sharding.json is no JSON object"));
}

TEST_F(RanksCommandTest, NamesTheRankAndNodeOfAPlantedFault) {
  const auto doc = runJson({"compare", sharded(), "--plant", "relu=accuracy"}, 1);
  EXPECT_EQ(doc["first"]["rank"], 0);
  EXPECT_THAT(doc["first"]["target"].get<std::string>(), HasSubstr("relu"));
}

TEST_F(RanksCommandTest, VerifiesPassesOnCollectives) {
  const auto doc = runJson({"verify", sharded()});
  ASSERT_EQ(doc["checks"].size(), 3U);
  EXPECT_EQ(doc["checks"][1]["what"], "waits sunk");
}

TEST_F(RanksCommandTest, SaysOnceThatRanksDoNotRun) {
  const std::string ranks = sharded();
  edit(ranks + "/rank1.txt", "'sum'", "'max'");
  const auto doc = runJson({"verify", ranks}, 1);
  EXPECT_TRUE(doc["checks"].empty()) << doc.dump();
  EXPECT_THAT(doc["failure"].get<std::string>(), HasSubstr("rank 1 calls all_reduce of max"));
  const std::string warnings = run({"run", ranks}).errors;
  const std::size_t first = warnings.find("the graph has no data");
  ASSERT_NE(first, std::string::npos) << warnings;
  EXPECT_EQ(warnings.find("the graph has no data", first + 1), std::string::npos) << warnings;
  EXPECT_EQ(run({"shard", layer(), "--mesh", "2", "-o", ranks + "/rank0.txt"}).status, 2);
}

TEST_F(RanksCommandTest, MinifiesCollectivesThatDoNotMeet) {
  const std::string ranks = sharded(), small = (folder / "small").string();
  edit(ranks + "/rank1.txt", "'sum'", "'max'");
  const auto run1 = runJson({"run", ranks}, 1);
  EXPECT_THAT(run1["failure"].get<std::string>(), HasSubstr("rank 1 calls all_reduce of max"));
  const auto doc = runJson({"minify", ranks, "-o", small});
  EXPECT_EQ(doc["nodes"], 4) << doc.dump();
  EXPECT_TRUE(doc["is_minimal"]);
  const auto again = runJson({"run", small}, 1);
  EXPECT_THAT(again["failure"].get<std::string>(), HasSubstr("calls all_reduce of max"));
}

/// What one rank has wrong although all run: no test of the ranks alone can see it.
TEST_F(RanksCommandTest, MinifiesWhatDiffersFromOneRank) {
  const std::string ranks = sharded(), small = (folder / "small").string();
  edit(ranks + "/rank2.txt", "aten.relu.default", "aten.neg.default");
  EXPECT_THAT(run({"minify", ranks, "-o", small}).errors, HasSubstr("the ranks do not fail"));
  const auto doc = runJson({"minify", ranks, "--against", layer(), "-o", small});
  EXPECT_EQ(doc["start_nodes"], 24) << doc.dump();
  EXPECT_EQ(doc["nodes"], 4) << doc.dump();
  EXPECT_TRUE(doc["is_minimal"]);
  EXPECT_THAT(doc["failure"].get<std::string>(), HasSubstr("rank 2, node act"));
  const auto again = runJson({"compare", small, "--against", small + "/whole.py"}, 1);
  EXPECT_EQ(again["first"]["rank"], 2) << again.dump();
  EXPECT_EQ(again["first"]["node"], "act");
  EXPECT_EQ(run({"minify", layer(), "--against", layer()}).status, 2);
}

TEST_F(RanksCommandTest, NamesTheRankAndFileThatFails) {
  const std::string ranks = sharded();
  edit(ranks + "/rank1.txt", "aten.relu.default(up)", "aten.view.default(up, [7, 7])");
  const auto result = run({"run", ranks});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output, HasSubstr("in rank 1 (" + ranks + "/rank1.txt): node act: aten.view.default"));
  const auto doc = runJson({"minify", ranks, "-o", (folder / "small").string()});
  EXPECT_THAT(doc["failure"].get<std::string>(), HasSubstr("rank 1: node act: aten.view.default: shape [7, 7]"));
}

TEST_F(RanksCommandTest, SaysWhichRankHasNoFile) {
  const std::string ranks = sharded();
  fs::remove(ranks + "/rank2.txt");
  const auto result = run({"run", ranks});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, HasSubstr("no file of rank 2"));
}

TEST_F(RanksCommandTest, TrainsTheExampleAsOneRankDoes) {
  const auto doc = runJson({"ranks", "--train", "convnext", "--dtype", "f64"});
  EXPECT_TRUE(doc["is_compared"]);
  EXPECT_NEAR(doc["loss"].get<double>(), doc["whole_loss"].get<double>(), 1e-9);
  EXPECT_LE(doc["gradient_difference"].get<double>(), 1e-9);
  EXPECT_EQ(run({"ranks"}).status, 2);
}

TEST_F(RanksCommandTest, NamesThePlaceOfEachRank) {
  const auto traces = folder / "apart";
  testing_support::writeRanksApart(traces);
  const auto doc = runJson({"ranks", traces.string()}, 1);
  const auto group = doc["timeline"][0]["groups"][0];
  EXPECT_EQ(group["ranks"], json({0, 1, 2}));
  ASSERT_EQ(group["places"].size(), 3U) << doc.dump();
  EXPECT_EQ(group["places"][1], json({{"ranks", {1}},
                                      {"compile_id", "[0/0]"},
                                      {"stage", "inductor_post_grad_graph"},
                                      {"graph", 0},
                                      {"node", "all_reduce_1"}}));
  EXPECT_EQ(group["places"][2]["compile_id"], "[1/0]");
  EXPECT_EQ(group["places"][2]["graph"], 1);
}

TEST_F(RanksCommandTest, AreThoseOfTheStoreWhenTheLogsAreGone) {
  const auto traces = folder / "stored_traces";
  testing_support::writeRanksApart(traces);
  const auto records =
      testing_support::flightFolder("stored_flights", {{testing_support::flight(1, "all_reduce", 4, "completed")},
                                                       {testing_support::flight(1, "all_reduce", 6, "started")}});
  for (const char* name : {"nccl_trace_rank_0", "nccl_trace_rank_1"}) fs::copy_file(records / name, traces / name);
  fs::remove_all(records);
  const auto before = runJson({"ranks", traces.string()}, 1);
  const auto id = runJson({"import", traces.string()})["captures"][0]["id"].get<std::string>();
  fs::remove_all(traces);
  EXPECT_EQ(runJson({"ranks", id}, 1), before);
  EXPECT_THAT(before["culprits"][0]["mismatch"].get<std::string>(), HasSubstr("f32[6, 3]")) << "of a flight record";
  const auto absent = run({"ranks", "c77"});
  EXPECT_EQ(absent.status, 2);
  EXPECT_THAT(absent.errors, HasSubstr("c77"));
}

TEST_F(RanksCommandTest, SayWhereTheStoreHasNoSeveralRanks) {
  const auto traces = folder / "one_rank";
  testing_support::writeRankLogs(
      traces, {testing_support::graphRecord(0, 0, "aot_inference_graph", testing_support::reducingGraph({"0"}))});
  const auto id = runJson({"import", traces.string()})["captures"][0]["id"].get<std::string>();
  const auto one = run({"ranks", id});
  EXPECT_EQ(one.status, 2);
  EXPECT_THAT(one.errors, HasSubstr(id + " holds traces of 1 rank"));
  const auto text = runJson({"import", layer()})["captures"][0]["id"].get<std::string>();
  EXPECT_EQ(run({"ranks", text}).status, 2);
}

#ifdef KERF_MPIEXEC
class MpiCommandTest : public RanksCommandTest {
 protected:
  /// kerf in as many processes as there are ranks; what the first says.
  ProgramResult runByMpi(std::vector<std::string> arguments, int ranks = 4) {
    setenv("KERF_STORE", store().c_str(), 1);
    std::vector<std::string> command{KERF_MPIEXEC, "--allow-run-as-root", "--oversubscribe", "-n",
                                     std::to_string(ranks)};
    command.push_back(kerf.string());
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto result = runProgram(command, {}, std::chrono::seconds(300));
    EXPECT_TRUE(result) << result.error().text();
    return result ? *result : ProgramResult{-1, {}, {}};
  }
  json jsonByMpi(std::vector<std::string> arguments, int status = 0) {
    arguments.emplace_back("--json");
    const auto result = runByMpi(std::move(arguments));
    EXPECT_EQ(result.status, status) << result.errors;
    auto object = json::parse(result.output, nullptr, false);  // of one process alone
    EXPECT_TRUE(object.is_object()) << result.output;
    return object;
  }
};

TEST_F(MpiCommandTest, EveryProcessIsARank) {
  const std::string ranks = sharded();
  const auto one = runJson({"compare", ranks}), own = jsonByMpi({"compare", ranks});
  EXPECT_EQ(own["ranks"], one["ranks"]);
  EXPECT_EQ(jsonByMpi({"run", ranks})["ranks"].size(), 4U);
  EXPECT_TRUE(jsonByMpi({"compare", ranks, "--against", layer()})["checks"][0]["same"]);
  EXPECT_EQ(jsonByMpi({"verify", ranks})["checks"], runJson({"verify", ranks})["checks"]);
}

TEST_F(MpiCommandTest, NamesTheRankAndNodeOfAPlantedFault) {
  const auto doc = jsonByMpi({"compare", sharded(), "--plant", "relu=accuracy"}, 1);
  EXPECT_EQ(doc["first"]["rank"], 0);
  EXPECT_THAT(doc["first"]["target"].get<std::string>(), HasSubstr("relu"));
}

TEST_F(MpiCommandTest, SaysWhoseCollectiveDiffers) {
  const std::string ranks = sharded();
  edit(ranks + "/rank1.txt", "'sum'", "'max'");
  const auto doc = jsonByMpi({"run", ranks, "--backend", "llvm"}, 1);
  EXPECT_THAT(doc["failure"].get<std::string>(), HasSubstr("rank 0 calls all_reduce of sum"));
  EXPECT_THAT(doc["failure"].get<std::string>(), HasSubstr("rank 1 calls all_reduce of max"));
}

TEST_F(MpiCommandTest, TakesAsManyProcessesAsRanks) {
  const auto few = runByMpi({"run", sharded()}, 2);
  EXPECT_EQ(few.status, 2);
  EXPECT_THAT(few.errors, HasSubstr("mpirun started 2 processes for graphs of 4 ranks"));
  EXPECT_THAT(runByMpi({"minify", sharded()}).errors, HasSubstr("start it without mpirun"));
}
#endif

/// What a program's ranks compiled, by the name of the first one's capture.
TEST_F(RanksCommandTest, AStoredProgramHasAllItsRanks) {
  const std::string program = write("train.py",
                                    "import torch\n"
                                    "import torch.distributed as dist\n"
                                    "import torch.distributed._functional_collectives as funcol\n"
                                    "dist.init_process_group('gloo')\n"
                                    "rank = dist.get_rank()\n"
                                    "def f(x): return funcol.all_reduce(x * (rank + 1), 'sum', dist.group.WORLD)\n"
                                    "def g(x): return x.sin()\n"
                                    "torch.compile(f, backend='eager')(torch.ones(3))\n"
                                    "torch.compile(g, backend='eager')(torch.ones(3 if rank == 0 else 5))\n")
                                  .string();
  const auto captured = run({"capture", program, "--ranks", "2"});
  ASSERT_EQ(captured.status, 0) << captured.errors;
  EXPECT_THAT(captured.output, HasSubstr("all ranks together: `kerf compare c1#__compiled_fn_1`"));
  const auto ran = run({"run", "c1#__compiled_fn_1"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("2 of 2 ranks ran together"));
  EXPECT_THAT(run({"compare", "c1#__compiled_fn_1"}).output, HasSubstr("2 of 2 ranks are the same"));
  EXPECT_THAT(run({"verify", "c1#g1"}).output, HasSubstr("waits sunk: same"));
  EXPECT_THAT(run({"ranks", "c1#g1"}).output, HasSubstr("rank 1: mul = operator.mul(l_x_, 2)"));
  EXPECT_THAT(run({"ranks", "c1#g2"}).output, HasSubstr("every graph the same"));
  EXPECT_THAT(run({"minify", "c1#g1"}).errors, HasSubstr("the ranks do not fail"));
  EXPECT_THAT(run({"run", "c1/g1"}).errors, HasSubstr("needs the other ranks")) << "one rank's graph";

  const auto several = run({"run", "c1"});
  EXPECT_NE(several.status, 0);
  EXPECT_THAT(several.errors, HasSubstr("c1 holds the graphs __compiled_fn_1, __compiled_fn_2"));
  const auto none = run({"compare", "c1#other"});
  EXPECT_NE(none.status, 0);
  EXPECT_THAT(none.errors, HasSubstr("there is no graph \"other\": c1 holds"));
  EXPECT_THAT(run({"run", "c2#g1"}).errors, HasSubstr("needs the other ranks")) << "not the first rank's";

  const std::string moved = (folder / "moved.db").string(), other = (folder / "other.db").string();
  ASSERT_EQ(run({"store", "export", moved}).status, 0);
  ASSERT_EQ(run({"import", "--store", other, reluRepro().string()}).status, 0);
  ASSERT_EQ(run({"store", "import", "--store", other, moved}).status, 0);
  EXPECT_THAT(run({"run", "--store", other, "c2#g1"}).errors, HasSubstr("needs the other ranks"))
      << "captures travel, what joins them does not";
  EXPECT_THAT(run({"run", "--store", moved, "c1#g1"}).output, HasSubstr("2 of 2 ranks ran together"));
}

}  // namespace
}  // namespace kerf::cli
