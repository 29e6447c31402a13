#include "engine/distributed/mpi/mpi_communicator.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "engine/distributed/group/in_process.h"
#include "engine/distributed/mpi/mpi_transport.h"

namespace kerf::inline distributed::inline mpi {
namespace {

using Clock = std::chrono::steady_clock;

/// What goes from rank to rank: the run that it belongs to, its tag, what was called, a tensor.
struct Letter {
  std::int64_t run = 0, tag = 0;
  std::string text;
  Tensor tensor;
};

/// As bytes: run, tag, dtype, dimensions, sizes, length of the text, text, elements.
std::vector<char> packed(const Letter& letter) {
  const auto& [run, tag, text, tensor] = letter;
  std::vector<std::int64_t> head{run, tag, std::int64_t(tensor.dtype()), tensor.dim()};
  for (const std::int64_t size : tensor.sizes()) head.push_back(size);
  head.push_back(std::int64_t(text.size()));
  const std::size_t headBytes = head.size() * sizeof(std::int64_t), bytes = std::size_t(tensor.byteSize());
  std::vector<char> result(headBytes + text.size() + bytes);
  std::memcpy(result.data(), head.data(), headBytes);
  std::memcpy(result.data() + headBytes, text.data(), text.size());
  const std::int64_t start = tensor.offset() * itemSize(tensor.dtype());  // contiguous, but maybe within its storage
  if (bytes > 0) std::memcpy(result.data() + headBytes + text.size(), tensor.storage()->data() + start, bytes);
  return result;
}

Result<Letter> unpacked(const std::vector<char>& bytes) {
  const auto broken = [] { return fail(ErrorCode::RuntimeFailed, "a message between ranks is damaged"); };
  std::size_t at = 0;
  const auto next = [&]() -> std::optional<std::int64_t> {
    if (bytes.size() - at < sizeof(std::int64_t)) return std::nullopt;
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  };
  const auto run = next(), tag = next(), dtype = next(), dims = next();
  if (!run || !tag || !dtype || !dims || *dims < 0 || *dims > 64) return broken();
  Sizes sizes;
  for (std::int64_t d = 0; d < *dims; ++d) {
    const auto size = next();
    if (!size || *size < 0) return broken();
    sizes.push_back(*size);
  }
  const auto length = next();
  if (!length || *length < 0 || std::size_t(*length) > bytes.size() - at) return broken();
  Letter result{*run, *tag, std::string(bytes.data() + at, std::size_t(*length)), {}};
  at += std::size_t(*length);
  KERF_TRY(result.tensor, Tensor::zeros(DType(*dtype), sizes));
  if (bytes.size() - at != std::size_t(result.tensor.byteSize())) return broken();
  if (at < bytes.size()) std::memcpy(result.tensor.data<char>(), bytes.data() + at, bytes.size() - at);
  return result;
}

/// Bytes on their way, and the request that says when they have gone.
struct SentBytes {
  const KerfMpiTransport& transport;
  std::vector<char> bytes;
  void* request = nullptr;

  bool hasGone() { return transport.sent(request) != 0; }
};

/// What a rank came to, as the text of a letter: empty, or a code and a message.
std::string endText(const Result<void>& came) {
  return came ? std::string() : fmt::format("{} {}", int(came.error().code), came.error().text());
}

Result<void> endOf(const std::string& text) {
  if (text.empty()) return {};
  int code = int(ErrorCode::RuntimeFailed);
  std::from_chars(text.data(), text.data() + text.size(), code);
  if (code < 0 || code > int(lastOf(ErrorCode()))) code = int(ErrorCode::RuntimeFailed);
  const std::size_t space = text.find(' ');
  return fail(Error(ErrorCode(code), space == std::string::npos ? text : text.substr(space + 1)));
}

class MpiCommunicator : public MpiWorld {
 public:
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  MpiCommunicator(const KerfMpiTransport& transport, std::chrono::milliseconds timeout)
      : m_transport(transport),
        m_timeout(timeout),
        m_rank(transport.rank()),
        m_size(transport.size()),
        m_ends(std::size_t(m_size)) {}
  ~MpiCommunicator() override { drain(m_timeout); }
  int rank() const override { return m_rank; }
  int worldSize() const override { return m_size; }

  Result<std::vector<Tensor>> gather(const Group& group, const CollectiveCall& call, const Tensor& mine) override {
    if (group.indexOf(m_rank) < 0)
      return fail(ErrorCode::BadInput, "rank {} is no member of group '{}'", m_rank, group.name);
    KERF_TRY(const Tensor own, mine.contiguous());
    const std::int64_t number = m_numbers[group.name]++;
    const std::string what = fmt::format("{} (number {} of group '{}')", call.text(), number, group.name);
    for (const int other : group.ranks)
      if (other != m_rank) KERF_CHECK(start(other, {m_run, tagOf(number), call.text(), own}));
    std::vector<Tensor> result;
    for (const int other : group.ranks) {
      if (other == m_rank) {
        KERF_TRY(Tensor copy, own.clone());
        result.push_back(std::move(copy));
        continue;
      }
      KERF_TRY(Letter theirs, await(other, tagOf(number), what));
      if (theirs.text != call.text()) return differing(group, number, {m_rank, call.text()}, {other, theirs.text});
      result.push_back(std::move(theirs.tensor));
    }
    drain(m_timeout);
    return result;
  }

  Result<void> send(const Group& group, int to, int tag, const Tensor& tensor) override {
    if (to < 0 || to >= group.size()) return fail(ErrorCode::BadInput, "group '{}' has no rank {}", group.name, to);
    KERF_TRY(const Tensor own, tensor.contiguous());
    return start(group.ranks[std::size_t(to)], {m_run, messageTag(tag), "send", own});
  }

  Result<Tensor> receive(const Group& group, int from, int tag) override {
    if (from < 0 || from >= group.size())
      return fail(ErrorCode::BadInput, "group '{}' has no rank {}", group.name, from);
    const int source = group.ranks[std::size_t(from)];
    KERF_TRY(Letter theirs, await(source, messageTag(tag), fmt::format("recv from rank {} (tag {})", source, tag)));
    return std::move(theirs.tensor);
  }

  std::vector<Result<void>> run(const RankBody& body) override {
    beginRun();
    std::vector<Result<void>> results{std::size_t(m_size)};
    Result<void>& own = results[std::size_t(m_rank)];
    own = guardedRank(body, *this);
    dropLeft();
    for (int other = 0; other < m_size; ++other)
      if (const auto told = tellEnd(other, own); !told && own) own = told;
    awaitEnds(results);
    const bool good = std::ranges::all_of(results, &Result<void>::has_value);
    drain(good ? m_timeout : underWay);  // of a run that failed nobody may want the rest
    beginRun();
    return results;
  }

 private:
  // Below 32768 every MPI has tags; collectives take the lower half.
  static constexpr int endTag = 32767;
  static constexpr std::chrono::milliseconds underWay{100};  ///< what a rank sent before its end may come after that
  static int tagOf(std::int64_t number) { return int(number % 16384); }
  static int messageTag(int tag) { return 16384 + tag % 16383; }

  struct Called {
    int rank;
    std::string what;
  };
  /// The same words on both ranks.
  static std::unexpected<Error> differing(const Group& group, std::int64_t number, Called a, Called b) {
    if (group.indexOf(b.rank) < group.indexOf(a.rank)) std::swap(a, b);
    return fail(ErrorCode::BadInput, "collective {} of group '{}' differs: rank {} calls {}, rank {} calls {}", number,
                group.name, a.rank, a.what, b.rank, b.what);
  }

  void beginRun() {
    ++m_run;
    m_numbers.clear();
    m_ends.assign(std::size_t(m_size), std::nullopt);
  }

  Result<void> start(int to, const Letter& letter) {
    std::erase_if(m_sent, [](const std::unique_ptr<SentBytes>& sent) { return sent->hasGone(); });
    auto sent = std::make_unique<SentBytes>(m_transport, packed(letter));
    if (m_transport.send(to, int(letter.tag), sent->bytes.data(), std::int64_t(sent->bytes.size()), &sent->request) !=
        0)
      return fail(ErrorCode::RuntimeFailed, "MPI does not send {} bytes to rank {}", sent->bytes.size(), to);
    m_sent.push_back(std::move(sent));
    return {};
  }

  /// Waits until what was sent has gone: the bytes must not go before.
  void drain(std::chrono::milliseconds limit) {
    const auto end = Clock::now() + limit;
    while (Clock::now() < end) {
      std::erase_if(m_sent, [](const std::unique_ptr<SentBytes>& sent) { return sent->hasGone(); });
      if (m_sent.empty()) return;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    for (auto& left : m_sent) left.release();  // still on their way at the end
    m_sent.clear();
  }

  /// A letter of this run that has come. What is left of one that failed is dropped.
  Result<std::optional<Letter>> poll(int from, int tag) const {
    for (void* message = nullptr;;) {
      const std::int64_t size = m_transport.poll(from, tag, &message);
      if (size < 0) return std::nullopt;
      std::vector<char> bytes(static_cast<std::size_t>(size));
      if (m_transport.take(message, bytes.data(), size) != 0)
        return fail(ErrorCode::RuntimeFailed, "MPI does not give what came from rank {}", from);
      KERF_TRY(Letter letter, unpacked(bytes));
      if (letter.run == m_run) return letter;
    }
  }

  /// Whether that rank has come to the end of this run.
  Result<bool> hasEnded(int from) {
    auto& end = m_ends[std::size_t(from)];
    if (end) return true;
    KERF_TRY(const auto letter, poll(from, endTag));
    if (letter) end = letter->text;
    return letter.has_value();
  }

  Result<Letter> await(int from, int tag, const std::string& what) {
    auto end = Clock::now() + m_timeout;
    for (bool isAlone = false;;) {
      KERF_TRY(auto letter, poll(from, tag));
      if (letter) return std::move(*letter);
      KERF_TRY(const bool ended, hasEnded(from));
      if (ended && !std::exchange(isAlone, true)) end = std::min(end, Clock::now() + underWay);
      if (Clock::now() > end) return missing(from, what);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  std::unexpected<Error> missing(int from, const std::string& what) const {
    const auto& end = m_ends[std::size_t(from)];
    std::string told;
    if (const auto came = endOf(end.value_or("")); end)
      told = fmt::format("; rank {} {}", from, came ? "has ended" : "failed (" + came.error().message + ")");
    return fail(ErrorCode::RuntimeFailed, "rank {} waited in {} for rank {}{}", m_rank, what, from, told);
  }

  Result<void> tellEnd(int to, const Result<void>& own) {
    if (to == m_rank) return {};
    KERF_TRY(const Tensor nothing, Tensor::zeros(DType::UInt8, {0}));
    return start(to, {m_run, endTag, endText(own), nothing});
  }

  /// Takes what is left of ranks that ended before this one did: they wait for its end, and are in no later run.
  void dropLeft() const {
    for (int from = 0; from < m_size; ++from)
      for (bool isMore = m_ends[std::size_t(from)].has_value(); isMore;) {
        const auto letter = poll(from, anyTag);
        isMore = letter && *letter;
      }
  }

  /// What that rank came to, where it has ended. What else has come of it is wanted no more, and is taken so that it does
  /// not hold up the rank that sent it.
  std::optional<Result<void>> endSoFar(int from) {
    auto& end = m_ends[std::size_t(from)];
    while (!end) {
      auto letter = poll(from, anyTag);
      if (!letter) return std::unexpected(std::move(letter.error()));
      if (!*letter) return std::nullopt;
      if ((*letter)->tag == endTag) end = std::move((*letter)->text);
    }
    return endOf(*end);
  }

  /// As long as it takes: a rank that dies ends them all. All are asked in turn, since any of them may have sent something
  /// that it waits to see taken.
  void awaitEnds(std::vector<Result<void>>& results) {
    std::vector<int> going;
    for (int other = 0; other < m_size; ++other)
      if (other != m_rank) going.push_back(other);
    while (!going.empty()) {
      const std::size_t ended = std::erase_if(going, [&](int from) {
        auto end = endSoFar(from);
        if (end) results[std::size_t(from)] = std::move(*end);
        return end.has_value();
      });
      if (ended == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  const KerfMpiTransport& m_transport;
  std::chrono::milliseconds m_timeout;
  int m_rank = 0, m_size = 1;
  std::int64_t m_run = 0;                          ///< the same in all processes
  std::vector<std::optional<std::string>> m_ends;  ///< by rank: what those came to that are at the end of this run
  std::map<std::string, std::int64_t> m_numbers;   ///< collectives of each group so far in this run
  std::vector<std::unique_ptr<SentBytes>> m_sent;
};

/// Stays open for as long as the process lives: MPI ends with it.
Result<const KerfMpiTransport*> openTransport(const std::vector<std::filesystem::path>& folders) {
  constexpr const char* file = "kerf_mpi.so";
  std::string why = "kerf_mpi.so was not built";
  for (const auto& folder : folders) {
    std::error_code ignored;
    const std::filesystem::path path = folder / file;
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
      why = dlerror();
      continue;
    }
    const auto entry = reinterpret_cast<KerfMpiEntry>(dlsym(library, "kerfMpiTransport"));
    const KerfMpiTransport* transport = entry != nullptr ? entry() : nullptr;
    if (transport != nullptr && transport->version == kerfMpiVersion) return transport;
    why = path.string() + " is of another version of Kerf";
  }
  return fail(ErrorCode::Environment, "there is no MPI here: {}", why);
}

}  // namespace

std::unique_ptr<MpiWorld> mpiWorldOver(const KerfMpiTransport& transport, std::chrono::milliseconds timeout) {
  return std::make_unique<MpiCommunicator>(transport, timeout);
}

int startedByMpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* value = std::getenv(name)) return std::max(1, std::atoi(value));
  return 1;
}

int placeOnThisMachine() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"})
    if (const char* value = std::getenv(name)) return std::max(0, std::atoi(value));
  return 0;
}

Result<std::unique_ptr<MpiWorld>> openMpiWorld(const std::vector<std::filesystem::path>& folders,
                                               std::chrono::milliseconds timeout) {
  KERF_TRY(const KerfMpiTransport* const transport, openTransport(folders));
  if (transport->start() != 0) return fail(ErrorCode::Environment, "MPI does not start");
  return mpiWorldOver(*transport, timeout);
}

}  // namespace kerf::inline distributed::inline mpi
