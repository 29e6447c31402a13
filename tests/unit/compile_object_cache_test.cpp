// The cache of machine code: hits, what is damaged, stale or somebody else's, and several writers at once.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "engine/codegen_llvm/object_cache.h"
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using testing_support::expectLikeInterpreter;
using testing_support::parsed;

class ObjectCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / fmt::format("kerf_objects_{}_{}", getpid(),
                                                     ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::vector<fs::path> files() const {
    std::vector<fs::path> paths;
    for (const auto& item : fs::directory_iterator(folder)) paths.push_back(item.path());
    return paths;
  }
  static std::string contentOf(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void write(const fs::path& file, const std::string& content) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
  }

  fs::path folder;
  const Hash128 key = hashText("a kernel"), other = hashText("another kernel");
  const CachedObject entry{std::string("\x7f"
                                       "ELF\0code",
                                       9),
                           {"loop text", "", "llvm text"}};
};

TEST_F(ObjectCacheTest, GivesBackWhatWasStored) {
  const ObjectCache cache(folder);
  EXPECT_FALSE(cache.find(key));
  cache.store(key, entry);
  const auto found = cache.find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->object, entry.object);
  EXPECT_EQ(found->texts, entry.texts);
  EXPECT_FALSE(cache.find(other));
  const ObjectCache none{fs::path()};
  none.store(key, entry);
  EXPECT_FALSE(none.find(key));
}

TEST_F(ObjectCacheTest, TakesNoDamagedEntry) {
  const ObjectCache cache(folder);
  cache.store(key, entry);
  ASSERT_EQ(files().size(), 1u);
  const fs::path file = files().front();
  const std::string whole = contentOf(file);
  for (std::size_t at = 0; at < whole.size(); at += 5) {
    std::string damaged = whole;
    damaged[at] = char(damaged[at] ^ 0x10);
    write(file, damaged);
    EXPECT_FALSE(cache.find(key)) << "byte " << at;
    EXPECT_FALSE(fs::exists(file)) << "it is made again";
    write(file, whole.substr(0, at));
    EXPECT_FALSE(cache.find(key)) << "cut to " << at;
    write(file, whole);
    ASSERT_TRUE(cache.find(key)) << at;
  }
  write(file, whole + "more");
  EXPECT_FALSE(cache.find(key));
}

TEST_F(ObjectCacheTest, TakesNoStaleEntry) {
  const ObjectCache cache(folder);
  cache.store(key, entry);
  const fs::path file = files().front();
  const std::string whole = contentOf(file);
  write(folder / (other.hex() + file.extension().string()), whole);
  EXPECT_FALSE(cache.find(other)) << "the code of another key under this name";
  std::string older = whole;
  older[older.find('1')] = '0';  // "kerf object 1"
  write(file, older);
  EXPECT_FALSE(cache.find(key));
}

TEST_F(ObjectCacheTest, TakesNothingThatOthersMayWrite) {
  const ObjectCache cache(folder);
  cache.store(key, entry);
  const fs::path file = files().front();
  ASSERT_EQ(chmod(file.c_str(), 0660), 0);
  EXPECT_FALSE(cache.find(key));
  EXPECT_TRUE(fs::exists(file)) << "it is not ours to remove";
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  EXPECT_TRUE(cache.find(key));
  const fs::path elsewhere = folder.string() + ".moved";
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  EXPECT_FALSE(cache.find(key)) << "a link may lead anywhere";
  fs::remove(file);
  fs::rename(elsewhere, file);
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  EXPECT_FALSE(cache.find(key));
  cache.store(other, entry);
  EXPECT_EQ(files().size(), 1u);
  ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
}

TEST_F(ObjectCacheTest, SeveralWritersLeaveWholeEntries) {
  constexpr int processes = 4, rounds = 40;
  std::vector<pid_t> writers;
  for (int process = 0; process < processes; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      const ObjectCache cache(folder);
      bool good = true;
      for (int round = 0; round < rounds; ++round) {
        cache.store(round % 2 == 0 ? key : other, entry);
        const auto found = cache.find(key);
        good = good && (!found || (found->object == entry.object && found->texts == entry.texts));
      }
      _exit(good ? 0 : 1);
    }
    writers.push_back(child);
  }
  for (const pid_t writer : writers) {
    int status = 0;
    ASSERT_EQ(waitpid(writer, &status, 0), writer);
    EXPECT_EQ(status, 0);
  }
  const ObjectCache cache(folder);
  EXPECT_TRUE(cache.find(key));
  EXPECT_TRUE(cache.find(other));
  EXPECT_EQ(files().size(), 2u) << "nothing half-written stays";
}

constexpr const char* chainText = R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[6, 4]"):
        exp: "f32[6, 4]" = torch.ops.aten.exp.default(x)
        sum_1: "f32[6, 1]" = torch.ops.aten.sum.dim_IntList(exp, [1], True)
        div: "f32[6, 4]" = torch.ops.aten.div.Tensor(exp, sum_1)
        return (div,)
)";

TEST_F(ObjectCacheTest, CompilationsShowTheirHits) {
  const GraphModule module = parsed(chainText);
  const ValueList inputs{testing_support::counted({6, 4})};
  const auto compile = [&](int level) { return compileFx(module, {.optimizationLevel = level, .cache = folder}); };
  const auto first = compile(2);
  ASSERT_TRUE(first) << first.error().text();
  const std::size_t objects = (*first)->artifacts().objects;
  ASSERT_GT(objects, 0u);
  EXPECT_EQ((*first)->artifacts().cachedObjects, 0u);
  const auto second = compile(2);
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ((*second)->artifacts().cachedObjects, objects);
  expectLikeInterpreter(module, **second, inputs);
  const auto unlike = compile(0);
  ASSERT_TRUE(unlike) << unlike.error().text();
  EXPECT_EQ((*unlike)->artifacts().cachedObjects, 0u) << "other options, other code";
  for (const fs::path& file : files()) write(file, contentOf(file).substr(0, 100));
  const auto again = compile(2);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ((*again)->artifacts().cachedObjects, 0u);
  expectLikeInterpreter(module, **again, inputs);
  EXPECT_EQ((*compile(2))->artifacts().cachedObjects, objects) << "the damaged entries were made again";
}

}  // namespace
}  // namespace kerf
