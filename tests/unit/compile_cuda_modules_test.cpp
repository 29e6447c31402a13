// Modules of several kernels: how they are divided, and what the cache gives back of them.
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "engine/backend/cuda/compiler_version.h"
#include "engine/backend/cuda/cuda_modules.h"
#include "engine/codegen_cuda/nvrtc.h"
#include "engine/codegen_cuda/scalar_text.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/support/thread_pool.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNull;
using ::testing::Not;
using ::testing::NotNull;

class CudaModulesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / fmt::format("kerf_modules_{}_{}", getpid(),
                                                     ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
    for (const char* name : {"cuda_a", "cuda_b", "cuda_c"})
      made.push_back({name,
                      std::string(preamble()) + "using Index = int;\nextern \"C\" __global__ void " + name +
                          "(float* x) { x[threadIdx.x] = kerf_team<64>(x[Index(threadIdx.x)], [](float a, float b) { "
                          "return a + b; }); }\n",
                      {}});
    for (const CudaKernel& kernel : made) kernels.push_back(&kernel);
  }
  void TearDown() override {
    fs::remove_all(folder);
    setThreadCount(threads);
  }

  const int threads = threadCount();
  fs::path folder;
  std::vector<CudaKernel> made;
  std::vector<const CudaKernel*> kernels;
  const CudaTarget target{"sm_90", "13.0"};
};

TEST(CudaModuleGroups, AreBalancedAndInOrder) {
  EXPECT_THAT(balancedGroups({5, 1, 1, 1, 1, 1}, 2), ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3, 4, 5)));
  EXPECT_THAT(balancedGroups({1, 2, 3}, 8), ElementsAre(ElementsAre(2), ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(balancedGroups({0, 0, 0, 0}, 2), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_TRUE(balancedGroups({}, 4).empty());
}

TEST_F(CudaModulesTest, KernelsShareOnePreamble) {
  const std::string source = joinedSource(kernels);
  const std::string_view first = preamble().substr(0, 80);
  EXPECT_EQ(source.find(first), 0u);
  EXPECT_EQ(source.find(first, 1), std::string::npos);
  for (const CudaKernel& kernel : made) EXPECT_THAT(source, HasSubstr("void " + kernel.name + "("));
}

TEST_F(CudaModulesTest, OfOneThreadAreOneThatEachKernelFindsAgain) {
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  const ObjectCache cache(folder);
  setThreadCount(1);
  CudaModules modules(3);
  const auto done = compileModules(kernels, ModuleSharing::Together, target, cache, modules);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(modules[0], modules[1]);
  EXPECT_EQ(modules[0], modules[2]);
  EXPECT_FALSE(modules[0]->cubin.empty());
  for (const CudaKernel& kernel : made) EXPECT_THAT(modules[0]->ptx, HasSubstr(".entry " + kernel.name));
  const auto some = cachedModules({kernels[2], kernels[0]}, ModuleSharing::Together, target, cache);
  ASSERT_THAT(some, Each(NotNull()));
  EXPECT_EQ(some[0], some[1]);
  EXPECT_EQ(some[0]->cubin, modules[0]->cubin);
  EXPECT_THAT(cachedModules(kernels, ModuleSharing::Alone, target, cache), Each(IsNull()));
  EXPECT_THAT(cachedModules(kernels, ModuleSharing::Together, {"sm_90", "12.9"}, cache), Each(IsNull()));
  EXPECT_THAT(cachedModules(kernels, ModuleSharing::Together, {"sm_80", "13.0"}, cache), Each(IsNull()));
}

TEST_F(CudaModulesTest, AreMissingWhenTheirFileIsDamagedOrGone) {
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  const ObjectCache cache(folder);
  setThreadCount(1);
  const auto compile = [&] {
    CudaModules modules(3);
    return compileModules(kernels, ModuleSharing::Together, target, cache, modules).has_value();
  };
  ASSERT_TRUE(compile());
  const auto largest = [&] {
    fs::path path;
    for (const auto& item : fs::directory_iterator(folder))
      if (path.empty() || item.file_size() > fs::file_size(path)) path = item.path();
    return path;
  };
  {
    std::fstream file(largest(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200);
    file.put('\x7f');
  }
  EXPECT_THAT(cachedModules(kernels, ModuleSharing::Together, target, cache), Each(IsNull()));
  ASSERT_TRUE(compile());
  EXPECT_THAT(cachedModules(kernels, ModuleSharing::Together, target, cache), Each(NotNull()));
  fs::remove(largest());
  EXPECT_THAT(cachedModules(kernels, ModuleSharing::Together, target, cache), Each(IsNull()));
}

TEST_F(CudaModulesTest, OnlyWhatTheCacheLacksIsCompiled) {
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  const ObjectCache cache(folder);
  CudaModules first(1);
  ASSERT_TRUE(compileModules({kernels[1]}, ModuleSharing::Together, target, cache, first));
  CudaModules modules = cachedModules(kernels, ModuleSharing::Together, target, cache);
  EXPECT_THAT(modules, ElementsAre(IsNull(), NotNull(), IsNull()));
  setThreadCount(1);
  ASSERT_TRUE(compileModules(kernels, ModuleSharing::Together, target, cache, modules));
  EXPECT_EQ(modules[0], modules[2]);
  EXPECT_EQ(modules[1]->cubin, first[0]->cubin);
  EXPECT_THAT(modules[0]->ptx, Not(HasSubstr(".entry cuda_b")));
}

TEST_F(CudaModulesTest, TheKernelThatFailsIsNamed) {
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  setThreadCount(1);
  made[1].source += "__global__ void other() { return 1; }\n";
  CudaModules modules(3);
  const auto done = compileModules(kernels, ModuleSharing::Together, target, ObjectCache(folder), modules);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::CompileFailed);
  EXPECT_THAT(done.error().text(), HasSubstr("kernel cuda_b: NVRTC"));
}

TEST_F(CudaModulesTest, TheVersionIsRememberedWhileTheSearchIsTheSame) {
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  const ObjectCache cache(folder);
  EXPECT_FALSE(rememberedCompiler(cache));
  const auto opened = openedCompiler(cache);
  ASSERT_TRUE(opened);
  EXPECT_EQ(*opened, *nvrtcVersion());
  EXPECT_EQ(rememberedCompiler(cache), *opened);
  const char* const before = std::getenv("CUDA_PATH");
  const std::string kept = before != nullptr ? before : "";
  setenv("CUDA_PATH", "/somewhere/else", 1);
  EXPECT_FALSE(rememberedCompiler(cache));
  before != nullptr ? setenv("CUDA_PATH", kept.c_str(), 1) : unsetenv("CUDA_PATH");
  EXPECT_EQ(rememberedCompiler(cache), *opened);
}

TEST_F(CudaModulesTest, ASecondCompilationTakesAllFromTheCache) {
  if (const auto version = nvrtcVersion(); !version) GTEST_SKIP() << version.error().text();
  testing_support::GraphFixture graph;
  const NodeId x = graph.input("x", DType::Float32, {8, 8});
  graph.output({graph.call("aten.relu.default", {x}), graph.call("aten.sum.default", {x})});
  const CompileOptions options{.backend = "cuda", .keepArtifacts = false, .cache = folder};
  const auto first = compileFx(graph.module, options);
  ASSERT_TRUE(first) << first.error().text();
  const auto second = compileFx(graph.module, options);
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ((*first)->artifacts().cachedObjects, 0u);
  EXPECT_GT((*second)->artifacts().cachedObjects, 0u);
  EXPECT_EQ((*second)->artifacts().cachedObjects, (*second)->artifacts().objects);
}

}  // namespace
}  // namespace kerf
