// Nothing reaches the terminal raw: names and contents of files with control sequences, through every command.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "engine/support/log.h"
#include "engine/support/printable.h"
#include "engine/support/utf8.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// ESC, an OSC that sets the title, CSI of C1, BEL, overrides and isolates of direction, line separators, tags, bytes
/// that are no UTF-8, a carriage return.
const std::string nasty =
    "\x1b[31m\x1b]0;owned\x07\xc2\x9b"
    "2J\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xf3\xa0\x81\x81\xff\xc3(\r\x08\x7f";

/// The first character that must not be there, or nothing.
std::string firstRaw(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto [character, bytes] = firstCodePoint(text.substr(at));
    const bool line = character == '\n' || character == '\t';
    if (bytes == 0) return fmt::format("a byte that is no UTF-8 at {}", at);
    if (isUnprintable(character) && !line)
      return fmt::format("U+{:04X} at {}: {}", character, at,
                         escapedText(text.substr(at - std::min<std::size_t>(at, 60), 80)));
    at += bytes;
  }
  return {};
}

class CliHostileTest : public CliTest {
 protected:
  /// Neither stream holds anything that a terminal acts upon. Returns the result.
  ProgramResult clean(const std::vector<std::string>& arguments) {
    const auto result = run(arguments);
    EXPECT_EQ(firstRaw(result.output), "") << fmt::format("stdout of {}", escapedText(arguments.front()));
    EXPECT_EQ(firstRaw(result.errors), "") << fmt::format("stderr of {}", escapedText(arguments.front()));
    EXPECT_NE(result.status, 128 + SIGPIPE);
    return result;
  }
  /// What is shown of one hostile name, by every command that takes a file.
  void throughEverything(const std::string& path) {
    for (const auto* format :
         {"table", "text", "code", "readable", "dot", "json", "signature", "fusion", "guards", "inputs"})
      clean({"show", path, "--format", format});
    for (const std::vector<std::string>& more :
         std::vector<std::vector<std::string>>{{}, {"-v"}, {"--json"}, {"-vv"}}) {
      for (const std::vector<std::string>& command :
           std::vector<std::vector<std::string>>{{"show", path},
                                                 {"import", path},
                                                 {"ls", "records", path},
                                                 {"ls", "compiles", path},
                                                 {"diff", path, sample},
                                                 {"diff", sample, path, "-y"},
                                                 {"run", path},
                                                 {"compare", path, "--nodes"},
                                                 {"bisect", path, "--by", "node"},
                                                 {"passes", path},
                                                 {"verify", path},
                                                 {"minify", path, "--judge"},
                                                 {"export", path, "-o", (folder / "out").string()},
                                                 {"export", path, "-o", "/dev/full" + nasty},
                                                 {"ls"},
                                                 {"store", "info"},
                                                 {"store", "verify"}}) {
        auto all = command;
        all.insert(all.end(), more.begin(), more.end());
        clean(all);
      }
    }
  }
};

TEST_F(CliHostileTest, AReproWithHostileNameAndContents) {
  auto text = test::smallRepro(test::reluForward);
  text.insert(0, "# " + nasty + "\nimport os\nos.environ['" + nasty + "'] = '" + nasty + "'\n");
  text.insert(text.find("        relu ="), "        # " + nasty + "\n");
  throughEverything(write("repro" + nasty + ".py", text));
}

TEST_F(CliHostileTest, FilesThatAreWrong) {
  const auto forward = [](const std::string& line) {
    return test::smallRepro("        " + line + "\n        return (arg0_1,)\n");
  };
  const std::vector<std::string> lines{"x = torch.ops.aten." + nasty + ".default(arg0_1)", "x" + nasty + " = arg0_1",
                                       "x = torch.ops.aten.relu.default('" + nasty + "')",
                                       "x = torch.ops.nowhere.op.default(arg0_1, name = '" + nasty + "')",
                                       "x : '" + nasty + "' = torch.ops.aten.relu.default(arg0_1)"};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto path = write(fmt::format("wrong{}.py", i), forward(lines[i])).string();
    for (const auto* command : {"show", "import", "run", "compare", "passes", "verify", "minify"})
      clean({command, path});
  }
  clean({"show", write("plain.txt", "graph():\n    %x" + nasty + " : [num_users=1] = placeholder[target=x]\n")});
  clean({"show", write("noise", nasty + nasty + nasty)});
}

TEST_F(CliHostileTest, ALogOfHostileRecords) {
  const std::string head = "V0101 00:00:00.000000 1 torch/_dynamo/x.py:1] ";
  std::string log;
  log +=
      head +
      R"({"artifact": {"name": "evil\u001b[31m\u202e", "encoding": "string"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "0123456789abcdef0123456789abcdef"})" +
      "\n\t" + nasty + "\n";
  log +=
      head +
      R"({"dynamo_start": {"stack": [{"line": 1, "name": "f\u001b]0;x\u0007", "filename": 0}]}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0})" +
      "\n";
  log +=
      head +
      R"({"compilation_metrics": {"fail_reason": "bad\u001b[2J\u2028", "fail_type": "\u202eError"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0})" +
      "\n";
  const auto path = write("trace" + nasty + ".log", log).string();
  throughEverything(path);
  clean({"show", path + "#r0"});
  clean({"show", path + "#r1"});
}

TEST_F(CliHostileTest, WhatIsTypedIsNotObeyedEither) {
  for (const auto& command : std::vector<std::vector<std::string>>{
           {"show", "nowhere" + nasty},
           {"show", "c99" + nasty},
           {nasty},
           {"show", sample, "--format", nasty},
           {"passes", sample, "--passes", nasty},
           {"run", sample, "--sym", nasty},
           {"compare", sample, "--plant", nasty},
           {"run", sample, "--inputs", nasty},
           {"ls", "--store", (folder / nasty / "x.db").string()},
           {"minify", sample, "--judge", "--oracle", "command", "--check", "printf '" + nasty + "' >&2; false; #"},
           {"store", "rm", nasty},
           {"store", "export", nasty, "-o", nasty},
           {"ops", nasty},
           {"verify", sample, nasty}})
    clean(command);
}

TEST_F(CliHostileTest, EscapesAreShownAndJsonKeepsTheText) {
  const auto result = run({"show", "no\x1b[31m\xe2\x80\xae\nfile"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, HasSubstr("no\\x1b[31m\\u202e\\nfile"));
  const auto object = runJson({"show", "no\x1b[31m\xe2\x80\xae"}, 2);
  EXPECT_THAT(object["error"].dump(), HasSubstr("\\u001b"));
}

TEST_F(CliHostileTest, ColoursAreForTerminalsOrWhoAsks) {
  EXPECT_THAT(run({"show", "nowhere"}).errors, Not(HasSubstr("\033")));
  EXPECT_THAT(run({"show", "nowhere", "--color", "always"}).errors, HasSubstr("\033[1;31mkerf: error:\033[0m "));
  EXPECT_EQ(run({"show", "nowhere", "--color", "purple"}).status, 2);
  const auto other = smallRepro("        relu = torch.ops.aten.neg.default(arg0_1)\n        return (relu,)\n").string();
  const auto two = run({"diff", sample, other, "-y", "--color", "always"}).output;
  EXPECT_THAT(two, HasSubstr("\033[31m"));
  EXPECT_THAT(run({"diff", sample, other, "-y"}).output, Not(HasSubstr("\033")));
}

/// What kerf says to a terminal.
std::string onATerminal(const fs::path& kerf, const std::vector<std::string>& settings) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_EQ(grantpt(master), 0);
  EXPECT_EQ(unlockpt(master), 0);
  const int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  const pid_t pid = fork();
  if (pid == 0) {
    for (int file = 0; file < 3; ++file) dup2(slave, file);
    setenv("TERM", "xterm", 1);
    for (const auto& setting : settings) putenv(const_cast<char*>(setting.c_str()));
    execl(kerf.c_str(), "kerf", "show", "nowhere", nullptr);
    _exit(127);
  }
  close(slave);
  std::string text(4096, '\0');
  std::size_t size = 0;
  for (ssize_t count = 0; (count = read(master, text.data() + size, text.size() - size)) > 0;)
    size += std::size_t(count);
  close(master);
  waitpid(pid, nullptr, 0);
  return text.substr(0, size);
}

TEST_F(CliHostileTest, NoColorAndDumbTerminalsAreHeeded) {
  EXPECT_THAT(onATerminal(kerf, {"NO_COLOR="}), HasSubstr("\033[1;31mkerf: error:"));
  EXPECT_THAT(onATerminal(kerf, {"NO_COLOR=1"}), Not(HasSubstr("\033")));
  EXPECT_THAT(onATerminal(kerf, {"TERM=dumb"}), Not(HasSubstr("\033")));
}

TEST_F(CliHostileTest, WhatIsNoFileIsBadInput) {
  const auto fifo = (folder / "fifo").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto socketPath = folder / "socket";
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(socketPath.string().size(), sizeof address.sun_path);
  socketPath.string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const std::string& path : {fifo, socketPath.string(), std::string("/dev/null"), std::string("/dev/zero")}) {
    for (const auto* command : {"show", "import", "run", "compare", "passes", "verify", "minify"}) {
      const auto result = run({command, path}, test::patience);
      EXPECT_EQ(result.status, 2) << command << " " << path << ": " << result.errors;
      EXPECT_THAT(result.errors, HasSubstr("not a regular file")) << command << " " << path;
    }
    EXPECT_EQ(run({"import", "--follow", path}, test::patience).status, 2) << path;
    EXPECT_EQ(run({"run", sample, "--inputs", path}, test::patience).status, 2) << path;
  }
  close(listening);
}

}  // namespace
}  // namespace kerf::cli
