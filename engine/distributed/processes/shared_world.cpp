#include "engine/distributed/processes/shared_world.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include <sys/mman.h>

#include "engine/distributed/processes/letter.h"
#include "engine/distributed/processes/shared_ring.h"
#include "engine/support/running_time.h"

namespace kerf::inline distributed::inline processes {
namespace {

/// What a rank tells all others, without letters. Zeroes: nothing yet.
struct RankBoard {
  static constexpr std::size_t textBytes = 248;
  std::atomic<std::uint32_t> ended;    ///< 0: it runs; 1: the reason is being written; 2: it has ended
  std::atomic<std::uint32_t> changes;  ///< of `last`; odd while it is written
  std::array<char, textBytes> reason;
  std::array<char, textBytes> last;
};

void writeBoardText(std::array<char, RankBoard::textBytes>& to, std::string_view text) {
  const std::size_t size = std::min(text.size(), to.size() - 1);
  std::memcpy(to.data(), text.data(), size);
  to[size] = '\0';
}

/// The other rank may have written anything.
std::string readBoardText(const std::array<char, RankBoard::textBytes>& from) {
  std::string text(from.data(), ::strnlen(from.data(), from.size()));
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return text;
}

/// The memory of a world: a board for each rank, and a ring from each rank to each other one.
class SharedMemory {
 public:
  SharedMemory(char* start, std::size_t bytes, int ranks, std::size_t ringBytes)
      : m_start(start), m_bytes(bytes), m_ranks(ranks), m_ringBytes(ringBytes) {}
  ~SharedMemory() { ::munmap(m_start, m_bytes); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  static std::size_t bytesFor(int ranks, std::size_t ringBytes) {
    return std::size_t(ranks) * sizeof(RankBoard) + 64 + std::size_t(ranks) * std::size_t(ranks) * strideOf(ringBytes);
  }
  int ranks() const { return m_ranks; }
  RankBoard& board(int rank) const { return reinterpret_cast<RankBoard*>(m_start)[rank]; }
  SharedRing ring(int from, int to) const {
    const std::size_t boards = (std::size_t(m_ranks) * sizeof(RankBoard) + 63) / 64 * 64;
    char* at = m_start + boards + (std::size_t(from) * std::size_t(m_ranks) + std::size_t(to)) * strideOf(m_ringBytes);
    return {reinterpret_cast<RingHead*>(at), at + sizeof(RingHead), m_ringBytes};
  }

 private:
  static std::size_t strideOf(std::size_t ringBytes) { return sizeof(RingHead) + (ringBytes + 63) / 64 * 64; }

  char* m_start;
  std::size_t m_bytes;
  int m_ranks;
  std::size_t m_ringBytes;
};

constexpr std::uint64_t mostLetterBytes = std::uint64_t{8} << 30;

/// Letters on their way to one rank, and from it.
struct Peer {
  SharedRing out, in;
  std::deque<std::vector<char>> leaving;  ///< with their lengths before them
  std::size_t gone = 0;                   ///< bytes of the first one
  std::vector<char> arrived;              ///< of a letter that is not whole yet
  std::deque<RankLetter> letters;
};

std::string keyOfGroup(const Group& group) { return fmt::format("{}:{}", group.name, fmt::join(group.ranks, ",")); }

class SharedMember : public SharedRank {
 public:
  SharedMember(const SharedMemory& memory, int rank, std::chrono::milliseconds timeout)
      : m_memory(memory), m_rank(rank), m_timeout(timeout), m_peers(std::size_t(memory.ranks())) {
    for (int other = 0; other < memory.ranks(); ++other) {
      m_peers[std::size_t(other)].out = memory.ring(rank, other);
      m_peers[std::size_t(other)].in = memory.ring(other, rank);
    }
  }
  ~SharedMember() override { flush(); }
  SharedMember(const SharedMember&) = delete;
  SharedMember& operator=(const SharedMember&) = delete;

  int rank() const override { return m_rank; }
  int worldSize() const override { return m_memory.ranks(); }
  std::chrono::milliseconds timeout() const override { return m_timeout; }
  void setTimeout(std::chrono::milliseconds timeout) override { m_timeout = timeout; }

  Result<std::vector<Tensor>> gather(const Group& group, const CollectiveCall& call, const Tensor& mine) override {
    KERF_CHECK(checkGroup(group));
    KERF_TRY(const Tensor own, mine.contiguous());
    const std::string key = "c " + keyOfGroup(group);
    const std::int64_t number = m_numbers[key]++;
    const std::string what = fmt::format("{} (number {} of group '{}')", call.text(), number, group.name);
    note(what);
    for (const int other : group.ranks)
      if (other != m_rank) post(other, {number, key, call.text(), own});
    std::vector<std::optional<RankLetter>> letters(group.ranks.size());
    letters[std::size_t(group.indexOf(m_rank))] = RankLetter{number, key, call.text(), own};
    KERF_CHECK(await(what, [&](std::vector<int>& missing) {
      for (std::size_t i = 0; i < letters.size(); ++i) {
        if (!letters[i]) letters[i] = taken(group.ranks[i], key, number);
        if (!letters[i]) missing.push_back(group.ranks[i]);
      }
    }));
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (letters[i]->text != letters[0]->text)
        return fail(ErrorCode::BadInput, "collective {} of group '{}' differs: rank {} calls {}, rank {} calls {}",
                    number, group.name, group.ranks[0], letters[0]->text, group.ranks[i], letters[i]->text);
      tensors.push_back(std::move(letters[i]->tensor));
    }
    KERF_TRY(tensors[std::size_t(group.indexOf(m_rank))], own.clone());
    flush();
    return tensors;
  }

  Result<void> send(const Group& group, int to, int tag, const Tensor& tensor) override {
    KERF_CHECK(checkMember(group, to));
    KERF_TRY(const Tensor own, tensor.contiguous());
    const int other = group.ranks[std::size_t(to)];
    note(fmt::format("send to rank {} (tag {})", other, tag));
    RankLetter letter{tag, "m " + keyOfGroup(group), "send", own};
    if (other == m_rank) {
      KERF_TRY(letter.tensor, own.clone());
      m_peers[std::size_t(other)].letters.push_back(std::move(letter));
      return {};
    }
    post(other, letter);
    return progress();
  }

  Result<Tensor> receive(const Group& group, int from, int tag) override {
    KERF_CHECK(checkMember(group, from));
    const int other = group.ranks[std::size_t(from)];
    const std::string what = fmt::format("recv from rank {} (tag {})", other, tag);
    note(what);
    std::optional<RankLetter> letter;
    KERF_CHECK(await(what, [&](std::vector<int>& missing) {
      letter = taken(other, "m " + keyOfGroup(group), tag);
      if (!letter) missing.push_back(other);
    }));
    return std::move(letter->tensor);
  }

  Result<std::optional<Tensor>> receiveArrived(const Group& group, int from, int tag) override {
    KERF_CHECK(checkMember(group, from));
    const int other = group.ranks[std::size_t(from)];
    const std::vector<bool> ended = endedRanks();
    KERF_CHECK(progress());
    if (std::optional<RankLetter> letter = taken(other, "m " + keyOfGroup(group), tag))
      return std::optional<Tensor>(std::move(letter->tensor));
    if (ended[std::size_t(other)]) return missingError(fmt::format("recv from rank {} (tag {})", other, tag), {other});
    return std::optional<Tensor>();
  }

  Result<std::pair<int, Tensor>> receiveAny(const Group& group, int tag) override {
    KERF_CHECK(checkGroup(group));
    const std::string what = fmt::format("recv from any rank (tag {})", tag), key = "m " + keyOfGroup(group);
    note(what);
    std::optional<RankLetter> letter;
    int from = -1;
    KERF_CHECK(await(what, [&](std::vector<int>& missing) {
      for (int i = 0; i < group.size() && !letter; ++i)
        if (group.ranks[std::size_t(i)] != m_rank && (letter = taken(group.ranks[std::size_t(i)], key, tag))) from = i;
      if (letter) return;
      std::ranges::copy_if(group.ranks, std::back_inserter(missing),
                           [&](int one) { return one != m_rank && !hasEnded(one); });
      if (missing.empty())  // all have ended
        std::ranges::copy_if(group.ranks, std::back_inserter(missing), [&](int one) { return one != m_rank; });
    }));
    return std::pair(from, std::move(letter->tensor));
  }

 private:
  Result<void> checkGroup(const Group& group) const {
    if (group.indexOf(m_rank) < 0)
      return fail(ErrorCode::BadInput, "rank {} is no member of group '{}'", m_rank, group.name);
    for (int i = 0; i < group.size(); ++i) KERF_CHECK(checkMember(group, i));
    return {};
  }
  Result<void> checkMember(const Group& group, int index) const {
    if (index < 0 || index >= group.size())
      return fail(ErrorCode::BadInput, "group '{}' has no rank {}", group.name, index);
    const int other = group.ranks[std::size_t(index)];
    if (other < 0 || other >= worldSize())
      return fail(ErrorCode::BadInput, "group '{}' names rank {} of a world of {}", group.name, other, worldSize());
    return {};
  }

  /// What the others are told this rank called last.
  void note(const std::string& what) {
    RankBoard& board = m_memory.board(m_rank);
    ++board.changes;
    writeBoardText(board.last, what);
    ++board.changes;
  }

  void post(int to, const RankLetter& letter) {
    const std::vector<char> bytes = packedLetter(letter);
    const std::uint64_t size = bytes.size();
    std::vector<char> framed(sizeof size + bytes.size());
    std::memcpy(framed.data(), &size, sizeof size);
    std::ranges::copy(bytes, framed.begin() + sizeof size);
    m_peers[std::size_t(to)].leaving.push_back(std::move(framed));
  }

  /// Moves what can be moved. RuntimeFailed where a rank sent what is no letter.
  Result<void> progress() {
    m_moved = false;
    for (int other = 0; other < worldSize(); ++other) {
      if (other == m_rank) continue;
      Peer& peer = m_peers[std::size_t(other)];
      leave(peer);
      KERF_CHECK(arrive(peer, other));
    }
    return {};
  }

  void leave(Peer& peer) {
    while (!peer.leaving.empty()) {
      const std::vector<char>& first = peer.leaving.front();
      const std::size_t count = peer.out.put(std::span<const char>(first).subspan(peer.gone));
      if (count == 0) return;
      m_moved = true;
      peer.gone += count;
      if (peer.gone < first.size()) continue;
      peer.leaving.pop_front();
      peer.gone = 0;
    }
  }

  Result<void> arrive(Peer& peer, int from) {
    const std::size_t before = peer.arrived.size();
    if (!peer.in.takeAll(peer.arrived)) return damaged(from);
    if (peer.arrived.size() == before) return {};
    m_moved = true;
    std::size_t at = 0;
    for (std::uint64_t size = 0; peer.arrived.size() - at >= sizeof size;) {
      std::memcpy(&size, peer.arrived.data() + at, sizeof size);
      if (size > mostLetterBytes) return damaged(from);
      if (peer.arrived.size() - at - sizeof size < size) break;
      const std::span<const char> bytes(peer.arrived.data() + at + sizeof size, std::size_t(size));
      KERF_TRY(RankLetter letter, unpackedLetter(bytes));
      peer.letters.push_back(std::move(letter));
      at += sizeof size + std::size_t(size);
    }
    peer.arrived.erase(peer.arrived.begin(), peer.arrived.begin() + std::ptrdiff_t(at));
    return {};
  }

  std::unexpected<Error> damaged(int from) const {
    return fail(ErrorCode::RuntimeFailed, "rank {} got from rank {} what is no message", m_rank, from);
  }

  std::optional<RankLetter> taken(int from, const std::string& key, std::int64_t number) {
    auto& letters = m_peers[std::size_t(from)].letters;
    const auto found = std::ranges::find_if(
        letters, [&](const RankLetter& letter) { return letter.number == number && letter.group == key; });
    if (found == letters.end()) return std::nullopt;
    RankLetter letter = std::move(*found);
    letters.erase(found);
    return letter;
  }

  bool hasEnded(int rank) const { return m_memory.board(rank).ended.load(std::memory_order_acquire) == 2; }

  /// Asks `look` for the ranks that are missing until there are none.
  template <class Look>
  Result<void> await(const std::string& what, const Look& look) {
    RunningTime time;
    for (int idle = 0;;) {
      const std::vector<bool> ended = endedRanks();  // before looking: what they said until then is there
      KERF_CHECK(progress());
      std::vector<int> missing;
      look(missing);
      if (missing.empty()) return {};
      const bool isVain = std::ranges::any_of(missing, [&](int rank) { return bool(ended[std::size_t(rank)]); });
      if (isVain || time.elapsed() > m_timeout) return missingError(what, missing);
      idle = m_moved ? 0 : idle + 1;
      rest(idle);
    }
  }

  std::vector<bool> endedRanks() const {
    std::vector<bool> ended;
    for (int rank = 0; rank < worldSize(); ++rank) ended.push_back(hasEnded(rank));
    return ended;
  }

  /// The longer nothing has come, the longer: at first the others are at the same place, later they compute.
  static void rest(int idle) {
    if (idle < 64) return std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(1000, 20 + idle)));
  }

  std::unexpected<Error> missingError(const std::string& what, const std::vector<int>& missing) const {
    std::string told;
    for (const int other : missing) {
      const RankBoard& board = m_memory.board(other);
      const std::string last = lastOfBoard(board), reason = readBoardText(board.reason);
      const std::string state = !hasEnded(other) ? "is elsewhere" : reason.empty() ? "has ended" : reason;
      told += fmt::format("; rank {} {}, last called {}", other, state, last.empty() ? "nothing" : last);
    }
    return fail(ErrorCode::RuntimeFailed, "rank {} waited in {} for rank{} {}{}", m_rank, what,
                missing.size() == 1 ? "" : "s", fmt::join(missing, ", "), told);
  }

  static std::string lastOfBoard(const RankBoard& board) {
    std::string text;
    for (int attempt = 0; attempt < 100; ++attempt) {
      const std::uint32_t before = board.changes.load();
      text = readBoardText(board.last);
      if (before % 2 == 0 && board.changes.load() == before) return text;
    }
    return text;
  }

  /// Waits until what was sent has gone to those that still run; what comes meanwhile is kept.
  void flush() {
    RunningTime time;
    for (int idle = 0; time.elapsed() < m_timeout;) {
      const std::vector<bool> ended = endedRanks();
      if (!progress()) return;
      bool isLeft = false;
      for (std::size_t i = 0; i < m_peers.size(); ++i) isLeft = isLeft || (!m_peers[i].leaving.empty() && !ended[i]);
      if (!isLeft) return;
      idle = m_moved ? 0 : idle + 1;
      rest(idle);
    }
  }

  const SharedMemory& m_memory;
  int m_rank;
  std::chrono::milliseconds m_timeout;
  std::vector<Peer> m_peers;
  std::map<std::string, std::int64_t> m_numbers;  ///< collectives of each group so far
  bool m_moved = false;                           ///< by the last progress()
};

class MappedWorld : public SharedWorld {
 public:
  MappedWorld(char* start, std::size_t bytes, int ranks, std::size_t ringBytes, std::chrono::milliseconds timeout)
      : m_memory(start, bytes, ranks, ringBytes), m_timeout(timeout) {}

  int ranks() const override { return m_memory.ranks(); }
  std::unique_ptr<SharedRank> join(int rank) override {
    return std::make_unique<SharedMember>(m_memory, rank, m_timeout);
  }
  void end(int rank, std::string_view reason) override {
    RankBoard& board = m_memory.board(rank);
    std::uint32_t running = 0;
    if (!board.ended.compare_exchange_strong(running, 1)) return;
    writeBoardText(board.reason, reason);
    board.ended.store(2, std::memory_order_release);
  }

 private:
  SharedMemory m_memory;
  std::chrono::milliseconds m_timeout;
};

}  // namespace

Result<std::shared_ptr<SharedWorld>> SharedWorld::make(int ranks, const SharedWorldOptions& options) {
  if (ranks < 1 || ranks > mostSharedRanks)
    return fail(ErrorCode::BadUsage, "a world has 1 to {} ranks, not {}", mostSharedRanks, ranks);
  constexpr std::size_t all = std::size_t{64} << 20, least = std::size_t{64} << 10, most = std::size_t{4} << 20;
  const std::size_t ringBytes =
      options.ringBytes > 0 ? options.ringBytes : std::clamp(all / std::size_t(ranks * ranks), least, most);
  const std::size_t bytes = SharedMemory::bytesFor(ranks, ringBytes);
  void* const start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED)
    return fail(ErrorCode::Environment, "no memory of {} bytes for {} ranks: {}", bytes, ranks, std::strerror(errno));
  return std::make_shared<MappedWorld>(static_cast<char*>(start), bytes, ranks, ringBytes, options.timeout);
}

}  // namespace kerf::inline distributed::inline processes
