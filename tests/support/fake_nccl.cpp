// A libnccl for ranks that are threads of one process, over the host's memory: the functions that Kerf calls, with the
// types of NCCL's documentation. Calls return before they are done, as those of a communicator that does not block.
#include "tests/support/fake_nccl.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using kerf::testing_support::FakeStream;

enum Status { success = 0, internalError = 3, invalidArgument = 4, remoteError = 6, inProgress = 7 };
constexpr int itemBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

struct Brain {
  std::uint16_t bits;
  Brain(float value) {
    std::uint32_t word;
    std::memcpy(&word, &value, 4);
    bits = std::uint16_t((word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
  operator float() const {
    const std::uint32_t word = std::uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &word, 4);
    return value;
  }
};

using Bytes = std::vector<char>;

template <class T>
void combine(Bytes& into, const Bytes& other, int op) {
  T *a = reinterpret_cast<T*>(into.data()), *b = (T*)other.data();
  for (std::size_t i = 0; i < into.size() / sizeof(T); ++i) {
    if (op == 0 || op == 4) a[i] = T(a[i] + b[i]);
    if (op == 1) a[i] = T(a[i] * b[i]);
    if (op == 2) a[i] = std::max(a[i], b[i]);
    if (op == 3) a[i] = std::min(a[i], b[i]);
  }
}
template <>
void combine<Brain>(Bytes& into, const Bytes& other, int op) {
  Brain *a = reinterpret_cast<Brain*>(into.data()), *b = (Brain*)other.data();
  for (std::size_t i = 0; i < into.size() / 2; ++i) {
    const float x = a[i], y = b[i];
    a[i] = op == 1 ? x * y : op == 2 ? std::max(x, y) : op == 3 ? std::min(x, y) : x + y;
  }
}
template <class T>
void divide(Bytes& into, int ranks) {
  T* const a = reinterpret_cast<T*>(into.data());
  for (std::size_t i = 0; i < into.size() / sizeof(T); ++i) a[i] = T(float(a[i]) / float(ranks));
}
template <>
void divide<double>(Bytes& into, int ranks) {
  double* const a = reinterpret_cast<double*>(into.data());
  for (std::size_t i = 0; i < into.size() / 8; ++i) a[i] /= ranks;
}

struct Arithmetic {
  void (*combine)(Bytes&, const Bytes&, int);
  void (*divide)(Bytes&, int);
};
constexpr Arithmetic arithmetic[] = {{combine<std::int8_t>, divide<std::int8_t>},
                                     {combine<std::uint8_t>, divide<std::uint8_t>},
                                     {combine<std::int32_t>, divide<std::int32_t>},
                                     {combine<std::uint32_t>, divide<std::uint32_t>},
                                     {combine<std::int64_t>, divide<std::int64_t>},
                                     {combine<std::uint64_t>, divide<std::uint64_t>},
                                     {combine<_Float16>, divide<_Float16>},
                                     {combine<float>, divide<float>},
                                     {combine<double>, divide<double>},
                                     {combine<Brain>, divide<Brain>}};

Bytes reduced(const std::vector<Bytes>& all, int type, int op) {
  Bytes result = all[0];
  for (std::size_t i = 1; i < all.size(); ++i) arithmetic[type].combine(result, all[i], op);
  if (op == 4) arithmetic[type].divide(result, int(all.size()));
  return result;
}

struct Meeting {
  std::vector<Bytes> brought;
  int present = 0;
};

struct World {
  std::mutex mutex;
  std::condition_variable changed;
  int ranks = 0, joined = 0;
  std::map<long, Meeting> meetings;
  std::map<std::pair<int, int>, std::deque<Bytes>> messages;
};

struct Comm {
  std::shared_ptr<World> world;
  int rank = 0, ranks = 0;
  long number = 0;
  std::atomic<int> status{success};
  std::atomic<bool> aborted{false};
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> work;
  bool ends = false;
  std::thread worker;

  void run() {
    while (true) {
      std::function<void()> next;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return ends || !work.empty(); });
        if (work.empty()) return;
        next = std::move(work.front());
        work.pop_front();
      }
      next();
    }
  }
  void add(std::function<void()> next) {
    const std::scoped_lock lock(mutex);
    work.push_back(std::move(next));
    changed.notify_all();
  }
  void stop() {
    {
      const std::scoped_lock lock(mutex);
      ends = true;
      changed.notify_all();
    }
    worker.join();
  }
  /// What all ranks bring; nothing where this one was aborted.
  std::vector<Bytes> meet(Bytes mine, bool hangs) {
    std::unique_lock lock(world->mutex);
    Meeting& meeting = world->meetings[number++];
    meeting.brought.resize(std::size_t(ranks));
    meeting.brought[std::size_t(rank)] = std::move(mine);
    ++meeting.present;
    world->changed.notify_all();
    world->changed.wait(lock, [&] { return aborted || (!hangs && meeting.present == ranks); });
    return aborted ? std::vector<Bytes>() : meeting.brought;
  }
  Bytes next(int from) {
    std::unique_lock lock(world->mutex);
    auto& queue = world->messages[{from, rank}];
    world->changed.wait(lock, [&] { return aborted || !queue.empty(); });
    if (aborted) return {};
    Bytes message = std::move(queue.front());
    queue.pop_front();
    return message;
  }
};

std::mutex worldsMutex;
std::map<std::string, std::shared_ptr<World>> worlds;
long ids = 0;

struct Call {
  Comm* comm;
  FakeStream* stream;
  bool isSend;
  std::function<void()> run;
};
thread_local int depth = 0;
thread_local std::vector<Call> calls;

int take(Call call) {
  call.stream->pending.fetch_add(1);
  calls.push_back(std::move(call));
  return success;
}

Bytes bytesAt(const void* from, std::size_t count, int type) {
  const char* const at = static_cast<const char*>(from);
  return Bytes(at, at + count * std::size_t(itemBytes[type]));
}

struct Id {
  char bytes[128];
};

}  // namespace

extern "C" {

int ncclGetVersion(int* version) { return *version = 22809, success; }
int ncclGetUniqueId(Id* id) {
  const std::scoped_lock lock(worldsMutex);
  std::memset(id->bytes, 0, sizeof id->bytes);
  const long number = ++ids;
  std::memcpy(id->bytes + 7, &number, sizeof number);
  return success;
}
struct Config {
  std::size_t size;
  unsigned magic, version;
  int blocking;
};
int ncclCommInitRankConfig(void** comm, int ranks, Id id, int rank, Config* config) {
  if (config->magic != 0xcafebeef || config->size < 20 || config->blocking != 0 || rank < 0 || rank >= ranks)
    return invalidArgument;
  auto* const made = new Comm;
  {
    const std::scoped_lock lock(worldsMutex);
    auto& world = worlds[std::string(id.bytes, sizeof id.bytes)];
    if (!world) world = std::make_shared<World>();
    made->world = world;
  }
  made->rank = rank, made->ranks = ranks;
  made->worker = std::thread([made] { made->run(); });
  const std::scoped_lock lock(made->world->mutex);
  made->world->ranks = ranks;
  ++made->world->joined;
  *comm = made;
  return inProgress;
}
int ncclCommFinalize(void*) { return inProgress; }
int ncclCommDestroy(void* comm) {
  auto* const own = static_cast<Comm*>(comm);
  own->stop();
  delete own;
  return success;
}
int ncclCommAbort(void* comm) {
  auto* const own = static_cast<Comm*>(comm);
  {
    const std::scoped_lock lock(own->world->mutex);
    own->aborted = true;
    own->world->changed.notify_all();
  }
  return ncclCommDestroy(comm);
}
int ncclCommGetAsyncError(void* comm, int* status) {
  auto* const own = static_cast<Comm*>(comm);
  const std::scoped_lock lock(own->world->mutex);
  *status = own->status != success                    ? own->status.load()
            : own->world->joined == own->world->ranks ? int(success)
                                                      : int(inProgress);
  return success;
}
const char* ncclGetErrorString(int status) { return status == remoteError ? "remote process exited" : "an error"; }
const char* ncclGetLastError(void*) { return "the last error"; }
int ncclGroupStart() { return ++depth, success; }
int ncclGroupEnd() {
  if (--depth > 0) return success;
  std::ranges::stable_partition(calls, [](const Call& call) { return call.isSend; });
  for (Call& call : calls)
    call.comm->add([call = std::move(call)] {
      call.run();
      call.stream->pending.fetch_sub(1);
    });
  calls.clear();
  return inProgress;
}
int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int op, void* comm, void* stream) {
  auto* const own = static_cast<Comm*>(comm);
  return take({own, static_cast<FakeStream*>(stream), false, [=] {
                 if (count == kerf::testing_support::fakeFails) own->status = remoteError;
                 const bool hangs = count == kerf::testing_support::fakeHangs || own->status != success;
                 const auto all = own->meet(bytesAt(from, count, type), hangs);
                 if (all.empty()) return;
                 const Bytes result = reduced(all, type, op);
                 if (own->rank == 1 && count == kerf::testing_support::fakeBreaksOne) own->status = internalError;
                 if (!own->meet({}, false).empty()) std::memcpy(to, result.data(), result.size());
                 const bool isOne =
                     count == kerf::testing_support::fakeBreaksOne || count == kerf::testing_support::fakeHangsOne;
                 if (own->rank == 1 && isOne) own->meet({}, true);
               }});
}
int ncclReduceScatter(const void* from, void* to, std::size_t count, int type, int op, void* comm, void* stream) {
  auto* const own = static_cast<Comm*>(comm);
  return take({own, static_cast<FakeStream*>(stream), false, [=] {
                 const auto all = own->meet(bytesAt(from, count * std::size_t(own->ranks), type), false);
                 if (all.empty()) return;
                 const Bytes result = reduced(all, type, op);
                 const std::size_t part = result.size() / std::size_t(own->ranks);
                 if (!own->meet({}, false).empty())
                   std::memcpy(to, result.data() + part * std::size_t(own->rank), part);
               }});
}
int ncclAllGather(const void* from, void* to, std::size_t count, int type, void* comm, void* stream) {
  auto* const own = static_cast<Comm*>(comm);
  return take({own, static_cast<FakeStream*>(stream), false, [=] {
                 const auto all = own->meet(bytesAt(from, count, type), false);
                 char* at = static_cast<char*>(to);
                 for (const Bytes& one : all) at = std::ranges::copy(one, at).out;
               }});
}
int ncclBroadcast(const void* from, void* to, std::size_t count, int type, int root, void* comm, void* stream) {
  auto* const own = static_cast<Comm*>(comm);
  return take({own, static_cast<FakeStream*>(stream), false, [=] {
                 const auto all = own->meet(root == own->rank ? bytesAt(from, count, type) : Bytes(), false);
                 if (!all.empty()) std::ranges::copy(all[std::size_t(root)], static_cast<char*>(to));
               }});
}
int ncclSend(const void* from, std::size_t count, int type, int peer, void* comm, void* stream) {
  auto* const own = static_cast<Comm*>(comm);
  return take({own, static_cast<FakeStream*>(stream), true, [=] {
                 const std::scoped_lock lock(own->world->mutex);
                 own->world->messages[{own->rank, peer}].push_back(bytesAt(from, count, type));
                 own->world->changed.notify_all();
               }});
}
int ncclRecv(void* to, std::size_t count, int type, int peer, void* comm, void* stream) {
  auto* const own = static_cast<Comm*>(comm);
  return take({own, static_cast<FakeStream*>(stream), false, [=] {
                 const Bytes message = own->next(peer);
                 if (message.size() == count * std::size_t(itemBytes[type]))
                   std::ranges::copy(message, static_cast<char*>(to));
               }});
}
}
