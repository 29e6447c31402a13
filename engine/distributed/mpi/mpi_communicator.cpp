#include "engine/distributed/mpi/mpi_communicator.h"

#define OMPI_SKIP_MPICXX 1  // the C interface alone
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>

namespace kerf::inline distributed::inline mpi {
namespace {

using Clock = std::chrono::steady_clock;

/// A tensor and what was called, as bytes: dtype, dimensions, sizes, length of the text, text, elements.
std::vector<char> packed(const std::string& text, const Tensor& tensor) {
  std::vector<std::int64_t> head{std::int64_t(tensor.dtype()), tensor.dim()};
  for (const std::int64_t size : tensor.sizes()) head.push_back(size);
  head.push_back(std::int64_t(text.size()));
  const std::size_t headBytes = head.size() * sizeof(std::int64_t), bytes = std::size_t(tensor.byteSize());
  std::vector<char> result(headBytes + text.size() + bytes);
  std::memcpy(result.data(), head.data(), headBytes);
  std::memcpy(result.data() + headBytes, text.data(), text.size());
  if (bytes > 0) std::memcpy(result.data() + headBytes + text.size(), tensor.data<char>(), bytes);
  return result;
}

struct Unpacked {
  std::string text;
  Tensor tensor;
};

Result<Unpacked> unpacked(const std::vector<char>& bytes) {
  const auto broken = [] { return fail(ErrorCode::RuntimeFailed, "a message between ranks is damaged"); };
  std::size_t at = 0;
  const auto next = [&]() -> std::optional<std::int64_t> {
    if (bytes.size() - at < sizeof(std::int64_t)) return std::nullopt;
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  };
  const auto dtype = next(), dims = next();
  if (!dtype || !dims || *dims < 0 || *dims > 64) return broken();
  Sizes sizes;
  for (std::int64_t d = 0; d < *dims; ++d) {
    const auto size = next();
    if (!size || *size < 0) return broken();
    sizes.push_back(*size);
  }
  const auto length = next();
  if (!length || *length < 0 || std::size_t(*length) > bytes.size() - at) return broken();
  Unpacked result{std::string(bytes.data() + at, std::size_t(*length)), {}};
  at += std::size_t(*length);
  KERF_TRY(result.tensor, Tensor::zeros(DType(*dtype), sizes));
  if (bytes.size() - at != std::size_t(result.tensor.byteSize())) return broken();
  if (at < bytes.size()) std::memcpy(result.tensor.data<char>(), bytes.data() + at, bytes.size() - at);
  return result;
}

class MpiCommunicator : public Communicator {
 public:
  explicit MpiCommunicator(std::chrono::milliseconds timeout) : m_timeout(timeout) {
    MPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m_size);
  }
  int rank() const override { return m_rank; }
  int worldSize() const override { return m_size; }

  Result<std::vector<Tensor>> gather(const Group& group, const CollectiveCall& call, const Tensor& mine) override {
    if (group.indexOf(m_rank) < 0)
      return fail(ErrorCode::BadInput, "rank {} is no member of group '{}'", m_rank, group.name);
    KERF_TRY(const Tensor own, mine.contiguous());
    const std::int64_t number = m_numbers[group.name]++;
    const std::string what = fmt::format("{} (number {} of group '{}')", call.text(), number, group.name);
    const std::vector<char> message = packed(call.text(), own);
    std::vector<MPI_Request> sends;
    for (const int other : group.ranks) {
      if (other == m_rank) continue;
      MPI_Isend(message.data(), int(message.size()), MPI_CHAR, other, tagOf(number), MPI_COMM_WORLD,
                &sends.emplace_back());
    }
    std::vector<Tensor> result;
    for (const int other : group.ranks) {
      if (other == m_rank) {
        KERF_TRY(Tensor copy, own.clone());
        result.push_back(std::move(copy));
        continue;
      }
      KERF_TRY(const std::vector<char> bytes, await(other, tagOf(number), what));
      KERF_TRY(Unpacked theirs, unpacked(bytes));
      if (theirs.text != call.text())
        return fail(ErrorCode::BadInput, "collective {} of group '{}' differs: rank {} calls {}, rank {} calls {}",
                    number, group.name, m_rank, call.text(), other, theirs.text);
      result.push_back(std::move(theirs.tensor));
    }
    MPI_Waitall(int(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
    return result;
  }

  Result<void> send(const Group& group, int to, int tag, const Tensor& tensor) override {
    if (to < 0 || to >= group.size()) return fail(ErrorCode::BadInput, "group '{}' has no rank {}", group.name, to);
    KERF_TRY(const Tensor own, tensor.contiguous());
    std::erase_if(m_sent, [](const std::unique_ptr<Sent>& sent) { return sent->hasArrived(); });
    auto& kept = m_sent.emplace_back(std::make_unique<Sent>());
    kept->bytes = packed("send", own);
    MPI_Isend(kept->bytes.data(), int(kept->bytes.size()), MPI_CHAR, group.ranks[std::size_t(to)], messageTag(tag),
              MPI_COMM_WORLD, &kept->request);
    return {};
  }

  Result<Tensor> receive(const Group& group, int from, int tag) override {
    if (from < 0 || from >= group.size())
      return fail(ErrorCode::BadInput, "group '{}' has no rank {}", group.name, from);
    const int source = group.ranks[std::size_t(from)];
    KERF_TRY(const std::vector<char> bytes,
             await(source, messageTag(tag), fmt::format("recv from rank {} (tag {})", source, tag)));
    KERF_TRY(Unpacked theirs, unpacked(bytes));
    return std::move(theirs.tensor);
  }

 private:
  struct Sent {
    std::vector<char> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
    bool hasArrived() {
      int done = 0;
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    }
  };
  // Below 32768 every MPI has tags; collectives take the lower half.
  static int tagOf(std::int64_t number) { return int(number % 16384); }
  static int messageTag(int tag) { return 16384 + tag % 16383; }

  Result<std::vector<char>> await(int from, int tag, const std::string& what) const {
    const auto end = Clock::now() + m_timeout;
    for (int arrived = 0;;) {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Improbe(from, tag, MPI_COMM_WORLD, &arrived, &message, &status);
      if (arrived != 0) {
        int bytes = 0;
        MPI_Get_count(&status, MPI_CHAR, &bytes);
        std::vector<char> result(std::size_t(std::max(bytes, 0)));
        MPI_Mrecv(result.data(), bytes, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        return result;
      }
      if (Clock::now() > end)
        return fail(ErrorCode::RuntimeFailed, "rank {} waited in {} for rank {}", m_rank, what, from);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  std::chrono::milliseconds m_timeout;
  int m_rank = 0, m_size = 1;
  std::map<std::string, std::int64_t> m_numbers;  ///< collectives of each group so far
  std::vector<std::unique_ptr<Sent>> m_sent;
};

/// A rank that leaves early must not wait in MPI_Finalize for those that wait for it.
void finish() {
  int done = 0;
  MPI_Finalized(&done);
  if (done == 0) MPI_Finalize();
}

}  // namespace

Result<std::unique_ptr<Communicator>> openMpiWorld(std::chrono::milliseconds timeout) {
  int started = 0, level = 0;
  MPI_Initialized(&started);
  if (started == 0) {
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
      return fail(ErrorCode::Environment, "MPI does not start");
    std::atexit(finish);
  }
  return std::unique_ptr<Communicator>(std::make_unique<MpiCommunicator>(timeout));
}

}  // namespace kerf::inline distributed::inline mpi
