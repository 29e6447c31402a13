// The torch oracle: the real worker script on a Python that has tests/support/fake_torch in PyTorch's place.
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "engine/process/program.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/oracle/torch_oracle.h"
#include "minifier/reductions/reductions.h"
#include "tests/support/contained_test.h"
#include "tests/support/minifier_graphs.h"

namespace kerf {
namespace {

using namespace kerf::testing;
using Clock = std::chrono::steady_clock;

/// x -> op(x) -> neg, with `elements` of them in x.
Candidate chainOf(const std::string& op, std::int64_t elements = 4) {
  CandidateBuilder b;
  const NodeId x = b.input("x", {elements});
  const NodeId first = b.call(("torch.ops.aten." + op + ".default").c_str(), {x});
  return b.finish({b.call("torch.ops.aten.neg.default", {first})});
}

class TorchOracleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    m_python = findProgram("python3");
    if (m_python.empty()) GTEST_SKIP() << "there is no python3";
    setenv("PYTHONPATH", KERF_SOURCE_DIR "/tests/support/fake_torch", 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    setenv("FAKE_TORCH_LOG", m_log.c_str(), 1);
    setenv("FAKE_TORCH_SLEEP", m_mark.c_str(), 1);
  }
  void TearDown() override {
    for (const char* name : {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "FAKE_TORCH_LOG", "FAKE_TORCH_SLEEP",
                             "FAKE_TORCH_BROKEN", "FAKE_TORCH_BROKEN_ISA"})
      unsetenv(name);
  }

  TorchOracleOptions options() const {
    TorchOracleOptions options;
    options.worker.python = m_python;
    options.worker.jobs = 4;
    options.timeout = test::patience;
    return options;
  }
  Capture like(std::string accuracy = "False") const {
    Capture capture;
    capture.kind = "repro";
    capture.graphs.resize(1);
    capture.graphs[0].name = "forward";
    capture.envelope.runOptions = {{"accuracy", std::move(accuracy)}};
    return capture;
  }
  std::unique_ptr<TorchOracle> started(const TorchOracleOptions& options, const Capture& capture) const {
    auto oracle = TorchOracle::start(options, capture, 0, {});
    EXPECT_TRUE(oracle) << oracle.error().text();
    return oracle ? std::move(*oracle) : nullptr;
  }
  Verdict judged(TorchOracle& oracle, const Candidate& candidate) const {
    const auto verdict = oracle.judge(candidate, {});
    EXPECT_TRUE(verdict) << verdict.error().text();
    return verdict ? *verdict : Verdict{};
  }
  int logged(const std::string& what) const {
    std::ifstream file(m_log);
    int count = 0;
    for (std::string line; std::getline(file, line);) count += line.starts_with(what + " ");
    return count;
  }

  const std::string m_mark = test::markOf(3);  ///< seconds that a process sleeps for which a query leaves
  TemporaryFolder m_folder = *TemporaryFolder::create();
  std::filesystem::path m_log = m_folder.path() / "log", m_python;
};

TEST_F(TorchOracleTest, EveryEndOfAQueryIsAVerdictAndTheWorkerLivesOn) {
  auto settings = options();
  settings.timeout = 1500ms;
  const auto oracle = started(settings, like("True"));
  ASSERT_NE(oracle, nullptr);
  const std::pair<const char*, const char*> cases[] = {
      {"sigmoid", ""},
      {"relu", "compile:CppCompileError:error: decltype evaluates to 'float'"},
      {"sin", "accuracy:magnitude"},
      {"exp", "crash:SIGSEGV"},
      {"tanh", "hang"},
      {"log", "run:AssertionError:expected size N==N, stride N==N at dim=N"},
      {"abs", ""},  // prints what looks like an answer
  };
  for (const auto& [op, fingerprint] : cases) {
    Verdict verdict;
    waitUntil([&] {  // on a busy machine any query may take so long
      verdict = judged(*oracle, chainOf(op));
      return verdict.fingerprint != "hang" || fingerprint == std::string_view("hang");
    });
    EXPECT_EQ(verdict.fingerprint, fingerprint) << op;
    EXPECT_EQ(verdict.kind, *fingerprint == '\0' ? VerdictKind::Passes : VerdictKind::Fails) << op;
  }
  EXPECT_EQ(logged("import"), 1);
  EXPECT_EQ(oracle->torchVersion(), "2.11.0+fake");
}

TEST_F(TorchOracleTest, WhatIsAFailureCanBeChosen) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"exception", "sin", ""},
      {"strict_accuracy", "sin", "accuracy:magnitude"},
      {"nondeterminism", "erf", "nondeterminism"},
      {"nondeterminism", "sigmoid", ""},
      {"expr:len(res) == 1", "sigmoid", "expression"},
      {"expr:len(res) == 2", "sigmoid", ""},
  };
  for (const auto& [check, op, fingerprint] : cases) {
    auto settings = options();
    settings.check = check;
    const auto oracle = started(settings, like());
    ASSERT_NE(oracle, nullptr);
    EXPECT_EQ(judged(*oracle, chainOf(op)).fingerprint, fingerprint) << check << ' ' << op;
  }
  auto settings = options();
  settings.check = "expr:no_such_name";
  const auto oracle = started(settings, like());
  ASSERT_NE(oracle, nullptr);
  const Verdict verdict = judged(*oracle, chainOf("sigmoid"));
  EXPECT_EQ(verdict.kind, VerdictKind::CannotTest);
  EXPECT_NE(verdict.detail.find("no_such_name"), std::string::npos) << verdict.detail;
}

TEST_F(TorchOracleTest, AQueryOverTheMemoryLimitEndsAlone) {
  auto settings = options();
  settings.worker.limits.memoryBytes = 1 << 30;
  const auto oracle = started(settings, like());
  ASSERT_NE(oracle, nullptr);
  EXPECT_EQ(judged(*oracle, chainOf("sqrt")).fingerprint, "memory limit");
  EXPECT_EQ(judged(*oracle, chainOf("sigmoid")).kind, VerdictKind::Passes);
}

TEST_F(TorchOracleTest, QueriesRunSideBySideAndBytesTravelOnce) {
  const auto oracle = started(options(), like());
  ASSERT_NE(oracle, nullptr);
  const Candidate candidate = chainOf("sigmoid", 1 << 20);
  std::atomic<int> passed = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] { passed += judged(*oracle, candidate).kind == VerdictKind::Passes; });
  }
  EXPECT_EQ(passed, 8);
  EXPECT_EQ(logged("tensor"), 8);
  std::ifstream file(m_log);
  for (std::string line; std::getline(file, line);)
    EXPECT_TRUE(!line.starts_with("tensor ") || line.starts_with("tensor 4194304 ")) << line;
}

TEST_F(TorchOracleTest, AQueryGivesWayToOneAboutAMuchLargerGraph) {
  if (::getpriority(PRIO_PROCESS, 0) >= 19) GTEST_SKIP() << "nothing is nicer than this";
  auto settings = options();
  settings.check = fmt::format("expr:__import__('os').nice(0) > {}", ::getpriority(PRIO_PROCESS, 0));
  const auto oracle = started(settings, like());
  ASSERT_NE(oracle, nullptr);
  CandidateBuilder b;
  NodeId last = b.call("torch.ops.aten.tanh.default", {b.input("x", {4})});
  std::string compiled = "compile tanh";
  for (int i = 0; i < 300; ++i, compiled += ",neg") last = b.call("torch.ops.aten.neg.default", {last});
  const Candidate large = b.finish({last});
  std::stop_source source;
  {
    std::jthread asking([&] { (void)oracle->judge(large, source.get_token()); });  // never ends by itself
    EXPECT_TRUE(waitUntil([&] { return logged(compiled) > 0; }));
    EXPECT_EQ(judged(*oracle, chainOf("sigmoid")).kind, VerdictKind::Fails);
    source.request_stop();
  }
  EXPECT_TRUE(waitUntil([&] { return judged(*oracle, chainOf("sigmoid")).kind == VerdictKind::Passes; }));
}

TEST_F(TorchOracleTest, AStoppedQueryLeavesNothing) {
  const auto oracle = started(options(), like());
  ASSERT_NE(oracle, nullptr);
  std::stop_source source;
  std::jthread stopper([&] {
    EXPECT_TRUE(waitUntil([&] { return logged("compile tanh,neg") > 0; }));
    source.request_stop();
  });
  const auto verdict = oracle->judge(chainOf("tanh"), source.get_token());
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, ErrorCode::Cancelled);
  EXPECT_EQ(judged(*oracle, chainOf("sigmoid")).kind, VerdictKind::Passes);
}

TEST_F(TorchOracleTest, NothingOutlivesTheOracle) {
  {
    const auto oracle = started(options(), like());
    ASSERT_NE(oracle, nullptr);
    EXPECT_EQ(judged(*oracle, chainOf("ceil")).kind, VerdictKind::Passes);  // starts a process that sleeps
    EXPECT_TRUE(waitUntil([&] { return logged("leaves " + m_mark) > 0; }));
  }
  EXPECT_TRUE(waitUntil([&] { return countMarked(m_mark) == 0; }));
}

TEST_F(TorchOracleTest, AWorkerThatDiesIsStartedAgain) {
  auto settings = options();
  settings.check = "expr:__import__('os').kill(__import__('os').getppid(), 9)";  // ends the worker
  const auto fatal = started(settings, like());
  ASSERT_NE(fatal, nullptr);
  const Verdict verdict = judged(*fatal, chainOf("sigmoid"));
  EXPECT_EQ(verdict.kind, VerdictKind::CannotTest);
  EXPECT_EQ(verdict.detail, "the torch worker ended while it judged this");
}

/// PyTorch asks it of a fresh Python, which imports torch; the worker of a fork, and of that Python where a fork says
/// no.
TEST_F(TorchOracleTest, WhichVectorInstructionsWorkIsAskedInForks) {
  const std::pair<const char*, const char*> cases[] = {{"none", "avx512 avx2"}, {"avx512", "avx2"}};
  for (const auto& [broken, names] : cases) {
    setenv("FAKE_TORCH_BROKEN_ISA", broken, 1);
    std::filesystem::remove(m_log);
    auto settings = options();
    settings.check = fmt::format(
        "expr:' '.join(map(str, __import__('torch')._inductor.cpu_vec_isa.valid_vec_isa_list())) == '{}'", names);
    const auto oracle = started(settings, like());
    ASSERT_NE(oracle, nullptr);
    for (int i = 0; i < 2; ++i)  // by the first query, which begins before the worker is warm, and by another
      EXPECT_EQ(judged(*oracle, chainOf("sigmoid", 4 + i)).fingerprint, "expression") << broken;
    EXPECT_EQ(logged("import") == 1, names == std::string("avx512 avx2")) << logged("import");
    EXPECT_EQ(logged("isa neon"), 0);
  }
}

/// What takes longest until a worker is warm is the same for every job.
TEST_F(TorchOracleTest, PrecompiledHeadersStayForTheNextJob) {
  namespace fs = std::filesystem;
  const fs::path tools = m_folder.path() / "store.torch";
  const auto job = [&] {
    auto settings = options();
    settings.worker.tools = tools;
    const auto oracle = started(settings, like());
    ASSERT_NE(oracle, nullptr);
    for (int i = 0; i < 2; ++i)  // the second is answered when the worker is warm
      EXPECT_EQ(judged(*oracle, chainOf("sigmoid", 4 + i)).kind, VerdictKind::Passes);
  };
  const auto kept = [&] {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(tools))
      if (entry.is_regular_file() && entry.path().extension() != ".sha1") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
  };
  job();
  EXPECT_EQ(logged("precompile"), 1);
  ASSERT_EQ(kept().size(), 2u);
  EXPECT_EQ(kept()[0].filename(), "chash.h");
  EXPECT_EQ(kept()[1].filename(), "chash.h.gch");
  EXPECT_EQ(fs::file_size(kept()[1]), 6u);
  job();
  EXPECT_EQ(logged("precompile"), 1);
  const fs::path set = kept()[0].parent_path().parent_path().parent_path();
  ASSERT_EQ(set.parent_path(), tools);
  fs::permissions(set, fs::perms::group_write | fs::perms::others_write, fs::perm_options::add);
  job();  // others can write there: not used, and made anew
  EXPECT_EQ(logged("precompile"), 2);
  job();
  EXPECT_EQ(logged("precompile"), 2);
  const auto old = [&](char digit) { return tools / std::string(32, digit); };
  for (const char digit : {'a', 'b', 'c', 'd'}) fs::create_directory(old(digit));
  for (const char digit : {'a', 'b'})
    fs::last_write_time(old(digit), fs::file_time_type::clock::now() - std::chrono::hours(240));
  fs::create_directory(tools / "notes");
  fs::last_write_time(tools / "notes", fs::file_time_type::clock::now() - std::chrono::hours(480));
  std::ofstream(kept()[1], std::ios::trunc);  // as a power cut leaves it
  job();                                      // makes it anew, and forgets the sets that were not used for longest
  EXPECT_EQ(logged("precompile"), 3);
  EXPECT_EQ(fs::file_size(kept()[1]), 6u);
  EXPECT_FALSE(fs::exists(old('a')));
  EXPECT_FALSE(fs::exists(old('b')));
  EXPECT_TRUE(fs::exists(tools / "notes"));
  EXPECT_TRUE(fs::exists(set));
  job();
  EXPECT_EQ(logged("precompile"), 3);
}

/// Half a library would fail every later query about the same kernel, which is in the cache that all share.
TEST_F(TorchOracleTest, ALibraryHasItsNameWhenItIsWhole) {
  const std::filesystem::path folder = m_folder.path() / "built";
  std::filesystem::create_directory(folder);
  const auto builds = [&](std::string_view end, bool whole) {
    const std::string library = (folder / "kernel.so").string();
    auto settings = options();  // a compiler that writes to what stands behind -o
    settings.check = fmt::format(
        "expr:[__import__('torch')._inductor.cpp_builder.subprocess.run(['sh', '-c', 'printf half > $1; {0}', '-o', "
        "'{1}']), "
        "__import__('os').listdir('{2}')][1] == {3}",
        end, library, folder.string(), whole ? "['kernel.so']" : "[]");
    const auto oracle = started(settings, like());
    ASSERT_NE(oracle, nullptr);
    EXPECT_EQ(judged(*oracle, chainOf("sigmoid")).fingerprint, "expression") << end;
  };
  builds("exit 1", false);
  builds("kill -9 $$", false);
  builds("printf whole >> $1", true);
}

TEST_F(TorchOracleTest, WithoutTorchTheErrorSaysWhy) {
  setenv("FAKE_TORCH_BROKEN", "1", 1);
  const auto broken = TorchOracle::start(options(), like(), 0, {});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::Environment);
  EXPECT_NE(broken.error().message.find("libtorch.so: cannot open shared object file"), std::string::npos)
      << broken.error().message;
  auto settings = options();
  settings.worker.python = "/bin/true";
  const auto other = TorchOracle::start(settings, like(), 0, {});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::Environment);
}

TEST_F(TorchOracleTest, MinifiesWhatInductorRefuses) {
  const auto oracle = started(options(), like());
  ASSERT_NE(oracle, nullptr);
  CandidateBuilder b;
  NodeId at = b.input("x", {4});
  for (int i = 0; i < 40; ++i) at = b.call(i == 23 ? reluTarget : "torch.ops.aten.sigmoid.default", {at});
  MemoryVerdictCache cache;
  MinifyOptions searching;
  searching.parallelQueries = 4;
  const auto result = minify(b.finish({at}), *oracle, cache, searching, {}, {});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->candidate.module.graph.size(), 3u);
  EXPECT_TRUE(result->oneMinimal);
  EXPECT_EQ(logged("import"), 1);
}

TEST(TorchAnswer, ReadsWhatPythonWrites) {
  const auto answer = parseTorchAnswer(
      R"({"verdict": "fails", "phase": "accuracy", "seconds": 1.5, "accuracy": {"rmse_res": NaN, "rmse_ref": 0.25,
          "shape": "[2, 3]", "dtype": "float32", "line": "RMSE (res-fp64): nan, res.dtype: torch.float32"}})");
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(torchFingerprint(*answer), "accuracy:nan");
  EXPECT_EQ(answer->time, 1500ms);
  EXPECT_EQ(answer->accuracy->referenceError, 0.25);
  const auto wrong = parseTorchAnswer(
      R"({"verdict": "fails", "phase": "accuracy", "accuracy": {"rmse_res": 0.25, "rmse_ref": 0.0, "line":
          "RMSE (res-fp64): 0.25, (ref-fp64): 0.0 and shape=torch.Size([3]). multiplier: 3.0, tol: 0.001"}})");
  ASSERT_TRUE(wrong) << wrong.error().text();
  EXPECT_EQ(torchFingerprint(*wrong), "accuracy:magnitude:10^3");  // 0.25 where 0.0001 is allowed
  EXPECT_FALSE(parseTorchAnswer("Segmentation fault"));
  EXPECT_FALSE(parseTorchAnswer("[]"));
  const auto empty = parseTorchAnswer("{}");
  ASSERT_TRUE(empty);
  EXPECT_EQ(verdictOf(*empty).kind, VerdictKind::CannotTest);
}

TEST(TorchAnswer, AnOpIsPartOfAFingerprintAndAKernelIsNot) {
  TorchAnswer answer{.kind = TorchAnswer::Kind::Fails, .phase = "compile", .exception = "LoweringException"};
  answer.message = "NoValidChoicesError: no choices\n  target: aten.addmm.default";
  answer.names = {"cpp_fused_addmm_relu_3", "aten.addmm.default"};
  EXPECT_EQ(torchFingerprint(answer), "compile:LoweringException:aten.addmm.default:NoValidChoicesError: no choices");
}

TEST(TorchAnswer, OfTritonWhatItEndsWithIsTheFailure) {
  TorchAnswer answer{.kind = TorchAnswer::Kind::Fails, .phase = "compile", .exception = "CompilationError"};
  answer.message =
      "at 36:251:\n    tmp4 = tl.broadcast_to(tmp3)\n           ^\nCannot broadcast, rank mismatch: [4], [4, 1]\n";
  EXPECT_EQ(torchFingerprint(answer), "compile:CompilationError:Cannot broadcast, rank mismatch: [N], [N]");
  EXPECT_EQ(verdictOf(answer).detail, "CompilationError: Cannot broadcast, rank mismatch: [4], [4, 1]");
}

}  // namespace
}  // namespace kerf
