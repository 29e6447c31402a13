// What `kerf export` and `kerf minify` refuse, leave out and let through; and that they write the same bytes twice.
#include <map>

#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ExportRulesTest : public CliTest {
 protected:
  std::string out(const std::string& name) const { return (folder / name).string(); }
  /// A graph in print_readable's form around one value.
  std::string pasted(const std::string& value, const std::string& parameter = "x: \"f32[4]\"") const {
    return write("graph.txt", "class GraphModule(torch.nn.Module):\n    def forward(self, " + parameter +
                                  "):\n        a = " + value + "\n        return (a,)\n")
        .string();
  }
  /// Every file below a folder by its path there, or the one file.
  std::map<std::string, std::string> bytesOf(const fs::path& place) const {
    std::map<std::string, std::string> files;
    if (fs::is_regular_file(place)) files[""] = textOf(place);
    if (!fs::is_directory(place)) return files;
    for (const auto& entry : fs::recursive_directory_iterator(place))
      if (entry.is_regular_file()) files[entry.path().lexically_relative(place).string()] = textOf(entry.path());
    return files;
  }
};

TEST_F(ExportRulesTest, RefusesACallNamingNodeAndTarget) {
  for (const char* name : {"o", "o.zip", "o.pt2", "o.txt", "o.graph", "o.tab", "o.code"}) {
    const auto refused = run({"export", pasted("torch.os.system('id')"), "-o", out(name)});
    EXPECT_EQ(refused.status, 2) << name;
    EXPECT_THAT(refused.errors, HasSubstr("'a' calls 'torch.os.system'")) << name;
    EXPECT_FALSE(fs::exists(out(name))) << name;
  }
  EXPECT_EQ(run({"export", pasted("torch.os.system('id')"), "-o", out("o.json")}).status, 0);  // nothing runs that
}

TEST_F(ExportRulesTest, AllowCallLetsOneTargetThroughOnce) {
  const auto graph = pasted("torch.mylib.f(x)");
  EXPECT_THAT(run({"export", graph, "-o", out("o")}).errors, HasSubstr("--allow-call"));
  EXPECT_EQ(run({"export", graph, "-o", out("o"), "--allow-call", "torch.mylib.g"}).status, 2);
  ASSERT_EQ(run({"export", graph, "-o", out("o"), "--allow-call", "torch.mylib.f"}).status, 0);
  EXPECT_THAT(textOf(out("o/repro.py")), StartsWith("# WARNING (call allowed by the user): this calls torch.mylib.f,"));
  ASSERT_EQ(run({"export", graph, "-o", out("o.code"), "--allow-call", "torch.mylib.f"}).status, 0);
  EXPECT_THAT(textOf(out("o.code")), StartsWith("# WARNING (call allowed by the user): this calls torch.mylib.f,"));
  EXPECT_EQ(run({"export", out("o/repro.py"), "-o", out("again")}).status, 2);
  const auto never = run({"export", graph, "-o", out("o"), "--allow-call", "torch.load"});
  EXPECT_EQ(never.status, 2);
  EXPECT_THAT(never.errors, HasSubstr("'torch.load' cannot be allowed: it loads or runs code"));
}

TEST_F(ExportRulesTest, CandidatesOfACommandFollowTheSameRules) {
  const auto graph = pasted("torch.ops.aten.relu.default(x)\n        b = torch.mylib.f(a)");
  const std::vector<std::string> minify{"minify", graph, "--oracle", "command", "--check", "false", "-o", out("m")};
  auto allowed = minify;
  allowed.insert(allowed.end(), {"--allow-call", "torch.mylib.f", "--judge"});
  EXPECT_EQ(runJson(allowed, 1)["verdict"], "fails");
  auto refused = minify;
  refused.emplace_back("--judge");
  const auto verdict = runJson(refused, 2);
  EXPECT_EQ(verdict["verdict"], "cannot_test");
  EXPECT_THAT(verdict["detail"].get<std::string>(), HasSubstr("'b' calls 'torch.mylib.f'"));
}

TEST_F(ExportRulesTest, ListsWhatItLeavesOut) {
  const auto file = reluRepro();
  const auto odd = write("odd.py", "import evil\n" + textOf(file)).string();
  const std::string note = "exports leave out this line: import evil";
  const auto exported = runJson({"export", odd, "-o", out("o")});
  EXPECT_EQ(exported["notes"], json::array({note}));
  EXPECT_THAT(textOf(out("o/repro.py")), HasSubstr("# Kerf left out: 'import evil'\n"));
  EXPECT_THAT(run({"show", odd}).errors, HasSubstr(note));
  EXPECT_THAT(runJson({"import", odd})["captures"][0]["notes"].dump(), HasSubstr(note));
  EXPECT_EQ(runJson({"export", file.string(), "-o", out("p")})["notes"], json::array());
}

TEST_F(ExportRulesTest, ShowsAnnotationsThatAreNotUnderstood) {
  const auto graph = pasted("torch.ops.aten.relu.default(y)", "x : print('hi'), y: \"f32[4]\"");
  const auto shown = run({"show", graph, "--format", "code"});
  EXPECT_THAT(shown.output, HasSubstr("x : \"not understood: print('hi')\""));
  EXPECT_THAT(shown.errors, HasSubstr("the annotation is not understood, and exports leave it out: x: print('hi')"));
  ASSERT_EQ(run({"export", graph, "-o", out("o.code")}).status, 0);
  EXPECT_THAT(textOf(out("o.code")), Not(HasSubstr("print")));
  const auto plain = runJson({"show", out("o.code")}), annotated = runJson({"show", graph});
  EXPECT_NE(plain["hash"], annotated["hash"]);
  const auto id = runJson({"import", graph})["captures"][0]["graphs"][0]["id"].get<std::string>();
  EXPECT_EQ(runJson({"show", id})["hash"], annotated["hash"]);  // the store has it too
}

TEST_F(ExportRulesTest, TheSameCommandTwiceWritesTheSameBytes) {
  for (const char* name : {"a", "a.zip", "a.pt2", "a.txt", "a.json", "a.dot"}) {
    ASSERT_EQ(run({"export", sample, "-o", out(name)}).status, 0) << name;
    const auto first = bytesOf(out(name));
    EXPECT_FALSE(first.empty()) << name;
    fs::remove_all(out(name));
    ASSERT_EQ(run({"export", sample, "-o", out(name)}).status, 0) << name;
    EXPECT_EQ(bytesOf(out(name)), first) << name;
  }
}

TEST_F(ExportRulesTest, TheSameMinificationTwiceWritesTheSameBytes) {
  const std::vector<std::string> minify{"minify", sample, "--plant", "relu=accuracy", "-o", out("m")};
  ASSERT_EQ(run(minify).status, 0);
  const auto first = bytesOf(out("m"));
  EXPECT_THAT(first.at("repro.py"), StartsWith("# Minified by Kerf: "));
  ASSERT_EQ(run(minify).status, 0);  // resumed: all verdicts are known now
  EXPECT_EQ(bytesOf(out("m")), first);
  fs::remove(store());
  fs::remove_all(out("m"));
  ASSERT_EQ(run(minify).status, 0);
  EXPECT_EQ(bytesOf(out("m")), first);
  auto withoutIssue = first;
  EXPECT_EQ(withoutIssue.erase("issue.md"), 1u);  // what the store knows of the search is less
  const auto repro = runJson({"ls", "repros"});
  ASSERT_EQ(run({"export", "p1", "-o", out("p")}).status, 0) << repro.dump();
  auto exported = bytesOf(out("p"));
  EXPECT_EQ(exported.erase("issue.md"), 1u);
  EXPECT_EQ(exported, withoutIssue);
}

}  // namespace
}  // namespace kerf::cli
