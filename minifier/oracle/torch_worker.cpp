// The warm PyTorch: a contained process, and a connection to its socket for each query.
#include "minifier/oracle/torch_worker.h"

#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <nlohmann/json.hpp>

#include "engine/process/owned_file.h"
#include "engine/process/wait.h"
#include "engine/support/atomic_file.h"
#include "engine/support/out_of_memory.h"
#include "engine/support/read_json.h"

namespace kerf::inline minifier::inline oracle {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr auto longestWarming = 10min;
constexpr auto wholeJob = 24h * 30;  ///< each query has a limit of its own
constexpr auto noteInterval = 2s;
constexpr auto pause = 50ms;  ///< how soon a stop is seen
constexpr int mostRestarts = 8;
constexpr int mostDeaths = 2;  ///< of workers over one query, until that is not asked again
constexpr std::string_view scriptName = "torch_worker.py", socketName = "socket";

std::unexpected<Error> stopped() { return fail(ErrorCode::Cancelled, "the query was stopped"); }

OwnedFile connectTo(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The address of a socket has room for 107 characters: one in a deep folder is reached by the folder's descriptor.
  const OwnedFile folder(::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const bool fits = path.native().size() < sizeof address.sun_path;
  const std::string text =
      fits ? path.native() : fmt::format("/proc/self/fd/{}/{}", folder.number(), path.filename().native());
  if (text.size() >= sizeof address.sun_path) return {};
  text.copy(address.sun_path, text.size());
  OwnedFile file(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(file.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  return file;
}

/// False when the other end is gone.
bool sendAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(std::size_t(count));
  }
  return true;
}

/// A line without its end; nothing when the other end is gone before that.
Result<std::optional<std::string>> receiveLine(int file, const std::stop_token& stop) {
  std::string line;
  std::array<char, 65536> buffer;
  for (;;) {
    if (stop.stop_requested()) return stopped();
    pollfd waiting{file, POLLIN, 0};
    if (::poll(&waiting, 1, int(pause / 1ms)) <= 0) continue;
    const auto count = ::recv(file, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    line.append(buffer.data(), std::size_t(count));
    if (line.back() != '\n') continue;
    line.pop_back();
    return line;
  }
}

std::string_view viewOf(const StoragePtr& storage) {
  return {reinterpret_cast<const char*>(storage->data()), std::size_t(storage->bytes())};
}

/// Where Python names what was raised.
std::string lastLine(const std::string& text) {
  const auto end = text.find_last_not_of(" \r\n");
  if (end == std::string::npos) return {};
  const auto before = text.find_last_of('\n', end);
  const auto begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end + 1 - begin);
}

/// By ContainedEnd, for those that say all themselves.
constexpr std::pair<ContainedEnd, std::string_view> endTexts[] = {
    {ContainedEnd::TimedOut, "it took too long"},
    {ContainedEnd::Cancelled, "it was stopped"},
    {ContainedEnd::Memory, "it went over the memory limit"},
    {ContainedEnd::Processes, "it went over the process limit"},
    {ContainedEnd::Output, "it went over the output limit"}};

std::string endText(const ContainedResult& ended) {
  for (const auto& [end, text] : endTexts)
    if (end == ended.end) return std::string(text);
  const auto line = lastLine(ended.errors.text());
  const auto how =
      ended.end == ContainedEnd::Signalled ? nameOfSignal(ended.status) : fmt::format("exit {}", ended.status);
  return line.empty() ? how : fmt::format("{}, {}", how, line);
}

/// The worker ends the largest query when all of them are over the limit; only what it cannot end is ended with it.
std::int64_t memoryOfQueries(const CandidateLimits& limits) {
  return limits.memoryBytes > 0 ? limits.memoryBytes : usualMemoryLimit();
}

CandidateLimits limitsOfWorker(CandidateLimits limits) {
  limits.memoryBytes = memoryOfQueries(limits) / 4 * 5;
  return limits;
}

}  // namespace

/// One process of a worker, from its start to its end.
struct TorchWorker::Life {
  explicit Life(TemporaryFolder place) : folder(std::move(place)) {}

  void start(const TorchWorkerOptions& options) {
    const auto path = [this](std::string_view name) { return (folder.path() / name).string(); };
    ContainedCommand command{
        .arguments = {options.python.string(), path(scriptName), path(socketName), std::to_string(options.jobs),
                      std::to_string(memoryOfQueries(options.limits)), options.onGpu ? "cuda" : "cpu",
                      options.tools.string(), fmt::format("{}", fmt::join(options.importFolders, ":"))},
        .folder = folder.path(),
        .timeout = wholeJob,
        .limits = limitsOfWorker(options.limits)};
    command.arguments.insert(command.arguments.end(), options.imports.begin(), options.imports.end());
    command.arguments.insert(command.arguments.begin() + 1, options.pythonArguments.begin(),
                             options.pythonArguments.end());
    runner = std::jthread([this, command = std::move(command)](const std::stop_token& stop) {
      auto result = withinMemory([&] { return runContained(command, stop); });
      const std::scoped_lock lock(mutex);
      ended = result ? endText(*result) : result.error().text();
    });
  }

  std::optional<std::string> end() {
    const std::scoped_lock lock(mutex);
    return ended;
  }

  TemporaryFolder folder;
  std::mutex mutex;  ///< of all below but the thread
  std::optional<std::string> ended;
  std::set<std::string> known;  ///< storages that it was sent
  std::jthread runner;          ///< last: stops before the folder goes
};

Result<std::shared_ptr<TorchWorker>> TorchWorker::start(TorchWorkerOptions options, const std::stop_token& stop) {
  std::shared_ptr<TorchWorker> worker(new TorchWorker(std::move(options)));
  KERF_TRY(worker->m_life, worker->begin(stop));
  worker->m_options.note = worker->m_options.warming = nullptr;  // whoever hears of this start may be gone at the next
  return worker;
}

TorchWorker::~TorchWorker() = default;

Result<std::shared_ptr<TorchWorker::Life>> TorchWorker::begin(const std::stop_token& stop) {
  KERF_TRY(auto folder, TemporaryFolder::create());
  for (const EmbeddedFile& file : torchWorkerFiles()) {
    const std::array pieces{std::as_bytes(std::span(file.text.data(), file.text.size()))};
    const std::filesystem::path target = folder.path() / file.path;
    std::error_code problem;
    std::filesystem::create_directories(target.parent_path(), problem);  // the write says what is wrong
    KERF_CHECK(writeFileAtomically(target, pieces));
  }
  auto life = std::make_shared<Life>(std::move(folder));
  life->start(m_options);
  KERF_CHECK(greet(*life, stop));
  return life;
}

/// Waits until the worker listens: then torch is imported. It warms up while the first query is under way.
Result<void> TorchWorker::greet(Life& life, const std::stop_token& stop) {
  const auto began = Clock::now();
  auto nextNote = began + noteInterval;
  OwnedFile file;
  for (; !file.isOpen(); file = connectTo(life.folder.path() / socketName)) {
    if (stop.stop_requested()) return stopped();
    const auto ended = life.end();
    const auto now = Clock::now();
    if (ended || now - began > longestWarming)
      return fail(ErrorCode::Environment, Hint{Advice::NamePython}, "{} cannot import torch ({})",
                  m_options.python.string(), ended.value_or("it took more than ten minutes"));
    if (m_options.warming && now >= nextNote) {
      m_options.warming(fmt::format("starting PyTorch: {} s", (now - began) / 1s));
      nextNote = now + noteInterval;
    }
    std::this_thread::sleep_for(pause);
  }
  if (!sendAll(file.number(), "{\"op\": \"hello\"}\n"))
    return fail(ErrorCode::Environment, "the torch worker does not listen");
  KERF_TRY(const auto line, receiveLine(file.number(), stop));
  const json said = readJson<json>(line.value_or(""));
  if (!said.is_object()) return fail(ErrorCode::Environment, "the torch worker did not answer its greeting");
  m_torch = said.value("torch", std::string("unknown"));
  if (!m_options.note) return {};
  m_options.note(fmt::format("PyTorch {} is imported after {:.1f} s", m_torch, said.value("import_seconds", 0.0)));
  for (const json& note : said.value("notes", json::array()))
    if (note.is_string()) m_options.note("PyTorch: " + note.get<std::string>());
  return {};
}

/// The present worker; another one where that is `dead`.
Result<std::shared_ptr<TorchWorker::Life>> TorchWorker::living(const std::shared_ptr<Life>& dead,
                                                               const std::stop_token& stop) {
  const std::scoped_lock lock(m_mutex);
  if (m_life && m_life != dead) return m_life;
  if (m_restarts >= mostRestarts) {
    const auto how = m_life ? m_life->end() : std::nullopt;
    return fail(ErrorCode::RuntimeFailed, "the torch worker ended again and again ({})", how.value_or("no reason"));
  }
  ++m_restarts;
  m_life.reset();
  KERF_TRY(m_life, begin(stop));
  return m_life;
}

Result<std::string> TorchWorker::ask(const std::string& query, const std::string& source,
                                     std::span<const NamedBytes> bytes, const std::stop_token& stop) {
  json head = readJson<json>(query);
  head["source_bytes"] = source.size();
  int deaths = 0;
  for (std::shared_ptr<Life> dead;;) {
    KERF_TRY(const std::shared_ptr<Life> life, living(dead, stop));
    dead = life;
    const OwnedFile file = connectTo(life->folder.path() / socketName);
    if (!file.isOpen()) continue;
    std::vector<const NamedBytes*> missing;
    {
      const std::scoped_lock lock(life->mutex);
      for (const NamedBytes& one : bytes)
        if (one.bytes && !life->known.contains(one.hash)) missing.push_back(&one);
    }
    json sent = json::array();
    for (const NamedBytes* one : missing) sent.push_back({one->hash, one->bytes->bytes()});
    head["sent"] = std::move(sent);
    bool arrived = sendAll(file.number(), head.dump() + "\n") && sendAll(file.number(), source);
    for (const NamedBytes* one : missing) arrived = arrived && sendAll(file.number(), viewOf(one->bytes));
    if (!arrived) continue;
    {
      // Queries are received in the order in which they connect: whoever connects from now on finds these there.
      const std::scoped_lock lock(life->mutex);
      for (const NamedBytes* one : missing) life->known.insert(one->hash);
    }
    KERF_TRY(auto line, receiveLine(file.number(), stop));
    if (line) return std::move(*line);
    if (++deaths == mostDeaths)
      return json{{"verdict", "untestable"}, {"message", "the torch worker ended while it judged this"}}.dump();
  }
}

}  // namespace kerf::inline minifier::inline oracle
