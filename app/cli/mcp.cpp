// kerf mcp: a door for agents, over standard input and output.
#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <thread>

#include "app/cli/commands.h"
#include "app/cli/interrupts.h"
#include "app/cli/mcp_server.h"
#include "engine/process/temporary_folder.h"
#include "engine/support/read_json.h"

namespace kerf::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longestLine = 16 << 20;
constexpr int deepestRequest = 64;

Json parsed(const std::string& line) {
  if (line.size() > longestLine) return Json(Json::value_t::discarded);
  return readJson<Json>(line, deepestRequest);
}

/// Lines of standard input, read beside the tool that runs, so that a cancellation reaches it.
class McpInput {
 public:
  McpInput() : m_reader([this](const std::stop_token&) { read(); }) {}
  ~McpInput() { m_reader.detach(); }

  /// The next request; none at the end. `stop`: of its tool.
  std::optional<Json> next(std::stop_source& stop) {
    std::unique_lock lock(m_mutex);
    m_filled.wait(lock, [&] { return !m_messages.empty() || m_ended; });
    if (m_messages.empty()) return std::nullopt;
    Json message = std::move(m_messages.front());
    m_messages.pop_front();
    m_stop = stop;
    m_running = message.is_object() ? message.value("id", Json()) : Json();
    return message;
  }

 private:
  void read() {
    std::string line;
    while (std::getline(std::cin, line)) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      Json message = parsed(line);
      const std::scoped_lock lock(m_mutex);
      if (!cancelled(message)) m_messages.push_back(std::move(message));
      m_filled.notify_one();
    }
    const std::scoped_lock lock(m_mutex);
    m_ended = true;
    m_filled.notify_one();
  }

  /// Ends the tool that a client wants no more, also one that still waits.
  bool cancelled(const Json& message) {
    if (!message.is_object() || message.value("method", Json()) != "notifications/cancelled") return false;
    const Json params = message.value("params", Json::object());
    const Json id = params.is_object() ? params.value("requestId", Json()) : Json();
    if (id.is_null()) return true;
    if (id == m_running) m_stop.request_stop();
    std::erase_if(m_messages,
                  [&](const Json& waiting) { return waiting.is_object() && waiting.value("id", Json()) == id; });
    return true;
  }

  std::mutex m_mutex;
  std::condition_variable m_filled;
  std::deque<Json> m_messages;
  std::stop_source m_stop;
  Json m_running;
  bool m_ended = false;
  std::jthread m_reader;
};

void printLine(const Json& answer) { printJsonLine(answer); }

Result<int> runMcp(const Context& context, const CLI::App& root, McpOptions options) {
  KERF_TRY(const auto folder, TemporaryFolder::create());
  options.store = context.storePath;
  options.scratch = (folder.path() / "kerf.db").string();
  std::error_code ignored;
  options.roots.push_back(fs::current_path(ignored));
  for (auto& path : options.captures) {
    const auto full = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
    options.roots.push_back(fs::is_directory(full, ignored) ? full : full.parent_path());
  }
  for (auto& path : options.roots) path = fs::weakly_canonical(path, ignored);
  McpServer server(root, std::move(options));
  static McpInput* input = new McpInput();  // its thread may wait for a line until the process ends
  for (std::stop_source stop; auto message = input->next(stop); stop = std::stop_source()) {
    const std::stop_callback interrupted(interruptToken(), [&] { stop.request_stop(); });
    const Json answer = message->is_discarded() ? McpServer::parseError() : server.answer(*message, stop.get_token());
    const bool isUnwanted =
        stop.stop_requested() && !interruptToken().stop_requested();  // no answer to what was cancelled
    if (!answer.is_null() && !isUnwanted) printLine(answer);
    if (interruptToken().stop_requested()) break;
  }
  return 0;
}

}  // namespace

void addMcp(CommandLine& line) {
  auto& command = line.add("mcp", "Serve Kerf to agents by the Model Context Protocol, over standard input and output",
                           "  kerf mcp\n"
                           "  kerf mcp traces/ repro.py\n"
                           "  kerf mcp --write -- traces/");
  command.footer(
      command.get_footer() +
      "\n\nTools are commands of kerf that read and judge; --write adds those that write. They open files below the"
      "\ncurrent folder and beside the captures that are named here, and start no other programs. What runs leave "
      "behind"
      "\ngoes to a store that ends with the server, unless a tool is asked about ids of the user's store.");
  auto options = std::make_shared<McpOptions>();
  command.add_option("CAPTURES", options->captures, "Captures and folders that are resources, and may be opened");
  command.add_flag("--write", options->mayWrite,
                   "Offer tools that change the store or write files: import, minify, export, share, check …");
  command.add_option("--max-bytes", options->mostBytes, "Most bytes of data in one answer")
      ->check(CLI::Range(1000, 10'000'000))
      ->capture_default_str();
  line.onRun(command, [&line, options](Context& context) { return runMcp(context, line.root(), *options); });
}

}  // namespace kerf::cli
